"""What all estimators have in common: the steps of a fit, and predictions."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, is_regressor
from sklearn.metrics import accuracy_score
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from ..arrays import Floats, Integers
from ..data import Columns, columns_of_numbers, default_names
from ..distributions import ClassDistribution, Uncertainty
from ..families import DirichletCategorical, Family
from ..history import History
from ..model import Reticulum
from .metadata import MetadataRequests, checked_metadata
from .models import set_model
from .parameters import checked_prior
from .targets import Targets, check_labels
from .threads import n_threads
from .training import TrainingData, encode_training_data
from .weights import checked_weights, class_weights, used_rows

# Methods of families that answer those of estimators.
_METHODS = {
    "fit": "row_statistics",
    "predict": "predictive_mean",
    "predict_proba": "predictive_mean",
    "predict_distribution": "predictive",
    "predict_uncertainty": "uncertainty",
}
# scikit-learn makes doubles of all other numbers.
FLOATS = [np.float64, np.float32]


class Estimator(MetadataRequests, BaseEstimator, ABC):  # type: ignore[misc]
    """The steps of a fit: check parameters, validate the table, encode it, grow a tree, keep the model."""

    model_: Reticulum
    history_: History

    def fit(self, X: Any, y: Any, sample_weight: Any = None, **metadata: Any) -> Self:
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
        **metadata : array-like of shape (n_samples,)
            What the family that was given as `leaf` takes of each row besides its target, as its `metadata` names it.

        Returns
        -------
        self
        """
        before = dict(self.__dict__)
        try:
            self._check_parameters()
            self._check_raw_targets(y)
            target_name = getattr(y, "name", None)
            columns, names, y = self._validate(X, y)
            weights = checked_weights(sample_weight, len(columns.cells))
            targets = self._learn_targets(y, weights, target_name if isinstance(target_name, str) else "y")
            targets = targets.with_metadata(self._checked_metadata("fit", metadata, len(weights), targets.family))
            data = encode_training_data(columns, names, targets)
            model, history = self._grow(data)
            set_model(self, model, history)
        except BaseException:
            # An interrupted or refused fit leaves the estimator as it was, not half of the old and half of the new.
            self.__dict__.clear()
            self.__dict__.update(before)
            raise
        return self

    @abstractmethod
    def _check_parameters(self) -> None:
        """Refuse parameters that make no sense, before any row is looked at."""

    @abstractmethod
    def _check_raw_targets(self, y: Any) -> None:
        """Refuse targets that scikit-learn would accept, or refuse without naming the place and the way out."""

    def _validate(self, X: Any, y: Any) -> tuple[Columns, tuple[str, ...], Any]:
        """Read and check a table of numbers without gaps; also names of its columns, and targets."""
        X, y = validate_data(self, X, y, dtype=FLOATS, y_numeric=is_regressor(self))
        return columns_of_numbers(X), self._feature_names(X.shape[1]), y

    @abstractmethod
    def _learn_targets(self, y: Any, weights: Floats, target_name: str) -> Targets:
        """Make numbers of the targets of rows that have a weight."""

    @abstractmethod
    def _grow(self, data: TrainingData) -> tuple[Reticulum, History]:
        """Grow a tree and make the model of it; the history tells how it came about."""

    def _feature_names(self, n_features: int, labels: list[Any] | None = None) -> tuple[str, ...]:
        """What columns are called: by names that are text, which scikit-learn keeps, by other labels, or by number."""
        if hasattr(self, "feature_names_in_"):
            return tuple(map(str, self.feature_names_in_))
        is_numbered = labels is None or labels == list(range(n_features))
        return default_names(n_features) if is_numbered else tuple(map(str, labels or ()))

    def _encode(self, X: Any) -> Any:
        """Cells of a table like that of fit, after scikit-learn's own checks."""
        check_is_fitted(self, "model_")
        return self.model_.encode(validate_data(self, X, dtype=FLOATS, reset=False))

    def _checked_metadata(
        self, method: str, metadata: Mapping[str, Any], n: int, family: Family | None = None
    ) -> dict[str, Floats]:
        """What the family of the fitted model, or another, takes of n rows in a method of this estimator."""
        caller = f"{type(self).__name__}.{method}"
        return checked_metadata(caller, family or self.model_.family, _METHODS[method], metadata, n)

    def membership(self, X: Any) -> Floats:
        """Probability of each row to belong to each leaf, shape (n_samples, n_leaves_); rows sum to one.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            A table like that of `fit`; columns of a data frame may come in another order.
        """
        cells = self._encode(X)
        return self.model_.membership(cells, n_threads(self))

    def predict_uncertainty(self, X: Any, **metadata: Any) -> Uncertainty:
        """How uncertain the target of each row is, and why: noise, too few rows in a leaf, or which leaf.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            A table like that of `fit`.
        **metadata : array-like of shape (n_samples,)
            As in `fit`, where the family takes it for predictions, too.

        Returns
        -------
        Uncertainty
            Arrays `total`, `aleatoric`, `leaf` and `routing` of shape (n_samples,); the last three add up to the
            first. Entropies in nats for classes, variances for numbers.
        """
        cells = self._encode(X)
        return self.model_.predict_uncertainty(
            cells, self._checked_metadata("predict_uncertainty", metadata, len(cells))
        )


