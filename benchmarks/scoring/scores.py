"""Measures of models: what they are called, and how they are computed."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm

Floats = NDArray[np.float64]

N_BINS = 15  # of the expected calibration error
LEVELS = (np.arange(199) + 0.5) / 199  # of the quantiles that stand for a distribution in its CRPS


class ClassScores(NamedTuple):
    """Measures of a classifier, of one seed or of all seeds (seeds,).

    The Brier score is the mean over rows of the sum over all classes of the squared differences. The calibration error
    has bins of equal width over the probability of the predicted class.
    """

    loss: Any
    brier: Any
    calibration_error: Any


class RegressionScores(NamedTuple):
    """Measures of a regressor, of one seed or of all seeds (seeds,); NaN where it predicts no distribution."""

    error: Any
    nll: Any = np.nan
    crps: Any = np.nan
    coverage: Any = np.nan


class Votes(NamedTuple):
    """Judgement of a classifier on the held-out rows of a fold: its log-loss, and the rest for each row (n,)."""

    loss: float
    brier: Floats
    confidence: Floats
    is_right: NDArray[np.bool_]


class Normal(NamedTuple):
    """Normal distributions (n,) with those methods of the reticulum's predictive distribution that are used here."""

    mean: Floats
    std: Floats

    def logpdf(self, y: Floats) -> Floats:
        return norm.logpdf(y, self.mean, self.std)

    def quantile(self, q: Floats) -> Floats:
        return norm.ppf(q, self.mean[:, None], self.std[:, None])

    def interval(self, level: float) -> tuple[Floats, Floats]:
        return norm.interval(level, self.mean, self.std)


def calibration_error(confidence: Floats, is_right: NDArray[np.bool_]) -> float:
    """Expected calibration error: by how much confidence and accuracy differ in a bin, weighted by its rows."""
    bins = np.minimum((confidence * N_BINS).astype(np.int64), N_BINS - 1)
    return float(np.abs(np.bincount(bins, confidence - is_right, N_BINS)).sum() / len(bins))


def crps(distribution: Any, y: Floats) -> Floats:
    """Continuous ranked probability score of each row: twice the pinball loss, averaged over the levels of quantiles.

    Of normal and Student's t distributions and of mixtures of these it is exact to about 0.1% for any one target, and
    to 0.01% in the mean over targets that come from the distribution.
    """
    errors = y[:, None] - distribution.quantile(LEVELS)
    return 2 * np.mean(np.maximum(LEVELS * errors, (LEVELS - 1) * errors), axis=1)
