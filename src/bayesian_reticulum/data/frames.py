"""Tables of any library, read column by column into plain arrays.

A column is numbers or levels: `Numbers` with NaN for gaps, or `Levels`, its different values and which of them each row
holds. Nothing else of the package knows of data frames.
"""

from __future__ import annotations

import datetime
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from decimal import Decimal
from numbers import Real
from typing import Any, NamedTuple, TypeGuard

import numpy as np
from numpy.typing import NDArray

from ..arrays import Floats


class Numbers(NamedTuple):
    """A column of numbers; NaN where a cell is missing."""

    cells: Floats

    @property
    def levels(self) -> Levels:
        """The same as levels: whole numbers as such."""
        if np.isinf(self.cells).any():
            raise ValueError("infinity is no level of a category. Give it a name, or NaN.")
        values, places = np.unique(self.cells, return_inverse=True)
        is_gap = np.isnan(values)
        kept = [int(value) if value.is_integer() else value for value in values[~is_gap].tolist()]
        return Levels(kept, np.where(is_gap[places], -1, places))


class Levels(NamedTuple):
    """A column of levels: its different values, and the place among them of each row's, -1 where it is missing."""

    values: list[Any]
    places: NDArray[np.int64]


Column = Numbers | Levels


class Frame(NamedTuple):
    """Columns that were read, and what they are called; names are None if the table has none."""

    names: list[Any] | None
    columns: list[Column]
    n_rows: int
    is_text: bool = False

    def place(self, column: int) -> str:
        """What a column is called in messages."""
        return f"column {column if self.names is None else repr(self.names[column])}"


def is_frame(X: Any) -> bool:
    """Whether this is a data frame of a library that `read` knows."""
    return _library(X) is not None


def column_names(X: Any) -> list[Any]:
    """Names of the columns of a data frame."""
    return list(X.column_names if _library(X) == "pyarrow" else X.columns)


def reorder_columns(X: Any, places: Sequence[int]) -> Any:
    """A data frame with its columns in another order."""
    if _library(X) == "pandas":
        return X.iloc[:, list(places)]
    return X.select([column_names(X)[place] for place in places])


def read_frame(X: Any) -> Frame | None:
    """Columns of a data frame or of an array of objects or text; None for all else, which is up to NumPy."""
    if isinstance(X, getattr(sys.modules.get("polars"), "LazyFrame", ())):
        raise TypeError("X is a LazyFrame of polars, which has no rows yet. Call collect() on it.")
    if isinstance(X, getattr(sys.modules.get("pyarrow"), "RecordBatch", ())):
        X = sys.modules["pyarrow"].Table.from_batches([X])
    library = _library(X)
    if library is not None:
        names = column_names(X)
        repeated = [name for name, times in Counter(names).items() if times > 1]
        if repeated:
            raise ValueError(
                f"column names must differ, but {repeated[0]!r} occurs more than once. Rename one of them."
            )
        named = zip(names, _columns(X, library), strict=True)
        return Frame(names, [_READERS[library](column, f"column {name!r}") for name, column in named], len(X))
    if hasattr(X, "__array_namespace__") and not isinstance(X, np.ndarray):
        return None
    if isinstance(X, list | tuple) and _holds_objects(X):
        # NumPy would turn the numbers of a list into text, too.
        try:
            X = np.array(X, dtype=object)
        except ValueError:
            return None
    if not isinstance(X, np.ndarray) or (X.ndim != 2 and X.dtype.names is None):
        return None
    if X.dtype.names is not None:
        raise TypeError(f"X is an array of records ({', '.join(X.dtype.names)}). Make a data frame of it.")
    if X.dtype.kind in "mM":
        raise _date_error("X", str(X.dtype))
    if isinstance(X, np.ma.MaskedArray):
        cells = np.array(X.data, dtype=object)
        cells[np.ma.getmaskarray(X)] = None
        return read_frame(cells)
    if X.dtype.kind not in "OUST":
        return None
    columns = [_from_objects(X[:, j].tolist(), f"column {j}") for j in range(X.shape[1])]
    return Frame(None, columns, len(X), is_text=X.dtype.kind != "O")


