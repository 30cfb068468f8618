"""The last ascent, and the prior of the leaves."""

from __future__ import annotations

from dataclasses import replace

from ..evidence import State, ascend_and_evaluate, ascend_tree, reconverge
from ..families import EmpiricalPriorFamily
from ..rows import Rows
from ..tree import with_canonical_signs
from .policy import GLOBAL, POLISH, effort_for, grows_on_samples, tolerance_for

# How often a tree is fitted to the prior that its leaves tell, at most.
_MOST_TUNINGS = 8


def polish(rows: Rows, state: State) -> State:
    """Converged to rounding, so that the order of rows or the number of blocks cannot be seen in the model.

    Of many rows, where each step was made with samples that do not depend on either, responsibilities alone.
    """
    if state.tree.n_splits == 0:
        return state
    if grows_on_samples(rows):
        # Prices are to be those of all rows.
        state = reconverge(rows, state, tolerance=tolerance_for(rows, 1e-3))
    else:
        effort = replace(POLISH, sparse=state.sparse)
        state = ascend_and_evaluate(
            rows, state.tree, state.precisions, state.statistics, effort, tolerance=effort.tolerance
        )
    tree, old_leaf = with_canonical_signs(state.tree)
    return replace(state, tree=tree, statistics=state.statistics[old_leaf])


def reestimate_prior(rows: Rows, state: State) -> tuple[Rows, State]:
    """The rows with leaves whose prior is the one that this tree tells, and the tree, fitted to it."""
    # A tree that is fitted to another prior may tell yet another one.
    for _ in range(_MOST_TUNINGS):
        family = rows.family
        if isinstance(family, EmpiricalPriorFamily):
            family = family.with_estimated_prior(state.statistics)
        if family is rows.family:
            break
        rows = rows.with_family(family)
        state = ascend_tree(rows, state.tree, state.precisions, state.statistics, effort_for(rows, GLOBAL))
    return rows, state
