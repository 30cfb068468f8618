"""The family of classes: categorical targets with a Dirichlet prior of their probabilities."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaincinv, digamma, entr, gammaln

from ..arrays import Floats, Integers
from ..distributions import ClassDistribution, Uncertainty
from .compiled import CompiledForm

# Pseudo-count of each class in Jeffreys' prior, and how often it may be halved where leaves are purer than that.
JEFFREYS = 0.5
_MOST_HALVINGS = 6
_NAMED_CLASSES = 4


@dataclass(frozen=True)
class DirichletCategorical:
    """Classes with a Dirichlet prior; with two classes the Beta-Bernoulli leaf of the paper.

    Parameters
    ----------
    prior : tuple of float
        Pseudo-counts, one for each class.
    is_tuned : bool, default=False
        True if pseudo-counts are chosen by the evidence of the leaves of a tree: 0.5 for each class, or half of that,
        or a quarter, and so on.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesian_reticulum import DirichletCategorical
    >>> family = DirichletCategorical((1.0, 1.0))
    >>> float(family.log_evidence(np.array([0.0, 0.0])))
    0.0
    >>> family.probabilities(np.array([2.0, 0.0]))
    array([0.75, 0.25])
    """

    prior: tuple[float, ...]
    is_tuned: bool = False

    @property
    def uses_design(self) -> bool:
        return False

    @property
    def is_categorical(self) -> bool:
        return True

    @property
    def n_statistics(self) -> int:
        return len(self.prior)

    def row_statistics(self, design: Floats | None, targets: Any) -> Floats:
        """One-hot rows for class codes 0 to k - 1."""
        statistics = np.zeros((len(targets), len(self.prior)))
        statistics[np.arange(len(targets)), self.row_codes(targets)] = 1.0
        return statistics

    def row_codes(self, targets: Any) -> Integers:
        """Class codes are the places of the ones."""
        return np.asarray(targets)

    @property
    def compiled_form(self) -> CompiledForm:
        """How compiled code computes the leaves."""
        return CompiledForm("dirichlet", (np.array(self.prior, dtype=np.float64),))

    def are_possible(self, statistics: Floats) -> NDArray[np.bool_]:
        """Counts are not negative."""
        return np.asarray((statistics >= 0).all(axis=-1))

    def counts(self, statistics: Floats) -> Floats:
        """Sum of the class counts."""
        return np.asarray(statistics.sum(axis=-1))

    def log_evidence(self, statistics: Floats) -> Floats:
        """ln B(prior + S) - ln B(prior): the paper's c of each leaf."""
        prior = np.asarray(self.prior)
        return _log_beta(prior + statistics) - _log_beta(prior)

    def expected_parameters(self, statistics: Floats) -> Floats:
        """E_q[log of the class probabilities]."""
        counts = np.asarray(self.prior) + statistics
        return np.asarray(digamma(counts) - digamma(counts.sum(axis=-1, keepdims=True)))

    def probabilities(self, statistics: Floats) -> Floats:
        """Posterior mean of the class probabilities (paper, the leaf probabilities)."""
        counts = np.asarray(self.prior) + statistics
        return np.asarray(counts / counts.sum(axis=-1, keepdims=True))

    def with_estimated_prior(self, statistics: Floats) -> DirichletCategorical:
        """The family with the pseudo-counts of highest evidence in leaves (leaves, k), if it is tuned.

        Each halving is half as likely a priori. One leaf that has yet to be split keeps its prior.
        """
        if not self.is_tuned or len(statistics) == 1:
            return self
        halvings = np.arange(_MOST_HALVINGS + 1)
        rivals = [replace(self, prior=(JEFFREYS * 0.5**halving,) * len(self.prior)) for halving in halvings.tolist()]
        values = np.array([rival.log_evidence(statistics).sum() for rival in rivals]) - np.log(2.0) * halvings
        # Of priors whose values differ by rounding errors the first one is taken.
        best = rivals[int(np.argmax(np.round(values, 6)))]
        return self if best == self else best

    def unexplained_potential(self, statistics: Floats) -> Floats:
        """The paper's unexplained potential, as a positive number: perfectly sorted classes have evidence near 1."""
        return np.asarray(np.maximum(-self.log_evidence(statistics), 0.0))

    def predictive_mean(self, statistics: Floats, membership: Floats, design: Floats) -> Floats:
        """Probability of each class for each row, shape (n, classes)."""
        return np.asarray(membership.T @ self.probabilities(statistics))

    def predictive(self, statistics: Floats, membership: Floats, design: Floats) -> ClassDistribution:
        """Distribution over class codes."""
        probabilities = self.predictive_mean(statistics, membership, design)
        return ClassDistribution(np.arange(len(self.prior)), probabilities)

    def uncertainty(self, statistics: Floats, membership: Floats, design: Floats) -> Uncertainty:
        """Entropies in nats."""
        counts = np.asarray(self.prior) + statistics
        total = counts.sum(axis=-1, keepdims=True)
        # The mean of the entropy over the posterior of the class probabilities of a leaf.
        expected_entropy = -(counts / total * (digamma(counts + 1) - digamma(total + 1))).sum(axis=-1)
        probabilities = self.probabilities(statistics)
        mixed = _entropy(membership.T @ probabilities)
        leaf_entropy = membership.T @ _entropy(probabilities)
        aleatoric = membership.T @ expected_entropy
        return Uncertainty.of_parts(aleatoric, leaf_entropy - aleatoric, mixed - leaf_entropy)

    def interval(self, statistics: Floats, level: float) -> tuple[Floats, Floats, Floats]:
        """Posterior mean and central interval of the probability of each class in a leaf (k,): Beta distributions."""
        counts = np.asarray(self.prior) + statistics
        others = np.maximum(counts.sum() - counts, np.finfo(float).tiny)
        low, high = (betaincinv(counts, others, tail) for tail in (0.5 - level / 2, 0.5 + level / 2))
        return self.probabilities(statistics), np.asarray(low), np.asarray(high)

    def describe(self, statistics: Floats, names: Sequence[str], linear: Callable[[Floats], str]) -> str:
        """The most probable classes."""
        named = named_classes(self.probabilities(statistics), names)
        return ", ".join(f"{name} {probability:.3f}" for name, probability in named)


def named_classes(probabilities: Floats, names: Sequence[str]) -> list[tuple[str, float]]:
    """Classes with their probabilities (classes,): of many the four most probable ones, and all others as one."""
    shown = np.arange(len(probabilities))
    if len(shown) > _NAMED_CLASSES:
        shown = np.sort(np.argsort(-probabilities, kind="stable")[:_NAMED_CLASSES])
    parts = [(names[int(k)], float(probabilities[k])) for k in shown]
    if len(shown) < len(probabilities):
        hidden = len(probabilities) - len(shown)
        parts.append((f"{hidden} other{'s' * (hidden != 1)}", float(1 - probabilities[shown].sum())))
    return parts


def _log_beta(counts: Floats) -> Floats:
    """Log of the multivariate beta function of counts (..., k)."""
    return np.asarray(gammaln(counts).sum(axis=-1) - gammaln(counts.sum(axis=-1)))


def _entropy(probabilities: Floats) -> Floats:
    return np.asarray(entr(probabilities).sum(axis=-1))
