"""A simpler tree in the place of a fitted one: splits that look at few features, and no more splits than pay.

A slope that is exactly zero is no part of a sparse tree: it stays zero, and its hyperplane does not pay for it. What a
step gains or costs is told by the same log evidence that grew the tree.
"""

from __future__ import annotations

import copy
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from .distributions import ClassDistribution
from .growth import (
    CUT,
    GLOBAL,
    LARGEST_LOCAL_LOSS,
    MINIMAL_GAIN,
    are_many,
    axis_cuts,
    effort_for,
    leaf_names,
    polish,
    unexplained_leaves,
    worth_alone,
)
from .history import GrowthEvent, History
from .model import GREY_ZONE, Reticulum, fitted_model
from .objective import (
    Effort,
    Stack,
    State,
    ascend,
    climbed,
    collapsed,
    evaluated,
    least_gains,
    log_bayes_factors,
    penalty,
    prior_diagonal,
    settled,
)
from .rows import INFORMED, MOST_INFORMED, Rows
from .schema import Schema
from .tree import Floats, Integers, Tree, frozen, graft, refreeze, single_leaf, splice

# Nats for each row that a tree with few features may lose if it has to pay for having chosen these among all. Beyond
# that, it is more likely that they have been chosen by chance, and others would do as well on other rows.
_BY_CHANCE = 0.05
# Sparse splits that are looked for side by side.
_BEAM = 12
# Prior precision of a new split, which has few angles.
_WEAK_PRECISION = 0.02
# A slope that is to be part of a sparse split may start as small as this, but not at zero.
_PRESENT = 1e-9
# By how much the number of features in a split may grow, and how often, if no tree with fewer is good enough.
_WIDENING, _WIDENINGS = 1.6, 2
# Nats that are left to gain where responsibilities have converged, and where they have of many rows.
_CONVERGED, _SETTLED = 1e-9, 1e-2
# Rows that are enough to look for sparse splits.
_SAMPLE = 16384
# Of a wide table, features that sparse splits may look at.
_MOST_CANDIDATES = 128
# Changes of each kind that are worked out in full before the best is chosen.
_TRIALS = 3
# Share of columns below which it pays to fit a tree to those columns alone.
_FEW_COLUMNS = 0.7
# Splits of a tree, at most, for merging them to be tried.
_MOST_MERGED = 32

_QUICK = Effort(tolerance=3e-2, rounds=2, max_passes=15, sparse=True)
_SPARSE = replace(GLOBAL, sparse=True)


@dataclass(frozen=True, eq=False)
class SimplificationStep:
    """What one step has done to the tree, and what that cost, as measured on the rows that were given.

    Attributes
    ----------
    what : str
        In words; splits are told by their numbers before the step.
    n_splits : int
        After the step.
    n_features : tuple of int
        Features that each split looks at, after the step.
    log_evidence : float
        After the step.
    cost : float
        Log evidence before the step less that after it; negative where the simpler tree is better. 0 for the start.
    log_loss : float
        Mean negative log predictive probability of the targets after the step.
    log_loss_cost : float
        That after the step less that before.
    tree : Tree
        After the step, in the units of the schema.
    precisions : ndarray of shape (n_splits,)
        Prior precision of the slopes of each split after the step.
    """

    what: str
    n_splits: int
    n_features: tuple[int, ...]
    log_evidence: float
    cost: float
    log_loss: float
    log_loss_cost: float
    tree: Tree
    precisions: Floats

    def __post_init__(self) -> None:
        object.__setattr__(self, "precisions", frozen(self.precisions))

    __setstate__ = refreeze

    def to_dict(self) -> dict[str, Any]:
        """The same as plain Python data, without the tree."""
        return {name: own for name, own in vars(self).items() if name not in ("tree", "precisions")}


