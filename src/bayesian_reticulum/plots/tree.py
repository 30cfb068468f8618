"""The tree as a diagram."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
from scipy.special import expit

from ..explain import Contribution, NodeCard, node_cards
from ..families import class_probabilities, leaf_coefficients, leaf_middle
from ..model import (
    TRANSITION,
    Reticulum,
    check_whole_number,
    class_name,
    fitted_model,
    linear_terms,
    printable,
)
from .style import (
    BLUE,
    EDGE,
    FAINT,
    FEW,
    GREY,
    INK,
    Display,
    class_colours,
    counted,
    number_box,
    pyplot,
    shared_widths,
    short_number,
    shortened,
    text_width,
    write,
)

# Most columns that a split names, and the least width of a shortened name, in points.
_NAMED, _SHORTEST = 3, 92.0


@dataclass(frozen=True)
class SplitShown:
    """A split of a tree diagram.

    Attributes
    ----------
    split : int
        Its place in the tree, as in the printed tree.
    level : int
        Number of splits above it.
    children : tuple of int
        Places in `TreeDisplay.nodes` of the nodes left and right below it.
    share : float
        Share of all rows that come to it.
    contributions : tuple of Contribution
        Columns with a slope, largest share first.
    width : float
        Standard deviations over which its gate goes from 10% to 90%.
    grey_share : float
        Share of its rows whose gate is between 0.1 and 0.9.
    log_bayes_factor : float
    """

    split: int
    level: int
    children: tuple[int, int]
    share: float
    contributions: tuple[Contribution, ...]
    width: float
    grey_share: float
    log_bayes_factor: float


@dataclass(frozen=True)
class LeafShown:
    """A leaf of a tree diagram, or a branch that is drawn as one.

    Attributes
    ----------
    name : str
        Its place among the leaves, or how many splits it stands for.
    level : int
    share, count : float
        Share of all rows, and effective number of rows.
    mean : tuple of float
        Probability of each class, or the mean of the target.
    quantiles : tuple of float
        Of a number: the 5%, 25%, 75% and 95% quantiles of its predictive distribution at the centre of the leaf's rows;
        empty for classes.
    contributions : tuple of Contribution
        Columns with a slope in a linear leaf, largest share first.
    """

    name: str
    level: int
    share: float
    count: float
    mean: tuple[float, ...]
    quantiles: tuple[float, ...]
    contributions: tuple[Contribution, ...]


@dataclass(eq=False, repr=False)
class TreeDisplay(Display):
    """The tree as a diagram: splits with their features, softness and log Bayes factor, and leaves.

    A row starts on the left and goes up where the printed tree goes left. Lines are as wide as the share of rows that
    take them. Beside a split are its largest contributions, each with an arrow to where larger values lead, and a strip
    that shows its gate from 1.5 standard deviations on one side to 1.5 on the other: a sharp edge is a hard cut, a long
    shade a soft one. A leaf shows its class probabilities, or the mean of a number with its 50% and 90% intervals.

    Parameters
    ----------
    nodes : tuple of (SplitShown or LeafShown)
        From top to bottom.
    targets : tuple of str
        Names of the classes, or of the number.
    title : str

    Attributes
    ----------
    ax_, figure_
        Axes and figure of the drawing.
    texts_ : list of matplotlib Text

    Examples
    --------
    >>> from bayesian_reticulum import ReticulumClassifier
    >>> from bayesian_reticulum.datasets import make_cross
    >>> from bayesian_reticulum.plots import TreeDisplay
    >>> X, y, _ = make_cross(400, random_state=0)
    >>> display = TreeDisplay.from_estimator(ReticulumClassifier(random_state=0).fit(X, y))
    >>> display.figure_.savefig("tree.png")  # doctest: +SKIP
    """

    nodes: tuple[SplitShown | LeafShown, ...]
    targets: tuple[str, ...]
    title: str
    texts_: list[Any] = field(default_factory=list, init=False, repr=False)

    @classmethod
    def from_estimator(cls, estimator: Any, *, max_depth: int | None = None, ax: Any = None) -> Self:
        """Draw the tree of a fitted estimator.

        Parameters
        ----------
        estimator : fitted estimator
        max_depth : int or None, default=None
            A split at this depth is drawn as one leaf with all below it; None draws all.
        ax : matplotlib Axes, optional
            Where to draw; without it, on a new figure that is large enough.

        Returns
        -------
        TreeDisplay
        """
        model = fitted_model(estimator)
        if max_depth is not None:
            check_whole_number("max_depth", max_depth, 0)
        nodes = _nodes(model, node_cards(estimator), max_depth)
        title = f"{counted(model.tree.n_splits, 'split')}, log evidence {model.log_evidence:.1f}".replace("-", "−")
        rename = class_name if model.has_classes else printable
        return cls(nodes, tuple(map(rename, model.targets)), title).plot(ax=ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw the diagram.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw. On axes that are too small, text becomes as small as it has to be to fit.

        Returns
        -------
        self
        """
        plt = pyplot()
        sheet = _Sheet(self)
        if ax is None:
            size = sheet.width / 72, sheet.height / 72
            ax = plt.figure(figsize=size, facecolor="white").add_axes((0, 0, 1, 1))
        self.ax_, self.figure_ = ax, ax.figure
        sheet.draw(ax)
        self.texts_ = list(ax.texts)
        return self


