"""The scikit-learn classes: they check what comes in, grow a tree and keep what came out."""

from __future__ import annotations

import sys
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from numbers import Integral, Real
from threading import Lock
from typing import Any, NamedTuple, Self, cast

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs
from scipy.special import ndtri
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, is_regressor
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import (
    check_array,
    check_consistent_length,
    check_is_fitted,
    check_X_y,
    column_or_1d,
    validate_data,
)
from threadpoolctl import ThreadpoolController

from . import paper, tables
from .distributions import ClassDistribution, Mixture, generator
from .families import JEFFREYS, DirichletCategorical, Family, NormalLinear, missing_members
from .growth import Policy, iterate_growth
from .history import GrowthEvent, History, StoppingReason
from .model import GREY_ZONE, Reticulum
from .native import NativeRows, rows_in_memory
from .objective import State, log_bayes_factors
from .parametrizations import PARAMETRIZATIONS
from .rows import INFORMED, MOST_INFORMED, NumpyRows, mean_and_covariance
from .schema import (
    Category,
    Schema,
    features_with_gaps,
    identity_schema,
    numbered,
    weighted_quantiles,
    weights_by_code,
)
from .tables import Levels, Numbers
from .tree import Floats, Integers, Tree, with_canonical_signs
from .uncertainty import Uncertainty

# What tables of numbers have to be, for scikit-learn's checks.
_WITH_GAPS: dict[str, Any] = {"dtype": [np.float64, np.float32], "ensure_all_finite": "allow-nan"}
# Tables narrower than this are not worth narrowing, and in longer ones different rows are not counted.
_WIDE = 64
_MOST_ROWS_COMPARED = 50_000
# Counts beyond this cannot take up one more row without rounding it away.
_LARGEST_TOTAL_WEIGHT = 1e15
# Cells, steps and targets beyond these overflow: the first two where a method works in the units of the table.
_LARGEST_RAW_CELL = 1e100
_LARGEST_RATE = 1e100
_LARGEST_TARGET = 1e150
# Standard deviations beyond which a target is read as being that far out: one alone could decide all predictions.
_FARTHEST_TARGET = 100.0
# Features that the leaves of a tree may be linear in: each leaf holds the products of all pairs of them.
_MOST_SLOPES = 64
# Relevance to linear leaves that each feature has, over the largest slope on all rows.
_LEAST_RELEVANCE = 0.1
# Standard deviations beyond the tails of a feature up to which linear leaves follow it: in the tails themselves a line
# would have a bend that is not in the data.
_LINEAR_MARGIN = 2.0
# Rows enough to learn from how what is missing is told by the rest of a row.
_CORRELATED_ROWS = 8192
# Features that may have gaps if all columns are turned to other axes: each of them would then be a gap in all columns.
_MOST_GAPS = 32
# A growth is given up if it is further behind its rival than this many times its gain in its last few attempts.
_CATCH_UP = 3.0
_TRIAL_ATTEMPTS = 4


class _Table(NamedTuple):
    """A checked table: rows (n, d), targets as the family wants them, positive weights, and what things are called.

    Cells are numbers, the codes of a category's levels, or NaN where they are missing.
    """

    X: Any
    targets: Any
    weights: Floats
    family: Family
    names: tuple[str, ...]
    target_names: tuple[str, ...]
    categories: tuple[Category | None, ...] = ()


class _Cells(NamedTuple):
    """Cells (n, d) of a table as they were read: numbers or, where there are `levels`, the place of each among them."""

    X: Any
    names: tuple[str, ...]
    levels: tuple[list[Any] | None, ...]

    def coded(self, used: Any, weights: Floats, targets: Floats) -> tuple[Any, tuple[Category | None, ...]]:
        """Rows that are used, with codes for levels, and the categories that were learned from them."""
        X = self.X[used]
        if not any(values is not None for values in self.levels):
            return X, ()
        X = X.copy()
        columns = [
            None if values is None else Levels(values, np.where(np.isnan(cells), -1, cells).astype(np.int64))
            for values, cells in zip(self.levels, X.T, strict=True)
        ]
        signs = np.column_stack([targets, targets**2, *map(_sign, columns, X.T, [weights] * len(columns))])
        categories: list[Category | None] = []
        for place, (name, column) in enumerate(zip(self.names, columns, strict=True)):
            if column is None:
                categories.append(None)
                continue
            category = Category.from_levels(column, weights, signs)
            X[:, place] = category.coded(column, name)
            categories.append(category)
            if not category.levels and len(category.pooled) > 1:
                warnings.warn(
                    f"column {name!r} has {len(category.pooled)} levels, all of them rare: nothing can be learned from "
                    "it. Leave it out, or join levels that belong together.",
                    stacklevel=6,
                )
        return X, tuple(categories)


class _Estimator(BaseEstimator, ABC):  # type: ignore[misc]
    """What all estimators of this package do around the growth of a tree."""

    @abstractmethod
    def _check_parameters(self) -> None:
        """Refuse parameters that make no sense, before any row is looked at."""

    @abstractmethod
    def _learn(self, cells: _Cells, y: Any, weights: Floats, target_name: str) -> tuple[Reticulum, History]:
        """The model of checked rows with targets that are still to be checked, and how it came about."""

    def _read(self, X: Any, y: Any) -> tuple[_Cells, Any]:
        """A table of numbers without gaps, and its targets."""
        X, y = validate_data(self, X, y, dtype=[np.float64, np.float32], y_numeric=is_regressor(self))
        return _Cells(X, self._names(X.shape[1]), (None,) * X.shape[1]), y

    def _names(self, d: int, labels: list[Any] | None = None) -> tuple[str, ...]:
        """What columns are called: by the names that scikit-learn knows or labels that are no text, or by number."""
        if hasattr(self, "feature_names_in_"):
            return tuple(map(str, self.feature_names_in_))
        return numbered(d) if labels is None or labels == list(range(d)) else tuple(map(str, labels))

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Grow a tree on a table.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            Numbers, none of them infinite. `ReticulumClassifier` and `ReticulumRegressor` take data frames of pandas,
            polars and pyarrow with categories and missing cells (NaN, None, NA), too, as `categorical_features` tells;
            `PaperReticulumClassifier`, as its method, takes neither.
        y : array-like of shape (n_samples,)
            Class labels for a classifier, finite numbers for a regressor.
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

    def _fit(self, X: Any, y: Any, sample_weight: Any) -> Self:
        self._check_parameters()
        if is_regressor(self) and getattr(getattr(y, "dtype", None), "kind", "") in ("m", "M"):
            raise ValueError(f"y holds dates or durations ({y.dtype}); give numbers, such as days since a start.")
        if not is_regressor(self):
            _check_labels(y)
        target_name = getattr(y, "name", None)
        cells, y = self._read(X, y)
        weights = _checked_weights(sample_weight, len(cells.X))
        model, history = self._learn(cells, y, weights, target_name if isinstance(target_name, str) else "y")
        self._keep(model, history)
        return self

    def _keep(self, model: Reticulum, history: History) -> None:
        """Set all that is told of a fitted model."""
        self.model_ = model
        self.history_ = history
        self.n_splits_ = model.tree.n_splits
        self.n_leaves_ = model.tree.n_leaves
        self.depth_ = model.tree.depth
        self.log_evidence_ = model.log_evidence
        self.stopping_reason_ = history.stopping_reason
        self.feature_importances_ = model.feature_importances.copy()

    def membership(self, X: Any) -> Floats:
        """Probability of each row to belong to each leaf, shape (n_samples, n_leaves_); rows sum to one.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            A table like that of `fit`; columns of a data frame may come in another order.
        """
        X = self._checked_rows(X)
        return self.model_.membership(X, self._threads())

    def predict_uncertainty(self, X: Any) -> Uncertainty:
        """How uncertain the target of each row is, and why: noise, too few rows in a leaf, or which leaf.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            A table like that of `fit`.

        Returns
        -------
        Uncertainty
            Arrays `total`, `aleatoric`, `leaf` and `routing` of shape (n_samples,); the last three add up to the
            first. Entropies in nats for classes, variances for numbers.
        """
        X = self._checked_rows(X)
        return self.model_.predict_uncertainty(X)

    def _threads(self) -> int:
        return int(effective_n_jobs(getattr(self, "n_jobs", None)))

    def _checked_rows(self, X: Any) -> Any:
        check_is_fitted(self, "model_")
        return validate_data(self, X, dtype=[np.float64, np.float32], reset=False)


