"""Conjugate families: what a leaf believes about its targets.

A family turns each row's target into statistics T; a leaf holds their sum S and nothing else, so that
partitions of the rows add. A new family is one class with the methods of `Family`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.special import digamma, gammaln

from .tree import Floats


class Family(Protocol):
    """A conjugate exponential family with its prior."""

    @property
    def n_statistics(self) -> int:
        """Number k of coordinates of T."""
        ...

    def row_statistics(self, design: Floats | None, targets: Any) -> Floats:
        """T of each row, shape (n, k); `design` is None for constant leaves."""
        ...

    def log_evidence(self, statistics: Floats) -> Floats:
        """Log marginal likelihood of a leaf that holds `statistics` (..., k); 0 for an empty leaf."""
        ...

    def expected_parameters(self, statistics: Floats) -> Floats:
        """E_q of the natural parameters, the gradient of `log_evidence`: E_q[log p(y|theta)] = this @ T(y)."""
        ...

    def predictive_mean(self, statistics: Floats) -> Floats:
        """Mean of T under the leaf's posterior predictive; for classes their probabilities."""
        ...

    def are_possible(self, statistics: Floats) -> NDArray[np.bool_]:
        """Whether statistics (..., k) could be the sum of some rows with positive weights."""
        ...

    def unexplained_potential(self, statistics: Floats) -> Floats:
        """Nats that splits below a leaf could gain at most."""
        ...

    def counts(self, statistics: Floats) -> Floats:
        """Effective number of rows in a leaf."""
        ...


def _log_beta(counts: Floats) -> Floats:
    return np.asarray(gammaln(counts).sum(axis=-1) - gammaln(counts.sum(axis=-1)))


@dataclass(frozen=True)
class DirichletCategorical:
    """Classes with a Dirichlet prior; with two classes the Beta-Bernoulli leaf of the paper.

    Parameters
    ----------
    prior : tuple of float
        Pseudo-counts, one for each class.

    Examples
    --------
    >>> import numpy as np
    >>> family = DirichletCategorical((1.0, 1.0))
    >>> float(family.log_evidence(np.array([0.0, 0.0])))
    0.0
    >>> family.predictive_mean(np.array([2.0, 0.0]))
    array([0.75, 0.25])
    """

    prior: tuple[float, ...]

    @property
    def n_statistics(self) -> int:
        return len(self.prior)

    def row_statistics(self, design: Floats | None, targets: Any) -> Floats:
        """One-hot rows for class codes 0 to k - 1."""
        statistics = np.zeros((len(targets), len(self.prior)))
        statistics[np.arange(len(targets)), targets] = 1.0
        return statistics

    def log_evidence(self, statistics: Floats) -> Floats:
        """ln B(prior + S) - ln B(prior): the paper's c of each leaf."""
        prior = np.asarray(self.prior)
        return _log_beta(prior + statistics) - _log_beta(prior)

    def expected_parameters(self, statistics: Floats) -> Floats:
        """E_q[log of the class probabilities]."""
        counts = np.asarray(self.prior) + statistics
        return np.asarray(digamma(counts) - digamma(counts.sum(axis=-1, keepdims=True)))

    def predictive_mean(self, statistics: Floats) -> Floats:
        """Posterior mean of the class probabilities (paper, the leaf probabilities)."""
        counts = np.asarray(self.prior) + statistics
        return np.asarray(counts / counts.sum(axis=-1, keepdims=True))

    def are_possible(self, statistics: Floats) -> NDArray[np.bool_]:
        """Counts are not negative."""
        return np.asarray((statistics >= 0).all(axis=-1))

    def unexplained_potential(self, statistics: Floats) -> Floats:
        """The paper's unexplained potential, as a positive number: perfectly sorted classes have evidence near 1."""
        return np.asarray(np.maximum(-self.log_evidence(statistics), 0.0))

    def counts(self, statistics: Floats) -> Floats:
        """Sum of the class counts."""
        return np.asarray(statistics.sum(axis=-1))
