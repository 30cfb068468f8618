"""The loop of growth: Algorithm 1 of the paper, with the log evidence as the one number that decides.

    initialize the tree                     one leaf                                           `grow_tree`
    while attempts are left:
        choose the node to extend           the leaf with the largest unexplained potential    `sites`
        sample the weights for the node     proposals from a scan of its rows                  `proposals`
        train the node's weights            new splits, then those around them                 `surroundings`
        train the full tree's weights       all splits                                         `trial`
        prune                               what does not pay                                  `pruning`
        keep the tree                       if its log evidence has risen                      `_keep_or_reject`
    polish                                  converge to rounding                               `polish`

Growth sees the rows only through `Rows`, and everything that happens is yielded as an event.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..evidence import State, evaluate
from ..families import Family
from ..history import Candidate, GrowthEvent, Phase, StoppingReason
from ..rows import Rows, arranged, view_of_leaf
from ..tree import single_leaf
from .policy import Policy
from .polish import polish, reestimate_prior
from .proposals import PROPOSERS, Proposal, Proposer, propose, survey_site
from .ranking import TIE, best_first
from .rejection import Rejection
from .rounds import expand_leaves
from .samples import carry_over, nested_samples
from .shapes import MOST_NEW_SPLITS
from .sites import BranchSite, Place, Site, choose_site, limit_reached
from .surroundings import surroundings_of, train_surroundings
from .trial import Trial, train_and_prune


@dataclass
class _Growth:
    """Where growth stands.

    Attributes
    ----------
    policy : Policy
    rng : numpy.random.Generator
    proposers : sequence of Proposer
    rows : Rows
        The rows, or the sample of them, that the tree is grown on.
    incumbent : State
        The best tree on these rows so far.
    attempt : int
        Attempts made, on all samples.
    next_id : int
        The id for the next new split.
    reason : str
        Why growth stopped.
    """

    policy: Policy
    rng: np.random.Generator
    proposers: Sequence[Proposer]
    rows: Rows
    incumbent: State
    attempt: int = 0
    next_id: int = 0
    reason: StoppingReason = "no_gain"

    def event(self, phase: Phase, split_id: int | None = None, candidates: tuple[Candidate, ...] = ()) -> GrowthEvent:
        """An event that shows the incumbent."""
        state = self.incumbent
        return GrowthEvent(self.attempt, phase, split_id, state.tree, state.log_evidence, candidates)


def grow_tree(
    rows: Rows, family: Family, policy: Policy, rng: np.random.Generator, proposers: Sequence[Proposer] = PROPOSERS
) -> Generator[GrowthEvent, None, tuple[State, StoppingReason]]:
    """Grow a tree; yields every event and returns the final state and why growth stopped.

    Parameters
    ----------
    rows : Rows
    family : Family
        Of the leaves.
    policy : Policy
    rng : numpy.random.Generator
        The only source of chance.
    proposers : sequence of Proposer
        The kinds of changes to try at each site, in this order.
    """
    leaf = evaluate(rows, family, single_leaf(rows.n_columns), np.empty(0))
    growth = _Growth(policy, rng, proposers, rows, reestimate_prior(rows, leaf, policy))
    yield growth.event("start")
    for level, sample in enumerate(nested_samples(rows, policy)):
        is_sample = sample is not rows
        growth.rows = sample
        if is_sample or level > 0:
            carried = carry_over(growth.rows, growth.incumbent, policy)
            growth.incumbent = reestimate_prior(growth.rows, carried, policy)
            yield growth.event("start")
        patience = min(policy.patience, policy.sample_patience) if is_sample else policy.patience
        yield from _grow_on(growth, level, patience)
    if growth.reason == "no_gain":
        growth.reason = limit_reached(growth.rows, growth.incumbent, policy)
    growth.incumbent = polish(growth.rows, growth.incumbent, policy)
    yield growth.event("polished")
    return growth.incumbent, growth.reason


def _grow_on(growth: _Growth, level: int, patience: int) -> Generator[GrowthEvent, None, None]:
    """Make attempts on one sample, or on all rows, until patience or sites run out.

    The first sample, at level 0, is grown site by site. Later ones begin with rounds, which go on while they gain much.
    """
    policy = growth.policy
    least_progress = policy.minimal_progress * growth.rows.weight
    in_rounds = level > 0
    fruitless: frozenset[Place] = frozenset()
    last_tried: dict[Place, int] = {}
    without_progress = 0
    while without_progress < patience:
        if growth.attempt == policy.max_attempts:
            growth.reason = "max_attempts"
            return
        if in_rounds:
            trial, growth.next_id, fruitless = expand_leaves(
                growth.rows, growth.incumbent, policy, growth.rng, growth.next_id, fruitless, growth.proposers
            )
        elif level > 0 and not policy.grows_leaf_by_leaf(growth.rows):
            return
        else:
            site = choose_site(growth.rows, growth.incumbent, policy, last_tried)
            if site is None:
                return
            trial = try_site(growth.rows, growth.incumbent, site, policy, growth.rng, growth.next_id, growth.proposers)
            growth.next_id += MOST_NEW_SPLITS
            last_tried[site.place] = growth.attempt
        gain = yield from _keep_or_reject(growth, trial)
        in_rounds = in_rounds and gain > policy.gain_of_round * growth.rows.n_rows
        without_progress = 0 if gain > least_progress else without_progress + 1


def try_site(
    rows: Rows,
    incumbent: State,
    site: Site,
    policy: Policy,
    rng: np.random.Generator,
    first_id: int,
    proposers: Sequence[Proposer] = PROPOSERS,
) -> Trial:
    """Attempt to improve the tree at one site: propose, train the new splits, train all, prune, take the best."""
    candidates, contenders = _propose(rows, incumbent, site, policy, rng, first_id, proposers)
    best: tuple[State, _Contender, tuple[GrowthEvent, ...]] | None = None
    lead = 0.0
    for contender in contenders:
        challenger, events = train_and_prune(rows, incumbent, contender.proposal, policy, lead)
        gain = challenger.log_evidence - incumbent.log_evidence
        rejection = Rejection.SMALL_GAIN if gain <= policy.minimal_gain else Rejection.OTHER_KIND
        candidates[contender.place] = replace(candidates[contender.place], gain=gain, reason=rejection.message(policy))
        lead = max(lead, gain)
        if best is None or challenger.log_evidence > best[0].log_evidence + TIE:
            best = challenger, contender, events
    if best is None:
        return Trial(None, tuple(candidates))
    challenger, contender, events = best
    is_kept = challenger.log_evidence > incumbent.log_evidence + policy.minimal_gain
    if is_kept:
        candidates[contender.place] = replace(candidates[contender.place], kept=True, reason="raised the log evidence")
    return Trial(challenger if is_kept else None, tuple(candidates), events, contender.proposal.split_id)


@dataclass(frozen=True, eq=False)
class _Contender:
    """A proposal with the splits around it trained, what it gains by that, and its place among the candidates."""

    proposal: Proposal
    gain: float
    place: int


def _propose(
    rows: Rows,
    incumbent: State,
    site: Site,
    policy: Policy,
    rng: np.random.Generator,
    first_id: int,
    proposers: Sequence[Proposer],
) -> tuple[list[Candidate], list[_Contender]]:
    """Propose changes at a site and train the new splits, then those around them.

    Returns all candidates, and the contenders that are worth an ascent of all splits, the most promising first.
    """
    surroundings = surroundings_of(rows, incumbent, site, policy)
    view = view_of_leaf(rows, site.state.context, site.leaf)
    outlook = survey_site(rows, view, site, policy, rng, first_id)
    candidates: list[Candidate] = []
    contenders: list[_Contender] = []

    def reject(kind: str, local_gain: float | None, rejection: Rejection) -> None:
        candidates.append(Candidate(kind, local_gain, None, False, rejection.message(policy)))

    for proposal in propose(outlook, policy, rng, proposers):
        for gain in proposal.outrun:
            reject(proposal.kind, gain, Rejection.OUTRUN)
        if proposal.local_gain is not None and proposal.local_gain < -policy.small_difference:
            reject(proposal.kind, proposal.local_gain, Rejection.PRICE)
            continue
        if _falls_behind(incumbent, site, proposal, policy):
            reject(proposal.kind, proposal.local_gain, Rejection.SURROUNDINGS)
            continue
        gain, trained = train_surroundings(surroundings, proposal, policy)
        contenders.append(_Contender(trained, gain, len(candidates)))
        # The reason stands unless the whole tree is trained with this proposal.
        reject(proposal.kind, proposal.local_gain, Rejection.SURROUNDINGS)
    if not contenders:
        return candidates, []
    gains = np.array([contender.gain for contender in contenders])
    ranked = [contenders[place] for place in best_first(gains)]
    least = max(0.0, ranked[0].gain) - policy.large_difference
    return candidates, [contender for contender in ranked if contender.gain >= least]


def _falls_behind(incumbent: State, site: Site, proposal: Proposal, policy: Policy) -> bool:
    """Whether a branch that is grown anew is worth much less, the rest of the tree held, than it was."""
    if not isinstance(site, BranchSite) or proposal.local_gain is None:
        return False
    return site.state.log_evidence + proposal.local_gain < incumbent.log_evidence - policy.large_difference


def _keep_or_reject(growth: _Growth, trial: Trial) -> Generator[GrowthEvent, None, float]:
    """Close an attempt: a challenger becomes the incumbent; returns what it gains."""
    growth.attempt += 1
    yield from (replace(event, attempt=growth.attempt) for event in trial.events)
    challenger = trial.challenger
    if challenger is None:
        yield growth.event("rejected", trial.split_id, trial.candidates)
        return 0.0
    gain = challenger.log_evidence - growth.incumbent.log_evidence
    growth.incumbent = challenger
    yield growth.event("kept", trial.split_id, trial.candidates)
    growth.incumbent = reestimate_prior(growth.rows, challenger, growth.policy)
    if growth.incumbent is not challenger:
        yield growth.event("tuned")
    growth.rows = arranged(growth.rows, growth.incumbent.tree.hyperplanes, growth.incumbent.tree.shape)
    return gain