def frame_of_numbers(X: Any) -> Frame:
    """The columns of an array of numbers (n, d)."""
    return Frame(None, [Numbers(np.asarray(cells, dtype=np.float64)) for cells in X.T], len(X))


def is_from_dtype(choice: Any) -> bool:
    """Whether the types of columns decide which are categories."""
    return isinstance(choice, str) and choice == "from_dtype"


def column_types(X: Any, names: Sequence[str]) -> list[str]:
    """Whether columns of a table hold "whole" numbers, numbers of "single" precision, or others, by their type.

    They are told in the order of `names`, if the table has these. A list does not say what it holds.
    """
    if not is_frame(X):
        types = [str(getattr(X, "dtype", "float64"))] * len(names)
    else:
        own = [str(name) for name in column_names(X)]
        types = [str(dtype) for dtype in (X.schema.types if _library(X) == "pyarrow" else X.dtypes)]
        if set(own) == set(names):
            types = [types[own.index(name)] for name in names]
    return [_number_kind(own.lower()) for own in types]


def _number_kind(dtype: str) -> str:
    if dtype.startswith(("int", "uint", "bool")):
        return "whole"
    return "single" if dtype.startswith(("float32", "float16", "halffloat")) or dtype == "float" else "double"


def chosen_columns(
    parameter: str, choice: Any, n_columns: int, names: Sequence[Any] | None, otherwise: str = ""
) -> list[bool]:
    """Which columns a parameter chooses by a mask, by names or by places, or none; `otherwise` it may be."""
    way_out = f"Give {otherwise}None, a mask, or names or places of columns."
    if choice is None:
        return [False] * n_columns
    if isinstance(choice, str):
        raise ValueError(f"{parameter} = {choice!r} is not understood. {way_out}")
    try:
        chosen = np.asarray(choice)
    except ValueError as error:
        raise ValueError(f"{parameter} = {choice!r} is not a list. {way_out}") from error
    if chosen.size == 0:
        chosen = chosen.astype(np.int64)
    elif chosen.dtype == object and _are_bools(chosen.tolist()):
        chosen = chosen.astype(bool)
    if chosen.ndim != 1:
        raise ValueError(f"{parameter} must be a list; got {choice!r}. {way_out}")
    if chosen.dtype.kind == "b":
        if len(chosen) != n_columns:
            raise ValueError(f"{parameter} is a mask of {len(chosen)} columns, but X has {n_columns}.")
        chosen = np.flatnonzero(chosen)
    out = [False] * n_columns
    for item in chosen.tolist():
        if isinstance(item, str):
            if names is None or item not in names:
                known = "X has no column names" if names is None else f"the columns are {', '.join(map(repr, names))}"
                raise ValueError(f"{parameter} names {item!r}, but {known}.")
            out[names.index(item)] = True
        elif isinstance(item, int) and -n_columns <= item < n_columns:
            out[item] = True
        else:
            raise ValueError(f"{parameter} holds {item!r}, but X has {n_columns} columns. {way_out}")
    return out


def chosen_categories(choice: Any, table: Frame) -> list[bool]:
    """Which columns of a table are categories: those of levels, or those that are chosen by a mask, names or places."""
    columns, names = table.columns, table.names
    if choice is None or is_from_dtype(choice):
        for place, column in enumerate(columns):
            if choice is None and _is_text(column):
                raise ValueError(
                    f"{table.place(place)} holds text, such as {column.values[0]!r}, and categorical_features is None. "
                    'Convert it to numbers, or set categorical_features="from_dtype".'
                )
            if table.is_text and isinstance(column, Levels) and column.values and all(map(_is_number, column.values)):
                raise ValueError(
                    f"{table.place(place)} holds numbers that are written as text, such as {column.values[0]!r}. "
                    "Convert the array with astype(float), or name the column in categorical_features."
                )
        return [choice is not None and isinstance(column, Levels) for column in columns]
    out = chosen_columns("categorical_features", choice, len(columns), names, '"from_dtype", ')
    for place, column in enumerate(columns):
        if not out[place] and _is_text(column):
            raise ValueError(
                f"{table.place(place)} holds text, such as {column.values[0]!r}, and is not among categorical_features."
            )
    return out