class _Classifier(ClassifierMixin, _Estimator):  # type: ignore[misc]
    """What all classifiers of this package have in common."""

    prior: Any

    @abstractmethod
    def _grow(self, table: _Table) -> tuple[Reticulum, History]:
        """The model of a table, and how it came about."""

    def _learn(self, cells: _Cells, y: Any, weights: Floats, target_name: str) -> tuple[Reticulum, History]:
        check_classification_targets(y)
        classes, codes = np.unique(y, return_inverse=True)
        family = DirichletCategorical(_checked_prior(self.prior, classes))
        self.classes_ = classes
        weights = self._weighted_classes(classes, codes, weights)
        used = _used(weights)
        codes, weights = codes[used], weights[used]
        X, categories = cells.coded(used, weights, codes)
        return self._grow(_Table(X, codes, weights, family, cells.names, tuple(map(str, classes)), categories))

    def _weighted_classes(self, classes: np.ndarray, codes: Integers, weights: Floats) -> Floats:
        """Weights of rows times those of their classes."""
        class_weight = getattr(self, "class_weight", None)
        if class_weight is None:
            return weights
        by_class = _class_weights(class_weight, classes, codes, weights)
        with np.errstate(over="ignore", under="ignore"):
            return _checked_weights(weights * by_class[codes], len(codes), "sample_weight times class_weight")

    def predict_proba(self, X: Any) -> Floats:
        """Probability of each class for each row, shape (n_samples, n_classes), in the order of `classes_`.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            A table like that of `fit`.
        """
        X = self._checked_rows(X)
        return self.model_.predict_mean(X, self._threads())

    def predict(self, X: Any) -> np.ndarray:
        """Most probable class for each row, shape (n_samples,).

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            A table like that of `fit`.
        """
        best = self.predict_proba(X).argmax(axis=1)
        return np.asarray(self.classes_[best])

    def predict_distribution(self, X: Any) -> ClassDistribution:
        """Distribution of the class of each row, with its `pmf`, `cdf`, `quantile`, `interval` and `sample`.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            A table like that of `fit`.
        """
        return ClassDistribution(self.classes_, self.predict_proba(X))


