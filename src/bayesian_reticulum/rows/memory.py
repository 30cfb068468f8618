"""The one place that chooses rows: compiled code where it is in use, else NumPy."""

from __future__ import annotations

from ..compiled import is_available
from .arrays import ArrayRows
from .limits import DEFAULT_LIMITS, Limits
from .native import NativeRows
from .part import TablePart
from .protocol import Likelihood, LocalRows
from .source import RowData


def rows_in_memory(
    data: RowData, likelihood: Likelihood, *, threads: int = 1, limits: Limits = DEFAULT_LIMITS
) -> LocalRows:
    """Make the fastest rows that there are; threads are used by compiled code alone.

    Parameters
    ----------
    data : RowData
    likelihood : Likelihood
        A family; its prior is of no importance.
    threads : int
    limits : Limits

    Returns
    -------
    LocalRows
    """
    part = TablePart.whole(data, likelihood, limits)
    return NativeRows(part, threads=threads) if is_available() else ArrayRows(part)
