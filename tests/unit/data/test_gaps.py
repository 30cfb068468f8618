"""The rule for gaps: missing cells at what regressions say, gates softened by what these leave open."""

import numpy as np
import pytest

from bayesian_reticulum.data.categories import Category
from bayesian_reticulum.data.gaps import Regressions, column_variances, features_with_gaps
from bayesian_reticulum.data.schema import Schema


def test_what_is_missing_follows_from_the_rest_of_the_row():
    rng = np.random.default_rng(0)
    first = rng.normal(size=4000)
    X = np.column_stack([first, 0.8 * first + 0.6 * rng.normal(size=4000), rng.normal(size=4000)])
    X[rng.uniform(size=X.shape) < 0.2] = np.nan
    schema = Schema.from_columns(X, np.ones(4000), tuple("abc"), margin=10.0)
    schema = schema.with_regressions(X, np.ones(4000))
    asked = np.array([[2.0, np.nan, 0.0], [np.nan, np.nan, np.nan], [0.0, 0.0, np.nan]])
    design, left_open = schema.filled(asked, schema.gaps(asked))
    assert design[2, 0] == pytest.approx(0.8 * design[1, 0], abs=0.15)
    assert left_open[1, 0] == pytest.approx(1 - 0.8**2, abs=0.05)
    np.testing.assert_allclose(design[1:, 1], 0, atol=1e-12)
    np.testing.assert_allclose(left_open[:, 1], 1, atol=0.1)
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


def learned(X, weights=None, asked=None, margin=10.0, categories=()):
    """The schema with regressions of a table of numbers, and a table filled by it: design, left_open."""
    weights = np.ones(len(X)) if weights is None else weights
    schema = Schema.from_columns(X, weights, tuple("abcdefgh"[: X.shape[1]]), margin, categories)
    schema = schema.with_regressions(X, weights)
    asked = X if asked is None else asked
    return schema, *schema.filled(asked, schema.gaps(asked))


def related_columns(n, gaps, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 1)) + 0.5 * rng.normal(size=(n, 4))
    X[rng.uniform(size=X.shape) < gaps] = np.nan
    return X


def test_a_single_gap_is_filled_by_ridge_regression_on_all_other_columns():
    X = related_columns(60, 0.0)
    asked = X[:5].copy()
    asked[:, 2] = np.nan
    schema, design, left_open = learned(X, asked=asked)
    columns, others = schema.design(X)[1:], [0, 1, 3]
    moments = columns[others] @ columns[others].T + 5 * np.eye(3)
    follows = np.linalg.solve(moments, columns[others] @ columns[2])
    np.testing.assert_allclose(design[3], follows @ columns[others][:, :5])
    residual = columns[2] - follows @ columns[others]
    np.testing.assert_allclose(left_open[0], ((residual**2).sum() + 5) / 65)


def test_coefficients_are_learned_with_gaps_of_the_other_columns_at_their_means():
    X = related_columns(4000, 0.0)
    whole = learned(X)[0].regressions
    X[:2000, 1] = np.nan
    schema = learned(X)[0]
    columns = schema.design(X)[1:]
    follows = np.linalg.solve(columns[1:] @ columns[1:].T + 5 * np.eye(3), columns[1:] @ columns[0])
    np.testing.assert_allclose(schema.regressions.coefficients[0, 1:], follows)
    assert schema.regressions.coefficients[0, 1] < 0.9 * whole.coefficients[0, 1]
    there = columns[:, 2000:]
    others = [0, 2, 3]
    follows = np.linalg.solve(there[others] @ there[others].T + 5 * np.eye(3), there[others] @ there[1])
    np.testing.assert_allclose(schema.regressions.coefficients[1, others], follows)


def test_several_gaps_are_filled_from_their_means_and_once_more_from_what_this_gives():
    X = related_columns(500, 0.2)
    asked = np.array([[2.0, np.nan, np.nan, 1.0], [2.0, 1.0, 1.5, 1.0]])
    schema, design, left_open = learned(X, asked=asked)
    coefficients, variances = schema.regressions.coefficients, schema.regressions.variances
    first = schema.design(asked)[1:, 0]
    second = first.copy()
    second[[1, 2]] = coefficients[[1, 2]] @ first
    np.testing.assert_allclose(design[[2, 3], 0], coefficients[[1, 2]] @ second)
    np.testing.assert_array_equal(design[:, 1], schema.design(asked)[:, 1])
    expected = [variances[1] + coefficients[1, 2] ** 2, variances[2] + coefficients[2, 1] ** 2]
    np.testing.assert_allclose(left_open[:, 0], expected)
    np.testing.assert_array_equal(left_open[:, 1], 0)


def test_the_less_is_there_the_more_is_left_open_up_to_the_whole_variance():
    X = related_columns(2000, 0.1)
    asked = np.zeros((4, 4))
    for row in range(4):
        asked[row, : row + 1] = np.nan
    _, _, left_open = learned(X, asked=asked)
    assert (np.diff(left_open[0]) > 0).all()
    assert (left_open <= 1).all()


def test_weights_count_rows_and_the_order_of_rows_does_not_matter():
    X = related_columns(80, 0.2)
    weights = np.random.default_rng(1).integers(1, 4, size=80)
    order = np.random.default_rng(2).permutation(80)
    one = learned(X, weights.astype(float))[0].regressions
    for same in (
        learned(np.repeat(X, weights, axis=0))[0].regressions,
        learned(X[order], weights[order].astype(float))[0].regressions,
    ):
        np.testing.assert_allclose(same.coefficients, one.coefficients, atol=1e-10)
        np.testing.assert_allclose(same.variances, one.variances, atol=1e-10)


def test_constant_and_empty_columns_follow_from_nothing_and_nothing_from_them():
    X = related_columns(50, 0.1)
    X[:, 1], X[:, 3] = np.nan, 2.0
    schema, design, left_open = learned(X)
    assert not schema.regressions.coefficients[[1, 3]].any()
    assert not schema.regressions.coefficients[:, [1, 3]].any()
    assert np.isfinite(design).all()
    assert np.isfinite(left_open).all()
    np.testing.assert_array_equal(design[[2, 4]], 0)


def test_levels_of_a_category_follow_from_other_features_only():
    rng = np.random.default_rng(0)
    level = rng.integers(3, size=600)
    X = np.column_stack([level, 2.0 * level + rng.normal(size=600)]).astype(float)
    asked = np.array([[np.nan, 4.0], [np.nan, 0.0]])
    schema, design, left_open = learned(X, asked=asked, categories=(Category(("u", "v", "w")), None))
    assert not schema.regressions.coefficients[:3, :3].any()
    assert design[3, 0] > design[1, 0]
    assert design[1, 1] > design[3, 1]
    # Frequencies of the levels sum to 1.
    np.testing.assert_allclose(design[1:4].sum(axis=0), 0, atol=0.02)
    assert (left_open < 0.9).all()
    assert (left_open > 0.3).all()


def test_two_rows_tell_next_to_nothing():
    X = related_columns(500, 0.0)
    schema = Schema.from_columns(X, np.ones(500), tuple("abcd"))
    few = Regressions.learn(schema.design(X)[1:, :2], np.zeros((4, 2), dtype=bool), np.ones(2), schema)
    assert np.abs(few.coefficients).max() < 0.3
    assert few.variances.min() > 0.5
