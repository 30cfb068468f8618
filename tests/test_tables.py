"""Tables as people have them: data frames of any library, categories, gaps and weights; and what is refused."""

import datetime
import pickle
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from bayesian_reticulum import PaperReticulumClassifier, ReticulumClassifier, ReticulumRegressor
from bayesian_reticulum.data.categories import Category
from bayesian_reticulum.data.frames import Levels, Numbers, read_frame
from bayesian_reticulum.data.schema import Schema
from bayesian_reticulum.gates import compute_gates, gap_softening
from plugins import mixed_frame, needs_compiled

few = settings(max_examples=8, deadline=None)


def fitted(X, y, **parameters):
    return ReticulumClassifier(**({"random_state": 0, "patience": 2} | parameters)).fit(X, y)


def listed(frame):
    return [[None if pd.isna(cell) else cell for cell in row] for row in frame.itertuples(index=False)]


def in_polars(frame):
    return pl.DataFrame({name: [None if pd.isna(cell) else cell for cell in frame[name].tolist()] for name in frame})


LIBRARIES = {
    "objects": lambda frame: frame.astype({"city": object}),
    "strings": lambda frame: frame.astype({"city": "string", "age": "Float64", "smokes": "boolean"}),
    "categories": lambda frame: frame.astype({"city": "category"}),
    "categories in another order": lambda frame: frame.assign(
        city=pd.Categorical(frame["city"], categories=["unused", "Wien", "Bern", "Rome", "Oslo"])
    ),
    "arrow in pandas": lambda frame: frame.astype({"city": "string[pyarrow]", "age": "double[pyarrow]"}),
    "polars": lambda frame: in_polars(frame),
    "polars categories": lambda frame: in_polars(frame).with_columns(pl.col("city").cast(pl.Categorical)),
    "polars enums": lambda frame: in_polars(frame).with_columns(
        pl.col("city").cast(pl.Enum(["Rome", "Oslo", "Bern", "Wien"]))
    ),
    "arrow": lambda frame: pa.Table.from_pandas(frame.astype({"city": object})),
    "arrow dictionaries": lambda frame: pa.Table.from_pandas(frame.astype({"city": "category"})),
}


@pytest.mark.parametrize("make", LIBRARIES.values(), ids=LIBRARIES)
def test_the_library_of_a_frame_does_not_matter(make):
    frame, y = mixed_frame()
    reference = fitted(frame, y)
    other = fitted(make(frame), y)
    expected = reference.predict_proba(frame)
    assert reference.n_splits_ >= 1
    np.testing.assert_array_equal(other.predict_proba(make(frame)), expected)
    np.testing.assert_array_equal(reference.predict_proba(make(frame)), expected)
    np.testing.assert_array_equal(other.feature_names_in_, frame.columns)


@pytest.mark.parametrize("make", [listed, lambda frame: np.array(listed(frame), dtype=object)], ids=["list", "objects"])
def test_tables_without_names_are_read_like_frames(make):
    frame, y = mixed_frame()
    clf = fitted(make(frame), y)
    np.testing.assert_array_equal(clf.predict_proba(make(frame)), fitted(frame, y).predict_proba(frame))
    assert clf.model_.schema.names == ("x0", "x1", "x2", "x3")


@few
@given(seed=st.integers(0, 1000), order=st.permutations(["Oslo", "Rome", "Wien", "Bern"]))
def test_what_levels_are_called_does_not_matter(seed, order):
    frame, y = mixed_frame(seed=seed)
    names = dict(zip(["Oslo", "Rome", "Wien", "Bern"], order, strict=True))
    renamed = frame.assign(city=frame["city"].map(names))
    one, other = fitted(frame, y), fitted(renamed, y)
    np.testing.assert_array_equal(one.predict_proba(frame), other.predict_proba(renamed))


