"""What rows are made of: cells with targets and weights, in a coordinate system that is finished before rows exist."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from ..arrays import Floats, Integers
from ..data import Gaps, Rotation, Schema, identity_schema
from .block import NO_TAIL
from .sampling import Keys, row_keys, sampled_places


class ContentOrder:
    """Keys of rows, mixed from their content, and the order by these; made when they are first needed.

    Parameters
    ----------
    X : array of shape (n, d)
    targets : array of shape (n,)
    weights : ndarray of shape (n,)
    """

    def __init__(self, X: Any, targets: Any, weights: Floats) -> None:
        self._X, self._targets, self._weights = X, targets, weights

    @cached_property
    def keys(self) -> Keys:
        """The key of each row, (n,)."""
        return row_keys(self._X, self._targets)

    @cached_property
    def order(self) -> Integers:
        """Rows by key, and by weight where keys are equal, (n,)."""
        return np.lexsort((self._weights, self.keys))


@dataclass(frozen=True, eq=False)
class RowData:
    """A table in memory with the coordinate system that trees are grown in.

    Parameters
    ----------
    X : array of shape (n, d)
        Numeric cells in the units of the table, NaN where a cell is missing; never copied.
    targets : array of shape (n,) or TargetsWithMetadata
        In the form that the family reads.
    weights : ndarray of shape (n,)
        Positive row weights.
    schema : Schema
        Turns blocks of X into the columns that hyperplanes are written for.
    gaps : Gaps or None
        What missing cells could have been; None if no cell is missing, or gates are not averaged over them.
    axes : ndarray of shape (D, columns)
        Directions that stand for one feature each.
    tail : ndarray
        Variances of the last columns, if these are uncorrelated with all others and too many for their information to
        be a matrix.
    content : ContentOrder
        Keys of the rows and the order by them.
    """

    X: Any
    targets: Any
    weights: Floats
    schema: Schema
    gaps: Gaps | None
    axes: Floats
    tail: Floats
    content: ContentOrder

    @classmethod
    def of(cls, X: Any, targets: Any, weights: Floats, schema: Schema, tail: Floats = NO_TAIL) -> RowData:
        """A table in the columns of a schema."""
        content = ContentOrder(X, targets, weights)
        return cls(X, targets, weights, schema, schema.gaps(X), np.eye(schema.n_columns), tail, content)

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.X)

    def with_schema(self, schema: Schema) -> RowData:
        """The same cells with columns made by another schema of as many columns."""
        return replace(self, schema=schema)

    def take(self, places: Integers) -> RowData:
        """Some of the rows, in the given order."""
        X, targets, weights = self.X[places], self.targets[places], self.weights[places]
        return replace(self, X=X, targets=targets, weights=weights, content=ContentOrder(X, targets, weights))

    def in_order(self) -> RowData:
        """The rows in the order of their content, so that the order in which they came cannot be seen in sums."""
        return self.take(self.content.order)

    def sample(self, size: int) -> RowData:
        """About `size` of the rows, in the order of their content; all rows if these are at most twice as many.

        Where rows are mostly repeats, all of them in that order.
        """
        if self.n_rows <= 2 * size:
            return self
        places = sampled_places(self.content.keys, size, size / self.n_rows)
        return self.in_order() if places is None else self.take(places).in_order()

    def restricted(self, columns: Integers) -> RowData | None:
        """The same rows with some of their columns; None where these depend on the others, too.

        They do where missing cells are filled from the rest of their row.
        """
        if self.gaps is not None and self.schema.regressions is not None:
            return None
        schema = self.schema.restricted(columns)
        gaps = None if self.gaps is None else schema.gaps_in(self.gaps.sources)
        return replace(self, schema=schema, gaps=gaps, axes=np.eye(schema.n_columns))

    def rotated(self, n_leading: int) -> tuple[RowData, Rotation]:
        """The rows along their principal axes, for wide tables. Axes beyond the first `n_leading` make up the tail.

        Sums are made in the order of content, as in `in_order`.
        """
        centred = self.schema.filled(self.X, self.gaps)[0][1:].T
        order = self.content.order
        rotation = Rotation.to_principal_axes(centred, self.weights, n_leading, order)
        columns, gaps = centred @ rotation.basis, self.gaps
        rank = columns.shape[1]
        if gaps is not None:
            # Cells that may be missing stay in view behind the columns that splits work on.
            columns = np.column_stack([columns, np.asarray(self.X, dtype=np.float64)[:, gaps.sources]])
            gaps = replace(gaps.along(rotation.basis), sources=rank + np.arange(len(gaps.sources)))
        schema = identity_schema(rank, columns.shape[1])
        content = ContentOrder(columns, self.targets, self.weights)
        rotated = RowData(columns, self.targets, self.weights, schema, gaps, rotation.basis, rotation.tail, content)
        return rotated, rotation
