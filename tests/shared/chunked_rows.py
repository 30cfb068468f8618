"""Rows in chunks that are never joined: the plainest rows that are none of the package's."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from bayesian_reticulum.rows import (
    ArrayRows,
    Block,
    RowData,
    TreeContext,
    join_blocks,
    row_keys,
    sampled_places,
    seen_from,
    sum_over,
)
from bayesian_reticulum.rows.limits import DEFAULT_LIMITS

CHUNK = 97


class Chunk:
    """Some rows, and their keys (n,)."""

    def __init__(self, block: Block, keys: Any) -> None:
        self.block, self.keys = block, keys

    def take(self, places: Any, **changes: Any) -> Chunk:
        return Chunk(replace(self.block.take(places), **changes), self.keys[places])


class ChunkedRows:
    """Rows in chunks, at least one, that are summed one after the other; samples alone are joined."""

    def __init__(self, chunks: list[Chunk], axes: Any) -> None:
        self.chunks, self.axes = chunks, axes
        self.facts = chunks[0].block.facts
        self.tail, self.n_columns = self.facts.tail, self.facts.n_columns

    @classmethod
    def of_data(cls, data: RowData, likelihood: Any, *, threads: int = 1) -> ChunkedRows:
        whole = ArrayRows.of_data(data, likelihood).gather()
        places = [np.arange(start, min(start + CHUNK, whole.n_rows)) for start in range(0, whole.n_rows, CHUNK)]
        keys = row_keys(data.X, data.targets)
        return cls([Chunk(whole.take(part), keys[part]) for part in places], data.axes)

    @property
    def n_rows(self) -> int:
        return sum(chunk.block.n_rows for chunk in self.chunks)

    @property
    def weight(self) -> float:
        return float(sum(chunk.block.mass.sum() for chunk in self.chunks))

    def reduce(self, request: Any) -> Any:
        return sum_over(request, (chunk.block for chunk in self.chunks), self.facts)

    def views(self, context: TreeContext, leaves: Any) -> Any:
        if context.shape.n_splits == 0:
            yield from (self for _ in leaves)
            return
        for leaf in leaves:
            yield ChunkedRows([self._seen(chunk, context, leaf) for chunk in self.chunks], self.axes)

    @staticmethod
    def _seen(chunk: Chunk, context: TreeContext, leaf: int) -> Chunk:
        [seen] = seen_from(chunk.block, context, np.array([leaf]), DEFAULT_LIMITS)
        return chunk.take(seen.places, log_reach=seen.log_reach, log_other=seen.log_other)

    def sample(self, size: int) -> ArrayRows:
        keys = np.concatenate([chunk.keys for chunk in self.chunks])
        joined = join_blocks([chunk.block for chunk in self.chunks])
        share = min(1.0, size / len(keys))
        places = None if len(keys) <= 2 * size else sampled_places(keys, size, share)
        if places is None:
            return ArrayRows.of_block(joined, self.axes, keys)
        return ArrayRows.of_block(joined.take(places), self.axes, keys[places], share)
