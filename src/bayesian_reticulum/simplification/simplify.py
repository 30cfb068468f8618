"""A simpler tree in the place of a fitted one: splits that look at few features, and no more splits than pay.

A slope that is exactly zero is no part of a sparse tree: it stays zero, and its hyperplane does not pay for it. Gains
and costs of all steps are differences of the log evidence that grew the tree.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from numbers import Integral, Real
from typing import Any

import numpy as np

from ..arrays import Floats
from ..distributions import ClassDistribution, Mixture
from ..estimators import rows_of_model, training_rows, with_model
from ..evidence import State, log_bayes_factors, penalty, reconverge
from ..growth import polish
from ..history import GrowthEvent, History
from ..model import GREY_ZONE, Reticulum, fitted_model
from ..rows import FULL_HESSIAN_COLUMNS, LEADING_AXES, GreyShares
from ..tree import Tree
from .bench import Bench
from .policy import SimplificationPolicy
from .problem import Problem, columns_of, extract_columns, features_of_splits
from .result import Simplification, SimplificationStep
from .search import simplifying_changes


def simplify(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    tolerance: float = 5.0,
    max_features: int = 5,
    sample_weight: Any = None,
    verbose: int = 0,
    **metadata: Any,
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
    **metadata : array-like of shape (n_samples,)
        As in fit.

    Returns
    -------
    Simplification
        With the fitted `estimator`, and the `steps` and their costs.

    Notes
    -----
    Costs are measured on the rows that are given, leaves refitted to them: those of fit, or others like them. Features
    and splits are chosen with the same rows, so that the log-loss of new rows rises by more than these costs.

    A tree that would be more than 0.05 nats for each row (and the tolerance) behind the fitted one if it had to pay for
    the choice of its features among all, log C(d, k) nats for k of d, is not taken: others might have been chosen as
    well. Tables of more than 256 columns are simplified with their 128 most important features, and sparse splits of
    many rows are looked for on 16 384 of them. `max_splits`, `max_depth` and `n_jobs` of the estimator hold. Each call
    has the tolerance anew: to simplify twice may cost it twice.

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
    _check_arguments(tolerance, max_features, verbose)
    model = fitted_model(estimator)
    if not hasattr(estimator, "growth_policy"):
        raise ValueError(
            f"{type(estimator).__name__} was not grown by a log evidence in which splits have a price, so that there "
            "is nothing to judge a simpler tree by. Use ReticulumClassifier."
        )
    data, cells, targets, weights, known = training_rows(estimator, X, y, sample_weight, metadata)
    bench = Bench(data, model.family, partial(rows_of_model, estimator))
    problem = Problem.of(estimator, bench, bool(verbose), SimplificationPolicy(estimator.growth_policy()))

    def log_loss(simpler: Reticulum) -> float:
        return _log_loss(simpler.predict_distribution(cells, known), targets, weights)

    start = state = _as_fitted(bench, model, problem.policy)
    steps = [_step("as fitted", problem.model(model, state), log_loss, None)]
    for what, state in simplifying_changes(problem, start, float(tolerance), int(max_features)):
        steps.append(_step(what, problem.model(model, state), log_loss, steps[-1]))
    if state is not start:
        state = polish(problem.rows, state, problem.policy.growth)
        steps.append(_step("converged", problem.model(model, state), log_loss, steps[-1]))
    return Simplification(_with_tree(estimator, problem, state, steps), tuple(steps))


def _check_arguments(tolerance: float, max_features: int, verbose: int) -> None:
    """Refuse what is no tolerance in nats, no number of features or no degree of verbosity."""
    if isinstance(max_features, bool) or not isinstance(max_features, Integral) or max_features < 1:
        raise ValueError(f"max_features must be a whole number of at least 1; got {max_features!r}.")
    if isinstance(tolerance, bool) or not isinstance(tolerance, Real) or not 0 <= tolerance < np.inf:
        raise ValueError(f"tolerance must be a finite number of nats, not negative; got {tolerance!r}.")
    if not isinstance(verbose, Integral) or verbose < 0:
        raise ValueError(f"verbose must be a whole number, not negative; got {verbose!r}.")


def _step(
    what: str, model: Reticulum, log_loss: Callable[[Reticulum], float], before: SimplificationStep | None
) -> SimplificationStep:
    """A step in words and numbers: the model after it, and what it has cost since the step before."""
    loss = log_loss(model)
    return SimplificationStep(
        what,
        model.tree.n_splits,
        features_of_splits(model.schema, model.tree),
        model.log_evidence,
        before.log_evidence - model.log_evidence if before else 0.0,
        loss,
        loss - before.log_loss if before else 0.0,
        model.tree,
        model.precisions,
    )


def _as_fitted(bench: Bench, model: Reticulum, policy: SimplificationPolicy) -> State:
    """The tree of a model and its log evidence on some rows, measured as in fit."""
    tree, tolerance = model.tree, policy.converged
    start = State(tree, model.family, model.precisions, model.statistics, model.log_evidence, model.prices, sparse=True)
    if bench.data.schema.n_columns <= FULL_HESSIAN_COLUMNS or model.family.uses_design:
        return reconverge(bench.rows, start, tolerance)
    columns = columns_of(tree)
    few = bench.restricted(columns) if len(columns) <= FULL_HESSIAN_COLUMNS else None
    if few is not None:
        # A tree that has been simplified before.
        state = reconverge(few.rows, replace(start, tree=extract_columns(tree, columns)), tolerance)
        return replace(state, tree=tree)
    rotated, rotation = bench.rotated(LEADING_AXES)
    along = rotation.apply(tree.hyperplanes)
    state = reconverge(rotated.rows, replace(start, tree=Tree(along, tree.shape, tree.ids), sparse=False), tolerance)
    # Slopes along what these rows do not span, but those of fit did, explain nothing here and still have their prior.
    outside = penalty(tree.hyperplanes[None], model.precisions[None]) - penalty(along[None], model.precisions[None])
    return replace(state, tree=tree, log_evidence=state.log_evidence - float(outside[0]), sparse=True)


def _log_loss(distribution: Mixture | ClassDistribution, targets: Any, weights: Floats) -> float:
    """Mean negative log predictive probability, or density, of targets."""
    log = distribution.logpmf if isinstance(distribution, ClassDistribution) else distribution.logpdf
    return float(-np.average(log(targets), weights=weights))


def _with_tree(estimator: Any, problem: Problem, state: State, steps: Sequence[SimplificationStep]) -> Any:
    """A copy of a fitted estimator with another tree, and the steps towards it in its history."""
    rows, tree, model = problem.rows, state.tree, estimator.model_
    if len(steps) > 1:
        growth = problem.policy.growth
        factors = log_bayes_factors(rows, state, many_rows=growth.leaf_by_leaf_rows, beyond_doubt=growth.beyond_doubt)
        grey_shares = rows.reduce(GreyShares(tree.hyperplanes, tree.shape, *GREY_ZONE)).shares
        model = replace(problem.model(model, state), log_bayes_factors=factors, grey_shares=grey_shares)
    history = estimator.history_
    events = [
        GrowthEvent(history.n_attempts + number, "simplified", None, step.tree, step.log_evidence)
        for number, step in enumerate(steps[1:], start=1)
    ]
    return with_model(estimator, model, History((*history, *events), history.stopping_reason))
