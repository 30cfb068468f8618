"""The posterior of a Bayesian linear regression against plain matrices."""

import numpy as np
import pytest
from scipy.stats import multivariate_t

from bayesian_reticulum.families.linear_posterior import LinearPrior, eigh, quadratic_forms

PRECISIONS = np.array([0.5, 20.0])
PRIOR = LinearPrior(0.3, 2.0, 1.5, PRECISIONS)


def statistics_of(design, y):
    columns = np.vstack([y, design])
    return (columns @ columns.T)[np.triu_indices(len(columns))]


@pytest.fixture
def table():
    rng = np.random.default_rng(0)
    design = np.vstack([np.ones(6), rng.normal(size=(2, 6))])
    return design, rng.normal(size=6)


def test_mean_and_covariance_are_those_of_the_normal_equations(table):
    design, y = table
    posterior = PRIOR.posterior(statistics_of(design, y), 2, 1.0)
    for k, precision in enumerate(PRECISIONS):
        matrix = design @ design.T + np.diag([0.3, precision, precision])
        np.testing.assert_allclose(posterior.mean[k], np.linalg.solve(matrix, design @ y))
        np.testing.assert_allclose(posterior.covariance[k], np.linalg.inv(matrix))
    np.testing.assert_allclose(posterior.average, posterior.weight @ posterior.mean)


@pytest.mark.parametrize("unit", [1.0, 7.0])
def test_log_evidence_is_the_density_of_the_targets_with_the_probability_of_the_precision(table, unit):
    design, y = table
    posterior = PRIOR.posterior(statistics_of(design, y), 2, unit)
    for k, precision in enumerate(PRECISIONS):
        covariance = np.eye(6) + design.T @ np.diag(1 / np.array([0.3, precision, precision])) @ design
        # With the variance integrated out targets are multivariate t.
        density = multivariate_t(np.zeros(6), 1.5 / 2.0 * covariance, df=4.0).logpdf(y)
        assert posterior.log_evidence[k] == pytest.approx(density - 6 * np.log(unit) - np.log(2))


def test_slope_precisions_are_weighed_by_their_evidence(table):
    posterior = PRIOR.posterior(statistics_of(*table), 2, 1.0)
    assert posterior.weight.sum() == pytest.approx(1)
    difference = posterior.log_evidence[0] - posterior.log_evidence[1]
    assert np.log(posterior.weight[0] / posterior.weight[1]) == pytest.approx(difference)


def test_leaves_in_leading_axes_are_treated_one_by_one(table):
    statistics = statistics_of(*table) * np.arange(1.0, 5).reshape(2, 2, 1)
    together = PRIOR.posterior(statistics, 2, 1.0)
    for place in np.ndindex(2, 2):
        alone = PRIOR.posterior(statistics[place], 2, 1.0)
        for name in ("log_evidence", "shape", "rate", "mean", "average", "covariance"):
            np.testing.assert_allclose(getattr(together, name)[place], getattr(alone, name))


def test_a_leaf_without_slopes_has_an_offset_alone():
    posterior = LinearPrior(0.5, 2.0, 1.0, np.ones(1)).posterior(np.array([5.0, 1.0, 2.0]), 0, 1.0)
    np.testing.assert_allclose(posterior.mean, [[0.4]])
    np.testing.assert_allclose(posterior.covariance, [[[1 / 2.5]]])
    np.testing.assert_allclose(posterior.rate, [1 + (5 - 0.4) / 2])


def test_quadratic_forms_are_those_of_each_column_in_each_matrix():
    rng = np.random.default_rng(0)
    matrices, columns = rng.normal(size=(2, 3, 4, 4)), rng.normal(size=(4, 5))
    expected = np.einsum("pn,abpq,qn->abn", columns, matrices, columns)
    np.testing.assert_allclose(quadratic_forms(matrices, columns), expected)


@pytest.mark.parametrize("width", [0, 1, 3])
def test_eigenvectors_and_values_make_up_the_matrices(width):
    root = np.random.default_rng(0).normal(size=(2, width, width))
    matrices = root @ root.swapaxes(-1, -2)
    sizes, axes = eigh(matrices)
    assert sizes.shape == (2, width)
    np.testing.assert_allclose((axes * sizes[:, None, :]) @ axes.swapaxes(-1, -2), matrices, atol=1e-12)
