"""The training rows, behind the only door through which anything else may ask about them.

`protocol` says what may be asked (`Rows`) and what a pass answers (`Pass`). `numpy` answers block by block and is the
reference; `native` answers from compiled code; `memory` chooses between them. `sampling` decides which rows are in a
sample, `histogram` and `information` hold the sums of scans and of Newton's steps, `gap_sums` what missing cells add
to gradient and information, and `limits` every size at which rows change how they work.
"""

from __future__ import annotations

from .limits import FULL_HESSIAN_COLUMNS, HESSIAN_ROWS, LEADING_AXES, Limits
from .memory import rows_in_memory
from .native import NativeRows
from .numpy import NumpyRows
from .protocol import Pass, Rows, mean_and_covariance, scan_family

__all__ = [
    "FULL_HESSIAN_COLUMNS",
    "HESSIAN_ROWS",
    "LEADING_AXES",
    "Limits",
    "NativeRows",
    "NumpyRows",
    "Pass",
    "Rows",
    "mean_and_covariance",
    "rows_in_memory",
    "scan_family",
]
