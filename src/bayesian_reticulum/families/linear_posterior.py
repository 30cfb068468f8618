"""Prior and posterior of a Bayesian linear regression, for several slope precisions at once."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import gammaln

from ..arrays import Floats, unpack_symmetric

LOG_2PI = float(np.log(2 * np.pi))


class LinearPrior(NamedTuple):
    """Normal-inverse-gamma prior of offset, slopes and variance, for each of K equally likely slope precisions (K,)."""

    offset_precision: float
    shape: float
    rate: float
    slope_precisions: Floats

    def posterior(self, statistics: Floats, n_slopes: int, unit: float) -> LinearPosterior:
        """Posterior given statistics (..., k): the products of all pairs from y and (1, x).

        `unit` is what a target of 1 is in the units in which densities are wanted.
        """
        d = n_slopes
        square, target_sum, with_target = statistics[..., 0], statistics[..., 1], statistics[..., 2 : 2 + d]
        count, sums, products = statistics[..., 2 + d], statistics[..., 3 + d : 3 + 2 * d], statistics[..., 3 + 2 * d :]
        total = self.offset_precision + count
        # The offset is integrated out first, then the slopes, along axes on which they are independent.
        by_offset = sums / total[..., None]
        sizes, axes = eigh(unpack_symmetric(products, d) - sums[..., :, None] * by_offset[..., None, :])
        along = ((with_target - target_sum[..., None] * by_offset)[..., None, :] @ axes)[..., 0, :]
        precisions = self.slope_precisions
        inverse = 1.0 / (np.maximum(sizes, 0.0)[..., None, :] + precisions[:, None])
        residual = (square - target_sum**2 / total)[..., None] - (inverse @ (along**2)[..., None])[..., 0]
        rate = self.rate + 0.5 * np.maximum(residual, 0.0)
        shape = self.shape + 0.5 * count
        log_evidence = (
            0.5 * np.log(inverse * precisions[:, None]).sum(axis=-1)
            - shape[..., None] * np.log(rate)
            + self.shape * np.log(self.rate)
            - np.log(len(precisions))
        )
        same = gammaln(shape) - gammaln(self.shape) - 0.5 * np.log1p(count / self.offset_precision)
        log_evidence += (same - count * (0.5 * LOG_2PI + np.log(unit)))[..., None]
        return LinearPosterior(log_evidence, shape, rate, total, sums, target_sum, along, axes, inverse)


class LinearPosterior(NamedTuple):
    """Posteriors of leaves (...) for K slope precisions.

    Given a slope precision, variances are inverse gamma (shape (...), rate (..., K)), and offset and slopes normal.
    Slopes are kept along the axes (..., slopes, slopes) on which they are independent: `along` is the right side of the
    normal equations there, and `inverse` (..., K, slopes) the posterior variance of each over that of the noise.

    Attributes
    ----------
    log_evidence : ndarray of shape (..., K)
        Log evidence with the log probability of the slope precision.
    total : ndarray of shape (...)
        Number of rows and precision of the offset.
    sums, target_sum : ndarray of shape (..., slopes) and (...)
        Sums over the rows of x and y.
    """

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
        """Posterior probability of each slope precision, (..., K)."""
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
    """x' M x for each column x (p, n) and matrix M (..., p, p), shape (..., n)."""
    flat = matrices.reshape(-1, *matrices.shape[-2:])
    # One matrix at a time: all at once would hold p numbers for each row and matrix.
    each = [(columns * (matrix @ columns)).sum(axis=0) for matrix in flat]
    return np.array(each).reshape(*matrices.shape[:-2], columns.shape[1])


def eigh(matrices: Floats) -> tuple[Floats, Floats]:
    """Eigenvalues and eigenvectors of symmetric matrices; of 1 × 1 matrices without a call of LAPACK for each."""
    if matrices.shape[-1] <= 1:
        return matrices.sum(axis=-1), np.ones_like(matrices)
    sizes, axes = np.linalg.eigh(matrices)
    return sizes, axes
