"""What missing cells add to the gradient and information of hyperplanes."""

from __future__ import annotations

import numpy as np

from ..arrays import Floats
from ..data import Gaps
from ..gates import SOFTENING


class GapSums:
    """Sums over rows of what gaps add to the gradient and information of a stack of hyperplanes.

    With the mean activation a, its variance v' v over the missing cells, and λ = SOFTENING, a gate has the activation
    b = κ a, κ = (1 + λ v' v)^-1/2, and b has the slope κ x - λ κ² b v' ∂v. Rows share v, but for the share of variance
    that each of their gaps leaves open: so their parts are summed by gap first, and v is multiplied in at the end.

    Parameters
    ----------
    gaps : Gaps
    hyperplanes : ndarray of shape (c, m, D + 1)
    information : bool
        Whether to sum information, too.
    """

    def __init__(self, gaps: Gaps, hyperplanes: Floats, information: bool) -> None:
        c, m, width = hyperplanes.shape
        q = len(gaps.sources)
        self._gaps, self._shape = gaps, (c, m)
        self._loading = gaps.loading.toarray()
        self._pulls = gaps.pulls(hyperplanes[..., 1:])
        self._alone = np.zeros((c, m, q))
        self._with_columns = np.zeros((2, c * m, width, q)) if information else None
        self._together = np.zeros((2, c * m, q, q)) if information else None

    def add(
        self, design: Floats, missing: Floats, activation: Floats, soft: Floats, slope: Floats, curvature: Floats | None
    ) -> None:
        """Add a block of rows.

        Parameters
        ----------
        design : ndarray of shape (D + 1, n)
        missing : ndarray of shape (gaps, n)
            Share of variance that each gap leaves open.
        activation, soft, slope : ndarray of shape (c, m, n)
            Softened activations, the factors that softened them, and derivatives of the bound by them.
        curvature : ndarray of shape (2, c, m, n) or None
            Observed and complete-data information of the activations.
        """
        pull = SOFTENING * soft**2 * activation
        self._alone += (slope * pull) @ missing.T
        if curvature is None or self._with_columns is None or self._together is None:
            return
        # The complete-data information leaves out how slopes change.
        changing = np.stack([slope, np.zeros_like(slope)])
        step = SOFTENING * soft**3 * (changing - curvature * activation)
        twice = SOFTENING * soft**2 * pull * (curvature * activation - 3 * changing)
        n = design.shape[1]
        for sums, left, weights in (
            (self._with_columns, design, step),
            (self._together, missing, twice),
        ):
            for products, weight in zip(sums.reshape(-1, *sums.shape[2:]), weights.reshape(-1, n), strict=True):
                products += (left * weight) @ missing.T

    def gradient(self) -> Floats:
        """Return the part of the derivative by each slope, (c, m, D)."""
        return np.asarray(-(self._alone[..., self._gaps.group] * self._pulls) @ self._loading)

    def information(self) -> Floats:
        """Return the parts of observed and complete-data information, (2, c, m, D + 1, D + 1)."""
        assert self._with_columns is not None
        assert self._together is not None
        c, m = self._shape
        group, width = self._gaps.group, self._with_columns.shape[2]
        pulls = self._pulls.reshape(c * m, -1)
        # Derivative of half of v' v by slopes, for each gap.
        steps = np.zeros((c * m, len(self._gaps.sources), width))
        for loading, gap, pull in zip(self._loading, group, pulls.T, strict=True):
            steps[:, gap, 1:] += pull[:, None] * loading
        half = self._with_columns + 0.5 * steps.swapaxes(-1, -2) @ self._together
        out = half @ steps
        out += out.swapaxes(-1, -2).copy()
        # Second derivative of v' v, for the observed information.
        alone = self._alone.reshape(c * m, -1)[:, group]
        out[0, :, 1:, 1:] += np.einsum("sk,ki,kj->sij", alone, self._loading, self._loading)
        return np.asarray(out.reshape(2, c, m, width, width))
