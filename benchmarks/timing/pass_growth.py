"""How the time of a pass grows with rows and columns, for each kind of leaves."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from threadpoolctl import threadpool_limits

from bayesian_reticulum import DirichletCategorical, NormalLinear
from bayesian_reticulum.families import Family
from bayesian_reticulum.rows import MembershipSums, Pass, RowData, rows_in_memory

from .random_models import random_tree, schema_of
from .results import Line, number_text, print_progress
from .turns import Floats, in_turns

ROWS, COLUMNS = (4000, 8000, 16_000, 32_000, 64_000, 128_000, 256_000), (4, 8, 16, 32, 64)
GIVEN_ROWS, GIVEN_COLUMNS = 16_000, 16  # where the other one grows
SPLITS = 15
LARGEST_BY_ROWS, LARGEST_BY_COLUMNS = 1.3, 1.5  # growth of the time of a unit by a doubling
TURNS = 10  # for each of --repeats; the fastest counts, as other work can only slow a pass down
LEAVES: Mapping[str, Callable[[int], Family]] = {
    "classes": lambda d: DirichletCategorical((0.5, 0.5)),
    "constant leaves": lambda d: NormalLinear(),
    "linear leaves": lambda d: NormalLinear(n_slopes=d),
}


class PassGrowth(NamedTuple):
    """Least seconds of a pass for each size of what grows, and the units of work that it has to do at this size."""

    leaves: str
    what: str
    sizes: Sequence[int]
    seconds: Floats
    units: Floats
    limit: float

    @property
    def unit_seconds(self) -> Floats:
        """Seconds of a unit for each size."""
        return self.seconds / self.units

    @property
    def factors(self) -> Floats:
        """Growth of the seconds of a unit by each doubling."""
        return self.unit_seconds[1:] / self.unit_seconds[:-1]


def pass_growth(repeats: int) -> Iterator[PassGrowth]:
    """Passes by rows, whose units are rows, and by columns, whose units are necessary multiply-adds."""
    for leaves, family in LEAVES.items():
        print_progress(f"  {leaves} ...")
        seconds = least_seconds([pass_over(n, GIVEN_COLUMNS, family(GIVEN_COLUMNS)) for n in ROWS], TURNS * repeats)
        yield PassGrowth(leaves, "rows", ROWS, seconds, np.array(ROWS, dtype=np.float64), LARGEST_BY_ROWS)
        seconds = least_seconds([pass_over(GIVEN_ROWS, d, family(d)) for d in COLUMNS], TURNS * repeats)
        units = np.array([GIVEN_ROWS * multiply_adds(d, family(d)) for d in COLUMNS], dtype=np.float64)
        yield PassGrowth(leaves, "columns", COLUMNS, seconds, units, LARGEST_BY_COLUMNS)


def multiply_adds(d: int, family: Family) -> int:
    """Multiply-adds that a pass cannot do without for one row.

    Two products with the columns for each split, and for each leaf those with the statistics of its family; a class is
    looked up and counted.
    """
    return 2 * d * SPLITS + (1 if family.is_categorical else family.n_statistics) * (SPLITS + 1)


def pass_over(n: int, d: int, family: Family) -> Callable[[], Any]:
    """A pass over rows (n, d) of noise, by a random tree with the leaves that it gives them."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, d))
    y = rng.integers(2, size=n) if family.is_categorical else rng.standard_normal(n)
    rows = rows_in_memory(RowData.of(X, y, np.ones(n), schema_of(X)), family)
    tree = random_tree(SPLITS, d, rng)
    hyperplanes = tree.hyperplanes[None]
    statistics = rows.reduce(MembershipSums(hyperplanes, tree.shape)).statistics
    request = Pass(hyperplanes, tree.shape, family.expected_parameters(statistics))
    return lambda: rows.reduce(request)


def least_seconds(passes: Sequence[Callable[[], Any]], turns: int) -> Floats:
    """Least processor time of each pass; what rows keep between passes is made before, in a first one."""
    tasks = {str(place): lambda _, one=one: one() for place, one in enumerate(passes)}
    with threadpool_limits(1):
        for one in passes:
            one()
        return np.array([seconds.min() for seconds in in_turns(tasks, turns, clock=time.process_time).values()])


def pass_limits(grown: Sequence[PassGrowth]) -> Iterator[Line]:
    """The largest growth by one doubling as lines."""
    for growth in grown:
        given = f"{GIVEN_COLUMNS} columns" if growth.what == "rows" else f"{number_text(GIVEN_ROWS)} rows"
        task = f"one pass, {SPLITS} splits, {given}, {growth.leaves}, 1 thread"
        unit = "row" if growth.what == "rows" else "multiply-add"
        sizes = f"{number_text(growth.sizes[0])} to {number_text(growth.sizes[-1])}"
        subject = f"time a {unit}, by a doubling of {growth.what}, {sizes}"
        yield Line(task, subject, growth.factors, "×", None, (float(growth.factors.max()), growth.limit, "×"))