@few
@given(seed=st.integers(0, 1000), order=st.permutations(range(4)))
def test_what_columns_are_called_and_where_they_stand_in_predict_does_not_matter(seed, order):
    frame, y = mixed_frame(seed=seed)
    clf = fitted(frame, y)
    expected = clf.predict_proba(frame)
    other = fitted(frame.set_axis(["d", "c", "b", "a"], axis=1), y)
    np.testing.assert_array_equal(other.predict_proba(frame.set_axis(["d", "c", "b", "a"], axis=1)), expected)
    for make in (lambda table: table, in_polars, pa.Table.from_pandas):
        shuffled = frame.astype({"city": object}).iloc[:, list(order)]
        np.testing.assert_array_equal(clf.predict_proba(make(shuffled)), expected)


@pytest.mark.parametrize(
    ("encode", "parameters"),
    [
        (lambda smokes: smokes.map({True: "yes", False: "no"}), {}),
        (lambda smokes: smokes.astype("category"), {}),
        (lambda smokes: smokes.map({True: 7, False: 3}), {"categorical_features": ["city", "smokes"]}),
        (lambda smokes: smokes.map({True: 7, False: 3}), {"categorical_features": [False, False, True, True]}),
        (lambda smokes: smokes.map({True: 7.5, False: 3.0}), {"categorical_features": [2, -1]}),
        (lambda smokes: smokes.astype(float), {}),
        (lambda smokes: smokes.astype("Int8"), {}),
        (lambda smokes: 10 * smokes.astype(np.float32) - 3, {}),
    ],
    ids=["text", "category", "names", "mask", "places", "number", "small integer", "other units"],
)
def test_the_same_information_in_another_encoding_gives_the_same_predictions(encode, parameters):
    frame, y = mixed_frame()
    encoded = frame.assign(smokes=encode(frame["smokes"]))
    expected = fitted(frame, y).predict_proba(frame)
    np.testing.assert_allclose(fitted(encoded, y, **parameters).predict_proba(encoded), expected, atol=1e-7)


@few
@given(seed=st.integers(0, 1000))
def test_what_levels_of_the_same_size_are_called_does_not_matter(seed):
    rng = np.random.default_rng(seed)
    level, y, x = np.repeat(np.arange(4), 60), np.tile([0, 1], 120), rng.normal(size=240)
    x += np.where((y == 1) ^ (level % 2 == 1), 1.0, -1.0)
    names = np.array(["a", "b", "c", "d"])
    one, other = (pd.DataFrame({"x": x, "level": own[level]}) for own in (names, rng.permutation(names)))
    np.testing.assert_array_equal(fitted(one, y).predict_proba(one), fitted(other, y).predict_proba(other))


@pytest.mark.parametrize("share", [0.3, 0.5, 0.7])
def test_two_levels_are_the_same_as_two_numbers_whichever_is_the_rarer(share):
    rng = np.random.default_rng(5)
    b, X = np.arange(300) < 300 * share, rng.normal(size=(300, 2))
    y = (X[:, 0] * np.where(b, 1, -1) + 0.5 * X[:, 1] + 0.5 * rng.normal(size=300) > 0).astype(int)
    gap = rng.uniform(size=300) < 0.1
    bools, numbers = pd.array(np.where(gap, None, b), dtype="boolean"), np.where(gap, np.nan, b)
    frames = [pd.DataFrame(X, columns=["u", "v"]).assign(b=column) for column in (bools, numbers, 3 * numbers - 1)]
    expected, *others = (fitted(frame, y).predict_proba(frame) for frame in frames)
    for other in others:
        np.testing.assert_allclose(other, expected, atol=1e-9)


def test_levels_are_shown_by_name():
    frame, y = mixed_frame()
    clf = fitted(frame, y)
    told = str(clf.model_)
    assert "city=" in told
    assert "smokes=True" in told
    assert set(clf.model_.schema.column_names) >= {"age", "income", "city=Rome", "city=Bern", "smokes=True"}
    assert clf.feature_importances_.shape == (4,)
    assert clf.feature_importances_.sum() == pytest.approx(1)
    assert clf.feature_importances_[1] < clf.feature_importances_[[0, 2, 3]].min()
    copy = pickle.loads(pickle.dumps(clf))
    np.testing.assert_array_equal(copy.predict_proba(frame), clf.predict_proba(frame))


