"""The prior of the leaves at the start and after each kept tree, and the last ascent."""

from __future__ import annotations

from dataclasses import replace

from ..evidence import Effort, State, ascend_and_evaluate, ascend_tree, reconverge
from ..families import EmpiricalPriorFamily
from ..rows import Rows
from ..tree import with_canonical_signs
from .policy import Policy

# The last ascent converges to rounding.
_TO_ROUNDING = Effort(tolerance=1e-11, rounds=0, max_passes=500, exact=True)


def reestimate_prior(rows: Rows, state: State, policy: Policy) -> State:
    """Re-estimate the prior of the leaves (empirical Bayes) and retrain the tree until the prior stops changing."""
    effort = policy.effort_for(rows, policy.global_effort)
    for _ in range(policy.global_effort.rounds):
        family = state.family
        if isinstance(family, EmpiricalPriorFamily):
            family = family.with_estimated_prior(state.statistics)
        if family is state.family:
            break
        state = ascend_tree(rows, family, state.tree, state.precisions, state.statistics, effort)
    return state


def polish(rows: Rows, state: State, policy: Policy) -> State:
    """Converge a tree to rounding, so that the order of rows or the number of blocks cannot be seen in the model.

    Of many rows, only responsibilities are converged: each step was made with samples that depend on neither.
    """
    if state.tree.n_splits == 0:
        return state
    if policy.grows_on_samples(rows):
        # Information was summed over a sample; the prices of the final tree are those of all rows.
        state = reconverge(rows, state, policy.tolerance_for(rows, policy.reconverge_tolerance))
    else:
        effort = replace(_TO_ROUNDING, sparse=state.sparse)
        state = ascend_and_evaluate(
            rows, state.family, state.tree, state.precisions, state.statistics, effort, tolerance=effort.tolerance
        )
    tree, old_leaf = with_canonical_signs(state.tree)
    return replace(state, tree=tree, statistics=state.statistics[old_leaf])
