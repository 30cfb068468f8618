"""Odd tables, which are sensible nevertheless, give sensible models."""

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.metrics import log_loss

from bayesian_reticulum import ReticulumClassifier, ReticulumRegressor
from example_tables import CLASSES as TABLES
from example_tables import line


def fit(X, y, sample_weight=None, **parameters):
    return ReticulumClassifier(**{"random_state": 0, **parameters}).fit(X, y, sample_weight)


NUMBERS = np.random.default_rng(0).normal(size=(40, 2))


LABELS = (NUMBERS[:, 0] > 0).astype(int)


def with_column(column, name="c"):
    return pd.DataFrame(NUMBERS, columns=["a", "b"]).assign(**{name: column})


ODD = {
    "a column of gaps": with_column(np.nan),
    "a column of nothing": with_column([None] * 40),
    "a row of gaps": pd.DataFrame(np.where(np.arange(40)[:, None] == 3, np.nan, NUMBERS)),
    "rows of gaps only, but for two": np.where(np.arange(40)[:, None] > 1, np.nan, NUMBERS),
    "one level": with_column("x"),
    "one level and gaps": with_column(["x", None] * 20),
    "empty text": with_column(["", "x"] * 20),
    "bools with gaps": with_column([True, False, None, True] * 10),
    "whole numbers": pd.DataFrame((10 * NUMBERS).astype(int)),
    "small integers": (10 * NUMBERS).astype(np.int8),
    "large integers": with_column(np.arange(40) + 2**62),
    "unsigned integers": with_column(np.arange(40, dtype=np.uint64) + np.uint64(2**63)),
    "half precision": NUMBERS.astype(np.float16),
    "single precision": pd.DataFrame(NUMBERS.astype(np.float32)),
    "bools": NUMBERS > 0,
    "decimals": with_column([Decimal(k) / 7 for k in range(40)]),
    "fractions": with_column([Fraction(k, 7) for k in range(40)]),
    "numbers as objects": NUMBERS.astype(object),
    "numbers as names": pd.DataFrame(NUMBERS, columns=[0, 1]),
    "bytes": with_column([b"x", b"y"] * 20),
    "levels that are numbers": with_column(pd.Categorical([3, 1] * 20)),
    "levels that are not used": with_column(pd.Categorical(["x", "y"] * 20, categories=["z", "y", "x"])),
    "nullable integers": with_column(pd.array([1, None] * 20, dtype="Int64")),
    "sparse columns": with_column(pd.arrays.SparseArray([0.0, 1.0] * 20)),
    "polars with nulls": pl.DataFrame({"a": NUMBERS[:, 0], "b": [None, 1.0] * 20, "c": [None, "x"] * 20}),
    "polars column of nulls": pl.DataFrame({"a": NUMBERS[:, 0], "b": [None] * 40}),
    "arrow with nulls": pa.table({"a": NUMBERS[:, 0], "b": pa.array([None, 1] * 20), "c": pa.array([None, "x"] * 20)}),
    "lists": NUMBERS.tolist(),
    "a list of arrays": list(NUMBERS),
    "column-wise in memory": np.asfortranarray(NUMBERS),
    "a text column of gaps": with_column(pd.array([None] * 40, dtype="string")),
    "polars text of gaps": pl.DataFrame({"a": NUMBERS[:, 0], "b": pl.Series([None] * 40, dtype=pl.String)}),
    "arrow batch": pa.RecordBatch.from_pandas(with_column(["x", "y"] * 20)),
    "lists with NA": [[float(x), pd.NA] for x in NUMBERS[:, 0]],
    "lists with None": [[float(x), None] for x in NUMBERS[:, 0]],
    "a mask": np.ma.masked_greater(NUMBERS, 1.0),
    "a mask of objects": np.ma.masked_equal(np.array([["x", 1.0], ["y", 2.0]] * 20, dtype=object), "y"),
    "signalling gaps": with_column([Decimal("sNaN"), Decimal(1)] * 20),
    "bytes that are no text": with_column([b"\xff", b"y"] * 20),
    "tuples as names": pd.DataFrame(NUMBERS, columns=pd.MultiIndex.from_tuples([("a", 1), ("a", 2)])),
    "huge cells": NUMBERS * 1e300,
    "tiny cells": NUMBERS * 1e-300,
}


@pytest.mark.parametrize("X", ODD.values(), ids=ODD)
@pytest.mark.parametrize("make", [ReticulumClassifier, ReticulumRegressor])
def test_odd_tables_give_sensible_models(make, X):
    model = make(random_state=0, patience=1, max_attempts=3).fit(X, LABELS)
    np.testing.assert_allclose(model.membership(X).sum(axis=1), 1, rtol=1e-9)
    assert np.isfinite(model.predict(X)).all()
    assert str(model.model_)


def test_one_row_and_two_rows():
    one = fit(pd.DataFrame({"a": [1.0], "b": ["x"]}), [1])
    np.testing.assert_array_equal(one.predict(pd.DataFrame({"a": [np.nan], "b": ["y"]})), [1])
    two = fit(pd.DataFrame({"a": [1.0, np.nan], "b": ["x", None]}), [0, 1])
    assert two.predict_proba(pd.DataFrame({"a": [1.0], "b": ["x"]})).sum() == pytest.approx(1)