def _nodes(model: Reticulum, cards: Sequence[NodeCard], max_depth: int | None) -> tuple[SplitShown | LeafShown, ...]:
    """List the nodes of a diagram from top to bottom: a split stands between the nodes left and right below it."""
    tree = model.tree
    counts = model.family.counts(model.statistics)
    total = max(float(counts.sum()), np.finfo(float).tiny)
    nodes: list[SplitShown | LeafShown | None] = []

    def add(node: int, level: int) -> int:
        """Add a node with all below it, and return its place."""
        is_below = np.arange(tree.n_leaves) == ~node if node < 0 else tree.shape.sides[node] != 0
        count = float(counts[is_below].sum())
        if node < 0 or level == max_depth:
            nodes.append(_leaf_shown(model, node, is_below, level, count, count / total))
            return len(nodes) - 1
        left = add(int(tree.children[node, 0]), level + 1)
        place = len(nodes)
        # The split follows when the place of its right child is known.
        nodes.append(None)
        right = add(int(tree.children[node, 1]), level + 1)
        nodes[place] = _split_shown(cards[node], level, (left, right), count / total)
        return place

    add(0 if tree.n_splits else ~0, 0)
    return tuple(node for node in nodes if node is not None)


def _split_shown(card: NodeCard, level: int, children: tuple[int, int], share: float) -> SplitShown:
    return SplitShown(
        card.split,
        level,
        children,
        share,
        tuple(contribution for contribution in card.contributions if contribution.share > 0),
        card.standardised_width,
        card.grey_share,
        card.log_bayes_factor,
    )


def _leaf_shown(model: Reticulum, node: int, is_below: Any, level: int, count: float, share: float) -> LeafShown:
    """Describe a leaf, or the branch below a split as one leaf."""
    name = str(~node) if node < 0 else counted(int(is_below.sum()) - 1, "split")
    statistics = model.statistics[is_below].sum(axis=0)
    if model.has_classes:
        probabilities = tuple(class_probabilities(model.family, statistics).tolist())
        return LeafShown(name, level, share, count, probabilities, (), ())
    coefficients = leaf_coefficients(model.family, statistics)
    terms = () if coefficients is None else linear_terms(model.schema, coefficients)
    design = leaf_middle(model.family, statistics, model.tree.n_features)
    predictive = model.family.predictive(statistics[None], np.ones((1, 1)), design)
    quantiles = tuple(float(np.ravel(predictive.quantile(q))[0]) for q in (0.05, 0.25, 0.75, 0.95))
    mean = (float(np.ravel(predictive.mean)[0]),)
    used = tuple(Contribution(term.name, term.slope, term.share) for term in terms if term.share > 0)
    return LeafShown(name, level, share, count, mean, quantiles, used)


