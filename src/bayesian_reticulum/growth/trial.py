"""A proposal on trial: all splits of the changed tree are trained, those that do not pay are pruned."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..evidence import State, ascend_tree
from ..families import Family
from ..history import Candidate, GrowthEvent
from ..rows import Rows
from .policy import Policy
from .proposals import Proposal
from .pruning import prune, retrain


@dataclass(frozen=True, eq=False)
class Trial:
    """What came of an attempt.

    Attributes
    ----------
    challenger : State or None
        The tree that is better than the incumbent; None if there is none.
    candidates : tuple of Candidate
        All that was tried, with the reason why it was kept or not.
    events : tuple of GrowthEvent
        How the best proposal was trained and pruned; the number of the attempt is left open.
    split_id : int or None
        The split that the attempt is about.
    """

    challenger: State | None
    candidates: tuple[Candidate, ...] = ()
    events: tuple[GrowthEvent, ...] = ()
    split_id: int | None = None


def train_and_prune(
    rows: Rows, incumbent: State, proposal: Proposal, policy: Policy, lead: float = 0.0
) -> tuple[State, tuple[GrowthEvent, ...]]:
    """Train all splits of a changed tree and prune it; returns the tree and how it came about.

    The tree is given up once there is no hope that it comes near a rival that is `lead` nats ahead of the incumbent.
    """
    split_id = proposal.split_id
    hopeful = max(incumbent.log_evidence + lead - policy.small_difference, proposal.worth_without)
    challenger = train_all_splits(rows, incumbent.family, proposal, policy, least=hopeful - policy.small_difference)
    events = [
        GrowthEvent(0, "proposed", split_id, proposal.started, np.nan),
        GrowthEvent(0, "local", split_id, proposal.tree, np.nan),
        GrowthEvent(0, "global", split_id, challenger.tree, challenger.log_evidence),
    ]
    while challenger.tree.n_splits and challenger.log_evidence > hopeful:
        smaller = prune(rows, challenger, policy)
        if smaller is None:
            break
        pruned_ids = np.setdiff1d(challenger.tree.ids, smaller.tree.ids).tolist()
        challenger = retrain(rows, smaller, policy)
        events += (GrowthEvent(0, "pruned", id_, challenger.tree, challenger.log_evidence) for id_ in pruned_ids)
        if rows.n_rows > policy.leaf_by_leaf_rows:
            # What does not pay now is left to the next round.
            break
    return challenger, tuple(events)


def train_all_splits(rows: Rows, family: Family, proposal: Proposal, policy: Policy, least: float) -> State:
    """The changed tree after an ascent of all its splits, given up once it is not hoped to reach `least`."""
    effort = replace(policy.effort_for(rows, policy.global_effort), least=least)
    return ascend_tree(rows, family, proposal.tree, proposal.precisions, proposal.statistics, effort)