def test_a_level_that_was_not_seen_is_a_gap():
    frame, y = mixed_frame()
    clf = fitted(frame, y)
    unseen, gap = frame.assign(city="Paris"), frame.assign(city=None)
    np.testing.assert_array_equal(clf.predict_proba(unseen), clf.predict_proba(gap))


def test_rare_levels_are_pooled():
    places = np.repeat([0, 1, 2, 3, 4, -1], [400, 30, 8, 5, 1, 3])
    category = Category.from_levels(Levels(list("abcde"), places), np.ones(len(places)), np.zeros((len(places), 1)))
    assert category.levels == ("a", "b")
    assert category.pooled == {"c", "d", "e"}
    assert category.labels == ("a", "b", "3 rare levels")
    # One rare level alone keeps its name.
    alone = Category.from_levels(Levels(["a", "b"], np.repeat([0, 1], [400, 8])), np.ones(408), np.zeros((408, 1)))
    assert alone.levels == ("a", "b")
    column = Levels(["e", "b", "new"], np.array([0, 1, 2, -1]))
    np.testing.assert_array_equal(category.coded(column, "x"), [2, 1, np.nan, np.nan])
    many = Category.from_levels(Levels(list(range(100)), np.arange(100).repeat(90)), np.ones(9000), np.zeros((9000, 1)))
    assert (len(many.levels), len(many.pooled)) == (0, 100)
    large = Levels(list(range(70)), np.arange(70).repeat(90))
    few_large = Category.from_levels(large, np.ones(6300), np.zeros((6300, 1)))
    assert (len(few_large.levels), len(few_large.pooled)) == (63, 7)


@few
@given(seed=st.integers(0, 1000), rare=st.integers(1, 5))
def test_integer_weights_equal_repeats_with_gaps_and_levels(seed, rare):
    frame, y = mixed_frame(seed=seed)
    frame.loc[: rare - 1, "city"] = "Lund"
    weights = np.random.default_rng(seed).integers(0, 4, size=len(y))
    rows = np.repeat(np.arange(len(y)), weights)
    one = fitted(frame, y).set_params(max_splits=2).fit(frame, y, sample_weight=weights)
    other = fitted(frame, y).set_params(max_splits=2).fit(frame.iloc[rows], y[rows])
    assert one.model_.schema.column_names == other.model_.schema.column_names
    np.testing.assert_allclose(one.predict_proba(frame), other.predict_proba(frame), atol=1e-6)


@needs_compiled
@pytest.mark.parametrize("make", [ReticulumClassifier, ReticulumRegressor])
def test_compiled_code_and_numpy_agree_on_gaps_and_levels(make, monkeypatch):
    frame, y = mixed_frame()
    one = make(random_state=0, patience=1, max_splits=1).fit(frame, y)
    monkeypatch.setenv("BAYESIAN_RETICULUM_NATIVE", "0")
    other = make(random_state=0, patience=1, max_splits=1).fit(frame, y)
    np.testing.assert_allclose(one.membership(frame), other.membership(frame), atol=1e-4)
    np.testing.assert_allclose(one.predict(frame), other.predict(frame), atol=1e-3)


# Gaps


def test_a_gate_with_gaps_is_its_mean_over_what_is_missing():
    rng = np.random.default_rng(0)
    schema = Schema.from_columns(rng.normal(size=(100, 3)), np.ones(100), tuple("abc"))
    X = np.array([[0.3, np.nan, -0.2], [np.nan, 1.0, np.nan], [np.nan] * 3])
    nodes, shares = np.polynomial.hermite_e.hermegauss(60)
    for size in (0.3, 1.0, 3.0, 10.0):
        hyperplane = size * rng.normal(size=(1, 1, 4))
        gaps = schema.gaps(X)
        design, left_open = schema.filled(X, gaps)
        shape = fitted(*mixed_frame(), max_splits=1, max_attempts=1).model_.tree.shape
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


