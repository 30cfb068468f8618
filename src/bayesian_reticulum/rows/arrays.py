"""Rows in memory, summed block by block in a namespace of the array API standard: the reference for all other rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from ..arrays import Floats, Integers
from ..data import Schema, weighted_quantiles
from ..namespaces import beside, to_numpy
from .block import NO_TAIL, Block
from .limits import DEFAULT_LIMITS, Limits
from .part import BlockPart, Part, Reader, TablePart, mass_of, sample_of
from .protocol import Likelihood, TreeContext
from .requests import Request, SumsT, sum_over
from .sampling import Keys
from .source import RowData
from .views import Seen, join_seen, seen_from


class ArrayRows:
    """Rows in memory, worked through in blocks.

    Parameters
    ----------
    part : Part
        The rows in view.
    like : array, optional
        Sums are made in its namespace and on its device; by default NumPy's. Row statistics come from NumPy, and each
        block is sent over, once if all rows fit into `Limits.kept_bytes`.
    """

    def __init__(self, part: Part, like: Any = None) -> None:
        self.part = part
        self._like = np.empty(0) if like is None else like
        self._reader = Reader(part, self._like)

    @classmethod
    def of_table(
        cls,
        X: Any,
        targets: Any,
        likelihood: Likelihood,
        weights: Floats,
        schema: Schema,
        *,
        tail: Floats = NO_TAIL,
        limits: Limits = DEFAULT_LIMITS,
        like: Any = None,
    ) -> ArrayRows:
        """All rows of a table, given as for `RowData`."""
        return cls.of_data(RowData.of(X, targets, weights, schema, tail), likelihood, limits=limits, like=like)

    @classmethod
    def of_data(
        cls, data: RowData, likelihood: Likelihood, *, limits: Limits = DEFAULT_LIMITS, like: Any = None
    ) -> ArrayRows:
        """All rows of finished data."""
        return cls(TablePart.whole(data, likelihood, limits), like)

    @classmethod
    def of_block(cls, block: Block, axes: Floats, keys: Keys, sampled_share: float = 1.0) -> ArrayRows:
        """The rows of a block of NumPy, such as a sample of rows that are elsewhere, with their keys (n,)."""
        return cls(BlockPart(block, axes, keys, sampled_share))

    @property
    def axes(self) -> Floats:
        return self.part.axes

    @property
    def tail(self) -> Floats:
        return self.part.facts.tail

    @property
    def n_columns(self) -> int:
        return self.part.facts.n_columns

    @property
    def n_rows(self) -> int:
        return len(self.part.weights)

    @cached_property
    def _mass(self) -> Floats:
        return mass_of(self.part)

    @property
    def weight(self) -> float:
        return float(self._mass.sum())

    def reduce(self, request: Request[SumsT]) -> SumsT:
        facts = self.part.facts
        return sum_over(request, (block for _, block in self._reader.blocks(request.floats_per_row(facts))), facts)

    def views(self, context: TreeContext, leaves: Sequence[int] | Integers) -> Iterator[ArrayRows]:
        if context.shape.n_splits == 0:
            yield from (self for _ in leaves)
            return
        at_once = self.part.facts.limits.views_at_once
        for start in range(0, len(leaves), at_once):
            seen = self.seen_from(context, np.asarray(leaves[start : start + at_once], dtype=np.int64))[::-1]
            while seen:
                # Popped, so that the arrays of a view are freed with it.
                places, log_reach, log_other = seen.pop()
                yield ArrayRows(self.part.take(places, log_reach=log_reach, log_other=log_other), self._like)

    def seen_from(self, context: TreeContext, leaves: Integers) -> list[Seen]:
        """Which rows are seen from each of some leaves."""
        parts: list[list[tuple[int, Seen]]] = [[] for _ in leaves]
        limits = self.part.facts.limits
        for start, block in self._reader.blocks(6 * context.shape.n_leaves):
            for of_leaf, seen in zip(parts, seen_from(block, context, leaves, limits), strict=True):
                of_leaf.append((start, seen))
        return [join_seen(of_leaf) for of_leaf in parts]

    def sample(self, size: int) -> ArrayRows:
        part = sample_of(self.part, size)
        return self if part is self.part else ArrayRows(part, self._like)

    def quantiles(self, directions: Floats, probabilities: Floats) -> Floats:
        # A few directions at a time, as the values of all rows along them are held at once.
        step = max(1, self.part.facts.limits.quantile_floats // max(self.n_rows, 1))
        parts = [directions[start : start + step] for start in range(0, len(directions), step)]
        return np.concatenate([self._few_quantiles(part, probabilities) for part in parts])

    def _few_quantiles(self, directions: Floats, probabilities: Floats) -> Floats:
        values = np.empty((self.n_rows, len(directions)))
        along = beside(self._like, directions)
        for start, block in self._reader.blocks(len(directions)):
            values[start : start + block.n_rows] = to_numpy(along @ block.design).T
        return weighted_quantiles(values, self._mass, probabilities)

    def gather(self) -> Block:
        return self.part.read(0, self.n_rows)
