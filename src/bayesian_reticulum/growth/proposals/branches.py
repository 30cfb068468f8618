"""Branches in the place of a leaf, trained side by side with the rest of the tree held."""

from __future__ import annotations

import numpy as np

from ...arrays import Floats
from ...evidence import Effort, Stack, ascend
from ...families import Family
from ...rows import Rows
from ...tree import Shape, Tree, graft
from ..policy import Policy
from ..ranking import best_first
from .outlook import Outlook
from .proposal import Proposal

# Numbers of the information matrices of candidates that are trained at once (32 MiB).
_STACK_FLOATS = 1 << 22


def fit_branches(
    outlook: Outlook, kind: str, shape: Shape, starts: Floats, policy: Policy, stack_floats: int = _STACK_FLOATS
) -> Proposal:
    """Train branches of one shape in the place of the site's leaf, and propose the best one.

    Parameters
    ----------
    outlook : Outlook
    kind : str
        The name of the kind of proposals.
    shape : Shape
        The shape of the branches; with more than one split, check that it `fits_limits`.
    starts : ndarray of shape (c, m, d + 1)
        Hyperplanes of each branch to start from, at least one branch; a root comes before what is below it.
    policy : Policy
    stack_floats : int
        Numbers that the information matrices of branches trained at once may hold.
    """
    starts, stack = _train(outlook, shape, starts, policy, stack_floats)
    gains = stack.log_evidence - outlook.bound
    best, *others = best_first(gains).tolist()
    site, ids = outlook.site, outlook.first_id + np.arange(shape.n_splits)
    state, leaf = site.state, site.leaf
    started, tree = (
        graft(state.tree, leaf, Tree(hyperplanes[best], shape, ids)) for hyperplanes in (starts, stack.hyperplanes)
    )
    return Proposal(
        kind,
        started,
        tree,
        np.concatenate([state.precisions, stack.precisions[best]]),
        np.concatenate([state.statistics[:leaf], stack.statistics[best], state.statistics[leaf + 1 :]]),
        outlook.first_id,
        float(gains[best]),
        # A single split that does not pay will be pruned; of three, one may stay.
        state.log_evidence if shape.n_splits == 1 else -np.inf,
        tuple(gains[others].tolist()),
    )


def _train(outlook: Outlook, shape: Shape, starts: Floats, policy: Policy, stack_floats: int) -> tuple[Floats, Stack]:
    """The branches as started and as trained that are left after two looks at a sample of the rows.

    After each look only the better half goes on.
    """
    view, sample = outlook.view, outlook.sample
    precisions = np.full(starts.shape[:2], outlook.precision)
    family = outlook.family
    stack = _ascend_in_parts(sample, family, shape, starts, precisions, None, policy.look, stack_floats)
    for rows, effort in ((sample, policy.look), (view, policy.local_effort)):
        better = best_first(stack.log_evidence)[: max(1, (len(stack) + 1) // 2)]
        half, starts = stack.take(better), starts[better]
        statistics = half.statistics if rows is sample or sample.n_rows == view.n_rows else None
        effort = policy.effort_for(rows, effort)
        start = half.hyperplanes, half.precisions, statistics
        stack = _ascend_in_parts(rows, family, shape, *start, effort, stack_floats)
    return starts, stack


def _ascend_in_parts(
    rows: Rows,
    family: Family,
    shape: Shape,
    hyperplanes: Floats,
    precisions: Floats,
    statistics: Floats | None,
    effort: Effort,
    stack_floats: int,
) -> Stack:
    """`ascend`, so many trees at a time that their information matrices stay small."""
    c, m, width = hyperplanes.shape
    size = max(1, stack_floats // (2 * m * (width - len(rows.tail)) ** 2))
    parts = []
    for start in range(0, c, size):
        at = slice(start, start + size)
        held = None if statistics is None else statistics[at]
        parts.append(ascend(rows, family, shape, hyperplanes[at], precisions[at], held, effort))
    return Stack(*(np.concatenate([getattr(part, field) for part in parts]) for field in Stack.__dataclass_fields__))