def test_gaps_that_tell_something_get_a_column_and_others_do_not():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 2))
    y = (rng.uniform(size=600) < 0.5).astype(int)
    X[rng.uniform(size=600) < np.where(y, 0.6, 0.1), 0] = np.nan
    X[rng.uniform(size=600) < 0.3, 1] = np.nan
    clf = fitted(pd.DataFrame(X, columns=["a", "b"]), y)
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
        probability = fitted(table[train], y[train]).predict_proba(table[test])[np.arange(500), y[test]]
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
    clf = fitted(X, y)
    assert clf.predict_proba(X)[np.arange(40), y].mean() > 0.6
    weights = rng.integers(1, 3, size=40)
    rows = np.repeat(np.arange(40), weights)
    weighted = ReticulumClassifier(random_state=0, max_splits=1).fit(X, y, sample_weight=weights)
    repeated = ReticulumClassifier(random_state=0, max_splits=1).fit(X[rows], y[rows])
    np.testing.assert_allclose(weighted.predict_proba(X), repeated.predict_proba(X), atol=1e-5)


def test_thousands_of_columns_with_gaps():
    rng = np.random.default_rng(0)
    latent = rng.normal(size=(100, 1))
    X, y = latent + rng.normal(size=(100, 2000)), latent[:, 0] > 0
    X[rng.uniform(size=X.shape) < 0.02] = np.nan
    clf = fitted(X, y, patience=1, max_attempts=2)
    assert not clf.model_.schema.averages_gaps
    assert (clf.predict(X) == y).mean() > 0.9


# Weights of classes


def test_class_weights_are_row_weights():
    frame, y = mixed_frame()
    labels = np.where(y, "yes", "no")
    by_class = fitted(frame, labels, class_weight={"yes": 3.0})
    by_row = ReticulumClassifier(random_state=0, patience=2).fit(frame, labels, sample_weight=np.where(y, 3.0, 1.0))
    np.testing.assert_array_equal(by_class.predict_proba(frame), by_row.predict_proba(frame))


def test_balanced_classes_weigh_the_same():
    X = np.random.default_rng(0).normal(size=(200, 1))
    y = (np.arange(200) < 20).astype(int)
    clf = fitted(X, y, class_weight="balanced", max_splits=0)
    np.testing.assert_allclose(clf.predict_proba(X)[0], [0.5, 0.5], atol=1e-12)
    np.testing.assert_allclose(clf.model_.statistics, [[100, 100]])
    halves = ReticulumClassifier(class_weight="balanced", max_splits=0).fit(X, y, sample_weight=np.where(y, 0.5, 2.0))
    np.testing.assert_allclose(halves.predict_proba(X)[0], [0.5, 0.5], atol=1e-12)


def test_a_class_without_weight_stays_known():
    X = np.random.default_rng(0).normal(size=(60, 1))
    clf = fitted(X, np.arange(60) % 3, class_weight={2: 0})
    np.testing.assert_array_equal(clf.classes_, [0, 1, 2])
    assert clf.predict_proba(X)[:, 2].max() < 0.05


# Odd tables that are sensible nevertheless

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
    one = fitted(pd.DataFrame({"a": [1.0], "b": ["x"]}), [1])
    np.testing.assert_array_equal(one.predict(pd.DataFrame({"a": [np.nan], "b": ["y"]})), [1])
    two = fitted(pd.DataFrame({"a": [1.0, np.nan], "b": ["x", None]}), [0, 1])
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


# What is refused

