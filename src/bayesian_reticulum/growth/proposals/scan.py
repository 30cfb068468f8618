"""Scans of thresholds along directions."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...arrays import Floats, Integers
from ...rows import Rows, mean_and_covariance
from ..policy import SAMPLE, STIFFNESS, Policy

_BINS = 32
# Directions of most variation of the targets that are scanned, at most.
_MOST_CONTRASTS = 16


class Grid(NamedTuple):
    """Thresholds to scan below a leaf that holds `statistics` (k,).

    They are the `edges` (D, E) along `directions` (D, d + 1); where `empty` (D, E), a threshold parts nothing.
    """

    view: Rows
    statistics: Floats
    directions: Floats
    edges: Floats
    empty: NDArray[np.bool_]


def make_grid(sample: Rows, statistics: Floats, directions: Floats) -> Grid:
    quantiles = sample.quantiles(directions, np.arange(_BINS + 1) / _BINS)
    # Cuts lie between two quantiles; where those are equal there is nothing between them.
    edges = 0.5 * (quantiles[:, :-1] + quantiles[:, 1:])
    return Grid(sample, statistics, directions, edges, quantiles[:, :-1] == quantiles[:, 1:])


def best_cuts(grid: Grid) -> tuple[Floats, Integers, float]:
    """The best cut along each direction (D, d + 1), the best of all first, the directions in that order, and its gain.

    There are none if nothing can be parted.
    """
    everything = np.zeros((1, grid.directions.shape[1]))
    everything[0, 0] = 1.0
    gains = scan_gains(grid, everything)[0, 0]
    best_edge = gains.argmax(axis=1)
    best_gain = gains[np.arange(len(gains)), best_edge]
    ranking = np.argsort(-best_gain, kind="stable")
    cuts = cut_at(grid, np.arange(len(gains)), best_edge)[ranking]
    return cuts[np.isfinite(best_gain[ranking])], ranking, float(best_gain[ranking[0]])


def scan_directions(view: Rows, statistics: Floats, policy: Policy, rng: np.random.Generator) -> tuple[Floats, int]:
    """Directions (D, d + 1) to scan, each with unit spread over the rows in view, and how many columns vary there.

    The features, random directions, and those along which the targets vary most, with and without regard to how the
    features vary together.
    """
    second, cross, size = view.moments(statistics)
    if second[0, 0] == 0:
        # No row has any weight here.
        return np.empty((0, view.n_features + 1)), 0
    mean, covariance = mean_and_covariance(second)
    random = rng.standard_normal((policy.n_directions, len(view.axes))) @ view.axes
    # What hardly a row has, as a class that is all but absent, tells no direction.
    present = size > (0.0 if view.family.uses_design else 1.0)
    contrast = (cross[present, 1:] - cross[present, :1] * mean) / second[0, 0]
    if len(contrast) > _MOST_CONTRASTS:
        _, sizes, vectors = np.linalg.svd(contrast, full_matrices=False)
        contrast = sizes[:_MOST_CONTRASTS, None] * vectors[:_MOST_CONTRASTS]
    ridge = covariance + 0.01 * np.eye(len(mean))
    discriminant = np.linalg.solve(ridge, contrast.T).T
    slopes = np.concatenate([view.axes, random, contrast, discriminant])
    return _scale_to_unit_spread(slopes, covariance), int((np.diagonal(covariance) > 1e-12).sum())


def _scale_to_unit_spread(slopes: Floats, covariance: Floats) -> Floats:
    """Directions (D, d + 1) with these slopes (D, d), but those along which nothing varies."""
    variance = np.einsum("ij,ij->i", slopes @ covariance, slopes)
    size = np.einsum("ij,ij->i", slopes, slopes)
    moving = variance > 1e-12 * np.maximum(size, 1e-12)
    slopes = slopes[moving] / np.sqrt(variance[moving, None])
    return np.column_stack([np.zeros(len(slopes)), slopes])


def scan_gains(grid: Grid, cuts: Floats) -> Floats:
    """Evidence gained by each hard threshold on either side of each cut: (cuts, 2, D, edges)."""
    gains = grid.view.scan(grid.directions, grid.edges, cuts, grid.statistics)
    # Cuts that part the rows alike gain alike: rounding must not choose between them.
    return np.where(grid.empty, -np.inf, np.round(gains, 6))


def cut_at(grid: Grid, direction: Integers, edge: Integers) -> Floats:
    hyperplanes: Floats = grid.directions[direction].copy()
    hyperplanes[:, 0] -= grid.edges[direction, edge]
    return hyperplanes


def best_axis_cuts(view: Rows, statistics: Floats, count: int) -> Floats:
    """The best cuts that look at one column each, at most so many, to start from: shape (c, 1, d + 1)."""
    sample = view.sampled(SAMPLE)
    second = sample.moments(statistics).second
    if second[0, 0] == 0:
        return np.empty((0, 1, view.n_features + 1))
    directions = _scale_to_unit_spread(view.axes, mean_and_covariance(second)[1])
    if not len(directions):
        return np.empty((0, 1, view.n_features + 1))
    return STIFFNESS * best_cuts(make_grid(sample, statistics, directions))[0][:count, None]
