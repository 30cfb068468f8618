"""Ascents of a stack of trees, made by the compiled core where it is in use and by the reference elsewhere.

`ascend` moves hyperplanes, precisions and leaf statistics; `converge_responsibilities` keeps the first two. Compiled
code makes its passes over the table of `NativeRows` without a return to Python, and over all other rows by a callback.
"""

from __future__ import annotations

import contextlib
from typing import Any

import numpy as np

from ..arrays import Floats
from ..compiled import is_available, native_leaves
from ..families import Family
from ..rows import MembershipSums, Rows, has_table
from ..tree import Shape
from .ascent import ascend_by_the_book
from .passes import MakePass, pass_maker
from .stack import Effort, Stack

# Without a compiler at installation these are missing, and `is_available` says so.
with contextlib.suppress(ImportError):
    from .._native import CallbackPasses, PythonLeaves
    from .._native import ascend as compiled_ascend


def ascend(
    rows: Rows,
    family: Family,
    shape: Shape,
    hyperplanes: Floats,
    precisions: Floats,
    statistics: Floats | None = None,
    effort: Effort | None = None,
) -> Stack:
    """Ascend with hyperplanes, precisions and leaf statistics of a stack of trees.

    Parameters
    ----------
    rows : Rows
    family : Family
        Of the leaves.
    shape : Shape
    hyperplanes : ndarray of shape (c, m, d + 1)
        Where to start.
    precisions : ndarray of shape (c, m)
        Prior precisions of the slopes, where to start; updated each time that a tree has converged.
    statistics : ndarray of shape (c, leaves, k), optional
        Where to start; by default from responsibility = membership.
    effort : Effort, optional

    Returns
    -------
    Stack
        Each tree at the precisions of its highest log evidence.
    """
    return _ascend(rows, family, shape, hyperplanes, precisions, statistics, effort or Effort(), fixed=False)


def converge_responsibilities(
    rows: Rows,
    family: Family,
    shape: Shape,
    hyperplanes: Floats,
    precisions: Floats,
    statistics: Floats | None = None,
    tolerance: float = 1e-5,
    max_passes: int = 500,
    exact: bool = True,
    sparse: bool = False,
) -> Stack:
    """Return a stack of trees with their hyperplanes and precisions kept, after E steps until convergence.

    Parameters
    ----------
    rows : Rows
    family : Family
        Of the leaves.
    shape : Shape
    hyperplanes : ndarray of shape (c, m, d + 1)
    precisions : ndarray of shape (c, m)
    statistics : ndarray of shape (c, leaves, k), optional
        Where responsibilities start; by default at membership.
    tolerance : float
        Nats that a further E step may promise.
    max_passes : int
        Passes over the rows, at most.
    exact, sparse : bool
        As in `Effort`.
    """
    effort = Effort(tolerance, rounds=0, max_passes=max_passes, exact=exact, sparse=sparse)
    return _ascend(rows, family, shape, hyperplanes, precisions, statistics, effort, fixed=True)


def _ascend(
    rows: Rows,
    family: Family,
    shape: Shape,
    hyperplanes: Floats,
    precisions: Floats,
    statistics: Floats | None,
    effort: Effort,
    fixed: bool,
) -> Stack:
    assert not (effort.sparse and len(rows.tail)), "only trees on all columns can be sparse"
    if statistics is None:
        statistics = rows.reduce(MembershipSums(hyperplanes, shape)).statistics
    # The compiled ascent moves these arrays, and returns them as its stack.
    hyperplanes, precisions, statistics = (
        np.array(values, dtype=np.float64, order="C") for values in (hyperplanes, precisions, statistics)
    )
    start = Stack(hyperplanes, precisions, statistics, np.full(len(hyperplanes), -np.inf), np.zeros(precisions.shape))
    if not is_available():
        return ascend_by_the_book(pass_maker(rows, shape, effort.exact), family, rows.tail, start, effort, fixed)
    passes = _compiled_passes(rows, shape, start, effort)
    return _compiled_ascent(passes, family, shape, start, effort, fixed)


def _compiled_passes(rows: Rows, shape: Shape, start: Stack, effort: Effort) -> Any:
    if has_table(rows):
        return rows.table_passes(effort.tolerance, effort.exact)
    k, width = start.statistics.shape[-1], start.hyperplanes.shape[-1]
    return CallbackPasses(_arrays_of(pass_maker(rows, shape, effort.exact)), width, k, rows.tail)


def _arrays_of(make_pass: MakePass) -> Any:
    def make_arrays(hyperplanes: Floats, expected: Floats, information: bool) -> tuple[Floats | None, ...]:
        at = make_pass(hyperplanes, expected, information)
        return at.log_normalizer, at.statistics, at.gradient, at.observed, at.complete

    return make_arrays


def _compiled_ascent(passes: Any, family: Family, shape: Shape, stack: Stack, effort: Effort, fixed: bool) -> Stack:
    """Ascend in place."""
    compiled_ascend(
        passes,
        _compiled_leaves(family),
        shape.children,
        stack.hyperplanes,
        stack.precisions,
        stack.statistics,
        fixed,
        effort.sparse,
        effort.tolerance,
        effort.rounds,
        effort.max_passes,
        effort.least,
        stack.log_evidence,
        stack.prices,
    )
    return stack


def _compiled_leaves(family: Family) -> Any:
    leaves = native_leaves(family)
    return PythonLeaves(family, family.n_statistics) if leaves is None else leaves
