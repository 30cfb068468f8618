"""The posterior of a Bayesian linear regression, for several slope precisions at once."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..arrays import Floats


class LinearPosterior(NamedTuple):
    """Posteriors of leaves (...) for K slope precisions, by the axes on which slopes are independent."""

    log_evidence: Floats
    shape: Floats
    rate: Floats
    total: Floats
    sums: Floats
    target_sum: Floats
    along: Floats
    axes: Floats
    inverse: Floats

    @property
    def weight(self) -> Floats:
        """Probability of each slope precision, (..., K)."""
        odds = np.exp(self.log_evidence - self.log_evidence.max(axis=-1, keepdims=True))
        return np.asarray(odds / odds.sum(axis=-1, keepdims=True))

    @property
    def mean(self) -> Floats:
        """Offset and slopes, (..., K, 1 + slopes)."""
        slopes = (self.along[..., None, :] * self.inverse) @ self.axes.swapaxes(-1, -2)
        offset = (self.target_sum[..., None] - (slopes @ self.sums[..., None])[..., 0]) / self.total[..., None]
        return np.concatenate([offset[..., None], slopes], axis=-1)

    @property
    def average(self) -> Floats:
        """Offset and slopes, averaged over slope precisions, (..., 1 + slopes)."""
        return np.asarray((self.weight[..., None, :] @ self.mean)[..., 0, :])

    @property
    def covariance(self) -> Floats:
        """Covariance of offset and slopes over the variance, (..., K, 1 + slopes, 1 + slopes)."""
        axes = self.axes[..., None, :, :]
        out = np.empty((*self.inverse.shape[:-1], axes.shape[-1] + 1, axes.shape[-1] + 1))
        out[..., 1:, 1:] = (axes * self.inverse[..., None, :]) @ axes.swapaxes(-1, -2)
        mean = (self.sums / self.total[..., None])[..., None, :, None]
        out[..., 1:, :1] = -out[..., 1:, 1:] @ mean
        out[..., :1, 1:] = out[..., 1:, :1].swapaxes(-1, -2)
        out[..., 0, 0] = 1.0 / self.total[..., None] - (out[..., :1, 1:] @ mean)[..., 0, 0]
        return out


def quadratic_forms(matrices: Floats, columns: Floats) -> Floats:
    """x' M x for each column x and matrix M (..., p, p): shape (..., n)."""
    flat = matrices.reshape(-1, *matrices.shape[-2:])
    # One matrix at a time: all at once would hold p numbers for each row and matrix.
    each = [(columns * (matrix @ columns)).sum(axis=0) for matrix in flat]
    return np.array(each).reshape(*matrices.shape[:-2], columns.shape[1])


def eigh(matrices: Floats) -> tuple[Floats, Floats]:
    """Eigenvalues and eigenvectors; small ones without a call for each matrix."""
    if matrices.shape[-1] <= 1:
        return matrices.sum(axis=-1), np.ones_like(matrices)
    sizes, axes = np.linalg.eigh(matrices)
    return sizes, axes
