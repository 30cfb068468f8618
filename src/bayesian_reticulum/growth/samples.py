"""Samples: a table of many rows is grown on ever larger ones of them first."""

from __future__ import annotations

from collections.abc import Iterator

from ..evidence import State, ascend_tree, evaluate
from ..rows import MembershipSums, Rows
from .policy import Policy
from .pruning import prune, retrain


def nested_samples(rows: Rows, policy: Policy) -> Iterator[Rows]:
    """Ever larger samples of the rows, and last all rows."""
    size = policy.sample_rows
    while size * 2 < rows.n_rows:
        sample = rows.sample(size)
        if sample is not rows:
            yield sample
        size *= policy.sample_growth
    yield rows


def carry_over(rows: Rows, state: State, policy: Policy) -> State:
    """The tree of a smaller sample, fitted to these rows and pruned."""
    tree, precisions = state.tree, state.precisions
    if not tree.n_splits:
        return evaluate(rows, state.family, tree, precisions)
    statistics = rows.reduce(MembershipSums(tree.hyperplanes[None], tree.shape)).statistics[0]
    effort = policy.effort_for(rows, policy.global_effort)
    state = ascend_tree(rows, state.family, tree, precisions, statistics, effort)
    smaller = prune(rows, state, policy)
    return state if smaller is None else retrain(rows, smaller, policy)
