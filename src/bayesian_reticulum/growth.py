"""How a tree grows: propose where rows are unexplained, fit the new splits, fit all, prune, keep what pays.

One number decides everything: the log evidence of the tree. Growth sees the rows only through `Rows`, and
everything that happens is yielded as an event.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .families import TunedFamily
from .history import OUTRUN, Candidate, GrowthEvent, StoppingReason
from .objective import (
    Effort,
    Stack,
    State,
    ascend,
    bound,
    climbed,
    collapsed,
    evaluated,
    fitted,
    least_gains,
    merged,
    parted,
    settle,
    settled,
)
from .rows import Rows, mean_and_covariance, scan_family
from .tree import (
    Floats,
    Integers,
    Shape,
    Tree,
    branch_of,
    graft,
    insert_split,
    single_leaf,
    split_leaf,
    splits_below,
    with_canonical_signs,
)

# One split, and three at once: a root with a split on either side.
CUT = split_leaf(single_leaf(0), 0, [0.0]).shape
_LOOKAHEAD = split_leaf(split_leaf(split_leaf(single_leaf(0), 0, [0.0]), 0, [0.0]), 2, [0.0]).shape

_BINS = 32
# Activation at one standard deviation from a new split.
_STIFFNESS = 4.0
# Directions of most variation of the targets that are scanned, at most.
_MOST_CONTRASTS = 16
# Prior precision of a new split for each angle of its hyperplane: weakly bound, but no less so with many features.
_WEAK_PRECISION = 0.02
# Branches of each kind that are fitted: up to eight, fewer in wide tables, where each costs more.
_MOST_BRANCHES = 8
_BRANCH_WIDTHS = 512
# How many times the gain of a cut three cuts must have to be looked at where one does not pay.
_STANDS_OUT = 2.0
# Directions along which the second level of a look-ahead is scanned, at most.
_LOOKAHEAD_DIRECTIONS = 128
# Statistics that one scan, and one stack of candidates with their information, may hold.
_SCAN_FLOATS = 1 << 19
_STACK_FLOATS = 1 << 22
# Rows below a leaf that are enough to find good starts.
_SAMPLE = 8192
# Many rows are first grown on a sample of this many, then on ever larger ones.
_FIRST_SAMPLE = 16384
_NEXT_SAMPLE = 8
# Attempts in a row without gain after which a sample gives way to the next.
_SAMPLE_PATIENCE = 4
# Rounds go on while they gain this many nats for each row.
_GAIN_OF_ROUND = 2e-2
# Nats for each of many rows that are not worth another pass.
_NEGLIGIBLE_GAIN = 2e-6
# With more rows or cells than this, what rounds have found is not searched leaf by leaf again: each attempt reads all.
_LEAF_BY_LEAF, _CELLS_LEAF_BY_LEAF = 65536, 1 << 21
# Slope by which the two halves of a bent split are turned away from it.
_TURN = 0.35
# Effective number of rows that a boundary needs to be bent: one in the grey zone counts for up to a quarter.
_FEWEST_AT_BOUNDARY = 1.0
# Nats by which an attempt must beat the incumbent to be kept, and for each unit of weight to count as progress.
MINIMAL_GAIN, _MINIMAL_PROGRESS = 0.1, 2e-4
# A branch that loses more than this on its own is not worth fitting all splits for.
LARGEST_LOCAL_LOSS = 1.0
# What changed is first fitted with the splits around it, if there are others: with a branch of up to so many.
_SURROUNDING_SPLITS = 5
# A change that is this many nats behind, there, is not worth fitting all splits for.
_FAR_BEHIND = 10.0
# A split that is worth this many nats before all else has adapted will not be pruned.
_DOUBT = 10.0
# A tree this many nats behind is not saved by pruning, nor by fitting it further.
_HOPELESS = 3.0
# What a tree may still gain by pruning and another fit.
_HALF_FITTED = 1.0
# A leaf with less to gain than this is explained.
_EXPLAINED = 1.0
# How often a tree is fitted to the prior that its leaves tell, at most.
_MOST_TUNINGS = 8
# Branches with up to this many leaves are grown anew now and then.
_REGROWN_LEAVES = 4

_FIRST_LOOK = Effort(tolerance=1e-1, rounds=1, max_passes=6)
_SECOND_LOOK = Effort(tolerance=3e-2, rounds=2, max_passes=6)
_LOCAL = Effort(tolerance=1e-2, rounds=3, max_passes=30)
_AROUND = Effort(tolerance=1e-2, rounds=3, max_passes=40)
GLOBAL = Effort(tolerance=1e-3, rounds=8, max_passes=200)
_MANY_ROWS = Effort(rounds=2, max_passes=40)
_POLISH = Effort(tolerance=1e-11, rounds=0, max_passes=500, exact=True)


def are_many(rows: Rows) -> bool:
    """Whether a sample of the rows comes before them."""
    return rows.n_rows > 2 * _FIRST_SAMPLE


def _tolerance(rows: Rows, tolerance: float) -> float:
    """Nats that do not matter with this many rows: differences of log evidence grow with them."""
    return max(tolerance, _NEGLIGIBLE_GAIN * rows.n_rows) if are_many(rows) else tolerance


def effort_for(rows: Rows, effort: Effort) -> Effort:
    """An effort that is worth its time with this many rows."""
    if not are_many(rows):
        return effort
    passes, rounds = min(effort.max_passes, _MANY_ROWS.max_passes), min(effort.rounds, _MANY_ROWS.rounds)
    return replace(effort, tolerance=_tolerance(rows, effort.tolerance), rounds=rounds, max_passes=passes)


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


# A leaf by the id of the split above it, -1 for none, and its side; or a branch by the id of its first split.
Place = tuple[int, ...]


class Site(NamedTuple):
    """Where a branch may be put: in the place of a leaf, or of a branch that is first collapsed to one.

    For such a branch, `exchanged` are starts (c, 3, d + 1) for a new one: what it was, with its levels exchanged.
    """

    place: Place
    state: State
    leaf: int
    exchanged: Floats


class Grid(NamedTuple):
    """Thresholds to scan below a leaf that holds `statistics` (k,).

    They are the `edges` (D, E) along `directions` (D, d + 1); where `empty` (D, E), a threshold parts nothing.
    """

    view: Rows
    statistics: Floats
    directions: Floats
    edges: Floats
    empty: NDArray[np.bool_]


class Branches(NamedTuple):
    """Candidates of one shape for one site, as started and as fitted with the rest of the tree held."""

    kind: str
    shape: Shape
    started: Floats
    stack: Stack


def iterate_growth(
    rows: Rows, policy: Policy, rng: np.random.Generator
) -> Generator[GrowthEvent, None, tuple[State, StoppingReason]]:
    """Grow a tree; yields every event and returns the final state and why growth stopped.

    Parameters
    ----------
    rows : Rows
    policy : Policy
    rng : numpy.random.Generator
        The only source of chance.
    """
    incumbent = evaluated(rows, single_leaf(rows.n_features), np.empty(0))
    yield GrowthEvent(0, "start", None, incumbent.tree, incumbent.log_evidence)
    reason: StoppingReason = "no_gain"
    attempt = 0
    next_id = 0
    for level, part in enumerate(_samples(rows)):
        is_sample = part is not rows
        part = part.believing(incumbent.family)
        patience = min(policy.patience, _SAMPLE_PATIENCE) if is_sample else policy.patience
        # The first of them is grown leaf by leaf; what is found there is soon expanded on more rows.
        expanding = level > 0
        if is_sample or level > 0:
            part, incumbent = _tuned(part, _carried_over(part, incumbent))
            yield GrowthEvent(attempt, "start", None, incumbent.tree, incumbent.log_evidence)
        without_gain = 0
        fruitless: frozenset[Place] = frozenset()
        # When a place was last tried.
        tried: dict[Place, int] = {}
        while without_gain < patience:
            if attempt == policy.max_attempts:
                reason = "max_attempts"
                break
            split_id = None
            if expanding:
                challenger, candidates, events, next_id, fruitless = _round(
                    part, incumbent, policy, rng, next_id, fruitless
                )
                gain = 0.0 if challenger is None else challenger.log_evidence - incumbent.log_evidence
                expanding = gain > _GAIN_OF_ROUND * part.n_rows
            elif level > 0 and _is_too_large_for_single_leaves(part):
                break
            else:
                site = _next_site(part, incumbent, policy, tried)
                if site is None:
                    break
                challenger, candidates, events = _attempt(part, incumbent, site, policy, rng, next_id)
                next_id += 3
                split_id = events[0].split_id if events else None
                tried[site.place] = attempt
            attempt += 1
            yield from (replace(event, attempt=attempt) for event in events)
            if challenger is None:
                without_gain += 1
                yield GrowthEvent(attempt, "rejected", split_id, incumbent.tree, incumbent.log_evidence, candidates)
                continue
            gain = challenger.log_evidence - incumbent.log_evidence
            without_gain = 0 if gain > _MINIMAL_PROGRESS * part.weight else without_gain + 1
            yield GrowthEvent(attempt, "kept", split_id, challenger.tree, challenger.log_evidence, candidates)
            part, incumbent = _tuned(part, challenger)
            if incumbent is not challenger:
                yield GrowthEvent(attempt, "tuned", None, incumbent.tree, incumbent.log_evidence)
            part = part.arranged(incumbent.tree.hyperplanes, incumbent.tree.shape)
    if reason == "no_gain":
        reason = _limit_reached(part, incumbent, policy)
    polished = polish(part, incumbent)
    yield GrowthEvent(attempt, "polished", None, polished.tree, polished.log_evidence)
    return polished, reason


def _tuned(rows: Rows, state: State) -> tuple[Rows, State]:
    """The rows with leaves whose prior is the one that this tree tells, and the tree, fitted to it."""
    # A tree that is fitted to another prior may tell yet another one.
    for _ in range(_MOST_TUNINGS):
        family = rows.family.tuned(state.statistics) if isinstance(rows.family, TunedFamily) else rows.family
        if family is rows.family:
            break
        rows = rows.believing(family)
        state = climbed(rows, state.tree, state.precisions, state.statistics, effort_for(rows, GLOBAL))
    return rows, state


def _is_too_large_for_single_leaves(rows: Rows) -> bool:
    return rows.n_rows > _LEAF_BY_LEAF or rows.n_rows * (rows.n_features + 1) > _CELLS_LEAF_BY_LEAF


def _samples(rows: Rows) -> Iterator[Rows]:
    """Ever larger samples of the rows, and the rows themselves."""
    size = _FIRST_SAMPLE
    while size * 2 < rows.n_rows:
        sample = rows.sampled(size)
        if sample is not rows:
            yield sample
        size *= _NEXT_SAMPLE
    yield rows


def _carried_over(rows: Rows, state: State) -> State:
    """The tree, fitted to other rows."""
    tree, precisions = state.tree, state.precisions
    if not tree.n_splits:
        return evaluated(rows, tree, precisions)
    statistics = rows.prior_statistics(tree.hyperplanes[None], tree.shape)[0]
    state = climbed(rows, tree, precisions, statistics, effort_for(rows, GLOBAL))
    smaller = _pruned(rows, state)
    return state if smaller is None else _refitted(rows, smaller)


def polish(rows: Rows, state: State) -> State:
    """Converged to rounding, so that the order of rows or the number of blocks cannot be seen in the model.

    Of many rows, where each step was made with samples that do not depend on either, responsibilities alone.
    """
    if state.tree.n_splits == 0:
        return state
    if are_many(rows):
        # Prices are to be those of all rows.
        state = settled(rows, state, tolerance=_tolerance(rows, 1e-3))
    else:
        effort = replace(_POLISH, sparse=state.sparse)
        state = fitted(rows, state.tree, state.precisions, state.statistics, effort, tolerance=effort.tolerance)
    tree, old_leaf = with_canonical_signs(state.tree)
    return replace(state, tree=tree, statistics=state.statistics[old_leaf])


def _limit_reached(rows: Rows, state: State, policy: Policy) -> StoppingReason:
    """The limit that kept every leaf that is not explained from being split, if one did."""
    tree = state.tree
    levels = tree.shape.leaf_levels[unexplained_leaves(rows, tree)]
    if len(levels) and policy.max_splits is not None and tree.n_splits >= policy.max_splits:
        return "max_splits"
    if len(levels) and policy.max_depth is not None and levels.min() >= policy.max_depth:
        return "max_depth"
    return "no_gain"


def unexplained_leaves(rows: Rows, tree: Tree) -> Integers:
    """Leaves with something left to gain, the largest potential first."""
    statistics = rows.prior_statistics(tree.hyperplanes[None], tree.shape)[0]
    potential = np.round(rows.family.unexplained_potential(statistics), 6)
    ranking = np.argsort(-potential, kind="stable")
    return ranking[potential[ranking] > _EXPLAINED]


def _fits(site: Site, shape: Shape, policy: Policy) -> bool:
    tree = site.state.tree
    few = policy.max_splits is None or tree.n_splits + shape.n_splits <= policy.max_splits
    flat = policy.max_depth is None or tree.shape.leaf_levels[site.leaf] + shape.depth <= policy.max_depth
    return few and flat


def _next_site(rows: Rows, state: State, policy: Policy, tried: Mapping[Place, int]) -> Site | None:
    """Where to try next: where no attempt was made, or none for longest.

    In turn, the least explained leaves and branches that may be grown anew, those near the root first.
    """
    tree = state.tree
    nothing = np.empty((0, 3, tree.n_features + 1))
    names = leaf_names(tree)
    leaves = [Site(names[leaf], state, leaf, nothing) for leaf in unexplained_leaves(rows, tree).tolist()]
    leaves = [site for site in leaves if _fits(site, CUT, policy)]
    small = (tree.shape.sides != 0).sum(axis=1) <= _REGROWN_LEAVES
    splits = sorted(np.flatnonzero(small).tolist(), key=lambda split: int(tree.shape.levels[split]))
    by_turn: dict[Place, Site | int] = {}
    for turn in range(max(len(leaves), len(splits))):
        by_turn.update((site.place, site) for site in leaves[turn : turn + 1])
        by_turn.update(((int(tree.ids[split]),), split) for split in splits[turn : turn + 1])
    place = min(by_turn, key=lambda place: tried.get(place, -1), default=None)
    if place is None:
        return None
    site = by_turn[place]
    return site if isinstance(site, Site) else _opened(rows, state, site)


def _opened(rows: Rows, state: State, split: int) -> Site:
    leaf = int(np.flatnonzero(state.tree.shape.sides[split])[0])
    place = (int(state.tree.ids[split]),)
    return Site(place, collapsed(rows, state, [split], tolerance=1e-3), leaf, _exchanged(state.tree, split))


def _exchanged(tree: Tree, split: int) -> Floats:
    """A root like the two splits below this one, and this one on either side: (1, 3, d + 1), or none.

    Where two splits cross, either may come first, but one order can be better by several nats.
    """
    none = np.empty((0, 3, tree.n_features + 1))
    pair = tree.children[split]
    if (pair < 0).any():
        return none
    hyperplanes = tree.hyperplanes[[split, *pair]]
    sizes = np.linalg.norm(hyperplanes[:, 1:], axis=1, keepdims=True)
    # A split that its prior has pulled to nothing has no direction.
    if not sizes.all():
        return none
    own, left, right = hyperplanes / sizes
    root = left + right if left[1:] @ right[1:] >= 0 else left - right
    root = root / np.linalg.norm(root[1:])
    return np.stack([root, own, own])[None]


def _attempt(
    rows: Rows, incumbent: State, site: Site, policy: Policy, rng: np.random.Generator, first_id: int
) -> tuple[State | None, tuple[Candidate, ...], list[GrowthEvent]]:
    """Try branches at one site; returns the better tree if one was found, all candidates, and the best one's way."""
    candidates: list[Candidate] = []
    proposals: list[tuple[float, int, Proposal]] = []
    around = _surroundings(rows, incumbent, site)
    for kind, local_gain, change in _changes(rows, site, policy, rng, first_id, is_small=around is None):
        if isinstance(change, Proposal):
            gain_around, proposal = _tried_around(around, change)
            proposals.append((gain_around, len(candidates), proposal))
        reason = "falls behind with the tree around it held" if isinstance(change, Proposal) else change
        candidates.append(Candidate(kind, local_gain, None, False, reason))
    proposals.sort(key=lambda own: -round(own[0], 6))
    best: tuple[State, list[GrowthEvent], int] | None = None
    ahead = 0.0
    for gain_around, place, proposal in proposals:
        if gain_around < max(0.0, proposals[0][0]) - _FAR_BEHIND:
            break
        challenger, events = _judged(rows, incumbent, proposal, ahead)
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


