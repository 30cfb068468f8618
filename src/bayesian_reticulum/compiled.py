"""The compiled core: whether it is in use, and the tables it is handed."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from .arrays import Floats
from .data import Gaps as SchemaGaps
from .data import Schema
from .tree import Tree

import_error = ""
try:
    from ._native import Gaps, Units, predict
    from ._native import instruction_set as instruction_set
except ImportError as error:  # no compiler where the package was installed
    instruction_set, import_error = "", str(error)


def is_available() -> bool:
    """Whether compiled code is there and not switched off by the environment."""
    return bool(instruction_set) and os.environ.get("BAYESIAN_RETICULUM_NATIVE", "1") != "0"


def readable_cells(X: Any) -> Any:
    """Cells as compiled code reads them: copied only where it knows neither their type nor their way in memory."""
    X = np.asarray(X)
    is_whole = X.flags.aligned and not any(stride % X.itemsize for stride in X.strides)
    return X if is_whole and X.dtype in (np.float64, np.float32) else np.array(X, dtype=np.float64, order="C")


def native_units(schema: Schema) -> Any:
    return Units(schema.center, schema.scale, schema.low, schema.high, schema.source, schema.code)


def native_gaps(gaps: SchemaGaps | None, precision: Floats | None) -> Any:
    if gaps is None:
        return Gaps()
    start, column = (np.asarray(part, dtype=np.int64) for part in (gaps.loading.indptr, gaps.loading.indices))
    return Gaps(gaps.sources, gaps.group, start, column, gaps.loading.data, precision)


def mix_leaves(schema: Schema, tree: Tree, values: Floats | None, X: Any, threads: int) -> Floats:
    """Memberships of rows (n, d) in the leaves, (n, leaves), or the means of leaf values (leaves, q) that they mix."""
    out = np.empty((len(X), tree.n_leaves if values is None else values.shape[1]))
    cells, units = readable_cells(X), native_units(schema)
    rest = tree.hyperplanes, tree.children, values, threads, out
    has_gaps = predict(cells, units, None, *rest)
    if has_gaps:
        predict(cells, units, native_gaps(schema.gaps(X), schema.covariance_inverse), *rest)
    return out
