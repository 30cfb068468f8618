"""What a split is worth: trees with splits collapsed, and log Bayes factors."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from ..arrays import Floats
from ..rows import HESSIAN_ROWS, Rows
from ..tree import collapse, kept_splits
from .prices import prior_diagonal
from .state import State, reconverge

# Of more rows than this, Bayes factors of more than so many nats are not worked out in full.
_MANY_ROWS, _BEYOND_DOUBT = 65536, 20.0


def merge_leaves(state: State, splits: Iterable[int]) -> State:
    """The tree with some splits, none below another, collapsed into leaves that hold what the leaves below them held.

    All else, the log evidence too, is that of the tree as it was.
    """
    tree, precisions, statistics = state.tree, state.precisions, state.statistics
    for id_ in state.tree.ids[list(splits)]:
        split = int(np.flatnonzero(tree.ids == id_)[0])
        first, *others = np.flatnonzero(tree.shape.sides[split])
        together = statistics[[first, *others]].sum(axis=0)
        statistics = np.delete(statistics, others, axis=0)
        statistics[first] = together
        precisions = precisions[kept_splits(tree.shape, split)]
        tree = collapse(tree, split)
    return replace(state, tree=tree, precisions=precisions, statistics=statistics)


def collapse_splits(rows: Rows, state: State, splits: Iterable[int], tolerance: float = 1e-5) -> State:
    """State of the tree with some splits, none below another, collapsed into leaves, the other hyperplanes kept.

    Responsibilities converge from those of the tree as it is.
    """
    return reconverge(rows, merge_leaves(state, splits), tolerance, exact=False)


def least_collapse_gains(rows: Rows, state: State) -> Floats:
    """For each split, a gain of log evidence that collapsing it into a leaf has at least, prices of others held.

    It is what the tree gains if responsibilities of leaves that become one are added and all others are kept. Their
    divergence from memberships shrinks by that among these leaves. Gains of splits none of which is below another
    add up.
    """
    tree, family = state.tree, rows.family
    sums, statistics = rows.likelihoods_below(tree.hyperplanes, tree.shape, state.statistics)
    below = (tree.shape.sides != 0).astype(np.float64)
    said = (family.expected_parameters(state.statistics) * statistics).sum(axis=-1)
    divergence = below @ said - sums
    merging = family.log_evidence(below @ statistics) - below @ family.log_evidence(statistics)
    diagonal = prior_diagonal(state.precisions, tree.n_features + 1)
    cost = state.prices + 0.5 * (diagonal * tree.hyperplanes**2).sum(axis=-1)
    saved = np.array([cost.sum() - cost[kept_splits(tree.shape, split)].sum() for split in range(tree.n_splits)])
    return np.asarray(merging + divergence + saved)


def log_bayes_factors(rows: Rows, state: State) -> Floats:
    """For each split the log evidence of the tree less that of the tree with the split collapsed into a leaf.

    Of many rows, those that are large are what `least_gains` leaves: an upper limit.
    """
    factors = -least_collapse_gains(rows, state)
    # Of many rows no one wants to know it to so many digits.
    tolerance = min(1e-9 * max(1.0, rows.n_rows / 1000) ** 3, 0.1)
    doubted = factors < (_BEYOND_DOUBT if rows.n_rows > _MANY_ROWS else np.inf)
    whole = state.log_evidence
    if rows.n_rows > HESSIAN_ROWS and doubted.any():
        # Prices are those of a sample of the rows, with and without the split.
        whole = reconverge(rows, state, tolerance, exact=False).log_evidence
    for split in np.flatnonzero(doubted).tolist():
        factors[split] = whole - collapse_splits(rows, state, [split], tolerance).log_evidence
    return factors
