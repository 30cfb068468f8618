"""The rows of a table in memory that are in view, and how far each is: what rows in memory share."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Protocol

import numpy as np

from ..arrays import Floats, Integers
from ..families import row_statistics
from .block import Block, Facts, block_size
from .limits import Limits
from .protocol import Likelihood
from .sampling import Keys, sampled_places
from .source import RowData


class Part(Protocol):
    """Some rows in memory: a part of a table, or of a block.

    Attributes
    ----------
    facts : Facts
    weights : ndarray of shape (n,)
    log_reach, log_other : ndarray of shape (n,) or None
        In a view: the log membership of each row in the leaf, and how likely all other leaves together make its target
        (the log of the sum over them of membership times likelihood).
    sampled_share : float
        The share of the table that these rows are a sample of.
    """

    @property
    def facts(self) -> Facts: ...

    @property
    def weights(self) -> Floats: ...

    @property
    def log_reach(self) -> Floats | None: ...

    @property
    def log_other(self) -> Floats | None: ...

    @property
    def sampled_share(self) -> float: ...

    @property
    def axes(self) -> Floats: ...

    @property
    def keys(self) -> Keys:
        """The key of each row in view."""
        ...

    def read(self, start: int, stop: int) -> Block:
        """Some of the rows as a block of NumPy."""
        ...

    def take(self, places: Integers, **changes: Any) -> Any:
        """Rows by their places in this part, in the given order."""
        ...


@dataclass(frozen=True, eq=False)
class TablePart:
    """Some rows of a table in memory.

    Parameters
    ----------
    data : RowData
        The whole table.
    likelihood : Likelihood
    facts : Facts
    weights : ndarray of shape (n,)
    chosen : ndarray of shape (n,) or None
        Places of the rows in the table; None for all of them.
    log_reach, log_other, sampled_share
        As in `Part`.
    """

    data: RowData
    likelihood: Likelihood
    facts: Facts
    weights: Floats
    chosen: Integers | None = None
    log_reach: Floats | None = None
    log_other: Floats | None = None
    sampled_share: float = 1.0

    @classmethod
    def whole(cls, data: RowData, likelihood: Likelihood, limits: Limits) -> TablePart:
        """All rows of a table."""
        facts = Facts(data.schema.n_columns, likelihood.n_statistics, data.gaps, data.tail, limits)
        return cls(data, likelihood, facts, data.weights)

    @property
    def axes(self) -> Floats:
        return self.data.axes

    @property
    def keys(self) -> Keys:
        keys = self.data.content.keys
        return keys if self.chosen is None else keys[self.chosen]

    @property
    def targets(self) -> Any:
        """Targets (n,) of the rows in view."""
        return self.data.targets if self.chosen is None else self.data.targets[self.chosen]

    @property
    def cells(self) -> Any:
        """Cells (n, d) of the rows in view."""
        return self.data.X if self.chosen is None else self.data.X[self.chosen]

    def places_in_table(self, places: Integers) -> Integers:
        """Places in the table of rows given by their places in this part."""
        return places if self.chosen is None else self.chosen[places]

    def read(self, start: int, stop: int) -> Block:
        rows = slice(start, stop)
        of_table: Any = rows if self.chosen is None else self.chosen[rows]
        design, missing = self.data.schema.filled(self.data.X[of_table], self.data.gaps)
        targets = self.data.targets[of_table]
        return Block(
            self.facts,
            design,
            row_statistics(self.likelihood, design, targets),
            self.weights[rows],
            targets,
            missing,
            None if self.log_reach is None else self.log_reach[rows],
            None if self.log_other is None else self.log_other[rows],
        )

    def take(self, places: Integers, **changes: Any) -> TablePart:
        seen = {"log_reach": self.log_reach, "log_other": self.log_other}
        kept: dict[str, Any] = {name: None if part is None else part[places] for name, part in seen.items()}
        kept |= {"weights": self.weights[places], "chosen": self.places_in_table(places)}
        return replace(self, **(kept | changes))


@dataclass(frozen=True, eq=False)
class BlockPart:
    """All rows of a block of NumPy, such as a sample that came from elsewhere.

    Parameters
    ----------
    block : Block
    axes : ndarray of shape (D, d)
    keys : ndarray of uint64, shape (n,)
        As from `row_keys`.
    sampled_share : float
    """

    block: Block
    axes: Floats
    keys: Keys
    sampled_share: float = 1.0

    @property
    def facts(self) -> Facts:
        return self.block.facts

    @property
    def weights(self) -> Floats:
        weights: Floats = self.block.weights
        return weights

    @property
    def log_reach(self) -> Floats | None:
        log_reach: Floats | None = self.block.log_reach
        return log_reach

    @property
    def log_other(self) -> Floats | None:
        log_other: Floats | None = self.block.log_other
        return log_other

    def read(self, start: int, stop: int) -> Block:
        return self.block.part(slice(start, stop))

    def take(self, places: Integers, sampled_share: float | None = None, **changes: Any) -> BlockPart:
        share = self.sampled_share if sampled_share is None else sampled_share
        return BlockPart(replace(self.block.take(places), **changes), self.axes, self.keys[places], share)


def sample_of(part: Any, size: int) -> Any:
    """About `size` rows of a part; itself if it has at most twice as many, or if they are mostly repeats."""
    n = len(part.weights)
    if n <= 2 * size:
        return part
    share = part.sampled_share * size / n
    places = sampled_places(part.keys, size, share)
    return part if places is None else part.take(places, sampled_share=share)


class Reader:
    """Blocks of the rows of a part, with arrays of a namespace; small parts are read once and kept.

    Parameters
    ----------
    part : Part
    like : array
        Its namespace and device are those of the blocks.
    """

    def __init__(self, part: Part, like: Any) -> None:
        self._part, self._like = part, like

    @cached_property
    def _kept(self) -> Block | None:
        facts = self._part.facts
        # Numbers that are made of the cells of a row: its design, and the share that each gap leaves open.
        width = facts.n_columns + 1 + (0 if facts.gaps is None else len(facts.gaps.sources)) + facts.n_statistics
        n = len(self._part.weights)
        return self._part.read(0, n).beside(self._like) if n * width * 8 <= facts.limits.kept_bytes else None

    def blocks(self, floats_per_row: int) -> Iterator[tuple[int, Block]]:
        """Blocks, and the place of the first row of each, so small that scratch floats stay in cache."""
        size, n = block_size(floats_per_row, self._part.facts.limits), len(self._part.weights)
        for start in range(0, n, size):
            stop = min(start + size, n)
            if self._kept is not None:
                yield start, self._kept.part(slice(start, stop))
            else:
                yield start, self._part.read(start, stop).beside(self._like)


def mass_of(part: Part) -> Floats:
    """Weights (n,) of the rows, each as far as it is in view."""
    return part.weights if part.log_reach is None else np.asarray(part.weights * np.exp(part.log_reach))
