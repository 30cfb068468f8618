"""Exact values for tiny tables, by enumeration of all assignments of rows to leaves.

A configuration ω assigns each row i to one leaf ω(i) and has the probability p(ω) = Π_i membership[i, ω(i)]. There
are leaves ** rows configurations: far too many for real tables, but with a few rows every bound and approximation can
be judged by them. This file shares no code with these, apart from the families.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.special import logsumexp

from .arrays import Floats
from .families import DirichletCategorical, Family

MAX_CONFIGURATIONS = 20_000


class _Configurations(NamedTuple):
    """Log probability (c,) of each configuration and the statistics (c, leaves, k) of its leaves."""

    log_probability: Floats
    statistics: Floats


def log_marginal_likelihood(membership: Any, row_statistics: Any, family: Family) -> float:
    """Log marginal likelihood of the targets, log Σ_ω p(ω) Π_leaf Z(S_leaf(ω)).

    Parameters
    ----------
    membership : array-like of shape (n, leaves)
        Probability with which each row reaches each leaf; every row sums to 1.
    row_statistics : array-like of shape (n, k)
        Statistics T of each row, as the family makes them.
    family : Family
        The conjugate family of the leaves.

    Returns
    -------
    float
        An upper limit of every variational bound.

    Raises
    ------
    ValueError
        If the arrays do not fit together or there are more than 20 000 configurations.

    Examples
    --------
    Two rows of different classes; the first may be in either leaf. Together in a leaf they have evidence 1/6, apart
    1/2 · 1/2.

    >>> import numpy as np
    >>> from bayesian_reticulum.families import DirichletCategorical
    >>> value = log_marginal_likelihood([[0.5, 0.5], [1, 0]], [[1, 0], [0, 1]], DirichletCategorical((1.0, 1.0)))
    >>> bool(np.isclose(np.exp(value), 0.5 * 1 / 6 + 0.5 * 1 / 4))
    True
    """
    configurations = _configurations(membership, row_statistics, family)
    log_likelihood = family.log_evidence(configurations.statistics).sum(axis=-1)
    return float(logsumexp(configurations.log_probability + log_likelihood))


def expected_log_likelihood(membership: Any, row_statistics: Any, family: Family) -> float:
    """Expectation over configurations of the log-likelihood, E_ω[Σ_leaf log Z(S_leaf(ω))] (paper, eq. exp_loglike).

    Parameters
    ----------
    membership : array-like of shape (n, leaves)
        Probability with which each row reaches each leaf; every row sums to 1.
    row_statistics : array-like of shape (n, k)
        Statistics T of each row, as the family makes them.
    family : Family
        The conjugate family of the leaves.

    Returns
    -------
    float
        At most `log_marginal_likelihood`, and at least the paper's c (both by Jensen's inequality).

    Raises
    ------
    ValueError
        If the arrays do not fit together or there are more than 20 000 configurations.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesian_reticulum.families import DirichletCategorical
    >>> value = expected_log_likelihood([[0.5, 0.5], [1, 0]], [[1, 0], [0, 1]], DirichletCategorical((1.0, 1.0)))
    >>> bool(np.isclose(value, 0.5 * np.log(1 / 6) + 0.5 * np.log(1 / 4)))
    True
    """
    configurations = _configurations(membership, row_statistics, family)
    log_likelihood = family.log_evidence(configurations.statistics).sum(axis=-1)
    return float(np.exp(configurations.log_probability) @ log_likelihood)


def leaf_probabilities(membership: Any, row_statistics: Any, family: DirichletCategorical) -> Floats:
    """Expected class probabilities of each leaf, Σ_ω probabilities(S_leaf(ω)) p(ω) (paper, eq. leaf_proba).

    Parameters
    ----------
    membership : array-like of shape (n, leaves)
        Probability with which each row reaches each leaf; every row sums to 1.
    row_statistics : array-like of shape (n, k)
        Statistics T of each row, as the family makes them.
    family : DirichletCategorical
        The family of the leaves.

    Returns
    -------
    ndarray of shape (leaves, classes)

    Raises
    ------
    ValueError
        If the arrays do not fit together or there are more than 20 000 configurations.

    Examples
    --------
    >>> from bayesian_reticulum.families import DirichletCategorical
    >>> leaf_probabilities([[0.5, 0.5]], [[1, 0]], DirichletCategorical((0.5, 0.5)))
    array([[0.625, 0.375],
           [0.625, 0.375]])
    """
    configurations = _configurations(membership, row_statistics, family)
    predictive = family.probabilities(configurations.statistics)
    return np.tensordot(np.exp(configurations.log_probability), predictive, axes=1)


def _configurations(membership: Any, row_statistics: Any, family: Family) -> _Configurations:
    """All configurations of the rows."""
    membership, row_statistics = _checked(membership, row_statistics, family)
    n, leaves = membership.shape
    count = leaves**n
    if count > MAX_CONFIGURATIONS:
        raise ValueError(
            f"{n} rows in {leaves} leaves have {leaves}^{n} configurations, more than the {MAX_CONFIGURATIONS} that "
            "can be enumerated; use fewer rows or leaves."
        )
    # The digits of a configuration's number, written in base `leaves`, are the leaves of its rows.
    leaf_of = np.arange(count)[:, None] // leaves ** np.arange(n) % leaves
    with np.errstate(divide="ignore"):  # The log probability of a leaf that a row cannot reach is -inf.
        log_probability = np.log(membership)[np.arange(n), leaf_of].sum(axis=1)
    statistics = np.zeros((count, leaves, family.n_statistics))
    for row in range(n):
        statistics[np.arange(count), leaf_of[:, row]] += row_statistics[row]
    return _Configurations(log_probability, statistics)


def _checked(membership: Any, row_statistics: Any, family: Family) -> tuple[Floats, Floats]:
    membership = np.asarray(membership, dtype=np.float64)
    row_statistics = np.asarray(row_statistics, dtype=np.float64)
    if membership.ndim != 2 or membership.shape[1] == 0:
        raise ValueError(f"membership must have shape (rows, leaves); got {membership.shape}.")
    expected = (len(membership), family.n_statistics)
    if row_statistics.shape != expected:
        raise ValueError(f"row_statistics must have shape {expected}; got {row_statistics.shape}.")
    wrong = ~((membership >= 0).all(axis=1) & np.isclose(membership.sum(axis=1), 1, rtol=0, atol=1e-8))
    if wrong.any():
        row = int(np.argmax(wrong))
        raise ValueError(
            "each row of membership must be non-negative and sum to 1; "
            f"membership[{row}] = {membership[row].tolist()} sums to {membership[row].sum():g}."
        )
    return membership, row_statistics
