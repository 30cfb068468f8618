"""A block of rows, the value that every request is computed on, and the facts that all blocks of some rows share."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ..arrays import Floats, Integers
from ..data import Gaps
from ..families import joined_targets
from ..namespaces import beside, namespace_of, to_numpy
from .limits import DEFAULT_LIMITS, Limits

NO_TAIL = np.empty(0)


@dataclass(frozen=True, eq=False)
class Facts:
    """What all blocks of some rows have in common.

    Parameters
    ----------
    n_columns : int
        Columns d that splits have slopes for.
    n_statistics : int
        Statistics k of a row.
    gaps : Gaps or None
        What missing cells could have been; None if no cell of the table is missing.
    tail : ndarray
        Variances of the last columns of a wide table: information is one number for all of these.
    limits : Limits
        Sizes at which requests change how they compute.
    """

    n_columns: int
    n_statistics: int
    gaps: Gaps | None = None
    tail: Floats = field(default_factory=NO_TAIL.copy)
    limits: Limits = DEFAULT_LIMITS


@dataclass(frozen=True, eq=False)
class Block:
    """Some rows with all that sums over them need. Arrays are of one namespace, but for the targets.

    Parameters
    ----------
    facts : Facts
    design : array of shape (d + 1, n)
        Standardised columns under a row of ones, missing cells filled.
    statistics : array of shape (n, k)
        Statistics T of each row.
    weights : array of shape (n,)
    targets : array of shape (n,) or TargetsWithMetadata
        In the form that the family reads.
    missing : array of shape (gaps, n) or None
        Share of variance that each gap leaves open, 0 where the cell is there; None if no cell is missing.
    log_reach : array of shape (n,) or None
        In a view: log membership of each row in the leaf.
    log_other : array of shape (n,) or None
        In a view: log of the sum of membership times likelihood over all other leaves.
    """

    facts: Facts
    design: Any
    statistics: Any
    weights: Any
    targets: Any
    missing: Any = None
    log_reach: Any = None
    log_other: Any = None

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.design.shape[1])

    @property
    def mass(self) -> Any:
        """Weights (n,), each as far as the row is in view."""
        if self.log_reach is None:
            return self.weights
        return self.weights * namespace_of(self.log_reach).exp(self.log_reach)

    def part(self, rows: slice) -> Block:
        """The rows of a slice."""
        return replace(
            self,
            design=self.design[:, rows],
            statistics=self.statistics[rows, :],
            weights=self.weights[rows],
            targets=self.targets[rows],
            missing=None if self.missing is None else self.missing[:, rows],
            log_reach=None if self.log_reach is None else self.log_reach[rows],
            log_other=None if self.log_other is None else self.log_other[rows],
        )

    def take(self, places: Integers) -> Block:
        """The rows of a block of NumPy at some places, in the given order."""
        rows: Any = places
        return self.part(rows)

    def parts(self, size: int) -> Iterator[Block]:
        """The rows in blocks of so many."""
        return (self.part(slice(start, min(start + size, self.n_rows))) for start in range(0, self.n_rows, size))

    def mapped(self, function: Any) -> Block:
        """The same block with a function applied to each of its arrays, but for the targets."""
        names = ("design", "statistics", "weights", "missing", "log_reach", "log_other")
        arrays = {name: getattr(self, name) for name in names}
        return replace(self, **{name: function(array) for name, array in arrays.items() if array is not None})

    def beside(self, array: Any) -> Block:
        """A block of NumPy in the namespace and on the device of an array."""
        return self if isinstance(array, np.ndarray) else self.mapped(lambda values: beside(array, values))

    def in_numpy(self) -> Block:
        """The same block with arrays of NumPy."""
        return self.mapped(to_numpy)


def join_blocks(blocks: list[Block]) -> Block:
    """All rows of some blocks of NumPy, at least one, that share their facts."""

    def joined(name: str, axis: int) -> Any:
        arrays = [getattr(block, name) for block in blocks]
        return None if arrays[0] is None else np.concatenate(arrays, axis=axis)

    axes = {"design": 1, "statistics": 0, "weights": 0, "missing": 1, "log_reach": 0, "log_other": 0}
    arrays = {name: joined(name, axis) for name, axis in axes.items()}
    return replace(blocks[0], targets=joined_targets([block.targets for block in blocks]), **arrays)


def block_size(floats_per_row: int, limits: Limits) -> int:
    """Rows of a block so small that `floats_per_row` scratch floats of each stay in cache."""
    return max(limits.fewest_block_rows, min(limits.most_block_rows, limits.block_floats // max(floats_per_row, 1)))
