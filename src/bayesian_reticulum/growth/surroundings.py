"""The splits around a change: a small branch in which it is trained before all splits are.

Which changes are near enough to the best, or to the tree as it is, is seen there at a fraction of the cost.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..evidence import State, ascend_tree, converge_responsibilities, merge_leaves
from ..families import Family
from ..rows import Rows, view_of_leaf
from ..tree import Tree, branch_of, splits_below
from .policy import Policy
from .proposals import Proposal
from .sites import BranchSite, Site


@dataclass(frozen=True, eq=False)
class Surroundings:
    """A small branch around a site.

    Attributes
    ----------
    split_id : int
        The id of the first split of the branch.
    family : Family
        Of the leaves.
    view : Rows
        The rows as the branch sees them, the rest of the tree held.
    log_evidence : float
        What the branch is worth as it is.
    """

    split_id: int
    family: Family
    view: Rows
    log_evidence: float


def surroundings_of(rows: Rows, incumbent: State, site: Site, policy: Policy) -> Surroundings | None:
    """The largest branch of few splits around a site, other than the whole tree; None if there is none."""
    tree = incumbent.tree
    split = _largest_branch(tree, site, policy)
    if split is None:
        return None
    branch, splits, leaves = branch_of(tree, split), splits_below(tree, split), np.flatnonzero(tree.shape.sides[split])
    rest = merge_leaves(incumbent, [split])
    view = view_of_leaf(rows, rest.context, int(leaves[0]))
    start = branch.hyperplanes[None], incumbent.precisions[splits][None], incumbent.statistics[leaves][None]
    tolerance = policy.local_effort.tolerance
    family = incumbent.family
    stack = converge_responsibilities(view, family, branch.shape, *start, tolerance=tolerance, exact=False)
    return Surroundings(int(tree.ids[split]), family, view, float(stack.log_evidence[0]))


def _largest_branch(tree: Tree, site: Site, policy: Policy) -> int | None:
    """The first split of the largest branch of few splits around a site, other than the whole tree."""
    parents = {int(child): split for split, pair in enumerate(tree.children) for child in pair if child >= 0}
    named = np.flatnonzero(tree.ids == site.place.split_id)
    split = int(named[0]) if len(named) else None
    if split is not None and isinstance(site, BranchSite):
        # The first split of a branch that is grown anew goes.
        split = parents.get(split)
    n_below = (tree.shape.sides != 0).sum(axis=1) - 1
    while split in parents and n_below[parents[split]] <= policy.small_branch:
        split = parents[split]
    return split if split in parents and n_below[split] <= policy.small_branch else None


def train_surroundings(surroundings: Surroundings | None, proposal: Proposal, policy: Policy) -> tuple[float, Proposal]:
    """What a proposal gains with only the branch around it trained, and the proposal with that branch trained.

    The gain is infinite where there are no surroundings, so that the whole tree decides.
    """
    if surroundings is None:
        return np.inf, proposal
    tree, precisions, statistics = proposal.tree, proposal.precisions.copy(), proposal.statistics.copy()
    split = int(np.flatnonzero(tree.ids == surroundings.split_id)[0])
    splits, leaves = splits_below(tree, split), np.flatnonzero(tree.shape.sides[split])
    effort = policy.effort_for(surroundings.view, policy.local_effort)
    effort = replace(effort, least=surroundings.log_evidence - policy.large_difference)
    start = branch_of(tree, split), precisions[splits], statistics[leaves]
    branch = ascend_tree(surroundings.view, surroundings.family, *start, effort)
    hyperplanes = tree.hyperplanes.copy()
    hyperplanes[splits], precisions[splits] = branch.tree.hyperplanes, branch.precisions
    statistics[leaves] = branch.statistics
    trained = Tree(hyperplanes, tree.shape, tree.ids)
    proposal = replace(proposal, tree=trained, precisions=precisions, statistics=statistics)
    return branch.log_evidence - surroundings.log_evidence, proposal
