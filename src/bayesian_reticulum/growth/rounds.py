"""Rounds: every leaf gets its best branch at once, and all splits are then trained and pruned together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from ..evidence import State
from ..history import Candidate
from ..rows import Rows
from .policy import Policy
from .proposals import PROPOSERS, Proposal, Proposer, propose, survey_site
from .rejection import Rejection
from .shapes import MOST_NEW_SPLITS
from .sites import LeafSite, Place, leaf_sites
from .trial import Trial, train_and_prune


class Round(NamedTuple):
    """What came of a round.

    Attributes
    ----------
    trial : Trial
    next_id : int
        The next free id of a split.
    fruitless : frozenset of Place
        Leaves where no round has found a branch that is worth its price.
    """

    trial: Trial
    next_id: int
    fruitless: frozenset[Place]


@dataclass
class _Expansion:
    """A tree that gets branch after branch, which are not trained together yet.

    Attributes
    ----------
    state : State
        The tree with the branches that it has got; its log evidence and prices are those of the tree without them.
    next_id : int
        The next free id of a split.
    candidates : list of Candidate
        The best branch of each kind at each leaf.
    chosen : list of int
        The places among the candidates of the branches that are in the tree.
    fruitless : set of Place
        Leaves without a branch that is worth its price.
    """

    state: State
    next_id: int
    candidates: list[Candidate] = field(default_factory=list)
    chosen: list[int] = field(default_factory=list)
    fruitless: set[Place] = field(default_factory=set)

    def add_best_branch(
        self,
        rows: Rows,
        view: Rows,
        site: LeafSite,
        policy: Policy,
        rng: np.random.Generator,
        proposers: Sequence[Proposer],
    ) -> None:
        """Put the branch that gains most in the place of a leaf, if one is worth its price."""
        outlook = survey_site(rows, view, replace(site, state=self.state), policy, rng, self.next_id)
        best: tuple[float, Proposal, int] | None = None
        for proposal in propose(outlook, policy, rng, proposers):
            gain = proposal.local_gain
            assert gain is not None, f"{proposal.kind} is local, but its proposal has no local gain"
            pays = gain > policy.minimal_gain
            if pays and (best is None or gain > best[0]):
                best = gain, proposal, len(self.candidates)
            rejection = Rejection.OTHER_KIND if pays else Rejection.PRICE
            self.candidates.append(Candidate(proposal.kind, gain, None, False, rejection.message(policy)))
        if best is None:
            self.fruitless.add(site.place)
            return
        _, proposal, place = best
        self.chosen.append(place)
        self.next_id += MOST_NEW_SPLITS
        self.state = replace(
            self.state, tree=proposal.tree, precisions=proposal.precisions, statistics=proposal.statistics
        )


def expand_leaves(
    rows: Rows,
    incumbent: State,
    policy: Policy,
    rng: np.random.Generator,
    first_id: int,
    fruitless: frozenset[Place],
    proposers: Sequence[Proposer] = PROPOSERS,
) -> Round:
    """Try branches at all unexplained leaves at once, without those where an earlier round has found none.

    The local fits do not depend on one another, so that all splits are trained together once for a whole round: one by
    one would take too long for trees with many splits.
    """
    local = [proposer for proposer in proposers if proposer.is_local]
    # From right to left, so that a branch does not renumber the leaves that are still to come.
    sites = sorted(leaf_sites(rows, incumbent, policy), key=lambda site: -site.leaf)
    sites = [site for site in sites if site.place not in fruitless]
    views = rows.views(incumbent.context, [site.leaf for site in sites])
    expansion = _Expansion(incumbent, first_id)
    for site, view in zip(sites, views, strict=True):
        if expansion.state.tree.n_splits == policy.max_splits:
            break
        expansion.add_best_branch(rows, view, site, policy, rng, local)
    trial = _train_expansion(rows, incumbent, expansion, policy)
    return Round(trial, expansion.next_id, fruitless.union(expansion.fruitless))


def _train_expansion(rows: Rows, incumbent: State, expansion: _Expansion, policy: Policy) -> Trial:
    """The tree with all new branches, trained and pruned as a whole."""
    candidates, grown = expansion.candidates, expansion.state
    if grown is incumbent:
        return Trial(None, tuple(candidates))
    proposal = Proposal(
        "round", grown.tree, grown.tree, grown.precisions, grown.statistics, split_id=int(grown.tree.ids[-1])
    )
    challenger, events = train_and_prune(rows, incumbent, proposal, policy)
    is_kept = challenger.log_evidence > incumbent.log_evidence + policy.minimal_gain
    reason = "the round raised the log evidence" if is_kept else Rejection.SMALL_GAIN_OF_ROUND.message(policy)
    for place in expansion.chosen:
        candidates[place] = replace(candidates[place], kept=is_kept, reason=reason)
    return Trial(challenger if is_kept else None, tuple(candidates), events)
