"""What is refused, in fit and in predict, with a message that tells the way out."""

import datetime

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse

from bayesian_reticulum import PaperReticulumClassifier, ReticulumClassifier

NUMBERS = np.random.default_rng(0).normal(size=(40, 2))


LABELS = (NUMBERS[:, 0] > 0).astype(int)


def with_column(column, name="c"):
    return pd.DataFrame(NUMBERS, columns=["a", "b"]).assign(**{name: column})


DATE = datetime.date(2020, 1, 1)


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
    clf = ReticulumClassifier(random_state=0, max_splits=0).fit(FRAME, LABELS)
    for method in (clf.predict_proba, clf.membership, clf.predict_uncertainty):
        with pytest.raises(ValueError, match=message):
            method(X)


def test_the_papers_method_takes_numbers_alone():
    for X in (FRAME, np.where(NUMBERS > 1, np.nan, NUMBERS)):
        with pytest.raises(ValueError, match=r"could not convert string to float|contains NaN"):
            PaperReticulumClassifier(max_attempts=1).fit(X, LABELS)
