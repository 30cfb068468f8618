"""How rows go down a tree: gates of its splits and memberships in its leaves.

Only a tree and its schema are needed, so that a tree that is still growing can be followed as well as a fitted one.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from ..arrays import Floats
from ..compiled import is_available, mix_leaves
from ..data import Gaps, Schema
from ..gates import Gates, compute_gates, gap_softening
from ..tree import Tree

# Floats of a block of rows: its activations, gates and memberships, and its design.
_BLOCK_FLOATS = 1 << 18


class RowBlock(NamedTuple):
    """Some rows of a table on their way through a tree.

    Attributes
    ----------
    rows : slice
        Which rows of the table these are.
    membership : ndarray of shape (leaves, n)
    design : ndarray of shape (D + 1, n)
    left_open : ndarray of shape (q, n) or None
        Share of the variance of each missing cell that the rest of its row leaves open; None if the table has no gaps.
    """

    rows: slice
    membership: Floats
    design: Floats
    left_open: Floats | None


def row_blocks(schema: Schema, tree: Tree, X: Any, gaps: Gaps | None) -> Iterator[RowBlock]:
    """Split the rows of a table (n, d) into blocks with their memberships; an empty table is one empty block."""
    size = max(64, min(4096, _BLOCK_FLOATS // (4 * tree.n_leaves + tree.n_features)))
    hyperplanes = tree.hyperplanes[None]
    for start in range(0, max(len(X), 1), size):
        rows = slice(start, min(start + size, len(X)))
        design, left_open = schema.filled(X[rows], gaps)
        gates = compute_gates(hyperplanes, tree.shape, design, gap_softening(gaps, hyperplanes, left_open))
        yield RowBlock(rows, np.exp(gates.log_membership[0]), design, left_open)


def compute_routes(schema: Schema, tree: Tree, X: Any) -> Gates:
    """Activations and gates (1, m, n) and log memberships (1, leaves, n) of a few rows (n, d)."""
    gaps, hyperplanes = schema.gaps(X), tree.hyperplanes[None]
    design, left_open = schema.filled(X, gaps)
    return compute_gates(hyperplanes, tree.shape, design, gap_softening(gaps, hyperplanes, left_open))


def compute_membership(schema: Schema, tree: Tree, X: Any, threads: int = 1) -> Floats:
    """Probability of each row (n, d) to belong to each leaf, shape (n, leaves)."""
    if is_available():
        return mix_leaves(schema, tree, None, X, threads)
    membership = np.empty((len(X), tree.n_leaves))
    for block in row_blocks(schema, tree, X, schema.gaps(X)):
        membership[block.rows] = block.membership.T
    return membership
