"""The contract between rows and all that asks about them.

`Rows` answer requests (`requests`) with small sums, block by block, so that threads, files larger than memory, GPUs and
clusters are all "other rows". They know the likelihood of their targets, but no prior. Nothing is kept per row and
leaf: the state between two passes is the leaf statistics S.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from ..arrays import Floats, Integers
from ..tree import Shape
from .block import Block
from .requests import Request, SumsT
from .source import RowData


class Likelihood(Protocol):
    """What rows know of the family of the leaves: the statistics of a row. Each `families.Family` is one."""

    @property
    def uses_design(self) -> bool:
        """True if the statistics depend on the features."""
        ...

    @property
    def n_statistics(self) -> int:
        """Number k of statistics of a row."""
        ...

    def row_statistics(self, design: Floats | None, targets: Any) -> Floats:
        """Statistics T of each row, shape (n, k)."""
        ...


@dataclass(frozen=True, eq=False)
class TreeContext:
    """A tree with the parameters of its leaves: what the view from a leaf has to know of the others.

    Parameters
    ----------
    hyperplanes : ndarray of shape (m, d + 1)
    shape : Shape
    expected : ndarray of shape (leaves, k)
        `expected_parameters` of the family at the leaf statistics.
    """

    hyperplanes: Floats
    shape: Shape
    expected: Floats


class Rows(Protocol):
    """What growth and evidence may ask of the training rows.

    Attributes
    ----------
    axes : ndarray of shape (D, d)
        Directions that stand for one feature each.
    tail : ndarray
        Variances of the last columns of a wide table: information is one number for all of these.
    """

    @property
    def axes(self) -> Floats: ...

    @property
    def tail(self) -> Floats: ...

    @property
    def n_columns(self) -> int:
        """Number of columns that splits work on."""
        ...

    @property
    def n_rows(self) -> int:
        """Number of rows in view."""
        ...

    @property
    def weight(self) -> float:
        """Sum of the weights of the rows in view, each as far as it is in view."""
        ...

    def reduce(self, request: Request[SumsT]) -> SumsT:
        """Sum a request over all rows; arrays of the sums are those of NumPy."""
        ...

    def views(self, context: TreeContext, leaves: Sequence[int] | Integers) -> Iterator[Rows]:
        """The view from each of some leaves: the rows for a branch that takes its place while all else is held.

        A view knows how likely the other leaves make each target, so that sums over it are those of the whole tree. The
        rows are read once for several leaves.
        """
        ...

    def sample(self, size: int) -> LocalRows:
        """About `size` of the rows, the same ones in any order; all rows if these are at most twice as many.

        Whether a row is taken depends on its content alone, so that repeats of a row are taken or left together.
        """
        ...


class LocalRows(Rows, Protocol):
    """Rows that are few enough, or near enough, to be looked at one by one: such as a sample."""

    def quantiles(self, directions: Floats, probabilities: Floats) -> Floats:
        """Weighted quantiles of the rows along directions (D, d + 1); shape (D, probabilities)."""
        ...

    def gather(self) -> Block:
        """All rows as one block of NumPy."""
        ...


class RowsFactory(Protocol):
    """What makes rows, of one kind for all fits; see `rows_in_memory`."""

    def __call__(self, data: RowData, likelihood: Likelihood, *, threads: int = 1) -> Rows:
        """Make rows for leaves of a likelihood, whose requests may use so many threads."""
        ...


def view_of_leaf(rows: Rows, context: TreeContext, leaf: int) -> Rows:
    """The view from one leaf."""
    return next(rows.views(context, [leaf]))
