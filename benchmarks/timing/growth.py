"""How fit time grows with rows, splits, columns and classes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from bayesian_reticulum import ReticulumClassifier

from .memory import Table
from .results import Line, Scaling, number_text, print_progress
from .turns import in_turns


def scalings(full: bool, repeats: int, threads: int) -> Iterator[Scaling]:
    """Fit time by the number of rows, splits, columns and classes, the number of splits given but for the second."""
    n_rows = (10_000, 30_000, 100_000, 300_000, 1_000_000) if full else (10_000, 30_000, 100_000)
    n_splits = (3, 7, 15, 31) if full else (3, 7, 15)
    n_columns = (2, 4, 8, 16, 32) if full else (2, 4, 8)
    n_classes = (2, 4, 8, 16) if full else (2, 4, 8)
    yield scaling("rows", n_rows, lambda n: (board(n, 6, 4), 7), 1.1, repeats, threads)
    yield scaling("splits", n_splits, lambda m: (board(10_000, 2, 4), m), 1.3, repeats, threads)
    yield scaling("columns", n_columns, lambda d: (board(10_000, d, 4), 7), None, repeats, threads)
    yield scaling("classes", n_classes, lambda k: (board(10_000, 2, k), 7), None, repeats, threads)


def scaling(
    what: str,
    sizes: Sequence[int],
    make: Callable[[int], tuple[Table, int]],
    limit: float | None,
    repeats: int,
    threads: int,
) -> Scaling:
    """Fit time for each size, of the table and with the number of splits that `make` gives for it."""
    print_progress(f"  {what} ...")

    def fit(size: int, problem: tuple[Table, int]) -> Callable[[int], None]:
        (X, y), n_splits = problem

        def task(turn: int) -> None:
            model = ReticulumClassifier(max_splits=n_splits, n_jobs=threads, random_state=turn).fit(X, y)
            if model.n_splits_ < n_splits:
                print_progress(f"  {what} = {size}: {model.n_splits_} of {n_splits} splits were used")

        return task

    seconds = in_turns({str(size): fit(size, make(size)) for size in sizes}, repeats)
    return Scaling(what, sizes, list(seconds.values()), limit)


def board(n: int, d: int, n_classes: int, side: int = 8) -> Table:
    """Rows (n, d) on a board of side × side fields, each with a class drawn for it; one class in ten is wrong.

    A tree of few splits never comes to its end here, so that the number of splits can be given.
    """
    colours = np.random.default_rng(1).integers(n_classes, size=(side, side))
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(n, d))
    column, row = (side * X[:, :2].T).astype(np.int64)
    y = colours[column, row]
    return X, np.where(rng.random(n) < 0.1, rng.integers(n_classes, size=n), y)


def scaling_limits(grown: Sequence[Scaling]) -> Iterator[Line]:
    """Exponents as lines."""
    for scaling in grown:
        values = scaling.exponents
        limit = None if scaling.limit is None else (float(np.median(values)), scaling.limit, "")
        sizes = f"{number_text(scaling.sizes[0])} to {number_text(scaling.sizes[-1])}"
        yield Line("growth of fit time", f"exponent, {sizes} {scaling.what}", values, "", None, limit)
