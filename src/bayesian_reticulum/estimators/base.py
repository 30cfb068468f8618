"""The scikit-learn classes: they check what comes in, grow a tree and keep what came out."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, Self

import numpy as np
from joblib import effective_n_jobs
from sklearn.base import BaseEstimator, ClassifierMixin, is_regressor
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import (
    check_is_fitted,
    validate_data,
)

from ..arrays import Floats, Integers
from ..data import Schema, default_names
from ..distributions import ClassDistribution, Uncertainty
from ..evidence import State
from ..families import DirichletCategorical
from ..history import History
from ..model import Reticulum
from .parameters import checked_prior
from .targets import check_labels
from .training import Cells, TrainingData
from .weights import checked_weights, class_weights, used_rows

# What tables of numbers have to be, for scikit-learn's checks.
WITH_GAPS: dict[str, Any] = {"dtype": [np.float64, np.float32], "ensure_all_finite": "allow-nan"}


class Estimator(BaseEstimator, ABC):  # type: ignore[misc]
    """What all estimators of this package do around the growth of a tree."""

    @abstractmethod
    def _check_parameters(self) -> None:
        """Refuse parameters that make no sense, before any row is looked at."""

    @abstractmethod
    def _learn(self, cells: Cells, y: Any, weights: Floats, target_name: str) -> tuple[Reticulum, History]:
        """The model of checked rows with targets that are still to be checked, and how it came about."""

    def _read(self, X: Any, y: Any) -> tuple[Cells, Any]:
        """A table of numbers without gaps, and its targets."""
        X, y = validate_data(self, X, y, dtype=[np.float64, np.float32], y_numeric=is_regressor(self))
        return Cells(X, self._names(X.shape[1]), (None,) * X.shape[1]), y

    def _names(self, d: int, labels: list[Any] | None = None) -> tuple[str, ...]:
        """What columns are called: by the names that scikit-learn knows or labels that are no text, or by number."""
        if hasattr(self, "feature_names_in_"):
            return tuple(map(str, self.feature_names_in_))
        return default_names(d) if labels is None or labels == list(range(d)) else tuple(map(str, labels))

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
            check_labels(y)
        target_name = getattr(y, "name", None)
        cells, y = self._read(X, y)
        weights = checked_weights(sample_weight, len(cells.X))
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


class Classifier(ClassifierMixin, Estimator):  # type: ignore[misc]
    """What all classifiers of this package have in common."""

    prior: Any

    @abstractmethod
    def _grow(self, table: TrainingData) -> tuple[Reticulum, History]:
        """The model of a table, and how it came about."""

    def _learn(self, cells: Cells, y: Any, weights: Floats, target_name: str) -> tuple[Reticulum, History]:
        check_classification_targets(y)
        classes, codes = np.unique(y, return_inverse=True)
        family = DirichletCategorical(checked_prior(self.prior, classes))
        self.classes_ = classes
        weights = self._weighted_classes(classes, codes, weights)
        used = used_rows(weights)
        codes, weights = codes[used], weights[used]
        X, categories = cells.coded(used, weights, codes)
        return self._grow(TrainingData(X, codes, weights, family, cells.names, tuple(map(str, classes)), categories))

    def _weighted_classes(self, classes: np.ndarray, codes: Integers, weights: Floats) -> Floats:
        """Weights of rows times those of their classes."""
        class_weight = getattr(self, "class_weight", None)
        if class_weight is None:
            return weights
        by_class = class_weights(class_weight, classes, codes, weights)
        with np.errstate(over="ignore", under="ignore"):
            return checked_weights(weights * by_class[codes], len(codes), "sample_weight times class_weight")

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


def make_model(
    table: TrainingData, schema: Schema, state: State, log_bayes_factors: Floats, grey_shares: Floats
) -> Reticulum:
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
