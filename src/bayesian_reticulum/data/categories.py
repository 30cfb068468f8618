"""Categories: which columns are categories, which of their levels are kept, and the code that stands for each level."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..arrays import Floats, Integers
from .columns import Column, Levels, is_number, is_text
from .frames import Frame, chosen_columns
from .quantiles import weights_by_code

# A level is rare if it has fewer rows than this, or than the root of the number of all rows, or if so many levels are
# more frequent.
_FEWEST_ROWS = 10.0
_MOST_LEVELS = 63


@dataclass(frozen=True)
class Category:
    """The levels of a feature that is a category, and the code that stands for each in a table of numbers.

    Parameters
    ----------
    levels : tuple
        Levels that have a code each, from the most to the least frequent.
    pooled : frozenset
        Rare levels; they share the next code.
    """

    levels: tuple[Any, ...]
    pooled: frozenset[Any] = frozenset()

    @property
    def n_codes(self) -> int:
        return len(self.levels) + bool(self.pooled)

    @property
    def labels(self) -> tuple[str, ...]:
        """What each code is called in print."""
        n_rare = len(self.pooled)
        return (*map(str, self.levels), *([f"{n_rare} rare level{'s' * (n_rare != 1)}"] * bool(n_rare)))

    def encode(self, column: Levels) -> Floats:
        """Codes of the cells of a column, (n,); NaN for gaps and for levels that were not there in fit."""
        values, places = column
        code_of = {level: float(code) for code, level in enumerate(self.levels)}
        rare = float(len(self.levels))
        codes = (code_of.get(value, rare if value in self.pooled else np.nan) for value in values)
        # Gaps are at place -1, the last.
        return np.array([*codes, np.nan])[places]

    def check_kind(self, column: Levels, label: str) -> None:
        """Refuse a column, which messages call by its label, whose levels are numbers where fit had text, or text."""
        known = next(iter(self.levels or self.pooled), None)
        if column.values and known is not None and isinstance(column.values[0], str) != isinstance(known, str):
            was, now = ("text", "numbers") if isinstance(known, str) else ("numbers", "text")
            raise ValueError(
                f"{label} holds {now}, such as {column.values[0]!r}, but its levels were {was} in fit. "
                f"Convert it to {was}."
            )

    @classmethod
    def learn(cls, column: Levels, weights: Floats, row_signs: Callable[[Integers], Floats]) -> Category:
        """Learn the levels of a column from weighted rows.

        A level is rare if it weighs less than 10 rows, or than the root of the weight of all rows, or if it is not
        among the 63 that weigh most. Of levels that weigh the same the one comes first whose rows have the larger mean
        sign, in the first of the signs in which they differ, so that what levels are called does not matter. If there
        are but two, and they are numbers or bools, the larger comes last.

        Parameters
        ----------
        column : Levels
        weights : ndarray of shape (n,)
        row_signs : callable
            Signs (r, s) of rows (r,): numbers that tell rows apart but do not depend on names of levels.
        """
        values, places = column
        size = _level_weights(column, weights)
        fewest = max(_FEWEST_ROWS, float(np.sqrt(weights.sum()))) * (1 - 1e-9)
        frequent = np.flatnonzero(size >= fewest).tolist()
        # Rounding of sums must not order levels that weigh the same.
        rounded = {place: float(f"{size[place]:.9g}") for place in frequent}
        ties = Counter(rounded.values())
        mean_signs: dict[int, tuple[float, ...]] = {}
        for place in frequent:
            if ties[rounded[place]] > 1:
                rows = np.flatnonzero(places == place)
                means = weights[rows] @ row_signs(rows) / size[place]
                mean_signs[place] = tuple(float(f"{-mean:.9g}") for mean in means)
        frequent.sort(key=lambda place: (-rounded[place], mean_signs.get(place, ()), str(values[place])))
        if len(frequent) == 2 and len(mean_signs) == 2 and not isinstance(values[frequent[0]], str):
            frequent.sort(key=lambda place: values[place])
        kept = frequent[:_MOST_LEVELS]
        rare = sorted(set(np.flatnonzero(size > 0).tolist()) - set(kept))
        # Nothing is gained by giving one rare level another name.
        if len(rare) == 1 and len(kept) < _MOST_LEVELS:
            kept, rare = kept + rare, []
        return cls(tuple(values[place] for place in kept), frozenset(values[place] for place in rare))


def learn_categories(
    cells: Any, levels: Sequence[Levels | None], weights: Floats, targets: Any
) -> tuple[Category | None, ...]:
    """Learn the categories of a table from weighted rows.

    Parameters
    ----------
    cells : ndarray of shape (n, d)
        Numbers; what stands in columns of levels is not looked at.
    levels : sequence of (Levels or None)
        For each column its levels, or None where it holds numbers.
    weights, targets : ndarray of shape (n,)

    Returns
    -------
    tuple of (Category or None)
    """
    if all(column is None for column in levels):
        return (None,) * len(levels)
    # The weight of its level, a cell's sign, does not depend on what levels are called.
    signs_of_levels = {
        place: (column.places, np.append(_level_weights(column, weights), 0.0))
        for place, column in enumerate(levels)
        if column is not None
    }

    def row_signs(rows: Integers) -> Floats:
        numbers = cells[rows]
        signs = np.column_stack([targets[rows], targets[rows] ** 2, np.where(np.isnan(numbers), 0.0, numbers)])
        for column, (places, sign_of_level) in signs_of_levels.items():
            signs[:, 2 + column] = sign_of_level[places[rows]]
        return signs

    return tuple(None if column is None else Category.learn(column, weights, row_signs) for column in levels)


def category_rule(choice: Any, frame: Frame) -> Callable[[int, Column], bool]:
    """Which columns of a table are categories: a function of a column's place and of the column itself.

    Parameters
    ----------
    choice : "from_dtype", array-like or None
        Columns of levels; those chosen by a mask, names or places; or none. The function refuses columns of text that
        would be no categories.
    frame : Frame
    """
    if choice is not None and not is_from_dtype(choice):
        chosen = chosen_columns("categorical_features", choice, frame.n_columns, frame.names, '"from_dtype", ')
        return lambda place, column: (
            chosen[place] or _refuse_text(column, frame.label(place), "is not among categorical_features.")
        )

    def is_category(place: int, column: Column) -> bool:
        if choice is None:
            _refuse_text(
                column,
                frame.label(place),
                'categorical_features is None. Convert it to numbers, or set categorical_features="from_dtype".',
            )
        if frame.is_text and isinstance(column, Levels) and column.values and all(map(is_number, column.values)):
            raise ValueError(
                f"{frame.label(place)} holds numbers that are written as text, such as {column.values[0]!r}. "
                "Convert the array with astype(float), or name the column in categorical_features."
            )
        return choice is not None and isinstance(column, Levels)

    return is_category


def is_from_dtype(choice: Any) -> bool:
    """Whether the types of columns decide which are categories."""
    return isinstance(choice, str) and choice == "from_dtype"


def _refuse_text(column: Column, label: str, reason: str) -> bool:
    if is_text(column):
        raise ValueError(f"{label} holds text, such as {column.values[0]!r}, and {reason}")
    return False


def _level_weights(column: Levels, weights: Floats) -> Floats:
    """The weight of all rows of each level, (levels,)."""
    is_there = column.places >= 0
    return weights_by_code(column.places[is_there], weights[is_there], len(column.values))
