"""The log Bayes factor of a split, and trees with splits collapsed into leaves.

    log Bayes factor  =  log evidence of the tree  -  log evidence of the tree with the split collapsed

In the smaller tree all other hyperplanes are kept, and responsibilities converge again from where they were: the new
leaf starts with the statistics of all leaves that it takes the place of.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from ..arrays import Floats
from ..compiled import expected_parameters, log_evidence
from ..rows import HESSIAN_ROWS, BelowSplits, Rows
from ..tree import collapse, kept_splits
from .prices import prior_diagonal
from .state import State, reconverge


def merge_leaves(state: State, splits: Iterable[int]) -> State:
    """Collapse some splits, none below another, into leaves that hold the statistics of the leaves below them.

    Only tree, precisions and statistics change: log evidence and prices stay those of the tree before.
    """
    tree, precisions, statistics = state.tree, state.precisions, state.statistics
    for id_ in state.tree.ids[list(splits)]:
        split = int(np.flatnonzero(tree.ids == id_)[0])
        first, *others = np.flatnonzero(tree.shape.sides[split])
        merged = statistics[[first, *others]].sum(axis=0)
        statistics = np.delete(statistics, others, axis=0)
        statistics[first] = merged
        precisions = precisions[kept_splits(tree.shape, split)]
        tree = collapse(tree, split)
    return replace(state, tree=tree, precisions=precisions, statistics=statistics)


def collapse_splits(rows: Rows, state: State, splits: Iterable[int], tolerance: float = 1e-5) -> State:
    """Return the state of a tree with some splits, none below another, collapsed into leaves.

    All other hyperplanes are kept; responsibilities converge from those of `merge_leaves`.
    """
    return reconverge(rows, merge_leaves(state, splits), tolerance, exact=False)


def least_collapse_gains(rows: Rows, state: State) -> Floats:
    """Bound from below, for each split, the log evidence gained by collapsing it, with the prices of others held.

    The bound (m,) is the gain with responsibilities of the merged leaves added up and all others kept; one pass sums it
    for all splits. The divergence of responsibilities from memberships shrinks by the part among the merged
    leaves. Bounds of splits none of which is below another add up.
    """
    tree, family = state.tree, state.family
    expected = expected_parameters(family, state.statistics)
    sums = rows.reduce(BelowSplits(tree.hyperplanes, tree.shape, expected))
    statistics, below = sums.statistics, (tree.shape.sides != 0).astype(np.float64)
    divergence = below @ (expected * statistics).sum(axis=-1) - sums.log_likelihoods
    merging = log_evidence(family, below @ statistics) - below @ log_evidence(family, statistics)
    diagonal = prior_diagonal(state.precisions, tree.n_features + 1)
    cost = state.prices + 0.5 * (diagonal * tree.hyperplanes**2).sum(axis=-1)
    saved = np.array([cost.sum() - cost[kept_splits(tree.shape, split)].sum() for split in range(tree.n_splits)])
    return np.asarray(merging + divergence + saved)


def log_bayes_factors(rows: Rows, state: State, *, many_rows: int = 65536, beyond_doubt: float = 20.0) -> Floats:
    """Return for each split the log evidence of the tree less that of the tree with the split collapsed, (m,).

    Parameters
    ----------
    rows : Rows
    state : State
    many_rows, beyond_doubt : int, float
        With more rows than this, factors of at least so many nats are upper limits only, from `least_collapse_gains`:
        each exact one takes passes over all rows, and no one doubts these splits.
    """
    factors = -least_collapse_gains(rows, state)
    # The more rows there are, the fewer digits of a factor are of use.
    tolerance = min(1e-9 * max(1.0, rows.n_rows / 1000) ** 3, 0.1)
    doubted = factors < (beyond_doubt if rows.n_rows > many_rows else np.inf)
    whole = state.log_evidence
    if rows.n_rows > HESSIAN_ROWS and doubted.any():
        # The tree, too, gets its prices from a sample of the rows, as the smaller trees do.
        whole = reconverge(rows, state, tolerance, exact=False).log_evidence
    for split in np.flatnonzero(doubted).tolist():
        factors[split] = whole - collapse_splits(rows, state, [split], tolerance).log_evidence
    return factors
