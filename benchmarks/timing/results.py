"""Results of measurements: lines of the table of limits, models on tables, growth of time, parts of a pass."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from .turns import Floats


class Line(NamedTuple):
    """One line of the table of limits; a limit is `(measured, largest allowed, unit)`."""

    task: str
    subject: str
    values: Floats
    unit: str
    ratios: Floats | None = None
    limit: tuple[float, float, str] | None = None

    def is_met(self) -> bool:
        """Whether the limit, if there is one, is kept; a NaN keeps none."""
        return self.limit is None or self.limit[0] <= self.limit[1]


class Comparison(NamedTuple):
    """One kind of model on one table: seconds of its fits and predictions, each (turns,), and megabytes of a fit."""

    data: str
    size: tuple[int, int]
    model: str
    fit: Floats
    predict: Floats
    memory: float | None = None


class Scaling(NamedTuple):
    """Seconds of fits, (turns,) for each size of what grows; fewer turns where they are slow."""

    what: str
    sizes: Sequence[int]
    seconds: Sequence[Floats]
    limit: float | None = None

    @property
    def exponents(self) -> Floats:
        """Slope of log time over log size by least squares, for each turn that all sizes took."""
        turns = min(map(len, self.seconds))
        logs = np.log([values[:turns] for values in self.seconds])
        return np.polyfit(np.log(self.sizes), logs, 1)[0]


class Part(NamedTuple):
    """Milliseconds that one part of a pass takes, and the same part of the least work that a pass has to do."""

    name: str
    floor: float
    ours: float


def size_text(shape: tuple[int, int]) -> str:
    """Rows × columns, as in 19 020 × 10."""
    return f"{number_text(shape[0])} × {shape[1]}"


def number_text(value: int) -> str:
    """A number with its thousands apart, but for four digits."""
    return f"{value:,}".replace(",", " ") if value >= 10_000 else str(value)


def print_progress(message: str) -> None:
    print(message, file=sys.stderr, flush=True)
