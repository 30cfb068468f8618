"""The coordinates that a tree is grown in: units, columns for gaps that tell something, axes of wide tables."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from ..data import Rotation, Schema, features_with_gaps
from ..families import Family, LinearizableFamily, row_statistics
from ..rows import FULL_HESSIAN_COLUMNS, LEADING_AXES, RowData
from ..tree import Tree
from .threads import single_blas
from .training import TrainingData

# Rows that are enough to learn from how missing cells follow from the rest of a row.
_CORRELATED_ROWS = 8192
# Features that may have gaps in a rotated table: each of them is a gap in all columns there.
_MOST_GAPS = 32
# Tables narrower than this are not worth rotating, and in longer ones different rows are not counted.
_WIDE = 64
_MOST_ROWS_COMPARED = 50_000


class Coordinates(NamedTuple):
    """A table along the columns that splits are grown in, and the way back to the columns of the table.

    Attributes
    ----------
    data : RowData
        What rows are made of: the coordinate system is finished before there are any.
    schema : Schema
        Makes the columns of the table.
    rotation : Rotation or None
        To the axes of a wide table; None if splits are grown in the columns themselves.
    """

    data: RowData
    schema: Schema
    rotation: Rotation | None

    @classmethod
    def choose(cls, data: TrainingData, margin: float) -> Coordinates:
        """Learn the schema of a table, its numbers followed `margin` deviations beyond their tails, and rotate it.

        Tables that have fewer different rows than columns, or too many columns for a Hessian, are rotated to their
        principal axes. In all others it is learned how missing cells follow from those that are there.
        """
        encoder, leaves_are_linear = data.encoder, data.family.uses_design
        schema = Schema.from_columns(
            data.X, data.weights, encoder.names, margin, encoder.categories, informative_gaps(data)
        )
        is_large = schema.n_columns > FULL_HESSIAN_COLUMNS
        if (is_large or _has_fewer_rows(data.X, schema.n_columns)) and not leaves_are_linear:
            if len(features_with_gaps(data.X)) > _MOST_GAPS:
                schema = replace(schema, averages_gaps=False)
            plain = RowData.of(data.X, data.targets, data.weights, schema)
            rotated, rotation = plain.rotated(LEADING_AXES if is_large else schema.n_columns)
            return cls(rotated, schema, rotation)
        plain = RowData.of(data.X, data.targets, data.weights, schema)
        if is_large:
            return cls(plain, schema, None)
        sample = plain.sample(_CORRELATED_ROWS)
        if sample is plain:
            # A sample is in the order of its content. So are all rows, so that their order cannot be seen in sums.
            sample = plain.take(plain.content.order)
        # Threads of BLAS look for work for a tenth of a second after a call, in the way of the threads of growth.
        with single_blas():
            schema = schema.with_regressions(sample.X, sample.weights)
        return cls(plain.with_schema(schema), schema, None)

    @property
    def is_rotated(self) -> bool:
        return self.rotation is not None

    def tree_of_table(self, tree: Tree) -> Tree:
        """A tree of these rows, its hyperplanes rewritten for the columns of the table."""
        if self.rotation is None:
            return tree
        return Tree(self.rotation.undo(tree.hyperplanes), tree.shape, tree.ids)

    def family_of_table(self, family: Family) -> Family:
        """A family of these rows, the directions of its linear leaves rewritten for the columns of the table."""
        if self.rotation is None or not isinstance(family, LinearizableFamily):
            return family
        return family.restored(self.rotation.basis)


def informative_gaps(data: TrainingData) -> list[int]:
    """Features whose gaps tell something of the targets: parted by it, these have a higher evidence than together.

    Higher by the log of the number of features that have gaps: beforehand, one of these is believed to tell. Of
    features that are missing in the same rows the first stands for all. A family of linear leaves, which was made for a
    number of columns, gets no more than these.
    """
    family = data.family
    features = features_with_gaps(data.X)
    if not len(features) or family.uses_design:
        return []
    statistics = row_statistics(family, None, data.targets) * data.weights[:, None]
    together = statistics.sum(axis=0)
    first_with_mask: dict[bytes, int] = {}
    for feature in features.tolist():
        is_gap = np.isnan(data.X[:, feature])
        missing = statistics[is_gap].sum(axis=0)
        there = statistics[~is_gap].sum(axis=0)
        gain = family.log_evidence(missing) + family.log_evidence(there) - family.log_evidence(together)
        if gain > np.log(len(features)):
            first_with_mask.setdefault(np.packbits(is_gap).tobytes(), feature)
    return list(first_with_mask.values())


def _has_fewer_rows(X: Any, n_columns: int) -> bool:
    """Whether a table has so many more columns than different rows that it pays to work in the span of the rows.

    Repeated rows do not count, so that they and weights are treated alike.
    """
    if n_columns < _WIDE or len(X) > _MOST_ROWS_COMPARED:
        return False
    return len(np.unique(np.where(np.isnan(X), np.inf, X), axis=0)) < n_columns
