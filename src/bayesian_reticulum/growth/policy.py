"""Every number of growth."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ..evidence import Effort
from ..rows import Rows


@dataclass(frozen=True)
class Policy:
    """How long and how widely growth searches.

    Parameters
    ----------
    patience : int
        Attempts in a row without progress before growth stops.
    max_attempts : int
    max_splits, max_depth : int or None
    n_directions : int
        Random directions scanned besides the features and the discriminant directions.
    lookahead : int
        Root cuts tried with the best cut on either side; 0 switches looking ahead off.
    """

    patience: int = 8
    max_attempts: int = 500
    max_splits: int | None = None
    max_depth: int | None = None
    n_directions: int = 16
    lookahead: int = 64


FIRST_LOOK = Effort(tolerance=1e-1, rounds=1, max_passes=6)
SECOND_LOOK = Effort(tolerance=3e-2, rounds=2, max_passes=6)
LOCAL = Effort(tolerance=1e-2, rounds=3, max_passes=30)
AROUND = Effort(tolerance=1e-2, rounds=3, max_passes=40)
GLOBAL = Effort(tolerance=1e-3, rounds=8, max_passes=200)
MANY_ROWS = Effort(rounds=2, max_passes=40)
POLISH = Effort(tolerance=1e-11, rounds=0, max_passes=500, exact=True)
# Activation at one standard deviation from a new split.
STIFFNESS = 4.0
# Prior precision of a new split for each angle of its hyperplane: weakly bound, but no less so with many features.
WEAK_PRECISION = 0.02
# Rows below a leaf that are enough to find good starts.
SAMPLE = 8192
# Nats by which an attempt must beat the incumbent to be kept, and for each unit of weight to count as progress.
MINIMAL_GAIN, _MINIMAL_PROGRESS = 0.1, 2e-4
# Many rows are first grown on a sample of this many, then on ever larger ones.
FIRST_SAMPLE = 16384
# Nats for each of many rows that are not worth another pass.
_NEGLIGIBLE_GAIN = 2e-6
# With more rows or cells than this, what rounds have found is not searched leaf by leaf again: each attempt reads all.
_LEAF_BY_LEAF, _CELLS_LEAF_BY_LEAF = 65536, 1 << 21


def grows_on_samples(rows: Rows) -> bool:
    """Whether a sample of the rows comes before them."""
    return rows.n_rows > 2 * FIRST_SAMPLE


def tolerance_for(rows: Rows, tolerance: float) -> float:
    """Nats that do not matter with this many rows: differences of log evidence grow with them."""
    return max(tolerance, _NEGLIGIBLE_GAIN * rows.n_rows) if grows_on_samples(rows) else tolerance


def effort_for(rows: Rows, effort: Effort) -> Effort:
    """An effort that is worth its time with this many rows."""
    if not grows_on_samples(rows):
        return effort
    passes, rounds = min(effort.max_passes, MANY_ROWS.max_passes), min(effort.rounds, MANY_ROWS.rounds)
    return replace(effort, tolerance=tolerance_for(rows, effort.tolerance), rounds=rounds, max_passes=passes)


def is_too_large_for_single_leaves(rows: Rows) -> bool:
    return rows.n_rows > _LEAF_BY_LEAF or rows.n_rows * (rows.n_features + 1) > _CELLS_LEAF_BY_LEAF
