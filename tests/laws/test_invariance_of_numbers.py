"""What must not matter to a regressor: order and repetition of rows, units of features and targets, copies."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone

from bayesian_reticulum import ReticulumRegressor
from bayesian_reticulum.compiled import is_available
from example_tables import NUMBERS as TABLES
from example_tables import kink, line

every_table = pytest.mark.parametrize("table", TABLES)


def fit(X, y, sample_weight=None, **parameters):
    return ReticulumRegressor(**{"random_state": 0, **parameters}).fit(X, y, sample_weight)


@every_table
def test_the_order_of_rows_does_not_change_predictions(table):
    X, y = TABLES[table]()
    order = np.random.default_rng(1).permutation(len(X))
    one, other = fit(X, y), fit(X[order], y[order])
    assert one.n_splits_ == other.n_splits_
    # Compiled code sums rows in the order of their content, NumPy as they come.
    np.testing.assert_allclose(other.predict(X), one.predict(X), rtol=0, atol=0 if is_available() else 1e-7 * y.std())


@every_table
@pytest.mark.parametrize(("shift", "factor"), [(1e9, 1.0), (0.0, 1e-9), (-3.0, -1e3)])
def test_the_units_of_the_targets_do_not_change_the_tree(table, shift, factor):
    X, y = TABLES[table]()
    one, other = fit(X, y), fit(X, shift + factor * y)
    assert (one.leaf_, one.n_splits_) == (other.leaf_, other.n_splits_)
    np.testing.assert_allclose(other.model_.tree.hyperplanes, one.model_.tree.hyperplanes, rtol=1e-3, atol=1e-3)
    scale = abs(factor) * y.std()
    np.testing.assert_allclose(
        other.predict(X), shift + factor * one.predict(X), rtol=0, atol=1e-5 * scale + 1e-6 * (shift > 1)
    )
    # A density is one per unit of the target.
    assert other.log_evidence_ == pytest.approx(one.log_evidence_ - len(y) * np.log(abs(factor)), abs=1e-2)


@every_table
def test_the_units_of_the_features_do_not_change_predictions(table):
    X, y = TABLES[table]()
    scale = np.array([1e-6, 1e3, 1.0])[: X.shape[1]]
    np.testing.assert_allclose(fit(7 + scale * X, y).predict(7 + scale * X), fit(X, y).predict(X), atol=1e-5)


@every_table
def test_integer_weights_equal_repeated_rows(table):
    X, y = TABLES[table](80)
    times = np.random.default_rng(0).integers(0, 4, size=len(y))
    weighted, repeated = fit(X, y, times), fit(np.repeat(X, times, axis=0), np.repeat(y, times))
    assert weighted.n_splits_ == repeated.n_splits_
    np.testing.assert_allclose(weighted.predict(X), repeated.predict(X), atol=1e-6)


def test_a_copy_predicts_the_same_to_the_last_bit():
    X, y = kink()
    model = fit(X, y)
    for same in (pickle.loads(pickle.dumps(model)), clone(model).fit(X, y)):
        np.testing.assert_array_equal(same.predict(X), model.predict(X))
        np.testing.assert_array_equal(
            same.predict_distribution(X).quantile(0.1), model.predict_distribution(X).quantile(0.1)
        )


@pytest.mark.parametrize("n", [2, 5, 60])
@pytest.mark.parametrize("d", [10, 80])
def test_sizes_of_slopes_follow_weights_as_they_do_repeats(n, d):
    rng = np.random.default_rng(0)
    X, y, times = rng.standard_normal((n, d)), rng.standard_normal(n), rng.integers(1, 4, size=n)
    X[:, 3] = X[:, 4] = X[:, 5]
    X[:, 6] = 1.0
    settings = {"leaf": "linear", "max_splits": 0}
    weighted = fit(X, y, times, **settings).model_.family.basis
    repeated = fit(np.repeat(X, times, axis=0), np.repeat(y, times), **settings).model_.family.basis
    np.testing.assert_allclose(weighted @ weighted.T, repeated @ repeated.T, atol=1e-7)
    if d == 10:
        np.testing.assert_allclose(np.diag(weighted)[3:5], np.diag(weighted)[5])


def test_columns_that_matter_alike_are_not_chosen_by_rounding():
    X = np.kron(np.eye(70), np.ones((3, 1)))
    y = np.random.default_rng(1).normal(size=210) + 5 * X[:, 0]
    found = []
    for seed in range(2):
        order = np.random.default_rng(seed).permutation(210)
        found.append(fit(X[order], y[order], leaf="linear", max_splits=0).predict(X))
    np.testing.assert_allclose(*found, atol=1e-9)


def test_collinear_and_constant_features_change_nothing():
    X, y = line()
    wide = np.column_stack([X, X, X.sum(axis=1), np.ones(len(X))])
    one, other = fit(X, y), fit(wide, y)
    assert other.n_splits_ == one.n_splits_
    assert np.sqrt(np.mean((other.predict(wide) - one.predict(X)) ** 2)) < 0.15


def test_a_wild_cell_hardly_matters():
    X, y = line()
    X_test, _ = line(100, 1)
    clean = fit(X, y).predict(X_test)
    X[3, 0] = 1e6
    assert np.sqrt(np.mean((fit(X, y).predict(X_test) - clean) ** 2)) < 0.3


def test_wild_rows_are_not_extrapolated():
    X, y = line()
    model = fit(X, y, leaf="linear")
    far = X[:1] + 1e6
    assert np.abs(model.predict(far)) < 2 * np.abs(y).max()


@pytest.mark.parametrize("seed", [2, 4, 7, 11, 30])
def test_the_order_of_rows_cannot_be_seen_in_a_tree_of_many_splits(seed):
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(500, 1500)), int(rng.integers(2, 6))
    X = rng.normal(size=(n, d))
    y = np.sin(2 * X[:, 0]) + X[:, 1] ** 2 - X[:, -1] + 0.5 * rng.normal(size=n)
    order = rng.permutation(n)
    regressor = ReticulumRegressor(random_state=0, leaf="constant", max_splits=12)
    one, other = (regressor.fit(X[rows], y[rows]).predict(X) for rows in (slice(None), order))
    # Compiled code sums rows in the order of their content, NumPy as they come.
    np.testing.assert_allclose(other, one, rtol=0, atol=0 if is_available() else 1e-10)
