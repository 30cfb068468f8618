"""Default fits of tables of numbers and of mixed tables, against HistGradientBoosting, by processor time."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from threadpoolctl import threadpool_limits

from bayesian_reticulum import ReticulumClassifier, ReticulumRegressor
from scoring.folds import load

from .generated import mixed_classes, mixed_numbers, wide_numbers
from .peers import HISTOGRAMS, OURS
from .results import Line, print_progress, size_text
from .turns import Floats, in_turns, ratios

if TYPE_CHECKING:
    import pandas as pd

FEWEST_TURNS = 5  # of a fit, so that the median of ratios is hardly moved by one busy moment


class Table(NamedTuple):
    """A raw table to fit: whether its targets are numbers, and the rows that a longer one is sampled down to."""

    name: str
    are_numbers: bool
    max_rows: int | None = None


GENERATED: Mapping[str, Callable[[], tuple[pd.DataFrame, Any]]] = {
    "wide numbers": wide_numbers,
    "mixed numbers": mixed_numbers,
    "mixed classes": mixed_classes,
}
NUMBERS = (
    Table("concrete", True),
    Table("airfoil", True),
    Table("california_housing", True, 2000),
    Table("california_housing", True, 20_000),
    Table("elevators", True, 3000),
    Table("bike_sharing_hour", True, 3000),
    Table("diamonds", True, 5000),
    Table("wine_quality", True),
    Table("naval_propulsion", True, 3000),
    Table("wide numbers", True),
)
MIXED = (
    Table("mixed numbers", True),
    Table("mixed classes", False),
    Table("adult_income", False, 5000),
    Table("credit_scoring", False),
    Table("german_credit", False),
    Table("titanic", False),
)
LARGEST_NUMBERS, LARGEST_MEAN, LARGEST_MIXED = 10.0, 5.0, 8.0  # ratios to HistGradientBoosting


def numbers(directory: Path | None, repeats: int) -> Iterator[Line]:
    """Tables of numbers: each, and the geometric mean of their ratios."""
    lines = []
    for line in fits(NUMBERS, directory, repeats, LARGEST_NUMBERS):
        lines.append(line)
        yield line
    if len(lines) == len(NUMBERS):
        yield geometric_mean(lines, LARGEST_MEAN)
    else:
        print_progress("The geometric mean over tables of numbers is left out: it needs all of them.")


def mixed(directory: Path | None, repeats: int) -> Iterator[Line]:
    """Raw tables with numbers, words and gaps."""
    return fits(MIXED, directory, repeats, LARGEST_MIXED)


def fits(tables: Sequence[Table], directory: Path | None, repeats: int, largest: float) -> Iterator[Line]:
    """Fits of those tables that are there."""
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for are_numbers, name in ((True, "wide numbers"), (False, "mixed classes")):
            X, y = GENERATED[name]()
            for fit in fits_of(X[:200], y[:200], are_numbers).values():
                fit(0)  # imports, and the start of threads
        for table in tables:
            loaded = read(table, directory)
            if loaded is not None:
                X, y = loaded
                task = f"fit, {table.name} {size_text(X.shape)}, 1 thread"
                print_progress(f"  {task} ...")
                turns = max(repeats, FEWEST_TURNS)
                seconds = in_turns(fits_of(X, y, table.are_numbers), turns, clock=time.process_time)
                yield fit_line(task, seconds[OURS], seconds[HISTOGRAMS], largest)


def read(table: Table, directory: Path | None) -> tuple[pd.DataFrame, Any] | None:
    """Features and targets of a table; None, with a message, where its file is missing."""
    if table.name in GENERATED:
        return GENERATED[table.name]()
    if directory is None:
        print_progress(f"{table.name} is left out: it is read from the folder of --data.")
        return None
    loaded = load(directory, table.name, table.max_rows, raw=True)
    if loaded is None:
        print_progress(
            f"{table.name} is left out: there is no file {table.name}.csv or {table.name}.csv.gz in {directory}."
        )
    return loaded


def fits_of(X: pd.DataFrame, y: Any, are_numbers: bool) -> dict[str, Callable[[int], Any]]:
    """A fit by each model: ours reads the words of raw tables, the other one has them as categories beforehand."""
    ours = ReticulumRegressor if are_numbers else ReticulumClassifier
    theirs = HistGradientBoostingRegressor if are_numbers else HistGradientBoostingClassifier
    coded = X.astype(dict.fromkeys(X.select_dtypes(exclude="number"), "category"))
    return {
        OURS: lambda turn: ours(n_jobs=1, random_state=turn).fit(X, y),
        HISTOGRAMS: lambda turn: theirs(categorical_features="from_dtype", random_state=turn).fit(coded, y),
    }


def fit_line(task: str, ours: Floats, theirs: Floats, largest: float) -> Line:
    """Processor time of our fits, and its ratio to that of the other fits."""
    ratio = ratios(ours, theirs)
    limit = (float(np.median(ratio)), largest, "×")
    return Line(task, f"to {HISTOGRAMS}, processor time", ours, "s", ratio, limit)


def geometric_mean(lines: Sequence[Line], largest: float) -> Line:
    """All tables together: the geometric mean of the medians of their ratios."""
    medians = [np.median(line.ratios) for line in lines if line.ratios is not None]
    mean = float(np.exp(np.mean(np.log(medians))))
    task = f"fit, all {len(medians)} tables of numbers, 1 thread"
    return Line(task, "geometric mean of ratios", np.array([mean]), "×", None, (mean, largest, "×"))
