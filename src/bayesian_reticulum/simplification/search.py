"""The search for a simpler tree: first few features in each split, then one feature or split less at a time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cache

import numpy as np

from ..arrays import Floats, Integers
from ..evidence import State, collapse_splits, evaluate, least_collapse_gains, prior_diagonal
from ..rows import Pass
from ..tree import Tree, splice
from .problem import Problem, features_of_splits
from .regrowth import regrow


def simplifying_changes(
    problem: Problem, start: State, tolerance: float, max_features: int
) -> Iterator[tuple[str, State]]:
    """Steps in words, and the tree after each.

    Parameters
    ----------
    problem : Problem
    start : State
        The fitted tree, on all columns.
    tolerance : float
        Log evidence that a tree may be behind the best on the way.
    max_features : int
        Features that a split should look at, at most.
    """
    state, best = start, start.log_evidence

    def is_honest(rival: State) -> bool:
        """Whether a tree would not lose too much by paying for the choice of its features."""
        loss = start.log_evidence - (rival.log_evidence - problem.price_of_choice(rival.tree))
        return bool(loss <= problem.policy.choice_loss * problem.rows.weight + tolerance)

    most = max(features_of_splits(problem.schema, start.tree), default=0)
    for rivals in _sparser(problem, start, max_features, most):
        rivals = [rival for rival in rivals if is_honest(rival[1])]
        best = max([best, *(rival.log_evidence for _, rival in rivals)])
        rivals = [rival for rival in rivals if rival[1].log_evidence >= best - tolerance]
        if rivals:
            what, state = min(rivals, key=lambda rival: (problem.n_numbers(rival[1].tree), -rival[1].log_evidence))
            yield what, state
            break
    if state is start and (most > max_features or problem.lacks_columns):
        # One feature less would not make it simple.
        return
    while state.tree.n_splits:
        rivals = sorted(_smaller(problem, state), key=lambda rival: -rival[1].log_evidence)
        good = (rival for rival in rivals if rival[1].log_evidence >= best - tolerance and is_honest(rival[1]))
        chosen = next(good, None)
        if chosen is None:
            return
        what, state = chosen
        problem.report(what, state)
        yield what, state
        best = max(best, state.log_evidence)


def _sparser(problem: Problem, start: State, max_features: int, most: int) -> Iterator[list[tuple[str, State]]]:
    """Trees with few features a split: first all up to the limit, then with more."""
    if most <= 1:
        return
    dense = problem.restricted(start)

    @cache
    def thinned(size: int) -> State:
        return thin(problem, dense, size)

    def with_at_most(size: int, charged: bool) -> Iterator[tuple[str, State]]:
        limit = f"at most {size} feature{'s' * (size != 1)} a split"
        for what, rival in (("regrown with " + limit, regrow(problem, size, charged)), (limit, thinned(size))):
            problem.report(what, rival)
            yield what, rival

    yield [rival for size in range(1, min(max_features, most - 1) + 1) for rival in with_at_most(size, charged=True)]
    size = max_features
    for _ in range(1 + problem.policy.widenings):
        if size >= most:
            return
        yield list(with_at_most(size, charged=False))
        size = int(np.ceil(problem.policy.widening * size))


def _drop_slopes(state: State, split: int, columns: Integers) -> State:
    """The tree with some slopes of a split set to zero, not fitted again."""
    hyperplanes = state.tree.hyperplanes.copy()
    hyperplanes[split, 1 + columns] = 0.0
    return replace(state, tree=Tree(hyperplanes, state.tree.shape, state.tree.ids))


def thin(problem: Problem, state: State, max_features: int) -> State:
    """The tree with no more than so many features in each split: those that cost least go, a few at a time."""
    while problem.most_features(state.tree) > max_features:
        for split, losses in enumerate(feature_losses(problem, state)):
            excess = int(np.isfinite(losses).sum()) - max_features
            n_dropped = max(0, -(-excess // problem.policy.thinned_part))
            for feature in np.argsort(losses, kind="stable")[:n_dropped].tolist():
                state = _drop_slopes(state, split, problem.groups[feature])
        state = problem.refit(state)
    return state


def feature_losses(problem: Problem, state: State) -> Floats:
    """About how much log evidence the tree would lose without a feature in a split, (m, groups).

    It is infinite where the split does not look at the feature. A quadratic bound around the tree gives how much the
    other slopes of the split would make up for it.
    """
    tree = state.tree
    expected = state.family.expected_parameters(state.statistics[None])
    at = problem.rows.reduce(Pass(tree.hyperplanes[None], tree.shape, expected, information=True))
    assert at.observed is not None
    used = problem.uses(tree)
    losses = np.full(used.shape, np.inf)
    for split, hyperplane in enumerate(tree.hyperplanes):
        present = np.append(0, 1 + np.flatnonzero(hyperplane[1:]))
        root = prior_diagonal(state.precisions[split], tree.n_features + 1)[present] ** 0.5
        information = at.observed[0, split][np.ix_(present, present)] / np.outer(root, root)
        sizes, axes = np.linalg.eigh(information)
        # Uncertainty of the slopes, in units of their prior.
        covariance = (axes / (1.0 + np.maximum(sizes, 0.0))) @ axes.T
        slopes = hyperplane[present] * root
        for feature in np.flatnonzero(used[split]):
            columns = np.flatnonzero(np.isin(present, 1 + problem.groups[feature]))
            block = covariance[np.ix_(columns, columns)]
            pull = slopes[columns] @ np.linalg.solve(block, slopes[columns])
            losses[split, feature] = 0.5 * (pull + np.linalg.slogdet(block)[1])
    return losses


def _smaller(problem: Problem, state: State) -> Iterator[tuple[str, State]]:
    """Trees with a feature less in a split or with a split less, fitted: those that promise to cost least."""
    rows, tree, policy = problem.rows, state.tree, problem.policy
    losses = feature_losses(problem, state)
    lone = np.isfinite(losses).sum(axis=1) <= 1
    ranked = np.argsort(np.where(lone[:, None], np.inf, losses), axis=None, kind="stable")[: policy.trials]
    for split, feature in zip(*np.unravel_index(ranked, losses.shape), strict=True):
        if not lone[split] and np.isfinite(losses[split, feature]):
            smaller = _drop_slopes(state, int(split), problem.groups[feature])
            yield f"split {split} without {problem.names[feature]}", problem.refit(smaller)
    tolerance = policy.reconverge_tolerance
    for split in np.argsort(-least_collapse_gains(rows, state), kind="stable")[: policy.trials].tolist():
        yield f"split {split} dropped", problem.refit(collapse_splits(rows, state, [split], tolerance))
    if tree.n_splits > policy.most_merged:
        return
    merged = []
    for split, side in np.argwhere(tree.children >= 0).tolist():
        kept = splice(tree, split, side)
        precisions = state.precisions[np.isin(tree.ids, kept.ids)]
        merged.append((split, evaluate(rows, state.family, kept, precisions, tolerance, sparse=True)))
    merged.sort(key=lambda rival: -rival[1].log_evidence)
    for split, rival in merged[:1]:
        yield f"split {split} merged with one below", problem.refit(rival)
