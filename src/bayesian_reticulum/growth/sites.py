"""Where growth tries next: the least explained leaves, and small branches."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from ..arrays import Floats, Integers
from ..evidence import State, collapse_splits
from ..history import StoppingReason
from ..rows import Rows
from ..tree import Shape, Tree
from .policy import Policy
from .proposals.branches import CUT
from .proposals.exchange import exchange_levels

# A leaf with less to gain than this is explained.
_EXPLAINED = 1.0
# Branches with up to this many leaves are grown anew now and then.
_REGROWN_LEAVES = 4
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


def unexplained_leaves(rows: Rows, tree: Tree) -> Integers:
    """Leaves with something left to gain, the largest potential first."""
    statistics = rows.prior_statistics(tree.hyperplanes[None], tree.shape)[0]
    potential = np.round(rows.family.unexplained_potential(statistics), 6)
    ranking = np.argsort(-potential, kind="stable")
    return ranking[potential[ranking] > _EXPLAINED]


def fits_limits(site: Site, shape: Shape, policy: Policy) -> bool:
    tree = site.state.tree
    few = policy.max_splits is None or tree.n_splits + shape.n_splits <= policy.max_splits
    flat = policy.max_depth is None or tree.shape.leaf_levels[site.leaf] + shape.depth <= policy.max_depth
    return few and flat


def next_site(rows: Rows, state: State, policy: Policy, tried: Mapping[Place, int]) -> Site | None:
    """Where to try next: where no attempt was made, or none for longest.

    In turn, the least explained leaves and branches that may be grown anew, those near the root first.
    """
    tree = state.tree
    nothing = np.empty((0, 3, tree.n_features + 1))
    names = leaf_places(tree)
    leaves = [Site(names[leaf], state, leaf, nothing) for leaf in unexplained_leaves(rows, tree).tolist()]
    leaves = [site for site in leaves if fits_limits(site, CUT, policy)]
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
    return site if isinstance(site, Site) else _open_branch(rows, state, site)


def _open_branch(rows: Rows, state: State, split: int) -> Site:
    leaf = int(np.flatnonzero(state.tree.shape.sides[split])[0])
    place = (int(state.tree.ids[split]),)
    return Site(place, collapse_splits(rows, state, [split], tolerance=1e-3), leaf, exchange_levels(state.tree, split))


def leaf_places(tree: Tree) -> list[Place]:
    names: list[Place] = [(-1, 0)] * tree.n_leaves
    for split, side in np.argwhere(tree.children < 0):
        names[~tree.children[split, side]] = int(tree.ids[split]), int(side)
    return names


def limit_reached(rows: Rows, state: State, policy: Policy) -> StoppingReason:
    """The limit that kept every leaf that is not explained from being split, if one did."""
    tree = state.tree
    levels = tree.shape.leaf_levels[unexplained_leaves(rows, tree)]
    if len(levels) and policy.max_splits is not None and tree.n_splits >= policy.max_splits:
        return "max_splits"
    if len(levels) and policy.max_depth is not None and levels.min() >= policy.max_depth:
        return "max_depth"
    return "no_gain"
