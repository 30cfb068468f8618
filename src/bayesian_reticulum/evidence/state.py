"""The state of one tree on its way: the tree with all that a later step needs. And four ways to get one.

- `evaluate` keeps the hyperplanes. It starts from responsibility = membership and converges responsibilities alone: for
  a tree that has hyperplanes and precisions, but no leaf statistics yet.
- `reconverge` keeps the hyperplanes, too, but starts from the leaf statistics that a state already has.
- `ascend_tree` moves hyperplanes, precisions and responsibilities together, and reports the log evidence at which the
  ascent ended.
- `ascend_and_evaluate` does the same and then evaluates the tree afresh, and keeps the better state.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..arrays import Floats, frozen, refreeze
from ..compiled import expected_parameters
from ..families import Family
from ..rows import Rows, TreeContext
from ..tree import Tree
from .engine import ascend, converge_responsibilities
from .stack import Effort, Stack


@dataclass(frozen=True, eq=False)
class State:
    """A tree during growth: all that a later step, or a resumed fit, needs to know.

    Attributes
    ----------
    tree : Tree
        Its hyperplanes are for the columns of the rows, in the units of the schema.
    family : Family
        Of its leaves.
    precisions : ndarray of shape (m,)
        Of the slopes of each split.
    statistics : ndarray of shape (leaves, k)
    log_evidence : float
    prices : ndarray of shape (m,)
    sparse : bool
        True if slopes that are zero are no part of the model.
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

    @property
    def context(self) -> TreeContext:
        """The tree with the parameters of its leaves, for views."""
        return TreeContext(self.tree.hyperplanes, self.tree.shape, expected_parameters(self.family, self.statistics))


def state_of(family: Family, tree: Tree, stack: Stack, sparse: bool) -> State:
    """Make the state of a tree from the stack of this tree alone."""
    log_evidence = float(stack.log_evidence[0])
    return State(tree, family, stack.precisions[0], stack.statistics[0], log_evidence, stack.prices[0], sparse)


def evaluate(
    rows: Rows, family: Family, tree: Tree, precisions: Floats, tolerance: float = 1e-5, sparse: bool = False
) -> State:
    """Return the state of a tree with its hyperplanes kept and responsibilities converged from memberships.

    Parameters
    ----------
    rows : Rows
    family : Family
        Of the leaves.
    tree : Tree
    precisions : ndarray of shape (m,)
    tolerance : float
        Nats that a further E step may promise.
    sparse : bool
        True if slopes that are zero are no part of the model.
    """
    start = tree.hyperplanes[None], precisions[None]
    stack = converge_responsibilities(rows, family, tree.shape, *start, tolerance=tolerance, sparse=sparse)
    return state_of(family, tree, stack, sparse)


def ascend_tree(
    rows: Rows, family: Family, tree: Tree, precisions: Floats, statistics: Floats, effort: Effort
) -> State:
    """Return the state of a tree after an ascent of all its splits, with the responsibilities at which it ended.

    The ascent starts from these precisions (m,) and leaf statistics (leaves, k).
    """
    stack = ascend(rows, family, tree.shape, tree.hyperplanes[None], precisions[None], statistics[None], effort)
    return state_of(family, Tree(stack.hyperplanes[0], tree.shape, tree.ids), stack, effort.sparse)


def reconverge(rows: Rows, state: State, tolerance: float = 1e-5, exact: bool = True) -> State:
    """Return the state of a tree with its hyperplanes kept and responsibilities converged from those of a state.

    Prices are those of all rows if `exact`, otherwise those of a sample where there are many rows.
    """
    start = state.tree.hyperplanes[None], state.precisions[None], state.statistics[None]
    stack = converge_responsibilities(
        rows, state.family, state.tree.shape, *start, tolerance=tolerance, exact=exact, sparse=state.sparse
    )
    return state_of(state.family, state.tree, stack, state.sparse)


def ascend_and_evaluate(
    rows: Rows,
    family: Family,
    tree: Tree,
    precisions: Floats,
    statistics: Floats,
    effort: Effort,
    tolerance: float = 1e-5,
) -> State:
    """Return the state of a tree after an ascent of all its splits, with responsibilities converged from memberships.

    Should the responsibilities at which the ascent ended be better, these are kept: either gives a lower bound. They
    differ where a leaf takes up a few outliers from all over, which it has to hold before it can tell them from other
    rows.
    """
    state = ascend_tree(rows, family, tree, precisions, statistics, effort)
    afresh = evaluate(rows, family, state.tree, state.precisions, tolerance, effort.sparse)
    return state if state.log_evidence > afresh.log_evidence + 1e-3 else afresh
