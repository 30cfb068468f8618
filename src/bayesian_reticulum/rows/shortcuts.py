"""What some rows do in one go, faster than by requests, and what is done with all others.

Nothing else asks what kind of rows it has: who scans, and who sorts rows for the passes to come, is decided here.
"""

from __future__ import annotations

from typing import Any, Protocol, TypeGuard

import numpy as np

from ..arrays import Floats
from ..families import Family
from ..tree import Shape
from .protocol import Rows
from .requests import Histogram, scan_family


class ScanningRows(Protocol):
    """Rows that compare thresholds where their sums are, so that the sums need not be handed out."""

    def scan(self, request: Histogram) -> Floats | None:
        """What `scan` returns; None if these rows cannot."""
        ...


class RowsWithTable(Protocol):
    """Rows whose passes the compiled ascent makes without a return to Python."""

    @property
    def has_table(self) -> bool:
        """Whether these rows do."""
        ...

    def table_passes(self, tolerance: float, exact: bool) -> Any:
        """Return passes over the compiled table, for an ascent of this `Effort`."""
        ...


class SortingRows(Protocol):
    """Rows whose passes are faster if those on the same way down a tree lie side by side."""

    def arranged(self, hyperplanes: Floats, shape: Shape) -> Any:
        """The same rows, sorted by their leaf if that is worth it."""
        ...


# `isinstance` with a protocol takes 25 microseconds, 7% of the fit of iris in all.
def has_table(rows: Any) -> TypeGuard[RowsWithTable]:
    """Whether rows have a compiled table that ascents can make their passes over."""
    return bool(getattr(rows, "has_table", False))


def _can_scan(rows: Any) -> TypeGuard[ScanningRows]:
    return hasattr(rows, "scan")


def _can_be_sorted(rows: Any) -> TypeGuard[SortingRows]:
    return hasattr(rows, "arranged")


def scan(rows: Rows, request: Histogram) -> Floats:
    """Log evidence gained by a hard threshold at each edge, left and right of each cut; (cuts, 2, D, edges).

    It is that of the `scan_family`, from the sums of the histogram.
    """
    gains = rows.scan(request) if _can_scan(rows) else None
    return threshold_gains(scan_family(request.family), rows.reduce(request).statistics) if gains is None else gains


def threshold_gains(family: Family, histogram: Floats) -> Floats:
    """Log evidence that two leaves gain over one, at each edge (..., bins - 1) between bins (..., bins, k)."""
    below = histogram.cumsum(axis=-2)
    # Summed from the other end, as a difference from the whole would cost digits.
    above = np.flip(np.flip(histogram, axis=-2).cumsum(axis=-2), axis=-2)
    parted = family.log_evidence(below[..., :-1, :]) + family.log_evidence(above[..., 1:, :])
    return np.asarray(parted - family.log_evidence(below[..., -1:, :]))


def arranged(rows: Any, hyperplanes: Floats, shape: Shape) -> Any:
    """The same rows, sorted by their way down a tree where that makes passes faster."""
    return rows.arranged(hyperplanes, shape) if _can_be_sorted(rows) else rows