class Surroundings(NamedTuple):
    """A small branch around a site, named by its first split, as its rows see it, and what it is worth as it is."""

    split_id: int
    view: Rows
    log_evidence: float


def _surroundings(rows: Rows, incumbent: State, site: Site) -> Surroundings | None:
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
    rest = merged(incumbent, [split])
    view = rows.within(rest.tree.hyperplanes, rest.tree.shape, rest.statistics, int(leaves[0]))
    start = branch.hyperplanes[None], incumbent.precisions[own][None], incumbent.statistics[leaves][None]
    as_it_is = settle(view, branch.shape, *start, tolerance=_AROUND.tolerance, exact=False)
    return Surroundings(int(tree.ids[split]), view, float(as_it_is.log_evidence[0]))


def _tried_around(around: Surroundings | None, proposal: Proposal) -> tuple[float, Proposal]:
    """What a proposal gains where only the branch around it adapts, and the proposal with that branch adapted."""
    if around is None:
        return np.inf, proposal
    tree, precisions, statistics = proposal.tree, proposal.precisions.copy(), proposal.statistics.copy()
    split = int(np.flatnonzero(tree.ids == around.split_id)[0])
    own, leaves = splits_below(tree, split), np.flatnonzero(tree.shape.sides[split])
    effort = replace(effort_for(around.view, _AROUND), least=around.log_evidence - _FAR_BEHIND)
    branch = climbed(around.view, branch_of(tree, split), precisions[own], statistics[leaves], effort)
    hyperplanes = tree.hyperplanes.copy()
    hyperplanes[own], precisions[own] = branch.tree.hyperplanes, branch.precisions
    statistics[leaves] = branch.statistics
    adapted = Tree(hyperplanes, tree.shape, tree.ids)
    proposal = proposal._replace(tree=adapted, precisions=precisions, statistics=statistics)
    return branch.log_evidence - around.log_evidence, proposal


