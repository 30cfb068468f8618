"""Regrowth: a tree of sparse splits, grown anew from one leaf."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from ..arrays import Floats, Integers
from ..evidence import Stack, State, ascend, evaluate, prior_diagonal
from ..families import Family
from ..growth import CUT, LeafPlace, best_axis_cuts, bound_of_leaf, leaf_places, unexplained_leaves
from ..rows import MembershipSums, Pass, PassSums, Rows, view_of_leaf
from ..tree import Tree, graft, single_leaf
from .problem import Problem


def regrow(problem: Problem, max_features: int, charged: bool) -> State:
    """A tree of splits that look at no more than so many features, grown leaf by leaf while that pays.

    Where they are charged, splits have to pay for the choice of their features, too: there are fewer of them then.
    Sparse splits of many rows are looked for on a sample of them.
    """
    growth = problem.policy.growth

    def worth(state: State) -> float:
        return state.log_evidence - charged * problem.price_of_choice(state.tree)

    is_sampled = growth.grows_on_samples(problem.rows)
    search = replace(problem, bench=problem.bench.sample(growth.sample_rows)) if is_sampled else problem
    state = evaluate(search.rows, search.bench.family, single_leaf(search.rows.n_columns), np.empty(0), sparse=True)
    tried: set[LeafPlace] = set()
    next_id = 0
    while state.tree.n_splits < problem.max_splits:
        leaf = _next_leaf(search, state, tried)
        if leaf is None:
            break
        branch = _sparse_cut(search, state, leaf, max_features, charged)
        if branch is None:
            continue
        tree = graft(state.tree, leaf, Tree(branch.hyperplanes[0], CUT, np.array([next_id])))
        next_id += 1
        statistics = np.concatenate([state.statistics[:leaf], branch.statistics[0], state.statistics[leaf + 1 :]])
        precisions = np.append(state.precisions, branch.precisions[0])
        rival = search.refit(replace(state, tree=tree, precisions=precisions, statistics=statistics))
        if worth(rival) > worth(state) + growth.minimal_gain:
            state = rival
    if search.bench is problem.bench:
        return state
    request = MembershipSums(state.tree.hyperplanes[None], state.tree.shape)
    statistics = problem.rows.reduce(request).statistics[0]
    return problem.refit(replace(state, statistics=statistics))


def _next_leaf(problem: Problem, state: State, tried: set[LeafPlace]) -> int | None:
    """The least explained leaf that was not tried yet, which is noted; None if there is none."""
    tree, places = state.tree, leaf_places(state.tree)
    for leaf in unexplained_leaves(problem.rows, state.family, tree, problem.policy.growth).tolist():
        if places[leaf] not in tried and tree.shape.leaf_levels[leaf] < problem.max_depth:
            tried.add(places[leaf])
            return int(leaf)
    return None


def _sparse_cut(problem: Problem, state: State, leaf: int, max_features: int, charged: bool) -> Stack | None:
    """The best split of a leaf with so many features, the rest of the tree held; None if none is worth its price.

    Starts with those that look at one feature, and adds the features that promise most, to several splits at once.
    """
    family, policy, growth = state.family, problem.policy, problem.policy.growth
    view = view_of_leaf(problem.rows, state.context, leaf)
    starts = best_axis_cuts(view, family, state.statistics[leaf], policy.beam, growth)
    if not len(starts):
        return None
    for cut in starts[:, 0]:
        column = int(np.flatnonzero(cut[1:])[0])
        for columns in problem.groups:
            if column in columns:
                cut[1 + columns] = np.where(cut[1 + columns] == 0, policy.smallest_slope, cut[1 + columns])
    best, of_leaf = None, bound_of_leaf(view, family, state.statistics[leaf])
    worth = of_leaf - growth.small_difference - growth.minimal_gain
    # A sparse split has few angles: as weak a prior as for one.
    precisions = np.full((len(starts), 1), growth.weak_precision)
    stack = ascend(view, family, CUT, starts, precisions, None, policy.effort)
    for size in range(1, max_features + 1):
        first = stack.take([int(np.argmax(np.round(stack.log_evidence, 6)))])
        price = charged * problem.price_of_choice(Tree(first.hyperplanes[0], CUT, np.zeros(1, dtype=np.int64)))
        if first.log_evidence[0] - price > worth + growth.minimal_gain:
            best, worth = first, float(first.log_evidence[0] - price)
        if size == max_features:
            break
        wider, parents = _extend(problem, family, view, stack)
        if not len(wider):
            break
        stack = ascend(view, family, CUT, wider, stack.precisions[parents], stack.statistics[parents], policy.effort)
    return best


@dataclass(frozen=True, eq=False)
class _Extension:
    """A split of the beam with one more feature: the log evidence that it promises, and the slopes to start from."""

    promise: float
    parent: int
    feature: int
    slopes: Floats


def _extend(problem: Problem, family: Family, view: Rows, stack: Stack) -> tuple[Floats, Integers]:
    """Splits of a leaf with one more feature, those that promise the highest log evidence.

    Returns their hyperplanes (c, 1, d + 1), and which split of the stack each came from, (c,).
    """
    expected = family.expected_parameters(stack.statistics)
    at = view.reduce(Pass(stack.hyperplanes, CUT, expected, information=True))
    extensions = [extension for parent in range(len(stack)) for extension in _extensions_of(problem, stack, at, parent)]
    extensions.sort(key=lambda extension: -round(extension.promise, 6))
    wider, parents = [], []
    seen: set[bytes] = set()
    for extension in extensions:
        hyperplane = stack.hyperplanes[extension.parent].copy()
        slopes = np.where(extension.slopes == 0, problem.policy.smallest_slope, extension.slopes)
        hyperplane[0, 1 + problem.groups[extension.feature]] = slopes
        features = (hyperplane != 0).tobytes()
        if features in seen:
            continue
        seen.add(features)
        wider.append(hyperplane)
        parents.append(extension.parent)
        if len(wider) == problem.policy.beam:
            break
    return np.array(wider), np.array(parents, dtype=np.int64)


def _extensions_of(problem: Problem, stack: Stack, at: PassSums, parent: int) -> Iterator[_Extension]:
    """A split of the beam with each of the features that it does not look at, by a quadratic bound around it."""
    assert at.observed is not None
    assert at.complete is not None
    hyperplane, precision = stack.hyperplanes[parent, 0], stack.precisions[parent, 0]
    gradient, information = at.gradient[parent, 0], at.observed[parent, 0]
    present = np.append(0, 1 + np.flatnonzero(hyperplane[1:]))
    prior = np.diag(prior_diagonal(precision, len(hyperplane))[present])
    if np.linalg.eigvalsh(information[np.ix_(present, present)] + prior)[0] <= 0:
        information = at.complete[parent, 0]
    explained = np.linalg.solve(information[np.ix_(present, present)] + prior, information[present])
    # Information about further slopes that is not information about those that are there.
    remaining = information - information[:, present] @ explained
    for feature, columns in enumerate(problem.groups):
        places = 1 + columns
        if hyperplane[places].any():
            continue
        sizes, axes = np.linalg.eigh(remaining[np.ix_(places, places)])
        sizes = np.maximum(sizes, 0.0)
        along = axes.T @ gradient[places]
        gain = 0.5 * float((along**2 / (sizes + precision) - np.log1p(sizes / precision)).sum())
        slopes = axes @ (along / (sizes + precision))
        yield _Extension(float(stack.log_evidence[parent] + gain), parent, feature, slopes)
