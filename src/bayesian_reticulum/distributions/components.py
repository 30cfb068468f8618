"""The protocol of the components of a mixture."""

from __future__ import annotations

from typing import Any, Protocol, Self

import numpy as np

from ..arrays import Floats, Integers


class Components(Protocol):
    """A distribution of one number for each of C components and n rows.

    Arrays have shape (C, n), or (C, 1) where all rows are alike.
    """

    @property
    def is_discrete(self) -> bool:
        """True for counts: whole numbers that are not negative."""
        ...

    @property
    def mean(self) -> Floats: ...

    @property
    def variance(self) -> Floats:
        """May be infinite."""
        ...

    def logpdf(self, y: Floats) -> Floats:
        """Log density at `y`, which broadcasts to (C, n) and may be infinite; of counts the log probability of `y`."""
        ...

    def cdf(self, y: Floats) -> Floats:
        """Probability of at most `y`, which broadcasts to (C, n) and may be infinite, though not for counts."""
        ...

    def draw(self, components: Integers, rows: Integers, rng: np.random.Generator) -> Floats:
        """One draw for each pair of a component and a row, arrays of the same shape."""
        ...

    def __getitem__(self, rows: Any) -> Self:
        """The components of these rows (a slice, a mask or integers); arrays of shape (C, 1) stay as they are."""
        ...
