"""The policy of simplification: every number of it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from ..evidence import Effort
from ..growth import Policy
from ..rows import Rows


@dataclass(frozen=True)
class SimplificationPolicy:
    """How simpler trees are searched for. Losses and tolerances are in nats of log evidence.

    Parameters
    ----------
    growth : Policy
        What sparse trees have in common with others: what pays, what many rows are, how far all splits are fitted.
    effort : Effort
        How far candidates for a sparse split are fitted before they are compared.
    choice_loss : float
        Nats for each row that a tree with few features may lose if it has to pay for having chosen these among all.
        Beyond that, it is more likely that they have been chosen by chance, and others would do as well on other rows.
    widening, widenings : float, int
        By how much the number of features in a split may grow, and how often, if no tree with fewer is good enough.
    thinned_part : int
        One in so many of the features in excess leaves a split before the tree is fitted again.
    trials : int
        Changes of each kind that are worked out in full before the best is chosen.
    most_merged : int
        Splits of a tree, at most, for merging them to be tried.
    beam : int
        Sparse splits of a leaf that are looked for side by side.
    smallest_slope : float
        A slope that is to be part of a sparse split may start as small as this, but not at zero.
    few_columns : float
        Share of columns below which it pays to fit a tree to those columns alone.
    most_candidates : int
        Of a wide table, features that sparse splits may look at: the most important ones.
    converged, reconverge_tolerance : float
        Gain that is left when the responsibilities of the fitted tree have converged, and those of simpler ones.
    """

    growth: Policy = field(default_factory=Policy)
    effort: Effort = field(default=Effort(tolerance=3e-2, rounds=2, max_passes=15, sparse=True))
    choice_loss: float = 0.05
    widening: float = 1.6
    widenings: int = 2
    thinned_part: int = 3
    trials: int = 3
    most_merged: int = 32
    beam: int = 12
    smallest_slope: float = 1e-9
    few_columns: float = 0.7
    most_candidates: int = 128
    converged: float = 1e-9
    reconverge_tolerance: float = 1e-2

    def whole_effort(self, rows: Rows) -> Effort:
        """How far all splits of a sparse tree are fitted to so many rows."""
        return self.growth.effort_for(rows, replace(self.growth.global_effort, sparse=True))