class Classifier(ClassifierMixin, Estimator):  # type: ignore[misc]
    """What all classifiers have in common."""

    prior: Any

    def _check_raw_targets(self, y: Any) -> None:
        check_labels(y)

    def _learn_targets(self, y: Any, weights: Floats, target_name: str) -> Targets:
        check_classification_targets(y)
        classes, codes = np.unique(y, return_inverse=True)
        family = self._family(classes)
        self.classes_ = classes
        weights = self._times_class_weights(classes, codes, weights)
        used = used_rows(weights)
        return Targets(codes[used], codes[used], weights[used], used, family, tuple(map(str, classes)))

    def _family(self, classes: np.ndarray) -> Family:
        """The family of leaves for these classes."""
        return DirichletCategorical(checked_prior(self.prior, classes))

    def _times_class_weights(self, classes: np.ndarray, codes: Integers, weights: Floats) -> Floats:
        """Weights of rows times those of their classes."""
        class_weight = getattr(self, "class_weight", None)
        if class_weight is None:
            return weights
        by_class = class_weights(class_weight, classes, codes, weights)
        with np.errstate(over="ignore", under="ignore"):
            return checked_weights(weights * by_class[codes], len(codes), "sample_weight times class_weight")

    def predict_proba(self, X: Any, **metadata: Any) -> Floats:
        """Probability of each class for each row, shape (n_samples, n_classes), in the order of `classes_`.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            A table like that of `fit`.
        **metadata : array-like of shape (n_samples,)
            As in `fit`, where the family takes it for predictions, too.
        """
        cells = self._encode(X)
        metadata = self._checked_metadata("predict_proba", metadata, len(cells))
        return self.model_.predict_mean(cells, n_threads(self), metadata)

    def predict(self, X: Any, **metadata: Any) -> np.ndarray:
        """Most probable class for each row, shape (n_samples,).

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            A table like that of `fit`.
        **metadata : array-like of shape (n_samples,)
            As in `fit`, where the family takes it for predictions, too.
        """
        best = self.predict_proba(X, **metadata).argmax(axis=1)
        return np.asarray(self.classes_[best])

    def score(self, X: Any, y: Any, sample_weight: Any = None, **metadata: Any) -> float:
        """Share of rows whose class is predicted, each counted by its weight.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            A table like that of `fit`.
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), optional
        **metadata : array-like of shape (n_samples,)
            As in `predict`.
        """
        return float(accuracy_score(y, self.predict(X, **metadata), sample_weight=sample_weight))

    def set_predict_proba_request(self, **requests: bool | str | None) -> Self:
        """Say which metadata `predict_proba` shall get from meta-estimators; see `set_fit_request`."""
        return self._set_requests("predict_proba", requests)

    def predict_distribution(self, X: Any, **metadata: Any) -> ClassDistribution:
        """Distribution of the class of each row, with its `pmf`, `cdf`, `quantile`, `interval` and `sample`.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            A table like that of `fit`.
        **metadata : array-like of shape (n_samples,)
            As in `fit`, where the family takes it for predictions, too.
        """
        return ClassDistribution(self.classes_, self.predict_proba(X, **metadata))
