"""The levels of a category, and the code that stands for each."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..arrays import Floats
from .frames import Column, Levels, Numbers
from .quantiles import weights_by_code

# A level of a category is rare below this many rows or the root of the number of all rows, or beyond this many more
# frequent ones.
_FEWEST_ROWS = 10.0
_MOST_LEVELS = 63


@dataclass(frozen=True)
class Category:
    """The levels of a feature that is a category, and the code that stands for each in a table of numbers.

    Parameters
    ----------
    levels : tuple
        Levels with a code of their own, from the most to the least frequent.
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
        rare = len(self.pooled)
        return (*map(str, self.levels), *([f"{rare} rare level{'s' * (rare != 1)}"] * bool(rare)))

    def coded(self, column: Column, where: str) -> Floats:
        """Codes of the cells of a column; NaN for gaps and for levels that were not there in fit."""
        values, places = column.levels if isinstance(column, Numbers) else column
        known = next(iter(self.levels or self.pooled), None)
        if values and known is not None and isinstance(values[0], str) != isinstance(known, str):
            was, now = ("text", "numbers") if isinstance(known, str) else ("numbers", "text")
            raise ValueError(
                f"{where} holds {now}, such as {values[0]!r}, but its levels were {was} in fit. Convert it to {was}."
            )
        codes = {level: float(code) for code, level in enumerate(self.levels)}
        rare = float(len(self.levels))
        each = (codes.get(value, rare if value in self.pooled else np.nan) for value in values)
        # The last one is for gaps.
        return np.array([*each, np.nan])[places]

    @classmethod
    def from_levels(cls, column: Levels, weights: Floats, signs: Floats) -> Category:
        """Learn the levels of a column.

        A level is rare if it weighs less than 10 rows, or than the root of the weight of all rows, or if it is not
        among the 63 that weigh most. Of levels that weigh the same the one comes first whose rows have the larger mean
        of the `signs` (n, s), the first of these in which they differ, so that what levels are called does not matter.
        If there are but two, and they are numbers or bools, the larger comes last.
        """
        values, places = column
        is_there = places >= 0
        size = weights_by_code(places[is_there], weights[is_there], len(values))
        fewest = max(_FEWEST_ROWS, float(np.sqrt(weights.sum()))) * (1 - 1e-9)
        frequent = np.flatnonzero(size >= fewest).tolist()
        # Rounding of sums must not order levels that weigh the same.
        rounded = {place: float(f"{size[place]:.9g}") for place in frequent}
        ties = Counter(rounded.values())
        own_signs: dict[int, tuple[float, ...]] = {}
        for place in frequent:
            if ties[rounded[place]] > 1:
                rows = np.flatnonzero(places == place)
                means = weights[rows] @ signs[rows] / size[place]
                own_signs[place] = tuple(float(f"{-mean:.9g}") for mean in means)
        frequent.sort(key=lambda place: (-rounded[place], own_signs.get(place, ()), str(values[place])))
        if len(frequent) == 2 and len(own_signs) == 2 and not isinstance(values[frequent[0]], str):
            frequent.sort(key=lambda place: values[place])
        kept = frequent[:_MOST_LEVELS]
        rare = sorted(set(np.flatnonzero(size > 0).tolist()) - set(kept))
        # Nothing is gained by giving one rare level another name.
        if len(rare) == 1 and len(kept) < _MOST_LEVELS:
            kept, rare = kept + rare, []
        return cls(tuple(values[place] for place in kept), frozenset(values[place] for place in rare))