def as_numbers(column: Column, where: str) -> Floats:
    """Cells of a column that are numbers; of bools, 0 and 1."""
    if isinstance(column, Numbers):
        return column.cells
    if not _is_text(column):
        return np.array([*map(float, column.values), np.nan])[column.places]
    raise ValueError(f"{where} holds text, such as {column.values[0]!r}, but numbers in fit. Convert it to numbers.")


def _are_bools(values: Sequence[Any]) -> bool:
    return all(isinstance(value, bool | np.bool_) for value in values)


def _is_text(column: Column) -> TypeGuard[Levels]:
    return isinstance(column, Levels) and any(isinstance(value, str) for value in column.values)


def _library(X: Any) -> str | None:
    """The library whose data frame this is. One that was never imported has made none."""
    for library, name in (("pandas", "DataFrame"), ("polars", "DataFrame"), ("pyarrow", "Table")):
        module = sys.modules.get(library)
        if module is not None and isinstance(X, getattr(module, name, ())):
            return library
    return None


def _columns(X: Any, library: str) -> Iterable[Any]:
    if library == "pandas":
        return (X.iloc[:, j] for j in range(X.shape[1]))
    return list(X.get_columns() if library == "polars" else X.columns)


def _holds_objects(X: Any) -> bool:
    rows = (row for row in X if isinstance(row, list | tuple))
    return any(
        cell is not None and not isinstance(cell, Real | list | tuple | np.ndarray) for row in rows for cell in row
    )


def _from_pandas(column: Any, where: str) -> Column:
    import pandas as pd

    dtype = column.dtype
    if isinstance(dtype, pd.CategoricalDtype):
        levels = _from_objects(dtype.categories.tolist(), where, as_levels=True)
        assert isinstance(levels, Levels)
        return Levels(levels.values, column.cat.codes.to_numpy().astype(np.int64))
    if isinstance(dtype, pd.ArrowDtype):
        return _from_pyarrow(column.array.__arrow_array__(), where)
    if pd.api.types.is_datetime64_any_dtype(dtype) or isinstance(dtype, pd.PeriodDtype) or dtype.kind in "mM":
        raise _date_error(where, str(dtype))
    if pd.api.types.is_complex_dtype(dtype):
        raise _complex_error(where)
    if pd.api.types.is_bool_dtype(dtype) or not pd.api.types.is_numeric_dtype(dtype):
        return _from_objects(column.astype(object).tolist(), where, as_levels=isinstance(dtype, pd.StringDtype))
    if isinstance(dtype, np.dtype):
        return Numbers(column.to_numpy(dtype=np.float64))
    return Numbers(column.to_numpy(dtype=np.float64, na_value=np.nan))


def _from_polars(column: Any, where: str) -> Column:
    import polars as pl

    dtype = column.dtype
    if dtype.is_temporal():
        raise _date_error(where, str(dtype))
    if dtype.is_numeric() or dtype == pl.Null:
        return Numbers(column.cast(pl.Float64).fill_null(float("nan")).to_numpy().copy())
    is_text = dtype == pl.String or dtype == pl.Categorical or dtype == pl.Enum
    return _from_objects(column.to_list(), where, as_levels=is_text)


