"""What the columns of a table mean, and how they become the numbers that splits work on.

Nothing below this module knows column names, categories, wild cells or units: it sees columns that are centred, of unit
spread and bounded, and which cells are missing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse

from .tables import Column, Levels, Numbers, Table, as_numbers
from .tree import Floats, Integers, frozen, frozen_integers, refreeze

# Share of rows at each end that may not decide what a column's spread is.
_TAIL = 0.005
_LARGEST_TAIL = 0.05
# Codes of columns that stand for no level.
NUMBER, MISSING = -1, -2
# A level of a category is rare below this many rows or the root of the number of all rows, or beyond this many more
# frequent ones.
_FEWEST_ROWS = 10.0
_MOST_LEVELS = 63
# What is known of the correlation of columns before any row is seen, in rows; and the least variance, to that of one
# column, in any direction.
_INDEPENDENT_ROWS = 5.0
_LEAST_SIZE = 0.01


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
        ordered = _in_order(np.asarray(values[:, column], dtype=np.float64), weights)
        out[column] = _quantiles_in_order(*ordered, probabilities)
    return out


def _in_order(cells: Floats, weights: Floats) -> tuple[Floats, Floats]:
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


def _quantiles_in_order(cells: Floats, weights: Floats, probabilities: Any) -> Floats:
    """Quantiles of cells from the smallest to the largest."""
    cumulative = np.cumsum(weights)
    # A hair below the target, so that rounding of the sum cannot move a quantile to the next row.
    targets = np.asarray(probabilities) * cumulative[-1] * (1 - 1e-12)
    return np.asarray(cells[np.minimum(np.searchsorted(cumulative, targets), len(cells) - 1)])


@dataclass(frozen=True)
class Category:
    """The levels of a feature that is a category, and the code that stands for each in a table of numbers.

    Parameters
    ----------
    levels : tuple
        Levels with a code of their own, from the most to the least frequent.
    pooled : frozenset
        Rare levels; they share the next code.
    """

    levels: tuple[Any, ...]
    pooled: frozenset[Any] = frozenset()

    @property
    def n_codes(self) -> int:
        return len(self.levels) + bool(self.pooled)

    @property
    def labels(self) -> tuple[str, ...]:
        """What each code is called in print."""
        rare = len(self.pooled)
        return (*map(str, self.levels), *([f"{rare} rare level{'s' * (rare != 1)}"] * bool(rare)))

    def coded(self, column: Column, where: str) -> Floats:
        """Codes of the cells of a column; NaN for gaps and for levels that were not there in fit."""
        values, places = column.levels if isinstance(column, Numbers) else column
        known = next(iter(self.levels or self.pooled), None)
        if values and known is not None and isinstance(values[0], str) != isinstance(known, str):
            was, now = ("text", "numbers") if isinstance(known, str) else ("numbers", "text")
            raise ValueError(
                f"{where} holds {now}, such as {values[0]!r}, but its levels were {was} in fit. Convert it to {was}."
            )
        codes = {level: float(code) for code, level in enumerate(self.levels)}
        rare = float(len(self.levels))
        each = (codes.get(value, rare if value in self.pooled else np.nan) for value in values)
        # The last one is for gaps.
        return np.array([*each, np.nan])[places]

    @classmethod
    def from_levels(cls, column: Levels, weights: Floats, signs: Floats) -> Category:
        """Learn the levels of a column.

        A level is rare if it weighs less than 10 rows, or than the root of the weight of all rows, or if it is not
        among the 63 that weigh most. Of levels that weigh the same the one comes first whose rows have the larger mean
        of the `signs` (n, s), the first of these in which they differ, so that what levels are called does not matter.
        If there are but two, and they are numbers or bools, the larger comes last.
        """
        values, places = column
        is_there = places >= 0
        size = weights_by_code(places[is_there], weights[is_there], len(values))
        fewest = max(_FEWEST_ROWS, float(np.sqrt(weights.sum()))) * (1 - 1e-9)
        frequent = np.flatnonzero(size >= fewest).tolist()
        # Rounding of sums must not order levels that weigh the same.
        rounded = {place: float(f"{size[place]:.9g}") for place in frequent}
        ties = Counter(rounded.values())
        own_signs: dict[int, tuple[float, ...]] = {}
        for place in frequent:
            if ties[rounded[place]] > 1:
                rows = np.flatnonzero(places == place)
                means = weights[rows] @ signs[rows] / size[place]
                own_signs[place] = tuple(float(f"{-mean:.9g}") for mean in means)
        frequent.sort(key=lambda place: (-rounded[place], own_signs.get(place, ()), str(values[place])))
        if len(frequent) == 2 and len(own_signs) == 2 and not isinstance(values[frequent[0]], str):
            frequent.sort(key=lambda place: values[place])
        kept = frequent[:_MOST_LEVELS]
        rare = sorted(set(np.flatnonzero(size > 0).tolist()) - set(kept))
        # Nothing is gained by giving one rare level another name.
        if len(rare) == 1 and len(kept) < _MOST_LEVELS:
            kept, rare = kept + rare, []
        return cls(tuple(values[place] for place in kept), frozenset(values[place] for place in rare))


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
        return _summed(self.pulls(slopes) ** 2, self.group, len(self.sources))

    def along(self, basis: Floats) -> Gaps:
        """The same for slopes along the columns of a basis (D, r)."""
        return replace(self, loading=sparse.csr_array(self.loading @ basis))


@dataclass(frozen=True, eq=False)
class Schema:
    """Names, units and limits of the features of a table, and the columns of numbers that stand for them.

    A feature that is a number is one column. A category has a column for each of its codes, 1 in rows of that level and
    0 in all others, or just one, of the rarer level, if there are but two. A feature whose gaps tell something has one
    more, which is 1 where its cell is missing.

    Parameters
    ----------
    names : tuple of str
        One name for each feature.
    center, scale : ndarray of shape (D,)
        Mean and standard deviation of each column, its tails cut off; scale is 1 for a constant column. Columns of one
        category share a scale: the standard deviation of all of them together. That of a number with two values, of
        which the larger is more frequent, is negative: it counts as the same category would.
    low, high : ndarray of shape (D,)
        Cells beyond these are read as these, so that one wild cell cannot turn a split.
    source : ndarray of shape (D,), optional
        The feature that each column comes from; by default each has one.
    code : ndarray of shape (D,), optional
        The code that a column of a category is about, `NUMBER` for a number, `MISSING` for what gaps tell.
    categories : tuple of (Category or None), optional
        For each feature its levels, or None if it is a number.
    precision : ndarray of shape (D, D), optional
        Inverse of the covariance of the columns: how those of a missing cell follow from the others. Without it they do
        not.
    averages_gaps : bool, default=True
        Whether gates are averaged over what is missing, or just see it at its mean.
    """

    names: tuple[str, ...]
    center: Floats
    scale: Floats
    low: Floats
    high: Floats
    source: Integers = None  # type: ignore[assignment]
    code: Integers = None  # type: ignore[assignment]
    categories: tuple[Category | None, ...] = ()
    precision: Floats | None = None
    averages_gaps: bool = True

    def __post_init__(self) -> None:
        for field in ("center", "scale", "low", "high"):
            object.__setattr__(self, field, frozen(getattr(self, field)))
        if self.precision is not None:
            object.__setattr__(self, "precision", frozen(self.precision))
        source = np.arange(len(self.names)) if self.source is None else self.source
        code = np.full(len(source), NUMBER) if self.code is None else self.code
        object.__setattr__(self, "source", frozen_integers(source))
        object.__setattr__(self, "code", frozen_integers(code))
        object.__setattr__(self, "categories", self.categories or (None,) * len(self.names))

    __setstate__ = refreeze

    @property
    def n_features(self) -> int:
        return len(self.names)

    @property
    def n_columns(self) -> int:
        """Number D of columns that hyperplanes have slopes for."""
        return len(self.source)

    @property
    def column_names(self) -> tuple[str, ...]:
        """What each column is called: as its feature, "feature=level", or "feature is missing"."""
        names = []
        for source, code in zip(self.source.tolist(), self.code.tolist(), strict=True):
            name, category = self.names[source], self.categories[source]
            if category is not None and 0 <= code < category.n_codes:
                name = f"{name}={category.labels[code]}"
            names.append(f"{name} is missing" if code == MISSING else name)
        return tuple(names)

    @property
    def numbers(self) -> tuple[int, ...]:
        """Places of the features that are numbers."""
        return tuple(place for place, category in enumerate(self.categories) if category is None)

    def column_of_number(self, feature: int) -> int:
        """The column of a feature that is a number."""
        return int(np.flatnonzero((self.source == feature) & (self.code == NUMBER))[0])

    def limits(self, feature: int) -> tuple[float, float]:
        """Between which values splits see a feature that is a number."""
        column = self.column_of_number(feature)
        return float(self.low[column]), float(self.high[column])

    @classmethod
    def from_columns(
        cls,
        X: Any,
        weights: Floats,
        names: tuple[str, ...],
        margin: float = 0.0,
        categories: tuple[Category | None, ...] = (),
        telling: Sequence[int] = (),
    ) -> Schema:
        """Learn units and limits from weighted rows (n, d), one feature at a time.

        Limits are the .5% and 99.5% quantiles, or `margin` standard deviations further out. Gaps of the features that
        are `telling` get a column.
        """
        columns: list[tuple[float, ...]] = []
        for feature, category in enumerate(categories or (None,) * X.shape[1]):
            cells = np.asarray(X[:, feature], dtype=np.float64)
            is_there = ~np.isnan(cells)
            units = cells[is_there], weights[is_there]
            if category is None:
                columns.append((feature, NUMBER, *_column_units(*units, margin)))
            else:
                columns += [(feature, *column) for column in _category_units(*units, category.n_codes)]
            if feature in telling:
                gone, there = weights_by_code(is_there.astype(np.int64), weights, 2)
                mean = float(gone / (gone + there))
                columns.append((feature, MISSING, mean, np.sqrt(mean * (1 - mean)) or 1.0, 0.0, 1.0))
        source, code, center, scale, low, high = np.array(columns, dtype=np.float64).reshape(-1, 6).T
        return cls(names, center, scale, low, high, source.astype(np.int64), code.astype(np.int64), categories)

    def restricted(self, columns: Integers) -> Schema:
        """The same schema with some of its columns, in which nothing is told from the others."""
        kept = {field: getattr(self, field)[columns] for field in ("center", "scale", "low", "high", "source", "code")}
        return replace(self, **kept, precision=None)

    def cells(self, table: Table) -> Floats:
        """Numbers (n, d) for the cells of a table: codes for levels, NaN for what is missing or was not seen in fit."""
        X = np.empty((table.n_rows, self.n_features))
        for place, (column, category) in enumerate(zip(table.columns, self.categories, strict=True)):
            where = table.place(place)
            X[:, place] = as_numbers(column, where) if category is None else category.coded(column, where)
        return X

    def design(self, X: Any) -> Floats:
        """Standardised columns of cells (n, d) under a row of ones, (D + 1, n). What is missing is at 0, its mean."""
        design = np.empty((self.n_columns + 1, len(X)))
        design[0] = 1.0
        columns = design[1:]
        cells = np.asarray(X).T
        if self._is_plain:
            np.clip(cells, self.low[:, None], self.high[:, None], out=columns, casting="unsafe")
        else:
            for column, source, code, low, high in zip(
                columns, self.source, self.code, self.low, self.high, strict=True
            ):
                own = cells[source]
                if code == NUMBER:
                    np.clip(own, low, high, out=column, casting="unsafe")
                elif code == MISSING:
                    column[:] = np.isnan(own)
                else:
                    column[:] = np.where(np.isnan(own), np.nan, own == code)
        columns -= self.center[:, None]
        columns /= self.scale[:, None]
        columns[np.isnan(columns)] = 0.0
        return design

    def filled(self, X: Any, gaps: Gaps | None) -> tuple[Floats, Floats | None]:
        """The `design` of a table with these gaps, and the share of variance that each leaves open, (q, n).

        What is missing is at its mean given the rest of the row. The share is 0 for cells that are there, and the
        second is None for a table without gaps.
        """
        design = self.design(X)
        if gaps is None:
            return design, None
        missing = np.isnan(np.asarray(X)[:, gaps.sources])
        left_open = missing.T.astype(np.float64)
        if self.precision is None:
            return design, left_open
        patterns, place = np.unique(missing, axis=0, return_inverse=True)
        for number, pattern in enumerate(patterns):
            rows = np.flatnonzero(place.reshape(-1) == number)
            own = np.flatnonzero(np.isin(self.source, gaps.sources[pattern]) & (self.code != MISSING))
            covariance = np.linalg.inv(self.precision[np.ix_(own, own)])
            design[np.ix_(1 + own, rows)] = -covariance @ (self.precision[own] @ design[1:, rows])
            variances = np.diag(covariance)
            for gap in np.flatnonzero(pattern):
                mine = self.source[own] == gaps.sources[gap]
                whole = self.variances[own[mine]].sum()
                left_open[gap, rows] = variances[mine].sum() / whole if whole > 0 else 1.0
        return design, left_open

    @property
    def variances(self) -> Floats:
        """Variance of each column, (D,): of the share of a level that follows from its frequency, of all else 1.

        That of a constant column is 0.
        """
        out = (self.low < self.high).astype(np.float64)
        is_level = self.code >= 0
        out[is_level] *= self.center[is_level] * (1 - self.center[is_level]) / self.scale[is_level] ** 2
        return out

    def with_precision(self, X: Any, weights: Floats) -> Schema:
        """The same schema with the `precision` that the columns of a table (n, d) have."""
        missing = np.isnan(np.asarray(X))[:, self.source].T
        there = np.where(self.code[:, None] == MISSING, 0.0, ~missing)
        columns = self.design(X)[1:] * there
        both = np.maximum((there * weights) @ there.T, np.finfo(float).tiny)
        covariance = (columns * weights) @ columns.T / both
        spread = np.sqrt(np.diag(covariance))
        varies = (spread > 0) & (self.code != MISSING) & (self.low < self.high)
        spread = np.where(varies, spread, 1.0)
        correlation = np.where(varies[:, None] & varies, covariance / np.outer(spread, spread), 0.0)
        # As if some rows had been seen in which columns are independent, and with no direction in which nothing varies:
        # pairs of columns that are known from different rows need not fit together.
        correlation *= both / (both + _INDEPENDENT_ROWS)
        np.fill_diagonal(correlation, 1.0)
        sizes, axes = np.linalg.eigh(correlation)
        correlation = (axes * np.maximum(sizes, _LEAST_SIZE)) @ axes.T
        deviation = np.sqrt(np.diag(correlation)) / np.sqrt(np.where(varies, self.variances, 1.0))
        inverse = np.linalg.inv(correlation)
        return replace(self, precision=inverse * np.outer(deviation, deviation))

    @property
    def _is_plain(self) -> bool:
        return self.n_columns == self.n_features and bool((self.code == NUMBER).all())

    def gaps(self, X: Any) -> Gaps | None:
        """What missing cells of a table (n, d) could have been; None if there are none, or if it is not asked for."""
        if not self.averages_gaps:
            return None
        sources = features_with_gaps(X)
        return self.gaps_in(sources) if len(sources) else None

    def gaps_in(self, sources: Integers) -> Gaps:
        """What cells of some features could have been if they were missing.

        A number has mean 0 and variance 1, in its own units; a level, the frequency that it had in training.
        """
        values, columns, rows = [], [], []
        group: list[int] = []
        for place, feature in enumerate(sources):
            own = np.flatnonzero((self.source == feature) & (self.code != MISSING))
            # A column that did not vary says nothing of what it could have been.
            varies = (self.low[own] < self.high[own]).astype(np.float64)
            if len(own) == 1:
                parts = np.eye(1) * varies
            else:
                share, scale = self.center[own], self.scale[own]
                parts = np.sqrt(share)[:, None] * (np.eye(len(own)) - share) / scale
            for part in parts:
                values.append(part)
                columns.append(own)
                rows.append(np.full(len(own), len(group)))
                group.append(place)
        shape = len(group), self.n_columns
        nowhere = np.empty(0, dtype=np.int64)
        entries = (
            np.concatenate([*values, np.empty(0)]),
            (np.concatenate([*rows, nowhere]), np.concatenate([*columns, nowhere])),
        )
        return Gaps(np.asarray(sources), sparse.csr_array(entries, shape=shape), np.array(group, dtype=np.int64))

    def in_original_units(self, hyperplanes: Floats) -> Floats:
        """Hyperplanes for standardised columns, rewritten for the columns as they came."""
        slopes = hyperplanes[:, 1:] / self.scale
        return np.column_stack([hyperplanes[:, 0] - slopes @ self.center, slopes])

    def in_own_units(self, hyperplanes: Floats) -> Floats:
        """Hyperplanes for columns as they come, rewritten for standardised ones."""
        slopes = hyperplanes[:, 1:]
        return np.column_stack([hyperplanes[:, 0] + slopes @ self.center, slopes * self.scale])

    def by_feature(self, columns: Floats) -> Floats:
        """Sums (..., d) by feature of what columns (..., D) hold."""
        return _summed(columns, self.source, self.n_features)


def features_with_gaps(X: Any) -> Integers:
    """Columns of a table (n, d) in which cells are missing."""
    with np.errstate(invalid="ignore", over="ignore"):
        # A sum is a quick way to find out, and infinities, which it might find too, do no harm.
        return np.flatnonzero(np.isnan(np.asarray(X).sum(axis=0)))


def numbered(n_features: int) -> tuple[str, ...]:
    """What features without names are called."""
    return tuple(f"x{j}" for j in range(n_features))


def _summed(parts: Floats, group: Integers, size: int) -> Floats:
    """Sums (..., size) of parts (..., K) by their group (K,)."""
    out = np.zeros((size, *parts.shape[:-1]))
    for place, part in zip(group.tolist(), np.moveaxis(parts, -1, 0), strict=True):
        out[place] += part
    return np.moveaxis(out, 0, -1)


def identity_schema(n_features: int, n_cells: int | None = None) -> Schema:
    """For columns that are already in the units that splits work on, and further cells that splits do not look at."""
    ones = np.ones(n_features)
    return Schema(numbered(n_cells or n_features), 0 * ones, ones, -np.inf * ones, np.inf * ones, np.arange(n_features))


def _category_units(codes: Floats, weights: Floats, n_codes: int) -> list[tuple[int, float, float, float, float]]:
    """Code, center, scale and limits of the columns of a category."""
    counts = weights_by_code(codes.astype(np.int64), weights, max(n_codes, 1))
    share = counts / max(float(counts.sum()), np.finfo(float).tiny)
    scale = float(np.sqrt((share * (1 - share)).sum()))
    if n_codes < 2 or scale == 0:
        return [(0, float(share[0]), 1.0, float(share[0]), float(share[0]))]
    if n_codes == 2:
        return [(1, float(share[1]), scale / np.sqrt(2.0), 0.0, 1.0)]
    return [(code, float(share[code]), scale, 0.0, 1.0) for code in range(n_codes)]


def _column_units(cells: Floats, weights: Floats, margin: float) -> tuple[float, float, float, float]:
    if not weights.any():
        return 0.0, 1.0, 0.0, 0.0
    cells, weights = _in_order(cells, weights)
    # In a short table half a percent is no row at all: there at least the outermost one is a tail.
    tail = float(np.clip(1.5 / weights.sum(), _TAIL, _LARGEST_TAIL))
    low, high = _quantiles_in_order(cells, weights, [tail, 1 - tail])
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
