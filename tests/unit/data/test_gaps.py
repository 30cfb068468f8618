"""The rule for gaps: missing cells at their mean, gates averaged over what they could have been."""

import numpy as np
import pytest

from bayesian_reticulum.data.categories import Category
from bayesian_reticulum.data.gaps import column_variances, estimate_covariance_inverse, features_with_gaps, fill_gaps
from bayesian_reticulum.data.schema import Schema
from bayesian_reticulum.gates import compute_gates, gap_softening
from bayesian_reticulum.tree import single_leaf, split_leaf


def test_a_gate_with_gaps_is_its_mean_over_what_is_missing():
    rng = np.random.default_rng(0)
    schema = Schema.from_columns(rng.normal(size=(100, 3)), np.ones(100), tuple("abc"))
    X = np.array([[0.3, np.nan, -0.2], [np.nan, 1.0, np.nan], [np.nan] * 3])
    nodes, shares = np.polynomial.hermite_e.hermegauss(60)
    for size in (0.3, 1.0, 3.0, 10.0):
        hyperplane = size * rng.normal(size=(1, 1, 4))
        gaps = schema.gaps(X)
        design, left_open = schema.filled(X, gaps)
        shape = split_leaf(single_leaf(3), 0, np.zeros(4)).shape
        gate = compute_gates(hyperplane, shape, design, gap_softening(gaps, hyperplane, left_open)).gate[0, 0]
        mean = hyperplane[0, 0] @ design
        deviation = np.sqrt(np.isnan(X) @ hyperplane[0, 0, 1:] ** 2)
        simulated = 1 / (1 + np.exp(-(mean[:, None] + deviation[:, None] * nodes))) @ shares / np.sqrt(2 * np.pi)
        # The formula is good to about a fiftieth.
        np.testing.assert_allclose(gate, simulated, atol=0.02)


def test_what_is_missing_follows_from_the_rest_of_the_row():
    rng = np.random.default_rng(0)
    first = rng.normal(size=4000)
    X = np.column_stack([first, 0.8 * first + 0.6 * rng.normal(size=4000), rng.normal(size=4000)])
    X[rng.uniform(size=X.shape) < 0.2] = np.nan
    schema = Schema.from_columns(X, np.ones(4000), tuple("abc"), margin=10.0)
    schema = schema.with_covariance_inverse(X, np.ones(4000))
    asked = np.array([[2.0, np.nan, 0.0], [np.nan, np.nan, np.nan], [0.0, 0.0, np.nan]])
    design, left_open = schema.filled(asked, schema.gaps(asked))
    assert design[2, 0] == pytest.approx(0.8 * design[1, 0], abs=0.15)
    assert left_open[1, 0] == pytest.approx(1 - 0.8**2, abs=0.05)
    np.testing.assert_allclose(design[1:, 1], 0, atol=1e-12)
    np.testing.assert_allclose(left_open[:, 1], 1, atol=1e-12)
    assert left_open[2, 2] == pytest.approx(1, abs=0.02)


def table_schema(categories=(None, None, None)):
    rng = np.random.default_rng(0)
    cells = [rng.normal(size=60) if category is None else rng.integers(3, size=60) for category in categories]
    X = np.column_stack(cells).astype(float)
    return X, Schema.from_columns(X, np.ones(60), tuple("abc"), categories=categories)


def test_a_level_that_is_missing_could_be_each_by_its_frequency():
    category = Category(("u", "v", "w"))
    X, schema = table_schema((None, category, None))
    gaps = schema.gaps_in(np.array([1, 2]))
    slopes = np.random.default_rng(1).normal(size=(4, 5))
    shares = np.bincount(X[:, 1].astype(int)) / 60
    by_level = slopes[:, 1:4] / schema.scale[1:4]
    expected = (by_level**2) @ shares - (by_level @ shares) ** 2
    variances = gaps.variances(slopes)
    assert variances.shape == (4, 2)
    np.testing.assert_allclose(variances[:, 0], expected)
    np.testing.assert_allclose(variances[:, 1], slopes[:, 4] ** 2)
    basis = np.linalg.qr(np.random.default_rng(2).normal(size=(5, 5)))[0]
    np.testing.assert_allclose(gaps.along(basis).variances(slopes @ basis), variances)


def test_features_with_gaps_are_found_whatever_else_they_hold():
    X = np.array([[1.0, np.nan, np.inf, -np.inf], [2.0, 3.0, 1.0, np.nan]])
    np.testing.assert_array_equal(features_with_gaps(X), [1, 3])
    assert not len(features_with_gaps(np.zeros((0, 2))))
    _, schema = table_schema()
    assert schema.gaps(np.zeros((2, 3))) is None
    np.testing.assert_array_equal(schema.gaps(np.array([[0.0, np.nan, 0.0]])).sources, [1])


def test_constant_columns_leave_nothing_open():
    X = np.column_stack([np.ones(20), np.arange(20.0)])
    schema = Schema.from_columns(X, np.ones(20), ("a", "b"))
    assert schema.gaps_in(np.array([0])).variances(np.ones((1, 2))).tolist() == [[0.0]]
    np.testing.assert_array_equal(column_variances(schema), [0.0, 1.0])


def test_a_missing_cell_has_the_mean_and_variance_that_regression_on_the_others_gives():
    rng = np.random.default_rng(0)
    mixing = rng.normal(size=(3, 3))
    covariance = mixing @ mixing.T
    deviation = np.sqrt(np.diag(covariance))
    covariance /= np.outer(deviation, deviation)
    _, schema = table_schema()
    design = np.vstack([np.ones(2), rng.normal(size=(3, 2))])
    known = design[[1, 3], :].copy()
    missing = np.array([[True], [True]])
    design[2] = 0.0
    left_open = fill_gaps(design, missing, np.array([1]), schema, np.linalg.inv(covariance))
    weights = covariance[1, [0, 2]] @ np.linalg.inv(covariance[np.ix_([0, 2], [0, 2])])
    np.testing.assert_allclose(design[2], weights @ known)
    np.testing.assert_allclose(left_open[0], covariance[1, 1] - weights @ covariance[[0, 2], 1])


def test_the_covariance_is_learned_from_rows_in_which_both_columns_are_there():
    rng = np.random.default_rng(0)
    columns = rng.normal(size=(2, 20000))
    columns[1] = 0.6 * columns[0] + 0.8 * columns[1]
    missing = rng.uniform(size=columns.shape) < 0.3
    columns[missing] = 0.0
    schema = Schema.from_columns(rng.normal(size=(50, 2)), np.ones(50), ("a", "b"))
    inverse = estimate_covariance_inverse(columns, missing, np.ones(20000), schema)
    np.testing.assert_allclose(np.linalg.inv(inverse), [[1, 0.6], [0.6, 1]], atol=0.03)
    # Two rows tell next to nothing.
    few = estimate_covariance_inverse(columns[:, :2], missing[:, :2], np.ones(2), schema)
    assert abs(np.linalg.inv(few)[0, 1]) < 0.3
