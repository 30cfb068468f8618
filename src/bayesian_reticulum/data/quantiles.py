"""Weighted quantiles and sums that do not depend on the order of rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..arrays import Floats, Integers


def weighted_quantiles(values: Floats, weights: Floats, probabilities: Any) -> Floats:
    """Quantiles of columns (n, D) by the inverse of the weighted distribution; shape (D, probabilities).

    Only the weighted distribution matters: an integer weight equals a repeated row.

    Examples
    --------
    >>> weighted_quantiles(np.array([[3.0], [1.0], [2.0]]), np.array([1.0, 1.0, 2.0]), [0.5])
    array([[2.]])
    """
    probabilities = np.asarray(probabilities, dtype=np.float64)
    out = np.empty((values.shape[1], len(probabilities)))
    for column in range(values.shape[1]):
        ordered = sort_cells(np.asarray(values[:, column], dtype=np.float64), weights)
        out[column] = quantiles_of_sorted(*ordered, probabilities)
    return out


def sort_cells(cells: Floats, weights: Floats) -> tuple[Floats, Floats]:
    """All different cells from the smallest to the largest, and the weight of each.

    Sums of these are the same to the last digit in any order of rows, and for repeats of a row as for its weight.
    """
    if not len(cells):
        return cells, weights
    if (weights == weights[0]).all():
        # Ten times as fast.
        cells = np.sort(cells)
    else:
        ranked = np.lexsort((weights, cells))
        cells, weights = cells[ranked], weights[ranked]
    first = np.flatnonzero(np.append(True, cells[1:] != cells[:-1]))
    return cells[first], np.add.reduceat(weights, first)


def weights_by_code(codes: Integers, weights: Floats, n_codes: int) -> Floats:
    """The weight of all rows of each code, to the last digit the same in any order of rows."""
    if len(weights) and not (weights == weights[0]).all():
        ranked = np.lexsort((weights, codes))
        codes, weights = codes[ranked], weights[ranked]
    return np.asarray(np.bincount(codes, weights, n_codes), dtype=np.float64)


def quantiles_of_sorted(cells: Floats, weights: Floats, probabilities: Any) -> Floats:
    """Quantiles of cells from the smallest to the largest."""
    cumulative = np.cumsum(weights)
    # A hair below the target, so that rounding of the sum cannot move a quantile to the next row.
    targets = np.asarray(probabilities) * cumulative[-1] * (1 - 1e-12)
    return np.asarray(cells[np.minimum(np.searchsorted(cumulative, targets), len(cells) - 1)])
