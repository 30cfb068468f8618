"""A fitted tree, and the ascent of one tree."""

from __future__ import annotations

from dataclasses import dataclass

from ..arrays import Floats, frozen, refreeze
from ..families import Family
from ..rows import Rows
from ..tree import Tree
from .ascent import ascend, converge_responsibilities
from .stack import Effort, Stack


@dataclass(frozen=True, eq=False)
class State:
    """A fitted tree during growth: all that a later step, or a resumed fit, needs to know.

    Attributes
    ----------
    tree : Tree
        In the units of the schema.
    family : Family
        What its leaves are.
    precisions : ndarray of shape (m,)
    statistics : ndarray of shape (leaves, k)
    log_evidence : float
    prices : ndarray of shape (m,)
    sparse : bool
        Whether slopes that are zero are no part of the model.
    """

    tree: Tree
    family: Family
    precisions: Floats
    statistics: Floats
    log_evidence: float
    prices: Floats
    sparse: bool = False

    def __post_init__(self) -> None:
        for field in ("precisions", "statistics", "prices"):
            object.__setattr__(self, field, frozen(getattr(self, field)))

    __setstate__ = refreeze


def state_of(rows: Rows, tree: Tree, stack: Stack, sparse: bool) -> State:
    """State of a tree that is a stack by itself."""
    log_evidence = float(stack.log_evidence[0])
    return State(tree, rows.family, stack.precisions[0], stack.statistics[0], log_evidence, stack.prices[0], sparse)


def evaluate(rows: Rows, tree: Tree, precisions: Floats, tolerance: float = 1e-5, sparse: bool = False) -> State:
    """State of a tree as it is, responsibilities converged from responsibility = membership."""
    start = tree.hyperplanes[None], precisions[None]
    return state_of(
        rows, tree, converge_responsibilities(rows, tree.shape, *start, tolerance=tolerance, sparse=sparse), sparse
    )


def ascend_tree(rows: Rows, tree: Tree, precisions: Floats, statistics: Floats, effort: Effort) -> State:
    """State of a tree after an ascent of all its splits, judged by the responsibilities that it ended with."""
    stack = ascend(rows, tree.shape, tree.hyperplanes[None], precisions[None], statistics[None], effort)
    return state_of(rows, Tree(stack.hyperplanes[0], tree.shape, tree.ids), stack, effort.sparse)


def reconverge(rows: Rows, state: State, tolerance: float = 1e-5, exact: bool = True) -> State:
    """State of a tree as it is, responsibilities converged from those that it has."""
    start = state.tree.hyperplanes[None], state.precisions[None], state.statistics[None]
    stack = converge_responsibilities(
        rows, state.tree.shape, *start, tolerance=tolerance, exact=exact, sparse=state.sparse
    )
    return state_of(rows, state.tree, stack, state.sparse)


def ascend_and_evaluate(
    rows: Rows, tree: Tree, precisions: Floats, statistics: Floats, effort: Effort, tolerance: float = 1e-5
) -> State:
    """State of a tree after an ascent of all its splits, judged with responsibilities converged from scratch.

    Or with those that the ascent ended with, should they be better: either gives a lower bound. They differ where a
    leaf takes up a few rows from all over, as outliers, which it has to know before it can tell them from the others.
    """
    state = ascend_tree(rows, tree, precisions, statistics, effort)
    afresh = evaluate(rows, state.tree, state.precisions, tolerance, effort.sparse)
    return state if state.log_evidence > afresh.log_evidence + 1e-3 else afresh
