"""Predictions over two features as a surface in space."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from ..arrays import Floats
from .plane import axis_ends
from .section import GRID
from .style import FAINT, GREY, INK, class_colours, colour_scale, halo, name_axis, text_width, write_held
from .surface import SurfaceDisplay


@dataclass(eq=False, repr=False)
class Surface3DDisplay(SurfaceDisplay):
    """Predictions over two features as a surface in space.

    Its height is the probability of the second of two classes, that of the most probable of more, or the mean of a
    number. Data and parameters are those of `SurfaceDisplay`.

    Examples
    --------
    >>> from bayesian_reticulum import ReticulumClassifier
    >>> from bayesian_reticulum.datasets import make_cross
    >>> from bayesian_reticulum.plots import Surface3DDisplay
    >>> X, y, _ = make_cross(400, random_state=0)
    >>> display = Surface3DDisplay.from_estimator(ReticulumClassifier(random_state=0).fit(X, y))
    >>> display.ax_.name
    '3d'
    """

    def plot(self, ax: Any = None, *, rows: bool = True, elev: float = 32, azim: float = -58) -> Self:  # type: ignore[override]
        """Draw the surface.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            With projection="3d".
        rows : bool, default=True
            Whether to draw the rows: at the height of their number, or on the floor in the colour of their class.
        elev, azim : float
            Elevation and azimuth of the view, in degrees.

        Returns
        -------
        self
        """
        if len(self.names) == 1:
            raise ValueError("a surface needs two features that are numbers. SurfaceDisplay draws a curve along one.")
        if ax is not None and ax.name != "3d":
            raise ValueError('Surface3DDisplay needs axes in space: make them with projection="3d".')
        ax = self._open(ax, (6.6, 5.4), projection="3d")
        x, y = np.meshgrid(*self.grid)
        height, name = self._height()
        floor, top = (0.0, 1.0) if self.has_classes else (float(height.min()), float(height.max()))
        drawn: dict[str, Any] = {"rcount": GRID, "ccount": GRID, "linewidth": 0, "antialiased": False}
        if not self._has_scale:
            drawn |= {"facecolors": _mixed(self.values), "shade": False}
        else:
            drawn |= {"cmap": colour_scale(self.has_classes), "vmin": floor, "vmax": top}
        self.surface_ = ax.plot_surface(x, y, height, **drawn)
        if self.has_classes:
            ax.set_zlim(0, 1)
        if rows and self.rows is not None and self.codes is not None:
            self._draw_rows_in_space(ax, floor)
        for axis, label in zip((ax.xaxis, ax.yaxis, ax.zaxis), (*self.names, name), strict=True):
            name_axis(axis, label, width=150.0)
            axis.pane.set_visible(False)
            axis.line.set_color(FAINT)
        ax.tick_params(labelcolor=GREY, labelsize=8, color=FAINT)
        ax.locator_params(nbins=5)
        ax.view_init(elev=elev, azim=azim)
        # Labels lie outside of the box.
        ax.set_box_aspect(None, zoom=0.88)
        if not self._has_scale:
            self._draw_names_in_space(ax, height)
        write_held(ax, self.held)
        return self

    def _draw_names_in_space(self, ax: Any, height: Floats) -> None:
        """Write the names of classes above their parts, as far as they have room in this view."""
        from mpl_toolkits.mplot3d.proj3d import proj_transform

        taken: list[tuple[Floats, float]] = []
        for name, column, line in self._name_places(np.array([300.0, 300.0])):
            at = self.grid[0][column], self.grid[1][line], height[line, column] + 0.06
            seen = 72 / ax.figure.dpi * ax.transData.transform(proj_transform(*at, ax.get_proj())[:2])
            half = text_width(name, 9.0) / 2
            distances = [(*abs(seen - place), half + other_half) for place, other_half in taken]
            if all(x > least or y > 12 for x, y, least in distances):
                taken.append((seen, half))
                style = {"ha": "center", "fontsize": 9, "color": INK, "path_effects": halo(), "zorder": 10}
                ax.text(*at, name, parse_math=False, **style)

    def _draw_rows_in_space(self, ax: Any, floor: float) -> None:
        assert self.rows is not None
        low, high = (np.array([axis_ends(places)[side] for places in self.grid]) for side in (0, 1))
        is_inside = ((self.rows >= low) & (self.rows <= high)).all(axis=1)
        rows, codes = self.rows[is_inside], self.codes[is_inside]
        if self.has_classes:
            colours = np.array([*class_colours(len(self.targets)), GREY])[codes]
            ax.scatter(*rows.T, floor, c=colours, s=6, alpha=0.6, linewidths=0, depthshade=False)
        else:
            ax.scatter(*rows.T, codes, color=INK, s=6, alpha=0.6, linewidths=0, depthshade=False)


def _mixed(values: Floats) -> Floats:
    """Colours (..., 3) of classes, mixed by their probabilities; those of the most probable alone would show seams."""
    from matplotlib.colors import to_rgb

    # Cubes, so that the colour of the most probable class prevails.
    weights = values**3 / (values**3).sum(axis=-1, keepdims=True)
    return np.asarray(weights @ np.array([to_rgb(colour) for colour in class_colours(values.shape[-1])]))
