"""Data frames of every library are read column by column into the same columns."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from bayesian_reticulum.data.columns import Levels, Numbers
from bayesian_reticulum.data.frames import (
    chosen_columns,
    column_names,
    column_types,
    frame_of_numbers,
    is_frame,
    read_frame,
    without_rows,
)

FRAME = pd.DataFrame(
    {
        "number": [1.5, None, 3.0],
        "whole": np.array([1, 2, 3], dtype=np.int32),
        "text": ["u", None, "v"],
        "level": pd.Categorical(["a", "b", None], categories=["b", "a"]),
        "bool": [True, False, True],
        "nullable": pd.array([1, None, 3], dtype="Int64"),
    }
).astype({"text": object})
LIBRARIES = {
    "pandas": lambda: FRAME,
    "pandas with arrow": lambda: pa.Table.from_pandas(FRAME).to_pandas(types_mapper=pd.ArrowDtype),
    "polars": lambda: pl.from_pandas(FRAME),
    "arrow": lambda: pa.Table.from_pandas(FRAME),
}
every_library = pytest.mark.parametrize("make", LIBRARIES.values(), ids=LIBRARIES)


def cells_of(column):
    """Each cell as Python has it; None where it is missing."""
    if isinstance(column, Numbers):
        return [None if np.isnan(cell) else cell for cell in column.cells.tolist()]
    return [None if place < 0 else column.values[place] for place in column.places.tolist()]


@every_library
def test_every_column_of_every_library_is_read(make):
    frame = read_frame(make())
    assert frame.names == list(FRAME.columns)
    assert (frame.n_rows, frame.n_columns) == FRAME.shape
    columns = [frame.read(place) for place in range(6)]
    assert [type(column) for column in columns] == [Numbers, Numbers, Levels, Levels, Levels, Numbers]
    assert [cells_of(column) for column in columns] == [
        [1.5, None, 3.0],
        [1.0, 2.0, 3.0],
        ["u", None, "v"],
        ["a", "b", None],
        [True, False, True],
        [1.0, None, 3.0],
    ]
    assert frame.label(2) == "column 'text'"
    assert read_frame(frame) is frame


@every_library
def test_columns_can_be_taken_in_another_order(make):
    frame = read_frame(make()).select([4, 0])
    assert frame.names == ["bool", "number"]
    assert frame.n_columns == 2
    assert cells_of(frame.read(1)) == [1.5, None, 3.0]


@every_library
def test_a_frame_without_rows_has_the_names(make):
    X = make()
    header = without_rows(X, [4, 0])
    assert type(header) is type(X)
    assert column_names(header) == ["bool", "number"]
    assert len(header) == 0
    assert is_frame(X)


def test_a_batch_of_arrow_is_read_as_a_table():
    batch = pa.RecordBatch.from_pandas(FRAME)
    assert not is_frame(batch)
    assert cells_of(read_frame(batch).read(1)) == [1.0, 2.0, 3.0]


def test_arrays_of_numbers_are_left_to_numpy_and_those_of_objects_are_read():
    numbers = np.random.default_rng(0).normal(size=(40, 2))
    assert read_frame(numbers) is None
    assert read_frame(numbers.tolist()) is None
    assert read_frame(np.array(["x"])) is None
    assert read_frame([["x", 1.0], ["y"]]) is None
    for X in (np.array([["x", 1.0], [None, 2.0]], dtype=object), [["x", 1.0], [None, 2.0]]):
        frame = read_frame(X)
        assert frame.names is None
        assert frame.label(1) == "column 1"
        levels = frame.read(0)
        assert levels.values == ["x"]
        np.testing.assert_array_equal(levels.places, [0, -1])
        assert isinstance(frame.read(1), Numbers)
    assert read_frame(np.array([["x", "1"]])).is_text
    masked = np.ma.masked_greater(numbers, 1.0)
    np.testing.assert_array_equal(np.isnan(read_frame(masked).read(0).cells), masked.mask[:, 0])


def test_an_array_of_numbers_is_read_as_doubles():
    X = np.arange(6, dtype=np.float32).reshape(3, 2)
    frame = frame_of_numbers(X)
    assert (frame.n_rows, frame.n_columns) == (3, 2)
    assert frame.read(1).cells.dtype == np.float64
    np.testing.assert_array_equal(frame.read(1).cells, [1, 3, 5])


@pytest.mark.parametrize(
    ("X", "error", "message"),
    [
        (pl.LazyFrame({"a": [1.0]}), TypeError, r"LazyFrame of polars, which has no rows yet. Call collect\(\)"),
        (np.zeros(2, dtype=[("a", float)]), TypeError, r"array of records \(a\). Make a data frame of it"),
        (np.zeros((2, 1), dtype="M8[D]"), ValueError, "X holds dates or durations"),
        (pd.DataFrame([[1, 2]], columns=["a", "a"]), ValueError, "names must differ, but 'a' occurs more than once"),
    ],
    ids=["lazy", "records", "dates", "names twice"],
)
def test_tables_that_cannot_be_read_are_refused(X, error, message):
    with pytest.raises(error, match=message):
        read_frame(X)


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (pd.DataFrame({"a": pd.to_datetime(["2020-01-01"])}), r"column 'a' holds dates or durations \(datetime64"),
        (pd.DataFrame({"a": [1j]}), "column 'a' holds complex numbers"),
        (pl.DataFrame({"a": pl.Series([0]).cast(pl.Date)}), r"column 'a' holds dates or durations \(Date\)"),
        (pa.table({"a": pa.array([0], type=pa.date32())}), "column 'a' holds dates or durations"),
    ],
    ids=["pandas", "complex", "polars", "arrow"],
)
def test_columns_that_cannot_be_read_are_refused_when_they_are_read(X, message):
    frame = read_frame(X)
    with pytest.raises(ValueError, match=message):
        frame.read(0)


@every_library
def test_types_of_columns_come_in_the_order_of_names(make):
    assert column_types(make(), ["whole", "number", "text", "level", "bool", "nullable"])[:2] == ["whole", "double"]
    assert column_types(np.zeros((1, 2), dtype=np.float32), ["a", "b"]) == ["single", "single"]
    assert column_types([[1, 2]], ["a", "b"]) == ["double", "double"]


@pytest.mark.parametrize(
    ("choice", "expected"),
    [
        (None, [False, False, False]),
        ([], [False, False, False]),
        (["c", "a"], [True, False, True]),
        ([0, -1], [True, False, True]),
        ([False, True, False], [False, True, False]),
        (np.array([True, False, True], dtype=object), [True, False, True]),
    ],
)
def test_columns_are_chosen_by_mask_by_name_or_by_place(choice, expected):
    assert chosen_columns("some", choice, 3, ["a", "b", "c"]) == expected


@pytest.mark.parametrize(
    ("choice", "names", "message"),
    [
        ("all", None, "some = 'all' is not understood. Give None, a mask, or names or places of columns"),
        (3, None, "some must be a list; got 3"),
        ([[1], [1, 2]], None, "is not a list|must be a list"),
        ([True], None, "some is a mask of 1 columns, but X has 3"),
        (["z"], ["a", "b", "c"], "some names 'z', but the columns are 'a', 'b', 'c'"),
        (["z"], None, "some names 'z', but X has no column names"),
        ([7], None, "some holds 7, but X has 3 columns"),
        ([1.5], None, "some holds 1.5, but X has 3 columns"),
    ],
)
def test_choices_of_columns_that_make_no_sense_are_refused(choice, names, message):
    with pytest.raises(ValueError, match=message):
        chosen_columns("some", choice, 3, names)
