"""Tables of any library, read one column at a time into plain arrays. No other file knows of data frames."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Sequence
from numbers import Real
from typing import Any, NamedTuple

import numpy as np

from .columns import Column, Levels, Numbers, column_from_objects, complex_error, date_error


class Frame(NamedTuple):
    """A table whose columns are read one by one, so that no more than one of them is ever held in another form.

    Attributes
    ----------
    names : list or None
        What columns are called; None if the table has no names.
    n_rows, n_columns : int
    read : callable
        Makes the column at a place.
    is_text : bool
        Whether it is an array of text, which cannot hold numbers as such.
    is_positional : bool
        Whether columns are taken as they come, so that names are for messages only.
    """

    names: list[Any] | None
    n_rows: int
    n_columns: int
    read: Callable[[int], Column]
    is_text: bool = False
    is_positional: bool = False

    def label(self, column: int) -> str:
        """What a column is called in messages."""
        return f"column {column if self.names is None else repr(self.names[column])}"

    def select(self, places: Sequence[int]) -> Frame:
        """The same table with these columns, in this order."""
        names, read = self.names, self.read
        chosen = None if names is None else [names[place] for place in places]
        return self._replace(names=chosen, n_columns=len(places), read=lambda column: read(places[column]))


def read_frame(X: Any) -> Frame | None:
    """A data frame or an array of objects or text, ready to be read; None for all else, which is up to NumPy."""
    if isinstance(X, Frame):
        return X
    if isinstance(X, getattr(sys.modules.get("polars"), "LazyFrame", ())):
        raise TypeError("X is a LazyFrame of polars, which has no rows yet. Call collect() on it.")
    if isinstance(X, getattr(sys.modules.get("pyarrow"), "RecordBatch", ())):
        X = sys.modules["pyarrow"].Table.from_batches([X])
    library = _library(X)
    if library is not None:
        return _frame_of_library(X, library)
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
        raise date_error("X", str(X.dtype))
    if isinstance(X, np.ma.MaskedArray):
        cells = np.array(X.data, dtype=object)
        cells[np.ma.getmaskarray(X)] = None
        return read_frame(cells)
    if X.dtype.kind not in "OUST":
        return None
    n_rows, n_columns = X.shape
    is_text = X.dtype.kind != "O"
    return Frame(None, n_rows, n_columns, lambda j: column_from_objects(X[:, j].tolist(), f"column {j}"), is_text)


def frame_of_numbers(X: Any) -> Frame:
    """An array of numbers (n, d), ready to be read as a data frame is."""
    n_rows, n_columns = X.shape
    return Frame(None, n_rows, n_columns, lambda j: Numbers(np.asarray(X[:, j], dtype=np.float64)))


def is_frame(X: Any) -> bool:
    """Whether this is a data frame of a library that `read_frame` knows."""
    return _library(X) is not None


def column_names(X: Any) -> list[Any]:
    """Names of the columns of a data frame."""
    return list(X.column_names if _library(X) == "pyarrow" else X.columns)


def without_rows(X: Any, places: Sequence[int]) -> Any:
    """A data frame of the same library that has these columns, in this order, and no rows: its names can be checked."""
    if _library(X) == "pandas":
        return X.iloc[:0, list(places)]
    names = column_names(X)
    return X[:0].select([names[place] for place in places])


def column_types(X: Any, names: Sequence[str]) -> list[str]:
    """Whether each column holds "whole" numbers, numbers of "single" precision or of "double", as its type says.

    Columns come in the order of `names`, if the table has these. A list has no types: its numbers count as double.
    """
    if not is_frame(X):
        types = [str(getattr(X, "dtype", "float64"))] * len(names)
    else:
        labels = [str(name) for name in column_names(X)]
        types = [str(dtype) for dtype in (X.schema.types if _library(X) == "pyarrow" else X.dtypes)]
        if set(labels) == set(names):
            types = [types[labels.index(name)] for name in names]
    return [_kind_of_numbers(dtype.lower()) for dtype in types]


def _kind_of_numbers(dtype: str) -> str:
    if dtype.startswith(("int", "uint", "bool")):
        return "whole"
    return "single" if dtype.startswith(("float32", "float16", "halffloat")) or dtype == "float" else "double"


def chosen_columns(
    parameter: str, choice: Any, n_columns: int, names: Sequence[Any] | None, otherwise: str = ""
) -> list[bool]:
    """Which columns a parameter chooses: by a mask, by names or by places, or none.

    Its name and, in `otherwise`, the further values that it may have are for messages.
    """
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
    elif chosen.dtype == object and all(isinstance(item, bool | np.bool_) for item in chosen.tolist()):
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


def _library(X: Any) -> str | None:
    """The library whose data frame this is. A library that was never imported has made none."""
    for library, name in (("pandas", "DataFrame"), ("polars", "DataFrame"), ("pyarrow", "Table")):
        module = sys.modules.get(library)
        if module is not None and isinstance(X, getattr(module, name, ())):
            return library
    return None


def _frame_of_library(X: Any, library: str) -> Frame:
    names = column_names(X)
    repeated = [name for name, times in Counter(names).items() if times > 1]
    if repeated:
        raise ValueError(f"column names must differ, but {repeated[0]!r} occurs more than once. Rename one of them.")
    take, read = _LIBRARIES[library]
    return Frame(names, len(X), len(names), lambda j: read(take(X, j), f"column {names[j]!r}"))


def _holds_objects(X: Any) -> bool:
    rows = (row for row in X if isinstance(row, list | tuple))
    return any(
        cell is not None and not isinstance(cell, Real | list | tuple | np.ndarray) for row in rows for cell in row
    )


def _from_pandas(column: Any, label: str) -> Column:
    import pandas as pd

    dtype = column.dtype
    if isinstance(dtype, pd.CategoricalDtype):
        levels = column_from_objects(dtype.categories.tolist(), label, force_levels=True)
        assert isinstance(levels, Levels)
        return Levels(levels.values, column.cat.codes.to_numpy().astype(np.int64))
    if isinstance(dtype, pd.ArrowDtype):
        return _from_pyarrow(column.array.__arrow_array__(), label)
    if pd.api.types.is_datetime64_any_dtype(dtype) or isinstance(dtype, pd.PeriodDtype) or dtype.kind in "mM":
        raise date_error(label, str(dtype))
    if pd.api.types.is_complex_dtype(dtype):
        raise complex_error(label)
    if pd.api.types.is_bool_dtype(dtype) or not pd.api.types.is_numeric_dtype(dtype):
        is_text = isinstance(dtype, pd.StringDtype)
        return column_from_objects(column.astype(object).tolist(), label, force_levels=is_text)
    if isinstance(dtype, np.dtype):
        return Numbers(column.to_numpy(dtype=np.float64))
    return Numbers(column.to_numpy(dtype=np.float64, na_value=np.nan))


def _from_polars(column: Any, label: str) -> Column:
    import polars as pl

    dtype = column.dtype
    if dtype.is_temporal():
        raise date_error(label, str(dtype))
    if dtype.is_numeric() or dtype == pl.Null:
        return Numbers(column.cast(pl.Float64).fill_null(float("nan")).to_numpy())
    is_text = dtype == pl.String or dtype == pl.Categorical or dtype == pl.Enum
    return column_from_objects(column.to_list(), label, force_levels=is_text)


def _from_pyarrow(column: Any, label: str) -> Column:
    import pyarrow as pa

    kind = column.type
    if pa.types.is_temporal(kind):
        raise date_error(label, str(kind))
    if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_null(kind):
        return Numbers(np.asarray(column.cast(pa.float64(), safe=False).to_pandas(), dtype=np.float64))
    is_text = pa.types.is_dictionary(kind) or pa.types.is_string(kind) or pa.types.is_large_string(kind)
    return column_from_objects(column.to_pylist(), label, force_levels=is_text)


# How each library hands out the column at a place, and how it is read.
_LIBRARIES: dict[str, tuple[Callable[[Any, int], Any], Callable[[Any, str], Column]]] = {
    "pandas": (lambda X, j: X.iloc[:, j], _from_pandas),
    "polars": (lambda X, j: X.to_series(j), _from_polars),
    "pyarrow": (lambda X, j: X.column(j), _from_pyarrow),
}
