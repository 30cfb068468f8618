"""What the columns of a table mean, and how they become the numbers that splits work on.

Nothing below this module knows column names, categories, wild cells or units: it sees columns that are centred, of unit
spread and bounded, and which cells are missing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse

from ..arrays import Floats, Integers, frozen, frozen_integers, refreeze
from .categories import Category
from .frames import Frame, as_numbers
from .gaps import Gaps, features_with_gaps, sum_by_group
from .quantiles import weights_by_code
from .units import MISSING, NUMBER, category_units, column_units

# What is known of the correlation of columns before any row is seen, in rows; and the least variance, to that of one
# column, in any direction.
_INDEPENDENT_ROWS = 5.0
_LEAST_SIZE = 0.01


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
    covariance_inverse : ndarray of shape (D, D), optional
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
    covariance_inverse: Floats | None = None
    averages_gaps: bool = True

    def __post_init__(self) -> None:
        for field in ("center", "scale", "low", "high"):
            object.__setattr__(self, field, frozen(getattr(self, field)))
        if self.covariance_inverse is not None:
            object.__setattr__(self, "covariance_inverse", frozen(self.covariance_inverse))
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
                columns.append((feature, NUMBER, *column_units(*units, margin)))
            else:
                columns += [(feature, *column) for column in category_units(*units, category.n_codes)]
            if feature in telling:
                gone, there = weights_by_code(is_there.astype(np.int64), weights, 2)
                mean = float(gone / (gone + there))
                columns.append((feature, MISSING, mean, np.sqrt(mean * (1 - mean)) or 1.0, 0.0, 1.0))
        source, code, center, scale, low, high = np.array(columns, dtype=np.float64).reshape(-1, 6).T
        return cls(names, center, scale, low, high, source.astype(np.int64), code.astype(np.int64), categories)

    def restricted(self, columns: Integers) -> Schema:
        """The same schema with some of its columns, in which nothing is told from the others."""
        kept = {field: getattr(self, field)[columns] for field in ("center", "scale", "low", "high", "source", "code")}
        return replace(self, **kept, covariance_inverse=None)

    def cells(self, table: Frame) -> Floats:
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
        if self.covariance_inverse is None:
            return design, left_open
        patterns, place = np.unique(missing, axis=0, return_inverse=True)
        for number, pattern in enumerate(patterns):
            rows = np.flatnonzero(place.reshape(-1) == number)
            own = np.flatnonzero(np.isin(self.source, gaps.sources[pattern]) & (self.code != MISSING))
            covariance = np.linalg.inv(self.covariance_inverse[np.ix_(own, own)])
            design[np.ix_(1 + own, rows)] = -covariance @ (self.covariance_inverse[own] @ design[1:, rows])
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

    def with_covariance_inverse(self, X: Any, weights: Floats) -> Schema:
        """The same schema with the `covariance_inverse` that the columns of a table (n, d) have."""
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
        return replace(self, covariance_inverse=inverse * np.outer(deviation, deviation))

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
        return sum_by_group(columns, self.source, self.n_features)


def default_names(n_features: int) -> tuple[str, ...]:
    """What features without names are called."""
    return tuple(f"x{j}" for j in range(n_features))


def identity_schema(n_features: int, n_cells: int | None = None) -> Schema:
    """For columns that are already in the units that splits work on, and further cells that splits do not look at."""
    ones = np.ones(n_features)
    return Schema(
        default_names(n_cells or n_features), 0 * ones, ones, -np.inf * ones, np.inf * ones, np.arange(n_features)
    )
