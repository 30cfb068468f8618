"""A family that takes something of each row besides its target: counts over exposures."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import digamma, gammaln

from bayesian_reticulum.arrays import Floats, Integers
from bayesian_reticulum.distributions.mixture import Mixture
from bayesian_reticulum.distributions.uncertainty import Uncertainty
from plugins import NegativeBinomial


class CountsOfRows(NegativeBinomial):
    """Counts whose rates have a distribution for each row; rate (C, n)."""

    def draw(self, components: Integers, rows: Integers, rng: np.random.Generator) -> Floats:
        rate = self.rate[components, rows]
        return rng.negative_binomial(self.shape[components, 0], rate / (1 + rate)).astype(np.float64)

    def __getitem__(self, rows: Any) -> CountsOfRows:
        return CountsOfRows(self.shape, self.rate[:, rows])


@dataclass(frozen=True)
class ExposedCounts:
    """Counts at a rate times an exposure, such as claims in some years; the rate has a Gamma prior.

    Statistics are the number of rows, the sum of counts, that of exposures, and that of the logs of what does not
    depend on the rate. Predictions are for an exposure of 1 if none is given.
    """

    shape: float = 1.0
    rate: float = 1.0

    uses_design = False
    n_statistics = 4
    metadata = ("exposure",)

    def row_statistics(self, design: Floats | None, targets: Any, exposure: Floats) -> Floats:
        y = np.asarray(targets, dtype=np.float64)
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.column_stack([np.ones(len(y)), y, exposure, y * np.log(exposure) - gammaln(y + 1)])

    def _posterior(self, statistics: Floats) -> tuple[Floats, Floats]:
        return self.shape + statistics[..., 1], self.rate + statistics[..., 2]

    def log_evidence(self, statistics: Floats) -> Floats:
        shape, rate = self._posterior(statistics)
        prior = self.shape * np.log(self.rate) - gammaln(self.shape)
        return prior + gammaln(shape) - shape * np.log(rate) + statistics[..., 3]

    def expected_parameters(self, statistics: Floats) -> Floats:
        shape, rate = self._posterior(statistics)
        nothing = np.zeros_like(rate)
        return np.stack([nothing, digamma(shape) - np.log(rate), -shape / rate, nothing + 1.0], axis=-1)

    def are_possible(self, statistics: Floats) -> Any:
        return (statistics[..., :3] >= 0).all(axis=-1)

    def unexplained_potential(self, statistics: Floats) -> Floats:
        return np.maximum(-self.log_evidence(statistics), 0.0)

    def counts(self, statistics: Floats) -> Floats:
        return statistics[..., 0]

    def predictive_mean(
        self, statistics: Floats, membership: Floats, design: Floats, exposure: Floats | float = 1.0
    ) -> Floats:
        shape, rate = self._posterior(statistics)
        return (shape / rate) @ membership * exposure

    def predictive(
        self, statistics: Floats, membership: Floats, design: Floats, exposure: Floats | float = 1.0
    ) -> Mixture:
        shape, rate = self._posterior(statistics)
        each = np.broadcast_to(exposure, membership.shape[1:])
        return Mixture(membership, CountsOfRows(shape[:, None], rate[:, None] / each))

    def uncertainty(
        self, statistics: Floats, membership: Floats, design: Floats, exposure: Floats | float = 1.0
    ) -> Uncertainty:
        shape, rate = self._posterior(statistics[:, None])
        mean = shape / rate * exposure
        return Uncertainty.of_numbers(membership, mean, mean, shape / rate**2 * np.square(exposure))

    def describe(self, statistics: Floats, names: Any, linear: Any) -> str:
        shape, rate = self._posterior(statistics)
        return f"{names[0]} about {shape / rate:.3g} for each exposure"


class ExposedAlways(ExposedCounts):
    """Predictions need an exposure, too."""

    def predictive_mean(self, statistics: Floats, membership: Floats, design: Floats, exposure: Any) -> Floats:
        return super().predictive_mean(statistics, membership, design, exposure)


def claims(n: int = 300, seed: int = 0) -> tuple[Floats, Floats, Floats]:
    """Features, counts and exposures of rows whose rate is four times as high on one side."""
    rng = np.random.default_rng(seed)
    X, exposure = rng.normal(size=(n, 2)), rng.uniform(0.2, 3.0, size=n)
    return X, rng.poisson(np.where(X[:, 0] > 0, 4.0, 1.0) * exposure).astype(np.float64), exposure


def draw_exposures(rng: np.random.Generator, n: int) -> dict[str, Floats]:
    return {"exposure": rng.uniform(0.3, 3.0, size=n)}
