"""The scikit-learn classes: they check what comes in, grow a tree and keep what came out."""

from __future__ import annotations

import sys
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from .families import DirichletCategorical, Family
from .growth import Policy, iterate_growth
from .history import GrowthEvent, History, StoppingReason
from .model import GREY_ZONE, Reticulum
from .objective import State, log_bayes_factors
from .rows import NumpyRows
from .schema import Schema
from .tree import Floats, Tree

_DEFAULT_PSEUDO_COUNT = 0.5
# Tables narrower than this are not worth narrowing, and in longer ones different rows are not counted.
_WIDE = 64
_MOST_ROWS_COMPARED = 50_000
# Counts beyond this cannot take up one more row without rounding it away.
_LARGEST_TOTAL_WEIGHT = 1e15


class ReticulumClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A tree of soft, slanted splits that grows by Bayesian evidence and stops by itself.

    Every split is a hyperplane with a sigmoid gate; every leaf is a Dirichlet posterior over the classes. A
    prediction is the mixture of the leaves, weighted by the probability of the row to belong to each. There is
    nothing to tune: the log evidence (marginal likelihood) decides where the tree grows, how soft its splits are,
    and when it is done.

    Parameters
    ----------
    prior : "auto", float or array-like of shape (n_classes,), default="auto"
        Pseudo-counts of the Dirichlet prior of a leaf: one for all classes, or one for each in the order of
        `classes_`. "auto" is 0.5 for each (Jeffreys' prior).
    patience : int, default=8
        Growth stops after this many attempts in a row that gain less than 0.1 nat of log evidence.
    max_attempts : int, default=500
        Largest number of attempts.
    max_splits : int or None, default=None
        Largest number of splits.
    max_depth : int or None, default=None
        Largest number of splits on the way to a leaf.
    n_restarts : int, default=1
        Number of independent growths; the one with the highest log evidence is kept.
    n_directions : int, default=16
        Random directions scanned for new splits, besides the features themselves and the directions along which
        the classes differ most.
    lookahead : int, default=64
        Number of cuts that are tried together with the best cut on either side; finds patterns, like chessboards,
        where no single split gains anything. 0 switches it off.
    random_state : int, RandomState instance or None, default=None
        Chance enters through the random directions and the look-ahead only.
    verbose : int, default=0
        1 prints a line for each attempt.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Class labels.
    n_features_in_ : int
        Number of features seen during fit.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features; only if all column names of X were strings.
    n_splits_, n_leaves_, depth_ : int
        Size of the tree.
    log_evidence_ : float
        Log evidence of the tree.
    stopping_reason_ : {"no_gain", "max_attempts", "max_splits", "max_depth"}
        Why growth stopped.
    feature_importances_ : ndarray of shape (n_features_in_,)
        Share of each feature in the evidence that the splits gain: the gain of each split is shared out in
        proportion to its absolute standardised slopes.
    model_ : Reticulum
        The fitted tree: immutable, without training rows. ``print(model_)`` shows it.
    history_ : History
        Everything that happened during the growth that was kept; ``history_.replay(k)`` is the tree after event k.

    Examples
    --------
    >>> from bayesian_reticulum import ReticulumClassifier
    >>> from bayesian_reticulum.datasets import make_cross
    >>> X, y, _ = make_cross(400, random_state=0)
    >>> clf = ReticulumClassifier(random_state=0).fit(X, y)
    >>> clf.n_splits_
    3
    >>> clf.predict([[1.0, 1.0], [1.0, -1.0]])
    array([1, 0])
    """

    def __init__(
        self,
        *,
        prior: Any = "auto",
        patience: int = 8,
        max_attempts: int = 500,
        max_splits: int | None = None,
        max_depth: int | None = None,
        n_restarts: int = 1,
        n_directions: int = 16,
        lookahead: int = 64,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.prior = prior
        self.patience = patience
        self.max_attempts = max_attempts
        self.max_splits = max_splits
        self.max_depth = max_depth
        self.n_restarts = n_restarts
        self.n_directions = n_directions
        self.lookahead = lookahead
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> ReticulumClassifier:
        """Grow a tree on a table.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            Numbers; neither missing nor infinite.
        y : array-like of shape (n_samples,)
            Class labels.
        sample_weight : array-like of shape (n_samples,), optional
            Not negative; a weight of 2 is the same as the row given twice, 0 the same as the row left out, but that
            its class stays in `classes_`.

        Returns
        -------
        self
        """
        before = dict(self.__dict__)
        try:
            return self._fit(X, y, sample_weight)
        except BaseException:
            # An interrupted or refused fit leaves the estimator as it was, not half of the old and half of the new.
            self.__dict__.clear()
            self.__dict__.update(before)
            raise

    def _fit(self, X: Any, y: Any, sample_weight: Any) -> ReticulumClassifier:
        policy, n_restarts = self._checked_policy()
        X, y = validate_data(self, X, y, dtype=[np.float64, np.float32])
        check_classification_targets(y)
        classes, codes = np.unique(y, return_inverse=True)
        weights = _checked_weights(sample_weight, len(X))
        family = DirichletCategorical(self._checked_prior(classes))
        names = tuple(map(str, getattr(self, "feature_names_in_", [f"x{j}" for j in range(X.shape[1])])))
        used = weights > 0
        if not used.all():
            X, codes, weights = X[used], codes[used], weights[used]
        rng = _generator(self.random_state)
        model, history = _grown(
            X, codes, weights, family, names, tuple(map(str, classes)), policy, n_restarts, rng, bool(self.verbose)
        )
        self.classes_ = classes
        self.model_ = model
        self.history_ = history
        self.n_splits_ = model.tree.n_splits
        self.n_leaves_ = model.tree.n_leaves
        self.depth_ = model.tree.depth
        self.log_evidence_ = model.log_evidence
        self.stopping_reason_ = history.stopping_reason
        self.feature_importances_ = model.feature_importances.copy()
        return self

    def predict_proba(self, X: Any) -> Floats:
        """Probability of each class for each row, shape (n_samples, n_classes), in the order of `classes_`."""
        X = self._checked_rows(X)
        return self.model_.predict_mean(X)

    def predict(self, X: Any) -> np.ndarray:
        """Most probable class for each row, shape (n_samples,)."""
        best = self.predict_proba(X).argmax(axis=1)
        return np.asarray(self.classes_[best])

    def membership(self, X: Any) -> Floats:
        """Probability of each row to belong to each leaf, shape (n_samples, n_leaves_); rows sum to one."""
        X = self._checked_rows(X)
        return self.model_.membership(X)

    def _checked_rows(self, X: Any) -> Any:
        check_is_fitted(self, "model_")
        return validate_data(self, X, dtype=[np.float64, np.float32], reset=False)

    def _checked_policy(self) -> tuple[Policy, int]:
        least = {"patience": 1, "max_attempts": 0, "n_restarts": 1, "n_directions": 0, "lookahead": 0, "verbose": 0}
        for name, minimum in least.items():
            _check_whole_number(name, getattr(self, name), minimum)
        for name in ("max_splits", "max_depth"):
            if getattr(self, name) is not None:
                _check_whole_number(name, getattr(self, name), 0, "None for no limit or ")
        policy = Policy(
            self.patience, self.max_attempts, self.max_splits, self.max_depth, self.n_directions, self.lookahead
        )
        return policy, self.n_restarts

    def _checked_prior(self, classes: np.ndarray) -> tuple[float, ...]:
        way_out = 'Give one positive number, one for each class in the order of classes_, or "auto".'
        if self.prior is None or isinstance(self.prior, bool | np.bool_):
            raise ValueError(f"prior = {self.prior!r} is not a number. {way_out}")
        if isinstance(self.prior, str):
            if self.prior != "auto":
                raise ValueError(f"prior = {self.prior!r} is not understood. {way_out}")
            return (_DEFAULT_PSEUDO_COUNT,) * len(classes)
        try:
            prior = np.asarray(self.prior, dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise ValueError(f"prior = {self.prior!r} is not a number. {way_out}") from error
        if prior.ndim == 0:
            prior = np.full(len(classes), float(prior))
        if prior.shape != (len(classes),):
            raise ValueError(f"prior has shape {prior.shape} but y has {len(classes)} classes. {way_out}")
        bad = np.flatnonzero(~(np.isfinite(prior) & (prior >= np.finfo(float).tiny)))
        if len(bad):
            raise ValueError(
                f"prior pseudo-counts must be positive; that of class {classes[bad[0]]} is {prior[bad[0]]}. {way_out}"
            )
        return tuple(prior.tolist())


def _check_whole_number(name: str, value: Any, minimum: int, otherwise: str = "") -> None:
    if isinstance(value, bool | np.bool_) or not isinstance(value, Integral) or value < minimum:
        raise ValueError(f"{name} must be {otherwise}a whole number of at least {minimum}; got {value!r}.")


def _checked_weights(sample_weight: Any, n: int) -> Floats:
    if sample_weight is None:
        return np.ones(n)
    if isinstance(sample_weight, Real):
        sample_weight = np.full(n, sample_weight)
    try:
        weights = np.asarray(sample_weight, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"sample_weight must be numbers: {error}") from error
    if weights.shape != (n,):
        raise ValueError(f"sample_weight has shape {weights.shape}; X has {n} rows, so it must have shape ({n},).")
    bad = np.flatnonzero(~np.isfinite(weights) | (weights < 0))
    if len(bad):
        raise ValueError(
            f"sample_weight must be finite and not negative; sample_weight[{bad[0]}] = {weights[bad[0]]}. "
            "Use 0 to leave a row out."
        )
    total = float(weights.sum())
    if total > _LARGEST_TOTAL_WEIGHT:
        raise ValueError(
            f"sample_weight sums to {total:.3g}, beyond what counts can resolve ({_LARGEST_TOTAL_WEIGHT:.0e}). "
            "A weight counts rows: divide all weights by the same number."
        )
    if not weights.any():
        raise ValueError("all sample_weight are zero: no row is left to learn from. Give some row a positive weight.")
    return weights


def _generator(random_state: Any) -> np.random.Generator:
    """A Generator from anything that scikit-learn takes as a random state."""
    if isinstance(random_state, np.random.Generator):
        return random_state
    return np.random.default_rng(check_random_state(random_state).randint(2**31 - 1, size=4))


def _grown(
    X: Any,
    targets: Any,
    weights: Floats,
    family: Family,
    names: tuple[str, ...],
    target_names: tuple[str, ...],
    policy: Policy,
    n_restarts: int,
    rng: np.random.Generator,
    verbose: bool,
) -> tuple[Reticulum, History]:
    """The model with the highest log evidence of several growths, and how it came about."""
    schema = Schema.from_columns(X, weights, names)
    wide = NumpyRows(X, targets, family, weights, schema)
    rows, basis = wide.narrowed() if _is_wide(X) else (wide, None)
    best: tuple[State, StoppingReason, list[GrowthEvent]] | None = None
    for restart, child in enumerate(rng.spawn(n_restarts)):
        growth = iterate_growth(rows, policy, child)
        events: list[GrowthEvent] = []
        while True:
            try:
                event = next(growth)
            except StopIteration as end:
                state, reason = end.value
                break
            events.append(event)
            if verbose and event.candidates:
                _print_progress(event, restart, n_restarts)
        if best is None or state.log_evidence > best[0].log_evidence + 1e-6:
            best = state, reason, events
    assert best is not None
    state, reason, events = best

    def widened(tree: Tree) -> Tree:
        if basis is None:
            return tree
        return Tree(np.column_stack([tree.hyperplanes[:, 0], tree.hyperplanes[:, 1:] @ basis.T]), tree.shape, tree.ids)

    model = Reticulum(
        tree=widened(state.tree),
        statistics=state.statistics,
        family=family,
        schema=schema,
        targets=target_names,
        precisions=state.precisions,
        log_evidence=state.log_evidence,
        log_bayes_factors=log_bayes_factors(rows, state),
        prices=state.prices,
        grey_shares=rows.grey_shares(state.tree.hyperplanes, state.tree.shape, *GREY_ZONE),
    )
    history = tuple(
        event if basis is None else GrowthEvent(**{**vars(event), "tree": widened(event.tree)}) for event in events
    )
    return model, History(history, reason)


def _is_wide(X: Any) -> bool:
    """Whether a table has so many more columns than different rows that it pays to work in the span of the rows.

    Repeated rows do not count, so that they and weights are treated alike.
    """
    n, d = X.shape
    return bool(d >= _WIDE and n <= _MOST_ROWS_COMPARED and len(np.unique(X, axis=0)) < d)


def _print_progress(event: GrowthEvent, restart: int, n_restarts: int) -> None:
    growth = f"growth {restart + 1}/{n_restarts}, " if n_restarts > 1 else ""
    tried = len(event.candidates)
    print(
        f"[ReticulumClassifier] {growth}attempt {event.attempt}: {event.phase}, {tried} candidates, "
        f"{event.tree.n_splits} splits, log evidence {event.log_evidence:.2f}",
        file=sys.stdout,
        flush=True,
    )
