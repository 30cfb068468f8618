"""Soft splits and rows in the plane, or along the line, of the features on the axes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.ndimage import map_coordinates

from ..arrays import Floats
from ..model import TRANSITION, class_name
from .style import GREY, INK, MARKERS, class_colours, number_box, write


def axis_ends(grid: Floats) -> tuple[float, float]:
    """First and last edge of grid cells that have these places as their middles."""
    half = (grid[1] - grid[0]) / 2
    return float(grid[0] - half), float(grid[-1] + half)


def image_style(grid: tuple[Floats, ...]) -> dict[str, Any]:
    """Options of `imshow` for an image on a grid."""
    extent = (*axis_ends(grid[0]), *axis_ends(grid[1]))
    return {"extent": extent, "origin": "lower", "interpolation": "bilinear", "aspect": "auto"}


def draw_soft_split(
    ax: Any, grid: tuple[Floats, ...], plane: Floats, reach: Floats, name: str = "", opacity: float = 0.25
) -> list[Floats]:
    """Draw a line where the gate is even in a band from 0.1 to 0.9, as strong as the probability that rows get there.

    Parameters
    ----------
    ax : matplotlib Axes
    grid : tuple of ndarray of shape (G,)
        Places along each axis.
    plane : ndarray of shape (3,)
        Offset and slopes of the activation.
    reach : ndarray of shape (G, G)
        Probability to come to the split.
    name : str
        A name to write on the line.
    opacity : float
        Opacity of the band where every row comes to the split.

    Returns
    -------
    list of ndarray of shape (2,)
        The place of the name, if it is written.
    """
    x, y = grid
    steps = np.array([x[1] - x[0], y[1] - y[0]])
    activation = plane[0] + plane[1] * x + (plane[2] * y)[:, None]
    # The edge of the band is as smooth as a cell is wide.
    per_cell = max(float(np.linalg.norm(plane[1:] * steps)), 1e-12)
    band = np.zeros((*reach.shape, 4))
    band[..., 3] = opacity * reach * np.clip(0.5 + (TRANSITION / 2 - np.abs(activation)) / per_cell, 0, 1)
    ax.imshow(band, zorder=2, **image_style(grid))
    line = _line(plane, axis_ends(x), axis_ends(y))
    if not len(line):
        return []
    places = [(line[:, 1] - y[0]) / steps[1], (line[:, 0] - x[0]) / steps[0]]
    reached = np.clip(map_coordinates(reach, places, order=1, mode="nearest"), 0.0, 1.0)
    # Ten strengths, each drawn in one stroke: a stroke for each point would show its joints as beads.
    strength = np.round(reached, 1)
    for level in np.unique(strength[strength > 0]):
        is_drawn = strength == level
        # Up to the first point of the next strength, so that there is no break.
        is_drawn[1:] |= is_drawn[:-1]
        stroke = np.where(is_drawn[:, None], line, np.nan)
        ax.plot(*stroke.T, color="black", alpha=level, linewidth=1.8, solid_capstyle="butt", zorder=3)
    if not name or reached.max() <= 0.1:
        return []
    # Off the middle, where splits often cross.
    place = line[np.searchsorted(reached.cumsum(), 0.4 * reached.sum())]
    write(ax, place[0], place[1], name, 8.5, ha="center", bbox=number_box(), zorder=5, clip_on=True)
    return [place]


def _line(plane: Floats, x_ends: tuple[float, float], y_ends: tuple[float, float], n_points: int = 2000) -> Floats:
    """Points (n, 2) in view where an activation is zero."""
    low = np.array([x_ends[0], y_ends[0]])
    size = np.array([x_ends[1], y_ends[1]]) - low
    # Scaled so that the view is a unit square.
    offset, slopes = plane[0] + plane[1:] @ low, plane[1:] * size
    squared = float(slopes @ slopes)
    if squared == 0:
        return np.empty((0, 2))
    foot = 0.5 - (offset + 0.5 * slopes.sum()) / squared * slopes
    along = np.array([-slopes[1], slopes[0]]) / np.sqrt(squared)
    points = foot + np.linspace(-1.5, 1.5, n_points)[:, None] * along
    return np.asarray(low + size * points[((points >= 0) & (points <= 1)).all(axis=1)])


def draw_soft_point(ax: Any, x: Floats, plane: Floats, reach: Floats, name: str) -> None:
    """Draw a split along one feature: a line where its gate is even, in a band from 0.1 to 0.9."""
    offset, slope = plane
    if slope == 0:
        return
    low, middle, high = sorted((level - offset) / slope for level in (-TRANSITION / 2, 0.0, TRANSITION / 2))
    strength = float(np.interp(middle, x, reach))
    ends = axis_ends(x)
    ax.axvspan(max(low, ends[0]), min(high, ends[1]), color="black", alpha=0.1 * strength, linewidth=0, zorder=1)
    if ends[0] < middle < ends[1] and strength > 0.1:
        ax.axvline(middle, color="black", alpha=strength, linewidth=1.2, zorder=1.5)
        write(ax, middle, 0.5, name, 8.5, ha="center", bbox=number_box(), zorder=5, transform=ax.get_xaxis_transform())


def draw_rows(ax: Any, rows: Floats, codes: Any, targets: Sequence[str], on_surface: bool, zoom: float = 1.0) -> None:
    """Draw rows as marks of their classes, with names for a legend; on a coloured surface they have a dark rim."""
    size = zoom * float(np.clip(22 * (600 / max(len(rows), 1)) ** 0.5, 3, 24))
    style = {"s": size, "alpha": 0.7, "linewidths": 0.5 if on_surface else 0, "edgecolors": INK, "zorder": 1.5}
    if codes is None:
        ax.scatter(*rows.T, color=INK, rasterized=True, **style)
        return
    colours = np.array([*class_colours(len(targets)), GREY])
    # If one class were drawn after the other, it would hide the first: rows come in random order.
    order = np.random.default_rng(0).permutation(len(rows))
    if len(targets) > len(MARKERS):
        ax.scatter(*rows[order].T, c=colours[codes[order]], rasterized=True, **style)
        return
    for part in np.array_split(order, min(8, max(1, len(order) // 8))):
        for code in np.unique(codes[part]):
            of_class = part[codes[part] == code]
            ax.scatter(*rows[of_class].T, color=colours[code], marker=MARKERS[code], rasterized=True, **style)
    for code, name in enumerate(targets):
        ax.scatter([], [], color=colours[code], marker=MARKERS[code], label=class_name(name), **style)
