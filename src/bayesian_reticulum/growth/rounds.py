"""Rounds, in which every leaf gets its best branch at once."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from ..evidence import State
from ..history import Candidate, GrowthEvent
from ..rows import Rows
from .policy import MINIMAL_GAIN, Policy
from .proposals.branches import CUT, Branches
from .proposals.proposal import Proposal
from .proposals.proposer import bound_of_leaf, graft_branch, propose_branches
from .sites import Place, Site, fits_limits, leaf_places, unexplained_leaves
from .trial import judge


class Round(NamedTuple):
    """What came of a round: as of an attempt, the next free id, and the leaves without a branch worth its price."""

    challenger: State | None
    candidates: tuple[Candidate, ...]
    events: list[GrowthEvent]
    next_id: int
    fruitless: frozenset[Place]


def expand_leaves(
    rows: Rows,
    incumbent: State,
    policy: Policy,
    rng: np.random.Generator,
    first_id: int,
    fruitless: frozenset[Place],
) -> Round:
    """Try branches at all unexplained leaves at once, but those where an earlier round has found none.

    The local fits are independent of one another, so that splits are fitted together once for a whole round: trees
    with many splits would take too long one by one.
    """
    tree = incumbent.tree
    nothing = np.empty((0, 3, tree.n_features + 1))
    candidates: list[Candidate] = []
    chosen: list[int] = []
    barren: set[Place] = set()
    names = leaf_places(tree)
    # From right to left, so that a branch does not renumber the leaves that are still to come.
    sites = [Site(names[leaf], incumbent, leaf, nothing) for leaf in sorted(unexplained_leaves(rows, tree).tolist())]
    sites = [site for site in sites[::-1] if site.place not in fruitless and fits_limits(site, CUT, policy)]
    views = rows.views(tree.hyperplanes, tree.shape, incumbent.statistics, [site.leaf for site in sites])
    state = incumbent
    for untouched, view in zip(sites, views, strict=True):
        if state.tree.n_splits == policy.max_splits:
            break
        site = untouched._replace(state=state)
        base = bound_of_leaf(view, incumbent.statistics[site.leaf])
        best: tuple[float, Branches, int, int] | None = None
        for branches in propose_branches(view, site, policy, rng):
            gains = branches.stack.log_evidence - base
            index = int(np.argmax(np.round(gains, 6)))
            gain = float(gains[index])
            reason = "another kind gained more" if gain > MINIMAL_GAIN else "does not pay for its price"
            if gain > MINIMAL_GAIN and (best is None or gain > best[0]):
                best = gain, branches, index, len(candidates)
            candidates.append(Candidate(branches.kind, gain, None, False, reason))
        if best is None:
            barren.add(site.place)
        else:
            _, branches, index, place = best
            chosen.append(place)
            grafted = graft_branch(site, branches, index, first_id)
            first_id += 3
            state = replace(state, tree=grafted.tree, precisions=grafted.precisions, statistics=grafted.statistics)
    fruitless = fruitless.union(barren)
    if state is incumbent:
        return Round(None, tuple(candidates), [], first_id, fruitless)
    proposal = Proposal(state.tree, state.tree, state.precisions, state.statistics, -np.inf, int(state.tree.ids[-1]))
    challenger, events = judge(rows, incumbent, proposal)
    gained = challenger.log_evidence > incumbent.log_evidence + MINIMAL_GAIN
    reason = "the round raised the log evidence" if gained else f"the round gained less than {MINIMAL_GAIN} nat"
    for place in chosen:
        candidates[place] = replace(candidates[place], kept=gained, reason=reason)
    return Round(challenger if gained else None, tuple(candidates), events, first_id, fruitless)
