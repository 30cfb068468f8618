"""The policy of growth: how long and how widely it searches, and every number of it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from ..evidence import Effort
from ..rows import Rows

# A sample has as many rows below a leaf as are enough to find good starts twice, a table of four samples is no longer
# grown leaf by leaf, and neither is one of more than 128 cells for each row of a sample.
_SAMPLES_OF_A_LEAF, _SAMPLES_LEAF_BY_LEAF, _CELLS_OF_A_ROW = 2, 4, 128
# A hundredth of what counts as progress is not worth another pass over many rows.
_NEGLIGIBLE = 0.01


@dataclass(frozen=True)
class Policy:
    """How long and how widely growth searches.

    The first six are parameters of the estimators. Gains, losses and tolerances are in nats of log evidence. What was
    measured is the log-loss of twelve tables of classes, or the RMSE of ten of numbers, at most 3000 rows each and
    three folds, as a ratio to that with the default; about .005 of it is chance.

    Parameters
    ----------
    patience : int
        Attempts in a row without progress before growth stops; on a sample, half as many.
    max_attempts : int
        Attempts at most.
    max_splits, max_depth : int or None
        Limits of the tree; None is no limit.
    n_directions : int
        Random directions scanned besides the features and the discriminant directions.
    lookahead : int
        Root cuts tried with the best cut on either side; 0 switches looking ahead off.

    sample_rows : int
        Rows of the first sample. A table of more than twice as many is grown on samples first. Of numbers, which say
        more of a leaf than classes do, 2048 rows are enough: 16 500 rows of california_housing take 3 s with that and
        20 s without, at an RMSE of .452 and .451.
    sample_growth : int
        Each sample has this many times the rows of the one before: few enough passes over the small ones for their cost
        not to matter.

    minimal_gain : float
        Gain over the incumbent that is needed to be kept, ten times what ascents leave open. Also what a split on trial
        has to gain in a round, with the rest of the tree held.
    minimal_progress : float
        Gain for each row that counts as progress: smaller gains are kept, but are not searched for. A row of numbers
        has more log evidence: with .001 instead of .0002 their fits take .89 of the time, at 1.001 times the RMSE.
    gain_of_round : float
        Rounds go on while they gain this for each row.
    small_difference : float
        A leaf with less potential than this is explained. A branch that loses more than this with the rest of the tree
        held is not worth an ascent of all splits. A tree that is this far behind the best one after that ascent is not
        saved by pruning (with 10: .998 for classes and .995 for numbers), which gains as much at most (with 3: 1.002).
    large_difference : float
        A change that is this far behind the best one, or behind the incumbent if none gains, is not worth an ascent of
        all splits, once each was fitted with the splits around it; nor is a branch grown anew that is so far behind
        what it was. A split is tried without if the tree would lose less than this by its collapse, before all else has
        adapted. Of twice this log Bayes factor no one doubts a split.

    look, local_effort, global_effort : Effort
        How far trees are fitted: candidates on a sample, twice, of which the better half goes on each time; branches
        with the rest of the tree held; and all splits. With other efforts for the second look and for the splits around
        a change: 1.000.
    many_rows : Effort
        Limits of any of these where there are many rows. 40 damped passes get as far as 300 shortened ones did (46
        splits on 131 072 rows of covertype).

    bins : int
        Quantiles between which thresholds are scanned along each direction. With 16: 1.008 for classes.
    most_branches, branch_widths : int
        Candidates of each kind that are fitted, and directions of most variation of the targets that are scanned:
        `most_branches`; of candidates, fewer in wide tables, where each costs more: so many that they have
        `branch_widths` offsets and slopes a split, and two at least. With 6 branches: .992.
    stands_out : float
        Where nothing simpler pays, three cuts are tried if they gain more than so many times what the best single cut
        does. With 1.5: 1.000.
    turn : float
        Slope, in units of its stiffness, by which the two halves of a bent split are turned away from it. With .5:
        1.000.
    small_branch : int
        Splits of a small branch: those up to this size are grown anew now and then, and a change is first fitted with
        the largest branch around it that has no more. With 5 for the latter: 1.001.
    stiffness : float
        Activation at one standard deviation from a new split. With 3: 1.011.
    weak_precision : float
        Prior precision of a new split for each angle of its hyperplane: weakly bound, but no less so with many
        features. From .02 for all of them the evidence converges to stiffer splits in wide tables: log-loss of
        ionosphere was .30 to .34, with this it is .26 to .27; that of wdbc went from .079 to .076.
    ridge : float
        Added to the covariance of the features, which have unit spread, for discriminant directions. With .1: 1.002.
    """

    patience: int = 8
    max_attempts: int = 500
    max_splits: int | None = None
    max_depth: int | None = None
    n_directions: int = 16
    lookahead: int = 64

    # Samples.
    sample_rows: int = 16384
    sample_growth: int = 8

    # What pays.
    minimal_gain: float = 0.1
    minimal_progress: float = 2e-4
    gain_of_round: float = 2e-2
    small_difference: float = 1.0
    large_difference: float = 10.0

    # How far trees are fitted.
    look: Effort = field(default=Effort(tolerance=1e-1, rounds=1, max_passes=6))
    local_effort: Effort = field(default=Effort(tolerance=1e-2, rounds=3, max_passes=30))
    global_effort: Effort = field(default=Effort(tolerance=1e-3, rounds=8, max_passes=200))
    many_rows: Effort = field(default=Effort(rounds=2, max_passes=40))

    # Scans and branches.
    bins: int = 32
    most_branches: int = 8
    branch_widths: int = 512
    stands_out: float = 2.0
    turn: float = 0.35
    small_branch: int = 3
    stiffness: float = 4.0
    weak_precision: float = 0.02
    ridge: float = 0.01

    @property
    def sample_patience(self) -> int:
        """Attempts in a row without progress after which a sample gives way to the next."""
        return max(1, self.patience // 2)

    @property
    def leaf_rows(self) -> int:
        """Rows below a leaf that are enough to find good starts."""
        return self.sample_rows // _SAMPLES_OF_A_LEAF

    @property
    def leaf_by_leaf_rows(self) -> int:
        """Rows up to which single leaves are searched, and log Bayes factors beyond doubt are made exactly.

        With more, each attempt would read all rows: growth on these ends with the rounds, and a tree is pruned only
        once in each round.
        """
        return _SAMPLES_LEAF_BY_LEAF * self.sample_rows

    @property
    def beyond_doubt(self) -> float:
        """Log Bayes factor of a split that no one doubts."""
        return 2 * self.large_difference

    @property
    def reconverge_tolerance(self) -> float:
        """Gain that is left when responsibilities have converged again in a tree with splits collapsed."""
        return self.global_effort.tolerance

    def grows_on_samples(self, rows: Rows) -> bool:
        """Whether there are so many rows that growth starts on a sample of them."""
        return rows.n_rows > 2 * self.sample_rows

    def grows_leaf_by_leaf(self, rows: Rows) -> bool:
        """Whether rows and cells are few enough to search single leaves after the rounds."""
        n_cells = rows.n_rows * (rows.n_columns + 1)
        return rows.n_rows <= self.leaf_by_leaf_rows and n_cells <= _CELLS_OF_A_ROW * self.sample_rows

    def tolerance_for(self, rows: Rows, tolerance: float) -> float:
        """A tolerance in nats, raised to what is negligible with this many rows: differences grow with them."""
        return (
            max(tolerance, _NEGLIGIBLE * self.minimal_progress * rows.n_rows)
            if self.grows_on_samples(rows)
            else tolerance
        )

    def effort_for(self, rows: Rows, effort: Effort) -> Effort:
        """An effort, limited to what is worth its time with this many rows."""
        if not self.grows_on_samples(rows):
            return effort
        return replace(
            effort,
            tolerance=self.tolerance_for(rows, effort.tolerance),
            rounds=min(effort.rounds, self.many_rows.rounds),
            max_passes=min(effort.max_passes, self.many_rows.max_passes),
        )

    def n_branches(self, width: int) -> int:
        """Candidates of each kind that are fitted where a split has so many offsets and slopes."""
        return max(2, min(self.most_branches, self.branch_widths // width))
