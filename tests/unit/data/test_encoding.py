"""The encoder: tables of any library become the same cells in fit and in predict, with one copy at most."""

import copy
import pickle
import tracemalloc
from dataclasses import replace

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse

from bayesian_reticulum import ReticulumClassifier
from bayesian_reticulum.data.categories import Category
from bayesian_reticulum.data.encoding import (
    Encoder,
    columns_of_numbers,
    default_names,
    read_columns,
    read_training_columns,
)
from bayesian_reticulum.data.frames import read_frame
from example_tables import LIBRARIES
from plugins import mixed_frame

ENCODER = Encoder(("age", "city"), (None, Category(("Oslo", "Rome"))))
TABLE = pd.DataFrame({"city": ["Rome", "Oslo", "Paris", None], "age": [30.0, np.nan, 50.0, 60.0]})
CELLS = np.array([[30, 1], [np.nan, 0], [50, np.nan], [60, np.nan]])


def numbers_frames(n, d):
    X = np.random.default_rng(0).normal(size=(n, d))
    frame = pd.DataFrame(X, columns=[f"c{j}" for j in range(d)])
    return {
        "pandas": frame,
        "whole numbers": (100 * frame).astype(int),
        "single precision": frame.astype(np.float32),
        "nullable": frame.astype("Float64"),
        "polars": pl.from_pandas(frame),
        "arrow": pa.Table.from_pandas(frame),
    }


FRAMES = numbers_frames(5000, 20)


def peak_of(call):
    tracemalloc.start()
    try:
        result = call()
        return tracemalloc.get_traced_memory()[1], result
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("frame", FRAMES.values(), ids=FRAMES)
def test_a_frame_of_numbers_is_copied_once_and_column_by_column(frame):
    encoder = Encoder(tuple(f"c{j}" for j in range(20)), (None,) * 20)
    table, column = 5000 * 20 * 8, 5000 * 8
    encoder.encode(frame)

    def fitted():
        columns = read_training_columns(read_frame(frame), frame, "from_dtype")
        learned = Encoder.learn(columns, encoder.names, np.ones(5000), np.zeros(5000))
        return learned.fill(columns)

    for call in (fitted, lambda: encoder.encode(frame)):
        peak, cells = peak_of(call)
        assert cells.shape == (5000, 20)
        assert cells.dtype == np.float64
        # A column may be converted twice: to doubles and, with its gaps, to NumPy.
        assert peak < table + 3 * column


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_an_array_of_floats_without_categories_is_not_copied(dtype):
    X = np.random.default_rng(0).normal(size=(30, 2)).astype(dtype)
    assert read_training_columns(None, X, "from_dtype").cells is X
    assert read_training_columns(None, X, None).cells is X
    assert columns_of_numbers(X).cells is X
    assert Encoder(("a", "b"), (None, None)).encode(X) is X


def test_levels_stay_whole_numbers_until_codes_are_filled_in():
    frame = read_frame(TABLE)
    columns = read_columns(frame, lambda place, _: place == 0)
    assert columns.levels[1] is None
    assert columns.levels[0].places.dtype == np.int64
    assert np.isnan(columns.cells[:, 0]).all()
    part = columns.take(np.array([0, 2]))
    np.testing.assert_array_equal(part.levels[0].places, columns.levels[0].places[[0, 2]])
    np.testing.assert_array_equal(part.cells[:, 1], [30, 50])


def test_columns_are_matched_by_name_and_unseen_levels_are_gaps():
    for table in (TABLE, TABLE[["age", "city"]], pl.from_pandas(TABLE), pa.Table.from_pandas(TABLE)):
        np.testing.assert_array_equal(ENCODER.encode(table), CELLS)
    objects = np.array(TABLE[["age", "city"]].astype(object))
    np.testing.assert_array_equal(ENCODER.encode(objects), CELLS)
    np.testing.assert_array_equal(ENCODER.encode(objects.tolist()), CELLS)


