"""What the columns of a table mean, and how they become the numbers that splits work on.

Nothing below this module knows column names, wild cells or units: it sees columns that are centred, of unit
spread and bounded.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .tree import Floats, frozen, refreeze

# Share of rows at each end that may not decide what a column's spread is.
_TAIL = 0.005
_LARGEST_TAIL = 0.05


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
        cells = np.asarray(values[:, column], dtype=np.float64)
        ranked = np.argsort(cells, kind="stable")
        cumulative = np.cumsum(weights[ranked])
        # A hair below the target, so that rounding of the sum cannot move a quantile to the next row.
        targets = probabilities * cumulative[-1] * (1 - 1e-12)
        out[column] = cells[ranked[np.minimum(np.searchsorted(cumulative, targets), len(ranked) - 1)]]
    return out


@dataclass(frozen=True, eq=False)
class Schema:
    """Names, units and limits of the numeric columns of a table.

    Parameters
    ----------
    names : tuple of str
        One name for each column.
    center, scale : ndarray of shape (d,)
        Mean and standard deviation of each column, its tails cut off; scale is 1 for a constant column.
    low, high : ndarray of shape (d,)
        Cells beyond these are read as these, so that one wild cell cannot turn a split.
    """

    names: tuple[str, ...]
    center: Floats
    scale: Floats
    low: Floats
    high: Floats

    def __post_init__(self) -> None:
        for field in ("center", "scale", "low", "high"):
            object.__setattr__(self, field, frozen(getattr(self, field)))

    __setstate__ = refreeze

    @property
    def n_features(self) -> int:
        return len(self.names)

    @classmethod
    def from_columns(cls, X: Any, weights: Floats, names: tuple[str, ...], margin: float = 0.0) -> Schema:
        """Learn units and limits from weighted rows (n, d), one column at a time.

        Limits are the .5% and 99.5% quantiles, or `margin` standard deviations further out.
        """
        columns = [_column_units(np.asarray(X[:, j], dtype=np.float64), weights, margin) for j in range(X.shape[1])]
        center, scale, low, high = np.array(columns, dtype=np.float64).reshape(-1, 4).T
        return cls(names, center, scale, low, high)

    def design(self, X: Any) -> Floats:
        """Standardised columns under a row of ones: shape (d + 1, n)."""
        design = np.empty((self.n_features + 1, len(X)))
        design[0] = 1.0
        cells = design[1:]
        np.clip(np.asarray(X).T, self.low[:, None], self.high[:, None], out=cells, casting="unsafe")
        cells -= self.center[:, None]
        cells /= self.scale[:, None]
        return design

    def in_original_units(self, hyperplanes: Floats) -> Floats:
        """Hyperplanes for standardised columns, rewritten for the columns as they came."""
        slopes = hyperplanes[:, 1:] / self.scale
        return np.column_stack([hyperplanes[:, 0] - slopes @ self.center, slopes])

    def in_own_units(self, hyperplanes: Floats) -> Floats:
        """Hyperplanes for columns as they come, rewritten for standardised ones."""
        slopes = hyperplanes[:, 1:]
        return np.column_stack([hyperplanes[:, 0] + slopes @ self.center, slopes * self.scale])


def identity_schema(n_features: int) -> Schema:
    """For columns that are already in the units that splits work on."""
    ones = np.ones(n_features)
    return Schema(tuple(f"x{j}" for j in range(n_features)), 0 * ones, ones, -np.inf * ones, np.inf * ones)


def _column_units(cells: Floats, weights: Floats, margin: float) -> tuple[float, float, float, float]:
    # In a short table half a percent is no row at all: there at least the outermost one is a tail.
    tail = float(np.clip(1.5 / weights.sum(), _TAIL, _LARGEST_TAIL))
    low, high = weighted_quantiles(cells[:, None], weights, [tail, 1 - tail])[0]
    if low == high:
        # All but a tail are equal (a rare indicator, say): the tail is all there is to learn from.
        low, high = float(cells.min()), float(cells.max())
    # Halves are taken before the difference, so that the largest floats do not overflow.
    half = 0.5 * high - 0.5 * low
    middle = low + half
    # A few units in the last place are no spread but the rounding of a constant.
    if half <= 4 * np.spacing(abs(middle)):
        return middle, 1.0, middle, middle
    within = (np.clip(cells, low, high) - middle) / half
    share = weights / weights.sum()
    mean = float(share @ within)
    spread = float(np.sqrt(share @ (within - mean) ** 2))
    if spread < 1e-12:
        # Only rows of no weight differ.
        return middle + mean * half, 1.0, middle + mean * half, middle + mean * half
    with np.errstate(over="ignore"):
        reach = margin * spread * half
        return middle + mean * half, spread * half, float(low - reach), float(high + reach)
