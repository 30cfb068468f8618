"""The rows on which trees are judged, with what they are made of: they are made anew on fewer columns or rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

from ..arrays import Integers
from ..data import Rotation
from ..families import Family
from ..rows import RowData, Rows


@dataclass(frozen=True, eq=False)
class Bench:
    """Rows for leaves of a family.

    Parameters
    ----------
    data : RowData
    family : Family
    make : callable
        What makes rows for leaves of this family.
    """

    data: RowData
    family: Family
    make: Callable[[RowData], Rows]

    @cached_property
    def rows(self) -> Rows:
        """The rows, made when they are first needed."""
        return self.make(self.data)

    def restricted(self, columns: Integers) -> Bench | None:
        """The same rows with some of their columns; None where rows depend on the others, too.

        They do where leaves are linear in the columns, and where missing cells are filled from the rest of their row.
        """
        data = None if self.family.uses_design else self.data.restricted(columns)
        return None if data is None else replace(self, data=data)

    def sample(self, size: int) -> Bench:
        """About `size` of the rows; all of them if these are at most twice as many."""
        data = self.data.sample(size)
        return self if data is self.data else replace(self, data=data)

    def rotated(self, n_leading: int) -> tuple[Bench, Rotation]:
        """The rows along their principal axes; axes beyond the first `n_leading` make up the tail."""
        data, rotation = self.data.rotated(n_leading)
        return replace(self, data=data), rotation
