"""Samples that many rows are grown on first."""

from __future__ import annotations

from collections.abc import Iterator

from ..evidence import State, ascend_tree, evaluate
from ..rows import Rows
from .policy import FIRST_SAMPLE, GLOBAL, effort_for
from .pruning import prune, refit

_NEXT_SAMPLE = 8


def nested_samples(rows: Rows) -> Iterator[Rows]:
    """Ever larger samples of the rows, and the rows themselves."""
    size = FIRST_SAMPLE
    while size * 2 < rows.n_rows:
        sample = rows.sampled(size)
        if sample is not rows:
            yield sample
        size *= _NEXT_SAMPLE
    yield rows


def carry_over(rows: Rows, state: State) -> State:
    """The tree, fitted to other rows."""
    tree, precisions = state.tree, state.precisions
    if not tree.n_splits:
        return evaluate(rows, tree, precisions)
    statistics = rows.prior_statistics(tree.hyperplanes[None], tree.shape)[0]
    state = ascend_tree(rows, tree, precisions, statistics, effort_for(rows, GLOBAL))
    smaller = prune(rows, state)
    return state if smaller is None else refit(rows, smaller)
