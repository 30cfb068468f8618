"""Scans: the log evidence gained by every hard threshold along many directions, from histograms."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...arrays import Floats, Integers
from ...families import Family
from ...rows import Histogram, LocalRows, Moments, Rows, mean_and_covariance, scan
from ..policy import Policy

# Variance up to which a column or direction, in units of its spread, is constant: rounding leaves this.
_CONSTANT_VARIANCE = 1e-12


@dataclass(frozen=True, eq=False)
class Grid:
    """Thresholds to scan below a leaf.

    Attributes
    ----------
    rows : LocalRows
        The rows of the leaf, or a sample of them.
    family : Family
    statistics : ndarray of shape (k,)
        What the leaf holds.
    directions : ndarray of shape (D, d + 1)
        Each with unit spread over the rows.
    edges : ndarray of shape (D, E)
        The thresholds along each direction.
    empty : ndarray of shape (D, E)
        Where a threshold does not part the rows.
    """

    rows: LocalRows
    family: Family
    statistics: Floats
    directions: Floats
    edges: Floats
    empty: NDArray[np.bool_]

    def along(self, chosen: Integers) -> Grid:
        """The same thresholds along some of the directions."""
        directions, edges, empty = self.directions[chosen], self.edges[chosen], self.empty[chosen]
        return Grid(self.rows, self.family, self.statistics, directions, edges, empty)


@dataclass(frozen=True, eq=False)
class Scan:
    """The hard cuts of a leaf.

    Attributes
    ----------
    grid : Grid
    cuts : ndarray of shape (c, d + 1)
        The best cut along each direction that has one, the best of all first: at least one.
    ranking : ndarray of shape (D,)
        All directions in that order.
    gain : float
        Log evidence that the best cut gains, prices not paid.
    """

    grid: Grid
    cuts: Floats
    ranking: Integers
    gain: float


def scan_leaf(rows: LocalRows, family: Family, statistics: Floats, directions: Floats, policy: Policy) -> Scan | None:
    """Scan all directions; None if no threshold parts the rows."""
    if not len(directions):
        return None
    grid = make_grid(rows, family, statistics, directions, policy)
    everything = np.zeros((1, directions.shape[1]))
    everything[0, 0] = 1.0
    gains = scan_gains(grid, everything)[0, 0]
    best_edge = gains.argmax(axis=1)
    best_gain = gains[np.arange(len(gains)), best_edge]
    ranking = np.argsort(-best_gain, kind="stable")
    cuts = cut_at(grid, np.arange(len(gains)), best_edge)[ranking]
    cuts = cuts[np.isfinite(best_gain[ranking])]
    return Scan(grid, cuts, ranking, float(best_gain[ranking[0]])) if len(cuts) else None


def make_grid(rows: LocalRows, family: Family, statistics: Floats, directions: Floats, policy: Policy) -> Grid:
    """Thresholds between quantiles of the rows along each direction."""
    quantiles = rows.quantiles(directions, np.arange(policy.bins + 1) / policy.bins)
    # Cuts lie between two quantiles; where those are equal there is nothing between them.
    edges = 0.5 * (quantiles[:, :-1] + quantiles[:, 1:])
    return Grid(rows, family, statistics, directions, edges, quantiles[:, :-1] == quantiles[:, 1:])


def scan_gains(grid: Grid, cuts: Floats) -> Floats:
    """Evidence gained by each hard threshold on either side of each cut, (cuts, 2, D, E)."""
    gains = scan(grid.rows, Histogram(grid.family, grid.statistics, grid.directions, grid.edges, cuts))
    # Cuts that part the rows alike gain alike: rounding must not choose between them.
    return np.where(grid.empty, -np.inf, np.round(gains, 6))


def cut_at(grid: Grid, direction: Integers, edge: Integers) -> Floats:
    """Hyperplanes (c, d + 1) of some thresholds, each by its direction and its place among the edges."""
    hyperplanes: Floats = grid.directions[direction].copy()
    hyperplanes[:, 0] -= grid.edges[direction, edge]
    return hyperplanes


def choose_directions(
    rows: Rows, family: Family, statistics: Floats, policy: Policy, rng: np.random.Generator
) -> tuple[Floats, int]:
    """Directions to scan below a leaf, each with unit spread over its rows, and how many columns vary there.

    The features, random directions, and those along which the targets vary most, with and without regard to how the
    features vary together.

    Returns
    -------
    directions : ndarray of shape (D, d + 1)
    n_varying : int
    """
    sums = rows.reduce(Moments(family, statistics))
    second, cross, size = sums.second, sums.cross, sums.size
    if second[0, 0] == 0:
        # No row has any weight here.
        return np.empty((0, rows.n_columns + 1)), 0
    mean, covariance = mean_and_covariance(second)
    random = rng.standard_normal((policy.n_directions, len(rows.axes))) @ rows.axes
    # A class that is all but absent has no direction; sums of residuals always have.
    present = size > 0.0
    contrast = (cross[present, 1:] - cross[present, :1] * mean) / second[0, 0]
    if len(contrast) > policy.most_branches:
        _, sizes, vectors = np.linalg.svd(contrast, full_matrices=False)
        contrast = sizes[: policy.most_branches, None] * vectors[: policy.most_branches]
    ridge = covariance + policy.ridge * np.eye(len(mean))
    discriminant = np.linalg.solve(ridge, contrast.T).T
    slopes = np.concatenate([rows.axes, random, contrast, discriminant])
    n_varying = int((np.diagonal(covariance) > _CONSTANT_VARIANCE).sum())
    return _scale_to_unit_spread(slopes, covariance, policy), n_varying


def axis_directions(rows: Rows, family: Family, statistics: Floats, policy: Policy) -> Floats:
    """The features that vary below a leaf as directions (D, d + 1) with unit spread."""
    second = rows.reduce(Moments(family, statistics)).second
    if second[0, 0] == 0:
        return np.empty((0, rows.n_columns + 1))
    return _scale_to_unit_spread(rows.axes, mean_and_covariance(second)[1], policy)


def _scale_to_unit_spread(slopes: Floats, covariance: Floats, policy: Policy) -> Floats:
    """Directions (D', d + 1) with these slopes (D, d), without those along which nothing varies."""
    variance = np.einsum("ij,ij->i", slopes @ covariance, slopes)
    size = np.einsum("ij,ij->i", slopes, slopes)
    moving = variance > _CONSTANT_VARIANCE * np.maximum(size, _CONSTANT_VARIANCE)
    slopes = slopes[moving] / np.sqrt(variance[moving, None])
    return np.column_stack([np.zeros(len(slopes)), slopes])


def best_axis_cuts(view: Rows, family: Family, statistics: Floats, count: int, policy: Policy) -> Floats:
    """The best cuts that look at one column each, at most so many, to start from: shape (c, 1, d + 1)."""
    rows = view.sample(policy.leaf_rows)
    best = scan_leaf(rows, family, statistics, axis_directions(rows, family, statistics, policy), policy)
    if best is None:
        return np.empty((0, 1, view.n_columns + 1))
    return policy.stiffness * best.cuts[:count, None]
