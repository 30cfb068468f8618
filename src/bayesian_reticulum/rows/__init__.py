"""rows"""

from __future__ import annotations

from .memory import rows_in_memory
from .native import NativeRows
from .numpy import FULL_HESSIAN_COLUMNS, LEADING_AXES, NumpyRows
from .protocol import HESSIAN_ROWS, Pass, Rows, mean_and_covariance, scan_family

__all__ = [
    "FULL_HESSIAN_COLUMNS",
    "HESSIAN_ROWS",
    "LEADING_AXES",
    "NativeRows",
    "NumpyRows",
    "Pass",
    "Rows",
    "mean_and_covariance",
    "rows_in_memory",
    "scan_family",
]
