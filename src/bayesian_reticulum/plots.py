"""Pictures of a fitted tree, drawn with Matplotlib.

Each display follows scikit-learn: `from_estimator` reads off what is to be shown and draws it, the same data are plain
attributes, and `plot` draws them again, on axes of one's own if they are given. Nothing is fitted again. Colours stay
apart under all common kinds of colour blindness, and in grey as long as they are few; what they tell is also told by
words, marks or places.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from numbers import Integral
from typing import Any, NamedTuple, Self

import numpy as np
from scipy.ndimage import distance_transform_edt, label, map_coordinates
from scipy.special import expit

from .explain import Contribution, _model_of, evidence_ledger, node_cards
from .families import DirichletCategorical, NormalLinear
from .model import TRANSITION, Reticulum, printable
from .rows import gates, softening
from .schema import NUMBER
from .tree import Floats, Integers, Tree

# In the manner of Okabe and Ito. The first two are the ends of the scale for two classes; those that follow each other
# are dark and light in turn, and the first five are all of different lightness.
_FEW = ("#10427f", "#f2a63b", "#008f68", "#a9dcf2", "#c46fa6", "#c84f00", "#f0e442", "#5a5a5a")
BLUE, ORANGE, GREEN = _FEW[:3]
INK, _GREY, _FAINT, _EDGE = "#222222", "#6b6b6b", "#d9d9d9", "#c8ced6"
_MARKERS = "o^sDvPX*"
# Grid points along each axis of a surface, and along a curve.
_GRID, _CURVE = 240, 400
# Cells that are predicted at once.
_BLOCK_CELLS = 1 << 21
# Standard deviations from the centre that are shown, if the features go so far.
_SHOWN = 3.0
# Columns named at a split, and the width that a shortened name needs at least, in points.
_NAMED, _SHORTEST = 3, 84.0
_STOPPED = {
    "max_attempts": "all attempts were made",
    "max_splits": "all splits were used",
    "max_depth": "the tree is as deep as it may be",
}


def _pyplot() -> Any:
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError(
            "pictures need Matplotlib, which is not installed. "
            "Install the extra 'plots': pip install 'bayesian-reticulum[plots]'"
        ) from error
    return plt


@dataclass(eq=False, repr=False)
class _Display:
    """What all displays have: the axes they were drawn on."""

    ax_: Any = field(default=None, init=False, repr=False)
    figure_: Any = field(default=None, init=False, repr=False)

    def _open(self, ax: Any, size: tuple[float, float], **options: Any) -> Any:
        """The axes to draw on: those given, or those of a new figure of a size in inches."""
        plt = _pyplot()
        if ax is None:
            # White under dark styles, too: that is what the colours are made for.
            with plt.rc_context({"grid.color": "#ebebeb", "grid.linewidth": 0.6}):
                figure = plt.figure(figsize=size, layout="constrained", facecolor="white")
                ax = figure.add_subplot(facecolor="white", **options)
        self.ax_, self.figure_ = ax, ax.figure
        return ax


def _text_width(text: str, size: float) -> float:
    """Width of a line of text in points."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import text_to_path

    return float(text_to_path.get_text_width_height_descent(text, FontProperties(size=size), False)[0])


def _shortened(text: str, width: float, size: float) -> str:
    """A text that is no wider than so many points: what is too much is left out from its middle."""
    if not text or _text_width(text, size) <= width:
        return text
    shortest, longest = 1, len(text) - 1
    while shortest < longest:
        kept = (shortest + longest + 1) // 2
        if _text_width(_with_ellipsis(text, kept), size) <= width:
            shortest = kept
        else:
            longest = kept - 1
    return _with_ellipsis(text, shortest)


def _with_ellipsis(text: str, kept: int) -> str:
    head = (kept + 1) // 2
    return f"{text[:head].rstrip()}…{text[len(text) - (kept - head) :].lstrip()}"


def _shared_widths(wanted: Sequence[float], width: float) -> list[float]:
    """Widths that add up to no more than there is: those that want less leave the rest to the others."""
    out = [0.0] * len(wanted)
    order = sorted(range(len(wanted)), key=lambda place: wanted[place])
    for done, place in enumerate(order):
        out[place] = min(wanted[place], width / (len(order) - done))
        width -= out[place]
    return out


def _write(ax: Any, x: float, y: float, text: str, size: float, **style: Any) -> Any:
    """Text as it is: a dollar sign in a name begins no formula."""
    return ax.text(x, y, text, fontsize=size, parse_math=False, **({"color": INK, "va": "center"} | style))


def _halo() -> list[Any]:
    """White around letters, so that they can be read on any colour."""
    from matplotlib.patheffects import withStroke

    return [withStroke(linewidth=3, foreground="white", alpha=0.85)]


def _counted(n: int, noun: str) -> str:
    return f"{n} {noun}{'s' * (n != 1)}"


def _class_name(name: str) -> str:
    """The name of a class; a number alone could be mistaken for that of a split."""
    name = printable(name)
    return f"class {name}" if name.replace(".", "").isdigit() else name


def _number(value: float) -> str:
    """Three digits at least, and no power of ten where there is no need for it."""
    size = abs(value)
    text = f"{value:.{max(0, 2 - int(np.floor(np.log10(size))))}f}" if 1e-4 <= size < 1e7 else f"{value:.3g}"
    return text.replace("-", "−")


def _class_colours(n: int) -> list[str]:
    """A few are easy to tell apart, many run from dark to light."""
    if n <= len(_FEW):
        return list(_FEW[:n])
    from matplotlib import colormaps
    from matplotlib.colors import to_hex

    return [to_hex(colour) for colour in colormaps["viridis"](np.linspace(0, 0.95, n))]


def _scale(has_classes: bool, strength: float = 1.0) -> Any:
    """Colours for a probability, or for a number; mixed with white, lines and marks on them are easier to see."""
    from matplotlib import colormaps
    from matplotlib.colors import LinearSegmentedColormap, ListedColormap

    colours = LinearSegmentedColormap.from_list("", [BLUE, "#f7f7f7", ORANGE]) if has_classes else colormaps["YlGnBu"]
    return ListedColormap(1 - strength * (1 - colours(np.linspace(0, 1, 256))[:, :3]))


def _quiet(ax: Any) -> None:
    """Axes that do not draw attention to themselves."""
    ax.spines[["top", "right"]].set_visible(False)
    ax.spines[["left", "bottom"]].set_color(_FAINT)
    ax.tick_params(length=0, labelcolor=_GREY, labelsize=9)
    for axis in (ax.xaxis, ax.yaxis):
        axis.label.set_color(INK)


def _name_axis(axis: Any, name: str, size: float = 10.0, width: float = 230.0) -> None:
    """A label no longer than a picture of usual size has room for."""
    axis.set_label_text(_shortened(printable(name), width, size), fontsize=size, parse_math=False, color=INK)


def _check_whole_number(name: str, value: Any, minimum: int) -> None:
    if not isinstance(value, Integral) or int(value) < minimum:
        raise ValueError(f"{name} must be a whole number of at least {minimum}; got {value!r}.")


def _feature(model: Reticulum, feature: Any) -> int:
    names = model.schema.names
    if isinstance(feature, str) and feature in names:
        return names.index(feature)
    if isinstance(feature, Integral) and 0 <= int(feature) < len(names):
        return int(feature)
    known = ", ".join(map(repr, names[:8])) + (", ..." if len(names) > 8 else "")
    raise ValueError(f"there is no feature {feature!r}; choose from {known}, or by place, 0 to {len(names) - 1}.")


def _numbers(model: Reticulum) -> list[int]:
    """Features that are numbers."""
    return [place for place, category in enumerate(model.schema.categories) if category is None]


def _check_is_number(model: Reticulum, feature: int) -> None:
    if feature not in _numbers(model):
        known = ", ".join(repr(model.schema.names[own]) for own in _numbers(model)) or "none"
        raise ValueError(
            f"feature {model.schema.names[feature]!r} is a category, which has no place on an axis. "
            f"Choose from the numbers ({known}), and set a category by row=."
        )


