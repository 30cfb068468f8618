"""From a table of any library to cells that the rest of the package works on, the same way in fit and in predict.

Cells are numbers (n, d): those of the table, codes in the place of levels, and NaN where a cell is missing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ..arrays import Floats
from .categories import Category, category_rule, is_from_dtype, learn_categories
from .columns import Column, Levels, as_levels, as_numbers
from .frames import Frame, frame_of_numbers, read_frame


class Columns(NamedTuple):
    """A table that was read: its numbers, and apart from them the columns that are categories.

    Attributes
    ----------
    cells : ndarray of shape (n, d)
        Numbers, NaN where they are missing and in all columns of levels.
    levels : tuple of (Levels or None)
        For each column its levels, or None where it holds numbers.
    """

    cells: Any
    levels: tuple[Levels | None, ...]

    def take(self, rows: Any) -> Columns:
        """These columns in some rows; a slice copies nothing."""
        levels = (None if column is None else Levels(column.values, column.places[rows]) for column in self.levels)
        return Columns(self.cells[rows], tuple(levels))


@dataclass(frozen=True)
class Encoder:
    """What fit has learned of a table: names of its features, and the codes of their levels.

    Parameters
    ----------
    names : tuple of str
        One name for each feature.
    categories : tuple of (Category or None)
        For each feature its levels, or None if it is a number.
    """

    names: tuple[str, ...]
    categories: tuple[Category | None, ...]

    @classmethod
    def learn(cls, columns: Columns, names: tuple[str, ...], weights: Floats, targets: Any) -> Encoder:
        """Learn the levels of all categories from weighted rows, of which targets (n,) order what weighs the same."""
        return cls(names, learn_categories(columns.cells, columns.levels, weights, targets))

    def encode(self, X: Any) -> Any:
        """Cells (n, d) of a table like that of fit.

        Columns with names are taken in the order of fit. A table that has other columns, no rows or infinite cells is
        refused. An array of floats is returned as it is if there are no categories.
        """
        frame = read_frame(X)
        if frame is not None:
            frame = self._in_order(frame)
        else:
            cells = _as_floats(X)
            _check_not_infinite(cells, frame_of_numbers(cells))
            if not any(self.categories):
                self._check_shape(*cells.shape)
                return cells
            frame = frame_of_numbers(cells)
        self._check_shape(frame.n_rows, frame.n_columns)
        columns = read_columns(frame, lambda place, _: self.categories[place] is not None)
        for place, (column, category) in enumerate(zip(columns.levels, self.categories, strict=True)):
            if column is not None and category is not None:
                category.check_kind(column, frame.label(place))
        return self.fill(columns)

    def fill(self, columns: Columns) -> Any:
        """Cells (n, d) of columns: codes are written in the place of their levels."""
        for place, (column, category) in enumerate(zip(columns.levels, self.categories, strict=True)):
            if column is not None and category is not None:
                columns.cells[:, place] = category.encode(column)
        return columns.cells

    def _in_order(self, frame: Frame) -> Frame:
        """A frame with its columns in the order of fit.

        Without names, or where fit had none, columns are taken as they come.
        """
        if frame.is_positional:
            return frame
        places = self.places_of(frame.names)
        if places is not None:
            return frame.select(places)
        is_without_names = self.names == default_names(len(self.names))
        if frame.names is None or is_without_names or frame.names == list(range(frame.n_columns)):
            return frame
        labels = set(map(str, frame.names))
        missing, extra = sorted(set(self.names) - labels), sorted(labels - set(self.names))
        raise ValueError(
            f"columns of X should be those of fit: {', '.join(missing) or 'none'} missing, "
            f"{', '.join(extra) or 'none'} too many."
        )

    def places_of(self, names: Sequence[Any] | None) -> list[int] | None:
        """Where the columns of fit stand among columns with these names; None if these are not the same."""
        labels = [] if names is None else list(map(str, names))
        if len(set(labels)) != len(labels) or set(labels) != set(self.names):
            return None
        return [labels.index(name) for name in self.names]

    def _check_shape(self, n_rows: int, n_columns: int) -> None:
        if n_columns != len(self.names):
            raise ValueError(f"X has {n_columns} features, but the model is expecting {len(self.names)} features.")
        if not n_rows:
            raise ValueError("Found 0 sample(s) in X; at least one row is needed.")


def read_columns(frame: Frame, is_category: Callable[[int, Column], bool]) -> Columns:
    """Read a table, each column once, and refuse infinite numbers; a column's place and itself say if it is a category.

    Beyond the table there is one array of all its numbers, and one of whole numbers for each category.
    """
    cells = np.empty((frame.n_rows, frame.n_columns))
    levels: list[Levels | None] = []
    for place in range(frame.n_columns):
        column = frame.read(place)
        if is_category(place, column):
            levels.append(as_levels(column))
            cells[:, place] = np.nan
        else:
            levels.append(None)
            cells[:, place] = as_numbers(column, frame.label(place))
    _check_not_infinite(cells, frame)
    return Columns(cells, tuple(levels))


def read_training_columns(frame: Frame | None, X: Any, categorical_features: Any) -> Columns:
    """Read the table of fit: a frame or, where there is none, an array of numbers (n, d).

    An array of numbers in which no category was chosen is not copied.
    """
    if frame is None:
        if categorical_features is None or is_from_dtype(categorical_features):
            return columns_of_numbers(X)
        frame = frame_of_numbers(X)
    return read_columns(frame, category_rule(categorical_features, frame))


def columns_of_numbers(X: Any) -> Columns:
    """An array of numbers (n, d) without categories, as columns; it is not copied."""
    return Columns(X, (None,) * X.shape[1])


def default_names(n_features: int) -> tuple[str, ...]:
    """What features without names are called."""
    return tuple(f"x{j}" for j in range(n_features))


def _as_floats(X: Any) -> Any:
    """An array-like of numbers as an array of floats, copied only if it is none yet."""
    if hasattr(X, "tocsr"):
        raise TypeError("X is a sparse matrix; models take dense tables. Call toarray() on it.")
    X = np.asarray(X)
    if X.ndim != 2:
        raise ValueError(f"Expected 2D array, got {X.ndim}D array instead. Reshape X to (n_samples, n_features).")
    if X.dtype.kind == "c":
        raise ValueError("Complex data not supported: give real and imaginary parts, or sizes and angles.")
    return X if X.dtype in (np.float64, np.float32) else X.astype(np.float64)


def _check_not_infinite(cells: Any, frame: Frame) -> None:
    with np.errstate(invalid="ignore", over="ignore"):
        # The sum of all cells takes a tenth of the time of sums by column, which prediction would notice.
        if np.isfinite(cells.sum()):
            return
        # Only a column whose sum is not finite can hold infinity: there is no need for a mask as large as the table.
        suspects = np.flatnonzero(~np.isfinite(cells.sum(axis=0)))
    first = min(
        ((int(rows[0]), int(column)) for column in suspects if len(rows := np.flatnonzero(np.isinf(cells[:, column])))),
        default=None,
    )
    if first is not None:
        row, column = first
        raise ValueError(
            f"Input X contains infinity: {frame.label(column)} is {cells[row, column]} in row {row}. Give the largest "
            "value that it can have, or NaN if it is not known."
        )