@dataclass(frozen=True, eq=False)
class Simplification:
    """A simpler tree, and what each step towards it has cost.

    Attributes
    ----------
    estimator : fitted estimator
        Predicts with the simpler tree; the one that was given is left as it was.
    steps : tuple of SimplificationStep
        The first is the tree that was given.
    """

    estimator: Any
    steps: tuple[SimplificationStep, ...]

    @property
    def cost(self) -> float:
        """Log evidence that all steps together have cost."""
        return self.steps[0].log_evidence - self.steps[-1].log_evidence

    @property
    def log_loss_cost(self) -> float:
        """By how much all steps together have raised the log-loss on the rows that were given."""
        return self.steps[-1].log_loss - self.steps[0].log_loss

    def to_dict(self) -> dict[str, Any]:
        """The same as plain Python data, without the estimator."""
        steps = [{**step.to_dict(), "n_features": list(step.n_features)} for step in self.steps]
        return {"steps": steps, "cost": self.cost, "log_loss_cost": self.log_loss_cost}

    def __str__(self) -> str:
        wide = max(len(step.what) for step in self.steps)
        lines = [f"{'step':<{wide}}  splits  features of each  log evidence      cost  log-loss     cost"]
        for step in self.steps:
            fewest, most = min(step.n_features, default=0), max(step.n_features, default=0)
            told = f"{fewest} to {most}" if fewest < most else f"{most}"
            lines.append(
                f"{step.what:<{wide}}  {step.n_splits:6d}  {told:>16}  {step.log_evidence:12.2f}  {step.cost:8.2f}"
                f"  {step.log_loss:8.4f}  {step.log_loss_cost:7.4f}"
            )
        return "\n".join(lines)


def simplify(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    tolerance: float = 5.0,
    max_features: int = 5,
    sample_weight: Any = None,
    verbose: int = 0,
) -> Simplification:
    """A tree that is easier to read in the place of a fitted one, and what it costs.

    Splits are made to look at 1, 2 and so on up to `max_features` features, in two ways: by leaving slopes out of the
    tree as it is, and by growing a tree anew from sparse splits alone, which may need more of them. Of those whose log
    evidence comes near enough to the best, the one with the fewest numbers to read is kept: features of all splits, and
    offsets. If there is none, up to 2.6 times as many features are allowed, and if that does not help the tree stays as
    it is. Then features are left out of splits, and splits are dropped or merged with one below them, one by one and
    the cheapest first. After each change all that is left is fitted again.

    Parameters
    ----------
    estimator : ReticulumClassifier or ReticulumRegressor
        Fitted; it is not changed.
    X : array-like or data frame of shape (n_samples, n_features)
    y : array-like of shape (n_samples,)
        The table that it was fitted to.
    tolerance : float, default=5.0
        Nats of log evidence that the simpler tree may lose at most, against the best tree on the way, the fitted one
        among them. With 0 only what pays is done; 5 is where the evidence for the better tree would be very strong.
    max_features : int, default=5
        Features that a split should look at, at most. More where the tolerance does not allow for that.
    sample_weight : array-like of shape (n_samples,), optional
        As in fit.
    verbose : int, default=0
        1 prints a line for each tree that is tried.

    Returns
    -------
    Simplification
        With the fitted `estimator`, and the `steps` and their costs.

    Notes
    -----
    Costs are measured on the rows that are given, leaves refitted to them: those of fit, or others like them. Features
    and splits are chosen with the same rows, so that the log-loss of new rows rises by more than is told.

    A tree that would be more than 0.05 nats for each row (and the tolerance) behind the fitted one if it had to pay for
    the choice of its features among all, log C(d, k) nats for k of d, is not taken: others might have been chosen as
    well. Tables of more than 256 columns are simplified with their 128 most important features, and sparse splits of
    many rows are looked for on 16 384 of them. `max_splits` and `max_depth` of the estimator hold. Each call has the
    tolerance anew: to simplify twice may cost it twice.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from bayesian_reticulum import ReticulumClassifier, simplify
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> clf = ReticulumClassifier(random_state=0).fit(X, y)
    >>> simpler = simplify(clf, X, y)
    >>> simpler.steps[0].n_features, max(simpler.steps[-1].n_features) <= 5
    ((30,), True)
    >>> simpler.estimator.predict_proba(X).shape
    (569, 2)
    """
    if isinstance(max_features, bool) or not isinstance(max_features, Integral) or max_features < 1:
        raise ValueError(f"max_features must be a whole number of at least 1; got {max_features!r}.")
    if isinstance(tolerance, bool) or not isinstance(tolerance, Real) or not 0 <= tolerance < np.inf:
        raise ValueError(f"tolerance must be a finite number of nats, not negative; got {tolerance!r}.")
    if not isinstance(verbose, Integral) or verbose < 0:
        raise ValueError(f"verbose must be a whole number, not negative; got {verbose!r}.")
    model = fitted_model(estimator)
    if not hasattr(estimator, "_rows_like_fit"):
        raise ValueError(
            f"{type(estimator).__name__} was not grown by a log evidence in which splits have a price, so that there "
            "is nothing to judge a simpler tree by. Use ReticulumClassifier."
        )
    rows, cells, targets, weights = estimator._rows_like_fit(X, y, sample_weight)
    problem = _Problem.of(estimator, rows, bool(verbose))
    start = _as_fitted(rows, model)
    steps: list[SimplificationStep] = []

    def note(what: str, state: State) -> None:
        now = problem.model(model, state)
        before = steps[-1] if steps else None
        loss = _log_loss(now, cells, targets, weights)
        steps.append(
            SimplificationStep(
                what,
                now.tree.n_splits,
                _n_features(model.schema, now.tree),
                now.log_evidence,
                before.log_evidence - now.log_evidence if before else 0.0,
                loss,
                loss - before.log_loss if before else 0.0,
                now.tree,
                now.precisions,
            )
        )

    note("as fitted", start)
    state = start
    for what, state in _changes(problem, start, float(tolerance), int(max_features)):
        note(what, state)
    if state is not start:
        state = polish(problem.rows, state)
        note("converged", state)
    return Simplification(_like(estimator, problem, state, steps), tuple(steps))


