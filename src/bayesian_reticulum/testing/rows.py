"""`check_rows`: the tables and families that the laws of rows are run on, and the function that runs them."""

from __future__ import annotations

import numpy as np

from ..arrays import Floats
from ..data import Schema
from ..families import DirichletCategorical, Family, NormalLinear, is_categorical
from ..rows import RowData
from .rows_laws import LAWS, MakeRows, RowsCase

_N_ROWS = 300
# Kinds of tables, each with a family of leaves.
TABLES: tuple[tuple[str, Family], ...] = (
    ("numbers", DirichletCategorical((0.5, 0.5, 0.5))),
    ("gaps", DirichletCategorical((0.5, 0.5))),
    ("filled gaps", DirichletCategorical((0.5, 0.5))),
    ("filled gaps", NormalLinear()),
    ("numbers", NormalLinear(n_slopes=3)),
    ("tail", DirichletCategorical((0.5, 0.5))),
)


def check_rows(make_rows: MakeRows, *, seeds: int = 1) -> None:
    """Hold rows to the laws that growth and evidence rely on.

    Rows are made of small random tables: with weights, with gaps that follow from the rest of the row and with such
    that do not, with a tail; for leaves of two and of three classes, and for constant and linear leaves of numbers.

    Parameters
    ----------
    make_rows : callable
        Makes rows of `bayesian_reticulum.rows.RowData` and of the family whose likelihood they know, such as
        `bayesian_reticulum.rows.rows_in_memory`.
    seeds : int, default=1
        Tables of each kind.

    Raises
    ------
    AssertionError
        If a law is broken; the message says by which sum, and which member to look at.

    Examples
    --------
    >>> from bayesian_reticulum.rows import rows_in_memory
    >>> from bayesian_reticulum.testing import check_rows
    >>> check_rows(rows_in_memory)
    """
    for seed in range(seeds):
        for kind, family in TABLES:
            for law in LAWS:
                rng = np.random.default_rng([seed, len(kind)])
                case = RowsCase(make_rows, _draw_data(rng, kind, family), family)
                try:
                    law(case, rng)
                except AssertionError as error:
                    name = law.__name__.replace("_", " ")
                    raise AssertionError(f"{name} ({family!r}, a table of the kind {kind!r}): {error}") from error


def _draw_data(rng: np.random.Generator, kind: str, family: Family) -> RowData:
    """A table of three numbers and the targets of a family."""
    X: Floats = rng.normal(size=(_N_ROWS, 3)) @ (np.eye(3) + 0.5)
    if "gaps" in kind:
        X[rng.uniform(size=X.shape) < 0.1] = np.nan
    weights = rng.uniform(0.5, 2.0, size=_N_ROWS)
    schema = Schema.from_columns(X, weights, ("a", "b", "c"))
    if kind == "filled gaps":
        schema = schema.with_regressions(X, weights)
    numbers = np.nan_to_num(X[:, 0]) + rng.normal(size=_N_ROWS)
    n_classes = family.n_statistics
    targets = rng.integers(n_classes, size=_N_ROWS) if is_categorical(family) else numbers
    return RowData.of(X, targets, weights, schema, np.array([0.8, 0.5]) if kind == "tail" else np.empty(0))
