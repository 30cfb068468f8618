"""Looking one level ahead."""

from __future__ import annotations

import numpy as np

from ...arrays import Floats
from ...rows import scan_family
from ..policy import Policy
from .scan import Grid, cut_at, scan_gains

# Directions along which the second level of a look-ahead is scanned, at most.
_LOOKAHEAD_DIRECTIONS = 128
# Statistics that one scan, and one stack of candidates with their information, may hold.
_SCAN_FLOATS = 1 << 19


def look_ahead(grid: Grid, policy: Policy, rng: np.random.Generator, count: int) -> tuple[Floats, float]:
    """The best of some root cuts with the best cut on either side (c, 3, d + 1), and its gain: chessboards need it."""
    family, edges = scan_family(grid.view.family), grid.edges
    inner = np.arange(edges.shape[1] // 10, edges.shape[1] - edges.shape[1] // 10)
    root_direction = rng.integers(len(edges), size=policy.lookahead)
    root_edge = inner[rng.integers(len(inner), size=policy.lookahead)]
    usable = ~grid.empty[root_direction, root_edge]
    roots = cut_at(grid, root_direction[usable], root_edge[usable])
    if not len(roots):
        return np.empty((0, 3, grid.directions.shape[1])), -np.inf
    choice, totals = np.empty((len(roots), 2), dtype=np.int64), np.empty(len(roots))
    step = max(1, _SCAN_FLOATS // (2 * edges.size * family.n_statistics))
    for start in range(0, len(roots), step):
        part = slice(start, start + step)
        gains = scan_gains(grid, roots[part]).reshape(-1, 2, edges.size)
        choice[part] = gains.argmax(axis=-1)
        totals[part] = gains.max(axis=-1).sum(axis=1)
    sides_of_root = _root_statistics(grid, roots)
    totals += family.log_evidence(sides_of_root).sum(axis=1) - family.log_evidence(sides_of_root.sum(axis=1))
    ranking = np.argsort(-np.round(totals, 6), kind="stable")[:count]
    ranking = ranking[np.isfinite(totals[ranking])]
    sides = [cut_at(grid, *np.divmod(choice[ranking, side], edges.shape[1])) for side in (0, 1)]
    return np.stack([roots[ranking], *sides], axis=1), float(totals.max())


def _root_statistics(grid: Grid, roots: Floats) -> Floats:
    """Statistics left and right of each root cut: (roots, 2, k)."""
    nowhere = np.zeros((1, roots.shape[1]))
    return grid.view.histogram(nowhere, np.zeros((1, 0)), roots, grid.statistics)[:, :, 0, 0]