class Proposal(NamedTuple):
    """A changed tree, as started and as it enters the ascent of all splits."""

    started: Tree
    tree: Tree
    precisions: Floats
    statistics: Floats
    worth_without: float
    split_id: int


def _changes(
    rows: Rows, site: Site, policy: Policy, rng: np.random.Generator, first_id: int, is_small: bool
) -> Iterator[tuple[str, float | None, Proposal | str]]:
    """Changes of the tree at one site by kind and local gain, or in their place why they are not worth a trial.

    In a tree that is no longer small, leaves are not looked into where the best cut does not pay, unless what is behind
    it stands out.
    """
    tree = site.state.tree
    view = rows.within(tree.hyperplanes, tree.shape, site.state.statistics, site.leaf)
    base = worth_alone(view, site.state.statistics[site.leaf])
    is_doubted = len(site.place) == 2 and not is_small
    for branches in _propose(view, site, policy, rng, base - LARGEST_LOCAL_LOSS if is_doubted else -np.inf):
        gains = branches.stack.log_evidence - base
        best, *others = np.argsort(-np.round(gains, 6), kind="stable")
        yield from ((branches.kind, float(gains[other]), OUTRUN) for other in others)
        if gains[best] < -LARGEST_LOCAL_LOSS:
            yield branches.kind, float(gains[best]), "does not pay for its price"
        else:
            yield branches.kind, float(gains[best]), _grafted(site, branches, int(best), first_id)
    bent = _bent(rows, site, first_id) if _fits(site, CUT, policy) else None
    if bent is not None and (policy.max_depth is None or bent.tree.depth <= policy.max_depth):
        yield "bend", None, bent


