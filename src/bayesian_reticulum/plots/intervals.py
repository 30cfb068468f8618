"""The distribution of a predicted number along a feature."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from ..arrays import Floats
from ..model import fitted_model, printable
from .section import CURVE, Section, checked_cells, held_row, limits, place_of
from .style import BLUE, INK, Display, name_axis, quiet, shortened, write, write_held


@dataclass(eq=False, repr=False)
class IntervalsDisplay(Display):
    """Mean of a predicted number along one feature, with its 50% and 90% intervals.

    Parameters
    ----------
    name, target : str
        Names of the feature and of the predicted number.
    grid : ndarray of shape (G,)
        Places along the feature; codes if it is a category.
    levels : tuple of str
        Names of the levels of a category; empty for a number.
    mean : ndarray of shape (G,)
    intervals : dict of float to (ndarray, ndarray)
        Lower and upper ends, by the probability of the interval.
    held : str
        Where the other features are held, in words; empty if there are none.
    rows, values : ndarray of shape (n,), optional
        The feature and the target of the rows to draw.

    Attributes
    ----------
    ax_, figure_
        Axes and figure of the drawing.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from bayesian_reticulum import ReticulumRegressor
    >>> from bayesian_reticulum.plots import IntervalsDisplay
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> reg = ReticulumRegressor(leaf="constant", patience=1, random_state=0).fit(X, y)
    >>> display = IntervalsDisplay.from_estimator(reg, X, y, feature="bmi")
    >>> low, high = display.intervals[0.9]
    >>> bool((low < display.mean).all() and (display.mean < high).all())
    True
    """

    name: str
    target: str
    grid: Floats
    levels: tuple[str, ...]
    mean: Floats
    intervals: dict[float, tuple[Floats, Floats]]
    held: str = ""
    rows: Floats | None = None
    values: Floats | None = None

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any = None, y: Any = None, *, feature: Any = None, row: Any = None, ax: Any = None
    ) -> Self:
        """Draw the predictive distribution of a fitted regressor along a feature.

        Parameters
        ----------
        estimator : fitted regressor
        X : array-like or data frame of shape (n_samples, n_features), optional
            Rows: they are drawn if `y` is given, the axis ends where they do, and the other features are held at their
            median or most frequent level. Without rows they are held at the centre of the training rows.
        y : array-like of shape (n_samples,), optional
            Their targets.
        feature : str or int, optional
            By name or place; by default the one that matters most.
        row : array-like of shape (n_features,) or a table of one row, optional
            Values at which the other features are held.
        ax : matplotlib Axes, optional

        Returns
        -------
        IntervalsDisplay
        """
        model = fitted_model(estimator)
        if model.has_classes:
            raise ValueError(
                f"{type(estimator).__name__} predicts classes, which have no intervals. SurfaceDisplay draws their "
                "probabilities, with features=[name] along one feature."
            )
        cells, y = checked_cells(estimator, X, y)
        place = int(np.argmax(model.feature_importances)) if feature is None else place_of(model, feature)
        category = model.schema.categories[place]
        if category is None:
            grid = np.linspace(*limits(model, place, cells), CURVE)
        else:
            grid = np.arange(max(category.n_codes, 1), dtype=np.float64)
        section = Section((place,), (grid,), *held_row(estimator, (place,), cells, row))
        distribution = model.predict_distribution(np.concatenate(list(section.blocks())))
        return cls(
            model.schema.names[place],
            model.targets[0],
            grid,
            () if category is None else tuple(category.labels) or ("",),
            np.asarray(distribution.mean),
            {level: distribution.interval(level) for level in (0.9, 0.5)},
            section.held,
            None if cells is None or y is None else cells[:, place],
            None if y is None else y.astype(np.float64),
        ).plot(ax=ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw mean and intervals.

        Parameters
        ----------
        ax : matplotlib Axes, optional

        Returns
        -------
        self
        """
        ax = self._open(ax, (6.4, 4.4))
        quiet(ax)
        if self.rows is not None and self.values is not None:
            places = self.rows
            if self.levels:
                # Spread evenly beside each other: multiples of the golden ratio fill an interval without a pattern.
                places = places + 0.36 * (np.arange(len(places)) * 0.618034 % 1 - 0.5)
            ax.plot(places, self.values, ".", color=INK, markersize=3.5, alpha=0.45, zorder=1)
        if self.levels:
            self._draw_levels(ax)
        else:
            for level, (low, high) in sorted(self.intervals.items(), reverse=True):
                ax.fill_between(self.grid, low, high, color=BLUE, alpha=0.18 if level > 0.5 else 0.32, linewidth=0)
            ax.plot(self.grid, self.mean, color=BLUE, linewidth=2.2, zorder=3)
            ax.set_xlim(self.grid[0], self.grid[-1])
            self._draw_names(ax)
        name_axis(ax.xaxis, self.name)
        name_axis(ax.yaxis, self.target)
        write_held(ax, self.held)
        return self

    def _draw_names(self, ax: Any) -> None:
        """Name the curve and the bands beside their right ends, one above the other."""
        ends = [(self.mean[-1], "mean")] + [(high[-1], f"{level:.0%}") for level, (_, high) in self.intervals.items()]
        low, high = ax.get_ylim()
        height = ax.bbox.height * 72 / ax.figure.dpi
        y = -np.inf
        for value, name in sorted(ends):
            y = max((value - low) / (high - low) * height, y + 11)
            where = ax.get_yaxis_transform()
            write(ax, 1.012, low + y / height * (high - low), name, 8.5, color=BLUE, transform=where)
        ax.set_ylim(low, high)

    def _draw_levels(self, ax: Any) -> None:
        for level, (low, high) in sorted(self.intervals.items(), reverse=True):
            ax.vlines(self.grid, low, high, color=BLUE, linewidth=1.6 if level > 0.5 else 6, zorder=2)
        ax.plot(self.grid, self.mean, "o", color="white", markeredgecolor=INK, markersize=6, zorder=3)
        room = 400.0 / len(self.levels)
        ax.set_xticks(self.grid, [shortened(printable(name), room, 9.0) for name in self.levels], parse_math=False)
        ax.set_xlim(-0.6, len(self.levels) - 0.4)