DATE = datetime.date(2020, 1, 1)
WORDS = np.array([["u", "v"]] * 40)
BAD = {
    # What the cells hold
    "inf": (with_column(np.inf), "column 'c' is inf in row 0. Give the largest value that it can have, or NaN"),
    "-inf": (with_column([0.0] * 39 + [-np.inf]), "column 'c' is -inf in row 39"),
    "inf in an array": (np.where(NUMBERS > 2, np.inf, NUMBERS), "contains infinity"),
    "inf in a list": ([[1.0, np.inf]] * 40, "contains infinity"),
    "inf in polars": (pl.DataFrame({"a": [np.inf] * 40}), "column 'a' is inf in row 0"),
    "inf in arrow": (pa.table({"a": [0.0] * 39 + [np.inf]}), "column 'a' is inf in row 39"),
    "inf among objects": (with_column([np.inf, 1] * 20).astype(object), "column 'c' is inf in row 0"),
    "a float too large": (
        with_column(pd.Series([10**400] * 40, dtype=object)),
        "whole number of 401 digits in row 0, which is too large for a float",
    ),
    "complex": (NUMBERS + 1j, "Complex data not supported"),
    "complex column": (
        with_column(NUMBERS[:, 0] + 1j),
        "column 'c' holds complex numbers. Give their real and imaginary",
    ),
    "complex objects": (with_column(pd.Series([1j] * 40, dtype=object)), "column 'c' holds complex numbers"),
    "dates": (
        with_column(pd.Timestamp("2020-01-01")),
        r"column 'c' holds dates or durations \(datetime64.*days since a",
    ),
    "zoned dates": (with_column(pd.Timestamp("2020-01-01", tz="UTC")), "column 'c' holds dates or durations"),
    "durations": (with_column(pd.Timedelta(days=1)), r"column 'c' holds dates or durations \(timedelta64"),
    "periods": (with_column(pd.period_range("2020", periods=40, freq="M")), r"holds dates or durations \(period"),
    "date objects": (with_column([DATE] * 40), r"column 'c' holds dates or durations \(date\)"),
    "polars dates": (pl.DataFrame({"a": [DATE] * 40}), r"column 'a' holds dates or durations \(Date\)"),
    "polars times": (pl.DataFrame({"a": [datetime.time(1)] * 40}), r"column 'a' holds dates or durations \(Time\)"),
    "arrow dates": (pa.table({"a": [DATE] * 40}), r"column 'a' holds dates or durations \(date32"),
    "levels that are dates": (with_column(pd.Categorical([pd.Timestamp("2020-01-01")] * 40)), "dates or durations"),
    "text and numbers": (
        with_column(["x", 1] * 20),
        "column 'c' mixes types: 'x' in row 0, 1 in row 1. Convert it to numbers",
    ),
    "numbers and text": (with_column([1.5, None, "x", 2] * 10), "column 'c' mixes types: 1.5 in row 0, 'x' in row 2"),
    "bools and text": (with_column([True, "x"] * 20), "column 'c' mixes types: True in row 0, 'x' in row 1"),
    "bools and numbers": (
        with_column(pd.Series([True, 2] * 20, dtype=object)),
        "column 'c' mixes types: True in row 0, 2 in row 1",
    ),
    "text and numbers in a list": ([[1.0, "x"], [2.0, 3.0]] * 20, "column 1 mixes types: 'x' in row 0, 3.0 in row 1"),
    "numbers written as text": (
        NUMBERS.astype(str),
        r"column 0 holds numbers that are written as text, such as '.*astype",
    ),
    "dicts": (with_column([{}] * 40), r"column 'c' holds \{\} of type dict \(value 0\); a cell must be a number, text"),
    "lists in cells": (with_column([[1]] * 40), r"column 'c' holds \[1\] of type list"),
    "tuples in cells": (with_column([(1, 2)] * 40), r"column 'c' holds \(1, 2\) of type tuple"),
    "polars lists": (pl.DataFrame({"a": [[1]] * 40}), r"column 'a' holds \[1\] of type list"),
    "polars structs": (pl.DataFrame({"a": [{"b": 1}] * 40}), r"column 'a' holds \{'b': 1\} of type dict"),
    "arrow lists": (pa.table({"a": [[1]] * 40}), r"column 'a' holds \[1\] of type list"),
    "array of dates": (np.array([["2020-01-01"]] * 40, dtype="M8[D]"), r"X holds dates or durations \(datetime64"),
    "array of durations": (np.zeros((40, 1), dtype="m8[s]"), r"X holds dates or durations \(timedelta64"),
    "records": (np.zeros(40, dtype=[("a", float), ("b", float)]), r"array of records \(a, b\). Make a data frame"),
    "lazy polars": (pl.LazyFrame({"a": [1.0]}), r"LazyFrame of polars, which has no rows yet. Call collect\(\)"),
    "levels of both kinds": (
        with_column(pd.Categorical([1, "a"] * 20)),
        "column 'c' mixes types: 1 in row 0, 'a' in row 1",
    ),
    "bytes and text": (with_column([b"a", "a"] * 20), "column 'c' mixes types: b'a' in row 0, 'a' in row 1"),
    "a level that is inf": (
        with_column(pd.Categorical([np.inf, 1.0] * 20)),
        "column 'c' has the level inf, and infinity is",
    ),
    "arrays in cells": (with_column(pd.Series([np.array([np.nan])] * 40)), "column 'c' holds .* of type ndarray"),
    # What shape the table has
    "ragged lists": ([[1.0, 2.0], [3.0]] * 20, "inhomogeneous shape|sequence"),
    "ragged lists with text": ([["x", 2.0], ["y"]] * 20, "inhomogeneous shape|sequence|1D array"),
    "no rows": (np.empty((0, 2)), r"0 sample\(s\)"),
    "a frame without rows": (pd.DataFrame({"a": []}), r"0 sample\(s\)"),
    "no columns": (np.empty((40, 0)), r"0 feature\(s\)"),
    "a frame without columns": (pd.DataFrame(index=range(40)), r"0 feature\(s\)"),
    "one dimension": (np.arange(40.0), "Expected 2D array, got 1D array"),
    "a series": (pd.Series(np.arange(40.0)), "Expected 2D|Expected a 2-dimensional"),
    "three dimensions": (np.zeros((40, 2, 2)), "dim 3|3 dim"),
    "a number": (3.0, "Expected 2D array, got scalar|array-like"),
    "nothing": (None, "Expected 2D array, got scalar|NoneType|array-like"),
    "text": ("table.csv", "Expected 2D array, got scalar|could not convert"),
    "a sparse matrix": (sparse.csr_array(NUMBERS), "Sparse data was passed"),
    "a dict": ({"a": [1.0] * 40}, "dict|array-like|Expected 2D"),
    "too few rows": (NUMBERS[:-1], "inconsistent numbers of samples"),
    "too few rows in a frame": (with_column("x")[:-1], "inconsistent numbers of samples"),
    # What columns are called
    "names twice": (
        pd.DataFrame(NUMBERS, columns=["a", "a"]),
        "column names must differ, but 'a' occurs more than once",
    ),
    "names of both kinds": (pd.DataFrame(NUMBERS, columns=["a", 1]), "all input features have string names|string"),
}
PARAMETERS = {
    "categorical_features unknown": ({"categorical_features": "all"}, "categorical_features = 'all' is not understood"),
    "categorical_features number": ({"categorical_features": 3}, "categorical_features must be a list; got 3"),
    "categorical_features name": ({"categorical_features": ["z"]}, "names 'z', but the columns are 'a', 'b', 'c'"),
    "categorical_features place": ({"categorical_features": [7]}, "holds 7, but X has 3 columns"),
    "categorical_features float": ({"categorical_features": [1.5]}, "holds 1.5, but X has 3 columns"),
    "categorical_features mask": ({"categorical_features": [True]}, "a mask of 1 columns, but X has 3"),
    "categorical_features ragged": ({"categorical_features": [[1], [1, 2]]}, "is not a list|must be a list"),
    "categorical_features lacks text": (
        {"categorical_features": ["a"]},
        "column 'c' holds text, such as 'x', and is not among",
    ),
    "categorical_features none": (
        {"categorical_features": None},
        "column 'c' holds text, such as 'x', and categorical_features is",
    ),
    "categorical_features mask without text": (
        {"categorical_features": [True, False, False]},
        "column 'c' holds text, such as 'x', and is not among",
    ),
    "categorical_features mask of objects": (
        {"categorical_features": np.array([True, False, False], dtype=object)},
        "column 'c' holds text, such as 'x', and is not among",
    ),
    "class_weight huge": ({"class_weight": {0: 1e300}}, r"sample_weight times class_weight sums to .*e\+30"),
    "class_weight text": (
        {"class_weight": "fair"},
        "class_weight must be None, \"balanced\" or a dict of weights; got 'fair'",
    ),
    "class_weight list": ({"class_weight": [1, 2]}, r"class_weight must be None, .* got \[1, 2\]"),
    "class_weight unknown": (
        {"class_weight": {7: 1}},
        r"class_weight has a weight for 7, but the classes are \[0, 1\]",
    ),
    "class_weight negative": (
        {"class_weight": {0: -1}},
        r"class_weight\[0\] must be a finite number, not negative; got -1",
    ),
    "class_weight nan": (
        {"class_weight": {1: np.nan}},
        r"class_weight\[1\] must be a finite number, not negative; got nan",
    ),
    "class_weight text in dict": ({"class_weight": {1: "x"}}, r"class_weight\[1\] must be a finite number"),
    "class_weight zero": (
        {"class_weight": {0: 0, 1: 0}},
        "class_weight is zero for all classes: no row is left to learn from",
    ),
}
WEIGHTS = {
    "negative": (np.where(np.arange(40) == 4, -1, 1), r"finite and not negative; sample_weight\[4\] = -1.0. Use 0"),
    "nan": (np.where(np.arange(40) == 4, np.nan, 1), r"sample_weight\[4\] = nan"),
    "inf": (np.where(np.arange(40) == 4, np.inf, 1), r"sample_weight\[4\] = inf"),
    "zeros": (np.zeros(40), "all sample_weight are zero"),
    "too few": (np.ones(39), r"sample_weight has shape \(39,\); X has 40 rows"),
    "text": (["x"] * 40, "sample_weight must be numbers"),
}


