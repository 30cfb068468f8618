"""The one place where ascents ask the rows for passes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from ..arrays import Floats
from ..rows import HESSIAN_ROWS, Pass, PassSums, Rows
from ..tree import Shape

MakePass = Callable[[Floats, Floats, bool], PassSums]


def pass_maker(rows: Rows, shape: Shape, exact: bool) -> MakePass:
    """Return the function that makes passes over the rows with stacks of trees of a shape.

    Parameters
    ----------
    rows : Rows
    shape : Shape
    exact : bool
        True if information is summed over all rows, and not over a sample of them where there are many.

    Returns
    -------
    callable
        Of hyperplanes (c, m, d + 1), expected parameters (c, leaves, k) and whether information is wanted.
    """
    hessian_rows = rows if exact else rows.sample(HESSIAN_ROWS)
    share = 1.0 if hessian_rows is rows else hessian_rows.weight / rows.weight

    def make_pass(hyperplanes: Floats, expected: Floats, information: bool) -> PassSums:
        if not information or hessian_rows is rows:
            return rows.reduce(Pass(hyperplanes, shape, expected, information))
        at = rows.reduce(Pass(hyperplanes, shape, expected))
        of_sample = hessian_rows.reduce(Pass(hyperplanes, shape, expected, information=True))
        assert of_sample.observed is not None
        assert of_sample.complete is not None
        return replace(at, observed=of_sample.observed / share, complete=of_sample.complete / share)

    return make_pass
