"""All proposals at a site."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ...arrays import Floats
from ...evidence import bound
from ...history import OUTRUN
from ...rows import Rows
from ...tree import Tree, graft, single_leaf
from ..policy import SAMPLE, STIFFNESS, WEAK_PRECISION, Policy
from ..sites import Site, fits_limits
from .bend import bend_boundary
from .branches import CUT, THREE_SPLITS, Branches, branch_limit, fit_branches
from .look_ahead import _LOOKAHEAD_DIRECTIONS, look_ahead
from .proposal import Proposal
from .scan import best_cuts, make_grid, scan_directions

# How many times the gain of a cut three cuts must have to be looked at where one does not pay.
_STANDS_OUT = 2.0
# A branch that loses more than this on its own is not worth fitting all splits for.
LARGEST_LOCAL_LOSS = 1.0


def propose_branches(
    view: Rows, site: Site, policy: Policy, rng: np.random.Generator, least: float = -np.inf
) -> Iterator[Branches]:
    """Candidates from scanned cuts and from looking one level ahead, each fitted with the rest of the tree held.

    Where no cut comes to the `least`, only what the scan tells to be far better than a cut is looked at.
    """
    if not fits_limits(site, CUT, policy):
        return
    statistics = site.state.statistics[site.leaf]
    sample = view.sampled(SAMPLE)
    directions, n_varying = scan_directions(sample, statistics, policy, rng)
    precision = WEAK_PRECISION * max(1, n_varying - 1)
    if not len(directions):
        return
    grid = make_grid(sample, statistics, directions)
    cuts, ranking, gain = best_cuts(grid)
    if not len(cuts):
        return
    n_branches = branch_limit(directions)
    single = fit_branches(view, sample, precision, "cut", CUT, STIFFNESS * cuts[:n_branches, None])
    yield single
    if len(site.exchanged) and fits_limits(site, THREE_SPLITS, policy):
        yield fit_branches(view, sample, precision, "exchange", THREE_SPLITS, STIFFNESS * site.exchanged)
    if policy.lookahead and fits_limits(site, THREE_SPLITS, policy):
        best = np.sort(ranking[:_LOOKAHEAD_DIRECTIONS])
        narrow = grid._replace(directions=directions[best], edges=grid.edges[best], empty=grid.empty[best])
        started, gain_ahead = look_ahead(narrow, policy, rng, n_branches)
        pays = single.stack.log_evidence.max() >= least or gain_ahead > _STANDS_OUT * max(gain, 0.0)
        if len(started) and pays:
            yield fit_branches(view, sample, precision, "look-ahead", THREE_SPLITS, STIFFNESS * started)


def propose_changes(
    rows: Rows, site: Site, policy: Policy, rng: np.random.Generator, first_id: int, is_small: bool
) -> Iterator[tuple[str, float | None, Proposal | str]]:
    """Changes of the tree at one site by kind and local gain, or in their place why they are not worth a trial.

    In a tree that is no longer small, leaves are not looked into where the best cut does not pay, unless what is behind
    it stands out.
    """
    tree = site.state.tree
    view = rows.within(tree.hyperplanes, tree.shape, site.state.statistics, site.leaf)
    base = bound_of_leaf(view, site.state.statistics[site.leaf])
    is_doubted = len(site.place) == 2 and not is_small
    for branches in propose_branches(view, site, policy, rng, base - LARGEST_LOCAL_LOSS if is_doubted else -np.inf):
        gains = branches.stack.log_evidence - base
        best, *others = np.argsort(-np.round(gains, 6), kind="stable")
        yield from ((branches.kind, float(gains[other]), OUTRUN) for other in others)
        if gains[best] < -LARGEST_LOCAL_LOSS:
            yield branches.kind, float(gains[best]), "does not pay for its price"
        else:
            yield branches.kind, float(gains[best]), graft_branch(site, branches, int(best), first_id)
    bent = bend_boundary(rows, site, first_id) if fits_limits(site, CUT, policy) else None
    if bent is not None and (policy.max_depth is None or bent.tree.depth <= policy.max_depth):
        yield "bend", None, bent


def graft_branch(site: Site, branches: Branches, index: int, first_id: int) -> Proposal:
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


def bound_of_leaf(view: Rows, leaf_statistics: Floats) -> float:
    """The bound of the rows of a leaf without a branch in its place."""
    leaf_alone = single_leaf(view.n_features)
    statistics = leaf_statistics[None, None]
    at = view.pass_(leaf_alone.hyperplanes[None], leaf_alone.shape, statistics)
    return float(bound(view.family, statistics, at)[0])