def assert_refused(message, X, y=LABELS, sample_weight=None, **parameters):
    clf = ReticulumClassifier(**parameters)
    with pytest.raises((ValueError, TypeError), match=message):
        clf.fit(X, y, sample_weight=sample_weight)
    assert not [name for name in vars(clf) if name.endswith("_")]


@pytest.mark.parametrize(("X", "message"), BAD.values(), ids=BAD)
def test_bad_tables_are_refused_with_a_message_that_tells_the_way_out(X, message):
    assert_refused(message, X)


@pytest.mark.parametrize(("parameters", "message"), PARAMETERS.values(), ids=PARAMETERS)
def test_bad_choices_are_refused(parameters, message):
    assert_refused(message, with_column("x"), **parameters)


@pytest.mark.parametrize(("weights", "message"), WEIGHTS.values(), ids=WEIGHTS)
def test_bad_weights_of_frames_are_refused(weights, message):
    assert_refused(message, with_column("x"), sample_weight=weights)


@pytest.mark.parametrize(
    "y",
    [
        [None, "a"] * 20,
        np.array(["a", None] * 20, dtype=object),
        pd.Series(["a", None] * 20, dtype="string"),
        pd.Series(pd.Categorical(["a", None] * 20)),
        pl.Series(["a", None] * 20),
        [0.0, np.nan] * 20,
    ],
    ids=["list", "objects", "strings", "categories", "polars", "numbers"],
)
def test_classes_that_are_missing_are_refused(y):
    assert_refused(r"Input y contains NaN: y\[[01]\] is missing. Leave out rows", NUMBERS, y)


