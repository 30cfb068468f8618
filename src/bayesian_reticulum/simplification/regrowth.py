"""A tree of sparse splits, grown anew."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..arrays import Floats, Integers
from ..evidence import Effort, Stack, State, ascend, evaluate, prior_diagonal
from ..growth import (
    CUT,
    LARGEST_LOCAL_LOSS,
    MINIMAL_GAIN,
    best_axis_cuts,
    bound_of_leaf,
    grows_on_samples,
    leaf_places,
    unexplained_leaves,
)
from ..rows import Rows
from ..tree import Tree, graft, single_leaf
from .problem import Problem, refit_sparse

# Sparse splits that are looked for side by side.
_BEAM = 12
# Prior precision of a new split, which has few angles.
_WEAK_PRECISION = 0.02
# A slope that is to be part of a sparse split may start as small as this, but not at zero.
_PRESENT = 1e-9
# Rows that are enough to look for sparse splits.
_SAMPLE = 16384
_QUICK = Effort(tolerance=3e-2, rounds=2, max_passes=15, sparse=True)


def regrow(problem: Problem, max_features: int, charged: bool) -> State:
    """A tree of splits that look at no more than so many features, grown leaf by leaf while that pays.

    Where they are charged, splits have to pay for the choice of their features, too: there are fewer of them then.
    """

    def worth(state: State) -> float:
        return state.log_evidence - charged * problem.price_of_choice(state.tree)

    search = problem._replace(rows=problem.rows.sampled(_SAMPLE)) if grows_on_samples(problem.rows) else problem
    rows = search.rows
    state = evaluate(rows, single_leaf(rows.n_features), np.empty(0), sparse=True)
    tried: set[tuple[int, ...]] = set()
    next_id = 0
    while state.tree.n_splits < problem.max_splits:
        tree, names = state.tree, leaf_places(state.tree)
        open_leaves = [
            leaf
            for leaf in unexplained_leaves(rows, tree).tolist()
            if names[leaf] not in tried and tree.shape.leaf_levels[leaf] < problem.max_depth
        ]
        if not open_leaves:
            break
        leaf = open_leaves[0]
        tried.add(names[leaf])
        branch = _sparse_cut(search, state, leaf, max_features, charged)
        if branch is None:
            continue
        grown = graft(tree, leaf, Tree(branch.hyperplanes[0], CUT, np.array([next_id])))
        next_id += 1
        statistics = np.concatenate([state.statistics[:leaf], branch.statistics[0], state.statistics[leaf + 1 :]])
        precisions = np.append(state.precisions, branch.precisions[0])
        rival = refit_sparse(rows, replace(state, tree=grown, precisions=precisions, statistics=statistics))
        if worth(rival) > worth(state) + MINIMAL_GAIN:
            state = rival
    if rows is problem.rows:
        return state
    statistics = problem.rows.prior_statistics(state.tree.hyperplanes[None], state.tree.shape)[0]
    return refit_sparse(problem.rows, replace(state, statistics=statistics))


def _sparse_cut(problem: Problem, state: State, leaf: int, max_features: int, charged: bool) -> Stack | None:
    """The best split of a leaf with so many features, the rest of the tree held; None if none is worth its price.

    Starts with those that look at one feature, and adds the features that promise most, to several splits at once.
    """
    tree = state.tree
    view = problem.rows.within(tree.hyperplanes, tree.shape, state.statistics, leaf)
    starts = best_axis_cuts(view, state.statistics[leaf], _BEAM)
    if not len(starts):
        return None
    for cut in starts[:, 0]:
        column = int(np.flatnonzero(cut[1:])[0])
        for own in problem.groups:
            if column in own:
                cut[1 + own] = np.where(cut[1 + own] == 0, _PRESENT, cut[1 + own])
    best, worth = None, bound_of_leaf(view, state.statistics[leaf]) - LARGEST_LOCAL_LOSS - MINIMAL_GAIN
    stack = ascend(view, CUT, starts, np.full((len(starts), 1), _WEAK_PRECISION), None, _QUICK)
    for size in range(1, max_features + 1):
        first = stack.take([int(np.argmax(np.round(stack.log_evidence, 6)))])
        price = charged * problem.price_of_choice(Tree(first.hyperplanes[0], CUT, np.zeros(1, dtype=np.int64)))
        if first.log_evidence[0] - price > worth + MINIMAL_GAIN:
            best, worth = first, float(first.log_evidence[0] - price)
        if size == max_features:
            break
        wider, kept = _extend(problem, view, stack)
        if not len(wider):
            break
        stack = ascend(view, CUT, wider, stack.precisions[kept], stack.statistics[kept], _QUICK)
    return best


def _extend(problem: Problem, view: Rows, stack: Stack) -> tuple[Floats, Integers]:
    """Splits of a leaf with one more feature, those that promise the highest log evidence, and what each came from."""
    at = view.pass_(stack.hyperplanes, CUT, stack.statistics, information=True)
    assert at.observed is not None
    assert at.complete is not None
    promises: list[tuple[float, int, int]] = []
    steps: dict[tuple[int, int], Floats] = {}
    for index, hyperplane in enumerate(stack.hyperplanes[:, 0]):
        precision = stack.precisions[index, 0]
        present = np.append(0, 1 + np.flatnonzero(hyperplane[1:]))
        prior = np.diag(prior_diagonal(precision, len(hyperplane))[present])
        gradient = at.gradient[index, 0]
        information = at.observed[index, 0]
        if np.linalg.eigvalsh(information[np.ix_(present, present)] + prior)[0] <= 0:
            information = at.complete[index, 0]
        known = np.linalg.solve(information[np.ix_(present, present)] + prior, information[present])
        # What a further column tells beyond those that are there.
        beyond = information - information[:, present] @ known
        for feature, columns in enumerate(problem.groups):
            own = 1 + columns
            if hyperplane[own].any():
                continue
            tells = beyond[np.ix_(own, own)]
            sizes, axes = np.linalg.eigh(tells)
            sizes = np.maximum(sizes, 0.0)
            along = axes.T @ gradient[own]
            gain = 0.5 * float((along**2 / (sizes + precision) - np.log1p(sizes / precision)).sum())
            promises.append((stack.log_evidence[index] + gain, index, feature))
            steps[index, feature] = axes @ (along / (sizes + precision))
    promises.sort(key=lambda own: -round(own[0], 6))
    wider, kept = [], []
    seen: set[bytes] = set()
    for _, index, feature in promises:
        hyperplane = stack.hyperplanes[index].copy()
        step = steps[index, feature]
        hyperplane[0, 1 + problem.groups[feature]] = np.where(step == 0, _PRESENT, step)
        key = (hyperplane != 0).tobytes()
        if key in seen:
            continue
        seen.add(key)
        wider.append(hyperplane)
        kept.append(index)
        if len(wider) == _BEAM:
            break
    return np.array(wider), np.array(kept, dtype=np.int64)
