"""The schema of a table: what its columns mean, and how cells become the numbers that splits work on.

The modules below know no column names, categories, wild cells or units: they see columns that are centred, of unit
spread and bounded, and which cells are missing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..arrays import Floats, Integers, frozen, frozen_integers, refreeze
from .categories import Category
from .encoding import Encoder, default_names
from .gaps import Gaps, Regressions, column_variances, features_with_gaps, sum_by_group
from .quantiles import weights_by_code
from .units import MISSING, NUMBER, category_units, column_units


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
    regressions : Regressions, optional
        How the columns of a missing cell follow from those of other features. Without it they do not.
    averages_gaps : bool, default=True
        Whether missing cells soften gates, or are just seen at their mean.
    """

    names: tuple[str, ...]
    center: Floats
    scale: Floats
    low: Floats
    high: Floats
    source: Integers = None  # type: ignore[assignment]
    code: Integers = None  # type: ignore[assignment]
    categories: tuple[Category | None, ...] = ()
    regressions: Regressions | None = None
    averages_gaps: bool = True

    def __post_init__(self) -> None:
        for field in ("center", "scale", "low", "high"):
            object.__setattr__(self, field, frozen(getattr(self, field)))
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
    def encoder(self) -> Encoder:
        """What turns tables like that of fit into cells (n, d)."""
        return Encoder(self.names, self.categories)

    @property
    def numbers(self) -> tuple[int, ...]:
        """Places of the features that are numbers."""
        return tuple(place for place, category in enumerate(self.categories) if category is None)

    def column_of_number(self, feature: int) -> int:
        """The column of a feature that is a number."""
        return int(np.flatnonzero((self.source == feature) & (self.code == NUMBER))[0])

    def limits(self, feature: int) -> tuple[float, float]:
        """Smallest and largest value that splits see of a feature that is a number."""
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
        informative_gaps: Sequence[int] = (),
    ) -> Schema:
        """Learn units and limits from weighted rows (n, d), one feature at a time.

        Limits are the .5% and 99.5% quantiles, or `margin` standard deviations further out. Gaps of the
        features `informative_gaps` get a column.
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
            if feature in informative_gaps:
                weight_missing, weight_there = weights_by_code(is_there.astype(np.int64), weights, 2)
                mean = float(weight_missing / (weight_missing + weight_there))
                columns.append((feature, MISSING, mean, np.sqrt(mean * (1 - mean)) or 1.0, 0.0, 1.0))
        source, code, center, scale, low, high = np.array(columns, dtype=np.float64).reshape(-1, 6).T
        return cls(names, center, scale, low, high, source.astype(np.int64), code.astype(np.int64), categories)

    def restricted(self, columns: Integers) -> Schema:
        """The same schema with some of its columns, none of which follows from others."""
        kept = {field: getattr(self, field)[columns] for field in ("center", "scale", "low", "high", "source", "code")}
        return replace(self, **kept, regressions=None)

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
                values = cells[source]
                if code == NUMBER:
                    np.clip(values, low, high, out=column, casting="unsafe")
                elif code == MISSING:
                    column[:] = np.isnan(values)
                else:
                    column[:] = np.where(np.isnan(values), np.nan, values == code)
        columns -= self.center[:, None]
        columns /= self.scale[:, None]
        columns[np.isnan(columns)] = 0.0
        return design

    def filled(self, X: Any, gaps: Gaps | None) -> tuple[Floats, Floats | None]:
        """The `design` of a table with these gaps, and the share of variance that each leaves open, (q, n).

        What is missing is at what follows from the rest of the row. The share is 0 for cells that are there, and the
        second is None for a table without gaps.
        """
        design = self.design(X)
        if gaps is None:
            return design, None
        missing = np.isnan(np.asarray(X)[:, gaps.sources])
        if self.regressions is None:
            return design, missing.T.astype(np.float64)
        return design, self.regressions.fill(design, missing, gaps.sources, self)

    @property
    def variances(self) -> Floats:
        """Variance of each column, (D,)."""
        return column_variances(self)

    def with_regressions(self, X: Any, weights: Floats) -> Schema:
        """The same schema with the `regressions` of the columns of a table (n, d)."""
        missing = np.isnan(np.asarray(X))[:, self.source].T
        return replace(self, regressions=Regressions.learn(self.design(X)[1:], missing, weights, self))

    @property
    def _is_plain(self) -> bool:
        return self.n_columns == self.n_features and bool((self.code == NUMBER).all())

    def gaps(self, X: Any) -> Gaps | None:
        """What missing cells of a table (n, d) could have been.

        None if there are none, or if they do not soften gates.
        """
        if not self.averages_gaps:
            return None
        sources = features_with_gaps(X)
        return self.gaps_in(sources) if len(sources) else None

    def gaps_in(self, sources: Integers) -> Gaps:
        """What cells of some features could have been if they were missing."""
        return Gaps.of_features(sources, self)

    def in_original_units(self, hyperplanes: Floats) -> Floats:
        """Hyperplanes for standardised columns, rewritten for the columns as they came."""
        slopes = hyperplanes[:, 1:] / self.scale
        return np.column_stack([hyperplanes[:, 0] - slopes @ self.center, slopes])

    def in_standard_units(self, hyperplanes: Floats) -> Floats:
        """Hyperplanes for columns as they come, rewritten for standardised ones."""
        slopes = hyperplanes[:, 1:]
        return np.column_stack([hyperplanes[:, 0] + slopes @ self.center, slopes * self.scale])

    def by_feature(self, columns: Floats) -> Floats:
        """Sums (..., d) by feature of what columns (..., D) hold."""
        return sum_by_group(columns, self.source, self.n_features)


def identity_schema(n_features: int, n_cells: int | None = None) -> Schema:
    """For columns that are already in the units that splits work on, and further cells that splits do not look at."""
    ones = np.ones(n_features)
    return Schema(
        default_names(n_cells or n_features), 0 * ones, ones, -np.inf * ones, np.inf * ones, np.arange(n_features)
    )