def _as_fitted(rows: Any, model: Reticulum) -> State:
    """The tree of a model and its log evidence on some rows, measured as in fit."""
    start = State(
        model.tree, model.family, model.precisions, model.statistics, model.log_evidence, model.prices, sparse=True
    )
    tree = model.tree
    if rows.n_features <= MOST_INFORMED or rows.family.uses_design:
        return settled(rows, start, tolerance=_CONVERGED)
    columns = _columns_of(tree)
    few = rows.restricted(columns) if len(columns) <= MOST_INFORMED else None
    if few is not None:
        # A tree that has been simplified before.
        found = settled(few, replace(start, tree=_extracted(tree, columns)), tolerance=_CONVERGED)
        return replace(found, tree=tree)
    turned, basis = rows.narrowed(INFORMED)
    along = np.column_stack([tree.hyperplanes[:, 0], tree.hyperplanes[:, 1:] @ basis])
    there = replace(start, tree=Tree(along, tree.shape, tree.ids), sparse=False)
    found = settled(turned, there, tolerance=_CONVERGED)
    # What rows other than those of fit do not span is not explained by them, but has its prior.
    outside = penalty(tree.hyperplanes[None], model.precisions[None]) - penalty(along[None], model.precisions[None])
    return replace(found, tree=tree, log_evidence=found.log_evidence - float(outside[0]), sparse=True)


class _Problem(NamedTuple):
    """Rows on which trees are judged, and what their columns are.

    `columns` are the places of the rows' columns among those of the schema, and `groups` those of each feature that a
    split may look at, by `names`.
    """

    rows: Any
    schema: Schema
    columns: Integers
    n_features: int
    groups: tuple[Integers, ...]
    names: tuple[str, ...]
    max_splits: float
    max_depth: float
    verbose: bool

    @classmethod
    def of(cls, estimator: Any, rows: Any, verbose: bool) -> _Problem:
        model: Reticulum = estimator.model_
        schema, max_splits, max_depth = model.schema, estimator.max_splits, estimator.max_depth
        columns = np.arange(schema.n_columns)
        if schema.n_columns > MOST_INFORMED and rows.restricted(columns) is not None:
            ranked = np.argsort(-model.feature_importances, kind="stable")[:_MOST_CANDIDATES]
            columns = np.flatnonzero(np.isin(schema.source, ranked))
            rows = rows.restricted(columns)
        varying = np.where(schema.low < schema.high, schema.source, -1)
        source = varying[columns]
        features = np.unique(source[source >= 0]).tolist()
        return cls(
            rows,
            schema,
            columns,
            len(np.unique(varying[varying >= 0])),
            tuple(np.flatnonzero(source == feature) for feature in features),
            tuple(schema.names[feature] for feature in features),
            np.inf if max_splits is None else max_splits,
            np.inf if max_depth is None else max_depth,
            verbose,
        )

    @property
    def lacks_columns(self) -> bool:
        """Whether the rows lack columns of the table."""
        return len(self.columns) < self.schema.n_columns

    def widened(self, tree: Tree) -> Tree:
        """A tree on the rows' columns, as one on all columns."""
        if tree.n_features == self.schema.n_columns:
            return tree
        return _embedded(tree, self.columns, self.schema.n_columns)

    def narrowed(self, state: State) -> State:
        """A tree on all columns as one on those of the rows, fitted anew if it has lost some."""
        if not self.lacks_columns:
            return state
        return _refitted(self.rows, replace(state, tree=_extracted(state.tree, self.columns)))

    def model(self, like: Reticulum, state: State) -> Reticulum:
        """The model of a tree, but for Bayes factors and grey zones."""
        unknown = np.full(state.tree.n_splits, np.nan)
        return replace(
            like,
            tree=self.widened(state.tree),
            statistics=state.statistics,
            precisions=state.precisions,
            log_evidence=float(state.log_evidence),
            log_bayes_factors=unknown,
            prices=state.prices,
            grey_shares=unknown,
        )

    def used(self, tree: Tree) -> NDArray[np.bool_]:
        """Which features each split looks at, (m, groups)."""
        slopes = tree.hyperplanes[:, 1:] != 0
        looks = [slopes[:, own].any(axis=1) for own in self.groups]
        return np.stack(looks, axis=1) if looks else np.zeros((tree.n_splits, 0), dtype=bool)

    def price_of_choice(self, tree: Tree) -> float:
        """Nats that it takes to say which features each split looks at, all choices of so many being alike."""
        whole, chosen = self.n_features, self.used(tree).sum(axis=1)
        return float((gammaln(whole + 1) - gammaln(chosen + 1) - gammaln(whole - chosen + 1)).sum())

    def n_numbers(self, tree: Tree) -> int:
        """How many features and offsets there are to read."""
        return int(self.used(tree).sum()) + tree.n_splits

    def most_features(self, tree: Tree) -> int:
        return int(self.used(tree).sum(axis=1).max(initial=0))

    def tell(self, what: str, state: State) -> None:
        """Print a line on a tree that was tried, if that is wanted."""
        if self.verbose:
            splits, numbers = state.tree.n_splits, self.n_numbers(state.tree)
            told = f"{splits} split{'s' * (splits != 1)}, {numbers} numbers, log evidence {state.log_evidence:.2f}"
            print(f"[simplify] {what}: {told}", file=sys.stdout, flush=True)


