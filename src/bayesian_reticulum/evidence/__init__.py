"""What a tree is worth on some rows, and the ascent that makes it worth the most.

`bound` holds the variational bound F, `prices` the penalty and the price of a split, `precisions` the update of slope
precisions, and `bayes_factors` the log Bayes factor of a split and trees with splits collapsed. `engine` ascends with
stacks of trees (`stack`): in compiled code or, without it, by the reference (`ascent`, with the Newton steps of
`newton`). Either gets its sums over the rows from `passes`. `state` ascends with one tree and returns its `State`.
"""

from __future__ import annotations

from .bayes_factors import collapse_splits, least_collapse_gains, log_bayes_factors, merge_leaves
from .bound import bound, free_energy
from .engine import ascend, converge_responsibilities
from .prices import penalty, prior_diagonal, split_tail
from .stack import Effort, Stack
from .state import State, ascend_and_evaluate, ascend_tree, evaluate, reconverge

__all__ = [
    "Effort",
    "Stack",
    "State",
    "ascend",
    "ascend_and_evaluate",
    "ascend_tree",
    "bound",
    "collapse_splits",
    "converge_responsibilities",
    "evaluate",
    "free_energy",
    "least_collapse_gains",
    "log_bayes_factors",
    "merge_leaves",
    "penalty",
    "prior_diagonal",
    "reconverge",
    "split_tail",
]
