"""How the tree grew."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Self

import numpy as np

from ..arrays import Floats, Integers
from ..explain import evidence_ledger
from ..model import check_whole_number, fitted_model, printable
from ..tree import Tree
from .plane import axis_ends, draw_rows, draw_soft_split
from .section import GRID, Section, checked_cells, class_codes
from .style import BLUE, EDGE, FAINT, GREY, INK, ORANGE, Display, counted, name_axis, quiet, shortened, write

_STOPPED = {
    "max_attempts": "all attempts were made",
    "max_splits": "all splits were used",
    "max_depth": "the tree is as deep as it may be",
}
# Marker, face, edge and size of the mark of each phase.
_MARKS: dict[str, tuple[str, str, str, float]] = {
    "kept": ("o", BLUE, BLUE, 6.5),
    "rejected": ("o", "white", GREY, 4.5),
    "simplified": ("D", ORANGE, INK, 5.5),
    "start": ("s", INK, INK, 4.5),
}


@dataclass(eq=False, repr=False)
class GrowthDisplay(Display):
    """Log evidence, attempt by attempt, and why growth stopped.

    On many rows the tree grows on samples first. Log evidence of different rows cannot be compared, so that each part
    then shows its gain since its start.

    Parameters
    ----------
    attempts : ndarray of shape (n,)
        Number of the attempt of each step.
    phases : tuple of str
        "start", "kept", "rejected", "polished" or "simplified" for each.
    log_evidence : ndarray of shape (n,)
        Log evidence of the tree that growth continued with.
    n_splits : ndarray of shape (n,)
    stopping_reason : str

    Attributes
    ----------
    ax_, figure_
        Axes and figure of the drawing.
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

        Returns
        -------
        GrowthDisplay
        """
        ledger = evidence_ledger(estimator)
        # A tree that is kept and then tuned is one step.
        is_tuned = [entry.what == "tuned" for entry in (*ledger.entries[1:], ledger.entries[-1])]
        entries = [entry for entry, tuned in zip(ledger.entries, is_tuned, strict=True) if not tuned]
        return cls(
            np.array([entry.attempt for entry in entries]),
            tuple("kept" if entry.what == "tuned" else entry.what for entry in entries),
            np.array([entry.log_evidence for entry in entries]),
            np.array([entry.n_splits for entry in entries]),
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
        quiet(ax)
        parts = self._parts()
        heights = self.log_evidence.copy()
        if len(parts) > 1:
            for part in parts:
                heights[part] -= self.log_evidence[part[0]]
        # The start on a larger sample has the number of the attempt before it, and would be drawn on top of it.
        places = self.attempts.copy()
        for number, part in enumerate(parts):
            places[part] += number
        self._draw_parts(ax, parts, places, heights)
        self._draw_marks(ax, np.concatenate(parts), places, heights)
        self._draw_sizes(ax, places, heights)
        ax.xaxis.get_major_locator().set_params(integer=True)
        name_axis(ax.xaxis, "attempt" if len(parts) == 1 else "attempt, in order")
        name_axis(ax.yaxis, "log evidence" if len(parts) == 1 else "gain in log evidence, on these rows")
        ax.legend(loc="best", frameon=False, fontsize=9, labelcolor=GREY, handletextpad=0.2)
        splits = counted(int(self.n_splits[-1]), "split")
        reached = f"{splits}, log evidence {self.log_evidence[-1]:.1f}".replace("-", "−")
        ax.set_title(f"{reached}\nstopped: {self._why()}", loc="left", fontsize=10, color=INK)
        return self

    def _parts(self) -> list[Integers]:
        """Places of the steps on each sample of the rows."""
        starts = np.flatnonzero(np.array(self.phases) == "start")
        parts = np.split(np.arange(len(self.phases)), starts[1:])
        # Growth by samples starts on all rows and turns to the first sample at once: a part of one step.
        return [part for number, part in enumerate(parts) if len(part) > 1 or number == len(parts) - 1]

    def _draw_parts(self, ax: Any, parts: Sequence[Integers], places: Integers, heights: Floats) -> None:
        self.lines_ = []
        for number, part in enumerate(parts):
            line = ax.plot(places[part], heights[part], color=BLUE, drawstyle="steps-post", linewidth=1.2, alpha=0.6)
            self.lines_ += line
            if number:
                ax.axvline(places[part[0]] - 0.5, color=FAINT, linewidth=0.8)
                where = ax.get_xaxis_transform()
                write(ax, places[part[0]] - 0.2, 0.02, "more rows", 8, color=GREY, va="bottom", transform=where)

    def _draw_marks(self, ax: Any, shown: Integers, places: Integers, heights: Floats) -> None:
        phases = np.array(self.phases)
        for phase, (marker, face, edge, size) in _MARKS.items():
            steps = shown[phases[shown] == phase]
            if len(steps):
                style = {"markerfacecolor": face, "markeredgecolor": edge, "markersize": size, "zorder": 3}
                ax.plot(places[steps], heights[steps], marker, label=phase, clip_on=False, **style)
        ax.margins(x=0.03, y=0.12)
        if len(shown) < 3:
            ax.set_xlim(places[-1] - 1, places[-1] + 1)

    def _why(self) -> str:
        """Say why growth stopped."""
        if self.stopping_reason in _STOPPED:
            return _STOPPED[self.stopping_reason]
        idle = 0
        for phase in reversed(self.phases):
            if phase in ("kept", "start"):
                break
            idle += phase == "rejected"
        return f"the last {counted(idle, 'attempt')} gained nothing" if idle else "nothing was left to gain"

    def _draw_sizes(self, ax: Any, places: Integers, heights: Floats) -> None:
        """Write the number of splits above each tree with more or fewer than the one before, where there is room."""
        low, high = ax.get_xlim()
        per_unit = ax.bbox.width * 72 / ax.figure.dpi / (high - low)
        last = -np.inf
        for place, (phase, x, y, n) in enumerate(zip(self.phases, places, heights, self.n_splits, strict=True)):
            if phase in ("kept", "simplified") and n != self.n_splits[place - 1] and (x - last) * per_unit > 14:
                last = x
                style = {"textcoords": "offset points", "ha": "center", "fontsize": 8, "color": GREY}
                ax.annotate(str(n), (x, y), xytext=(0, 6), annotation_clip=False, **style)


class Frame(NamedTuple):
    """A tree that is still growing, in the units of the schema, after an attempt."""

    attempt: int
    phase: str
    log_evidence: float
    tree: Tree


@dataclass(eq=False, repr=False)
class GrowthStripDisplay(Display):
    """How the tree grew, as a strip of pictures.

    With two features that are numbers each picture shows the soft splits in their plane, otherwise the shape of the
    tree; splits that are new since the picture before are blue.

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
        Axes and figure of the drawing.
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

        Returns
        -------
        GrowthStripDisplay
        """
        model = fitted_model(estimator)
        check_whole_number("n_frames", n_frames, 1)
        cells, y = checked_cells(estimator, X, y)
        events = [event for event in estimator.history_ if event.phase in ("kept", "simplified")]
        # The last attempt is shown as it was polished, or simplified.
        final = estimator.history_[-1]
        events = [event for event in events if event.attempt != events[-1].attempt] + [final]
        chosen = np.unique(np.linspace(len(events) - 1, 0, int(n_frames)).round().astype(int))
        frames = tuple(
            Frame(event.attempt, event.phase, float(event.log_evidence), event.tree)
            for event in (events[place] for place in chosen)
        )
        if model.schema.numbers != (0, 1) or model.schema.n_features != 2:
            return cls(frames).plot(ax=ax)
        section = Section.of_numbers(estimator, (0, 1), cells, None, GRID // 2)
        return cls(
            frames,
            model.schema.names,
            section.grid,
            tuple(section.planes(model.schema, frame.tree) for frame in frames),
            tuple(section.reach(model.schema, frame.tree) for frame in frames),
            model.targets if model.has_classes else (),
            None if y is None else cells,
            class_codes(estimator, y),
        ).plot(ax=ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw the strip.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Each frame has a part of them.

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
            part = ax.inset_axes((place * step, 0, width, 0.84))
            ids = frame.tree.ids.tolist()
            if self.names:
                self._draw_plane(part, place)
            else:
                _draw_shape(part, frame.tree, [split_id not in before for split_id in ids])
            before = set(ids)
            points = width * ax.bbox.width * 72 / ax.figure.dpi
            attempt = shortened(f"attempt {frame.attempt}, {frame.log_evidence:.1f}".replace("-", "−"), points, 8.5)
            title = f"{counted(frame.tree.n_splits, 'split')}\n{attempt}"
            part.set_title(title, loc="left", fontsize=8.5, color=INK)
            self.axes_.append(part)
        return self

    def _draw_plane(self, ax: Any, place: int) -> None:
        quiet(ax)
        ax.spines[:].set_visible(True)
        ax.spines[:].set_color(FAINT)
        if self.rows is not None:
            draw_rows(ax, self.rows, self.codes if self.classes else None, self.classes, False, 0.4)
        for plane, reach in zip(self.planes[place], self.reach[place], strict=True):
            draw_soft_split(ax, self.grid, plane, reach)
        x, y = self.grid
        ax.set(xlim=axis_ends(x), ylim=axis_ends(y), xticks=[], yticks=[], box_aspect=1, anchor="NW")
        for axis, name in zip((ax.xaxis, ax.yaxis), self.names, strict=True):
            if axis is ax.xaxis or place == 0:
                axis.set_label_text(shortened(printable(name), 100.0, 8.5), fontsize=8.5, parse_math=False, color=GREY)


def _draw_shape(ax: Any, tree: Tree, is_new: Sequence[bool]) -> None:
    """Draw the shape of a tree from top to bottom, leaves side by side."""
    ax.set_axis_off()
    sides, levels, leaf_levels = tree.shape.sides, tree.shape.levels, tree.shape.leaf_levels
    # A split stands over the border between the leaves left and right below it.
    x = [float(np.flatnonzero(leaf_sides == 1).max()) + 0.5 for leaf_sides in sides]
    for split, pair in enumerate(tree.children.tolist()):
        for child in pair:
            end = (x[child], levels[child]) if child >= 0 else (float(~child), leaf_levels[~child])
            path = (x[split], end[0], end[0]), (levels[split], levels[split] + 0.5, end[1])
            ax.plot(*path, color=EDGE, linewidth=1.4, zorder=1)
    size = float(np.clip(120 / (tree.n_leaves + 2), 3, 9))
    ax.plot(range(tree.n_leaves), leaf_levels, "s", color="white", mec=GREY, ms=0.8 * size, mew=0.8, zorder=2)
    for split, new in enumerate(is_new):
        ax.plot(x[split], levels[split], "o", color=BLUE if new else GREY, ms=size, mew=0, zorder=3)
    ax.set(xlim=(-0.7, tree.n_leaves - 0.3), ylim=(tree.depth + 0.5, -0.5))
