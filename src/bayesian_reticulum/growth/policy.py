"""The policy of growth: how long and how widely it searches, and every number of it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from ..evidence import Effort
from ..rows import Rows


@dataclass(frozen=True)
class Policy:
    """How long and how widely growth searches.

    The first six are parameters of the estimators. Gains, losses and tolerances are in nats of log evidence.

    Parameters
    ----------
    patience : int
        Attempts in a row without progress before growth stops.
    max_attempts : int
        Attempts at most.
    max_splits, max_depth : int or None
        Limits of the tree; None is no limit.
    n_directions : int
        Random directions scanned besides the features and the discriminant directions.
    lookahead : int
        Root cuts tried with the best cut on either side; 0 switches looking ahead off.

    sample_rows : int
        Rows of the first sample. A table of more than twice as many is grown on samples first.
    sample_growth : int
        Each sample has this many times the rows of the one before.
    sample_patience : int
        Attempts in a row without progress after which a sample gives way to the next.
    leaf_rows : int
        Rows below a leaf that are enough to find good starts: half of a sample.
    leaf_by_leaf_rows, leaf_by_leaf_cells : int
        With more rows or cells than this, growth on these rows ends with the rounds: leaf by leaf, each attempt would
        read all rows. With more rows, a tree is also pruned only once in each round. Four samples, and 128 cells for
        each row of a sample.
    bayes_factor_rows : int
        Of more rows than this, log Bayes factors beyond doubt are only bounded: four samples.
    beyond_doubt : float
        Log Bayes factor of a split that no one doubts.

    minimal_gain : float
        Gain over the incumbent that is needed to be kept. Also what a split on trial has to gain in a round, with the
        rest of the tree held.
    minimal_progress : float
        Gain for each unit of weight that counts as progress: smaller gains are kept, but are not searched for.
    gain_of_round : float
        Rounds go on while they gain this for each row.
    explained : float
        A leaf with a potential of less than this is explained.
    largest_local_loss : float
        A branch that loses more than this with the rest of the tree held is not worth an ascent of all splits.
    far_behind : float
        Nor is a change that is this far behind the best one, or behind the incumbent if none gains, once each was
        fitted with the splits around it.
    hopeless : float
        A tree that is this far behind the best one so far after an ascent of all splits is not saved by pruning, nor by
        fitting it further.
    half_trained : float
        What a tree may still gain by pruning and another ascent.
    doubtful : float
        The tree is tried without a split if it would lose less than this by the collapse of the split, before all else
        has adapted.
    tie : float
        Trees that are no farther apart than this are equal, and the first of them is taken.
    reconverge_tolerance : float
        Gain that is left when responsibilities have converged again, where a tree with splits collapsed is judged.
    negligible_gain : float
        Gain for each row that is not worth another pass over many rows: differences of log evidence grow with the rows.

    first_look, second_look, local_effort, surrounding_effort, global_effort, polish_effort : Effort
        How far trees are fitted, in this order: all candidates of one kind, and the better half of these, on the sample
        of `leaf_rows`; the better half of those, on all rows of the leaf; a change with the splits around it; all
        splits; and all splits of the final tree, which converge to rounding.
    many_rows_rounds, many_rows_passes : int
        Limits of the updates of precisions, and of the passes, of any of these where there are many rows. 40 damped
        passes get as far as 300 shortened ones did (46 splits on 131 072 rows of covertype).
    most_prior_updates : int
        How often, at most, the prior of the leaves is set by evidence and the tree refitted: a tree that is fitted to
        another prior may call for yet another one.

    bins : int
        Quantiles between which thresholds are scanned along each direction.
    most_contrasts : int
        Directions of most variation of the targets that are scanned, at most.
    least_class_weight : float
        Weight below a leaf that a class must have to give a direction to scan.
    ridge : float
        Added to the covariance of the features, which have unit spread, for discriminant directions.
    constant_variance : float
        Variance up to which a column or direction is constant: rounding leaves this.
    stiffness : float
        Activation at one standard deviation from a new split.
    weak_precision : float
        Prior precision of a new split for each angle of its hyperplane: weakly bound, but no less so with many
        features. From .02 for all of them the evidence converges to stiffer splits in wide tables: log-loss of
        ionosphere was .30 to .34, with this it is .26 to .27; that of wdbc went from .079 to .076.
    most_branches, branch_widths : int
        Candidates of each kind that are fitted: `most_branches`, fewer in wide tables, where each costs more: so many
        that they have `branch_widths` offsets and slopes a split, and two at least.
    stack_floats : int
        Floats that the information matrices of candidates fitted at once may hold.

    lookahead_directions : int
        Directions along which the second level of a look-ahead is scanned, at most: those with the best cuts.
    scan_floats : int
        Statistics that one scan may hold.
    skipped_edges : float
        Share of the thresholds on either end of a direction that are not tried as roots of a look-ahead.
    stands_out : float
        Where nothing simpler pays, three cuts are tried if they gain more than so many times what the best single cut
        does.
    turn : float
        Slope, in units of its stiffness, by which the two halves of a bent split are turned away from it.
    least_at_boundary : float
        Effective number of rows that a boundary needs to be bent: one in the grey zone counts for up to a quarter.
    surrounding_splits : int
        A change is first fitted with the splits around it: with the largest branch of up to so many splits that is not
        the whole tree, if there is one.
    regrown_leaves : int
        Branches with up to this many leaves are grown anew now and then.
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
    sample_patience: int = 4
    leaf_rows: int = sample_rows // 2
    leaf_by_leaf_rows: int = 4 * sample_rows
    leaf_by_leaf_cells: int = 128 * sample_rows
    bayes_factor_rows: int = 4 * sample_rows
    beyond_doubt: float = 20.0

    # What pays.
    minimal_gain: float = 0.1
    minimal_progress: float = 2e-4
    gain_of_round: float = 2e-2
    explained: float = 1.0
    largest_local_loss: float = 1.0
    far_behind: float = 10.0
    hopeless: float = 3.0
    half_trained: float = 1.0
    doubtful: float = 10.0
    tie: float = 1e-6
    reconverge_tolerance: float = 1e-3
    negligible_gain: float = 2e-6

    # How far trees are fitted.
    first_look: Effort = field(default=Effort(tolerance=1e-1, rounds=1, max_passes=6))
    second_look: Effort = field(default=Effort(tolerance=3e-2, rounds=2, max_passes=6))
    local_effort: Effort = field(default=Effort(tolerance=1e-2, rounds=3, max_passes=30))
    surrounding_effort: Effort = field(default=Effort(tolerance=1e-2, rounds=3, max_passes=40))
    global_effort: Effort = field(default=Effort(tolerance=1e-3, rounds=8, max_passes=200))
    polish_effort: Effort = field(default=Effort(tolerance=1e-11, rounds=0, max_passes=500, exact=True))
    many_rows_rounds: int = 2
    many_rows_passes: int = 40
    most_prior_updates: int = 8

    # Scans and branches.
    bins: int = 32
    most_contrasts: int = 16
    least_class_weight: float = 1.0
    ridge: float = 0.01
    constant_variance: float = 1e-12
    stiffness: float = 4.0
    weak_precision: float = 0.02
    most_branches: int = 8
    branch_widths: int = 512
    stack_floats: int = 1 << 22

    # Single kinds of proposals and sites.
    lookahead_directions: int = 128
    scan_floats: int = 1 << 19
    skipped_edges: float = 0.1
    stands_out: float = 2.0
    turn: float = 0.35
    least_at_boundary: float = 1.0
    surrounding_splits: int = 5
    regrown_leaves: int = 4

    def grows_on_samples(self, rows: Rows) -> bool:
        """Whether there are so many rows that growth starts on a sample of them."""
        return rows.n_rows > 2 * self.sample_rows

    def grows_leaf_by_leaf(self, rows: Rows) -> bool:
        """Whether rows and cells are few enough to search single leaves after the rounds."""
        n_cells = rows.n_rows * (rows.n_columns + 1)
        return rows.n_rows <= self.leaf_by_leaf_rows and n_cells <= self.leaf_by_leaf_cells

    def tolerance_for(self, rows: Rows, tolerance: float) -> float:
        """A tolerance in nats, raised to what is negligible with this many rows."""
        return max(tolerance, self.negligible_gain * rows.n_rows) if self.grows_on_samples(rows) else tolerance

    def effort_for(self, rows: Rows, effort: Effort) -> Effort:
        """An effort, limited to what is worth its time with this many rows."""
        if not self.grows_on_samples(rows):
            return effort
        return replace(
            effort,
            tolerance=self.tolerance_for(rows, effort.tolerance),
            rounds=min(effort.rounds, self.many_rows_rounds),
            max_passes=min(effort.max_passes, self.many_rows_passes),
        )

    def n_branches(self, width: int) -> int:
        """Candidates of each kind that are fitted where a split has so many offsets and slopes."""
        return max(2, min(self.most_branches, self.branch_widths // width))