def _from_pyarrow(column: Any, where: str) -> Column:
    import pyarrow as pa

    kind = column.type
    if pa.types.is_temporal(kind):
        raise _date_error(where, str(kind))
    if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_null(kind):
        return Numbers(np.array(column.cast(pa.float64(), safe=False).to_pandas(), dtype=np.float64))
    is_text = pa.types.is_dictionary(kind) or pa.types.is_string(kind) or pa.types.is_large_string(kind)
    return _from_objects(column.to_pylist(), where, as_levels=is_text)


_READERS: dict[str, Callable[[Any, str], Column]] = {
    "pandas": _from_pandas,
    "polars": _from_polars,
    "pyarrow": _from_pyarrow,
}


def _from_objects(cells: list[Any], where: str, as_levels: bool = False) -> Column:
    """A column from Python objects: numbers if they are numbers, levels if they are text or bools or are to be."""
    present = [cell for cell in cells if not is_gap(cell)]
    kinds = {type(cell) for cell in present}
    are_numbers = all(issubclass(kind, Real | Decimal) and not issubclass(kind, bool | np.bool_) for kind in kinds)
    if are_numbers and not as_levels:
        try:
            return Numbers(np.array([np.nan if is_gap(cell) else float(cell) for cell in cells], dtype=np.float64))
        except OverflowError as error:
            large = next(cell for cell in present if isinstance(cell, int) and abs(cell) > sys.float_info.max)
            raise ValueError(
                f"{where} holds a whole number of {len(str(abs(large)))} digits in row {cells.index(large)}, which is "
                "too large for a float. Scale the column, or give its logarithm."
            ) from error
    is_one_kind = (all(issubclass(kind, one) for kind in kinds) for one in (str, bytes, bool | np.bool_))
    if not are_numbers and not any(is_one_kind):
        _refuse_odd(present, where)
        kind = type(present[0])
        other = next(place for place, cell in enumerate(cells) if not is_gap(cell) and type(cell) is not kind)
        first = next(place for place, cell in enumerate(cells) if not is_gap(cell))
        raise ValueError(
            f"{where} mixes types: {cells[first]!r} in row {first}, {cells[other]!r} in row {other}. Convert it to "
            "numbers, or to text for a category."
        )
    index: dict[Any, int] = {}
    places = [-1 if is_gap(cell) else index.setdefault(cell, len(index)) for cell in cells]
    values = [value.decode(errors="replace") if isinstance(value, bytes) else value for value in index]
    endless = next((value for value in values if isinstance(value, float) and np.isinf(value)), None)
    if endless is not None:
        raise ValueError(f"{where} has the level {endless}, and infinity is no level. Give it a name, or NaN.")
    return Levels(values, np.array(places, dtype=np.int64))


def _refuse_odd(cells: Sequence[Any], where: str) -> None:
    """Refuse cells that are neither numbers nor text."""
    for place, cell in enumerate(cells):
        if isinstance(cell, datetime.date | datetime.time | datetime.timedelta | np.datetime64 | np.timedelta64):
            raise _date_error(where, type(cell).__name__)
        if isinstance(cell, complex) and not isinstance(cell, Real):
            raise _complex_error(where)
        if not isinstance(cell, str | bytes | Real | Decimal | bool | np.bool_):
            raise TypeError(
                f"{where} holds {cell!r} of type {type(cell).__name__} (value {place}); a cell must be a number, text, "
                "a bool or missing. Make numbers or levels of it."
            )


def is_gap(cell: Any) -> bool:
    """None, NaN, NaT or pandas.NA."""
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
        # What will not say whether it equals itself is pandas.NA, or no cell at all.
        return type(cell).__name__ == "NAType"


def _is_number(text: Any) -> bool:
    try:
        float(text)
    except (TypeError, ValueError):
        return False
    return True


def _date_error(where: str, kind: str) -> ValueError:
    return ValueError(
        f"{where} holds dates or durations ({kind}). Make numbers of them that can matter, such as days since a start, "
        "the month or the weekday."
    )


def _complex_error(where: str) -> ValueError:
    return ValueError(f"{where} holds complex numbers. Give their real and imaginary parts, or sizes and angles.")
