"""Fits with missing cells: what gaps cost, what they tell, and how uncertain they leave a prediction."""

import numpy as np
import pandas as pd
import pytest

from asking import rows_of_data
from bayesian_reticulum import ReticulumClassifier, ReticulumRegressor
from bayesian_reticulum.rows import ArrayRows
from plugins import mixed_frame, needs_compiled


def fit(X, y, sample_weight=None, **parameters):
    return ReticulumClassifier(**({"random_state": 0, "patience": 2} | parameters)).fit(X, y, sample_weight)


def test_gaps_that_tell_something_get_a_column_and_others_do_not():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 2))
    y = (rng.uniform(size=600) < 0.5).astype(int)
    X[rng.uniform(size=600) < np.where(y, 0.6, 0.1), 0] = np.nan
    X[rng.uniform(size=600) < 0.3, 1] = np.nan
    clf = fit(pd.DataFrame(X, columns=["a", "b"]), y)
    assert clf.model_.schema.column_names == ("a", "a is missing", "b")
    assert clf.n_splits_ == 1
    missing, there = clf.predict_proba(pd.DataFrame({"a": [np.nan, 0.0], "b": [0.0, 0.0]}))[:, 1]
    assert missing == pytest.approx(0.86, abs=0.06)
    assert there == pytest.approx(0.31, abs=0.06)


def test_gaps_at_random_hurt_less_than_means_in_their_place():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1500, 1)) + 0.3 * rng.normal(size=(1500, 3))
    y = (rng.uniform(size=1500) < 1 / (1 + np.exp(-8 * X[:, 0]))).astype(int)
    X[rng.uniform(size=X.shape) < 0.2] = np.nan
    train, test = slice(0, 1000), slice(1000, None)
    imputed = np.where(np.isnan(X), np.nanmean(X[train], axis=0), X)
    losses = []
    for table in (X, imputed):
        probability = fit(table[train], y[train]).predict_proba(table[test])[np.arange(500), y[test]]
        losses.append(-np.log(probability).mean())
    assert losses[0] < losses[1] - 0.01


@pytest.mark.parametrize("make", [ReticulumClassifier, ReticulumRegressor])
def test_uncertainty_grows_with_what_is_missing(make):
    frame, y = mixed_frame(600, gaps=0.0)
    model = make(random_state=0, patience=1).fit(frame, y)
    whole = model.predict_uncertainty(frame)
    without = model.predict_uncertainty(frame.assign(age=np.nan, income=np.nan, city=None))
    assert without.routing.mean() > 1.2 * whole.routing.mean()
    assert without.total.mean() > whole.total.mean()


def test_a_linear_leaf_adds_what_a_missing_feature_could_have_made():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(4000, 2))
    reg = ReticulumRegressor(leaf="linear", max_splits=0).fit(X, 3 * X[:, 0] + X[:, 1] + 0.1 * rng.normal(size=4000))
    asked = np.array([[0.5, 0.5], [np.nan, 0.5], [0.5, np.nan], [np.nan, np.nan]])
    mean, std = reg.predict(asked, return_std=True)
    np.testing.assert_allclose(mean, [2.0, 0.5, 1.5, 0.0], atol=0.25)
    np.testing.assert_allclose(std, [0.1, 3.0, 1.0, np.sqrt(10)], rtol=0.1)
    distribution = reg.predict_distribution(asked)
    np.testing.assert_allclose(distribution.std, std, rtol=1e-6)
    parts = reg.predict_uncertainty(asked)
    np.testing.assert_allclose(parts.routing[1:], std[1:] ** 2 - parts.aleatoric[1:] - parts.leaf[1:], rtol=1e-6)
    assert parts.routing[0] == 0


def test_more_columns_than_rows_with_gaps():
    rng = np.random.default_rng(0)
    latent = rng.normal(size=(40, 1))
    X, y = latent + rng.normal(size=(40, 90)), (latent[:, 0] > 0).astype(int)
    X[rng.uniform(size=X.shape) < 0.1] = np.nan
    clf = fit(X, y)
    assert clf.predict_proba(X)[np.arange(40), y].mean() > 0.6
    weights = rng.integers(1, 3, size=40)
    rows = np.repeat(np.arange(40), weights)
    weighted = ReticulumClassifier(random_state=0, max_splits=1).fit(X, y, sample_weight=weights)
    repeated = ReticulumClassifier(random_state=0, max_splits=1).fit(X[rows], y[rows])
    np.testing.assert_allclose(weighted.predict_proba(X), repeated.predict_proba(X), atol=1e-5)


@needs_compiled
@pytest.mark.parametrize("make", [ReticulumClassifier, ReticulumRegressor])
def test_trees_with_gaps_and_levels_are_alike_without_compiled_code(make, monkeypatch):
    frame, y = mixed_frame()
    one = make(random_state=0, patience=1, max_splits=1).fit(frame, y)
    monkeypatch.setenv("BAYESIAN_RETICULUM_NATIVE", "0")
    other = make(random_state=0, patience=1, max_splits=1).fit(frame, y)
    # The ascent by the book ends elsewhere on the same slope.
    assert other.log_evidence_ == pytest.approx(one.log_evidence_, abs=0.1)
    means = (model.predict_mean(model.encode(frame)) for model in (one.model_, other.model_))
    np.testing.assert_allclose(*means, atol=0.01)


def test_thousands_of_columns_with_gaps():
    rng = np.random.default_rng(0)
    latent = rng.normal(size=(100, 1))
    X, y = latent + rng.normal(size=(100, 2000)), latent[:, 0] > 0
    X[rng.uniform(size=X.shape) < 0.02] = np.nan
    clf = fit(X, y, patience=1, max_attempts=2)
    assert not clf.model_.schema.averages_gaps
    assert (clf.predict(X) == y).mean() > 0.9


@needs_compiled
@pytest.mark.parametrize("make", [ReticulumClassifier, ReticulumRegressor])
def test_compiled_code_and_numpy_agree_on_gaps_and_levels(make, monkeypatch):
    class OnArrays(make):
        def rows_factory(self):
            return lambda data, family, threads=1: rows_of_data(ArrayRows, data, family)

    frame, y = mixed_frame()
    one, other = (kind(random_state=0, patience=1, max_splits=1).fit(frame, y) for kind in (make, OnArrays))
    answers = one.membership(frame), one.predict(frame)
    monkeypatch.setenv("BAYESIAN_RETICULUM_NATIVE", "0")
    np.testing.assert_allclose(other.membership(frame), answers[0], atol=1e-4)
    np.testing.assert_allclose(other.predict(frame), answers[1], atol=1e-3)
