"""What requests answer with."""

import numpy as np

from bayesian_reticulum.rows.protocol import Pass, mean_and_covariance, scan_family
from plugins import FAMILIES


def test_mean_and_covariance_follow_from_second_moments():
    rng = np.random.default_rng(0)
    X, weights = rng.normal(size=(30, 3)), rng.integers(1, 4, size=30)
    design = np.column_stack([np.ones(30), X])
    mean, covariance = mean_and_covariance((design.T * weights) @ design)
    np.testing.assert_allclose(mean, np.average(X, axis=0, weights=weights))
    np.testing.assert_allclose(covariance, np.cov(X.T, fweights=weights, ddof=0))


def test_scans_of_linear_leaves_look_at_residuals():
    linear = FAMILIES["one slope"].family
    assert scan_family(linear) is not linear
    assert not np.isnan(scan_family(linear).log_evidence(np.zeros(scan_family(linear).n_statistics)))
    constant = FAMILIES["constant"].family
    assert scan_family(constant) is constant


def test_a_pass_has_information_only_where_it_was_asked_for():
    at = Pass(np.zeros((1, 1, 1)), np.zeros(1), np.zeros((1, 1, 1)), np.zeros((1, 0, 2)))
    assert at.observed is None
    assert at.complete is None
