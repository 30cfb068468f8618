"""One column: what becomes numbers, what becomes levels, and what is refused."""

import datetime
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

from bayesian_reticulum.data.columns import (
    Levels,
    Numbers,
    as_levels,
    as_numbers,
    column_from_objects,
    is_gap,
    is_number,
    is_text,
)

GAPS = [None, float("nan"), np.nan, pd.NA, pd.NaT, Decimal("NaN"), Decimal("sNaN")]


@pytest.mark.parametrize("cell", GAPS, ids=repr)
def test_gaps_of_every_kind_are_known(cell):
    assert is_gap(cell)


@pytest.mark.parametrize("cell", ["", b"", 0, 0.0, False, np.array([np.nan]), Fraction(1, 3), [], {}], ids=repr)
def test_all_else_is_no_gap(cell):
    assert not is_gap(cell)


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        ([1, None, 2.5], [1, np.nan, 2.5]),
        ([Decimal("0.5"), Fraction(1, 4), np.float32(2)], [0.5, 0.25, 2]),
        ([None, pd.NA], [np.nan, np.nan]),
    ],
)
def test_objects_that_are_numbers_become_numbers(cells, expected):
    column = column_from_objects(cells, "c")
    assert isinstance(column, Numbers)
    np.testing.assert_array_equal(column.cells, expected)


@pytest.mark.parametrize(
    ("cells", "force_levels", "values", "places"),
    [
        (["x", None, "y", "x"], False, ["x", "y"], [0, -1, 1, 0]),
        ([True, False, None], False, [True, False], [0, 1, -1]),
        ([b"u", b"\xff"], False, ["u", "\ufffd"], [0, 1]),
        ([3, 1, 3], True, [3, 1], [0, 1, 0]),
        ([None, None], True, [], [-1, -1]),
    ],
)
def test_text_and_bools_become_levels_in_the_order_in_which_they_come(cells, force_levels, values, places):
    column = column_from_objects(cells, "c", force_levels)
    assert isinstance(column, Levels)
    assert column.values == values
    assert column.places.dtype == np.int64
    np.testing.assert_array_equal(column.places, places)


@pytest.mark.parametrize(
    ("cells", "force_levels", "message"),
    [
        (["x", None, 1], False, "c mixes types: 'x' in row 0, 1 in row 2. Convert it to numbers, or to text"),
        ([None, True, 2], False, "c mixes types: True in row 1, 2 in row 2"),
        ([1, 10**400], False, "c holds a whole number of 401 digits in row 1, which is too large for a float"),
        ([datetime.date(2020, 1, 1)], False, r"c holds dates or durations \(date\)"),
        ([np.timedelta64(1, "D")], False, r"c holds dates or durations \(timedelta64\)"),
        ([1j], False, "c holds complex numbers. Give their real and imaginary parts"),
        ([1.0, np.inf], True, "c has the level inf, and infinity is no level"),
    ],
)
def test_columns_of_anything_else_are_refused_by_their_label(cells, force_levels, message):
    with pytest.raises(ValueError, match=message):
        column_from_objects(cells, "c", force_levels)


def test_cells_that_are_neither_numbers_nor_text_are_shown():
    with pytest.raises(TypeError, match=r"c holds \{\} of type dict \(value 1\); a cell must be a number, text"):
        column_from_objects(["x", {}], "c")


def test_numbers_as_levels_are_whole_where_they_can_be():
    levels = as_levels(Numbers(np.array([2.0, np.nan, 0.5, 2.0])))
    assert levels.values == [0.5, 2]
    assert isinstance(levels.values[1], int)
    np.testing.assert_array_equal(levels.places, [1, -1, 0, 1])
    assert as_levels(levels) is levels
    with pytest.raises(ValueError, match="infinity is no level of a category"):
        as_levels(Numbers(np.array([1.0, np.inf])))


def test_levels_as_numbers_are_those_of_bools_and_text_is_refused():
    cells = np.array([1.0, np.nan])
    assert as_numbers(Numbers(cells), "c") is cells
    np.testing.assert_array_equal(as_numbers(Levels([False, True], np.array([1, -1, 0])), "c"), [1, np.nan, 0])
    with pytest.raises(ValueError, match=r"c holds text, such as 'x', but numbers in fit. Convert it to numbers"):
        as_numbers(Levels(["x"], np.array([0])), "c")


def test_text_is_told_from_numbers():
    assert is_text(Levels(["x"], np.array([0])))
    assert not is_text(Levels([True], np.array([0])))
    assert not is_text(Numbers(np.zeros(1)))
    assert [is_number(text) for text in ("1.5", "-2e3", "x", None, "")] == [True, True, False, False, False]
