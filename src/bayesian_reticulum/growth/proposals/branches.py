"""Candidate branches, fitted side by side with the rest of the tree held."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...arrays import Floats
from ...evidence import Effort, Stack, ascend
from ...rows import Rows
from ...tree import Shape, single_leaf, split_leaf
from ..policy import FIRST_LOOK, LOCAL, SECOND_LOOK, effort_for

# One split, and three at once: a root with a split on either side.
CUT = split_leaf(single_leaf(0), 0, [0.0]).shape
THREE_SPLITS = split_leaf(split_leaf(split_leaf(single_leaf(0), 0, [0.0]), 0, [0.0]), 2, [0.0]).shape
# Branches of each kind that are fitted: up to eight, fewer in wide tables, where each costs more.
_MOST_BRANCHES = 8
_BRANCH_WIDTHS = 512
_STACK_FLOATS = 1 << 22


class Branches(NamedTuple):
    """Candidates of one shape for one site, as started and as fitted with the rest of the tree held."""

    kind: str
    shape: Shape
    started: Floats
    stack: Stack


def branch_limit(directions: Floats) -> int:
    return int(max(2, min(_MOST_BRANCHES, _BRANCH_WIDTHS // directions.shape[1])))


def fit_branches(view: Rows, sample: Rows, precision: float, kind: str, shape: Shape, started: Floats) -> Branches:
    """Fit candidates side by side; after each of two looks, at a sample of the rows, only the better half goes on."""
    precisions = np.full(started.shape[:2], precision)
    stack = _ascend_in_parts(sample, shape, started, precisions, None, FIRST_LOOK)
    for rows, effort in ((sample, SECOND_LOOK), (view, LOCAL)):
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