def _chosen_features(model: Reticulum, features: Any, n: int) -> tuple[int, ...]:
    """The features to draw: those asked for, or the n numbers that matter most, in the order of the table."""
    if features is not None:
        asked = [features] if isinstance(features, str | Integral) else list(features)
        chosen = tuple(_feature(model, own) for own in asked)
        if not 1 <= len(set(chosen)) == len(chosen) <= n:
            raise ValueError(f"features must name one or two different features; got {features!r}.")
    else:
        ranked = sorted(_numbers(model), key=lambda own: -model.feature_importances[own])
        chosen = tuple(sorted(ranked[:n]))
        if not chosen:
            raise ValueError("all features are categories, which have no place on an axis. Draw TreeDisplay instead.")
    for own in chosen:
        _check_is_number(model, own)
    return chosen


def _base(estimator: Any, model: Reticulum, cells: Floats | None, row: Any) -> tuple[Floats, str]:
    """The row (d,) that what is not drawn is held at, and what to call it."""
    schema = model.schema
    if row is not None:
        if hasattr(row, "to_frame"):
            row = row.to_frame().T.infer_objects()
        elif np.ndim(row) == 1 and not hasattr(row, "columns"):
            row = [list(row)]
        own = np.asarray(estimator._checked_rows(row), dtype=np.float64)
        if len(own) != 1:
            raise ValueError(f"row must be a single row, such as X[:1]; got {len(own)} rows.")
        return own[0], "as in the given row"
    base = np.full(schema.n_features, np.nan)
    for place, category in enumerate(schema.categories):
        known = None if cells is None else cells[~np.isnan(cells[:, place]), place]
        if known is not None and len(known):
            base[place] = np.median(known) if category is None else np.bincount(known.astype(np.int64)).argmax()
        elif category is None:
            base[place] = schema.center[_column(model, place)]
        elif category.n_codes:
            # Levels come in the order of their frequency.
            base[place] = 0.0
    return base, "at their centre" if cells is None else "at their median"


def _column(model: Reticulum, feature: int) -> int:
    """The column of a feature that is a number."""
    schema = model.schema
    return int(np.flatnonzero((schema.source == feature) & (schema.code == NUMBER))[0])


def _limits(model: Reticulum, feature: int, cells: Floats | None) -> tuple[float, float]:
    """What is shown of a feature: where its splits are straight, and rows are."""
    column, schema = _column(model, feature), model.schema
    center, reach = schema.center[column], _SHOWN * abs(schema.scale[column])
    low, high = max(schema.low[column], center - reach), min(schema.high[column], center + reach)
    if cells is not None and np.isfinite(cells[:, feature]).any():
        least, most = np.nanmin(cells[:, feature]), np.nanmax(cells[:, feature])
        low, high = max(schema.low[column], least), min(schema.high[column], most)
    if not low < high:
        return float(center - 1), float(center + 1)
    return float(low), float(high)


def _checked_cells(estimator: Any, X: Any, y: Any) -> tuple[Floats | None, Any]:
    """Rows as numbers, and their targets; either may be left out."""
    if X is None:
        if y is not None:
            raise ValueError("y was given without X; give both, or neither.")
        return None, None
    cells = np.asarray(estimator._checked_rows(X), dtype=np.float64)
    if y is None:
        return cells, None
    y = np.asarray(y)
    if y.shape != (len(cells),):
        raise ValueError(f"y must have one target for each of the {len(cells)} rows; got shape {y.shape}.")
    return cells, y


def _codes(estimator: Any, y: Any) -> Any:
    """Class codes of labels, -1 for those that were not there in fit; numbers as they are."""
    if y is None or not hasattr(estimator, "classes_"):
        return None if y is None else y.astype(np.float64)
    places = {value: place for place, value in enumerate(estimator.classes_.tolist())}
    return np.array([places.get(value, -1) for value in y.tolist()], dtype=np.int64)