def _grafted(site: Site, branches: Branches, index: int, first_id: int) -> Proposal:
    """The tree with a branch in the place of the site's leaf."""
    state, leaf, stack = site.state, site.leaf, branches.stack
    ids = first_id + np.arange(branches.shape.n_splits)
    started, tree = (
        graft(state.tree, leaf, Tree(hyperplanes[index], branches.shape, ids))
        for hyperplanes in (branches.started, stack.hyperplanes)
    )
    statistics = np.concatenate([state.statistics[:leaf], stack.statistics[index], state.statistics[leaf + 1 :]])
    precisions = np.concatenate([state.precisions, stack.precisions[index]])
    # A single split that does not pay will be pruned; of three, one may stay.
    worth_without = state.log_evidence if branches.shape.n_splits == 1 else -np.inf
    return Proposal(started, tree, precisions, statistics, worth_without, first_id)


def _bent(rows: Rows, site: Site, split_id: int) -> Proposal | None:
    """The tree with the boundary of the site's leaf bent: its split becomes two, turned against each other.

    Both lead to a copy of the leaf. They are turned along the direction in which the rows at the boundary spread
    most. A curved boundary needs this: to cut one more corner alone gains less than it costs. None where there is
    no boundary, no row near it, or no direction to turn to.
    """
    state, leaf = site.state, site.leaf
    tree = state.tree
    if tree.n_splits == 0 or tree.n_features == 1:
        return None
    split, leaf_side = (int(place) for place in np.argwhere(tree.children == ~leaf)[0])
    sample = rows.sampled(_SAMPLE)
    at = sample.pass_(tree.hyperplanes[None], tree.shape, state.statistics[None], information=True)
    assert at.complete is not None
    hyperplane, (weights, _) = tree.hyperplanes[split], parted(at.complete[0, split], rows.tail)
    stiffness = np.linalg.norm(hyperplane[1:])
    # Rows spread most along the leading columns.
    normal = hyperplane[1 : len(weights)]
    if weights[0, 0] < _FEWEST_AT_BOUNDARY or not normal.any():
        return None
    mean, covariance = mean_and_covariance(weights)
    along = np.eye(len(mean)) - np.outer(normal, normal) / (normal @ normal)
    direction = np.linalg.eigh(along @ covariance @ along)[1][:, -1]
    turn = np.zeros(len(hyperplane))
    turn[: len(weights)] = _TURN * stiffness * np.append(-direction @ mean, direction)
    hyperplanes = tree.hyperplanes.copy()
    hyperplanes[split] += turn
    turned = Tree(hyperplanes, tree.shape, tree.ids)
    bent = insert_split(turned, split, 1 - leaf_side, hyperplane - turn, split_id)
    statistics = np.insert(state.statistics, leaf, state.statistics[leaf] / 2, axis=0)
    statistics[leaf + 1] = statistics[leaf]
    precisions = np.insert(state.precisions, split + 1, state.precisions[split])
    return Proposal(bent, bent, precisions, statistics, state.log_evidence, split_id)


