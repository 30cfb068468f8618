"""Families of classes that are written against the protocol alone, as users write theirs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import betaln, digamma, entr, gammaln, logsumexp

from bayesian_reticulum.arrays import Floats, Integers
from bayesian_reticulum.distributions.classes import ClassDistribution
from bayesian_reticulum.distributions.uncertainty import Uncertainty


def one_hot(codes: Any, n_classes: int) -> Floats:
    return np.eye(n_classes)[np.asarray(codes)]


@dataclass(frozen=True)
class ContinuationRatio:
    """Ordered classes: a chain of coins, each with a Beta prior, says whether a row stops at a class or goes on.

    It has no more members than the protocol asks for, besides `is_categorical`.
    """

    n_classes: int
    stops: float = 1.0
    goes_on: float = 1.0

    uses_design = False
    is_categorical = True

    @property
    def n_statistics(self) -> int:
        return self.n_classes

    def row_statistics(self, design: Floats | None, targets: Any) -> Floats:
        return one_hot(targets, self.n_classes)

    def are_possible(self, statistics: Floats) -> Any:
        return (statistics >= 0).all(axis=-1)

    def counts(self, statistics: Floats) -> Floats:
        return statistics.sum(axis=-1)

    def _coins(self, statistics: Floats) -> tuple[Floats, Floats]:
        """Pseudo-counts of rows that stop at each class but the last, and of those that go on."""
        beyond = np.cumsum(statistics[..., :0:-1], axis=-1)[..., ::-1]
        return self.stops + statistics[..., :-1], self.goes_on + beyond

    def log_evidence(self, statistics: Floats) -> Floats:
        return (betaln(*self._coins(statistics)) - betaln(self.stops, self.goes_on)).sum(axis=-1)

    def expected_parameters(self, statistics: Floats) -> Floats:
        stops, goes_on = self._coins(statistics)
        total = digamma(stops + goes_on)
        return self._along_the_chain(digamma(stops) - total, digamma(goes_on) - total)

    def _along_the_chain(self, log_stops: Floats, log_goes_on: Floats) -> Floats:
        """Logs of probabilities to reach a class and stop there; all rows that reach the last one stop."""
        nothing = np.zeros((*log_stops.shape[:-1], 1))
        reached = np.concatenate([nothing, np.cumsum(log_goes_on, axis=-1)], axis=-1)
        return reached + np.concatenate([log_stops, nothing], axis=-1)

    def unexplained_potential(self, statistics: Floats) -> Floats:
        return np.maximum(-self.log_evidence(statistics), 0.0)

    def _probabilities(self, statistics: Floats) -> Floats:
        stops, goes_on = self._coins(statistics)
        log_total = np.log(stops + goes_on)
        return np.exp(self._along_the_chain(np.log(stops) - log_total, np.log(goes_on) - log_total))

    def predictive_mean(self, statistics: Floats, membership: Floats, design: Floats) -> Floats:
        return membership.T @ self._probabilities(statistics)

    def predictive(self, statistics: Floats, membership: Floats, design: Floats) -> ClassDistribution:
        return ClassDistribution(np.arange(self.n_classes), self.predictive_mean(statistics, membership, design))

    def uncertainty(self, statistics: Floats, membership: Floats, design: Floats) -> Uncertainty:
        stops, goes_on = self._coins(statistics)
        total = stops + goes_on
        heads = stops / total
        of_coins = -heads * (digamma(stops + 1) - digamma(total + 1))
        of_coins -= (1 - heads) * (digamma(goes_on + 1) - digamma(total + 1))
        # Coins are independent: that of a class counts as often as a row comes so far.
        comes = np.cumprod(np.concatenate([np.ones((len(heads), 1)), (1 - heads)[:, :-1]], axis=1), axis=1)
        return entropies(
            membership, self._probabilities(statistics), (comes[:, : heads.shape[1]] * of_coins).sum(axis=1)
        )

    def describe(self, statistics: Floats, names: Sequence[str], linear: Callable[[Floats], str]) -> str:
        probabilities = self._probabilities(statistics)
        return f"{names[0]} to {names[-1]}, mostly {names[int(probabilities.argmax())]} ({probabilities.max():.3f})"


@dataclass(frozen=True)
class MixedDirichlet:
    """Classes with a mixture of Dirichlet priors: some leaves are nearly pure, others hold all sorts of classes.

    Statistics of a row are a single one, of which the family tells the place.
    """

    n_classes: int
    pseudo_counts: tuple[float, ...] = (0.1, 2.0)

    uses_design = False
    is_categorical = True

    @property
    def n_statistics(self) -> int:
        return self.n_classes

    def row_statistics(self, design: Floats | None, targets: Any) -> Floats:
        return one_hot(targets, self.n_classes)

    def row_codes(self, targets: Any) -> Integers:
        return np.asarray(targets)

    def are_possible(self, statistics: Floats) -> Any:
        return (statistics >= 0).all(axis=-1)

    def counts(self, statistics: Floats) -> Floats:
        return statistics.sum(axis=-1)

    def _posterior(self, statistics: Floats) -> tuple[Floats, Floats, Floats]:
        """Log evidence (...), weights (..., priors) and counts (..., priors, classes)."""
        prior = np.array(self.pseudo_counts)[:, None] * np.ones(self.n_classes)
        counts = prior + statistics[..., None, :]

        def log_beta(counts: Floats) -> Floats:
            return gammaln(counts).sum(axis=-1) - gammaln(counts.sum(axis=-1))

        each = log_beta(counts) - log_beta(prior) - np.log(len(prior))
        together = logsumexp(each, axis=-1)
        return together, np.exp(each - together[..., None]), counts

    def log_evidence(self, statistics: Floats) -> Floats:
        return self._posterior(statistics)[0]

    def expected_parameters(self, statistics: Floats) -> Floats:
        _, weights, counts = self._posterior(statistics)
        return (weights[..., None] * (digamma(counts) - digamma(counts.sum(axis=-1, keepdims=True)))).sum(axis=-2)

    def unexplained_potential(self, statistics: Floats) -> Floats:
        return np.maximum(-self.log_evidence(statistics), 0.0)

    def _probabilities(self, statistics: Floats) -> Floats:
        _, weights, counts = self._posterior(statistics)
        return (weights[..., None] * counts / counts.sum(axis=-1, keepdims=True)).sum(axis=-2)

    def predictive_mean(self, statistics: Floats, membership: Floats, design: Floats) -> Floats:
        return membership.T @ self._probabilities(statistics)

    def predictive(self, statistics: Floats, membership: Floats, design: Floats) -> ClassDistribution:
        return ClassDistribution(np.arange(self.n_classes), self.predictive_mean(statistics, membership, design))

    def uncertainty(self, statistics: Floats, membership: Floats, design: Floats) -> Uncertainty:
        _, weights, counts = self._posterior(statistics)
        total = counts.sum(axis=-1, keepdims=True)
        each = -(counts / total * (digamma(counts + 1) - digamma(total + 1))).sum(axis=-1)
        return entropies(membership, self._probabilities(statistics), (weights * each).sum(axis=-1))

    def interval(self, statistics: Floats, level: float) -> tuple[Floats, Floats, Floats]:
        """By draws from the posterior."""
        _, weights, counts = self._posterior(statistics)
        rng = np.random.default_rng(0)
        draws = np.concatenate(
            [rng.dirichlet(part, round(4000 * weight)) for weight, part in zip(weights, counts, strict=True)]
        )
        low, high = np.quantile(draws, [0.5 - level / 2, 0.5 + level / 2], axis=0)
        return self._probabilities(statistics), low, high

    def describe(self, statistics: Floats, names: Sequence[str], linear: Callable[[Floats], str]) -> str:
        return ", ".join(
            f"{name} {share:.2f}" for name, share in zip(names, self._probabilities(statistics), strict=True)
        )


def entropies(membership: Floats, probabilities: Floats, noise: Floats) -> Uncertainty:
    """Uncertainty of classes from the probabilities (leaves, classes) and the noise (leaves,) of leaves."""
    leaf = entr(probabilities).sum(axis=1)
    mixed = entr(membership.T @ probabilities).sum(axis=1)
    return Uncertainty.of_parts(membership.T @ noise, membership.T @ (leaf - noise), mixed - membership.T @ leaf)