class _Sheet:
    """The layout of a tree diagram, in points.

    Each node has a line to itself, a split between the nodes left and right below it, so that to the right of a split
    there is nothing but its label: whatever the tree, no line crosses a label and no label another.
    """

    margin, top, step = 14.0, 30.0, 34.0
    split_height, leaf_height = 36.0, 25.0
    strip, bar, note, rows = 44.0, 96.0, 150.0, 54.0
    widest_label = 484.0
    thickest = 13.0

    def __init__(self, display: TreeDisplay) -> None:
        self.display, self.nodes = display, display.nodes
        self.is_class = not any(isinstance(node, LeafShown) and node.quantiles for node in self.nodes)
        levels = [node.level for node in self.nodes]
        self.depth = max(levels)
        heights = [self.split_height if isinstance(node, SplitShown) else self.leaf_height for node in self.nodes]
        key = 22.0 if self.is_class and len(display.targets) <= len(FEW) else 0.0
        self.first = self.margin + self.top + key
        self.y = self.first + np.cumsum(heights) - np.array(heights) / 2
        bottom = 8.0 if self.is_class else 30.0
        self.height = self.first + sum(heights) + bottom + self.margin
        self.width = self._x(self.depth) + 44.0 + self.bar + self.note + self.rows + self.margin
        for node in self.nodes:
            if isinstance(node, SplitShown):
                label = text_width(_label(node.contributions, self.widest_label, 9.5, _NAMED), 9.5) + 2
                self.width = max(self.width, self._x(node.level) + 28.0 + self.strip + label + self.margin)

    def draw(self, ax: Any) -> None:
        available = ax.bbox.width * 72 / ax.figure.dpi, ax.bbox.height * 72 / ax.figure.dpi
        # On axes that are too small everything is drawn smaller, on large ones wider and further apart.
        self.zoom = min(1.0, available[0] / self.width, available[1] / self.height)
        width, height = available[0] / self.zoom, available[1] / self.zoom
        stretch = min((height - self.margin) / (self.height - self.margin), 1.6)
        self.y = self.first + (self.y - self.first) * stretch
        self.right = min(width, 1.4 * self.width) - self.margin
        self.bar_x = self.right - self.rows - self.note - self.bar
        ax.set_axis_off()
        self._draw_head(ax)
        for node, y in zip(self.nodes, self.y, strict=True):
            if isinstance(node, SplitShown):
                for child in node.children:
                    self._draw_edge(ax, node, y, self.nodes[child], self.y[child])
        if len(self.nodes) == 1:
            style = {"color": EDGE, "linewidth": self.thickest * self.zoom, "solid_capstyle": "butt"}
            ax.plot([self.margin, self.bar_x - 18], [self.y[0]] * 2, **style)
        scale = self._scale()
        for node, y in zip(self.nodes, self.y, strict=True):
            if isinstance(node, SplitShown):
                self._draw_split(ax, node, y)
            else:
                self._draw_leaf(ax, node, y, scale)
        if not self.is_class:
            self._draw_scale(ax, scale)
        ax.set(xlim=(0, width), ylim=(height, 0), aspect="auto")

    def _write(self, ax: Any, x: float, y: float, text: str, size: float, **style: Any) -> Any:
        return write(ax, x, y, text, size * self.zoom, **style)

    def _x(self, level: int) -> float:
        return self.margin + 12.0 + level * self.step

    def _draw_head(self, ax: Any) -> None:
        self._write(ax, self.margin, self.margin + 9, shortened(self.display.title, self.right - self.margin, 11), 11)
        names = self.display.targets
        if not self.is_class or len(names) > len(FEW):
            return
        y, x = self.margin + self.top + 3, self.margin
        wanted = [text_width(name, 9) + 1 for name in names]
        widths = shared_widths(wanted, self.right - self.margin - 30.0 * len(names))
        for name, width, colour in zip(names, widths, class_colours(len(names)), strict=True):
            self._rectangle(ax, x, y - 4, 8, 8, colour)
            shown = shortened(name, width, 9)
            self._write(ax, x + 13, y, shown, 9)
            x += 13 + width + 17

    def _rectangle(self, ax: Any, x: float, y: float, width: float, height: float, colour: str, **style: Any) -> None:
        from matplotlib.patches import Rectangle

        ax.add_patch(Rectangle((x, y), width, height, facecolor=colour, linewidth=0, **style))

    def _draw_edge(self, ax: Any, parent: SplitShown, y: float, child: SplitShown | LeafShown, child_y: float) -> None:
        """Draw from a split straight up or down to the line of its child, and along that line to the child."""
        from matplotlib.patches import PathPatch
        from matplotlib.path import Path

        x = self._x(parent.level)
        end = self._x(child.level) if isinstance(child, SplitShown) else self.bar_x - 18
        bend = 11.0 if child_y > y else -11.0
        points = [(x, y), (x, child_y - bend), (x, child_y), (x + 11.0, child_y), (end, child_y)]
        path = Path(points, [Path.MOVETO, Path.LINETO, Path.CURVE3, Path.CURVE3, Path.LINETO])
        width = max(self.thickest * child.share, 0.8) * self.zoom
        ax.add_patch(PathPatch(path, fill=False, edgecolor=EDGE, linewidth=width, capstyle="butt", zorder=1))

    def _draw_split(self, ax: Any, node: SplitShown, y: float) -> None:
        from matplotlib.patches import Rectangle

        x = self._x(node.level)
        self._write(ax, x, y, str(node.split), 8.5, ha="center", bbox=number_box(self.zoom), zorder=3)
        left, upper, lower = x + 19, y - 7.5, y + 8.5
        distance = np.linspace(-1.5, 1.5, 96)
        gate = expit(TRANSITION / max(node.width, 1e-9) * distance)
        extent = (left, left + self.strip, upper + 4, upper - 4)
        ax.imshow(gate[None], extent=extent, cmap="Greys", vmin=0, vmax=1.35, aspect="auto", zorder=2)
        frame = Rectangle((left, upper - 4), self.strip, 8, fill=False, edgecolor=GREY, linewidth=0.6 * self.zoom)
        ax.add_patch(frame)
        frame.set_zorder(3)
        beside = left + self.strip + 9
        text = _label(node.contributions, self.right - beside, 9.5, _NAMED)
        self._write(ax, beside, upper, text, 9.5)
        evidence = f"log Bayes factor {node.log_bayes_factor:.1f}".replace("-", "−")
        detail = f"{evidence}, {node.grey_share:.0%} of its rows between"
        self._write(ax, left, lower, shortened(detail, self.right - left, 8), 8, color=GREY)

    def _draw_leaf(self, ax: Any, node: LeafShown, y: float, scale: tuple[float, float]) -> None:
        x = self.bar_x
        self._write(ax, x - 7, y, node.name if node.name.isdigit() else "", 7.5, color=GREY, ha="right")
        beside = x + self.bar + 9
        room = self.note - 16
        if self.is_class:
            self._draw_classes(ax, node, y)
            best = int(np.argmax(node.mean))
            probability = f"{node.mean[best]:.3f}"
            text = shortened(self.display.targets[best], room - text_width(probability, 9.5) - 8, 9.5)
            self._write(ax, beside + room, y, probability, 9.5, ha="right")
        else:
            self._draw_interval(ax, node, y, scale)
            text = short_number(node.mean[0])
            if node.contributions:
                text = f"{text}   {_label(node.contributions, room - text_width(f'{text}   ', 9.5), 9.5, 2, False)}"
        self._write(ax, beside, y, text, 9.5)
        rows = f"n = {node.count:.0f}" if node.count >= 9.95 else f"n = {node.count:.1f}"
        if not node.name.isdigit():
            rows = node.name
        self._write(ax, self.right, y, shortened(rows, self.rows, 8), 8, color=GREY, ha="right")

    def _draw_classes(self, ax: Any, node: LeafShown, y: float) -> None:
        start = self.bar_x
        for probability, colour in zip(node.mean, class_colours(len(node.mean)), strict=True):
            self._rectangle(ax, start, y - 6, self.bar * probability, 12, colour, zorder=2)
            start += self.bar * probability
            if start < self.bar_x + self.bar - 0.5 and self.bar * probability > 1:
                # White between colours, which can be equally dark.
                ax.plot([start] * 2, [y - 6, y + 6], color="white", linewidth=0.8 * self.zoom, zorder=3)

    def _scale(self) -> tuple[float, float]:
        """Least and largest number among the quantiles of all leaves."""
        ends = [end for node in self.nodes if isinstance(node, LeafShown) for end in node.quantiles]
        low, high = min(ends, default=0.0), max(ends, default=1.0)
        return (low, high) if low < high else (low - 1.0, high + 1.0)

    def _along(self, value: float, scale: tuple[float, float]) -> float:
        return float(self.bar_x + self.bar * (value - scale[0]) / (scale[1] - scale[0]))

    def _draw_interval(self, ax: Any, node: LeafShown, y: float, scale: tuple[float, float]) -> None:
        far_low, low, high, far_high = (self._along(value, scale) for value in node.quantiles)
        ax.plot([self.bar_x, self.bar_x + self.bar], [y] * 2, color=FAINT, linewidth=0.6 * self.zoom, zorder=1.5)
        ax.plot([far_low, far_high], [y] * 2, color=BLUE, linewidth=1.3 * self.zoom, zorder=2, solid_capstyle="butt")
        ax.plot([low, high], [y] * 2, color=BLUE, linewidth=5 * self.zoom, zorder=2.1, solid_capstyle="butt")
        middle = self._along(node.mean[0], scale)
        ax.plot([middle], [y], "o", color="white", mec=INK, mew=0.9 * self.zoom, ms=5 * self.zoom, zorder=3)

    def _draw_scale(self, ax: Any, scale: tuple[float, float]) -> None:
        y = self.y[-1] + self.leaf_height / 2 + 4
        ax.plot([self.bar_x, self.bar_x + self.bar], [y] * 2, color=GREY, linewidth=0.7 * self.zoom)
        half = self.bar / 2 - 4
        for value, x, side in ((scale[0], self.bar_x, "left"), (scale[1], self.bar_x + self.bar, "right")):
            self._write(ax, x, y + 8, shortened(short_number(value), half, 8), 8, color=GREY, ha=side)
        name = shortened(self.display.targets[0], self.note + self.rows - 16, 8)
        self._write(ax, self.bar_x + self.bar + 9, y + 8, name, 8, color=GREY)