def test_weights_that_come_to_nothing_are_refused():
    with pytest.raises(ValueError, match="all sample_weight times class_weight are zero"):
        ReticulumClassifier(class_weight={0: 1e-200, 1: 1e-200}).fit(NUMBERS, LABELS, sample_weight=np.full(40, 1e-200))


def test_labels_that_are_no_text_are_matched():
    frame = pd.DataFrame(NUMBERS, columns=[10, 20])
    clf = fitted(frame, LABELS)
    assert clf.model_.schema.names == ("10", "20")
    np.testing.assert_array_equal(clf.predict_proba(frame[[20, 10]]), clf.predict_proba(frame))
    np.testing.assert_array_equal(clf.predict_proba(NUMBERS), clf.predict_proba(frame))
    with pytest.raises(ValueError, match="columns of X should be those of fit: 10 missing, 11 too many"):
        clf.predict(frame.rename(columns={10: 11}))


def test_levels_that_are_numbers_stay_levels_in_every_library():
    frame = pd.DataFrame({"level": pd.Categorical(np.arange(200) % 3)})
    y = np.arange(200) % 3 == 1
    arrow = pa.Table.from_pandas(frame)
    for table in (frame, arrow, arrow.to_pandas(types_mapper=pd.ArrowDtype)):
        assert set(fitted(table, y).model_.schema.column_names) == {"level=0", "level=1", "level=2"}
    plain = fitted(frame, y, categorical_features=None)
    assert plain.model_.schema.column_names == ("level",)


