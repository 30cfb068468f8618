"""The rule for gaps: what a missing cell could have been."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse

from ..arrays import Floats, Integers


@dataclass(frozen=True, eq=False)
class Gaps:
    """What missing cells could have been, as far as a split is concerned: how much activations spread over it.

    The activation of a row in which the cell of `sources[g]` is missing varies by the sum of (loading · slopes)² over
    the loadings of group g, times the share of the cell's variance that the rest of the row leaves open. Those of
    several gaps add.

    Parameters
    ----------
    sources : ndarray of shape (q,)
        Columns of the table in which cells may be missing.
    loading : sparse array of shape (K, D)
        A standard deviation of each thing that a missing cell leaves open, in the columns that hyperplanes have slopes
        for.
    group : ndarray of shape (K,)
        Place in `sources` of each loading.
    """

    sources: Integers
    loading: Any
    group: Integers

    def pulls(self, slopes: Floats) -> Floats:
        """Each loading times slopes (..., D): shape (..., K)."""
        pulls = (self.loading @ slopes.reshape(-1, slopes.shape[-1]).T).T
        return np.asarray(pulls).reshape(*slopes.shape[:-1], len(self.group))

    def variances(self, slopes: Floats) -> Floats:
        """How much activations with slopes (..., D) vary over each gap: shape (..., q)."""
        return sum_by_group(self.pulls(slopes) ** 2, self.group, len(self.sources))

    def along(self, basis: Floats) -> Gaps:
        """The same for slopes along the columns of a basis (D, r)."""
        return replace(self, loading=sparse.csr_array(self.loading @ basis))


def features_with_gaps(X: Any) -> Integers:
    """Columns of a table (n, d) in which cells are missing."""
    with np.errstate(invalid="ignore", over="ignore"):
        # A sum is a quick way to find out, and infinities, which it might find too, do no harm.
        return np.flatnonzero(np.isnan(np.asarray(X).sum(axis=0)))


def sum_by_group(parts: Floats, group: Integers, size: int) -> Floats:
    """Sums (..., size) of parts (..., K) by their group (K,)."""
    out = np.zeros((size, *parts.shape[:-1]))
    for place, part in zip(group.tolist(), np.moveaxis(parts, -1, 0), strict=True):
        out[place] += part
    return np.moveaxis(out, 0, -1)
