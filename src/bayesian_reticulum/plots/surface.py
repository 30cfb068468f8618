"""Predictions over one or two features."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
from scipy.ndimage import distance_transform_edt, label

from ..arrays import Floats
from ..model import check_whole_number, class_name, fitted_model, printable
from .plane import axis_ends, draw_rows, draw_soft_point, draw_soft_split, image_style
from .section import CURVE, GRID, Section, checked_cells, chosen_features, class_codes
from .style import (
    BLUE,
    GREY,
    INK,
    Display,
    class_colours,
    colour_scale,
    halo,
    name_axis,
    quiet,
    shortened,
    text_width,
    write,
    write_held,
)


@dataclass(eq=False, repr=False)
class SurfaceDisplay(Display):
    """Predictions over two features, with the soft splits in that plane.

    The surface shows the probability of the second of two classes, with a line where odds are even; the most probable
    of more classes, paler where it is less certain; or the mean of a number. A split is a line where its gate is 50%,
    in a band from 10% to 90%, as strong as the probability that rows get there. Over one feature predictions are
    curves.

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
        Where the other features are held, in words; empty if there are none.
    rows : ndarray of shape (n, 1 or 2), optional
        Rows to draw.
    codes : ndarray of shape (n,), optional
        Their class codes, -1 for classes that the model does not know, or their numbers.

    Attributes
    ----------
    ax_, figure_
        Axes and figure of the drawing.
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
        """Draw the predictions of a fitted estimator.

        Parameters
        ----------
        estimator : fitted estimator
        X : array-like or data frame of shape (n_samples, n_features), optional
            Rows: they are drawn if `y` is given, axes end where they do, and features that are not on the axes are held
            at their median or most frequent level. Without rows they are held at the centre of the training rows.
        y : array-like of shape (n_samples,), optional
            Their targets.
        features : str, int or a list of one or two, optional
            Features on the axes: numbers, by name or place. By default the two that matter most.
        row : array-like of shape (n_features,) or a table of one row, optional
            Values at which the other features are held.
        grid_resolution : int, default=240
            Places along each axis.
        ax : matplotlib Axes, optional
        **options
            For `plot`.

        Returns
        -------
        SurfaceDisplay
        """
        model = fitted_model(estimator)
        check_whole_number("grid_resolution", grid_resolution, 2)
        cells, y = checked_cells(estimator, X, y)
        chosen = chosen_features(model, features, 2)
        resolution = int(grid_resolution) if len(chosen) == 2 else max(int(grid_resolution), CURVE)
        section = Section.of_numbers(estimator, chosen, cells, row, resolution)
        return cls(
            tuple(model.schema.names[feature] for feature in chosen),
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
        write_held(ax, self.held)
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
        shown = image_style(self.grid)
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
        """One number for each place, and its name: what height and a scale of colours show."""
        if not self.has_classes:
            return self.values[..., 0], f"mean of {printable(self.targets[0])}"
        if self._has_scale:
            return self.values[..., 1], f"P({class_name(self.targets[1])})"
        return self.values.max(axis=-1), "P(most probable class)"

    def _name_places(self, size: Floats, numbers: Sequence[Floats] = ()) -> Iterator[tuple[str, int, int]]:
        """Place the names of classes: yield each name with its column and line of the grid.

        A name stands inside each part in which its class is the most probable, if it has room there beside other names
        and the numbers of splits.

        Parameters
        ----------
        size : ndarray of shape (2,)
            Width and height of the plane in points.
        numbers : sequence of ndarray of shape (2,)
            Places of the numbers of splits, in the units of the axes.
        """
        best = self.values.argmax(axis=-1)
        n_lines, n_columns = best.shape
        per_cell = np.asarray(size) / (n_columns, n_lines)
        regions = []
        for code in range(len(self.targets)):
            depth = distance_transform_edt(np.pad(best == code, 1))[1:-1, 1:-1] * per_cell.min()
            # Parts that are joined by a bridge too narrow for text are named one by one.
            parts, n_parts = label(depth >= 9)
            for part in range(1, n_parts + 1):
                regions.append((code, np.where(parts == part, depth, 0.0)))
        ends = np.array([axis_ends(places) for places in self.grid])
        taken = [(*(size * (place - ends[:, 0]) / (ends[:, 1] - ends[:, 0])), 9.0) for place in numbers]
        y = np.arange(n_lines) * per_cell[1]
        # The most spacious parts first.
        for code, inside in sorted(regions, key=lambda region: -region[1].max()):
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
                draw_soft_point(ax, x, plane, self.reach[split], str(split))
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


def _blended(values: Floats, most: float = 0.9) -> Floats:
    """Colours (..., 3) of the most probable classes, the paler the less probable they are."""
    from matplotlib.colors import to_rgb

    k = values.shape[-1]
    colours = np.array([to_rgb(colour) for colour in class_colours(k)])
    best = values.argmax(axis=-1)
    strength = (values.max(axis=-1) - 1 / k) / (1 - 1 / k) if k > 1 else np.ones(best.shape)
    strength = most * (0.15 + 0.85 * strength)[..., None]
    return np.asarray(1 - strength * (1 - colours[best]))
