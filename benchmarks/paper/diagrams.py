"""Diagrams of what a reticulum is, each drawn from a fitted one: tree and network, unexplored parts, coordinates.

The look that all figures share is here too.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import LinearSegmentedColormap, to_hex
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Arc, FancyArrowPatch, Patch, Polygon, Rectangle
from numpy.typing import NDArray
from PIL import Image

from bayesian_reticulum import History, Reticulum, Tree
from bayesian_reticulum.paper import Polar

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

DPI = 120
WIDTH = 10.0  # inches
# The ends of a red-blue scale, which stay apart under all common kinds of colour blindness.
BLUE, RED = "#2166ac", "#b2182b"
INK, GREY, FAINT = "#222222", "#666666", "#b0b0b0"
PROBABILITY = LinearSegmentedColormap.from_list("probability", [BLUE, "#92c5de", "#ffffff", "#f4a582", RED])
# For splits: apart from each other under colour blindness, and none of them the blue or the red of a class.
SPLIT_COLOURS = ("#111111", "#e69f00", "#009e73", "#aa4499", "#8c6d31", "#56b4e9", "#999933", "#7b3294")
LEAF, LAST_LEAF = "#a6cee3", "#d9d9d9"
AXES = ("$x_1$", "$x_2$")
# Activation at which a gate is at 90%.
NINETY = float(np.log(9.0))
PLAIN_LEGEND: dict[str, Any] = {
    "fontsize": 9,
    "frameon": False,
    "labelcolor": INK,
    "handletextpad": 0.5,
    "columnspacing": 1.5,
}


def new_figure(height: float) -> Figure:
    """An empty figure of full width; height in inches."""
    return Figure(figsize=(WIDTH, height), dpi=DPI)


def save(figure: Figure, path: Path) -> None:
    """Write a PNG of few colours, which takes a third of the space."""
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    image = Image.fromarray(np.asarray(canvas.buffer_rgba())).convert("RGB")
    image.quantize(256, dither=Image.Dither.NONE).save(path, format="PNG", optimize=True)


def draw_rows(axis: Axes, X: Floats, y: Ints, size: float = 22.0) -> None:
    """Rows (n, 2): class 0 as blue rings, class 1 as red triangles, which stay apart in grey print."""
    size *= min(1.0, (1000 / len(y)) ** 0.5)
    # A few at a time of either class: drawn at once, the second class would hide the first.
    for part in np.array_split(np.arange(len(y)), 1 + len(y) // 250):
        zero, one = X[part[y[part] == 0]], X[part[y[part] == 1]]
        axis.scatter(*zero.T, s=size, marker="o", facecolors="white", edgecolors=BLUE, linewidths=size**0.5 / 5)
        axis.scatter(*one.T, s=size, marker="^", color=RED, linewidths=0)


def row_handles() -> list[Line2D]:
    """Entries of a legend for `draw_rows`."""
    style: dict[str, Any] = {"linestyle": "", "markersize": 5.5}
    return [
        Line2D([], [], marker="o", markerfacecolor="white", markeredgecolor=BLUE, label="class 0", **style),
        Line2D([], [], marker="^", color=RED, markeredgewidth=0, label="class 1", **style),
    ]


def framed(low: Floats, high: Floats) -> tuple[Floats, Floats]:
    """Corners of a frame (2,) (2,), widened where it would be too narrow for a picture with equal units."""
    extent = high - low
    lacking = np.maximum(0.4 * (extent.max() or 1.0) - extent, 0.0)
    return low - 0.5 * lacking, high + 0.5 * lacking


def plain(axis: Axes) -> None:
    """A plane with equal units and light labels."""
    axis.set(aspect="equal", xlabel=AXES[0], ylabel=AXES[1])
    axis.spines[:].set_visible(False)
    axis.tick_params(length=0, labelcolor=GREY, labelsize=9)
    axis.locator_params(nbins=5)


# ---------------------------------------------------------------------------------------------------- tree and network


@dataclass(frozen=True)
class Layout:
    """Where splits (m, 2) and leaves (leaves, 2) of a tree stand: leaves side by side, parents above their children."""

    splits: Floats
    leaves: Floats

    @classmethod
    def of_tree(cls, tree: Tree) -> Layout:
        leaves = np.column_stack([np.arange(tree.n_leaves), -tree.shape.leaf_levels]).astype(np.float64)
        layout = cls(np.column_stack([np.zeros(tree.n_splits), -tree.shape.levels]), leaves)
        # Children stand behind their parent, so that they have their places when it asks.
        for split in reversed(range(tree.n_splits)):
            layout.splits[split, 0] = np.mean([layout[child][0] for child in _pair(tree, split)])
        return layout

    def __getitem__(self, node: int) -> Floats:
        """Place of a node: of a split if >= 0, otherwise of leaf ``~node``."""
        return self.splits[node] if node >= 0 else self.leaves[~node]


def _pair(tree: Tree, split: int) -> tuple[int, int]:
    left, right = tree.children[split]
    return int(left), int(right)


def network_figure(model: Reticulum) -> Figure:
    """A tree, and the same model as a network of one layer: each leaf multiplies what it gets from the splits above."""
    tree = model.tree
    colours = [SPLIT_COLOURS[split % len(SPLIT_COLOURS)] for split in range(tree.n_splits)]
    depth = max(tree.depth, 1)
    n_lines = tree.n_splits // 2 + 1
    graph, below = max(3.6, 1.05 * depth + 1.2), 0.3 * n_lines + 0.55
    height = graph + below + 0.5
    figure = new_figure(height)
    left = figure.add_axes((0.02, below / height, 0.46, graph / height))
    right = figure.add_axes((0.52, below / height, 0.46, graph / height))
    left.set_title("as a tree", loc="left", fontsize=12, color=INK)
    right.set_title("as a network", loc="left", fontsize=12, color=INK)
    _draw_tree(left, model, colours)
    _draw_network(right, model, colours)
    formulas = [_gate_formula(model, split) for split in range(tree.n_splits)]
    for k, text in enumerate([*formulas, r"$s(a) = 1\,/\,(1 + e^{-a})$;   leaves show P(class 1)"]):
        line, column = divmod(k, 2)
        where = (0.03 + 0.5 * column, (below - 0.3 - 0.3 * line) / height)
        figure.text(*where, text, fontsize=10.5, color=INK, va="center")
    return figure


def _gate_formula(model: Reticulum, split: int) -> str:
    offset, *slopes = model.hyperplanes[split]
    terms = [f"{'-' if slope < 0 else '+'} {_number(abs(slope))}\\,x_{{{j}}}" for j, slope in enumerate(slopes, 1)]
    return f"$g_{{{split}}} = s({_number(offset)} {' '.join(terms)})$"


def _number(value: float) -> str:
    """Three digits, never with an exponent."""
    return np.format_float_positional(value, precision=3, fractional=False, trim="-")


def _draw_tree(axis: Axes, model: Reticulum, colours: list[str]) -> None:
    tree, layout = model.tree, Layout.of_tree(model.tree)
    _empty(axis, (-0.7, tree.n_leaves - 0.3), (-max(tree.depth, 1) - 0.75, 0.95))
    root = 0 if tree.n_splits else ~0
    _draw_input(axis, layout[root] + (0, 0.72))
    _arrow(axis, layout[root] + (0, 0.72), layout[root], GREY, "dotted")
    for split, colour in enumerate(colours):
        for child, sign in zip(_pair(tree, split), (-1, 1), strict=True):
            start, end = layout[split], layout[child]
            _arrow(axis, start, end, colour, "solid" if sign < 0 else "dashed")
            text = f"$g_{{{split}}}$" if sign < 0 else f"$1-g_{{{split}}}$"
            side = "right" if sign < 0 else "left"
            _tag(axis, 0.5 * (start + end), text, xytext=(sign * 7, 5), ha=side, fontsize=10.5)
    _draw_nodes(axis, layout, model, colours)


def _draw_network(axis: Axes, model: Reticulum, colours: list[str]) -> None:
    tree = model.tree
    span = tree.n_leaves - 1.0
    order = np.argsort(Layout.of_tree(tree).splits[:, 0], kind="stable")
    hidden = np.zeros((tree.n_splits, 2))
    hidden[order, 0] = (np.arange(tree.n_splits) + 0.5) * tree.n_leaves / max(tree.n_splits, 1) - 0.5
    hidden[:, 1] = -0.75
    layout = Layout(hidden, np.column_stack([np.arange(tree.n_leaves), np.full(tree.n_leaves, -2.4)]))
    most = int(tree.shape.leaf_levels.max())
    _empty(axis, (-0.7, span + 0.7), (-2.75 - 0.22 * most, 0.35))
    source = np.array([0.5 * span, 0.1])
    _draw_input(axis, source)
    for split, colour in enumerate(colours):
        _arrow(axis, source, layout[split], GREY, "dotted")
        for leaf in np.flatnonzero(tree.shape.sides[split]):
            side = tree.shape.sides[split, leaf]
            _arrow(axis, layout[split], layout[~leaf], colour, "solid" if side > 0 else "dashed")
    _draw_nodes(axis, layout, model, colours)
    for leaf in range(tree.n_leaves):
        sides = tree.shape.sides[:, leaf]
        factors = [f"$g_{{{j}}}$" if sides[j] > 0 else f"$(1-g_{{{j}}})$" for j in np.flatnonzero(sides)]
        text = "\n".join(f"{'× ' if k else ''}{factor}" for k, factor in enumerate(factors))
        size = min(9.5, 50 / tree.n_leaves)
        _tag(axis, layout[~leaf], text, xytext=(0, -20), va="top", fontsize=size, linespacing=1.3)
    if tree.n_splits:
        handles = [
            Line2D([], [], color=INK, linewidth=2, label="$g_j$"),
            Line2D([], [], color=INK, linewidth=2, linestyle="dashed", label="$1-g_j$"),
        ]
        axis.legend(handles=handles, loc="upper right", fontsize=10, frameon=False, labelcolor=INK, handlelength=2.6)


def _empty(axis: Axes, x: tuple[float, float], y: tuple[float, float]) -> None:
    axis.set(xlim=x, ylim=y)
    axis.set_axis_off()


def _draw_input(axis: Axes, place: Floats) -> None:
    axis.text(
        *place, "$x$", ha="center", va="center", fontsize=13, color=INK, bbox={"facecolor": "white", "linewidth": 0}
    )


def _tag(axis: Axes, place: Floats, text: str, **style: Any) -> None:
    """A word on a light ground, so that rows below it do not make it hard to read."""
    box = {"boxstyle": "round,pad=0.15", "facecolor": "white", "alpha": 0.85, "linewidth": 0}
    look = {"xytext": (0, 0), "ha": "center", "va": "center", "fontsize": 12, "color": INK, "bbox": box, "zorder": 7}
    axis.annotate(text, place, textcoords="offset points", **(look | style))


def _arrow(axis: Axes, start: Floats, end: Floats, colour: str, dashes: str) -> None:
    style: dict[str, Any] = {"shrinkA": 12, "shrinkB": 19, "mutation_scale": 12, "linewidth": 1.8, "zorder": 1}
    axis.add_patch(FancyArrowPatch(start, end, arrowstyle="-|>", color=colour, linestyle=dashes, **style))


def _draw_nodes(axis: Axes, layout: Layout, model: Reticulum, colours: list[str]) -> None:
    """Splits as circles with their number, leaves as squares with their probability of class 1."""
    for split, colour in enumerate(colours):
        _node(axis, layout[split], "o", f"$n_{{{split}}}$", edge=colour)
    for leaf, prediction in enumerate(model.family.probabilities(model.statistics)):
        p = float(prediction[-1])
        ink = "white" if abs(p - 0.5) > 0.36 else INK
        _node(axis, layout[~leaf], "s", f"{p:.2f}", face=to_hex(PROBABILITY(p)), ink=ink)


def _node(axis: Axes, place: Floats, marker: str, text: str, **style: Any) -> None:
    look = {"face": "white", "edge": INK, "ink": INK, "dashes": "solid", "width": 2.0} | style
    kind: dict[str, Any] = {"linewidths": look["width"], "linestyles": look["dashes"], "zorder": 3}
    axis.scatter(*place, s=820, marker=marker, facecolors=look["face"], edgecolors=look["edge"], **kind)
    axis.text(*place, text, ha="center", va="center", fontsize=10, color=look["ink"], zorder=4)


# ---------------------------------------------------------------------------------------- explored and unexplored parts


def growing_tree(history: History, max_depth: int) -> Tree:
    """A stage at which some leaf is as deep as it may be and others could still be extended; else the largest tree."""
    trees = [event.tree for event in history if event.phase in ("start", "kept", "rejected")]
    for tree in trees:
        if tree.depth == max_depth and tree.shape.leaf_levels.min() < max_depth:
            return tree
    return max(trees, key=lambda tree: tree.n_splits)


def explored_figure(tree: Tree, max_depth: int) -> Figure:
    """All places of a tree of a largest depth: the splits and leaves that are there, and what was not explored yet."""
    figure = new_figure(1.15 * (max_depth + 1) + 0.75)
    axis = figure.add_axes((0.01, 0.01, 0.98, 0.98))
    n_places = 2**max_depth
    _empty(axis, (-0.6, n_places - 0.4), (-max_depth - 0.95, 0.62))
    reached = np.zeros(n_places, dtype=np.int64)
    root = 0 if tree.n_splits else ~0
    stack: list[tuple[int | None, int, int]] = [(root, 0, 0)]
    while stack:
        node, level, k = stack.pop()
        width = n_places >> level
        place = np.array([(k + 0.5) * width - 0.5, -level])
        children: tuple[int | None, int | None] = (None, None)
        if node is not None:
            reached[k * width : (k + 1) * width] = level
            children = _pair(tree, node) if node >= 0 else children
        _draw_place(axis, place, node, is_last=level == max_depth)
        if level < max_depth:
            for side, child in enumerate(children):
                end = np.array([(2 * k + side + 0.5) * width / 2 - 0.5, -level - 1])
                style = (FAINT, "dashed") if child is None else (INK, "solid")
                axis.plot(*np.transpose([place, end]), color=style[0], linestyle=style[1], linewidth=2, zorder=1)
                stack.append((child, level + 1, 2 * k + side))
    for k, level in enumerate(reached):
        for bottom, top, colour in ((-level - 0.5, 0.5, "#e8f0f8"), (-max_depth - 0.5, -level - 0.5, "#f4f4f4")):
            axis.add_patch(Rectangle((k - 0.5, bottom), 1, top - bottom, color=colour, linewidth=0, zorder=0))
    axis.text(-0.4, 0.36, "explored", fontsize=12, color=INK, va="center")
    if reached.min() < max_depth:
        first = int(np.flatnonzero(reached < max_depth)[0])
        axis.text(first - 0.4, -max_depth - 0.37, "unexplored", fontsize=12, color=GREY, va="center")
    _explored_legend(axis)
    return figure


def _draw_place(axis: Axes, place: Floats, node: int | None, *, is_last: bool) -> None:
    if node is None:
        _node(axis, place, "o", "", edge=FAINT, dashes="dashed")
    elif node >= 0:
        _node(axis, place, "o", f"$n_{{{node}}}$")
    else:
        _node(axis, place, "s", rf"$\ell_{{{~node + 1}}}$", face=LAST_LEAF if is_last else LEAF)


def _explored_legend(axis: Axes) -> None:
    entries = (
        ("o", "white", INK, "split"),
        ("s", LEAF, INK, "leaf that may be extended"),
        ("s", LAST_LEAF, INK, "leaf at the last level"),
        ("o", "white", FAINT, "not explored yet"),
    )
    style: dict[str, Any] = {"linestyle": "", "markersize": 11, "markeredgewidth": 1.6}
    handles = [
        Line2D([], [], marker=marker, markerfacecolor=face, markeredgecolor=edge, label=label, **style)
        for marker, face, edge, label in entries
    ]
    axis.legend(handles=handles, loc="lower center", ncols=4, fontsize=10.5, frameon=False, labelcolor=INK)


# ------------------------------------------------------------------------------------- Cartesian and polar coordinates


def softest_split(model: Reticulum) -> Floats:
    """Hyperplane (3,), in the units of the table, of the split with the widest transition."""
    return np.asarray(model.hyperplanes[int(model.transition_widths.argmax())])


def coordinates_figure(X: Floats, y: Ints, hyperplane: Floats) -> Figure:
    """One hyperplane (3,) over rows (n, 2), described by its weights and by offset, stiffness and angle."""
    q, r, angle = Polar().coordinates(hyperplane)
    normal = hyperplane[1:] / r
    foot = -q * normal
    span = np.ptp(X, axis=0).max()
    tip = 0.45 * span * normal
    seen = np.vstack([X, foot, tip, np.zeros(2)])
    low, high = framed(seen.min(axis=0) - 0.05 * span, seen.max(axis=0) + 0.05 * span)
    tall = 4.4 * (high - low)[1] / (high - low)[0]
    height = tall + 1.5
    figure = new_figure(height)
    w0, w1, w2 = map(_number, hyperplane)
    titles = (
        f"Cartesian:  $w_0 = {w0},\\ \\ w_1 = {w1},\\ \\ w_2 = {w2}$",
        f"polar:  $q = {_number(q)},\\ \\ r = {_number(r)},\\ \\ \\phi_1 = {np.degrees(angle):.0f}°$",
    )
    for k, title in enumerate(titles):
        axis = figure.add_axes((0.055 + 0.495 * k, 0.95 / height, 0.44, tall / height))
        plain(axis)
        axis.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]))
        axis.set_title(title, loc="left", fontsize=11.5, color=INK)
        draw_rows(axis, X, y, size=16)
        axis.axhline(0, color=GREY, linewidth=0.8, zorder=2)
        axis.axvline(0, color=GREY, linewidth=0.8, zorder=2)
        axis.axline(foot, foot + np.array([-normal[1], normal[0]]), color=INK, linewidth=2.4, zorder=3)
        axis.add_patch(_pointer(np.zeros(2), tip, "-|>"))
        if k == 0:
            _draw_components(axis, tip)
            _draw_distance(axis, foot, normal, span, "$|w_0|\\,/\\,r$")
        else:
            _draw_softness(axis, foot, normal, r, (low, high))
            _draw_angle(axis, angle, 0.14 * span)
            _draw_distance(axis, foot, normal, span, "$|q|$")
    legend: list[Any] = [*row_handles(), Line2D([], [], color=INK, linewidth=2.4, label="gate = 0.5")]
    legend.append(Patch(color=INK, alpha=0.15, linewidth=0, label="gate 0.1 to 0.9"))
    figure.legend(handles=legend, loc="lower left", bbox_to_anchor=(0.045, 0), ncols=4, **PLAIN_LEGEND)
    scale = f"the normal $(w_1, w_2)$, of length $r$, is drawn at 1 : {_number(r / (0.45 * span))}"
    figure.text(0.98, 0.22 / height, scale, fontsize=9.5, color=GREY, ha="right", va="center")
    return figure


def _pointer(start: Floats, end: Floats, head: str) -> FancyArrowPatch:
    return FancyArrowPatch(
        start, end, arrowstyle=head, color=INK, linewidth=1.6, shrinkA=0, shrinkB=0, mutation_scale=13, zorder=5
    )


def _draw_components(axis: Axes, tip: Floats) -> None:
    """The two weights as what the normal measures along either axis."""
    for corner in ((tip[0], 0.0), (0.0, tip[1])):
        axis.plot(*np.transpose([corner, tip]), color=INK, linewidth=1.2, linestyle=(0, (4, 3)), zorder=5)
    up, right = tip[1] >= 0, tip[0] >= 0
    _tag(axis, np.array([tip[0], 0]), "$w_1$", xytext=(0, -12 if up else 12))
    _tag(axis, np.array([0, tip[1]]), "$w_2$", xytext=(-14 if right else 14, 0))


def _draw_distance(axis: Axes, foot: Floats, normal: Floats, span: float, text: str) -> None:
    """How far the hyperplane is from the origin, measured beside the normal."""
    if np.linalg.norm(foot) < 0.05 * span:
        return
    # On the side of the normal on which the angle is not.
    aside = np.array([-normal[1], normal[0]]) * (1 if normal[1] >= 0 else -1)
    shift = 0.035 * span * aside
    axis.add_patch(_pointer(shift, foot + shift, "<|-|>"))
    _tag(axis, 0.5 * foot + shift, text, xytext=tuple(8 * aside), ha="right" if aside[0] < 0 else "left")


def _draw_angle(axis: Axes, angle: float, radius: float) -> None:
    start, end = sorted((0.0, float(np.degrees(angle))))
    axis.add_patch(Arc((0, 0), 2 * radius, 2 * radius, theta1=start, theta2=end, color=INK, linewidth=1.6, zorder=5))
    middle = 1.45 * radius * np.array([np.cos(angle / 2), np.sin(angle / 2)])
    _tag(axis, middle, r"$\phi_1$")


def _draw_softness(axis: Axes, foot: Floats, normal: Floats, r: float, view: tuple[Floats, Floats]) -> None:
    """The band in which the gate goes from 10% to 90%, and its width, which the stiffness sets."""
    along = np.array([-normal[1], normal[0]])
    low, high = view
    length = float(np.linalg.norm(high - low)) + float(np.linalg.norm(foot))
    half = NINETY / r * normal
    corners = [foot + s * length * along + t * half for s, t in ((-1, -1), (1, -1), (1, 1), (-1, 1))]
    axis.add_patch(Polygon(corners, color=INK, alpha=0.15, linewidth=0, zorder=2))
    # As far from the foot as there is room in the picture, also for the words.
    steps = np.linspace(-length, length, 400)
    points = foot + steps[:, None] * along
    room = np.abs(half) + 0.09 * (high - low)
    inside = steps[((points - room > low) & (points + room < high)).all(axis=1)]
    place = foot + (inside[np.abs(inside).argmax()] if len(inside) else 0.0) * along
    axis.add_patch(_pointer(place - half, place + half, "<|-|>"))
    _tag(axis, place + half, "$2\\,\\ln 9\\,/\\,r$", xytext=tuple(13 * normal))
