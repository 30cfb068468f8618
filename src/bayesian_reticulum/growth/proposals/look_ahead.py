"""Look-ahead: three splits at once, for patterns in which no single split gains anything."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from ...arrays import Floats
from ...rows import Histogram, scan_family
from ..policy import Policy
from ..ranking import best_first
from ..shapes import THREE_SPLITS
from ..sites import fits_limits
from .branches import fit_branches
from .outlook import Outlook
from .proposal import Proposal
from .scan import Grid, cut_at, scan_gains

# Statistics that one scan holds (4 MiB).
_SCAN_FLOATS = 1 << 19


class LookAhead:
    """Some root cuts with the best cut on either side."""

    kind = "look-ahead"
    is_local = True

    def propose(
        self, outlook: Outlook, policy: Policy, rng: np.random.Generator, earlier: Sequence[Proposal]
    ) -> Iterator[Proposal]:
        """Propose the best of some root cuts drawn at random, each with the best cut on either side.

        Where nothing simpler pays, three cuts are fitted only if they gain far more than the best cut of the scan: in
        no fit of 22 tables did others pay, and they took a tenth of the time.
        """
        scan = outlook.scan
        if scan is None or not policy.lookahead or not fits_limits(outlook.site, THREE_SPLITS, policy):
            return
        grid = scan.grid.along(np.sort(scan.ranking[: 2 * policy.lookahead]))
        started, gain = look_ahead(grid, policy, rng, policy.n_branches(scan.cuts.shape[1]))
        gains = [proposal.local_gain for proposal in earlier if proposal.local_gain is not None]
        simpler_pays = max(gains, default=-np.inf) >= -policy.small_difference
        stands_out = gain > policy.stands_out * max(scan.gain, 0.0)
        if len(started) and (simpler_pays or stands_out):
            yield fit_branches(outlook, self.kind, THREE_SPLITS, policy.stiffness * started, policy)


def look_ahead(
    grid: Grid, policy: Policy, rng: np.random.Generator, count: int, scan_floats: int = _SCAN_FLOATS
) -> tuple[Floats, float]:
    """The best of some root cuts with the best cut on either side, (c, 3, d + 1), and the gain of the first.

    A scan holds at most `scan_floats` statistics.
    """
    family, edges = scan_family(grid.family), grid.edges
    root_direction = rng.integers(len(edges), size=policy.lookahead)
    root_edge = rng.integers(edges.shape[1], size=policy.lookahead)
    usable = ~grid.empty[root_direction, root_edge]
    roots = cut_at(grid, root_direction[usable], root_edge[usable])
    if not len(roots):
        return np.empty((0, 3, grid.directions.shape[1])), -np.inf
    choice, totals = np.empty((len(roots), 2), dtype=np.int64), np.empty(len(roots))
    step = max(1, scan_floats // (2 * edges.size * family.n_statistics))
    for start in range(0, len(roots), step):
        part = slice(start, start + step)
        gains = scan_gains(grid, roots[part]).reshape(-1, 2, edges.size)
        choice[part] = gains.argmax(axis=-1)
        totals[part] = gains.max(axis=-1).sum(axis=1)
    sides_of_root = _root_statistics(grid, roots)
    totals += family.log_evidence(sides_of_root).sum(axis=1) - family.log_evidence(sides_of_root.sum(axis=1))
    ranking = best_first(totals)[:count]
    ranking = ranking[np.isfinite(totals[ranking])]
    sides = [cut_at(grid, *np.divmod(choice[ranking, side], edges.shape[1])) for side in (0, 1)]
    return np.stack([roots[ranking], *sides], axis=1), float(totals.max())


def _root_statistics(grid: Grid, roots: Floats) -> Floats:
    """Statistics left and right of each root cut, (roots, 2, k)."""
    nowhere = np.zeros((1, roots.shape[1]))
    request = Histogram(grid.family, grid.statistics, nowhere, np.zeros((1, 0)), roots)
    return grid.rows.reduce(request).statistics[:, :, 0, 0]
