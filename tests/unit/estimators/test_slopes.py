"""Slopes of linear leaves: those of features that matter more are believed to be larger."""

from itertools import product

import numpy as np
import pytest

from bayesian_reticulum import ReticulumRegressor
from example_tables import line


def fit(X, y, sample_weight=None, **parameters):
    return ReticulumRegressor(**{"random_state": 0, **parameters}).fit(X, y, sample_weight)


def test_slopes_of_features_that_matter_more_are_believed_to_be_larger():
    X, y = line(2000)
    basis = fit(np.column_stack([X, X[:, :1] ** 2]), y, leaf="linear", max_splits=0).model_.family.basis
    sizes = np.diag(basis)
    np.testing.assert_array_equal(basis, np.diag(sizes))
    assert (sizes**2).mean() == pytest.approx(1)
    # Slopes of 1, 2, 1 and 0, and a tenth of the largest for what may matter in a leaf alone.
    np.testing.assert_allclose(sizes / sizes[1], np.array([0.6, 1.1, 0.6, 0.1]) / 1.1, atol=0.03)


def test_of_many_features_all_directions_have_their_size_of_slopes():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((2000, 70))
    slopes = np.where(np.arange(70) < 10, 1.0, 0.2)
    y = X @ slopes + 0.1 * rng.standard_normal(2000)
    basis = fit(X, y, leaf="linear", max_splits=0).model_.family.basis
    sizes = np.linalg.norm(basis, axis=0)
    # The last stands for 39 features.
    expected = np.concatenate([np.full(10, 1.0), np.full(21, 0.2), [0.2 * np.sqrt(39)]])
    expected += 0.1 * expected.max()
    np.testing.assert_allclose(sizes / sizes[0], expected / expected[0], atol=0.05)
    assert (sizes**2).mean() == pytest.approx(1)


def test_targets_without_a_slope_say_nothing_of_relevance():
    X = np.array(list(product([-1.0, 0.1, 0.9], repeat=3)))
    X, bumps = X - X.mean(axis=0), (X[:, 0] > 0) * (X[:, 1] > 0) + 0.1 * X[:, 2]
    line_through_bumps = np.column_stack([np.ones(27), X])
    bumps -= line_through_bumps @ np.linalg.lstsq(line_through_bumps, bumps, rcond=None)[0]
    for y in (np.ones(27), bumps):
        basis = fit(X, y, leaf="linear", max_splits=0).model_.family.basis
        np.testing.assert_allclose(basis, np.eye(3), atol=1e-9)