class Round(NamedTuple):
    """What came of a round: as of an attempt, the next free id, and the leaves without a branch worth its price."""

    challenger: State | None
    candidates: tuple[Candidate, ...]
    events: list[GrowthEvent]
    next_id: int
    fruitless: frozenset[Place]


def _round(
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
    names = leaf_names(tree)
    # From right to left, so that a branch does not renumber the leaves that are still to come.
    sites = [Site(names[leaf], incumbent, leaf, nothing) for leaf in sorted(unexplained_leaves(rows, tree).tolist())]
    sites = [site for site in sites[::-1] if site.place not in fruitless and _fits(site, CUT, policy)]
    views = rows.views(tree.hyperplanes, tree.shape, incumbent.statistics, [site.leaf for site in sites])
    state = incumbent
    for untouched, view in zip(sites, views, strict=True):
        if state.tree.n_splits == policy.max_splits:
            break
        site = untouched._replace(state=state)
        base = worth_alone(view, incumbent.statistics[site.leaf])
        best: tuple[float, Branches, int, int] | None = None
        for branches in _propose(view, site, policy, rng):
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
            grafted = _grafted(site, branches, index, first_id)
            first_id += 3
            state = replace(state, tree=grafted.tree, precisions=grafted.precisions, statistics=grafted.statistics)
    fruitless = fruitless.union(barren)
    if state is incumbent:
        return Round(None, tuple(candidates), [], first_id, fruitless)
    proposal = Proposal(state.tree, state.tree, state.precisions, state.statistics, -np.inf, int(state.tree.ids[-1]))
    challenger, events = _judged(rows, incumbent, proposal)
    gained = challenger.log_evidence > incumbent.log_evidence + MINIMAL_GAIN
    reason = "the round raised the log evidence" if gained else f"the round gained less than {MINIMAL_GAIN} nat"
    for place in chosen:
        candidates[place] = replace(candidates[place], kept=gained, reason=reason)
    return Round(challenger if gained else None, tuple(candidates), events, first_id, fruitless)


def leaf_names(tree: Tree) -> list[Place]:
    names: list[Place] = [(-1, 0)] * tree.n_leaves
    for split, side in np.argwhere(tree.children < 0):
        names[~tree.children[split, side]] = int(tree.ids[split]), int(side)
    return names


def worth_alone(view: Rows, leaf_statistics: Floats) -> float:
    """The bound of the rows of a leaf without a branch in its place."""
    leaf_alone = single_leaf(view.n_features)
    statistics = leaf_statistics[None, None]
    at = view.pass_(leaf_alone.hyperplanes[None], leaf_alone.shape, statistics)
    return float(bound(view.family, statistics, at)[0])


def _judged(rows: Rows, incumbent: State, proposal: Proposal, ahead: float = 0.0) -> tuple[State, list[GrowthEvent]]:
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
    challenger = climbed(rows, proposal.tree, proposal.precisions, proposal.statistics, effort)
    events.append(GrowthEvent(0, "global", split_id, challenger.tree, challenger.log_evidence))
    while challenger.tree.n_splits and challenger.log_evidence > hopeful:
        smaller = _pruned(rows, challenger)
        if smaller is None:
            break
        gone = np.setdiff1d(challenger.tree.ids, smaller.tree.ids).tolist()
        challenger = _refitted(rows, smaller)
        events += (GrowthEvent(0, "pruned", id_, challenger.tree, challenger.log_evidence) for id_ in gone)
        if rows.n_rows > _LEAF_BY_LEAF:
            # What does not pay now will be found by the next round.
            break
    return challenger, events


def _pruned(rows: Rows, state: State) -> State | None:
    """The tree without the splits that it is better off without; None if all splits pay."""
    without = state
    while without.tree.n_splits:
        smaller = _without_worthless(rows, without)
        if smaller is None:
            break
        without = smaller
    return None if without is state else without


def _refitted(rows: Rows, state: State) -> State:
    """The tree after another ascent, should it gain by that."""
    if state.tree.n_splits == 0:
        return state
    refitted = climbed(rows, state.tree, state.precisions, state.statistics, effort_for(rows, GLOBAL))
    return max(refitted, state, key=lambda tree: tree.log_evidence)


def _without_worthless(rows: Rows, state: State) -> State | None:
    """The tree with some splits collapsed that it is better off without; None if there are none."""
    shape, tolerance = state.tree.shape, _tolerance(rows, 1e-3)
    gains = least_gains(rows, state)
    certain = _apart(shape, gains)
    if certain:
        smaller = collapsed(rows, state, certain, tolerance)
        if smaller.log_evidence >= state.log_evidence:
            return smaller
    alone = {split: collapsed(rows, state, [split], tolerance) for split in np.flatnonzero(gains > -_DOUBT).tolist()}
    gains = np.array([alone[split].log_evidence if split in alone else -np.inf for split in range(shape.n_splits)])
    worthless = _apart(shape, gains - state.log_evidence)
    if not worthless:
        return None
    together = [collapsed(rows, state, worthless, tolerance)] if len(worthless) > 1 else []
    return max([alone[worthless[0]], *together], key=lambda rival: rival.log_evidence)


def _apart(shape: Shape, gains: Floats) -> list[int]:
    """Splits that are better collapsed, the best first, none of them above or below another."""
    below = shape.sides != 0
    free = np.ones(shape.n_leaves, dtype=bool)
    chosen: list[int] = []
    for split in np.argsort(-np.round(gains, 6), kind="stable"):
        if gains[split] >= 0 and free[below[split]].all():
            chosen.append(int(split))
            free &= ~below[split]
    return chosen


def _propose(
    view: Rows, site: Site, policy: Policy, rng: np.random.Generator, least: float = -np.inf
) -> Iterator[Branches]:
    """Candidates from scanned cuts and from looking one level ahead, each fitted with the rest of the tree held.

    Where no cut comes to the `least`, only what the scan tells to be far better than a cut is looked at.
    """
    if not _fits(site, CUT, policy):
        return
    statistics = site.state.statistics[site.leaf]
    sample = view.sampled(_SAMPLE)
    directions, n_varying = _directions(sample, statistics, policy, rng)
    precision = _WEAK_PRECISION * max(1, n_varying - 1)
    if not len(directions):
        return
    grid = _grid(sample, statistics, directions)
    cuts, ranking, gain = _best_cuts(grid)
    if not len(cuts):
        return
    n_branches = _n_branches(directions)
    single = _fit_branches(view, sample, precision, "cut", CUT, _STIFFNESS * cuts[:n_branches, None])
    yield single
    if len(site.exchanged) and _fits(site, _LOOKAHEAD, policy):
        yield _fit_branches(view, sample, precision, "exchange", _LOOKAHEAD, _STIFFNESS * site.exchanged)
    if policy.lookahead and _fits(site, _LOOKAHEAD, policy):
        best = np.sort(ranking[:_LOOKAHEAD_DIRECTIONS])
        narrow = grid._replace(directions=directions[best], edges=grid.edges[best], empty=grid.empty[best])
        started, gain_ahead = _look_ahead(narrow, policy, rng, n_branches)
        pays = single.stack.log_evidence.max() >= least or gain_ahead > _STANDS_OUT * max(gain, 0.0)
        if len(started) and pays:
            yield _fit_branches(view, sample, precision, "look-ahead", _LOOKAHEAD, _STIFFNESS * started)


def axis_cuts(view: Rows, statistics: Floats, count: int) -> Floats:
    """The best cuts that look at one column each, at most so many, to start from: shape (c, 1, d + 1)."""
    sample = view.sampled(_SAMPLE)
    second = sample.moments(statistics).second
    if second[0, 0] == 0:
        return np.empty((0, 1, view.n_features + 1))
    directions = _of_unit_spread(view.axes, mean_and_covariance(second)[1])
    if not len(directions):
        return np.empty((0, 1, view.n_features + 1))
    return _STIFFNESS * _best_cuts(_grid(sample, statistics, directions))[0][:count, None]


def _grid(sample: Rows, statistics: Floats, directions: Floats) -> Grid:
    quantiles = sample.quantiles(directions, np.arange(_BINS + 1) / _BINS)
    # Cuts lie between two quantiles; where those are equal there is nothing between them.
    edges = 0.5 * (quantiles[:, :-1] + quantiles[:, 1:])
    return Grid(sample, statistics, directions, edges, quantiles[:, :-1] == quantiles[:, 1:])


def _best_cuts(grid: Grid) -> tuple[Floats, Integers, float]:
    """The best cut along each direction (D, d + 1), the best of all first, the directions in that order, and its gain.

    There are none if nothing can be parted.
    """
    everything = np.zeros((1, grid.directions.shape[1]))
    everything[0, 0] = 1.0
    gains = _scan(grid, everything)[0, 0]
    best_edge = gains.argmax(axis=1)
    best_gain = gains[np.arange(len(gains)), best_edge]
    ranking = np.argsort(-best_gain, kind="stable")
    cuts = _cut(grid, np.arange(len(gains)), best_edge)[ranking]
    return cuts[np.isfinite(best_gain[ranking])], ranking, float(best_gain[ranking[0]])


def _directions(view: Rows, statistics: Floats, policy: Policy, rng: np.random.Generator) -> tuple[Floats, int]:
    """Directions (D, d + 1) to scan, each with unit spread over the rows in view, and how many columns vary there.

    The features, random directions, and those along which the targets vary most, with and without regard to how the
    features vary together.
    """
    second, cross, size = view.moments(statistics)
    if second[0, 0] == 0:
        # No row has any weight here.
        return np.empty((0, view.n_features + 1)), 0
    mean, covariance = mean_and_covariance(second)
    random = rng.standard_normal((policy.n_directions, len(view.axes))) @ view.axes
    # What hardly a row has, as a class that is all but absent, tells no direction.
    present = size > (0.0 if view.family.uses_design else 1.0)
    contrast = (cross[present, 1:] - cross[present, :1] * mean) / second[0, 0]
    if len(contrast) > _MOST_CONTRASTS:
        _, sizes, vectors = np.linalg.svd(contrast, full_matrices=False)
        contrast = sizes[:_MOST_CONTRASTS, None] * vectors[:_MOST_CONTRASTS]
    ridge = covariance + 0.01 * np.eye(len(mean))
    discriminant = np.linalg.solve(ridge, contrast.T).T
    slopes = np.concatenate([view.axes, random, contrast, discriminant])
    return _of_unit_spread(slopes, covariance), int((np.diagonal(covariance) > 1e-12).sum())


def _of_unit_spread(slopes: Floats, covariance: Floats) -> Floats:
    """Directions (D, d + 1) with these slopes (D, d), but those along which nothing varies."""
    variance = np.einsum("ij,ij->i", slopes @ covariance, slopes)
    size = np.einsum("ij,ij->i", slopes, slopes)
    moving = variance > 1e-12 * np.maximum(size, 1e-12)
    slopes = slopes[moving] / np.sqrt(variance[moving, None])
    return np.column_stack([np.zeros(len(slopes)), slopes])


def _scan(grid: Grid, cuts: Floats) -> Floats:
    """Evidence gained by each hard threshold on either side of each cut: (cuts, 2, D, edges)."""
    gains = grid.view.scan(grid.directions, grid.edges, cuts, grid.statistics)
    # Cuts that part the rows alike gain alike: rounding must not choose between them.
    return np.where(grid.empty, -np.inf, np.round(gains, 6))


def _n_branches(directions: Floats) -> int:
    return int(max(2, min(_MOST_BRANCHES, _BRANCH_WIDTHS // directions.shape[1])))


def _cut(grid: Grid, direction: Integers, edge: Integers) -> Floats:
    hyperplanes: Floats = grid.directions[direction].copy()
    hyperplanes[:, 0] -= grid.edges[direction, edge]
    return hyperplanes


def _look_ahead(grid: Grid, policy: Policy, rng: np.random.Generator, count: int) -> tuple[Floats, float]:
    """The best of some root cuts with the best cut on either side (c, 3, d + 1), and its gain: chessboards need it."""
    family, edges = scan_family(grid.view.family), grid.edges
    inner = np.arange(edges.shape[1] // 10, edges.shape[1] - edges.shape[1] // 10)
    root_direction = rng.integers(len(edges), size=policy.lookahead)
    root_edge = inner[rng.integers(len(inner), size=policy.lookahead)]
    usable = ~grid.empty[root_direction, root_edge]
    roots = _cut(grid, root_direction[usable], root_edge[usable])
    if not len(roots):
        return np.empty((0, 3, grid.directions.shape[1])), -np.inf
    choice, totals = np.empty((len(roots), 2), dtype=np.int64), np.empty(len(roots))
    step = max(1, _SCAN_FLOATS // (2 * edges.size * family.n_statistics))
    for start in range(0, len(roots), step):
        part = slice(start, start + step)
        gains = _scan(grid, roots[part]).reshape(-1, 2, edges.size)
        choice[part] = gains.argmax(axis=-1)
        totals[part] = gains.max(axis=-1).sum(axis=1)
    sides_of_root = _root_statistics(grid, roots)
    totals += family.log_evidence(sides_of_root).sum(axis=1) - family.log_evidence(sides_of_root.sum(axis=1))
    ranking = np.argsort(-np.round(totals, 6), kind="stable")[:count]
    ranking = ranking[np.isfinite(totals[ranking])]
    sides = [_cut(grid, *np.divmod(choice[ranking, side], edges.shape[1])) for side in (0, 1)]
    return np.stack([roots[ranking], *sides], axis=1), float(totals.max())


def _root_statistics(grid: Grid, roots: Floats) -> Floats:
    """Statistics left and right of each root cut: (roots, 2, k)."""
    nowhere = np.zeros((1, roots.shape[1]))
    return grid.view.histogram(nowhere, np.zeros((1, 0)), roots, grid.statistics)[:, :, 0, 0]


def _fit_branches(view: Rows, sample: Rows, precision: float, kind: str, shape: Shape, started: Floats) -> Branches:
    """Fit candidates side by side; after each of two looks, at a sample of the rows, only the better half goes on."""
    precisions = np.full(started.shape[:2], precision)
    stack = _ascend_in_parts(sample, shape, started, precisions, None, _FIRST_LOOK)
    for rows, effort in ((sample, _SECOND_LOOK), (view, _LOCAL)):
        better = np.argsort(-np.round(stack.log_evidence, 6), kind="stable")[: max(1, (len(stack) + 1) // 2)]
        half, started = stack.take(better), started[better]
        statistics = half.statistics if rows is sample or sample is view else None
        stack = _ascend_in_parts(rows, shape, half.hyperplanes, half.precisions, statistics, effort_for(rows, effort))
    return Branches(kind, shape, started, stack)


def _ascend_in_parts(
    view: Rows, shape: Shape, hyperplanes: Floats, precisions: Floats, statistics: Floats | None, effort: Effort
) -> Stack:
    """`ascend`, so many trees at a time that their information matrices stay small."""
    c, m, width = hyperplanes.shape
    size = max(1, _STACK_FLOATS // (2 * m * (width - len(view.tail)) ** 2))
    parts = [
        ascend(view, shape, hyperplanes[at], precisions[at], None if statistics is None else statistics[at], effort)
        for at in (slice(start, start + size) for start in range(0, c, size))
    ]
    return Stack(*(np.concatenate([getattr(part, field) for part in parts]) for field in Stack.__dataclass_fields__))