class _Adaptive(_Estimator):
    """Growth by evidence, the same for classes and numbers."""

    categorical_features: Any
    patience: int
    max_attempts: int
    max_splits: int | None
    max_depth: int | None
    n_restarts: int
    n_jobs: int | None
    n_directions: int
    lookahead: int
    random_state: Any
    verbose: int

    def _check_parameters(self) -> None:
        least = {"patience": 1, "max_attempts": 0, "n_restarts": 1, "n_directions": 0, "lookahead": 0, "verbose": 0}
        for name, minimum in least.items():
            _check_whole_number(name, getattr(self, name), minimum, bool_is_number=name == "verbose")
        for name in ("max_splits", "max_depth"):
            _check_limit(name, getattr(self, name))
        if self.n_jobs is not None and (not _is_whole_number(self.n_jobs) or self.n_jobs == 0):
            raise ValueError(f"n_jobs must be None or a whole number other than 0; got {self.n_jobs!r}.")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags

    def _read(self, X: Any, y: Any) -> tuple[_Cells, Any]:
        """A table with gaps and categories, and its targets."""
        table = tables.read(X)
        if table is None:
            X, y = validate_data(self, X, y, y_numeric=is_regressor(self), **_WITH_GAPS)
            if self.categorical_features is None or tables.is_from_dtype(self.categorical_features):
                return _Cells(X, self._names(X.shape[1]), (None,) * X.shape[1]), y
            table = tables.of_numbers(X)
        else:
            validate_data(self, X, skip_check_array=True)
        is_category = tables.chosen_categories(self.categorical_features, table)
        columns, levels = [], []
        for place, (column, chosen) in enumerate(zip(table.columns, is_category, strict=True)):
            own = (column.levels if isinstance(column, Numbers) else column) if chosen else None
            levels.append(None if own is None else own.values)
            if own is None:
                columns.append(tables.as_numbers(column, table.place(place)))
            else:
                columns.append(np.where(own.places < 0, np.nan, own.places))
        cells = np.column_stack(columns) if columns else np.empty((table.n_rows, 0))
        _check_finite(cells, table)
        cells, y = check_X_y(cells, y, y_numeric=is_regressor(self), estimator=self, **_WITH_GAPS)
        return _Cells(cells, self._names(cells.shape[1], table.names), tuple(levels)), y

    def _checked_rows(self, X: Any) -> Any:
        check_is_fitted(self, "model_")
        schema = self.model_.schema
        if tables.is_frame(X):
            X = self._in_order_of_fit(X)
            # Columns that are too many or too few are told before what they hold.
            validate_data(self, X, reset=False, skip_check_array=True)
        table = tables.read(X)
        if table is None:
            X = validate_data(self, X, reset=False, **_WITH_GAPS)
            if all(category is None for category in schema.categories):
                return X
            table = tables.of_numbers(X)
        elif not tables.is_frame(X):
            validate_data(self, X, reset=False, skip_check_array=True)
        cells = schema.cells(table)
        _check_finite(cells, table)
        return check_array(cells, estimator=self, **_WITH_GAPS)

    def _in_order_of_fit(self, X: Any) -> Any:
        """A data frame with its columns in the order of fit, if they are the same; scikit-learn checks its names."""
        names, labels = self.model_.schema.names, list(map(str, tables.column_names(X)))
        if len(set(labels)) == len(labels) and set(labels) == set(names):
            return tables.in_order(X, [labels.index(name) for name in names])
        were_labels = not hasattr(self, "feature_names_in_") and names != numbered(len(names))
        are_labels = not all(isinstance(label, str) for label in tables.column_names(X))
        if were_labels and are_labels and tables.column_names(X) != list(range(len(labels))):
            missing, extra = sorted(set(names) - set(labels)), sorted(set(labels) - set(names))
            told = f"{', '.join(missing) or 'none'} missing, {', '.join(extra) or 'none'} too many"
            raise ValueError(f"columns of X should be those of fit: {told}.")
        return X

    @abstractmethod
    def _targets_like_fit(self, y: Any, weights: Floats) -> tuple[Any, Any, Floats]:
        """Targets as the family of the fitted model wants them, as its predictions are judged by, and weights."""

    def _rows_like_fit(self, X: Any, y: Any, sample_weight: Any) -> tuple[NumpyRows, Any, Any, Floats]:
        """A table like that of fit, as rows of the fitted model, and its cells, targets and weights."""
        cells = self._checked_rows(X)
        if y is None:
            raise ValueError(f"{type(self).__name__} needs the targets y that it was fitted to; got None.")
        y = column_or_1d(y)
        check_consistent_length(cells, y)
        told, targets, weights = self._targets_like_fit(y, _checked_weights(sample_weight, len(cells)))
        used = _used(weights)
        model = self.model_
        rows = rows_in_memory(
            cells[used], told[used], model.family, weights[used], model.schema, threads=self._threads()
        )
        return rows, cells[used], targets[used], weights[used]

    def _grown(self, table: _Table, kind: str = "", rival: float = -np.inf) -> tuple[Reticulum, History] | None:
        """The model of a table, and how it came about; None if its log evidence will not come near that of a rival.

        With the kind "linear" the leaves are linear versions of the table's family.
        """
        linear = kind == "linear"
        policy = Policy(
            self.patience, self.max_attempts, self.max_splits, self.max_depth, self.n_directions, self.lookahead
        )
        margin = _LINEAR_MARGIN if linear else 0.0
        schema = Schema.from_columns(
            table.X, table.weights, table.names, margin, table.categories, _telling_gaps(table)
        )
        is_large = schema.n_columns > MOST_INFORMED
        is_turned = (is_large or _is_wide(table.X, schema.n_columns)) and not table.family.uses_design
        if is_turned and len(features_with_gaps(table.X)) > _MOST_GAPS:
            schema = replace(schema, averages_gaps=False)
        threads = self._threads()
        at_once = min(threads, self.n_restarts)
        rows = rows_in_memory(
            table.X, table.targets, table.family, table.weights, schema, threads=max(1, threads // at_once)
        )
        basis = None
        if is_turned:
            rows, basis = rows.narrowed(INFORMED if is_large else schema.n_columns)
        elif not is_large:
            # Threads of BLAS go on looking for work for a tenth of a second, in the way of those that growth has.
            with _single_blas():
                schema = rows.sampled(_CORRELATED_ROWS).with_precision()
            rows = rows.with_schema(schema)
        if linear:
            rows = rows.believing(_linear(rows, narrowed=basis is not None))

        def growth(restart: int, rng: np.random.Generator) -> _Grown | None:
            label = f"[{type(self).__name__}] {f'{kind} leaves, ' if kind else ''}"
            label += f"growth {restart + 1}/{self.n_restarts}, " if self.n_restarts > 1 else ""
            return _watched(iterate_growth(rows, policy, rng), label if self.verbose else "", rival)

        children = generator(self.random_state).spawn(self.n_restarts)
        best: _Grown | None = None
        # Where other threads work on the rows, those of BLAS would be in their way.
        are_busy = at_once > 1 or (isinstance(rows, NativeRows) and rows.can_climb)
        with _single_blas() if are_busy else nullcontext():
            for grown in _side_by_side(growth, children, at_once):
                if grown is not None and (best is None or grown.state.log_evidence > best.state.log_evidence + 1e-6):
                    best = grown
            if best is None:
                return None
            state, rows = best.state, rows.believing(best.state.family)
            rows = rows.arranged(state.tree.hyperplanes, state.tree.shape)
            grey_shares = rows.grey_shares(state.tree.hyperplanes, state.tree.shape, *GREY_ZONE)
            factors = log_bayes_factors(rows, state)

        def widened(tree: Tree) -> Tree:
            if basis is None:
                return tree
            hyperplanes = np.column_stack([tree.hyperplanes[:, 0], tree.hyperplanes[:, 1:] @ basis.T])
            return Tree(hyperplanes, tree.shape, tree.ids)

        fitted = replace(state, tree=widened(state.tree))
        family = rows.family
        if basis is not None and isinstance(family, NormalLinear) and family.basis is not None:
            span = basis if basis.shape[1] < len(basis) else None
            family = replace(family, basis=basis @ family.basis, span=span)
        model = _model(table._replace(family=family), schema, fitted, factors, grey_shares)
        return model, History(tuple(replace(event, tree=widened(event.tree)) for event in best.events), best.reason)


class ReticulumClassifier(_Classifier, _Adaptive):
    """A tree of soft, slanted splits that grows by Bayesian evidence and stops by itself.

    Every split is a hyperplane with a sigmoid gate; every leaf is a Dirichlet posterior over the classes. A
    prediction is the mixture of the leaves, weighted by the probability of the row to belong to each. There is
    nothing to tune: the log evidence (marginal likelihood) decides where the tree grows, how soft its splits are,
    and when it is done.

    Parameters
    ----------
    prior : "auto", float or array-like of shape (n_classes,), default="auto"
        Pseudo-counts of the Dirichlet prior of a leaf: one for all classes, or one for each in the order of
        `classes_`. "auto" is 0.5 for each (Jeffreys' prior). With more than two classes, of which a leaf mostly knows
        but a few, it is that or less, by the log evidence of the tree: ``model_.family.prior`` has what it came to.
    class_weight : dict, "balanced" or None, default=None
        Weight of the rows of each class, times their `sample_weight`. "balanced" makes all classes weigh the same. Rare
        classes need no such weights: probabilities are then those of a world with other frequencies.
    categorical_features : "from_dtype", array-like or None, default="from_dtype"
        Which features are categories: those of text, bools or a categorical dtype; or those chosen by a mask, by name
        or by place; or none.
    patience : int, default=8
        Growth stops after this many attempts in a row that gain less than 0.1 nat of log evidence or, if there are more
        than 500 rows, than 1/5000 nat for each of them.
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
    n_jobs : int or None, default=None
        Number of threads for fit and predict, as everywhere in scikit-learn: None is 1, -1 is one for each core.
        Independent growths share them. Results do not depend on it.
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
        class_weight: Any = None,
        categorical_features: Any = "from_dtype",
        patience: int = 8,
        max_attempts: int = 500,
        max_splits: int | None = None,
        max_depth: int | None = None,
        n_restarts: int = 1,
        n_directions: int = 16,
        lookahead: int = 64,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.prior = prior
        self.class_weight = class_weight
        self.categorical_features = categorical_features
        self.patience = patience
        self.max_attempts = max_attempts
        self.max_splits = max_splits
        self.max_depth = max_depth
        self.n_restarts = n_restarts
        self.n_directions = n_directions
        self.lookahead = lookahead
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _targets_like_fit(self, y: Any, weights: Floats) -> tuple[Any, Any, Floats]:
        _check_labels(y)
        unknown = ~np.isin(y, self.classes_)
        if unknown.any():
            raise ValueError(
                f"y has the class {y[unknown][:1].tolist()[0]!r}, which was not there in fit; the classes are "
                f"{self.classes_.tolist()}. Give the table that {type(self).__name__} was fitted to."
            )
        codes = np.searchsorted(self.classes_, y)
        return codes, codes, self._weighted_classes(self.classes_, codes, weights)

    def _grow(self, table: _Table) -> tuple[Reticulum, History]:
        assert isinstance(table.family, DirichletCategorical)
        # Two classes are found in most leaves: there is little to tell from those that are absent.
        is_tuned = isinstance(self.prior, str) and len(self.classes_) > 2
        grown = self._grown(table._replace(family=replace(table.family, is_tuned=is_tuned)))
        assert grown is not None
        return grown


class ReticulumRegressor(RegressorMixin, _Adaptive):  # type: ignore[misc]
    """A tree of soft, slanted splits for numbers, with a full predictive distribution for each row.

    Every split is a hyperplane with a sigmoid gate; every leaf is a Bayesian linear regression, or a constant with
    noise. A prediction is the mixture of the leaves, weighted by the probability of the row to belong to each. As
    with `ReticulumClassifier` there is nothing to tune: the log evidence (marginal likelihood) decides.

    Parameters
    ----------
    leaf : {"auto", "constant", "linear"} or family, default="auto"
        What a leaf predicts: a constant, or a linear function of the features. These are read within their .5% and
        99.5% quantiles, for linear leaves within two standard deviations of them, so that wild rows are not
        extrapolated. "auto" grows a tree of each kind and keeps the one with the higher log evidence. With more than
        64 features, leaves are linear in the 63 that matter most and in one combination of the others. A family is
        any object that passes `bayesian_reticulum.testing.check_family`.
    categorical_features : "from_dtype", array-like or None, default="from_dtype"
        Which features are categories: those of text, bools or a categorical dtype; or those chosen by a mask, by name
        or by place; or none.
    patience : int, default=8
        Growth stops after this many attempts in a row that gain less than 0.1 nat of log evidence or, if there are more
        than 500 rows, than 1/5000 nat for each of them.
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
        the targets vary most.
    lookahead : int, default=64
        Number of cuts that are tried together with the best cut on either side; finds patterns, like chessboards,
        where no single split gains anything. 0 switches it off.
    n_jobs : int or None, default=None
        Number of threads for fit and predict, as everywhere in scikit-learn: None is 1, -1 is one for each core.
        Independent growths share them. Results do not depend on it.
    random_state : int, RandomState instance or None, default=None
        Chance enters through the random directions and the look-ahead only.
    verbose : int, default=0
        1 prints a line for each attempt.

    Attributes
    ----------
    leaf_ : {"constant", "linear"} or family
        What the leaves of the fitted tree predict.
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
        Share of each feature in the evidence that splits gain, and slopes of linear leaves over constant ones: each
        gain is shared out in proportion to absolute standardised slopes.
    model_ : Reticulum
        The fitted tree: immutable, without training rows. ``print(model_)`` shows it.
    history_ : History
        Everything that happened during the growth that was kept; ``history_.replay(k)`` is the tree after event k.

    Notes
    -----
    Leaves use the `NormalLinear` family with its default prior: in units in which the targets, their outermost half
    percent at either end cut off, have mean 0 and variance 1, the noise variance is InverseGamma(2, 0.1), the offset
    has 0.1 rows' worth of belief in 0, and slopes have the precision, from 0.01 to 1000, that the rows of the leaf
    speak for. A constant leaf without rows has a variance of 1.1. Constant targets have no scale; theirs is taken to
    be 1.

    Slopes of features that matter more in the ridge regression on all n rows are believed to be larger, in proportion
    to their size there plus a tenth of the largest, or plus 1 / √n if that is more; but not if there are 64 features
    or more, and more than rows.

    Targets more than 100 standard deviations from the others are read as being that far out, with a warning.

    Targets that are rounded, like whole numbers, are taken to be known to within their typical distance and no
    better: otherwise a leaf could put a spike of unlimited density on each value.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesian_reticulum import ReticulumRegressor
    >>> X = np.linspace(-2, 2, 200)[:, None]
    >>> y = np.abs(X[:, 0]) + 0.1 * np.random.default_rng(0).standard_normal(200)
    >>> reg = ReticulumRegressor(random_state=0).fit(X, y)
    >>> reg.leaf_, reg.n_splits_
    ('linear', 1)
    >>> lower, upper = reg.predict_distribution([[1.0]]).interval(0.9)
    >>> bool(lower[0] < 1.0 < upper[0])
    True
    """

    def __init__(
        self,
        *,
        leaf: Any = "auto",
        categorical_features: Any = "from_dtype",
        patience: int = 8,
        max_attempts: int = 500,
        max_splits: int | None = None,
        max_depth: int | None = None,
        n_restarts: int = 1,
        n_directions: int = 16,
        lookahead: int = 64,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.leaf = leaf
        self.categorical_features = categorical_features
        self.patience = patience
        self.max_attempts = max_attempts
        self.max_splits = max_splits
        self.max_depth = max_depth
        self.n_restarts = n_restarts
        self.n_directions = n_directions
        self.lookahead = lookahead
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if isinstance(self.leaf, str) and self.leaf in ("auto", "constant", "linear"):
            return
        known = 'leaf must be "auto", "constant", "linear" or a family'
        if isinstance(self.leaf, str):
            raise ValueError(f"{known}; got {self.leaf!r}.")
        if isinstance(self.leaf, type):
            raise ValueError(f"{known}; got the class {self.leaf.__name__}: give an instance of it.")
        if isinstance(self.leaf, DirichletCategorical):
            raise ValueError(f"{known} of numbers; for classes use ReticulumClassifier.")
        missing = missing_members(self.leaf)
        if missing:
            raise ValueError(f"{known}; got {self.leaf!r}, which as a family lacks {', '.join(missing)}.")

    def _learn(self, cells: _Cells, y: Any, weights: Floats, target_name: str) -> tuple[Reticulum, History]:
        used = _used(weights)
        place = np.arange(len(weights))[used]
        y, weights = np.asarray(y, dtype=np.float64)[used], weights[used]
        X, categories = cells.coded(used, weights, y)
        names, targets_are = cells.names, (target_name,)
        if not isinstance(self.leaf, str):
            self.leaf_ = self.leaf
            table = _Table(X, y, weights, self.leaf, names, targets_are, categories)
            _check_row_statistics(table, place)
            grown = self._grown(table)
            assert grown is not None
            return grown
        _check_size(y)
        y = _within_reach(y, weights, place)
        center, scale = _target_units(y, weights)
        family = NormalLinear(center=center, scale=scale)
        table = _Table(X, _with_rounding(y, weights, scale), weights, family, names, targets_are, categories)
        best: tuple[Reticulum, History] | None = None
        for kind in ("linear", "constant") if self.leaf == "auto" else (self.leaf,):
            rival = -np.inf if best is None else best[0].log_evidence
            grown = self._grown(table, kind, rival)
            if grown is not None and grown[0].log_evidence > rival:
                best, self.leaf_ = grown, kind
        assert best is not None
        return best

    def _targets_like_fit(self, y: Any, weights: Floats) -> tuple[Any, Any, Floats]:
        y = check_array(y, ensure_2d=False, dtype=np.float64, input_name="y")
        if not isinstance(self.leaf, str):
            return y, y, weights
        _check_size(y)
        family = self.model_.family
        assert isinstance(family, NormalLinear)
        used = weights > 0
        told = np.zeros((len(y), 2))
        told[used] = _with_rounding(
            _within_reach(y[used], weights[used], np.flatnonzero(used)), weights[used], family.scale
        )
        return told, y, weights

    def predict(self, X: Any, return_std: bool = False) -> Any:
        """Mean of the predictive distribution of each row, shape (n_samples,).

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
        return_std : bool, default=False
            Whether to return the standard deviation of the predictive distribution as well.

        Returns
        -------
        mean : ndarray of shape (n_samples,)
        std : ndarray of shape (n_samples,)
            Only if `return_std`.
        """
        X = self._checked_rows(X)
        mean = self.model_.predict_mean(X, self._threads())
        if not return_std:
            return mean
        return mean, np.sqrt(self.model_.predict_uncertainty(X).total)

    def predict_distribution(self, X: Any) -> Mixture:
        """Distribution of the target of each row: `pdf`, `cdf`, `quantile`, `interval`, `sample` and more.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            A table like that of `fit`.
        """
        X = self._checked_rows(X)
        distribution = self.model_.predict_distribution(X)
        assert isinstance(distribution, Mixture)
        return distribution


class PaperReticulumClassifier(_Classifier):
    """The Adaptive Bayesian Reticulum as it was published, to the letter, for comparison.

    A tree of soft, slanted splits that climbs the lower bound c of the expected log-likelihood by Adam. It starts
    from random splits and has no prior on them, so that the result depends on the seed and on six numbers, which
    the authors set by cross-validation. `ReticulumClassifier` needs neither; prefer it unless the published
    method itself is of interest. Where the paper and the code published with it differ, this follows the paper; above
    all, leaf statistics are always those of the current tree.

    Parameters
    ----------
    prior : float, array-like of shape (n_classes,) or "auto", default=1.0
        Pseudo-counts of the prior of a leaf, α and β with two classes: one for all classes, or one for each in
        the order of `classes_`. "auto" is 0.5 for each.
    max_attempts : int, default=20
        How often a leaf is extended. There is no other end but leaves that may not be extended.
    max_depth : int or None, default=None
        Largest number of splits on the way to a leaf: a reticulum of four levels has a depth of 3.
    learning_rate : float, default=0.1
        Size of Adam's first steps, in the units of the weights.
    n_gradient_steps : int, default=100
        Steps of Adam in each attempt: half of them with the new split alone, half with all splits.
    initial_stiffness : float, default=2.0
        Length of the slopes of a new split, for columns divided by their inter-quartile range.
    pruning_factor : float, default=1.05
        A split must raise the bound by the logarithm of this factor, once for the root and once more for each
        level below. From 1 to 1.2.
    parametrization : {"cartesian", "polar"}, default="cartesian"
        Whether Adam moves weights, or stiffness, offset and angles.
    random_state : int, RandomState instance or None, default=None
        Chance chooses the leaves to extend and the initial splits.
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
        The bound c of the paper. It asks no price for hyperplanes: not comparable with that of `ReticulumClassifier`.
    stopping_reason_ : {"max_attempts", "max_depth", "no_gain"}
        Why construction stopped; "no_gain" if no leaf has anything left to explain, as with one class.
    feature_importances_ : ndarray of shape (n_features_in_,)
        Share of each feature in the evidence that the splits gain: the gain of each split is shared out in
        proportion to its absolute standardised slopes.
    model_ : Reticulum
        The fitted tree: immutable, without training rows. ``print(model_)`` shows it. Its splits have no price, and
        a log Bayes factor is the bound that the tree loses if the split and all below become one leaf.
    history_ : History
        Each split as proposed, after its own and after the common training, and what was pruned.

    References
    ----------
    G. Nuti, L. A. Jiménez Rugama, K. Thommen, "Adaptive Bayesian Reticulum", 2019.

    Examples
    --------
    >>> from bayesian_reticulum import PaperReticulumClassifier
    >>> from bayesian_reticulum.datasets import make_ripley
    >>> X, y, _ = make_ripley(250, random_state=0)
    >>> clf = PaperReticulumClassifier(max_attempts=5, random_state=0).fit(X, y)
    >>> clf.predict_proba(X).shape
    (250, 2)
    >>> clf.history_[1].phase
    'proposed'
    """

    def __init__(
        self,
        *,
        prior: Any = 1.0,
        max_attempts: int = 20,
        max_depth: int | None = None,
        learning_rate: float = 0.1,
        n_gradient_steps: int = 100,
        initial_stiffness: float = 2.0,
        pruning_factor: float = 1.05,
        parametrization: str = "cartesian",
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.prior = prior
        self.max_attempts = max_attempts
        self.max_depth = max_depth
        self.learning_rate = learning_rate
        self.n_gradient_steps = n_gradient_steps
        self.initial_stiffness = initial_stiffness
        self.pruning_factor = pruning_factor
        self.parametrization = parametrization
        self.random_state = random_state
        self.verbose = verbose

    def _check_parameters(self) -> None:
        for name in ("max_attempts", "n_gradient_steps", "verbose"):
            _check_whole_number(name, getattr(self, name), 0, bool_is_number=name == "verbose")
        _check_limit("max_depth", self.max_depth)
        for name in ("learning_rate", "initial_stiffness"):
            meaning = f"a positive number of at most {_LARGEST_RATE:.0e}"
            _check_number(name, getattr(self, name), lambda value: 0 < value <= _LARGEST_RATE, meaning)
        _check_number("pruning_factor", self.pruning_factor, lambda value: 1 <= value <= 1.2, "a number from 1 to 1.2")
        if not (isinstance(self.parametrization, str) and self.parametrization in PARAMETRIZATIONS):
            known = " or ".join(f'"{name}"' for name in PARAMETRIZATIONS)
            raise ValueError(f"parametrization must be {known}; got {self.parametrization!r}.")

    def _grow(self, table: _Table) -> tuple[Reticulum, History]:
        settings = paper.Construction(
            int(self.max_attempts),
            None if self.max_depth is None else int(self.max_depth),
            float(self.learning_rate),
            int(self.n_gradient_steps),
            float(self.initial_stiffness),
            float(self.pruning_factor),
            self.parametrization,
        )
        _check_raw_cells(table)
        table = _in_canonical_order(table)
        raw = identity_schema(table.X.shape[1])
        rows = NumpyRows(table.X, table.targets, table.family, table.weights, raw)
        growth = paper.construct(rows, settings, generator(self.random_state))
        grown = _watched(growth, "[PaperReticulumClassifier] " if self.verbose else "")
        assert grown is not None
        state, reason, events = grown

        # Splits were trained in the units of the table, and are kept, as all others, in those of a schema.
        units = Schema.from_columns(table.X, table.weights, table.names)
        limit = np.full(units.n_features, _LARGEST_RAW_CELL)
        schema = replace(units, low=-limit, high=limit)
        varies = np.append(True, units.low < units.high)

        def converted(tree: Tree) -> Tree:
            # The slope of a constant column has been a second offset, and in these units it is counted as one.
            return Tree(schema.in_own_units(tree.hyperplanes) * varies, tree.shape, tree.ids)

        tree, old_leaf = with_canonical_signs(converted(state.tree))
        events = [replace(event, tree=converted(event.tree)) for event in events]
        events.append(GrowthEvent(events[-1].attempt, "polished", None, tree, state.log_evidence))
        grey_shares = rows.grey_shares(state.tree.hyperplanes, state.tree.shape, *GREY_ZONE)
        factors = paper.log_bayes_factors(table.family, state.tree, state.statistics)
        fitted = replace(state, tree=tree, statistics=state.statistics[old_leaf])
        model = _model(table, schema, fitted, factors, grey_shares)
        return model, History(tuple(events), reason)


def _check_labels(y: Any) -> None:
    """Refuse class labels that are missing, where they are no plain numbers."""
    dtype = getattr(y, "dtype", None)
    is_plain = isinstance(dtype, np.dtype) and dtype.kind != "O"
    if isinstance(y, list | tuple) or (dtype is not None and not is_plain):
        gap = next((place for place, label in enumerate(y) if tables.is_gap(label)), None)
        if gap is not None:
            raise ValueError(f"Input y contains NaN: y[{gap}] is missing. Leave out rows whose class is not known.")


def _checked_prior(given: Any, classes: np.ndarray) -> tuple[float, ...]:
    way_out = 'Give one positive number, one for each class in the order of classes_, or "auto".'
    if given is None or isinstance(given, bool | np.bool_):
        raise ValueError(f"prior = {given!r} is not a number. {way_out}")
    if isinstance(given, str):
        if given != "auto":
            raise ValueError(f"prior = {given!r} is not understood. {way_out}")
        return (JEFFREYS,) * len(classes)
    try:
        prior = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueError(f"prior = {given!r} is not a number. {way_out}") from error
    if prior.ndim == 0:
        prior = np.full(len(classes), float(prior))
    if prior.shape != (len(classes),):
        raise ValueError(f"prior has shape {prior.shape} but y has {len(classes)} classes. {way_out}")
    bad = np.flatnonzero(~((prior >= np.finfo(float).tiny) & (prior <= _LARGEST_TOTAL_WEIGHT)))
    if len(bad):
        raise ValueError(
            f"prior pseudo-counts must be positive and at most {_LARGEST_TOTAL_WEIGHT:.0e}; "
            f"that of class {classes[bad[0]]} is {prior[bad[0]]}. {way_out}"
        )
    return tuple(prior.tolist())


def _check_row_statistics(table: _Table, place: Integers) -> None:
    """Refuse a family that does not fit the table, or targets that do not fit the family."""
    family, y = table.family, table.targets
    schema = Schema.from_columns(table.X, table.weights, table.names, categories=table.categories)
    design = schema.design(table.X)
    statistics = np.asarray(family.row_statistics(design, y))
    if statistics.shape != (len(y), family.n_statistics):
        raise ValueError(
            f"leaf = {family!r} gives statistics of shape {statistics.shape} for {len(y)} rows, and not "
            f"({len(y)}, {family.n_statistics}). bayesian_reticulum.testing.check_family tells what is wrong with it."
        )
    bad = np.flatnonzero(~np.isfinite(statistics).all(axis=1))
    if len(bad):
        raise ValueError(
            f"leaf = {family!r} has no finite statistics for y[{place[bad[0]]}] = {y[bad[0]]:.6g}. "
            "Leave such rows out, or use a family for which they are possible."
        )


def _check_size(y: Floats) -> None:
    largest = float(np.abs(y).max())
    if largest > _LARGEST_TARGET:
        raise ValueError(
            f"y has a target of size {largest:.3g}, beyond {_LARGEST_TARGET:.0e}, whose square would overflow. "
            "Divide all targets by the same number."
        )


def _target_units(y: Floats, weights: Floats) -> tuple[float, float]:
    """Mean and standard deviation of targets, their tails cut off as those of a feature are."""
    units = Schema.from_columns(y[:, None], weights, ("y",))
    center, scale = float(units.center[0]), abs(float(units.scale[0]))
    if scale < 1 / _LARGEST_TARGET:
        raise ValueError(
            f"y varies by no more than {scale:.3g}, whose square would vanish. Multiply all targets by the same number."
        )
    return center, scale


def _within_reach(y: Floats, weights: Floats, place: Integers) -> Floats:
    """Targets, the wild ones read as being as far out as one may be; a warning names them."""
    low, median, high = weighted_quantiles(y[:, None], weights, [0.05, 0.5, 0.95])[0]
    # What the middle nine tenths say of the standard deviation, so that one row in twenty may be wild.
    reach = _FARTHEST_TARGET * (high - low) / (2 * ndtri(0.95))
    wild = np.flatnonzero(np.abs(y - median) > reach)
    if not len(wild) or reach == 0:
        return y
    first = f"y[{place[wild[0]]}] = {y[wild[0]]:.6g}"
    which = f"{first} lies" if len(wild) == 1 else f"{len(wild)} targets, the first of them {first}, lie"
    warnings.warn(
        f"{which} more than {_FARTHEST_TARGET:.0f} standard deviations from where most others are, and will be read as "
        "being that far out. Correct such targets or, if they are real, predict their logarithm.",
        stacklevel=5,
    )
    return np.clip(y, median - reach, median + reach)


def _with_rounding(y: Floats, weights: Floats, scale: float) -> Floats:
    """Targets with the variance of what rounding took from them, (n, 2)."""
    return np.column_stack([y, np.full(len(y), _rounding_variance(y, weights, scale))])


def _rounding_variance(y: Floats, weights: Floats, scale: float) -> float:
    """Variance of what rounding took from targets that are typically this far from the next other value."""
    # Values that differ in the last few digits alone are the same.
    values, place = np.unique(np.round((y - y[0]) / scale, 9), return_inverse=True)
    if len(values) == 1:
        return 0.0
    gaps = np.diff(values)
    nearest = np.minimum(np.append(gaps, np.inf), np.append(np.inf, gaps))
    distance = float(weighted_quantiles(nearest[place][:, None], weights, [0.5])[0, 0])
    return (scale * distance) ** 2 / 12.0


def _linear(rows: NumpyRows, narrowed: bool) -> NormalLinear:
    """The family of the rows with linear leaves: in all columns, or in those that matter most.

    Slopes along columns that matter more in the regression on all rows are believed to be larger.
    """
    constant = rows.family
    assert isinstance(constant, NormalLinear)
    regression, n = _regression(rows)
    basis = np.eye(rows.n_features) if rows.n_features <= _MOST_SLOPES else _main_directions(regression)
    # Fewer rows than features cannot tell which matter.
    if not narrowed:
        basis *= _relevance(basis.T @ regression, n)
    return replace(constant, n_slopes=basis.shape[1], basis=basis)


def _regression(rows: NumpyRows) -> tuple[Floats, float]:
    """Slopes (d,) of the ridge regression on all rows, which have constant leaves, and the number of rows."""
    second, cross, _ = rows.moments(np.zeros(rows.family.n_statistics))
    mean, covariance = mean_and_covariance(second)
    with_target = (cross[1, 1:] - cross[1, 0] * mean) / second[0, 0]
    slopes = np.linalg.solve(covariance + 0.01 * np.eye(len(mean)), with_target)
    return slopes, float(second[0, 0])


def _main_directions(regression: Floats) -> Floats:
    """Columns with the largest slopes, and all the others as one: unit vectors (d, directions)."""
    # Rounding must not choose between columns that matter alike.
    size = np.abs(regression) / max(np.abs(regression).max(), np.finfo(float).tiny)
    ranked = np.argsort(-np.round(size, 6), kind="stable")
    kept, rest = ranked[: _MOST_SLOPES - 1], ranked[_MOST_SLOPES - 1 :]
    directions = np.zeros((len(regression), _MOST_SLOPES))
    directions[kept, np.arange(len(kept))] = 1.0
    # The others have the shares that they have in the regression on all rows.
    directions[rest, -1] = regression[rest] / max(np.linalg.norm(regression[rest]), np.finfo(float).tiny)
    return directions


def _relevance(slopes: Floats, n: float) -> Floats:
    """Prior size of slopes, with a mean square of 1, that have these sizes on n rows."""
    size = np.abs(slopes)
    # What does not matter on the whole may matter in a leaf, and n rows leave slopes uncertain by this much.
    relevance = size + max(_LEAST_RELEVANCE * size.max(), 1 / np.sqrt(n))
    return np.asarray(relevance / np.sqrt((relevance**2).mean()))


def _check_whole_number(name: str, value: Any, minimum: int, otherwise: str = "", bool_is_number: bool = False) -> None:
    if bool_is_number and isinstance(value, bool | np.bool_):
        return
    if not _is_whole_number(value) or value < minimum:
        raise ValueError(f"{name} must be {otherwise}a whole number of at least {minimum}; got {value!r}.")


def _is_whole_number(value: Any) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool | np.bool_)


def _check_limit(name: str, value: Any) -> None:
    if value is not None:
        _check_whole_number(name, value, 0, "None for no limit or ")


def _check_number(name: str, value: Any, accepts: Callable[[float], bool], meaning: str) -> None:
    try:
        is_accepted = not isinstance(value, bool | np.bool_) and isinstance(value, Real) and accepts(float(value))
    except OverflowError:
        is_accepted = False
    if not is_accepted:
        raise ValueError(f"{name} must be {meaning}; got {value!r}.")


def _check_raw_cells(table: _Table) -> None:
    largest = np.abs(table.X).max(axis=0, initial=0.0).astype(np.float64)
    column = int(largest.argmax())
    if largest[column] > _LARGEST_RAW_CELL:
        raise ValueError(
            f"PaperReticulumClassifier works in the units of the table, and column {table.names[column]} has cells of "
            f"size {largest[column]:.3g}, beyond {_LARGEST_RAW_CELL:.0e}. Scale it, or use ReticulumClassifier."
        )


def _sign(column: Levels | None, cells: Floats, weights: Floats) -> Floats:
    """Numbers (n,) that tell rows apart by a column: for levels, whatever they are called, how much each weighs."""
    if column is None:
        return np.where(np.isnan(cells), 0.0, cells)
    is_there = column.places >= 0
    sizes = weights_by_code(column.places[is_there], weights[is_there], len(column.values))
    return np.append(sizes, 0.0)[column.places]


def _check_finite(X: Floats, table: tables.Table) -> None:
    bad = np.argwhere(np.isinf(X))
    if len(bad):
        row, column = bad[0].tolist()
        raise ValueError(
            f"Input X contains infinity: {table.place(column)} is {X[row, column]} in row {row}. Give the largest "
            "value that it can have, or NaN if it is not known."
        )


def _class_weights(given: Any, classes: np.ndarray, codes: Integers, weights: Floats) -> Floats:
    """A weight for each class: as given, or such that all classes weigh the same."""
    if isinstance(given, str) and given == "balanced":
        sizes = weights_by_code(codes, weights, len(classes))
        return np.asarray(
            np.divide(sizes.sum(), (sizes > 0).sum() * sizes, out=np.zeros(len(classes)), where=sizes > 0)
        )
    if not isinstance(given, Mapping):
        raise ValueError(f'class_weight must be None, "balanced" or a dict of weights; got {given!r}.')
    known = classes.tolist()
    unknown = [label for label in given if label not in known]
    if unknown:
        raise ValueError(f"class_weight has a weight for {unknown[0]!r}, but the classes are {known}.")
    out = np.ones(len(classes))
    for place, label in enumerate(known):
        weight = given.get(label, 1.0)
        _check_number(
            f"class_weight[{label!r}]", weight, lambda value: 0 <= value < np.inf, "a finite number, not negative"
        )
        out[place] = weight
    if not out[np.bincount(codes, weights, len(classes)) > 0].any():
        raise ValueError("class_weight is zero for all classes: no row is left to learn from.")
    return out


def _checked_weights(sample_weight: Any, n: int, name: str = "sample_weight") -> Floats:
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
            f"{name} must be finite and not negative; {name}[{bad[0]}] = {weights[bad[0]]}. Use 0 to leave a row out."
        )
    total = float(weights.sum())
    if total > _LARGEST_TOTAL_WEIGHT:
        raise ValueError(
            f"{name} sums to {total:.3g}, beyond what counts can resolve ({_LARGEST_TOTAL_WEIGHT:.0e}). "
            "A weight counts rows: divide all weights by the same number."
        )
    if not weights.any():
        raise ValueError(f"all {name} are zero: no row is left to learn from. Give some row a positive weight.")
    return weights


def _used(weights: Floats) -> Any:
    """Index of the rows that have a weight; where all have one, one that copies nothing."""
    return slice(None) if weights.all() else np.flatnonzero(weights)


def _in_canonical_order(table: _Table) -> _Table:
    """The same table with its rows sorted and repeats made one row of their summed weight.

    Adam magnifies the last bit of a gradient, so that the order of rows, or whether a row is given twice or with
    twice the weight, must not show in even that.
    """
    order = np.lexsort([table.weights, table.targets, *np.asarray(table.X).T[::-1]])
    X, codes, weights = table.X[order], table.targets[order], table.weights[order]
    is_new = np.ones(len(order), dtype=bool)
    is_new[1:] = (X[1:] != X[:-1]).any(axis=1) | (codes[1:] != codes[:-1])
    first = np.flatnonzero(is_new)
    return table._replace(X=X[first], targets=codes[first], weights=np.add.reduceat(weights, first))


def _model(table: _Table, schema: Schema, state: State, log_bayes_factors: Floats, grey_shares: Floats) -> Reticulum:
    return Reticulum(
        tree=state.tree,
        statistics=state.statistics,
        family=table.family,
        schema=schema,
        targets=table.target_names,
        precisions=state.precisions,
        log_evidence=state.log_evidence,
        log_bayes_factors=log_bayes_factors,
        prices=state.prices,
        grey_shares=grey_shares,
    )


def _telling_gaps(table: _Table) -> list[int]:
    """Features whose gaps tell something of the targets: parted by it, these have a higher evidence than together.

    Higher by the log of the number of features that have gaps: beforehand, one of these is believed to tell. Of
    features that are missing in the same rows the first stands for all. A family of linear leaves, which was made for a
    number of columns, gets no more than these.
    """
    family = table.family
    features = features_with_gaps(table.X)
    if not len(features) or family.uses_design:
        return []
    statistics = family.row_statistics(None, table.targets) * table.weights[:, None]
    together = statistics.sum(axis=0)
    found: dict[bytes, int] = {}
    for feature in features.tolist():
        is_gap = np.isnan(table.X[:, feature])
        missing = statistics[is_gap].sum(axis=0)
        there = statistics[~is_gap].sum(axis=0)
        gain = family.log_evidence(missing) + family.log_evidence(there) - family.log_evidence(together)
        if gain > np.log(len(features)):
            found.setdefault(np.packbits(is_gap).tobytes(), feature)
    return list(found.values())


def _is_wide(X: Any, d: int) -> bool:
    """Whether a table has so many more columns, d, than different rows that it pays to work in the span of the rows.

    Repeated rows do not count, so that they and weights are treated alike.
    """
    if d < _WIDE or len(X) > _MOST_ROWS_COMPARED:
        return False
    return len(np.unique(np.where(np.isnan(X), np.inf, X), axis=0)) < d


def _side_by_side(
    growth: Callable[[int, np.random.Generator], _Grown | None], children: list[np.random.Generator], threads: int
) -> Iterable[_Grown | None]:
    """Results of growths, in order, as many at once as there are threads."""
    if threads == 1:
        return (growth(restart, child) for restart, child in enumerate(children))
    results = Parallel(threads, prefer="threads")(delayed(growth)(*job) for job in enumerate(children))
    return cast("list[_Grown | None]", results)


class _Blas:
    """How many fits want BLAS to keep to one thread, and what it was told before the first of them."""

    lock = Lock()
    n_fits = 0
    limiter: Any = None
    # To find out where BLAS is takes as long as many a fit.
    controller: ThreadpoolController | None = None


@contextmanager
def _single_blas() -> Iterator[None]:
    """BLAS with one thread until the last of the fits that run side by side, in threads of Python, has ended."""
    with _Blas.lock:
        if not _Blas.n_fits:
            _Blas.controller = _Blas.controller or ThreadpoolController().select(user_api="blas")
            _Blas.limiter = _Blas.controller.limit(limits=1)
        _Blas.n_fits += 1
    try:
        yield
    finally:
        with _Blas.lock:
            _Blas.n_fits -= 1
            if not _Blas.n_fits:
                _Blas.limiter.restore_original_limits()


class _Grown(NamedTuple):
    """What a growth came to, why it stopped, and everything that happened."""

    state: State
    reason: StoppingReason
    events: list[GrowthEvent]


def _watched(
    growth: Generator[GrowthEvent, None, tuple[State, StoppingReason]], label: str, rival: float = -np.inf
) -> _Grown | None:
    """Run a growth to its end; with a label, a line is printed for each attempt.

    None if it is given up: far behind the log evidence of a rival, and no longer catching up.
    """
    events: list[GrowthEvent] = []
    reached: list[float] = []
    while True:
        try:
            event = next(growth)
        except StopIteration as end:
            state, reason = end.value
            return _Grown(state, reason, events)
        events.append(event)
        if event.phase not in ("kept", "rejected", "tuned"):
            continue
        if label:
            tried = len(event.candidates)
            told = event.phase if event.phase == "tuned" else f"{event.phase}, {tried} candidate{'s' * (tried != 1)}"
            print(
                f"{label}attempt {event.attempt}: {told}, {event.tree.n_splits} splits, "
                f"log evidence {event.log_evidence:.2f}",
                file=sys.stdout,
                flush=True,
            )
        if event.phase == "tuned":
            continue
        reached.append(event.log_evidence)
        if len(reached) > _TRIAL_ATTEMPTS:
            recent_gain = reached[-1] - reached[-1 - _TRIAL_ATTEMPTS]
            behind = rival - reached[-1]
            if behind > _CATCH_UP * recent_gain:
                if label:
                    print(f"{label}given up, {behind:.0f} nats behind", file=sys.stdout, flush=True)
                growth.close()
                return None
