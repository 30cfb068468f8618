"""The coordinates of growth: rotated tables, columns for gaps that tell something, and the way back."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.special import expit

from bayesian_reticulum import ReticulumClassifier, ReticulumRegressor
from bayesian_reticulum.data import Encoder, default_names
from bayesian_reticulum.estimators.coordinates import Coordinates, informative_gaps
from bayesian_reticulum.estimators.targets import rounding_variance
from bayesian_reticulum.estimators.training import TrainingData
from bayesian_reticulum.families import DirichletCategorical
from bayesian_reticulum.tree import single_leaf, split_leaf


def fit(X, y, sample_weight=None, **parameters):
    return ReticulumRegressor(**{"random_state": 0, **parameters}).fit(X, y, sample_weight)


@pytest.mark.parametrize("make", [ReticulumClassifier, ReticulumRegressor])
@pytest.mark.parametrize("gaps", [0.0, 0.05])
def test_hundreds_of_columns(make, gaps):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(900, 1)) * 0.5 + rng.normal(size=(900, 270))
    activation = 2 * X[:, :4].sum(axis=1)
    y = (rng.uniform(size=900) < expit(activation)).astype(int)
    X[rng.uniform(size=X.shape) < gaps] = np.nan
    model = make(random_state=0, patience=1, max_splits=2).fit(X[:600], y[:600])
    assert np.corrcoef(model.predict(X[600:]), activation[600:])[0, 1] > 0.5
    assert model.model_.tree.n_features == 270
    weights = rng.integers(1, 3, size=600)
    one, other = (make(random_state=0, max_splits=0 if make is ReticulumRegressor else 1) for _ in range(2))
    one.fit(X[:600], y[:600], sample_weight=weights)
    rows = np.repeat(np.arange(600), weights)
    other.fit(X[rows], y[rows])
    np.testing.assert_allclose(one.predict(X), other.predict(X), atol=1e-4)


def test_across_the_span_of_few_rows_intervals_are_as_wide_as_the_prior_says():
    # The same model once computed in the span of the rows and once with all slopes.
    rng = np.random.default_rng(0)
    X, X_test = rng.standard_normal((20, 64)), rng.standard_normal((50, 64))
    y = X @ rng.standard_normal(64) / 8
    narrow = fit(X, y, leaf="linear", max_splits=0)
    assert narrow.model_.family.n_slopes < 64
    family, schema = narrow.model_.family, narrow.model_.schema
    full = replace(family, n_slopes=64, basis=None, span=None)
    targets = np.column_stack([y, np.full(20, rounding_variance(y, np.ones(20), family.scale))])
    statistics = full.row_statistics(schema.design(X), targets).sum(axis=0)
    assert narrow.log_evidence_ == pytest.approx(full.log_evidence(statistics), rel=1e-9)
    expected = full.predictive(statistics[None], np.ones((1, 50)), schema.design(X_test))
    mean, std = narrow.predict(X_test, return_std=True)
    np.testing.assert_allclose(mean, expected.mean, rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(std, expected.std, rtol=1e-7)
    np.testing.assert_allclose(narrow.predict_distribution(X_test).std, expected.std, rtol=1e-7)


def training_data(X, y):
    family, encoder = DirichletCategorical((0.5, 0.5)), Encoder(default_names(X.shape[1]), (None,) * X.shape[1])
    return TrainingData(X, y, np.ones(len(y)), family, encoder, ("no", "yes"), slice(None))


def coordinates_of(data):
    return Coordinates.choose(data, 0.0)


@pytest.mark.parametrize(
    ("n", "d", "is_rotated"), [(40, 63, False), (40, 64, True), (100, 64, False), (300, 257, True)]
)
def test_tables_with_fewer_rows_than_columns_or_with_very_many_are_rotated(n, d, is_rotated):
    rng = np.random.default_rng(0)
    data = training_data(rng.normal(size=(n, d)), rng.integers(2, size=n))
    coordinates = coordinates_of(data)
    assert coordinates.is_rotated == is_rotated
    assert (coordinates.schema.regressions is None) == is_rotated
    assert coordinates.data.schema.n_columns <= min(n, d) if is_rotated else coordinates.data.schema.n_columns == d


def test_repeated_rows_do_not_count_when_a_table_is_rotated():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 64)), rng.integers(2, size=30)
    assert coordinates_of(training_data(np.repeat(X, 5, axis=0), np.repeat(y, 5))).is_rotated


@pytest.mark.parametrize("d", [5, 70])
def test_trees_of_rotated_rows_have_the_same_activations_in_columns_of_the_table(d):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(50, d)), rng.integers(2, size=50)
    coordinates = coordinates_of(training_data(X, y))
    width = coordinates.data.schema.n_columns
    tree = split_leaf(single_leaf(width), 0, rng.normal(size=width + 1))
    back = coordinates.tree_of_table(tree)
    design = coordinates.schema.design(X)
    rotation = coordinates.rotation
    rotated = design if rotation is None else np.vstack([design[:1], rotation.basis.T @ design[1:]])
    np.testing.assert_allclose(back.hyperplanes @ design, tree.hyperplanes @ rotated, atol=1e-10)
    family = DirichletCategorical((0.5, 0.5))
    assert coordinates.family_of_table(family) is family


def test_gaps_tell_something_where_targets_differ_and_of_equal_masks_the_first_stands_for_all():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 4)), np.arange(200) % 2
    X[(y == 1) & (rng.uniform(size=200) < 0.8), :2] = np.nan
    X[rng.uniform(size=200) < 0.3, 2] = np.nan
    data = training_data(X, y)
    assert informative_gaps(data) == [0]
    assert coordinates_of(data).schema.column_names == ("x0", "x0 is missing", "x1", "x2", "x3")


def test_a_rotated_table_with_very_many_gaps_does_not_average_over_them():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 70)), np.arange(40) % 2
    for features, averages in ((32, True), (33, False)):
        X[:, :features] = np.where(rng.uniform(size=(40, features)) < 0.1, np.nan, X[:, :features])
        X[0, :features] = np.nan
        assert coordinates_of(training_data(X, y)).schema.averages_gaps == averages