def _label(
    contributions: Sequence[Contribution], width: float, size: float, most: int, with_shares: bool = True
) -> str:
    """Name the largest contributions in a given width, each with an arrow to where larger values lead."""
    # A share that would print as 0% is not worth a name.
    n_worth_naming = sum(contribution.share >= 0.005 for contribution in contributions)
    for n in range(min(most, n_worth_naming), 0, -1):
        named, n_others = contributions[:n], len(contributions) - n
        shares = [f" {contribution.share:.0%}" if with_shares else "" for contribution in named]
        rest = f"   {counted(n_others, 'other')}" if n_others and with_shares else ""
        fixed = "   ".join(f"↑ {share}" for share in shares) + rest
        names = [printable(contribution.name) for contribution in named]
        wanted = [text_width(name, size) + 0.5 for name in names]
        widths = shared_widths(wanted, max(width - text_width(fixed, size) - 1, 0.0))
        if n == 1 or all(room >= min(want, _SHORTEST) for room, want in zip(widths, wanted, strict=True)):
            parts = [
                f"{'↑' if contribution.slope > 0 else '↓'} {shortened(name, room, size)}{share}"
                for contribution, name, room, share in zip(named, names, widths, shares, strict=True)
            ]
            return shortened("   ".join(parts) + rest, width, size)
    return ""