def _blocks(base: Floats, features: Sequence[int], points: Floats) -> Iterator[Floats]:
    """Rows (n, d) that are like the base but for some features, which are at points (n, features); block by block."""
    size = max(1, _BLOCK_CELLS // len(base))
    for start in range(0, len(points), size):
        part = points[start : start + size]
        cells = np.repeat(base[None], len(part), axis=0)
        cells[:, list(features)] = part
        yield cells


def _reach(model: Reticulum, cells: Floats) -> Floats:
    """Probability of rows (n, d) to come to each split, shape (m, n)."""
    reach = (model.tree.shape.sides != 0).astype(np.float64) @ model.membership(cells).T
    # Sums may end a rounding above one, which is no opacity.
    return np.asarray(np.minimum(reach, 1.0))


def _has_classes(model: Reticulum) -> bool:
    return isinstance(model.family, DirichletCategorical)


@dataclass(frozen=True)
class SplitShown:
    """A split of a tree diagram.

    Attributes
    ----------
    split : int
        Its place in the tree, as in print.
    level : int
        Number of splits above it.
    children : tuple of int
        Places in `TreeDisplay.nodes` of what is left and right below it.
    share : float
        Share of all rows that come to it.
    contributions : tuple of Contribution
        All columns, those that count most first.
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
        Of a number: the 5%, 25%, 75% and 95% quantiles of its predictive distribution at the centre of the leaf's rows.
    contributions : tuple of Contribution
        What a linear leaf is linear in, most first.
    """

    name: str
    level: int
    share: float
    count: float
    mean: tuple[float, ...]
    quantiles: tuple[float, ...]
    contributions: tuple[Contribution, ...]


@dataclass(eq=False, repr=False)
class TreeDisplay(_Display):
    """The tree as a diagram: splits with what they look at, how soft they are and what they are worth, and leaves.

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
        What was drawn on.
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
            Splits further down than this are drawn as one leaf; None draws all.
        ax : matplotlib Axes, optional
            Where to draw; without it, a figure is made that is large enough.
        """
        model = _model_of(estimator)
        if max_depth is not None:
            _check_whole_number("max_depth", max_depth, 0)
        cards = node_cards(estimator)
        counts = model.family.counts(model.statistics)
        total = max(float(counts.sum()), np.finfo(float).tiny)
        nodes: list[SplitShown | LeafShown | None] = []

        def add(node: int, level: int) -> int:
            below = np.arange(model.tree.n_leaves) == ~node if node < 0 else model.tree.shape.sides[node] != 0
            count = float(counts[below].sum())
            if node < 0 or level == max_depth:
                nodes.append(_leaf_shown(model, node, below, level, count, count / total))
                return len(nodes) - 1
            left = add(int(model.tree.children[node, 0]), level + 1)
            place = len(nodes)
            nodes.append(None)
            right = add(int(model.tree.children[node, 1]), level + 1)
            card = cards[node]
            nodes[place] = SplitShown(
                node,
                level,
                (left, right),
                count / total,
                tuple(own for own in card.contributions if own.share > 0),
                card.standardised_width,
                card.grey_share,
                card.log_bayes_factor,
            )
            return place

        add(0 if model.tree.n_splits else ~0, 0)
        title = f"{_counted(model.tree.n_splits, 'split')}, log evidence {model.log_evidence:.1f}".replace("-", "−")
        shown = tuple(node for node in nodes if node is not None)
        rename = _class_name if _has_classes(model) else printable
        return cls(shown, tuple(map(rename, model.targets)), title).plot(ax=ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw the diagram.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw. Text is made as small as it has to be to fit in.

        Returns
        -------
        self
        """
        plt = _pyplot()
        sheet = _Sheet(self)
        if ax is None:
            size = sheet.width / 72, sheet.height / 72
            ax = plt.figure(figsize=size, facecolor="white").add_axes((0, 0, 1, 1))
        self.ax_, self.figure_ = ax, ax.figure
        sheet.draw(ax)
        self.texts_ = list(ax.texts)
        return self


def _leaf_shown(model: Reticulum, node: int, below: Any, level: int, count: float, share: float) -> LeafShown:
    """A leaf, or the branch below a split as one leaf."""
    name = str(~node) if node < 0 else _counted(int(below.sum()) - 1, "split")
    statistics = model.statistics[below].sum(axis=0)
    if _has_classes(model):
        mean = tuple(model.family.predictive_mean(statistics[None], np.ones((1, 1)), np.ones((1, 1)))[0].tolist())
        return LeafShown(name, level, share, count, mean, (), ())
    found: list[Floats] = []

    def noted(coefficients: Floats) -> str:
        found.append(coefficients)
        return ""

    # What a leaf is linear in is told to whoever writes it down.
    model.family.describe(statistics, model.targets, noted)
    contributions: tuple[Contribution, ...] = ()
    if model.family.uses_design and found:
        slopes = found[0][1:]
        own = model.schema.in_original_units(found[0][None])[0, 1:]
        shares = np.abs(slopes) / max(np.abs(slopes).sum(), np.finfo(float).tiny)
        names = model.schema.column_names
        ranked = np.argsort(-shares, kind="stable")
        contributions = tuple(Contribution(names[j], float(own[j]), float(shares[j])) for j in ranked if shares[j] > 0)
    predictive = model.family.predictive(statistics[None], np.ones((1, 1)), _middle(model, statistics))
    quantiles = tuple(float(np.ravel(predictive.quantile(q))[0]) for q in (0.05, 0.25, 0.75, 0.95))
    mean = (float(np.ravel(predictive.mean)[0]),)
    return LeafShown(name, level, share, count, mean, quantiles, contributions)


def _middle(model: Reticulum, statistics: Floats) -> Floats:
    """Design (D + 1, 1) of the centre of a leaf's rows, where the family tells it, or else of all rows."""
    family = model.family
    design = np.zeros((model.tree.n_features + 1, 1))
    design[0] = 1.0
    if isinstance(family, NormalLinear) and family.uses_design:
        count = max(float(family.counts(statistics)), np.finfo(float).tiny)
        place = statistics[3 + family.n_slopes : 3 + 2 * family.n_slopes] / count
        design[1:, 0] = place if family.basis is None else np.linalg.pinv(family.basis.T) @ place
    return design


class _Sheet:
    """Where everything of a tree diagram stands, in points.

    Each node has a line of its own, a split between what is above and below it, so that to the right of a split there
    is nothing but its label: whatever the tree, no line crosses a label and no label another.
    """

    margin, top, step = 14.0, 30.0, 34.0
    split_height, leaf_height = 36.0, 25.0
    strip, bar, note, rows = 44.0, 96.0, 138.0, 52.0
    widest_label = 440.0
    thickest = 13.0

    def __init__(self, display: TreeDisplay) -> None:
        self.display, self.nodes = display, display.nodes
        self.is_class = not any(isinstance(node, LeafShown) and node.quantiles for node in self.nodes)
        levels = [node.level for node in self.nodes]
        self.depth = max(levels)
        heights = [self.split_height if isinstance(node, SplitShown) else self.leaf_height for node in self.nodes]
        key = 22.0 if self.is_class and len(display.targets) <= len(_FEW) else 0.0
        self.first = self.margin + self.top + key
        self.y = self.first + np.cumsum(heights) - np.array(heights) / 2
        bottom = 8.0 if self.is_class else 30.0
        self.height = self.first + sum(heights) + bottom + self.margin
        self.width = self._x(self.depth) + 44.0 + self.bar + self.note + self.rows + self.margin
        for node in self.nodes:
            if isinstance(node, SplitShown):
                wanted = _text_width(_named(node.contributions, self.widest_label, 9.5, _NAMED), 9.5) + 2
                self.width = max(self.width, self._x(node.level) + 28.0 + self.strip + wanted + self.margin)

    def draw(self, ax: Any) -> None:
        own = ax.bbox.width * 72 / ax.figure.dpi, ax.bbox.height * 72 / ax.figure.dpi
        # On axes that are too small everything is drawn smaller, on large ones wider and further apart.
        self.zoom = min(1.0, own[0] / self.width, own[1] / self.height)
        width, height = own[0] / self.zoom, own[1] / self.zoom
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
            style = {"color": _EDGE, "linewidth": self.thickest * self.zoom, "solid_capstyle": "butt"}
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
        return _write(ax, x, y, text, size * self.zoom, **style)

    def _x(self, level: int) -> float:
        return self.margin + 12.0 + level * self.step

    def _draw_head(self, ax: Any) -> None:
        self._write(ax, self.margin, self.margin + 9, _shortened(self.display.title, self.right - self.margin, 11), 11)
        names = self.display.targets
        if not self.is_class or len(names) > len(_FEW):
            return
        y, x = self.margin + self.top + 3, self.margin
        wanted = [_text_width(name, 9) + 1 for name in names]
        widths = _shared_widths(wanted, self.right - self.margin - 30.0 * len(names))
        for name, width, colour in zip(names, widths, _class_colours(len(names)), strict=True):
            self._rectangle(ax, x, y - 4, 8, 8, colour)
            shown = _shortened(name, width, 9)
            self._write(ax, x + 13, y, shown, 9)
            x += 13 + width + 17

    def _rectangle(self, ax: Any, x: float, y: float, width: float, height: float, colour: str, **style: Any) -> None:
        from matplotlib.patches import Rectangle

        ax.add_patch(Rectangle((x, y), width, height, facecolor=colour, linewidth=0, **style))

    def _draw_edge(self, ax: Any, parent: SplitShown, y: float, child: SplitShown | LeafShown, child_y: float) -> None:
        """From a split straight up or down to the line of its child, and along that to where it stands."""
        from matplotlib.patches import PathPatch
        from matplotlib.path import Path

        x = self._x(parent.level)
        end = self._x(child.level) if isinstance(child, SplitShown) else self.bar_x - 18
        bend = 11.0 if child_y > y else -11.0
        points = [(x, y), (x, child_y - bend), (x, child_y), (x + 11.0, child_y), (end, child_y)]
        path = Path(points, [Path.MOVETO, Path.LINETO, Path.CURVE3, Path.CURVE3, Path.LINETO])
        width = max(self.thickest * child.share, 0.8) * self.zoom
        ax.add_patch(PathPatch(path, fill=False, edgecolor=_EDGE, linewidth=width, capstyle="butt", zorder=1))

    def _draw_split(self, ax: Any, node: SplitShown, y: float) -> None:
        from matplotlib.patches import Rectangle

        x = self._x(node.level)
        style = {"boxstyle": "circle,pad=0.3", "facecolor": "white", "edgecolor": INK, "linewidth": 1.0 * self.zoom}
        self._write(ax, x, y, str(node.split), 8.5, ha="center", bbox=style, zorder=3)
        left, upper, lower = x + 19, y - 7.5, y + 8.5
        distance = np.linspace(-1.5, 1.5, 96)
        gate = expit(TRANSITION / max(node.width, 1e-9) * distance)
        extent = (left, left + self.strip, upper + 4, upper - 4)
        ax.imshow(gate[None], extent=extent, cmap="Greys", vmin=0, vmax=1.35, aspect="auto", zorder=2)
        frame = Rectangle((left, upper - 4), self.strip, 8, fill=False, edgecolor=_GREY, linewidth=0.6 * self.zoom)
        ax.add_patch(frame)
        frame.set_zorder(3)
        beside = left + self.strip + 9
        text = _named(node.contributions, self.right - beside, 9.5, _NAMED)
        self._write(ax, beside, upper, text, 9.5)
        worth = f"log Bayes factor {node.log_bayes_factor:.1f}".replace("-", "−")
        worth = f"{worth}, {node.grey_share:.0%} of its rows between"
        self._write(ax, left, lower, _shortened(worth, self.right - left, 8), 8, color=_GREY)

    def _draw_leaf(self, ax: Any, node: LeafShown, y: float, scale: tuple[float, float]) -> None:
        x = self.bar_x
        self._write(ax, x - 7, y, node.name if node.name.isdigit() else "", 7.5, color=_GREY, ha="right")
        beside = x + self.bar + 9
        room = self.note - 16
        if self.is_class:
            self._draw_classes(ax, node, y)
            best = int(np.argmax(node.mean))
            probability = f"{node.mean[best]:.3f}"
            text = _shortened(self.display.targets[best], room - _text_width(probability, 9.5) - 8, 9.5)
            self._write(ax, beside + room, y, probability, 9.5, ha="right")
        else:
            self._draw_interval(ax, node, y, scale)
            text = _number(node.mean[0])
            if node.contributions:
                text = f"{text}   {_named(node.contributions, room - _text_width(f'{text}   ', 9.5), 9.5, 2, False)}"
        self._write(ax, beside, y, text, 9.5)
        rows = f"n = {node.count:.0f}" if node.count >= 9.95 else f"n = {node.count:.1f}"
        if not node.name.isdigit():
            rows = node.name
        self._write(ax, self.right, y, _shortened(rows, self.rows, 8), 8, color=_GREY, ha="right")

    def _draw_classes(self, ax: Any, node: LeafShown, y: float) -> None:
        start = self.bar_x
        for probability, colour in zip(node.mean, _class_colours(len(node.mean)), strict=True):
            self._rectangle(ax, start, y - 6, self.bar * probability, 12, colour, zorder=2)
            start += self.bar * probability
            if start < self.bar_x + self.bar - 0.5 and self.bar * probability > 1:
                # White between colours, which may be equally dark.
                ax.plot([start] * 2, [y - 6, y + 6], color="white", linewidth=0.8 * self.zoom, zorder=3)

    def _scale(self) -> tuple[float, float]:
        """Least and largest number that leaves show."""
        ends = [end for node in self.nodes if isinstance(node, LeafShown) for end in node.quantiles]
        low, high = min(ends, default=0.0), max(ends, default=1.0)
        return (low, high) if low < high else (low - 1.0, high + 1.0)

    def _along(self, value: float, scale: tuple[float, float]) -> float:
        return float(self.bar_x + self.bar * (value - scale[0]) / (scale[1] - scale[0]))

    def _draw_interval(self, ax: Any, node: LeafShown, y: float, scale: tuple[float, float]) -> None:
        far_low, low, high, far_high = (self._along(value, scale) for value in node.quantiles)
        ax.plot([self.bar_x, self.bar_x + self.bar], [y] * 2, color=_FAINT, linewidth=0.6 * self.zoom, zorder=1.5)
        ax.plot([far_low, far_high], [y] * 2, color=BLUE, linewidth=1.3 * self.zoom, zorder=2, solid_capstyle="butt")
        ax.plot([low, high], [y] * 2, color=BLUE, linewidth=5 * self.zoom, zorder=2.1, solid_capstyle="butt")
        middle = self._along(node.mean[0], scale)
        ax.plot([middle], [y], "o", color="white", mec=INK, mew=0.9 * self.zoom, ms=5 * self.zoom, zorder=3)

    def _draw_scale(self, ax: Any, scale: tuple[float, float]) -> None:
        y = self.y[-1] + self.leaf_height / 2 + 4
        ax.plot([self.bar_x, self.bar_x + self.bar], [y] * 2, color=_GREY, linewidth=0.7 * self.zoom)
        half = self.bar / 2 - 4
        for value, x, side in ((scale[0], self.bar_x, "left"), (scale[1], self.bar_x + self.bar, "right")):
            self._write(ax, x, y + 8, _shortened(_number(value), half, 8), 8, color=_GREY, ha=side)
        name = _shortened(self.display.targets[0], self.note + self.rows - 16, 8)
        self._write(ax, self.bar_x + self.bar + 9, y + 8, name, 8, color=_GREY)


def _named(
    contributions: Sequence[Contribution], width: float, size: float, most: int, with_shares: bool = True
) -> str:
    """The largest contributions by name, with an arrow to where larger values lead, in a given width."""
    # Those that would be told as 0% are left to the others.
    worth_naming = sum(own.share >= 0.005 for own in contributions)
    for n in range(min(most, worth_naming), 0, -1):
        shown, others = contributions[:n], len(contributions) - n
        shares = [f" {own.share:.0%}" if with_shares else "" for own in shown]
        rest = f"   {_counted(others, 'other')}" if others and with_shares else ""
        fixed = "   ".join(f"↑ {share}" for share in shares) + rest
        names = [printable(own.name) for own in shown]
        wanted = [_text_width(name, size) + 0.5 for name in names]
        widths = _shared_widths(wanted, max(width - _text_width(fixed, size) - 1, 0.0))
        if n == 1 or all(own >= min(want, _SHORTEST) for own, want in zip(widths, wanted, strict=True)):
            parts = [
                f"{'↑' if own.slope > 0 else '↓'} {_shortened(name, room, size)}{share}"
                for own, name, room, share in zip(shown, names, widths, shares, strict=True)
            ]
            return _shortened("   ".join(parts) + rest, width, size)
    return ""


@dataclass(eq=False, repr=False)
class SurfaceDisplay(_Display):
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
        grid_resolution: int = _GRID,
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
        return cls(**_surface(estimator, X, y, features, row, grid_resolution)).plot(ax=ax, **options)

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
        _quiet(ax)
        _name_axis(ax.xaxis, self.names[0])
        if len(self.names) == 1:
            self._draw_curve(ax, splits, rows)
        else:
            self._draw_plane(ax, surface, splits, rows, colorbar)
        if self.held:
            ax.set_title(f"other features {self.held}", loc="left", fontsize=9, color=_GREY)
        return self

    def _draw_plane(self, ax: Any, surface: bool, splits: bool, rows: bool, colorbar: bool) -> None:
        _name_axis(ax.yaxis, self.names[1])
        ax.spines[:].set_visible(False)
        x, y = self.grid
        has_rows = rows and self.rows is not None
        if surface:
            self._draw_surface(ax, colorbar, is_ground=splits or has_rows)
        if splits:
            for split, plane in enumerate(self.planes):
                _draw_soft_split(ax, self.grid, plane, self.reach[split], str(split), 0.15 if surface else 0.25)
        if has_rows:
            assert self.rows is not None
            _draw_rows(ax, self.rows, self.codes if self.has_classes else None, self.targets, surface)
        if surface and self.has_classes:
            size = 72 / ax.figure.dpi * np.array([ax.bbox.width, ax.bbox.height])
            for name, column, line in self._name_places(size):
                style = {"ha": "center", "path_effects": _halo(), "zorder": 6, "fontweight": "bold"}
                _write(ax, x[column], y[line], name, 10, **style)
        ax.set(xlim=_ends(x), ylim=_ends(y))
        ax.locator_params(nbins=5)

    def _draw_surface(self, ax: Any, colorbar: bool, is_ground: bool) -> None:
        strength = 0.6 if is_ground else 1.0
        x, y = self.grid
        shown = {"extent": (*_ends(x), *_ends(y)), "origin": "lower", "interpolation": "bilinear", "aspect": "auto"}
        k = self.values.shape[-1]
        scale = ""
        if not self.has_classes:
            self.surface_ = ax.imshow(self.values[..., 0], cmap=_scale(False, strength), **shown)
            scale = f"mean of {printable(self.targets[0])}"
        elif k == 2:
            self.surface_ = ax.imshow(self.values[..., 1], cmap=_scale(True, strength), vmin=0, vmax=1, **shown)
            scale = f"P({_class_name(self.targets[1])})"
        else:
            self.surface_ = ax.imshow(_blended(self.values, strength), **shown)
        # With splits on it, one more line would be mistaken for theirs.
        if self.has_classes and not is_ground:
            for code in range(1 if k == 2 else 0, k):
                lead = self.values[..., code] - np.delete(self.values, code, axis=-1).max(axis=-1, initial=0.0)
                if lead.min() < 0 < lead.max():
                    ax.contour(x, y, lead, levels=[0], colors=INK, linewidths=1.4)
        if scale and colorbar:
            bar = ax.figure.colorbar(self.surface_, ax=ax, fraction=0.046, pad=0.02)
            bar.outline.set_visible(False)
            bar.ax.tick_params(length=0, labelcolor=_GREY, labelsize=9)
            bar.ax.locator_params(nbins=5)
            bar.ax.yaxis.set_label_text(_shortened(scale, 200.0, 10.0), parse_math=False, color=INK)

    def _name_places(self, size: Floats) -> Iterator[tuple[str, int, int]]:
        """Names of classes and where on the grid to write them, if the plane is so many points wide and high.

        A name stands inside each part in which its class is the most probable, if it has room there.
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
                inside = np.where(parts == part, depth, 0.0)
                found.append((-float(inside.max()), code, int(inside.argmax())))
        placed: list[tuple[float, float, float]] = []
        # The most spacious ones first.
        for _, code, place in sorted(found):
            line, column = divmod(place, n_columns)
            name = _shortened(_class_name(self.targets[code]), 120.0, 10.0)
            half = _text_width(name, 10.0) * 0.55 + 3
            x = float(np.clip(column * per_cell[0], half, max(half, size[0] - half)))
            y = line * per_cell[1]
            is_free = all(abs(x - other[0]) >= half + other[2] or abs(y - other[1]) >= 15 for other in placed)
            if is_free:
                placed.append((x, y, half))
                yield name, min(int(x / per_cell[0]), n_columns - 1), line

    def _draw_curve(self, ax: Any, splits: bool, rows: bool) -> None:
        (x,) = self.grid
        k = self.values.shape[-1]
        self.surface_ = []
        if splits:
            for split, plane in enumerate(self.planes):
                _draw_soft_point(ax, x, plane, self.reach[split], str(split))
        shown = range(1, 2) if self.has_classes and k == 2 else range(k)
        colours = _class_colours(k) if self.has_classes else [BLUE]
        for code in shown:
            self.surface_ += ax.plot(x, self.values[:, code], color=colours[code], linewidth=2.2, zorder=3)
        if self.has_classes:
            ax.set_ylim(-0.04, 1.04)
            _name_axis(ax.yaxis, f"P({_class_name(self.targets[-1])})" if k <= 2 else "probability")
        else:
            _name_axis(ax.yaxis, f"mean of {self.targets[0]}")
        if self.has_classes and k > 2:
            for code in np.unique(self.values.argmax(axis=-1)):
                top = int(self.values[:, code].argmax())
                name = _shortened(_class_name(self.targets[code]), 90.0, 9.0)
                side = "left" if top < len(x) / 4 else "right" if top > 3 * len(x) / 4 else "center"
                _write(ax, x[top], self.values[top, code], name, 9, color=colours[code], ha=side, va="bottom")
        if rows and self.rows is not None and self.codes is not None:
            if not self.has_classes:
                ax.plot(self.rows[:, 0], self.codes, ".", color=INK, markersize=3, alpha=0.5, zorder=2)
            elif k <= 2:
                known = self.codes >= 0
                ax.plot(self.rows[known, 0], self.codes[known], "|", color=INK, markersize=7, alpha=0.4)
        ax.set_xlim(_ends(x))


def _ends(grid: Floats) -> tuple[float, float]:
    """Where a row of cells around these places begins and ends."""
    half = (grid[1] - grid[0]) / 2
    return float(grid[0] - half), float(grid[-1] + half)


def _blended(values: Floats, most: float = 0.9) -> Floats:
    """Colours (..., 3) of the most probable classes, paler the less probable they are."""
    from matplotlib.colors import to_rgb

    k = values.shape[-1]
    colours = np.array([to_rgb(colour) for colour in _class_colours(k)])
    best = values.argmax(axis=-1)
    strength = (values.max(axis=-1) - 1 / k) / (1 - 1 / k) if k > 1 else np.ones(best.shape)
    strength = most * (0.15 + 0.85 * strength)[..., None]
    return np.asarray(1 - strength * (1 - colours[best]))


def _surface(estimator: Any, X: Any, y: Any, features: Any, row: Any, resolution: int) -> dict[str, Any]:
    """What a surface, or a curve, is drawn from."""
    model = _model_of(estimator)
    _check_whole_number("grid_resolution", resolution, 2)
    cells, y = _checked_cells(estimator, X, y)
    chosen = _chosen_features(model, features, 2)
    base, held = _base(estimator, model, cells, row)
    limits = np.array([_limits(model, own, cells) for own in chosen])
    if len(chosen) == 1:
        resolution = max(int(resolution), _CURVE)
    middles = (np.arange(resolution) + 0.5) / resolution
    grid = tuple(low + (high - low) * middles for low, high in limits)
    points = np.stack(np.meshgrid(*grid), axis=-1).reshape(-1, len(chosen))
    values, reach = [], []
    for block in _blocks(base, chosen, points):
        values.append(model.predict_mean(block).reshape(len(block), -1))
        reach.append(_reach(model, block))
    shape = (resolution,) * len(chosen)
    return {
        "names": tuple(model.schema.names[own] for own in chosen),
        "grid": grid,
        "values": np.concatenate(values).reshape(*shape, -1),
        "planes": _planes(model, base, chosen, limits),
        "reach": np.concatenate(reach, axis=1).reshape(-1, *shape),
        "targets": model.targets,
        "has_classes": _has_classes(model),
        "held": held if len(chosen) < model.schema.n_features else "",
        "rows": None if cells is None or y is None else cells[:, list(chosen)],
        "codes": _codes(estimator, y),
    }


def _planes(model: Reticulum, base: Floats, features: Sequence[int], limits: Floats) -> Floats:
    """Offset and slopes of activations over some features, (m, 1 + features): they are straight between limits."""
    corners = np.repeat(base[None], len(features) + 1, axis=0)
    corners[:, list(features)] = limits[:, 0]
    for place, own in enumerate(features):
        corners[1 + place, own] = limits[place, 1]
    gaps, hyperplanes = model.schema.gaps(corners), model.tree.hyperplanes[None]
    design, left_open = model.schema.filled(corners, gaps)
    activation = gates(hyperplanes, model.tree.shape, design, softening(gaps, hyperplanes, left_open)).activation[0]
    slopes = (activation[:, 1:] - activation[:, :1]) / (limits[:, 1] - limits[:, 0])
    return np.column_stack([activation[:, 0] - slopes @ limits[:, 0], slopes])


def _draw_soft_split(
    ax: Any, grid: tuple[Floats, ...], plane: Floats, reach: Floats, name: str = "", opacity: float = 0.25
) -> None:
    """A line where the gate is even and a band from 0.1 to 0.9, as strong as the probability that rows get there."""
    x, y = grid
    steps = np.array([x[1] - x[0], y[1] - y[0]])
    activation = plane[0] + plane[1] * x + (plane[2] * y)[:, None]
    # The edge of the band is as smooth as a cell is wide.
    per_cell = max(float(np.linalg.norm(plane[1:] * steps)), 1e-12)
    band = np.zeros((*reach.shape, 4))
    band[..., 3] = opacity * reach * np.clip(0.5 + (TRANSITION / 2 - np.abs(activation)) / per_cell, 0, 1)
    shown = {"extent": (*_ends(x), *_ends(y)), "origin": "lower", "interpolation": "bilinear", "aspect": "auto"}
    ax.imshow(band, zorder=2, **shown)
    line = _line(plane, _ends(x), _ends(y))
    if not len(line):
        return
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
    if name and reached.max() > 0.1:
        # Off the middle, where splits like to cross.
        place = np.searchsorted(reached.cumsum(), 0.4 * reached.sum())
        style = {"boxstyle": "circle,pad=0.25", "facecolor": "white", "edgecolor": INK, "linewidth": 1.0}
        _write(ax, line[place, 0], line[place, 1], name, 8.5, ha="center", bbox=style, zorder=5, clip_on=True)


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
    ends = _ends(x)
    ax.axvspan(max(low, ends[0]), min(high, ends[1]), color="black", alpha=0.1 * strength, linewidth=0, zorder=1)
    if ends[0] < middle < ends[1] and strength > 0.1:
        ax.axvline(middle, color="black", alpha=strength, linewidth=1.2, zorder=1.5)
        style = {"boxstyle": "circle,pad=0.25", "facecolor": "white", "edgecolor": INK, "linewidth": 1.0}
        _write(ax, middle, 0.5, name, 8.5, ha="center", bbox=style, zorder=5, transform=ax.get_xaxis_transform())


def _draw_rows(ax: Any, rows: Floats, codes: Any, targets: Sequence[str], on_surface: bool, zoom: float = 1.0) -> None:
    """Rows as marks of their classes, with names for a legend; where they lie on colours, they have a dark rim."""
    size = zoom * float(np.clip(22 * (600 / max(len(rows), 1)) ** 0.5, 3, 24))
    style = {"s": size, "alpha": 0.7, "linewidths": 0.5 if on_surface else 0, "edgecolors": INK, "zorder": 1.5}
    if codes is None:
        ax.scatter(*rows.T, color=INK, rasterized=True, **style)
        return
    colours = np.array([*_class_colours(len(targets)), _GREY])
    # Of two classes drawn one after the other the second would hide the first: rows come in an order drawn by lot.
    order = np.random.default_rng(0).permutation(len(rows))
    if len(targets) > len(_MARKERS):
        ax.scatter(*rows[order].T, c=colours[codes[order]], rasterized=True, **style)
        return
    for part in np.array_split(order, min(8, max(1, len(order) // 8))):
        for code in np.unique(codes[part]):
            own = part[codes[part] == code]
            ax.scatter(*rows[own].T, color=colours[code], marker=_MARKERS[code], rasterized=True, **style)
    for code, name in enumerate(targets):
        ax.scatter([], [], color=colours[code], marker=_MARKERS[code], label=_class_name(name), **style)


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
        k = self.values.shape[-1]
        if not self.has_classes:
            height, name = self.values[..., 0], f"mean of {self.targets[0]}"
        elif k == 2:
            height, name = self.values[..., 1], f"P({_class_name(self.targets[1])})"
        else:
            height, name = self.values.max(axis=-1), "P(most probable class)"
        drawn: dict[str, Any] = {"rcount": 120, "ccount": 120, "linewidth": 0, "antialiased": False}
        if self.has_classes and k != 2:
            drawn |= {"facecolors": _blended(self.values)}
        elif self.has_classes:
            drawn |= {"cmap": _scale(True), "vmin": 0, "vmax": 1}
        else:
            drawn |= {"cmap": _scale(False)}
        self.surface_ = ax.plot_surface(x, y, height, **drawn)
        floor = 0.0 if self.has_classes else float(height.min())
        if self.has_classes:
            ax.set_zlim(0, 1)
        if rows and self.rows is not None and self.codes is not None:
            self._draw_rows_in_space(ax, floor)
        for axis, own in zip((ax.xaxis, ax.yaxis, ax.zaxis), (*self.names, name), strict=True):
            _name_axis(axis, own)
            axis.pane.set_visible(False)
            axis.line.set_color(_FAINT)
        ax.tick_params(labelcolor=_GREY, labelsize=8, color=_FAINT)
        ax.locator_params(nbins=5)
        ax.view_init(elev=elev, azim=azim)
        # Labels lie outside of the box.
        ax.set_box_aspect(None, zoom=0.88)
        if self.has_classes and k != 2:
            for own, column, line in self._name_places(np.array([300.0, 300.0])):
                at = self.grid[0][column], self.grid[1][line], height[line, column] + 0.06
                style = {"ha": "center", "fontsize": 9, "color": INK, "path_effects": _halo(), "zorder": 10}
                ax.text(*at, own, parse_math=False, **style)
        if self.held:
            ax.set_title(f"other features {self.held}", loc="left", fontsize=9, color=_GREY)
        return self

    def _draw_rows_in_space(self, ax: Any, floor: float) -> None:
        assert self.rows is not None
        low, high = (np.array([_ends(own)[side] for own in self.grid]) for side in (0, 1))
        seen = ((self.rows >= low) & (self.rows <= high)).all(axis=1)
        rows, codes = self.rows[seen], self.codes[seen]
        if self.has_classes:
            colours = np.array([*_class_colours(len(self.targets)), _GREY])[codes]
            ax.scatter(*rows.T, floor, c=colours, s=6, alpha=0.6, linewidths=0, depthshade=False)
        else:
            ax.scatter(*rows.T, codes, color=INK, s=6, alpha=0.6, linewidths=0, depthshade=False)


@dataclass(eq=False, repr=False)
class IntervalsDisplay(_Display):
    """Mean of a predicted number along one feature, with its 50% and 90% intervals.

    Parameters
    ----------
    name, target : str
        The feature, and what is predicted.
    grid : ndarray of shape (G,)
        Places along the feature; codes if it is a category.
    levels : tuple of str
        Names of the levels of a category; empty for a number.
    mean : ndarray of shape (G,)
    intervals : dict of float to (ndarray, ndarray)
        Lower and upper ends, by the probability of the interval.
    held : str
        What the other features are held at; empty if there are none.
    rows, values : ndarray of shape (n,), optional
        The feature and the target of rows that are drawn too.

    Attributes
    ----------
    ax_, figure_
        What was drawn on.

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
            median or most frequent level. Without them it is the centre of the training rows.
        y : array-like of shape (n_samples,), optional
            Their targets.
        feature : str or int, optional
            By name or place; by default the one that matters most.
        row : array-like of shape (n_features,) or a table of one row, optional
            What the other features are held at.
        ax : matplotlib Axes, optional
        """
        model = _model_of(estimator)
        if _has_classes(model):
            raise ValueError(
                f"{type(estimator).__name__} predicts classes, which have no intervals. SurfaceDisplay draws their "
                "probabilities, with features=[name] along one feature."
            )
        cells, y = _checked_cells(estimator, X, y)
        place = int(np.argmax(model.feature_importances)) if feature is None else _feature(model, feature)
        category = model.schema.categories[place]
        base, held = _base(estimator, model, cells, row)
        if category is None:
            grid = np.linspace(*_limits(model, place, cells), _CURVE)
        else:
            grid = np.arange(max(category.n_codes, 1), dtype=np.float64)
        table = np.concatenate(list(_blocks(base, (place,), grid[:, None])))
        distribution = model.predict_distribution(table)
        return cls(
            model.schema.names[place],
            model.targets[0],
            grid,
            () if category is None else tuple(category.labels) or ("",),
            np.asarray(distribution.mean),
            {level: distribution.interval(level) for level in (0.9, 0.5)},
            held if model.schema.n_features > 1 else "",
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
        _quiet(ax)
        if self.rows is not None and self.values is not None:
            places = self.rows
            if self.levels:
                # Side by side, evenly: multiples of the golden ratio fill an interval without a pattern.
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
        _name_axis(ax.xaxis, self.name)
        _name_axis(ax.yaxis, self.target)
        if self.held:
            ax.set_title(f"other features {self.held}", loc="left", fontsize=9, color=_GREY)
        return self

    def _draw_names(self, ax: Any) -> None:
        """What the bands are, beside their right ends, where they are far enough apart to be told."""
        ends = [(self.mean[-1], "mean")] + [(high[-1], f"{level:.0%}") for level, (_, high) in self.intervals.items()]
        low, high = ax.get_ylim()
        height = ax.bbox.height * 72 / ax.figure.dpi
        at = -np.inf
        for value, name in sorted(ends):
            at = max((value - low) / (high - low) * height, at + 11)
            where = ax.get_yaxis_transform()
            _write(ax, 1.012, low + at / height * (high - low), name, 8.5, color=BLUE, transform=where)
        ax.set_ylim(low, high)

    def _draw_levels(self, ax: Any) -> None:
        for level, (low, high) in sorted(self.intervals.items(), reverse=True):
            ax.vlines(self.grid, low, high, color=BLUE, linewidth=1.6 if level > 0.5 else 6, zorder=2)
        ax.plot(self.grid, self.mean, "o", color="white", markeredgecolor=INK, markersize=6, zorder=3)
        room = 400.0 / len(self.levels)
        ax.set_xticks(self.grid, [_shortened(printable(name), room, 9.0) for name in self.levels], parse_math=False)
        ax.set_xlim(-0.6, len(self.levels) - 0.4)


@dataclass(eq=False, repr=False)
class ImportancesDisplay(_Display):
    """Features by their share in the evidence that the tree gains.

    Parameters
    ----------
    names : tuple of str
        Features, those that matter most first.
    shares : ndarray of shape (len(names),)
    n_others : int
        How many features are not shown.
    others : float
        Their share.

    Attributes
    ----------
    ax_, figure_
        What was drawn on.
    bars_ : matplotlib BarContainer

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from bayesian_reticulum import ReticulumClassifier
    >>> from bayesian_reticulum.plots import ImportancesDisplay
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> display = ImportancesDisplay.from_estimator(ReticulumClassifier(random_state=0).fit(X, y), max_features=2)
    >>> display.names, display.n_others
    (('petal length (cm)', 'petal width (cm)'), 2)
    """

    names: tuple[str, ...]
    shares: Floats
    n_others: int = 0
    others: float = 0.0
    bars_: Any = field(default=None, init=False, repr=False)

    @classmethod
    def from_estimator(cls, estimator: Any, *, max_features: int = 12, ax: Any = None) -> Self:
        """Draw the importances of a fitted estimator.

        Parameters
        ----------
        estimator : fitted estimator
        max_features : int, default=12
            How many features to show; the others are added up.
        ax : matplotlib Axes, optional
        """
        model = _model_of(estimator)
        _check_whole_number("max_features", max_features, 1)
        shares = model.feature_importances
        ranked = np.argsort(-shares, kind="stable")
        shown, rest = ranked[:max_features], ranked[max_features:]
        names = tuple(model.schema.names[own] for own in shown)
        return cls(names, shares[shown], len(rest), float(shares[rest].sum())).plot(ax=ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw the bars.

        Parameters
        ----------
        ax : matplotlib Axes, optional

        Returns
        -------
        self
        """
        names = [_shortened(printable(name), 190.0, 10.0) for name in self.names]
        shares = [*self.shares]
        if self.n_others:
            names.append(_counted(self.n_others, "other feature"))
            shares.append(self.others)
        ax = self._open(ax, (6.4, 0.9 + 0.3 * len(names)))
        places = np.arange(len(names))
        colours = [BLUE] * len(self.names) + [_FAINT] * bool(self.n_others)
        self.bars_ = ax.barh(places, shares, height=0.66, color=colours)
        for place, share in zip(places.tolist(), shares, strict=True):
            _write(ax, share, place, f" {share:.1%}", 9, color=_GREY)
        ax.set_yticks(places, names, parse_math=False)
        ax.set(ylim=(len(names) - 0.4, -0.6), xlim=(0, 1.14 * max(*shares, 1e-9, 0.0)), xticks=[])
        ax.spines[:].set_visible(False)
        ax.tick_params(length=0, labelcolor=INK, labelsize=10)
        title = "share in the evidence gained" if any(shares) else "nothing was gained: the tree is one leaf"
        ax.set_title(title, loc="left", fontsize=10, color=_GREY)
        return self


@dataclass(eq=False, repr=False)
class GrowthDisplay(_Display):
    """Log evidence, attempt by attempt, and why growth stopped.

    Of many rows the tree is grown on samples first. Log evidence of different rows cannot be compared, so that each
    part is then drawn as what it gained since its start.

    Parameters
    ----------
    attempts : ndarray of shape (n,)
        Number of the attempt of each step.
    phases : tuple of str
        "start", "kept", "rejected", "polished" or "simplified" for each.
    log_evidence : ndarray of shape (n,)
        Of the tree that growth went on with.
    n_splits : ndarray of shape (n,)
    stopping_reason : str

    Attributes
    ----------
    ax_, figure_
        What was drawn on.
    lines_ : list of matplotlib Line2D
        One for each part.

    Examples
    --------
    >>> from bayesian_reticulum import ReticulumClassifier
    >>> from bayesian_reticulum.datasets import make_cross
    >>> from bayesian_reticulum.plots import GrowthDisplay
    >>> X, y, _ = make_cross(400, random_state=0)
    >>> display = GrowthDisplay.from_estimator(ReticulumClassifier(random_state=0).fit(X, y))
    >>> display.stopping_reason, display.phases[0]
    ('no_gain', 'start')
    """

    attempts: Integers
    phases: tuple[str, ...]
    log_evidence: Floats
    n_splits: Integers
    stopping_reason: str
    lines_: list[Any] = field(default_factory=list, init=False, repr=False)

    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: Any = None) -> Self:
        """Draw the growth of a fitted estimator.

        Parameters
        ----------
        estimator : fitted estimator
        ax : matplotlib Axes, optional
        """
        ledger = evidence_ledger(estimator)
        return cls(
            np.array([entry.attempt for entry in ledger.entries]),
            tuple(entry.what for entry in ledger.entries),
            np.array([entry.log_evidence for entry in ledger.entries]),
            np.array([entry.n_splits for entry in ledger.entries]),
            ledger.stopping_reason,
        ).plot(ax=ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw the steps.

        Parameters
        ----------
        ax : matplotlib Axes, optional

        Returns
        -------
        self
        """
        ax = self._open(ax, (6.4, 4.4))
        _quiet(ax)
        phases = np.array(self.phases)
        starts = np.flatnonzero(phases == "start")
        parts = np.split(np.arange(len(phases)), starts[1:])
        # On all rows a growth by samples begins and goes on with the first sample: nothing to show.
        parts = [part for place, part in enumerate(parts) if len(part) > 1 or place == len(parts) - 1]
        heights = self.log_evidence.copy()
        if len(parts) > 1:
            for part in parts:
                heights[part] -= self.log_evidence[part[0]]
        # A larger sample begins with the number of the attempt before it.
        places = self.attempts.copy()
        for place, part in enumerate(parts):
            places[part] += place
        shown = np.concatenate(parts)
        self.lines_ = []
        for number, part in enumerate(parts):
            line = ax.plot(places[part], heights[part], color=BLUE, drawstyle="steps-post", linewidth=1.2, alpha=0.6)
            self.lines_ += line
            if number:
                ax.axvline(places[part[0]] - 0.5, color=_FAINT, linewidth=0.8)
                where = ax.get_xaxis_transform()
                _write(ax, places[part[0]] - 0.2, 0.02, "more rows", 8, color=_GREY, va="bottom", transform=where)
        marks = {
            "kept": ("o", BLUE, BLUE, 6.5),
            "rejected": ("o", "white", _GREY, 4.5),
            "simplified": ("D", ORANGE, INK, 5.5),
            "start": ("s", INK, INK, 4.5),
        }
        for phase, (marker, face, edge, size) in marks.items():
            own = shown[phases[shown] == phase]
            if len(own):
                style = {"markerfacecolor": face, "markeredgecolor": edge, "markersize": size, "zorder": 3}
                ax.plot(places[own], heights[own], marker, label=phase, clip_on=False, **style)
        ax.margins(x=0.03, y=0.12)
        if len(shown) < 3:
            ax.set_xlim(places[-1] - 1, places[-1] + 1)
        self._draw_sizes(ax, places, heights)
        ax.xaxis.get_major_locator().set_params(integer=True)
        _name_axis(ax.xaxis, "attempt" if len(parts) == 1 else "attempt, in order")
        _name_axis(ax.yaxis, "log evidence" if len(parts) == 1 else "gain in log evidence, on these rows")
        ax.legend(loc="best", frameon=False, fontsize=9, labelcolor=_GREY, handletextpad=0.2)
        splits = _counted(int(self.n_splits[-1]), "split")
        reached = f"{splits}, log evidence {self.log_evidence[-1]:.1f}".replace("-", "−")
        ax.set_title(f"{reached}\nstopped: {self._why()}", loc="left", fontsize=10, color=INK)
        return self

    def _why(self) -> str:
        if self.stopping_reason in _STOPPED:
            return _STOPPED[self.stopping_reason]
        idle = 0
        for phase in reversed(self.phases):
            if phase in ("kept", "start"):
                break
            idle += phase == "rejected"
        return f"the last {_counted(idle, 'attempt')} gained nothing" if idle else "nothing was left to gain"

    def _draw_sizes(self, ax: Any, places: Integers, heights: Floats) -> None:
        """The number of splits above each tree that is another than before, where there is room."""
        low, high = ax.get_xlim()
        per_unit = ax.bbox.width * 72 / ax.figure.dpi / (high - low)
        last = -np.inf
        for place, (phase, x, y, n) in enumerate(zip(self.phases, places, heights, self.n_splits, strict=True)):
            if phase in ("kept", "simplified") and n != self.n_splits[place - 1] and (x - last) * per_unit > 14:
                last = x
                style = {"textcoords": "offset points", "ha": "center", "fontsize": 8, "color": _GREY}
                ax.annotate(str(n), (x, y), xytext=(0, 6), annotation_clip=False, **style)


class Frame(NamedTuple):
    """A tree on its way, in the units of the schema, and when it was that."""

    attempt: int
    phase: str
    log_evidence: float
    tree: Tree


@dataclass(eq=False, repr=False)
class GrowthStripDisplay(_Display):
    """How the tree grew, as a strip of pictures.

    Of two features that are numbers each picture shows the soft splits in their plane, otherwise the shape of the tree;
    splits that are new since the picture before are blue.

    Parameters
    ----------
    frames : tuple of Frame
    names : tuple of str
        The two features of a plane; empty if shapes are drawn.
    grid : tuple of ndarray of shape (G,)
        Places along each.
    planes, reach : tuple of ndarray
        For each frame as in `SurfaceDisplay`; empty if shapes are drawn.
    classes : tuple of str
        Their names; empty if the target is a number.
    rows, codes : ndarray, optional
        As in `SurfaceDisplay`.

    Attributes
    ----------
    ax_, figure_
        What was drawn on.
    axes_ : list of matplotlib Axes
        One for each frame.

    Examples
    --------
    >>> from bayesian_reticulum import ReticulumClassifier
    >>> from bayesian_reticulum.datasets import make_cross
    >>> from bayesian_reticulum.plots import GrowthStripDisplay
    >>> X, y, _ = make_cross(400, random_state=0)
    >>> display = GrowthStripDisplay.from_estimator(ReticulumClassifier(random_state=0).fit(X, y), X, y)
    >>> display.frames[-1].tree.n_splits
    3
    """

    frames: tuple[Frame, ...]
    names: tuple[str, ...] = ()
    grid: tuple[Floats, ...] = ()
    planes: tuple[Floats, ...] = ()
    reach: tuple[Floats, ...] = ()
    classes: tuple[str, ...] = ()
    rows: Floats | None = None
    codes: Any = None
    axes_: list[Any] = field(default_factory=list, init=False, repr=False)

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any = None, y: Any = None, *, n_frames: int = 5, ax: Any = None) -> Self:
        """Draw the growth of a fitted estimator.

        Parameters
        ----------
        estimator : fitted estimator
        X, y : optional
            Rows and their targets, which are drawn where there are two features.
        n_frames : int, default=5
            Most frames to show: trees that were kept, from the first to the last.
        ax : matplotlib Axes, optional
        """
        model = _model_of(estimator)
        _check_whole_number("n_frames", n_frames, 1)
        cells, y = _checked_cells(estimator, X, y)
        events = [event for event in estimator.history_ if event.phase in ("kept", "simplified")]
        # The end is shown as it was polished, not as it was before.
        final = estimator.history_[-1]
        events = [event for event in events if event.attempt != events[-1].attempt] + [final]
        chosen = np.unique(np.linspace(len(events) - 1, 0, int(n_frames)).round().astype(int))
        frames = tuple(
            Frame(event.attempt, event.phase, float(event.log_evidence), event.tree)
            for event in (events[place] for place in chosen)
        )
        if len(_numbers(model)) != 2 or model.schema.n_features != 2:
            return cls(frames).plot(ax=ax)
        limits = np.array([_limits(model, own, cells) for own in (0, 1)])
        middles = (np.arange(_GRID // 2) + 0.5) / (_GRID // 2)
        grid = tuple(low + (high - low) * middles for low, high in limits)
        points = np.stack(np.meshgrid(*grid), axis=-1).reshape(-1, 2)
        # For where rows go, a tree on its way needs no leaves.
        models = [replace(model, tree=frame.tree) for frame in frames]
        return cls(
            frames,
            model.schema.names,
            grid,
            tuple(_planes(own, points[0], (0, 1), limits) for own in models),
            tuple(_reach(own, points).reshape(-1, len(middles), len(middles)) for own in models),
            model.targets if _has_classes(model) else (),
            None if y is None else cells,
            _codes(estimator, y),
        ).plot(ax=ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw the strip.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            It is taken apart into one for each frame.

        Returns
        -------
        self
        """
        n = len(self.frames)
        ax = self._open(ax, (max(2.3 * n, 3.2), 2.9 if self.names else 2.4))
        ax.set_axis_off()
        gap = 0.06
        width = (1 - gap * (n - 1) / n) / n if n > 1 else 1.0
        step = (1 - width) / max(n - 1, 1)
        self.axes_ = []
        before: set[int] = set()
        for place, frame in enumerate(self.frames):
            own = ax.inset_axes((place * step, 0, width, 0.84))
            ids = frame.tree.ids.tolist()
            if self.names:
                self._draw_plane(own, place)
            else:
                _draw_shape(own, frame.tree, [id_ not in before for id_ in ids])
            before = set(ids)
            told = f"attempt {frame.attempt}, {frame.log_evidence:.1f}".replace("-", "−")
            points = width * ax.bbox.width * 72 / ax.figure.dpi
            own.set_title(
                f"{_counted(frame.tree.n_splits, 'split')}\n{_shortened(told, points, 8.5)}",
                loc="left",
                fontsize=8.5,
                color=INK,
            )
            self.axes_.append(own)
        return self

    def _draw_plane(self, ax: Any, place: int) -> None:
        _quiet(ax)
        ax.spines[:].set_visible(True)
        ax.spines[:].set_color(_FAINT)
        if self.rows is not None:
            _draw_rows(ax, self.rows, self.codes if self.classes else None, self.classes, False, 0.4)
        for plane, reach in zip(self.planes[place], self.reach[place], strict=True):
            _draw_soft_split(ax, self.grid, plane, reach)
        x, y = self.grid
        ax.set(xlim=_ends(x), ylim=_ends(y), xticks=[], yticks=[], box_aspect=1, anchor="NW")
        for axis, name in zip((ax.xaxis, ax.yaxis), self.names, strict=True):
            if axis is ax.xaxis or place == 0:
                axis.set_label_text(
                    _shortened(printable(name), 100.0, 8.5), fontsize=8.5, parse_math=False, color=_GREY
                )


def _draw_shape(ax: Any, tree: Tree, is_new: Sequence[bool]) -> None:
    """The shape of a tree from top to bottom, leaves side by side."""
    ax.set_axis_off()
    sides, levels, leaf_levels = tree.shape.sides, tree.shape.levels, tree.shape.leaf_levels
    # A split stands over the border between what is left and right below it.
    x = [float(np.flatnonzero(own == 1).max()) + 0.5 for own in sides]
    for split, pair in enumerate(tree.children.tolist()):
        for child in pair:
            end = (x[child], levels[child]) if child >= 0 else (float(~child), leaf_levels[~child])
            middle = (x[split], end[0], end[0]), (levels[split], levels[split] + 0.5, end[1])
            ax.plot(*middle, color=_EDGE, linewidth=1.4, zorder=1)
    size = float(np.clip(120 / (tree.n_leaves + 2), 3, 9))
    ax.plot(range(tree.n_leaves), leaf_levels, "s", color="white", mec=_GREY, ms=0.8 * size, mew=0.8, zorder=2)
    for split, new in enumerate(is_new):
        ax.plot(x[split], levels[split], "o", color=BLUE if new else _GREY, ms=size, mew=0, zorder=3)
    ax.set(xlim=(-0.7, tree.n_leaves - 0.3), ylim=(tree.depth + 0.5, -0.5))


__all__ = [
    "Frame",
    "GrowthDisplay",
    "GrowthStripDisplay",
    "ImportancesDisplay",
    "IntervalsDisplay",
    "LeafShown",
    "SplitShown",
    "Surface3DDisplay",
    "SurfaceDisplay",
    "TreeDisplay",
]
