"""Pruning: splits without which the tree has a higher log evidence go."""

from __future__ import annotations

import numpy as np

from ..arrays import Floats
from ..evidence import State, ascend_tree, collapse_splits, least_collapse_gains
from ..rows import Rows
from ..tree import Shape
from .policy import Policy
from .ranking import best_first


def prune(rows: Rows, state: State, policy: Policy) -> State | None:
    """The tree without the splits that do not pay; None if all splits pay."""
    pruned = state
    while pruned.tree.n_splits:
        smaller = _collapse_worthless(rows, pruned, policy)
        if smaller is None:
            break
        pruned = smaller
    return None if pruned is state else pruned


def retrain(rows: Rows, state: State, policy: Policy) -> State:
    """The tree after another ascent of all splits, if it gains by that."""
    if state.tree.n_splits == 0:
        return state
    effort = policy.effort_for(rows, policy.global_effort)
    retrained = ascend_tree(rows, state.family, state.tree, state.precisions, state.statistics, effort)
    return max(retrained, state, key=lambda tree: tree.log_evidence)


def _collapse_worthless(rows: Rows, state: State, policy: Policy) -> State | None:
    """The tree with some splits collapsed that do not pay; None if there are none.

    First all splits that go by the bound of one pass, together; if there are none, those in doubt, one by one.
    """
    shape, tolerance = state.tree.shape, policy.tolerance_for(rows, policy.reconverge_tolerance)
    gains = least_collapse_gains(rows, state)
    certain = disjoint_splits(shape, gains)
    if certain:
        smaller = collapse_splits(rows, state, certain, tolerance)
        if smaller.log_evidence >= state.log_evidence:
            return smaller
    doubtful = np.flatnonzero(gains > -policy.large_difference).tolist()
    without = {split: collapse_splits(rows, state, [split], tolerance) for split in doubtful}
    gains = np.array([without[split].log_evidence if split in without else -np.inf for split in range(shape.n_splits)])
    worthless = disjoint_splits(shape, gains - state.log_evidence)
    if not worthless:
        return None
    together = [collapse_splits(rows, state, worthless, tolerance)] if len(worthless) > 1 else []
    return max([without[worthless[0]], *together], key=lambda rival: rival.log_evidence)


def disjoint_splits(shape: Shape, gains: Floats) -> list[int]:
    """Splits that gain by being collapsed, the best first, none of them above or below another."""
    below = shape.sides != 0
    free = np.ones(shape.n_leaves, dtype=bool)
    chosen: list[int] = []
    for split in best_first(gains):
        if gains[split] >= 0 and free[below[split]].all():
            chosen.append(int(split))
            free &= ~below[split]
    return chosen
