"""What must not matter of a data frame: its library, the names of columns and levels, and how a level is encoded."""

import pickle

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bayesian_reticulum import ReticulumClassifier
from example_tables import LIBRARIES, in_polars, listed
from plugins import mixed_frame

few = settings(max_examples=8, deadline=None)


def fit(X, y, sample_weight=None, **parameters):
    return ReticulumClassifier(**({"random_state": 0, "patience": 2} | parameters)).fit(X, y, sample_weight)


@pytest.mark.parametrize("make", LIBRARIES.values(), ids=LIBRARIES)
def test_the_library_of_a_frame_does_not_matter(make):
    frame, y = mixed_frame()
    reference = fit(frame, y)
    other = fit(make(frame), y)
    expected = reference.predict_proba(frame)
    assert reference.n_splits_ >= 1
    np.testing.assert_array_equal(other.predict_proba(make(frame)), expected)
    np.testing.assert_array_equal(reference.predict_proba(make(frame)), expected)
    np.testing.assert_array_equal(other.feature_names_in_, frame.columns)


@pytest.mark.parametrize("make", [listed, lambda frame: np.array(listed(frame), dtype=object)], ids=["list", "objects"])
def test_tables_without_names_are_read_like_frames(make):
    frame, y = mixed_frame()
    clf = fit(make(frame), y)
    np.testing.assert_array_equal(clf.predict_proba(make(frame)), fit(frame, y).predict_proba(frame))
    assert clf.model_.schema.names == ("x0", "x1", "x2", "x3")


@few
@given(seed=st.integers(0, 1000), order=st.permutations(["Oslo", "Rome", "Wien", "Bern"]))
def test_what_levels_are_called_does_not_matter(seed, order):
    frame, y = mixed_frame(seed=seed)
    names = dict(zip(["Oslo", "Rome", "Wien", "Bern"], order, strict=True))
    renamed = frame.assign(city=frame["city"].map(names))
    one, other = fit(frame, y), fit(renamed, y)
    np.testing.assert_array_equal(one.predict_proba(frame), other.predict_proba(renamed))


@few
@given(seed=st.integers(0, 1000), order=st.permutations(range(4)))
def test_what_columns_are_called_and_where_they_stand_in_predict_does_not_matter(seed, order):
    frame, y = mixed_frame(seed=seed)
    clf = fit(frame, y)
    expected = clf.predict_proba(frame)
    other = fit(frame.set_axis(["d", "c", "b", "a"], axis=1), y)
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
    expected = fit(frame, y).predict_proba(frame)
    np.testing.assert_allclose(fit(encoded, y, **parameters).predict_proba(encoded), expected, atol=1e-7)


@few
@given(seed=st.integers(0, 1000))
def test_what_levels_of_the_same_size_are_called_does_not_matter(seed):
    rng = np.random.default_rng(seed)
    level, y, x = np.repeat(np.arange(4), 60), np.tile([0, 1], 120), rng.normal(size=240)
    x += np.where((y == 1) ^ (level % 2 == 1), 1.0, -1.0)
    names = np.array(["a", "b", "c", "d"])
    one, other = (pd.DataFrame({"x": x, "level": own[level]}) for own in (names, rng.permutation(names)))
    np.testing.assert_array_equal(fit(one, y).predict_proba(one), fit(other, y).predict_proba(other))


@pytest.mark.parametrize("share", [0.3, 0.5, 0.7])
def test_two_levels_are_the_same_as_two_numbers_whichever_is_the_rarer(share):
    rng = np.random.default_rng(5)
    b, X = np.arange(300) < 300 * share, rng.normal(size=(300, 2))
    y = (X[:, 0] * np.where(b, 1, -1) + 0.5 * X[:, 1] + 0.5 * rng.normal(size=300) > 0).astype(int)
    gap = rng.uniform(size=300) < 0.1
    bools, numbers = pd.array(np.where(gap, None, b), dtype="boolean"), np.where(gap, np.nan, b)
    frames = [pd.DataFrame(X, columns=["u", "v"]).assign(b=column) for column in (bools, numbers, 3 * numbers - 1)]
    expected, *others = (fit(frame, y).predict_proba(frame) for frame in frames)
    for other in others:
        np.testing.assert_allclose(other, expected, atol=1e-9)


def test_levels_are_shown_by_name():
    frame, y = mixed_frame()
    clf = fit(frame, y)
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
    clf = fit(frame, y)
    unseen, gap = frame.assign(city="Paris"), frame.assign(city=None)
    np.testing.assert_array_equal(clf.predict_proba(unseen), clf.predict_proba(gap))


@few
@given(seed=st.integers(0, 1000), rare=st.integers(1, 5))
def test_integer_weights_equal_repeats_with_gaps_and_levels(seed, rare):
    frame, y = mixed_frame(seed=seed)
    frame.loc[: rare - 1, "city"] = "Lund"
    weights = np.random.default_rng(seed).integers(0, 4, size=len(y))
    rows = np.repeat(np.arange(len(y)), weights)
    one = fit(frame, y).set_params(max_splits=2).fit(frame, y, sample_weight=weights)
    other = fit(frame, y).set_params(max_splits=2).fit(frame.iloc[rows], y[rows])
    assert one.model_.schema.column_names == other.model_.schema.column_names
    np.testing.assert_allclose(one.predict_proba(frame), other.predict_proba(frame), atol=1e-6)


def test_labels_that_are_no_text_are_matched():
    X = np.random.default_rng(0).normal(size=(40, 2))
    frame = pd.DataFrame(X, columns=[10, 20])
    clf = fit(frame, X[:, 0] > 0)
    assert clf.model_.schema.names == ("10", "20")
    np.testing.assert_array_equal(clf.predict_proba(frame[[20, 10]]), clf.predict_proba(frame))
    np.testing.assert_array_equal(clf.predict_proba(X), clf.predict_proba(frame))
    with pytest.raises(ValueError, match="columns of X should be those of fit: 10 missing, 11 too many"):
        clf.predict(frame.rename(columns={10: 11}))


def test_levels_that_are_numbers_stay_levels_in_every_library():
    frame = pd.DataFrame({"level": pd.Categorical(np.arange(200) % 3)})
    y = np.arange(200) % 3 == 1
    arrow = pa.Table.from_pandas(frame)
    for table in (frame, arrow, arrow.to_pandas(types_mapper=pd.ArrowDtype)):
        assert set(fit(table, y).model_.schema.column_names) == {"level=0", "level=1", "level=2"}
    plain = fit(frame, y, categorical_features=None)
    assert plain.model_.schema.column_names == ("level",)