def test_columns_without_names_in_fit_or_now_are_taken_as_they_come():
    nameless = Encoder(default_names(2), (None, None))
    X = np.array([[1.0, 2.0]])
    for table in (X, X.tolist(), pd.DataFrame(X, columns=["p", "q"]), pd.DataFrame(X)):
        np.testing.assert_array_equal(nameless.encode(table), X)
    named = Encoder(("p", "q"), (None, None))
    for table in (X, X.astype(int), pd.DataFrame(X)):
        np.testing.assert_array_equal(named.encode(table), X)


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (TABLE[["age"]], "columns of X should be those of fit: city missing, none too many"),
        (TABLE.assign(more=1), "columns of X should be those of fit: none missing, more too many"),
        (TABLE.rename(columns={"age": "years"}), "age missing, years too many"),
        (np.zeros((2, 3)), "X has 3 features, but the model is expecting 2"),
        (np.zeros(2), "Expected 2D array, got 1D array"),
        (np.zeros((2, 2)) + 1j, "Complex data not supported"),
        (TABLE[:0], r"Found 0 sample\(s\)"),
        (np.zeros((0, 2)), r"Found 0 sample\(s\)"),
        (TABLE.assign(age=[1.0, -np.inf, np.inf, 2.0]), "contains infinity: column 'age' is -inf in row 1. Give the"),
        (np.array([[0.0, 1.0], [np.inf, 1.0]]), "contains infinity: column 0 is inf in row 1"),
        (TABLE.assign(age="x"), "column 'age' holds text, such as 'x', but numbers in fit"),
        (TABLE.assign(city=1.0), "column 'city' holds numbers, such as 1, but its levels were text in fit"),
        (TABLE.assign(age=pd.Timestamp("2020-01-01")), "column 'age' holds dates or durations"),
    ],
    ids=[
        *("a column less", "a column more", "another name", "too many", "1-d", "complex", "no rows", "an empty array"),
        *("infinity", "infinity in an array", "text", "numbers", "dates"),
    ],
)
def test_tables_that_are_not_like_those_of_fit_are_refused(X, message):
    with pytest.raises(ValueError, match=message):
        ENCODER.encode(X)


def test_the_first_infinity_by_rows_is_named_and_large_sums_are_none():
    X = np.zeros((3, 3))
    X[2, 0], X[1, 2] = np.inf, -np.inf
    with pytest.raises(ValueError, match="column 2 is -inf in row 1"):
        Encoder(default_names(3), (None,) * 3).encode(X)
    large = np.full((4, 1), 1e308)
    assert Encoder(("a",), (None,)).encode(large) is large


@pytest.mark.parametrize("make", LIBRARIES.values(), ids=LIBRARIES)
def test_a_model_encodes_a_table_as_its_fit_did(make):
    frame, y = mixed_frame()
    clf = ReticulumClassifier(random_state=0, max_attempts=0).fit(make(frame), y)
    model = clf.model_
    cells = model.encode(frame)
    assert cells.dtype == np.float64
    np.testing.assert_array_equal(cells[:, 0], frame["age"])
    city, smokes = model.schema.categories[2:]
    names = np.array(city.labels, dtype=object)
    is_known = ~frame["city"].isna().to_numpy()
    np.testing.assert_array_equal(names[cells[is_known, 2].astype(int)], frame["city"][is_known])
    assert np.isnan(cells[~is_known, 2]).all()
    np.testing.assert_array_equal(np.array(smokes.levels)[cells[:, 3].astype(int)], frame["smokes"])
    for other in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model), replace(model, log_evidence=0.0)):
        np.testing.assert_array_equal(other.encode(make(frame)), cells)
    assert model.schema.encoder == pickle.loads(pickle.dumps(model.schema.encoder))


def test_a_sparse_matrix_is_refused_with_the_way_out():
    encoder = Encoder(("a", "b"), (None, None))
    with pytest.raises(TypeError, match=r"X is a sparse matrix; models take dense tables\. Call toarray\(\) on it\."):
        encoder.encode(sparse.csr_array(np.ones((2, 2))))