def _changes(problem: _Problem, start: State, tolerance: float, max_features: int) -> Iterator[tuple[str, State]]:
    """Steps in words, and the tree after each."""
    state, best = start, start.log_evidence

    def is_honest(rival: State) -> bool:
        loss = start.log_evidence - (rival.log_evidence - problem.price_of_choice(rival.tree))
        return bool(loss <= _BY_CHANCE * problem.rows.weight + tolerance)

    most = max(_n_features(problem.schema, start.tree), default=0)
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
        found = next(good, None)
        if found is None:
            return
        what, state = found
        problem.tell(what, state)
        yield what, state
        best = max(best, state.log_evidence)


def _sparser(problem: _Problem, start: State, max_features: int, most: int) -> Iterator[list[tuple[str, State]]]:
    """Trees with few features a split: first all up to the limit, then with more."""
    if most <= 1:
        return
    dense = problem.narrowed(start)

    @cache
    def thinned(size: int) -> State:
        return _thinned(problem, dense, size)

    def with_at_most(size: int, charged: bool) -> Iterator[tuple[str, State]]:
        told = f"at most {size} feature{'s' * (size != 1)} a split"
        for what, rival in (("regrown with " + told, _regrown(problem, size, charged)), (told, thinned(size))):
            problem.tell(what, rival)
            yield what, rival

    yield [rival for size in range(1, min(max_features, most - 1) + 1) for rival in with_at_most(size, charged=True)]
    size = max_features
    for _ in range(1 + _WIDENINGS):
        if size >= most:
            return
        yield list(with_at_most(size, charged=False))
        size = int(np.ceil(_WIDENING * size))


def _n_features(schema: Schema, tree: Tree) -> tuple[int, ...]:
    """How many features each split of a tree on all columns looks at."""
    return tuple((schema.by_feature(tree.hyperplanes[:, 1:] != 0) > 0).sum(axis=1).tolist())


def _columns_of(tree: Tree) -> Integers:
    """Columns that any split looks at."""
    return np.flatnonzero((tree.hyperplanes[:, 1:] != 0).any(axis=0))


def _embedded(tree: Tree, columns: Integers, n_columns: int) -> Tree:
    """A tree on some columns as one on all, which has no slopes for the others."""
    hyperplanes = np.zeros((tree.n_splits, n_columns + 1))
    hyperplanes[:, np.append(0, 1 + columns)] = tree.hyperplanes
    return Tree(hyperplanes, tree.shape, tree.ids)


def _extracted(tree: Tree, columns: Integers) -> Tree:
    """A tree with its slopes for some columns alone."""
    return Tree(tree.hyperplanes[:, np.append(0, 1 + columns)], tree.shape, tree.ids)


