"""One attempt at one site."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from ..evidence import State, ascend_tree, converge_responsibilities, merge_leaves
from ..history import Candidate, GrowthEvent
from ..rows import Rows
from ..tree import Tree, branch_of, splits_below
from .policy import _LEAF_BY_LEAF, AROUND, GLOBAL, MINIMAL_GAIN, Policy, effort_for
from .proposals.proposal import Proposal
from .proposals.proposer import propose_changes
from .pruning import prune, refit
from .sites import Site

# What changed is first fitted with the splits around it, if there are others: with a branch of up to so many.
_SURROUNDING_SPLITS = 5
# A change that is this many nats behind, there, is not worth fitting all splits for.
_FAR_BEHIND = 10.0
# A tree this many nats behind is not saved by pruning, nor by fitting it further.
_HOPELESS = 3.0
# What a tree may still gain by pruning and another fit.
_HALF_FITTED = 1.0


class Surroundings(NamedTuple):
    """A small branch around a site, named by its first split, as its rows see it, and what it is worth as it is."""

    split_id: int
    view: Rows
    log_evidence: float


def surroundings_of(rows: Rows, incumbent: State, site: Site) -> Surroundings | None:
    """The largest branch of few splits that a change of the site leaves in the tree; None if there is none but all."""
    tree = incumbent.tree
    parents = {int(child): split for split, pair in enumerate(tree.children) for child in pair if child >= 0}
    above = np.flatnonzero(tree.ids == site.place[0])
    # A branch that is grown anew goes, with its first split.
    split = None if not len(above) else int(above[0]) if len(site.place) == 2 else parents.get(int(above[0]))
    n_splits = (tree.shape.sides != 0).sum(axis=1) - 1
    while split in parents and n_splits[parents[split]] <= _SURROUNDING_SPLITS:
        split = parents[split]
    if split not in parents or n_splits[split] > _SURROUNDING_SPLITS:
        return None
    branch, own, leaves = branch_of(tree, split), splits_below(tree, split), np.flatnonzero(tree.shape.sides[split])
    rest = merge_leaves(incumbent, [split])
    view = rows.within(rest.tree.hyperplanes, rest.tree.shape, rest.statistics, int(leaves[0]))
    start = branch.hyperplanes[None], incumbent.precisions[own][None], incumbent.statistics[leaves][None]
    as_it_is = converge_responsibilities(view, branch.shape, *start, tolerance=AROUND.tolerance, exact=False)
    return Surroundings(int(tree.ids[split]), view, float(as_it_is.log_evidence[0]))


def adapt_surroundings(around: Surroundings | None, proposal: Proposal) -> tuple[float, Proposal]:
    """What a proposal gains where only the branch around it adapts, and the proposal with that branch adapted."""
    if around is None:
        return np.inf, proposal
    tree, precisions, statistics = proposal.tree, proposal.precisions.copy(), proposal.statistics.copy()
    split = int(np.flatnonzero(tree.ids == around.split_id)[0])
    own, leaves = splits_below(tree, split), np.flatnonzero(tree.shape.sides[split])
    effort = replace(effort_for(around.view, AROUND), least=around.log_evidence - _FAR_BEHIND)
    branch = ascend_tree(around.view, branch_of(tree, split), precisions[own], statistics[leaves], effort)
    hyperplanes = tree.hyperplanes.copy()
    hyperplanes[own], precisions[own] = branch.tree.hyperplanes, branch.precisions
    statistics[leaves] = branch.statistics
    adapted = Tree(hyperplanes, tree.shape, tree.ids)
    proposal = proposal._replace(tree=adapted, precisions=precisions, statistics=statistics)
    return branch.log_evidence - around.log_evidence, proposal


def try_site(
    rows: Rows, incumbent: State, site: Site, policy: Policy, rng: np.random.Generator, first_id: int
) -> tuple[State | None, tuple[Candidate, ...], list[GrowthEvent]]:
    """Try branches at one site; returns the better tree if one was found, all candidates, and the best one's way."""
    candidates: list[Candidate] = []
    proposals: list[tuple[float, int, Proposal]] = []
    around = surroundings_of(rows, incumbent, site)
    for kind, local_gain, change in propose_changes(rows, site, policy, rng, first_id, is_small=around is None):
        if isinstance(change, Proposal):
            gain_around, proposal = adapt_surroundings(around, change)
            proposals.append((gain_around, len(candidates), proposal))
        reason = "falls behind with the tree around it held" if isinstance(change, Proposal) else change
        candidates.append(Candidate(kind, local_gain, None, False, reason))
    proposals.sort(key=lambda own: -round(own[0], 6))
    best: tuple[State, list[GrowthEvent], int] | None = None
    ahead = 0.0
    for gain_around, place, proposal in proposals:
        if gain_around < max(0.0, proposals[0][0]) - _FAR_BEHIND:
            break
        challenger, events = judge(rows, incumbent, proposal, ahead)
        gain = challenger.log_evidence - incumbent.log_evidence
        reason = f"gained less than {MINIMAL_GAIN} nat" if gain <= MINIMAL_GAIN else "another kind gained more"
        candidates[place] = replace(candidates[place], gain=gain, reason=reason)
        ahead = max(ahead, gain)
        if best is None or challenger.log_evidence > best[0].log_evidence + 1e-6:
            best = challenger, events, place
    if best is None:
        return None, tuple(candidates), []
    challenger, events, place = best
    if challenger.log_evidence <= incumbent.log_evidence + MINIMAL_GAIN:
        return None, tuple(candidates), events
    candidates[place] = replace(candidates[place], kept=True, reason="raised the log evidence")
    return challenger, tuple(candidates), events


def judge(rows: Rows, incumbent: State, proposal: Proposal, ahead: float = 0.0) -> tuple[State, list[GrowthEvent]]:
    """Fit all splits of a changed tree and prune it; returns the tree and how it came about.

    It is given up once it is not hoped to come near a rival that is so many nats ahead of the incumbent.
    """
    split_id = proposal.split_id
    events = [
        GrowthEvent(0, "proposed", split_id, proposal.started, np.nan),
        GrowthEvent(0, "local", split_id, proposal.tree, np.nan),
    ]
    hopeful = max(incumbent.log_evidence + ahead - _HOPELESS, proposal.worth_without)
    effort = replace(effort_for(rows, GLOBAL), least=hopeful - _HALF_FITTED)
    challenger = ascend_tree(rows, proposal.tree, proposal.precisions, proposal.statistics, effort)
    events.append(GrowthEvent(0, "global", split_id, challenger.tree, challenger.log_evidence))
    while challenger.tree.n_splits and challenger.log_evidence > hopeful:
        smaller = prune(rows, challenger)
        if smaller is None:
            break
        gone = np.setdiff1d(challenger.tree.ids, smaller.tree.ids).tolist()
        challenger = refit(rows, smaller)
        events += (GrowthEvent(0, "pruned", id_, challenger.tree, challenger.log_evidence) for id_ in gone)
        if rows.n_rows > _LEAF_BY_LEAF:
            # What does not pay now will be found by the next round.
            break
    return challenger, events
