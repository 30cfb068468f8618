"""What is predicted over one or two features."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
from scipy.ndimage import distance_transform_edt, label, map_coordinates

from ..arrays import Floats
from ..model import TRANSITION, check_whole_number, class_name, fitted_model, printable
from .section import CURVE, GRID, Section, checked_cells, chosen_features, class_codes
from .style import (
    BLUE,
    FAINT,
    GREY,
    INK,
    MARKERS,
    Display,
    class_colours,
    colour_scale,
    halo,
    name_axis,
    number_box,
    quiet,
    shortened,
    tell_held,
    text_width,
    write,
)


@dataclass(eq=False, repr=False)
class SurfaceDisplay(Display):
    """What is predicted over two features, with the soft splits in that plane.

    For two classes it is the probability of the second, with a line where odds are even; for more the most probable
    class, paler where it is less certain; for numbers the mean. A split is a line where its gate is 50%, in a band from
    10% to 90%, as strong as the probability that rows get there. Along one feature it is a curve.

    Parameters
    ----------
    names : tuple of str
        The features on the axes, one or two.
    grid : tuple of ndarray of shape (G,)
        Places along each.
    values : ndarray of shape (G, k) or (G, G, k)
        Probabilities of the classes, or the mean of the number (k = 1). The second feature comes first, as in images.
    planes : ndarray of shape (m, 3)
        Offset and slopes of the activation of each split, in the units of the axes; one slope for one feature.
    reach : ndarray of shape (m, G) or (m, G, G)
        Probability to come to each split.
    targets : tuple of str
        Names of the classes, or of the number.
    has_classes : bool
    held : str
        What the other features are held at; empty if there are none.
    rows : ndarray of shape (n, 1 or 2), optional
        Rows that are drawn too.
    codes : ndarray of shape (n,), optional
        Their class codes, -1 for classes that the model does not know, or their numbers.

    Attributes
    ----------
    ax_, figure_
        What was drawn on.
    surface_ : matplotlib artist
        The image, or the lines of a curve.

    Examples
    --------
    >>> from bayesian_reticulum import ReticulumClassifier
    >>> from bayesian_reticulum.datasets import make_cross
    >>> from bayesian_reticulum.plots import SurfaceDisplay
    >>> X, y, _ = make_cross(400, random_state=0)
    >>> display = SurfaceDisplay.from_estimator(ReticulumClassifier(random_state=0).fit(X, y), X, y)
    >>> display.names, display.values.shape
    (('x0', 'x1'), (240, 240, 2))
    """

    names: tuple[str, ...]
    grid: tuple[Floats, ...]
    values: Floats
    planes: Floats
    reach: Floats
    targets: tuple[str, ...]
    has_classes: bool
    held: str = ""
    rows: Floats | None = None
    codes: Any = None
    surface_: Any = field(default=None, init=False, repr=False)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any = None,
        y: Any = None,
        *,
        features: Any = None,
        row: Any = None,
        grid_resolution: int = GRID,
        ax: Any = None,
        **options: Any,
    ) -> Self:
        """Draw what a fitted estimator predicts.

        Parameters
        ----------
        estimator : fitted estimator
        X : array-like or data frame of shape (n_samples, n_features), optional
            Rows: they are drawn if `y` is given, axes end where they do, and features that are not drawn are held at
            their median or most frequent level. Without them it is the centre of the training rows.
        y : array-like of shape (n_samples,), optional
            Their targets.
        features : str, int or a list of one or two, optional
            What to draw over: numbers, by name or place. By default the two that matter most.
        row : array-like of shape (n_features,) or a table of one row, optional
            What the other features are held at.
        grid_resolution : int, default=240
            Places along each axis.
        ax : matplotlib Axes, optional
        **options
            For `plot`.
        """
        model = fitted_model(estimator)
        check_whole_number("grid_resolution", grid_resolution, 2)
        cells, y = checked_cells(estimator, X, y)
        chosen = chosen_features(model, features, 2)
        resolution = int(grid_resolution) if len(chosen) == 2 else max(int(grid_resolution), CURVE)
        section = Section.of_numbers(estimator, chosen, cells, row, resolution)
        return cls(
            tuple(model.schema.names[own] for own in chosen),
            section.grid,
            section.means(model),
            section.planes(model.schema, model.tree),
            section.reach(model.schema, model.tree),
            model.targets,
            model.has_classes,
            section.held,
            None if cells is None or y is None else cells[:, list(chosen)],
            class_codes(estimator, y),
        ).plot(ax=ax, **options)

    def plot(
        self, ax: Any = None, *, surface: bool = True, splits: bool = True, rows: bool = True, colorbar: bool = True
    ) -> Self:
        """Draw the surface.

        Parameters
        ----------
        ax : matplotlib Axes, optional
        surface, splits, rows : bool, default=True
            Which parts to draw. `ax_.legend()` names the marks of up to eight classes.
        colorbar : bool, default=True
            Whether to draw a scale beside the surface, where there is one.

        Returns
        -------
        self
        """
        ax = self._open(ax, (6.4, 5.0))
        quiet(ax)
        name_axis(ax.xaxis, self.names[0])
        if len(self.names) == 1:
            self._draw_curve(ax, splits, rows)
        else:
            self._draw_plane(ax, surface, splits, rows, colorbar)
        tell_held(ax, self.held)
        return self

    def _draw_plane(self, ax: Any, surface: bool, splits: bool, rows: bool, colorbar: bool) -> None:
        name_axis(ax.yaxis, self.names[1])
        ax.spines[:].set_visible(False)
        x, y = self.grid
        has_rows = rows and self.rows is not None
        if surface:
            self._draw_surface(ax, colorbar, is_ground=splits or has_rows)
        numbers: list[Floats] = []
        if splits:
            for split, plane in enumerate(self.planes):
                opacity = 0.15 if surface else 0.25
                numbers += draw_soft_split(ax, self.grid, plane, self.reach[split], str(split), opacity)
        if has_rows:
            assert self.rows is not None
            draw_rows(ax, self.rows, self.codes if self.has_classes else None, self.targets, surface)
        if surface and self.has_classes:
            size = 72 / ax.figure.dpi * np.array([ax.bbox.width, ax.bbox.height])
            for name, column, line in self._name_places(size, numbers):
                style = {"ha": "center", "path_effects": halo(), "zorder": 6, "fontweight": "bold"}
                write(ax, x[column], y[line], name, 10, **style)
        ax.set(xlim=axis_ends(x), ylim=axis_ends(y))
        ax.locator_params(nbins=5)

    def _draw_surface(self, ax: Any, colorbar: bool, is_ground: bool) -> None:
        strength = 0.6 if is_ground else 1.0
        x, y = self.grid
        shown = _image_style(self.grid)
        k = self.values.shape[-1]
        values, scale = self._height()
        if self._has_scale:
            colours = colour_scale(self.has_classes, strength)
            ends = (0, 1) if self.has_classes else None
            self.surface_ = ax.imshow(values, cmap=colours, clim=ends, **shown)
        else:
            self.surface_ = ax.imshow(_blended(self.values, strength), **shown)
        # With splits on it, one more line would be mistaken for theirs.
        if self.has_classes and not is_ground:
            for code in range(1 if k == 2 else 0, k):
                lead = self.values[..., code] - np.delete(self.values, code, axis=-1).max(axis=-1, initial=0.0)
                if lead.min() < 0 < lead.max():
                    ax.contour(x, y, lead, levels=[0], colors=INK, linewidths=1.4)
        if self._has_scale and colorbar:
            bar = ax.figure.colorbar(self.surface_, ax=ax, fraction=0.046, pad=0.02)
            bar.outline.set_visible(False)
            bar.ax.tick_params(length=0, labelcolor=GREY, labelsize=9)
            bar.ax.locator_params(nbins=5)
            bar.ax.yaxis.set_label_text(shortened(scale, 200.0, 10.0), parse_math=False, color=INK)

    @property
    def _has_scale(self) -> bool:
        """Whether colours are those of one number: a mean, or the probability of the second of two classes."""
        return not self.has_classes or len(self.targets) == 2

    def _height(self) -> tuple[Floats, str]:
        """What is told at each place by one number, and what it is."""
        if not self.has_classes:
            return self.values[..., 0], f"mean of {printable(self.targets[0])}"
        if self._has_scale:
            return self.values[..., 1], f"P({class_name(self.targets[1])})"
        return self.values.max(axis=-1), "P(most probable class)"

    def _name_places(self, size: Floats, numbers: Sequence[Floats] = ()) -> Iterator[tuple[str, int, int]]:
        """Names of classes and where on the grid to write them, if the plane is so many points wide and high.

        A name stands inside each part in which its class is the most probable, if it has room there beside other names
        and the numbers of splits, which are at places of the plane.
        """
        best = self.values.argmax(axis=-1)
        n_lines, n_columns = best.shape
        per_cell = np.asarray(size) / (n_columns, n_lines)
        found = []
        for code in range(len(self.targets)):
            depth = distance_transform_edt(np.pad(best == code, 1))[1:-1, 1:-1] * per_cell.min()
            # Parts that are joined by a bridge too narrow for text are named one by one.
            parts, n_parts = label(depth >= 9)
            for part in range(1, n_parts + 1):
                found.append((code, np.where(parts == part, depth, 0.0)))
        ends = np.array([axis_ends(own) for own in self.grid])
        taken = [(*(size * (own - ends[:, 0]) / (ends[:, 1] - ends[:, 0])), 9.0) for own in numbers]
        y = np.arange(n_lines) * per_cell[1]
        # The most spacious ones first.
        for code, inside in sorted(found, key=lambda own: -own[1].max()):
            name = shortened(class_name(self.targets[code]), 132.0, 10.0)
            # Bold letters are wider.
            half = text_width(name, 10.0) * 0.52 + 3
            x = np.clip(np.arange(n_columns) * per_cell[0], half, max(half, size[0] - half))
            free = inside.copy()
            for other_x, other_y, other_half in taken:
                free[np.ix_(np.abs(y - other_y) < 17, np.abs(x - other_x) < half + other_half)] = 0.0
            line, column = divmod(int(free.argmax()), n_columns)
            if free[line, column] > 0:
                taken.append((x[column], y[line], half))
                yield name, min(int(x[column] / per_cell[0]), n_columns - 1), line

    def _draw_curve(self, ax: Any, splits: bool, rows: bool) -> None:
        (x,) = self.grid
        k = self.values.shape[-1]
        self.surface_ = []
        if splits:
            for split, plane in enumerate(self.planes):
                _draw_soft_point(ax, x, plane, self.reach[split], str(split))
        shown = range(1, 2) if self.has_classes and k == 2 else range(k)
        colours = class_colours(k) if self.has_classes else [BLUE]
        for code in shown:
            self.surface_ += ax.plot(x, self.values[:, code], color=colours[code], linewidth=2.2, zorder=3)
        if self.has_classes:
            ax.set_ylim(-0.04, 1.04)
            name_axis(ax.yaxis, f"P({class_name(self.targets[-1])})" if k <= 2 else "probability")
        else:
            name_axis(ax.yaxis, f"mean of {self.targets[0]}")
        if self.has_classes and k > 2:
            for code in np.unique(self.values.argmax(axis=-1)):
                top = int(self.values[:, code].argmax())
                name = shortened(class_name(self.targets[code]), 90.0, 9.0)
                side = "left" if top < len(x) / 4 else "right" if top > 3 * len(x) / 4 else "center"
                write(ax, x[top], self.values[top, code], name, 9, color=colours[code], ha=side, va="bottom")
        if rows and self.rows is not None and self.codes is not None:
            if not self.has_classes:
                ax.plot(self.rows[:, 0], self.codes, ".", color=INK, markersize=3, alpha=0.5, zorder=2)
            elif k <= 2:
                known = self.codes >= 0
                ax.plot(self.rows[known, 0], self.codes[known], "|", color=INK, markersize=7, alpha=0.4)
        ax.set_xlim(axis_ends(x))


def axis_ends(grid: Floats) -> tuple[float, float]:
    """Where a row of cells around these places begins and ends."""
    half = (grid[1] - grid[0]) / 2
    return float(grid[0] - half), float(grid[-1] + half)


def _image_style(grid: tuple[Floats, ...]) -> dict[str, Any]:
    """How an image on a grid is drawn."""
    extent = (*axis_ends(grid[0]), *axis_ends(grid[1]))
    return {"extent": extent, "origin": "lower", "interpolation": "bilinear", "aspect": "auto"}


def _blended(values: Floats, most: float = 0.9) -> Floats:
    """Colours (..., 3) of the most probable classes, paler the less probable they are."""
    from matplotlib.colors import to_rgb

    k = values.shape[-1]
    colours = np.array([to_rgb(colour) for colour in class_colours(k)])
    best = values.argmax(axis=-1)
    strength = (values.max(axis=-1) - 1 / k) / (1 - 1 / k) if k > 1 else np.ones(best.shape)
    strength = most * (0.15 + 0.85 * strength)[..., None]
    return np.asarray(1 - strength * (1 - colours[best]))


def draw_soft_split(
    ax: Any, grid: tuple[Floats, ...], plane: Floats, reach: Floats, name: str = "", opacity: float = 0.25
) -> list[Floats]:
    """A line where the gate is even and a band from 0.1 to 0.9, as strong as the probability that rows get there.

    Returns the place of its name, if it is written.
    """
    x, y = grid
    steps = np.array([x[1] - x[0], y[1] - y[0]])
    activation = plane[0] + plane[1] * x + (plane[2] * y)[:, None]
    # The edge of the band is as smooth as a cell is wide.
    per_cell = max(float(np.linalg.norm(plane[1:] * steps)), 1e-12)
    band = np.zeros((*reach.shape, 4))
    band[..., 3] = opacity * reach * np.clip(0.5 + (TRANSITION / 2 - np.abs(activation)) / per_cell, 0, 1)
    ax.imshow(band, zorder=2, **_image_style(grid))
    line = _line(plane, axis_ends(x), axis_ends(y))
    if not len(line):
        return []
    places = [(line[:, 1] - y[0]) / steps[1], (line[:, 0] - x[0]) / steps[0]]
    reached = np.clip(map_coordinates(reach, places, order=1, mode="nearest"), 0.0, 1.0)
    # A few strengths, each drawn in one stroke: joints between strokes show as beads.
    strength = np.round(reached, 1)
    for level in np.unique(strength[strength > 0]):
        here = strength == level
        # Up to where the next one begins.
        here[1:] |= here[:-1]
        stroke = np.where(here[:, None], line, np.nan)
        ax.plot(*stroke.T, color="black", alpha=level, linewidth=1.8, solid_capstyle="butt", zorder=3)
    if not name or reached.max() <= 0.1:
        return []
    # Off the middle, where splits like to cross.
    place = line[np.searchsorted(reached.cumsum(), 0.4 * reached.sum())]
    write(ax, place[0], place[1], name, 8.5, ha="center", bbox=number_box(), zorder=5, clip_on=True)
    return [place]


def _line(plane: Floats, x_ends: tuple[float, float], y_ends: tuple[float, float], n_points: int = 2000) -> Floats:
    """Points (n, 2) in view where an activation is zero."""
    low = np.array([x_ends[0], y_ends[0]])
    size = np.array([x_ends[1], y_ends[1]]) - low
    # In units in which the view is a unit square.
    offset, slopes = plane[0] + plane[1:] @ low, plane[1:] * size
    squared = float(slopes @ slopes)
    if squared == 0:
        return np.empty((0, 2))
    foot = 0.5 - (offset + 0.5 * slopes.sum()) / squared * slopes
    along = np.array([-slopes[1], slopes[0]]) / np.sqrt(squared)
    points = foot + np.linspace(-1.5, 1.5, n_points)[:, None] * along
    return np.asarray(low + size * points[((points >= 0) & (points <= 1)).all(axis=1)])


def _draw_soft_point(ax: Any, x: Floats, plane: Floats, reach: Floats, name: str) -> None:
    """A split along one feature: a line where its gate is even, in a band from 0.1 to 0.9."""
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
    """Rows as marks of their classes, with names for a legend; where they lie on colours, they have a dark rim."""
    size = zoom * float(np.clip(22 * (600 / max(len(rows), 1)) ** 0.5, 3, 24))
    style = {"s": size, "alpha": 0.7, "linewidths": 0.5 if on_surface else 0, "edgecolors": INK, "zorder": 1.5}
    if codes is None:
        ax.scatter(*rows.T, color=INK, rasterized=True, **style)
        return
    colours = np.array([*class_colours(len(targets)), GREY])
    # Of two classes drawn one after the other the second would hide the first: rows come in an order drawn by lot.
    order = np.random.default_rng(0).permutation(len(rows))
    if len(targets) > len(MARKERS):
        ax.scatter(*rows[order].T, c=colours[codes[order]], rasterized=True, **style)
        return
    for part in np.array_split(order, min(8, max(1, len(order) // 8))):
        for code in np.unique(codes[part]):
            own = part[codes[part] == code]
            ax.scatter(*rows[own].T, color=colours[code], marker=MARKERS[code], rasterized=True, **style)
    for code, name in enumerate(targets):
        ax.scatter([], [], color=colours[code], marker=MARKERS[code], label=class_name(name), **style)


def _mixed(values: Floats) -> Floats:
    """Colours (..., 3) of classes, mixed by their probabilities: unlike those of the most probable, without seams."""
    from matplotlib.colors import to_rgb

    # Cubes, so that it is mostly the colour of the most probable class.
    weights = values**3 / (values**3).sum(axis=-1, keepdims=True)
    return np.asarray(weights @ np.array([to_rgb(colour) for colour in class_colours(values.shape[-1])]))


@dataclass(eq=False, repr=False)
class Surface3DDisplay(SurfaceDisplay):
    """What is predicted over two features as a surface in space.

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
            Whether to draw the rows: numbers where they are, classes on the floor.
        elev, azim : float
            Where it is seen from, in degrees.

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
        for axis, own in zip((ax.xaxis, ax.yaxis, ax.zaxis), (*self.names, name), strict=True):
            name_axis(axis, own, width=150.0)
            axis.pane.set_visible(False)
            axis.line.set_color(FAINT)
        ax.tick_params(labelcolor=GREY, labelsize=8, color=FAINT)
        ax.locator_params(nbins=5)
        ax.view_init(elev=elev, azim=azim)
        # Labels lie outside of the box.
        ax.set_box_aspect(None, zoom=0.88)
        if not self._has_scale:
            self._draw_names_in_space(ax, height)
        tell_held(ax, self.held)
        return self

    def _draw_names_in_space(self, ax: Any, height: Floats) -> None:
        """Names of classes above their parts, as far as they have room where they are seen."""
        from mpl_toolkits.mplot3d.proj3d import proj_transform

        taken: list[tuple[Floats, float]] = []
        for name, column, line in self._name_places(np.array([300.0, 300.0])):
            at = self.grid[0][column], self.grid[1][line], height[line, column] + 0.06
            seen = 72 / ax.figure.dpi * ax.transData.transform(proj_transform(*at, ax.get_proj())[:2])
            half = text_width(name, 9.0) / 2
            if all(abs(seen - own)[0] > half + other or abs(seen - own)[1] > 12 for own, other in taken):
                taken.append((seen, half))
                style = {"ha": "center", "fontsize": 9, "color": INK, "path_effects": halo(), "zorder": 10}
                ax.text(*at, name, parse_math=False, **style)

    def _draw_rows_in_space(self, ax: Any, floor: float) -> None:
        assert self.rows is not None
        low, high = (np.array([axis_ends(own)[side] for own in self.grid]) for side in (0, 1))
        seen = ((self.rows >= low) & (self.rows <= high)).all(axis=1)
        rows, codes = self.rows[seen], self.codes[seen]
        if self.has_classes:
            colours = np.array([*class_colours(len(self.targets)), GREY])[codes]
            ax.scatter(*rows.T, floor, c=colours, s=6, alpha=0.6, linewidths=0, depthshade=False)
        else:
            ax.scatter(*rows.T, codes, color=INK, s=6, alpha=0.6, linewidths=0, depthshade=False)