def _refitted(rows: Any, state: State) -> State:
    """The tree after an ascent in which slopes that are zero stay zero."""
    tree, effort = state.tree, effort_for(rows, _SPARSE)
    if not tree.n_splits:
        return settled(rows, state)
    # Columns that no split looks at would be summed over for nothing.
    columns = _columns_of(tree)
    few = rows.restricted(columns) if len(columns) < _FEW_COLUMNS * tree.n_features else None
    if few is None:
        found = climbed(rows, tree, state.precisions, state.statistics, effort)
    else:
        found = climbed(few, _extracted(tree, columns), state.precisions, state.statistics, effort)
    if are_many(rows):
        # Trees are compared by the prices of all rows, not of a sample.
        found = settled(rows if few is None else few, found, tolerance=_SETTLED)
    return found if few is None else replace(found, tree=_embedded(found.tree, columns, tree.n_features))


def _without(state: State, split: int, columns: Integers) -> State:
    """The tree with some slopes of a split set to zero, not fitted again."""
    hyperplanes = state.tree.hyperplanes.copy()
    hyperplanes[split, 1 + columns] = 0.0
    return replace(state, tree=Tree(hyperplanes, state.tree.shape, state.tree.ids))


def _thinned(problem: _Problem, state: State, max_features: int) -> State:
    """The tree with no more than so many features in each split: those that cost least go, a few at a time."""
    while problem.most_features(state.tree) > max_features:
        losses = _losses(problem, state)
        for split, own in enumerate(losses):
            excess = int(np.isfinite(own).sum()) - max_features
            for feature in np.argsort(own, kind="stable")[: max(0, -(-excess // 3))].tolist():
                state = _without(state, split, problem.groups[feature])
        state = _refitted(problem.rows, state)
    return state


def _losses(problem: _Problem, state: State) -> Floats:
    """About how much log evidence the tree would lose without a feature in a split, (m, groups).

    It is infinite where the split does not look at the feature. A quadratic bound around the tree as it is tells how
    much the other slopes of the split would make up for it.
    """
    tree = state.tree
    at = problem.rows.pass_(tree.hyperplanes[None], tree.shape, state.statistics[None], information=True)
    assert at.observed is not None
    used = problem.used(tree)
    out = np.full(used.shape, np.inf)
    for split, hyperplane in enumerate(tree.hyperplanes):
        present = np.append(0, 1 + np.flatnonzero(hyperplane[1:]))
        root = prior_diagonal(state.precisions[split], tree.n_features + 1)[present] ** 0.5
        information = at.observed[0, split][np.ix_(present, present)] / np.outer(root, root)
        sizes, axes = np.linalg.eigh(information)
        # Uncertainty of the slopes, in units of their prior.
        covariance = (axes / (1.0 + np.maximum(sizes, 0.0))) @ axes.T
        slopes = hyperplane[present] * root
        for feature in np.flatnonzero(used[split]):
            own = np.flatnonzero(np.isin(present, 1 + problem.groups[feature]))
            block = covariance[np.ix_(own, own)]
            pull = slopes[own] @ np.linalg.solve(block, slopes[own])
            out[split, feature] = 0.5 * (pull + np.linalg.slogdet(block)[1])
    return out


def _smaller(problem: _Problem, state: State) -> Iterator[tuple[str, State]]:
    """Trees with a feature less in a split or with a split less, fitted: those that promise to cost least."""
    rows, tree = problem.rows, state.tree
    losses = _losses(problem, state)
    lone = np.isfinite(losses).sum(axis=1) <= 1
    ranked = np.argsort(np.where(lone[:, None], np.inf, losses), axis=None, kind="stable")[:_TRIALS]
    for split, feature in zip(*np.unravel_index(ranked, losses.shape), strict=True):
        if not lone[split] and np.isfinite(losses[split, feature]):
            smaller = _without(state, int(split), problem.groups[feature])
            yield f"split {split} without {problem.names[feature]}", _refitted(rows, smaller)
    for split in np.argsort(-least_gains(rows, state), kind="stable")[:_TRIALS].tolist():
        yield f"split {split} dropped", _refitted(rows, collapsed(rows, state, [split], tolerance=1e-2))
    if tree.n_splits > _MOST_MERGED:
        return
    merged = []
    for split, side in np.argwhere(tree.children >= 0).tolist():
        kept = splice(tree, split, side)
        precisions = state.precisions[np.isin(tree.ids, kept.ids)]
        merged.append((split, evaluated(rows, kept, precisions, tolerance=1e-2, sparse=True)))
    merged.sort(key=lambda rival: -rival[1].log_evidence)
    for split, rival in merged[:1]:
        yield f"split {split} merged with one below", _refitted(rows, rival)


def _regrown(problem: _Problem, max_features: int, charged: bool) -> State:
    """A tree of splits that look at no more than so many features, grown leaf by leaf while that pays.

    Where they are charged, splits have to pay for the choice of their features, too: there are fewer of them then.
    """

    def worth(state: State) -> float:
        return state.log_evidence - charged * problem.price_of_choice(state.tree)

    search = problem._replace(rows=problem.rows.sampled(_SAMPLE)) if are_many(problem.rows) else problem
    rows = search.rows
    state = evaluated(rows, single_leaf(rows.n_features), np.empty(0), sparse=True)
    tried: set[tuple[int, ...]] = set()
    next_id = 0
    while state.tree.n_splits < problem.max_splits:
        tree, names = state.tree, leaf_names(state.tree)
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
        rival = _refitted(rows, replace(state, tree=grown, precisions=precisions, statistics=statistics))
        if worth(rival) > worth(state) + MINIMAL_GAIN:
            state = rival
    if rows is problem.rows:
        return state
    statistics = problem.rows.prior_statistics(state.tree.hyperplanes[None], state.tree.shape)[0]
    return _refitted(problem.rows, replace(state, statistics=statistics))


def _sparse_cut(problem: _Problem, state: State, leaf: int, max_features: int, charged: bool) -> Stack | None:
    """The best split of a leaf with so many features, the rest of the tree held; None if none is worth its price.

    Starts with those that look at one feature, and adds the features that promise most, to several splits at once.
    """
    tree = state.tree
    view = problem.rows.within(tree.hyperplanes, tree.shape, state.statistics, leaf)
    starts = axis_cuts(view, state.statistics[leaf], _BEAM)
    if not len(starts):
        return None
    for cut in starts[:, 0]:
        column = int(np.flatnonzero(cut[1:])[0])
        for own in problem.groups:
            if column in own:
                cut[1 + own] = np.where(cut[1 + own] == 0, _PRESENT, cut[1 + own])
    best, worth = None, worth_alone(view, state.statistics[leaf]) - LARGEST_LOCAL_LOSS - MINIMAL_GAIN
    stack = ascend(view, CUT, starts, np.full((len(starts), 1), _WEAK_PRECISION), None, _QUICK)
    for size in range(1, max_features + 1):
        first = stack.take([int(np.argmax(np.round(stack.log_evidence, 6)))])
        price = charged * problem.price_of_choice(Tree(first.hyperplanes[0], CUT, np.zeros(1, dtype=np.int64)))
        if first.log_evidence[0] - price > worth + MINIMAL_GAIN:
            best, worth = first, float(first.log_evidence[0] - price)
        if size == max_features:
            break
        wider, kept = _extended(problem, view, stack)
        if not len(wider):
            break
        stack = ascend(view, CUT, wider, stack.precisions[kept], stack.statistics[kept], _QUICK)
    return best


def _extended(problem: _Problem, view: Rows, stack: Stack) -> tuple[Floats, Integers]:
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


def _log_loss(model: Reticulum, cells: Any, targets: Any, weights: Floats) -> float:
    """Mean negative log predictive probability, or density, of targets."""
    distribution = model.predict_distribution(cells)
    log = distribution.logpmf if isinstance(distribution, ClassDistribution) else distribution.logpdf
    return float(-np.average(log(targets), weights=weights))


def _like(estimator: Any, problem: _Problem, state: State, steps: Sequence[SimplificationStep]) -> Any:
    """A copy of a fitted estimator, with another tree."""
    rows = problem.rows
    tree = state.tree
    if len(steps) > 1:
        factors = log_bayes_factors(rows, state)
        grey_shares = rows.grey_shares(tree.hyperplanes, tree.shape, *GREY_ZONE)
        model = replace(problem.model(estimator.model_, state), log_bayes_factors=factors, grey_shares=grey_shares)
    else:
        model = estimator.model_
    history = estimator.history_
    last = history.n_attempts
    events = [
        GrowthEvent(last + number, "simplified", None, step.tree, step.log_evidence)
        for number, step in enumerate(steps[1:], start=1)
    ]
    simpler = copy.copy(estimator)
    simpler._keep(model, History((*history, *events), history.stopping_reason))
    return simpler
