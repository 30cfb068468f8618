"""Views: the rows as a branch in the place of a leaf sees them, the rest of the tree held."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..arrays import Floats, Integers
from ..gates import compute_gates
from ..namespaces import beside, namespace_of, to_numpy
from .block import Block
from .limits import Limits
from .protocol import TreeContext
from .requests import softening


class Seen(NamedTuple):
    """The rows of a view: their places (n,), log membership in the leaf, and log joint of all other leaves."""

    places: Integers
    log_reach: Floats
    log_other: Floats


def seen_from(block: Block, context: TreeContext, leaves: Integers, limits: Limits) -> list[Seen]:
    """Which rows of a block are seen from each of some leaves of a tree, by their places in the block.

    A leaf that holds less than `negligible_share` of a row leaves it out.
    """
    xp, stack = namespace_of(block.design), context.hyperplanes[None]
    gates = compute_gates(beside(block.design, stack), context.shape, block.design, softening(stack, block))
    log_reach = gates.log_membership[0, ...]
    if block.log_reach is not None:
        log_reach += block.log_reach
    joint = log_reach + beside(block.design, context.expected) @ block.statistics.T
    nothing = xp.full_like(joint[0, :], -np.inf)
    # Sums from either side leave a leaf out; subtracting it from the whole would cost digits.
    before, after = [nothing if block.log_other is None else block.log_other], [nothing]
    for leaf in range(context.shape.n_leaves):
        before.append(xp.logaddexp(before[-1], joint[leaf, :]))
        after.append(xp.logaddexp(after[-1], joint[-1 - leaf, :]))
    views = []
    for leaf in leaves.tolist():
        log_other = xp.logaddexp(before[leaf], after[context.shape.n_leaves - 1 - leaf])
        share = xp.maximum(log_reach[leaf, :], joint[leaf, :] - xp.logaddexp(joint[leaf, :], log_other))
        places = np.flatnonzero(to_numpy(share > log_negligible(limits)))
        views.append(Seen(places, *(to_numpy(logs)[places] for logs in (log_reach[leaf, :], log_other))))
    return views


def join_seen(parts: list[tuple[int, Seen]]) -> Seen:
    """What is seen of several blocks, given the place of the first row of each."""
    no_rows = Seen(np.empty(0, dtype=np.int64), np.empty(0), np.empty(0))
    shifted = [no_rows, *(seen._replace(places=first + seen.places) for first, seen in parts)]
    fields: Any = zip(*shifted, strict=True)
    return Seen(*(np.concatenate(field) for field in fields))


def log_negligible(limits: Limits) -> float:
    """Log of the share of a row below which a view leaves it out."""
    with np.errstate(divide="ignore"):
        return float(np.log(limits.negligible_share))
