"""Pruning by evidence."""

from __future__ import annotations

import numpy as np

from ..arrays import Floats
from ..evidence import State, ascend_tree, collapse_splits, least_collapse_gains
from ..rows import Rows
from ..tree import Shape
from .policy import GLOBAL, effort_for, tolerance_for

# A split that is worth this many nats before all else has adapted will not be pruned.
_DOUBT = 10.0


def prune(rows: Rows, state: State) -> State | None:
    """The tree without the splits that it is better off without; None if all splits pay."""
    without = state
    while without.tree.n_splits:
        smaller = _collapse_worthless(rows, without)
        if smaller is None:
            break
        without = smaller
    return None if without is state else without


def refit(rows: Rows, state: State) -> State:
    """The tree after another ascent, should it gain by that."""
    if state.tree.n_splits == 0:
        return state
    refitted = ascend_tree(rows, state.tree, state.precisions, state.statistics, effort_for(rows, GLOBAL))
    return max(refitted, state, key=lambda tree: tree.log_evidence)


def _collapse_worthless(rows: Rows, state: State) -> State | None:
    """The tree with some splits collapsed that it is better off without; None if there are none."""
    shape, tolerance = state.tree.shape, tolerance_for(rows, 1e-3)
    gains = least_collapse_gains(rows, state)
    certain = disjoint_splits(shape, gains)
    if certain:
        smaller = collapse_splits(rows, state, certain, tolerance)
        if smaller.log_evidence >= state.log_evidence:
            return smaller
    alone = {
        split: collapse_splits(rows, state, [split], tolerance) for split in np.flatnonzero(gains > -_DOUBT).tolist()
    }
    gains = np.array([alone[split].log_evidence if split in alone else -np.inf for split in range(shape.n_splits)])
    worthless = disjoint_splits(shape, gains - state.log_evidence)
    if not worthless:
        return None
    together = [collapse_splits(rows, state, worthless, tolerance)] if len(worthless) > 1 else []
    return max([alone[worthless[0]], *together], key=lambda rival: rival.log_evidence)


def disjoint_splits(shape: Shape, gains: Floats) -> list[int]:
    """Splits that are better collapsed, the best first, none of them above or below another."""
    below = shape.sides != 0
    free = np.ones(shape.n_leaves, dtype=bool)
    chosen: list[int] = []
    for split in np.argsort(-np.round(gains, 6), kind="stable"):
        if gains[split] >= 0 and free[below[split]].all():
            chosen.append(int(split))
            free &= ~below[split]
    return chosen
