"""The solver of cdf(x) = q."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from bayesian_reticulum.distributions.solver import solve_cdf


def solve(distribution, q, low, high):
    """Quantiles, and how often the distribution was evaluated for each."""
    q = np.atleast_1d(np.asarray(q, dtype=float))
    low, high, counts = np.full(len(q), low), np.full(len(q), high), np.zeros(len(q), dtype=int)

    def evaluate(x, rows):
        counts[rows] += 1
        return distribution.cdf(x), distribution.pdf(x)

    return solve_cdf(evaluate, q, 0.5 * low + 0.5 * high, low, high), counts


@pytest.mark.parametrize(
    "distribution",
    [stats.norm(), stats.t(3), stats.gamma(0.3), stats.logistic(5.0, 0.1), stats.uniform()],
    ids=["normal", "student", "gamma", "logistic", "uniform"],
)
@settings(max_examples=20)
@given(q=st.floats(1e-8, 1 - 1e-8))
def test_the_cdf_of_the_solution_is_its_probability(distribution, q):
    x, _ = solve(distribution, q, -1e4, 1e4)
    below, above = distribution.cdf(np.nextafter(x, -np.inf)), distribution.cdf(np.nextafter(x, np.inf))
    slack = 1e-9 * min(q, 1 - q)
    assert below <= q + slack
    assert above >= q - slack


def test_a_normal_distribution_is_solved_in_a_step():
    _, counts = solve(stats.norm(2.0, 3.0), [0.01, 0.3, 0.99], -10.0, 10.0)
    assert counts.max() <= 2


def test_rows_that_are_solved_are_not_evaluated_again():
    _, counts = solve(stats.t(2.1), [0.5, 1e-6], -1e6, 1e6)
    assert counts[0] == 1
    assert counts[1] > 1


@pytest.mark.parametrize("q", [0.2, 0.5, 0.7])
def test_a_jump_is_solved_by_its_place(q):
    class Jump:
        def cdf(self, x):
            return np.where(x < 1e-30, 0.1, 0.9)

        def pdf(self, x):
            return np.zeros_like(x)

    x, counts = solve(Jump(), q, -1e300, 1e300)
    assert x[0] == pytest.approx(1e-30)
    assert counts[0] <= 6 + 4 * 66
