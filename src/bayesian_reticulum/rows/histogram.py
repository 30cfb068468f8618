"""Histograms of row statistics along directions, and what a hard threshold gains by them."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from ..arrays import Floats
from ..families import Family


def bin_indicators(directions: Floats, edges: Floats, design: Floats) -> Any:
    """Sparse indicator (n, D * bins) of the bin in which each row lies along each direction (D, d + 1)."""
    n_directions, bins = len(directions), edges.shape[1] + 1
    index = np.empty((design.shape[1], n_directions), dtype=np.int64)
    for direction, values in enumerate(directions @ design):
        index[:, direction] = np.searchsorted(edges[direction], values)
    index += np.arange(n_directions) * bins
    starts = np.arange(len(index) + 1) * n_directions
    return sparse.csr_array((np.ones(index.size), index.ravel(), starts), shape=(len(index), n_directions * bins))


def threshold_gains(family: Family, histogram: Floats) -> Floats:
    """Log evidence that two leaves gain over one, at each edge (..., bins - 1) between bins (..., bins, k)."""
    below = histogram.cumsum(axis=-2)
    # Summed from the other end, as a difference from the whole would cost digits.
    above = np.flip(np.flip(histogram, axis=-2).cumsum(axis=-2), axis=-2)
    parted = family.log_evidence(below[..., :-1, :]) + family.log_evidence(above[..., 1:, :])
    return np.asarray(parted - family.log_evidence(below[..., -1:, :]))
