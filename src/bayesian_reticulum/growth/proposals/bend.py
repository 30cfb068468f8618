"""Bends: the boundary of a leaf becomes two, turned against each other, for what is curved."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from ...compiled import expected_parameters
from ...evidence import split_tail
from ...rows import Pass, Rows, mean_and_covariance
from ...tree import Tree, insert_split
from ..policy import Policy
from ..sites import Site
from .outlook import Outlook
from .proposal import Proposal

# Effective number of rows that a boundary needs; one in the grey zone counts for up to a quarter.
_LEAST_AT_BOUNDARY = 1.0


class Bend:
    """The split above the leaf, bent."""

    kind = "bend"
    is_local = False

    def propose(
        self, outlook: Outlook, policy: Policy, rng: np.random.Generator, earlier: Sequence[Proposal]
    ) -> Iterator[Proposal]:
        """Propose the tree with the boundary of the leaf bent, if it has one."""
        bent = bend_boundary(outlook.rows, outlook.site, outlook.first_id, policy)
        if bent is not None and (policy.max_depth is None or bent.tree.depth <= policy.max_depth):
            yield bent


def bend_boundary(rows: Rows, site: Site, split_id: int, policy: Policy) -> Proposal | None:
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
    sample = rows.sample(policy.leaf_rows)
    expected = expected_parameters(state.family, state.statistics[None])
    at = sample.reduce(Pass(tree.hyperplanes[None], tree.shape, expected, information=True))
    assert at.complete is not None
    hyperplane, (weights, _) = tree.hyperplanes[split], split_tail(at.complete[0, split], rows.tail)
    stiffness = np.linalg.norm(hyperplane[1:])
    # Where there is a tail, rows spread most along the columns before it.
    normal = hyperplane[1 : len(weights)]
    if weights[0, 0] < _LEAST_AT_BOUNDARY or not normal.any():
        return None
    mean, covariance = mean_and_covariance(weights)
    along = np.eye(len(mean)) - np.outer(normal, normal) / (normal @ normal)
    direction = np.linalg.eigh(along @ covariance @ along)[1][:, -1]
    turn = np.zeros(len(hyperplane))
    turn[: len(weights)] = policy.turn * stiffness * np.append(-direction @ mean, direction)
    hyperplanes = tree.hyperplanes.copy()
    hyperplanes[split] += turn
    turned = Tree(hyperplanes, tree.shape, tree.ids)
    bent = insert_split(turned, split, 1 - leaf_side, hyperplane - turn, split_id)
    statistics = np.insert(state.statistics, leaf, state.statistics[leaf] / 2, axis=0)
    statistics[leaf + 1] = statistics[leaf]
    precisions = np.insert(state.precisions, split + 1, state.precisions[split])
    return Proposal(Bend.kind, bent, bent, precisions, statistics, split_id, worth_without=state.log_evidence)
