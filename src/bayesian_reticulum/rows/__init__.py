"""The training rows, behind the only door through which anything else may ask about them.

`protocol` is the contract: `Rows`, `LocalRows` and the `TreeContext` of a view. `requests` holds what is summed over
rows, each request a frozen value that is computed on a `block` in any namespace of arrays, with its sums;
`information` and `gap_sums` are parts of a pass. `source` is what rows are made of, `part` what is in view of that, and
`views` how leaves see rows. `arrays` answers requests block by block and is the reference; `native` answers those that
`answers` lists from compiled code; `memory` chooses between them. `shortcuts` says what some rows do in one go,
`sampling` which rows are in a sample, and `limits` every size at which rows change how they work.
"""

from __future__ import annotations

from .answers import ANSWERS
from .arrays import ArrayRows
from .block import Block, Facts, block_size, join_blocks
from .limits import FULL_HESSIAN_COLUMNS, HESSIAN_ROWS, LEADING_AXES, Limits
from .memory import rows_in_memory
from .native import NativeRows
from .protocol import Likelihood, LocalRows, Rows, RowsFactory, TreeContext, view_of_leaf
from .requests import (
    BelowSplits,
    BelowSums,
    GreyShares,
    GreySums,
    Histogram,
    HistogramSums,
    LeafSums,
    MembershipSums,
    Moments,
    MomentSums,
    Pass,
    PassSums,
    Request,
    SumsT,
    mean_and_covariance,
    scan_family,
    sum_over,
)
from .sampling import row_keys, sampled_places
from .shortcuts import RowsWithTable, arranged, has_table, scan
from .source import RowData
from .views import join_seen, seen_from

__all__ = [
    "ANSWERS",
    "FULL_HESSIAN_COLUMNS",
    "HESSIAN_ROWS",
    "LEADING_AXES",
    "ArrayRows",
    "BelowSplits",
    "BelowSums",
    "Block",
    "Facts",
    "GreyShares",
    "GreySums",
    "Histogram",
    "HistogramSums",
    "LeafSums",
    "Likelihood",
    "Limits",
    "LocalRows",
    "MembershipSums",
    "MomentSums",
    "Moments",
    "NativeRows",
    "Pass",
    "PassSums",
    "Request",
    "RowData",
    "Rows",
    "RowsFactory",
    "RowsWithTable",
    "SumsT",
    "TreeContext",
    "arranged",
    "block_size",
    "has_table",
    "join_blocks",
    "join_seen",
    "mean_and_covariance",
    "row_keys",
    "rows_in_memory",
    "sampled_places",
    "scan",
    "scan_family",
    "seen_from",
    "sum_over",
    "view_of_leaf",
]
