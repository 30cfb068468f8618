"""The one place that decides what makes the sums over rows in memory: compiled code where it is in use, else NumPy.

`NativeRows` still leaves single requests to NumPy where that is faster or takes less memory (`limits`).
"""

from __future__ import annotations

from typing import Any

from ..arrays import Floats
from ..compiled import is_available
from ..data import Schema
from ..families import Family
from .limits import DEFAULT_LIMITS, Limits
from .native import NativeRows
from .numpy import NumpyRows


def rows_in_memory(
    X: Any,
    targets: Any,
    family: Family,
    weights: Floats,
    schema: Schema,
    *,
    threads: int = 1,
    limits: Limits = DEFAULT_LIMITS,
) -> NumpyRows:
    """Make the fastest rows that there are; threads are used by compiled code alone."""
    if is_available():
        return NativeRows(X, targets, family, weights, schema, threads=threads, limits=limits)
    return NumpyRows(X, targets, family, weights, schema, limits=limits)