def test_a_million_levels_are_no_model():
    n = 1_000_000
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"id": [f"id {k}" for k in range(n)], "x": rng.normal(size=n)})
    with pytest.warns(UserWarning, match=r"column 'id' has 1000000 levels, all of them rare: nothing can be learned"):
        clf = ReticulumClassifier(random_state=0, max_attempts=1).fit(frame, (frame["x"] > 0).astype(int))
    assert clf.model_.schema.n_columns == 2
    some = frame.iloc[::1000]
    assert (clf.predict(some) == (some["x"] > 0)).mean() > 0.98


def test_one_feature_is_enough():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 1))
    y = (np.abs(X[:, 0]) > 0.7).astype(int)
    clf = fit(X, y)
    assert clf.n_splits_ == 2
    assert clf.score(X, y) > 0.95


def test_constant_columns_change_nothing():
    X, y = TABLES["ripley"]()
    constant = np.column_stack([np.full(len(X), 7.0), X, np.zeros(len(X)), np.full(len(X), 1e9)])
    one, other = fit(X, y, n_directions=0), fit(constant, y, n_directions=0)
    np.testing.assert_allclose(other.predict_proba(constant), one.predict_proba(X), atol=0.02)
    assert other.feature_importances_[[0, 3, 4]].max() < 1e-9


def test_nothing_but_constant_columns_gives_class_frequencies():
    clf = fit(np.ones((40, 3)), np.arange(40) % 4 == 0)
    assert clf.n_splits_ == 0
    np.testing.assert_allclose(clf.predict_proba(np.ones((1, 3))), [[30.5 / 41, 10.5 / 41]])
    np.testing.assert_array_equal(clf.feature_importances_, 0)


def test_duplicate_rows_are_fine():
    X = np.repeat([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]], 25, axis=0)
    y = np.repeat([0, 1, 1, 0], 25)
    clf = fit(X, y)
    assert clf.score(X, y) == 1
    assert log_loss(y, clf.predict_proba(X)) < 0.1


def test_rows_that_contradict_each_other_give_even_odds():
    X = np.repeat([[0.0], [1.0]], 50, axis=0)
    clf = fit(X, np.arange(100) % 2)
    assert clf.n_splits_ == 0
    np.testing.assert_allclose(clf.predict_proba(X), 0.5)


@pytest.mark.parametrize("y", [[0, 1], [0, 0]])
def test_two_rows_are_enough(y):
    X = np.array([[0.0, 1.0], [1.0, 0.0]])
    probability = fit(X, y).predict_proba(X)
    assert np.isfinite(probability).all()
    np.testing.assert_allclose(probability.sum(axis=1), 1)


def test_one_row_is_enough():
    np.testing.assert_array_equal(fit([[1.0]], [3]).predict([[5.0]]), [3])


def test_a_class_with_one_row_keeps_a_small_probability():
    X, y = TABLES["ripley"]()
    y = y.copy()
    y[0] = 2
    clf = fit(X, y)
    probability = clf.predict_proba(X)
    assert probability.shape == (len(X), 3)
    assert (probability[:, 2] > 0).all()
    assert probability[:, 2].mean() < 0.03
    assert clf.n_splits_ >= 1


def test_one_percent_of_positives_are_found():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 3))
    y = np.zeros(3000, dtype=int)
    y[:30] = 1
    X[:30, 0] += 4
    clf = fit(X[::2], y[::2])
    probability = clf.predict_proba(X[1::2])[:, 1]
    base = log_loss(y[1::2], np.full(1500, 0.01))
    assert log_loss(y[1::2], probability) < 0.5 * base
    assert probability.mean() == pytest.approx(0.01, abs=0.005)


def test_many_more_features_than_rows_give_a_sensible_model():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 2000))
    y = (X[:, :20].sum(axis=1) > 0).astype(int)
    X[:, :20] *= 3
    X[:, :20] += 2.0 * (2 * y[:, None] - 1)
    clf = fit(X[:200], y[:200], patience=2)
    assert clf.model_.hyperplanes.shape == (clf.n_splits_, 2001)
    assert all(event.tree.n_features == 2000 for event in clf.history_)
    assert log_loss(y[200:], clf.predict_proba(X[200:])) < 0.6


LEAVES = ("auto", "constant", "linear")


@pytest.mark.parametrize("leaf", LEAVES)
@pytest.mark.parametrize("value", [0.0, 5.0, -1e9])
def test_constant_targets_give_a_constant_model(leaf, value):
    X, _ = line(50)
    model = ReticulumRegressor(random_state=0, leaf=leaf).fit(X, np.full(50, value))
    assert model.n_splits_ == 0
    mean, std = model.predict(X, return_std=True)
    np.testing.assert_allclose(mean, value)
    assert ((std > 0) & (std < 1)).all()


@pytest.mark.parametrize("leaf", LEAVES)
@pytest.mark.parametrize("n", [1, 2, 3, 5])
def test_a_few_rows_give_a_model_with_wide_but_finite_intervals(leaf, n):
    X, y = line(n)
    model = ReticulumRegressor(random_state=0, leaf=leaf).fit(X, y)
    lower, upper = model.predict_distribution(line(20, 1)[0]).interval(0.9)
    assert np.isfinite([lower, upper]).all()
    assert (upper > lower).all()
    assert model.n_splits_ <= 1