def test_bad_tables_make_a_long_list():
    assert len(BAD) + len(PARAMETERS) + len(WEIGHTS) >= 60


FRAME = pd.DataFrame({"a": NUMBERS[:, 0], "c": ["x", "y"] * 20})
LATER = {
    "a column less": (FRAME[["a"]], r"(?s)seen at fit time, yet now missing:\n- c"),
    "a column more": (FRAME.assign(d=1), r"(?s)unseen at fit time:\n- d"),
    "another name": (FRAME.rename(columns={"a": "b"}), r"(?s)unseen at fit time:\n- b\n.*now missing:\n- a"),
    "polars with a column less": (pl.from_pandas(FRAME[["c"]]), r"yet now missing:\n- a"),
    "text for numbers": (FRAME.assign(a="x"), "column 'a' holds text, such as 'x', but numbers in fit"),
    "numbers for text": (FRAME.assign(c=1.0), "column 'c' holds numbers, such as 1, but its levels were text in fit"),
    "inf": (FRAME.assign(a=np.inf), "column 'a' is inf in row 0"),
    "dates": (FRAME.assign(a=pd.Timestamp("2020-01-01")), "column 'a' holds dates or durations"),
    "an extra column of dates": (FRAME.assign(d=pd.Timestamp("2020-01-01")), r"(?s)unseen at fit time:\n- d"),
    "no rows": (FRAME[:0], r"0 sample\(s\)"),
    "mixed types": (FRAME.assign(c=["x", 1] * 20), "column 'c' mixes types"),
}


@pytest.mark.parametrize(("X", "message"), LATER.values(), ids=LATER)
def test_tables_that_differ_from_those_in_fit_are_refused(X, message):
    clf = fitted(FRAME, LABELS, max_splits=0)
    for method in (clf.predict_proba, clf.membership, clf.predict_uncertainty):
        with pytest.raises(ValueError, match=message):
            method(X)


def test_the_papers_method_takes_numbers_alone():
    for X in (FRAME, np.where(NUMBERS > 1, np.nan, NUMBERS)):
        with pytest.raises(ValueError, match=r"could not convert string to float|contains NaN"):
            PaperReticulumClassifier(max_attempts=1).fit(X, LABELS)


def test_what_is_no_table_of_objects_is_left_to_numpy():
    assert read_frame(NUMBERS) is None
    assert read_frame(NUMBERS.tolist()) is None
    assert read_frame(np.array(["x"])) is None
    table = read_frame(np.array([["x", 1.0], [None, 2.0]], dtype=object))
    assert table.columns[0].values == ["x"]
    np.testing.assert_array_equal(table.columns[0].places, [0, -1])
    assert isinstance(table.columns[1], Numbers)
