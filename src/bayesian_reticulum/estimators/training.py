"""A checked table."""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

import numpy as np

from ..arrays import Floats
from ..data import Category, Frame, Levels, features_with_gaps, weights_by_code
from ..families import Family


class TrainingData(NamedTuple):
    """A checked table: rows (n, d), targets as the family wants them, positive weights, and what things are called.

    Cells are numbers, the codes of a category's levels, or NaN where they are missing.
    """

    X: Any
    targets: Any
    weights: Floats
    family: Family
    names: tuple[str, ...]
    target_names: tuple[str, ...]
    categories: tuple[Category | None, ...] = ()


class Cells(NamedTuple):
    """Cells (n, d) of a table as they were read: numbers or, where there are `levels`, the place of each among them."""

    X: Any
    names: tuple[str, ...]
    levels: tuple[list[Any] | None, ...]

    def coded(self, used: Any, weights: Floats, targets: Floats) -> tuple[Any, tuple[Category | None, ...]]:
        """Rows that are used, with codes for levels, and the categories that were learned from them."""
        X = self.X[used]
        if not any(values is not None for values in self.levels):
            return X, ()
        X = X.copy()
        columns = [
            None if values is None else Levels(values, np.where(np.isnan(cells), -1, cells).astype(np.int64))
            for values, cells in zip(self.levels, X.T, strict=True)
        ]
        signs = np.column_stack([targets, targets**2, *map(_sign, columns, X.T, [weights] * len(columns))])
        categories: list[Category | None] = []
        for place, (name, column) in enumerate(zip(self.names, columns, strict=True)):
            if column is None:
                categories.append(None)
                continue
            category = Category.from_levels(column, weights, signs)
            X[:, place] = category.coded(column, name)
            categories.append(category)
            if not category.levels and len(category.pooled) > 1:
                warnings.warn(
                    f"column {name!r} has {len(category.pooled)} levels, all of them rare: nothing can be learned from "
                    "it. Leave it out, or join levels that belong together.",
                    stacklevel=6,
                )
        return X, tuple(categories)


def _sign(column: Levels | None, cells: Floats, weights: Floats) -> Floats:
    """Numbers (n,) that tell rows apart by a column: for levels, whatever they are called, how much each weighs."""
    if column is None:
        return np.where(np.isnan(cells), 0.0, cells)
    is_there = column.places >= 0
    sizes = weights_by_code(column.places[is_there], weights[is_there], len(column.values))
    return np.append(sizes, 0.0)[column.places]


def check_finite(X: Floats, table: Frame) -> None:
    bad = np.argwhere(np.isinf(X))
    if len(bad):
        row, column = bad[0].tolist()
        raise ValueError(
            f"Input X contains infinity: {table.place(column)} is {X[row, column]} in row {row}. Give the largest "
            "value that it can have, or NaN if it is not known."
        )


def telling_gaps(table: TrainingData) -> list[int]:
    """Features whose gaps tell something of the targets: parted by it, these have a higher evidence than together.

    Higher by the log of the number of features that have gaps: beforehand, one of these is believed to tell. Of
    features that are missing in the same rows the first stands for all. A family of linear leaves, which was made for a
    number of columns, gets no more than these.
    """
    family = table.family
    features = features_with_gaps(table.X)
    if not len(features) or family.uses_design:
        return []
    statistics = family.row_statistics(None, table.targets) * table.weights[:, None]
    together = statistics.sum(axis=0)
    found: dict[bytes, int] = {}
    for feature in features.tolist():
        is_gap = np.isnan(table.X[:, feature])
        missing = statistics[is_gap].sum(axis=0)
        there = statistics[~is_gap].sum(axis=0)
        gain = family.log_evidence(missing) + family.log_evidence(there) - family.log_evidence(together)
        if gain > np.log(len(features)):
            found.setdefault(np.packbits(is_gap).tobytes(), feature)
    return list(found.values())


def is_wide(X: Any, d: int) -> bool:
    """Whether a table has so many more columns, d, than different rows that it pays to work in the span of the rows.

    Repeated rows do not count, so that they and weights are treated alike.
    """
    if d < _WIDE or len(X) > _MOST_ROWS_COMPARED:
        return False
    return len(np.unique(np.where(np.isnan(X), np.inf, X), axis=0)) < d


# Tables narrower than this are not worth narrowing, and in longer ones different rows are not counted.
_WIDE = 64
_MOST_ROWS_COMPARED = 50_000
