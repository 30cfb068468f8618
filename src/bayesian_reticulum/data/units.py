"""Units of columns: center, scale and limits, and which feature and level a column stands for."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from ..arrays import Floats, Integers
from .quantiles import quantiles_of_sorted, sort_cells, weights_by_code

# Codes of columns that stand for no level.
NUMBER, MISSING = -1, -2
# Share of rows at each end that may not decide what a column's spread is.
_TAIL = 0.005
_LARGEST_TAIL = 0.05


class Units(Protocol):
    """Units of D columns, each array of shape (D,): `Schema` explains them."""

    @property
    def center(self) -> Floats: ...
    @property
    def scale(self) -> Floats: ...
    @property
    def low(self) -> Floats: ...
    @property
    def high(self) -> Floats: ...
    @property
    def source(self) -> Integers: ...
    @property
    def code(self) -> Integers: ...


def category_units(codes: Floats, weights: Floats, n_codes: int) -> list[tuple[int, float, float, float, float]]:
    """Code, center, scale and limits of each column of a category, from the weighted codes (n,) of rows."""
    counts = weights_by_code(codes.astype(np.int64), weights, max(n_codes, 1))
    share = counts / max(float(counts.sum()), np.finfo(float).tiny)
    scale = float(np.sqrt((share * (1 - share)).sum()))
    if n_codes < 2 or scale == 0:
        return [(0, float(share[0]), 1.0, float(share[0]), float(share[0]))]
    if n_codes == 2:
        return [(1, float(share[1]), scale / np.sqrt(2.0), 0.0, 1.0)]
    return [(code, float(share[code]), scale, 0.0, 1.0) for code in range(n_codes)]


def column_units(cells: Floats, weights: Floats, margin: float) -> tuple[float, float, float, float]:
    """Center, scale and limits of a column of weighted numbers (n,); limits are `margin` scales beyond its tails."""
    if not weights.any():
        return 0.0, 1.0, 0.0, 0.0
    cells, weights = sort_cells(cells, weights)
    # In a short table half a percent is no row at all: there at least the outermost one is a tail.
    tail = float(np.clip(1.5 / weights.sum(), _TAIL, _LARGEST_TAIL))
    low, high = quantiles_of_sorted(cells, weights, [tail, 1 - tail])
    if low == high:
        # All but a tail are equal (a rare indicator, say): the tail is all there is to learn from.
        low, high = float(cells[0]), float(cells[-1])
    # Halves are taken before the difference, so that the largest floats do not overflow.
    half = 0.5 * high - 0.5 * low
    middle = low + half
    # A few units in the last place are no spread but the rounding of a constant.
    if half <= 4 * np.spacing(abs(middle)):
        return middle, 1.0, middle, middle
    within = (np.clip(cells, low, high) - middle) / half
    share = weights / weights.sum()
    # Not by BLAS, whose threads take longer to wake than to add up a column.
    mean = float((share * within).sum())
    spread = float(np.sqrt((share * (within - mean) ** 2).sum()))
    if spread < 1e-12:
        # Only rows of no weight differ.
        return middle + mean * half, 1.0, middle + mean * half, middle + mean * half
    has_two_values = mean > 0 and bool((np.abs(np.abs(within) - 1) < 1e-12).all())
    with np.errstate(over="ignore"):
        reach = margin * spread * half
        scale = -spread * half if has_two_values else spread * half
        return middle + mean * half, scale, float(low - reach), float(high + reach)
