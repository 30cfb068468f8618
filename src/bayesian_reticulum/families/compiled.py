"""How compiled code computes a family, for the families that it knows.

A family without these members works as well: compiled code then calls it back, or leaves the sums to NumPy.
"""

from __future__ import annotations

from typing import Any, Literal, NamedTuple, Protocol, runtime_checkable

from ..arrays import Floats


class CompiledForm(NamedTuple):
    """The kind of prior and likelihood that compiled code knows, and its numbers.

    Attributes
    ----------
    kind : {"dirichlet", "normal"}
    numbers : tuple
        Arguments of the class of this kind in the compiled module.
    """

    kind: Literal["dirichlet", "normal"]
    numbers: tuple[Any, ...]


@runtime_checkable
class FactoredFamily(Protocol):
    """A family whose row statistics are the products of all pairs of the target, 1 and some columns.

    Compiled code makes these products where they are summed, so that no row holds them.
    """

    def target_moments(self, targets: Any) -> Floats:
        """Means and variances of targets in the units of the statistics, (2, n)."""
        ...

    def column_basis(self, n_columns: int) -> Floats | None:
        """Directions (columns, slopes) in which leaves are linear; None where they are constant."""
        ...

    def mean_coefficients(self, statistics: Floats) -> Floats:
        """Offset and slopes (1 + slopes,) of the mean of a leaf (k,), in the units of the statistics."""
        ...


def compiled_form(family: Any) -> CompiledForm | None:
    """Return how compiled code computes a family; None for a family that it does not know."""
    form: CompiledForm | None = getattr(family, "compiled_form", None)
    return form
