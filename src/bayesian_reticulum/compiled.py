"""The compiled core: whether it is in use, and its reading of schemas, gaps and trees.

`is_available` says whether the core is in use. It is called where the choice between the core and NumPy is made: in
`rows.rows_in_memory` for training rows, and in `model` for predictions.
"""

from __future__ import annotations

import os
from functools import lru_cache
from typing import Any, cast

import numpy as np

from .arrays import Floats
from .data import Gaps as SchemaGaps
from .data import Regressions, Schema
from .families import FactoredFamily, Family, compiled_form
from .tree import Tree

import_error = ""
try:
    from ._native import DirichletLeaves, Gaps, NormalLeaves, Units, predict

    # The best set of instructions of this processor that the core was compiled for; empty without the core.
    from ._native import instruction_set as instruction_set
except ImportError as error:
    # The package was installed without a compiler: the other names are missing, and nothing that needs them is called.
    instruction_set, import_error = "", str(error)


def is_available() -> bool:
    """Whether compiled code was built and is not switched off by the environment."""
    return bool(instruction_set) and os.environ.get("BAYESIAN_RETICULUM_NATIVE", "1") != "0"


def readable_cells(X: Any) -> Any:
    """Return cells (n, d) as compiled code reads them.

    They are copied only if they are neither float32 nor float64, or lie in memory at other than whole steps.
    """
    X = np.asarray(X)
    is_whole = X.flags.aligned and not any(stride % X.itemsize for stride in X.strides)
    return X if is_whole and X.dtype in (np.float64, np.float32) else np.array(X, dtype=np.float64, order="C")


def native_units(schema: Schema) -> Any:
    """Return the units and limits of a schema's columns for compiled code."""
    return Units(schema.center, schema.scale, schema.low, schema.high, schema.source, schema.code)


def native_gaps(gaps: SchemaGaps | None, regressions: Regressions | None) -> Any:
    """Return gaps and the regressions by which they are filled for compiled code."""
    if gaps is None:
        return Gaps()
    start, column = (np.asarray(part, dtype=np.int64) for part in (gaps.loading.indptr, gaps.loading.indices))
    filling = (None, None) if regressions is None else (regressions.coefficients, regressions.variances)
    return Gaps(gaps.sources, gaps.group, start, column, gaps.loading.data, *filling)


def native_leaves(family: Any) -> Any:
    """Return leaves of a family for compiled code; None for a family that it does not know."""
    return None if compiled_form(family) is None else _leaves_of(family)


@lru_cache(maxsize=64)
def _leaves_of(family: Any) -> Any:
    kind, numbers = family.compiled_form
    return DirichletLeaves(*numbers) if kind == "dirichlet" else NormalLeaves(*numbers)


def expected_parameters(family: Family, statistics: Floats) -> Floats:
    """`Family.expected_parameters`, made by compiled code where it knows the family."""
    leaves = native_leaves(family) if is_available() else None
    if leaves is None:
        return family.expected_parameters(statistics)
    rows = np.ascontiguousarray(statistics).reshape(-1, statistics.shape[-1])
    out = np.empty(rows.shape)
    leaves.evaluate(rows, out, None)
    return out.reshape(statistics.shape)


def log_evidence(family: Family, statistics: Floats) -> Floats:
    """`Family.log_evidence`, made by compiled code where it knows the family."""
    leaves = native_leaves(family) if is_available() else None
    if leaves is None:
        return family.log_evidence(statistics)
    rows = np.ascontiguousarray(statistics).reshape(-1, statistics.shape[-1])
    out = np.empty(len(rows))
    leaves.evaluate(rows, None, out)
    return out.reshape(statistics.shape[:-1])


def leaf_coefficients(family: Family, statistics: Floats) -> Floats | None:
    """Mean coefficients of a leaf (k,) whose residuals are scanned; None where leaves are constant."""
    if not family.uses_design:
        return None
    leaves = native_leaves(family)
    if leaves is None:
        return np.ascontiguousarray(cast("FactoredFamily", family).mean_coefficients(statistics))
    out = np.empty(leaves.n_slopes + 1)
    leaves.average(np.ascontiguousarray(statistics), out)
    return out


def mix_leaves(schema: Schema, tree: Tree, values: Floats | None, X: Any, threads: int) -> Floats:
    """Predict for rows (n, d): memberships in the leaves, (n, leaves), or means of leaf values (leaves, q) by them.

    Parameters
    ----------
    schema : Schema
    tree : Tree
    values : ndarray of shape (leaves, q) or None
        Values to average by membership, (n, q); None for the memberships.
    X : array of shape (n, d)
    threads : int
    """
    out = np.empty((len(X), tree.n_leaves if values is None else values.shape[1]))
    cells, units = readable_cells(X), native_units(schema)
    rest = tree.hyperplanes, tree.children, values, threads, out
    # Without gaps the core only reports missing cells, so that most tables are not searched for them beforehand.
    has_gaps = predict(cells, units, None, *rest)
    if has_gaps:
        predict(cells, units, native_gaps(schema.gaps(X), schema.regressions), *rest)
    return out
