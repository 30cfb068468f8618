"""Quantiles of mixtures of Student's t, with and without tables of tails."""

import numpy as np
import pytest
from scipy import stats

from bayesian_reticulum.distributions.student_quantiles import student_solver
from mixtures import STUDENTS

every_student = pytest.mark.parametrize("make", STUDENTS, ids=lambda make: make.__name__)


@every_student
def test_cdf_of_a_quantile_is_its_probability_in_large_tables(make):
    mixture = make(np.random.default_rng(0), 5000)
    for q in (1e-12, 1e-6, 0.05, 0.5, 0.8, 1 - 1e-6):
        x = mixture.quantile(q)
        assert np.isfinite(x).all()
        reach = np.spacing(np.abs(x)) * np.maximum(mixture.pdf(x), mixture.pdf(np.nextafter(x, -np.inf)))
        assert (np.abs(mixture.cdf(x) - q) <= 2 * reach + 1e-9 * min(q, 1 - q)).all()


@every_student
def test_quantiles_do_not_depend_on_how_many_rows_are_asked_for(make):
    mixture = make(np.random.default_rng(1), 3000)
    q = [0.01, 0.3, 0.9]
    few = mixture[:50]
    slack = 1e-9 / few.pdf(few.quantile(q))
    assert (np.abs(mixture.quantile(q)[:50] - few.quantile(q)) <= slack + 1e-9).all()


@pytest.mark.parametrize("n_pairs", [1, 100_000], ids=["computed", "tabulated"])
@pytest.mark.parametrize("dof", [1.0, 2.5, 40.0, 1e6])
def test_one_component_has_the_quantiles_of_scipy(dof, n_pairs):
    levels = np.array([1e-4, 0.05, 0.4, 0.5, 0.9, 0.999])
    solve = student_solver(np.array([[dof]]), levels, n_pairs)
    columns = np.arange(len(levels))
    quantiles = solve(np.ones((1, 6)), np.full((1, 6), 3.0), np.full((1, 6), 2.0), levels, columns)
    np.testing.assert_allclose(quantiles, stats.t(dof, 3.0, 2.0).ppf(levels), rtol=1e-7, atol=1e-7)


def test_both_tails_keep_their_digits():
    levels = np.array([1e-90, 1.0 - 2.0**-52])
    solve = student_solver(np.array([[5.0]]), levels, 2)
    quantiles = solve(np.ones((1, 2)), np.zeros((1, 2)), np.ones((1, 2)), levels, np.arange(2))
    np.testing.assert_allclose(stats.t(5).cdf(quantiles[0]), 1e-90, rtol=1e-8)
    np.testing.assert_allclose(stats.t(5).sf(quantiles[1]), 2.0**-52, rtol=1e-8)
