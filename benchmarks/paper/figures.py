"""The figures of the paper, drawn from fitted models: what each technique learned, and how a reticulum came about."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch, Polygon
from matplotlib.patheffects import withStroke
from sklearn.base import clone

from bayesian_reticulum import GrowthEvent, History, Schema, Tree
from diagrams import (
    AXES,
    BLUE,
    GREY,
    INK,
    NINETY,
    PLAIN_LEGEND,
    PROBABILITY,
    RED,
    SPLIT_COLOURS,
    WIDTH,
    Floats,
    Ints,
    coordinates_figure,
    draw_rows,
    explored_figure,
    framed,
    growing_tree,
    network_figure,
    new_figure,
    plain,
    row_handles,
    save,
    softest_split,
)

GRID = 240
SURFACE_GRID = 60
# Contours: lines of the two classes' colours, a shade darker, and a dashed one where the odds are even.
CONTOURS = {0.1: "#0b3c6f", 0.3: BLUE, 0.5: INK, 0.7: RED, 0.9: "#740d1c"}
# Activation at which a gate is at 60%.
GENTLE = float(np.log(1.5))
# More numbers than this on one picture hide what they name.
MOST_LABELS = 12


@dataclass(frozen=True)
class View:
    """A rectangle of the plane: its lower left and upper right corner."""

    low: Floats
    high: Floats

    @classmethod
    def of_rows(cls, X: Floats) -> View:
        """What shows rows (n, 2) within the limits between which the splits of a `ReticulumClassifier` are straight."""
        limits = Schema.from_columns(X, np.ones(len(X)), AXES)
        return cls(*framed(limits.low, limits.high))

    @property
    def shape(self) -> float:
        """Height over width."""
        width, height = self.high - self.low
        return float(height / width)

    @property
    def corners(self) -> Floats:
        (left, bottom), (right, top) = self.low, self.high
        return np.array([[left, bottom], [right, bottom], [right, top], [left, top]])

    @property
    def sides(self) -> list[Floats]:
        """The rectangle as four half-planes."""
        (left, bottom), (right, top) = self.low, self.high
        return [np.array(side) for side in ((-left, 1, 0), (right, -1, 0), (-bottom, 0, 1), (top, 0, -1))]

    def grid(self, n: int) -> tuple[Floats, Floats, Floats]:
        """Coordinates (n,) of columns and of rows, and all points (n², 2)."""
        x, y = np.linspace(self.low, self.high, n).T
        return x, y, np.stack(np.meshgrid(x, y), axis=-1).reshape(-1, 2)

    def show(self, axis: Axes) -> None:
        plain(axis)
        axis.set(xlim=(self.low[0], self.high[0]), ylim=(self.low[1], self.high[1]))


def probability(classifier: Any, points: Floats) -> Floats:
    """P(class 1) of points (n, 2)."""
    p = np.asarray(classifier.predict_proba(points), dtype=np.float64)
    return p[:, 1] if p.shape[1] == 2 else np.full(len(points), float(classifier.classes_[0]))


# -------------------------------------------------------------------------------------------------- splits in the plane


def clipped(polygon: Floats, half_plane: Floats) -> Floats:
    """The part of a convex polygon (k, 2) where ``half_plane @ (1, x)`` is not negative; (0, 2) if there is none."""
    if not len(polygon):
        return polygon
    height = half_plane[0] + polygon @ half_plane[1:]
    kept = []
    for i, j in pairwise([*range(len(polygon)), 0]):
        if height[i] >= 0:
            kept.append(polygon[i])
        if (height[i] >= 0) != (height[j] >= 0):
            kept.append(polygon[i] + height[i] / (height[i] - height[j]) * (polygon[j] - polygon[i]))
    return np.array(kept).reshape(-1, 2)


def clipped_all(polygon: Floats, half_planes: list[Floats]) -> Floats:
    """The part of a convex polygon within all half-planes."""
    for half_plane in half_planes:
        polygon = clipped(polygon, half_plane)
    return polygon


def split_areas(tree: Tree, schema: Schema, view: View, half_width: float) -> list[tuple[Floats, Floats]]:
    """For each split its line, where the gate is even, and its band, where the activation is within ± `half_width`.

    Both are polygons, the line a flat one that begins with its two ends. A split shows only where all gates above it
    favour it, so that its line ends at theirs; where there is no such place, both are empty.
    """
    hyperplanes = schema.in_original_units(tree.hyperplanes)
    above: list[list[Floats]] = [[] for _ in range(tree.n_splits)]
    for split, pair in enumerate(tree.children):
        for child, sign in zip(pair, (1, -1), strict=True):
            if child >= 0:
                above[child] = [*above[split], sign * hyperplanes[split]]
    areas = []
    for hyperplane, walls in zip(hyperplanes, above, strict=True):
        room = np.array([half_width, 0.0, 0.0])
        line = clipped_all(_long_line(hyperplane, view), [*view.sides, *walls])
        band = clipped_all(view.corners, [*walls, room + hyperplane, room - hyperplane])
        areas.append((line, band))
    return areas


def _long_line(hyperplane: Floats, view: View) -> Floats:
    """Two points on the line where the activation is zero, far enough apart to cross the view; none without slopes."""
    offset, slopes = hyperplane[0], hyperplane[1:]
    length = np.linalg.norm(slopes)
    if length == 0:
        return np.empty((0, 2))
    middle = view.corners.mean(axis=0)
    foot = middle - (offset + slopes @ middle) / length**2 * slopes
    along = np.array([-slopes[1], slopes[0]]) / length * np.linalg.norm(view.high - view.low)
    return np.array([foot - along, foot + along])


def draw_splits(
    axis: Axes,
    tree: Tree,
    schema: Schema,
    view: View,
    *,
    names: list[str],
    colours: dict[int, str] | None = None,
    half_width: float = NINETY,
    line_width: float = 1.8,
    opacity: float = 0.22,
    strays: bool = False,
) -> None:
    """Each split as a line and a band, wide where it is soft; colours go by the split's id.

    With `strays`, a split that shows nowhere because the gates above it lead elsewhere is a dotted line.
    """
    places: list[Floats] = []
    for split, (line, band) in enumerate(split_areas(tree, schema, view, half_width)):
        split_id = int(tree.ids[split])
        style: dict[str, Any] = {"color": INK if colours is None else colours[split_id], "gid": f"split {split_id}"}
        if len(band):
            axis.add_patch(Polygon(band, closed=True, alpha=opacity, linewidth=0, zorder=3, **style))
        dashes = "solid"
        if not len(line) and strays:
            dashes = "dotted"
            line = clipped_all(_long_line(schema.in_original_units(tree.hyperplanes)[split], view), view.sides)
        if not len(line):
            continue
        axis.add_line(Line2D(*line[:2].T, linewidth=line_width, linestyle=dashes, zorder=4, **style))
        if names:
            places.append(_free_place(line, view, places))
            box = {"boxstyle": "circle,pad=0.2", "facecolor": "white", "edgecolor": style["color"], "linewidth": 1.2}
            axis.text(*places[-1], names[split], ha="center", va="center", fontsize=8, color=INK, bbox=box, zorder=6)


def _free_place(line: Floats, view: View, taken: list[Floats]) -> Floats:
    """A place for a name on a line, away from those that are taken; not in the middle, where splits like to cross."""
    shares = np.array([0.38, 0.62, 0.25, 0.75, 0.12, 0.88])
    candidates = line[0] + shares[:, None] * (line[1] - line[0])
    if not taken:
        return candidates[0]
    distance = np.linalg.norm(candidates[:, None] - np.array(taken), axis=2).min(axis=1) / (view.high - view.low)[0]
    free = np.flatnonzero(distance > 0.12)
    return candidates[free[0] if len(free) else distance.argmax()]


# ------------------------------------------------------------------------------------------ what a technique learned


def surface_figure(X: Floats, y: Ints, classifier: Any, title: str, note: str = "") -> Figure:
    """Rows (n, 2) under contours of the probability and, for a reticulum, its splits; beside them the surface."""
    view = View.of_rows(X)
    width = 4.3
    tall = width * view.shape
    height = max(tall, 3.0) + 1.45
    figure = new_figure(height)
    _head(figure, title, note)
    bottom = (height - 0.65 - tall) / height
    left = figure.add_axes((0.06, bottom, width / WIDTH, tall / height))
    levels = _draw_contours(left, classifier, view, opacity=0.4)
    draw_rows(left, X, y)
    handles: list[Any] = row_handles()
    if hasattr(classifier, "model_"):
        tree, schema = classifier.model_.tree, classifier.model_.schema
        few = tree.n_splits <= MOST_LABELS
        names = [str(split) for split in range(tree.n_splits)] if few else []
        draw_splits(left, tree, schema, view, names=names, line_width=2.0 if few else 1.2)
        handles += split_handles()
    figure.legend(
        handles=handles,
        loc="upper left",
        bbox_to_anchor=(0.05, bottom - 0.45 / height),
        ncols=4,
        **PLAIN_LEGEND,
    )
    bar = figure.add_axes((0.52, bottom, 0.013, tall / height * 0.94))
    _draw_scale(figure, bar, levels)
    right = figure.add_axes((0.545, 0.03, 0.4, 1 - 0.6 / height), projection="3d")
    _draw_surface(right, classifier, view)
    return figure


def overview_figure(X: Floats, y: Ints, title: str, classifiers: dict[str, Any]) -> Figure:
    """Rows (n, 2), and for each classifier, named by the title of its panel, contours of its probability."""
    view = View.of_rows(X)
    n_columns, width = 3, 2.65
    tall = width * view.shape
    step = tall + 1.05
    n_rows = -(-(len(classifiers) + 1) // n_columns)
    height = n_rows * step + 0.6
    figure = new_figure(height)
    _head(figure, title, "")
    levels: list[float] = []
    for k, name in enumerate([f"the data\n{len(y)} rows, the outermost beyond the frame", *classifiers]):
        line, column = divmod(k, n_columns)
        left, bottom = 0.55 + column * (width + 0.4), height - 1.1 - tall - line * step
        axis = figure.add_axes((left / WIDTH, bottom / height, width / WIDTH, tall / height))
        axis.set_title(name, loc="left", fontsize=8.5, color=INK)
        if k == 0:
            view.show(axis)
            draw_rows(axis, X, y, size=9)
        else:
            levels = sorted({*levels, *_draw_contours(axis, classifiers[name], view, opacity=1.0, scale=0.7)})
        if hasattr(classifiers.get(name), "model_"):
            model = classifiers[name].model_
            # Without bands, which would tint the shades.
            draw_splits(axis, model.tree, model.schema, view, names=[], line_width=1.0, opacity=0.0)
        if column:
            axis.set(ylabel="", yticklabels=[])
    figure.legend(
        handles=[*row_handles(), split_handles()[0]],
        loc="upper right",
        bbox_to_anchor=(0.955, 1 - 0.14 / height),
        ncols=4,
        **PLAIN_LEGEND,
    )
    bar = figure.add_axes((0.955, (height - 1.1 - tall) / height, 0.011, tall / height * 0.94))
    _draw_scale(figure, bar, levels)
    return figure


def split_handles() -> list[Any]:
    """Entries of a legend for `draw_splits`."""
    return [
        Line2D([], [], color=INK, linewidth=1.8, label="split"),
        Patch(color=INK, alpha=0.22, linewidth=0, label="gate 0.1 to 0.9"),
    ]


def _head(figure: Figure, title: str, note: str) -> None:
    top = 1 - 0.3 / figure.get_figheight()
    figure.text(0.06, top, title, fontsize=13, color=INK, va="center")
    figure.text(0.97, top, note, fontsize=11, color=GREY, va="center", ha="right")


def _draw_contours(axis: Axes, classifier: Any, view: View, *, opacity: float, scale: float = 1.0) -> list[float]:
    """Shades and contours of the probability, their lines at a scale; returns the levels that there are."""
    view.show(axis)
    x, y, points = view.grid(GRID)
    p = probability(classifier, points).reshape(GRID, GRID)
    extent = (view.low[0], view.high[0], view.low[1], view.high[1])
    axis.imshow(p, extent=extent, origin="lower", cmap=PROBABILITY, vmin=0, vmax=1, alpha=opacity, interpolation="none")
    levels = [level for level in CONTOURS if p.min() < level < p.max()]
    for level in levels:
        width, dashes = _contour_style(level)
        style = {"colors": CONTOURS[level], "linewidths": scale * width, "linestyles": dashes, "zorder": 3.5}
        drawn = axis.contour(x, y, p, levels=[level], **style)
        if opacity < 1:
            # On pale shades a white rim keeps the line apart from the rows that it crosses.
            drawn.set_path_effects([withStroke(linewidth=scale * width + 1, foreground="white", alpha=0.7)])
    return levels


def _contour_style(level: float) -> tuple[float, str]:
    """Width and dashes."""
    return (1.4, "dashed") if level == 0.5 else (0.9, "solid")


def _draw_surface(axis: Any, classifier: Any, view: View) -> None:
    x, y, points = view.grid(SURFACE_GRID)
    p = probability(classifier, points).reshape(SURFACE_GRID, SURFACE_GRID)
    style: dict[str, Any] = {"cmap": PROBABILITY, "vmin": 0, "vmax": 1, "edgecolor": (0, 0, 0, 0.25), "linewidth": 0.2}
    axis.plot_surface(*np.meshgrid(x, y), p, rcount=SURFACE_GRID, ccount=SURFACE_GRID, **style)
    axis.set(zlim=(0, 1), xlabel=AXES[0], ylabel=AXES[1], zticks=(0, 0.5, 1))
    axis.set_box_aspect((1, view.shape, 0.6), zoom=0.98)
    axis.patch.set_visible(False)
    axis.view_init(elev=38, azim=-60)
    axis.tick_params(labelcolor=GREY, labelsize=8)
    for name, each in zip("xyz", (axis.xaxis, axis.yaxis, axis.zaxis), strict=True):
        each.pane.set(facecolor="white", edgecolor="#dddddd")
        if name != "z":
            axis.locator_params(axis=name, nbins=5)
    axis.set_zlabel("P(class 1)", labelpad=1)


def _draw_scale(figure: Figure, axis: Axes, levels: list[float]) -> None:
    """The colours of probabilities, with a line where there is a contour."""
    bar = figure.colorbar(ScalarMappable(cmap=PROBABILITY), cax=axis, ticks=[0, *CONTOURS, 1])
    bar.outline.set_visible(False)
    axis.tick_params(length=0, labelcolor=GREY, labelsize=8)
    axis.set_title("P(class 1)", fontsize=8, color=GREY)
    for level in levels:
        width, dashes = _contour_style(level)
        axis.hlines(level, 0, 1, colors=CONTOURS[level], linewidths=width, linestyles=dashes)


# ------------------------------------------------------------------------------------------ how a reticulum came about


@dataclass(frozen=True)
class Stage:
    """A row of the construction: what happened, and trees with what they show."""

    title: str
    panels: tuple[tuple[str, Tree], ...]


def stages(history: History, n_early: int = 3) -> list[Stage]:
    """Attempts worth a look: the first ones that were kept, a later one that pruned an older split, and the end."""
    attempts: dict[int, dict[str, GrowthEvent]] = {}
    for event in history:
        attempts.setdefault(event.attempt, {})[event.phase] = event
    grown = {attempt: phases for attempt, phases in attempts.items() if "proposed" in phases and "global" in phases}
    shown = [attempt for attempt, phases in grown.items() if "kept" in phases][:n_early]
    later = [attempt for attempt in grown if attempt > max(shown, default=0)]
    best = max(later, key=lambda attempt: _interest(grown[attempt]), default=None)
    final = history[-1].tree
    end = f"the final state after {_count(history.n_attempts, 'attempt')}: {_count(final.n_splits, 'split')}"
    last = Stage(end.capitalize(), (("final state", final),))
    if best is not None:
        shown.append(best)
        if "pruned" in grown[best]:
            panels = (("after pruning", grown[best]["pruned"].tree), *last.panels)
            last = Stage(f"Attempt {best} after pruning, and {end}", panels)
    return [*(_stage(attempt, grown[attempt]) for attempt in shown), last]


def _count(n: int, noun: str) -> str:
    return f"{n} {noun}{'s' * (n != 1)}"


def _lost(phases: dict[str, GrowthEvent]) -> list[int]:
    """The splits that an attempt pruned."""
    if "pruned" not in phases:
        return []
    return sorted({*phases["global"].tree.ids.tolist()} - {*phases["pruned"].tree.ids.tolist()})


def _interest(phases: dict[str, GrowthEvent]) -> tuple[bool, bool, bool]:
    """What makes an attempt worth a look, the most important first: an older split pruned, any pruned, one kept."""
    older = [each for each in _lost(phases) if each != phases["proposed"].split_id]
    return bool(older), "pruned" in phases, "kept" in phases


def _stage(attempt: int, phases: dict[str, GrowthEvent]) -> Stage:
    proposed, lost = phases["proposed"], _lost(phases)
    place = int(np.flatnonzero(proposed.tree.ids == proposed.split_id)[0])
    parent = np.flatnonzero((proposed.tree.children == place).any(axis=1))
    panels = {"proposed": "initialised", "local": "after the local ascent", "global": "after the global ascent"}
    if len(parent):
        verb = "comes" if "kept" in phases else "is tried"
        title = f"Attempt {attempt}: split {proposed.split_id} {verb} below split {proposed.tree.ids[parent[0]]}"
    else:
        # With one split alone there is no difference between its own ascent and that of all.
        panels = {"proposed": "initialised", "global": "after its ascent"}
        title = f"Attempt {attempt}: split {proposed.split_id} is the root"
    if lost == [proposed.split_id]:
        title += " and will be pruned"
    elif lost:
        title += f"; {'splits' if len(lost) > 1 else 'split'} {' and '.join(map(str, lost))} will be pruned"
    return Stage(title, tuple((label, phases[phase].tree) for phase, label in panels.items() if phase in phases))


def split_colours(rows: list[Stage]) -> dict[int, str]:
    """A colour for each split by its id, in the order in which they come into view."""
    colours: dict[int, str] = {}
    for row in rows:
        for _, tree in row.panels:
            for split_id in tree.ids:
                colours.setdefault(int(split_id), SPLIT_COLOURS[len(colours) % len(SPLIT_COLOURS)])
    return colours


def construction_figure(X: Floats, y: Ints, history: History, schema: Schema) -> Figure:
    """How a tree was built: a row for each stage, in which each split keeps its colour and is as wide as it is soft."""
    rows = stages(history)
    colours = split_colours(rows)
    view = View.of_rows(X)
    left, gap = 0.6, 0.15
    width = (WIDTH - left - 0.2) / 3 - gap
    tall = width * view.shape
    step = tall + 1.0
    height = len(rows) * step + 0.1
    figure = new_figure(height)
    for line, row in enumerate(rows):
        top = height - 0.25 - line * step
        figure.text(
            left / WIDTH, top / height, f"({'abcdefgh'[line]})  {row.title}", fontsize=11, color=INK, va="center"
        )
        for column, (label, tree) in enumerate(row.panels):
            x, bottom = left + column * (width + gap), top - 0.35 - tall
            axis = figure.add_axes((x / WIDTH, bottom / height, width / WIDTH, tall / height))
            view.show(axis)
            axis.set_title(label, loc="left", fontsize=9, color=GREY, pad=3)
            axis.tick_params(labelsize=8)
            if column:
                axis.set(ylabel="", yticklabels=[])
            draw_rows(axis, X, y, size=11)
            style: dict[str, Any] = {"half_width": GENTLE, "opacity": 0.45, "line_width": 1.5, "strays": True}
            draw_splits(axis, tree, schema, view, names=[str(each) for each in tree.ids], colours=colours, **style)
    # The last row has two panels at most.
    _construction_legend(figure, colours, (left + 2 * (width + gap)) / WIDTH, (tall + 0.6) / height)
    return figure


def _construction_legend(figure: Figure, colours: dict[int, str], x: float, y: float) -> None:
    signs = [
        *row_handles(),
        Line2D([], [], color=GREY, linewidth=1.5, label="gate = 0.5"),
        Patch(color=GREY, alpha=0.45, linewidth=0, label="gate 0.4 to 0.6"),
        Line2D([], [], color=GREY, linewidth=1.5, linestyle="dotted", label="gates above lead away"),
    ]
    splits = [Line2D([], [], color=colour, linewidth=3, label=f"split {each}") for each, colour in colours.items()]
    style: dict[str, Any] = {"fontsize": 8.5, "frameon": False, "labelcolor": INK, "loc": "upper left"}
    figure.legend(handles=signs, bbox_to_anchor=(x, y), **style)
    if len(splits) <= MOST_LABELS:
        figure.legend(handles=splits, bbox_to_anchor=(x + 0.185, y), **style)


# ------------------------------------------------------------------------------------------------------- all of them


def draw_all(results: Any, out: Path) -> list[Path]:
    """Draw the results of a study, of data sets with two features, into a folder; returns the paths."""
    # Only here, because this module needs more than a figure does.
    from techniques import OURS, PUBLISHED

    data = {name: rows for name, rows in results.data.items() if rows.X.shape[1] == 2}
    fits = {key: fit for key, fit in results.fits.items() if key[0] in data}
    paths = []

    def keep(figure: Figure, name: str) -> None:
        paths.append(out / f"{name}.png")
        save(figure, paths[-1])

    for (name, technique), fit in fits.items():
        # On Ripley's data the paper shows the reticulum alone.
        if name != "ripley" or hasattr(fit.model, "model_"):
            title = f"{name}: {technique}"
            figure = surface_figure(data[name].X, data[name].y, fit.model, title, _size_and_loss(fit))
            keep(figure, f"{name}-{_slug(technique)}")
    for name, rows in data.items():
        panels = {f"{each}\n{_size_and_loss(fit)}": fit.model for (of, each), fit in fits.items() if of == name}
        keep(overview_figure(rows.X, rows.y, name, panels), f"{name}-overview")
    if ("ripley", PUBLISHED) in fits:
        model = fits["ripley", PUBLISHED].model
        figure = construction_figure(data["ripley"].X, data["ripley"].y, model.history_, model.model_.schema)
        keep(figure, "ripley-construction")
    ours = {name: fit.model for (name, technique), fit in fits.items() if technique == OURS and fit.n_nodes}
    if ours:
        # The diagrams explain best with few splits, of which the cross has three.
        smallest = min(ours, key=lambda name: abs(ours[name].n_splits_ - 3))
        keep(network_figure(ours[smallest].model_), "diagram-network")
        name = "ripley" if "ripley" in ours else smallest
        keep(coordinates_figure(data[name].X, data[name].y, softest_split(ours[name].model_)), "diagram-coordinates")
    published = {name: fit.model for (name, technique), fit in fits.items() if technique == PUBLISHED}
    if published:
        name = "ripley" if "ripley" in published else next(iter(published))
        # A few attempts are enough to come to the last of four levels.
        few = clone(published[name]).set_params(max_depth=3, max_attempts=10).fit(data[name].X, data[name].y)
        keep(explored_figure(growing_tree(few.history_, 3), 3), "diagram-explored")
    return paths


def _size_and_loss(fit: Any) -> str:
    return f"|N| = {fit.n_nodes}, log-loss {np.mean(fit.losses):.4f}"


def _slug(name: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")
