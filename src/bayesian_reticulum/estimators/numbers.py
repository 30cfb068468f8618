"""What all regressors have in common: normal leaves in the units of the targets, and predictions of numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.metrics import r2_score

from ..arrays import Floats
from ..distributions import Mixture
from ..families import NormalLinear
from .base import Estimator
from .targets import Targets, check_target_size, clip_wild_targets, target_units, with_rounding
from .threads import n_threads
from .weights import used_rows


class Regressor(RegressorMixin, Estimator):  # type: ignore[misc]
    """What all regressors have in common."""

    def _check_raw_targets(self, y: Any) -> None:
        if getattr(getattr(y, "dtype", None), "kind", "") in ("m", "M"):
            raise ValueError(f"y holds dates or durations ({y.dtype}); give numbers, such as days since a start.")

    def _learn_targets(self, y: Any, weights: Floats, target_name: str) -> Targets:
        used = used_rows(weights)
        numbers, weights = np.asarray(y, dtype=np.float64)[used], weights[used]
        check_target_size(numbers)
        clipped = clip_wild_targets(numbers, weights, used)
        center, scale = target_units(clipped, weights)
        values = with_rounding(clipped, weights, scale)
        family = NormalLinear(center=center, scale=scale, is_tuned=True, least_noise=float(values[0, 1]) / scale**2)
        return Targets(values, numbers, weights, used, family, (target_name,))

    def predict(self, X: Any, return_std: bool = False, **metadata: Any) -> Any:
        """Mean of the predictive distribution of each row, shape (n_samples,).

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
        return_std : bool, default=False
            Whether to return the standard deviation of the predictive distribution as well.
        **metadata : array-like of shape (n_samples,)
            As in `fit`, where the family takes it for predictions, too.

        Returns
        -------
        mean : ndarray of shape (n_samples,)
        std : ndarray of shape (n_samples,)
            Only if `return_std`.
        """
        cells = self._encode(X)
        metadata = self._checked_metadata("predict", metadata, len(cells))
        mean = self.model_.predict_mean(cells, n_threads(self), metadata)
        if not return_std:
            return mean
        return mean, np.sqrt(self.model_.predict_uncertainty(cells, metadata).total)

    def score(self, X: Any, y: Any, sample_weight: Any = None, **metadata: Any) -> float:
        """Coefficient of determination R² of the predicted means.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            A table like that of `fit`.
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), optional
        **metadata : array-like of shape (n_samples,)
            As in `predict`.
        """
        return float(r2_score(y, self.predict(X, **metadata), sample_weight=sample_weight))

    def predict_distribution(self, X: Any, **metadata: Any) -> Mixture:
        """Distribution of the target of each row: `pdf`, `cdf`, `quantile`, `interval`, `sample` and more.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            A table like that of `fit`.
        **metadata : array-like of shape (n_samples,)
            As in `fit`, where the family takes it for predictions, too.
        """
        cells = self._encode(X)
        metadata = self._checked_metadata("predict_distribution", metadata, len(cells))
        distribution = self.model_.predict_distribution(cells, metadata)
        assert isinstance(distribution, Mixture)
        return distribution
