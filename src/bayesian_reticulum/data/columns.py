"""One column of a table: numbers with NaN for gaps, or levels, and what of Python's objects is which."""

from __future__ import annotations

import datetime
import sys
from collections.abc import Sequence
from decimal import Decimal
from numbers import Real
from typing import Any, NamedTuple, TypeGuard

import numpy as np

from ..arrays import Floats, Integers


class Numbers(NamedTuple):
    """A column of numbers (n,); NaN where a cell is missing."""

    cells: Floats


class Levels(NamedTuple):
    """A column of levels: its different values, and the place among them of each row's (n,), -1 where it is missing."""

    values: list[Any]
    places: Integers


Column = Numbers | Levels
# Types that Python or NumPy count as whole numbers.
_NO_NUMBERS = (bool, np.bool_, np.timedelta64)


def as_levels(column: Column) -> Levels:
    """Different values of a column and their places; those of numbers in order, whole numbers as such."""
    if isinstance(column, Levels):
        return column
    if np.isinf(column.cells).any():
        raise ValueError("infinity is no level of a category. Give it a name, or NaN.")
    values, places = np.unique(column.cells, return_inverse=True)
    is_nan = np.isnan(values)
    levels = [int(value) if value.is_integer() else value for value in values[~is_nan].tolist()]
    return Levels(levels, np.where(is_nan[places], -1, places))


def as_numbers(column: Column, label: str) -> Floats:
    """Cells of a column that are numbers; of bools, 0 and 1. A column of text is refused."""
    if isinstance(column, Numbers):
        return column.cells
    if not is_text(column):
        return np.array([*map(float, column.values), np.nan])[column.places]
    raise ValueError(f"{label} holds text, such as {column.values[0]!r}, but numbers in fit. Convert it to numbers.")


def is_text(column: Column) -> TypeGuard[Levels]:
    return isinstance(column, Levels) and any(isinstance(value, str) for value in column.values)


def is_number(text: Any) -> bool:
    """Whether a text can be read as a number."""
    try:
        float(text)
    except (TypeError, ValueError):
        return False
    return True


def column_from_objects(cells: list[Any], label: str, force_levels: bool = False) -> Column:
    """Read a column from Python objects: numbers become numbers, unless levels are asked for; text and bools, levels.

    All else, and a mixture of these, is refused with an error that calls the column by its label.
    """
    present = [cell for cell in cells if not is_gap(cell)]
    kinds = {type(cell) for cell in present}
    are_numbers = all(issubclass(kind, Real | Decimal) and not issubclass(kind, _NO_NUMBERS) for kind in kinds)
    if are_numbers and not force_levels:
        try:
            return Numbers(np.array([np.nan if is_gap(cell) else float(cell) for cell in cells], dtype=np.float64))
        except OverflowError as error:
            large = next(cell for cell in present if isinstance(cell, int) and abs(cell) > sys.float_info.max)
            raise ValueError(
                f"{label} holds a whole number of {len(str(abs(large)))} digits in row {cells.index(large)}, which is "
                "too large for a float. Scale the column, or give its logarithm."
            ) from error
    is_one_kind = (all(issubclass(kind, one) for kind in kinds) for one in (str, bytes, bool | np.bool_))
    if not are_numbers and not any(is_one_kind):
        _refuse_odd_cells(present, label)
        raise _mixture_error(cells, label)
    index: dict[Any, int] = {}
    places = [-1 if is_gap(cell) else index.setdefault(cell, len(index)) for cell in cells]
    values = [value.decode(errors="replace") if isinstance(value, bytes) else value for value in index]
    infinite = next((value for value in values if isinstance(value, float) and np.isinf(value)), None)
    if infinite is not None:
        raise ValueError(f"{label} has the level {infinite}, and infinity is no level. Give it a name, or NaN.")
    return Levels(values, np.array(places, dtype=np.int64))


def _refuse_odd_cells(cells: Sequence[Any], label: str) -> None:
    """Refuse cells that are neither numbers nor text."""
    for place, cell in enumerate(cells):
        if isinstance(cell, datetime.date | datetime.time | datetime.timedelta | np.datetime64 | np.timedelta64):
            raise date_error(label, type(cell).__name__)
        if isinstance(cell, complex) and not isinstance(cell, Real):
            raise complex_error(label)
        if not isinstance(cell, str | bytes | Real | Decimal | bool | np.bool_):
            raise TypeError(
                f"{label} holds {cell!r} of type {type(cell).__name__} (value {place}); a cell must be a number, text, "
                "a bool or missing. Make numbers or levels of it."
            )


def _mixture_error(cells: Sequence[Any], label: str) -> ValueError:
    first, *others = (place for place, cell in enumerate(cells) if not is_gap(cell))
    other = next(place for place in others if type(cells[place]) is not type(cells[first]))
    return ValueError(
        f"{label} mixes types: {cells[first]!r} in row {first}, {cells[other]!r} in row {other}. Convert it to "
        "numbers, or to text for a category."
    )


def is_gap(cell: Any) -> bool:
    """Whether a cell is None, NaN, NaT or pandas.NA."""
    if cell is None:
        return True
    if isinstance(cell, str | bytes | bool | np.ndarray):
        return False
    if isinstance(cell, float):
        return cell != cell
    try:
        return bool(cell != cell)
    except ArithmeticError:
        # A signalling NaN.
        return True
    except (TypeError, ValueError):
        # An object that cannot say whether it equals itself is pandas.NA, or no cell at all.
        return type(cell).__name__ == "NAType"


def date_error(label: str, kind: str) -> ValueError:
    return ValueError(
        f"{label} holds dates or durations ({kind}). Make numbers of them that can matter, such as days since a start, "
        "the month or the weekday."
    )


def complex_error(label: str) -> ValueError:
    return ValueError(f"{label} holds complex numbers. Give their real and imaginary parts, or sizes and angles.")
