"""Bending the boundary of a leaf."""

from __future__ import annotations

import numpy as np

from ...evidence import split_tail
from ...rows import Rows, mean_and_covariance
from ...tree import Tree, insert_split
from ..policy import SAMPLE
from ..sites import Site
from .proposal import Proposal

# Slope by which the two halves of a bent split are turned away from it.
_TURN = 0.35
# Effective number of rows that a boundary needs to be bent: one in the grey zone counts for up to a quarter.
_FEWEST_AT_BOUNDARY = 1.0


def bend_boundary(rows: Rows, site: Site, split_id: int) -> Proposal | None:
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
    sample = rows.sampled(SAMPLE)
    at = sample.pass_(tree.hyperplanes[None], tree.shape, state.statistics[None], information=True)
    assert at.complete is not None
    hyperplane, (weights, _) = tree.hyperplanes[split], split_tail(at.complete[0, split], rows.tail)
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
