"""Colours, text and axes that all pictures have in common."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..model import printable

# In the manner of Okabe and Ito. The first two are the ends of the scale for two classes; neighbours are dark and light
# in turn, and the first five all differ in lightness.
FEW = ("#10427f", "#f2a63b", "#008f68", "#a9dcf2", "#c46fa6", "#c84f00", "#f0e442", "#5a5a5a")
BLUE, ORANGE, GREEN = FEW[:3]
INK, GREY, FAINT, EDGE = "#222222", "#6b6b6b", "#d9d9d9", "#c8ced6"
MARKERS = "o^sDvPX*"
# Text on a coarse screen is up to this much wider than its outline, because letters are moved to whole pixels.
_COARSEST = 1.1


def pyplot() -> Any:
    """Import pyplot, which is an optional dependency, when something is drawn."""
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError(
            "pictures need Matplotlib, which is not installed. "
            "Install the extra 'plots': pip install 'bayesian-reticulum[plots]'"
        ) from error
    return plt


@dataclass(eq=False, repr=False)
class Display:
    """Base of all displays: the axes and the figure of their drawing."""

    ax_: Any = field(default=None, init=False, repr=False)
    figure_: Any = field(default=None, init=False, repr=False)

    def _open(self, ax: Any, size: tuple[float, float], **options: Any) -> Any:
        """Return the given axes, or those of a new figure of a size in inches, and keep them."""
        plt = pyplot()
        if ax is None:
            # White under dark styles, too: the colours are made for it.
            with plt.rc_context({"grid.color": "#ebebeb", "grid.linewidth": 0.6}):
                figure = plt.figure(figsize=size, layout="constrained", facecolor="white")
                figure.get_layout_engine().set(w_pad=0.1, h_pad=0.1)
                ax = figure.add_subplot(facecolor="white", **options)
        self.ax_, self.figure_ = ax, ax.figure
        return ax


def text_width(text: str, size: float) -> float:
    """Width of a line of text in points that it does not exceed at any resolution."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import text_to_path

    width = text_to_path.get_text_width_height_descent(text, FontProperties(size=size), False)[0]
    return _COARSEST * float(width)


def shortened(text: str, width: float, size: float) -> str:
    """Shorten a text to a width in points by leaving out its middle."""
    if not text or text_width(text, size) <= width:
        return text
    shortest, longest = 1, len(text) - 1
    while shortest < longest:
        kept = (shortest + longest + 1) // 2
        if text_width(_with_ellipsis(text, kept), size) <= width:
            shortest = kept
        else:
            longest = kept - 1
    return _with_ellipsis(text, shortest)


def _with_ellipsis(text: str, kept: int) -> str:
    head = (kept + 1) // 2
    return f"{text[:head].rstrip()}…{text[len(text) - (kept - head) :].lstrip()}"


def shared_widths(wanted: Sequence[float], width: float) -> list[float]:
    """Share out a width: who wants less than an equal share leaves the rest to the others."""
    out = [0.0] * len(wanted)
    order = sorted(range(len(wanted)), key=lambda place: wanted[place])
    for done, place in enumerate(order):
        out[place] = min(wanted[place], width / (len(order) - done))
        width -= out[place]
    return out


def write(ax: Any, x: float, y: float, text: str, size: float, **style: Any) -> Any:
    """Write a text as it is: a dollar sign in a name begins no formula."""
    return ax.text(x, y, text, fontsize=size, parse_math=False, **({"color": INK, "va": "center"} | style))


def number_box(zoom: float = 1.0) -> dict[str, Any]:
    """A circle around the number of a split."""
    return {"boxstyle": "circle,pad=0.3", "facecolor": "white", "edgecolor": INK, "linewidth": 1.0 * zoom}


def halo() -> list[Any]:
    """White around letters, so that they can be read on any colour."""
    from matplotlib.patheffects import withStroke

    return [withStroke(linewidth=3, foreground="white", alpha=0.85)]


def counted(n: int, noun: str) -> str:
    """Write a number of things."""
    return f"{n} {noun}{'s' * (n != 1)}"


def short_number(value: float) -> str:
    """Write a number with three significant digits, or all before the point; powers of ten for extreme ones."""
    size = abs(value)
    text = f"{value:.{max(0, 2 - int(np.floor(np.log10(size))))}f}" if 1e-4 <= size < 1e7 else f"{value:.3g}"
    return text.replace("-", "−")


def class_colours(n: int) -> list[str]:
    """Colours of n classes: up to eight are easy to tell apart, more run from dark to light."""
    if n <= len(FEW):
        return list(FEW[:n])
    from matplotlib import colormaps
    from matplotlib.colors import to_hex

    return [to_hex(colour) for colour in colormaps["viridis"](np.linspace(0, 0.95, n))]


def colour_scale(has_classes: bool, strength: float = 1.0) -> Any:
    """Make a scale of colours for a probability or a number; less strength makes marks on it easier to see."""
    from matplotlib import colormaps
    from matplotlib.colors import LinearSegmentedColormap, ListedColormap

    colours = LinearSegmentedColormap.from_list("", [BLUE, "#f7f7f7", ORANGE]) if has_classes else colormaps["YlGnBu"]
    return ListedColormap(1 - strength * (1 - colours(np.linspace(0, 1, 256))[:, :3]))


def write_held(ax: Any, held: str) -> None:
    """Write where the features that are not on the axes are held, if there are any."""
    if held:
        ax.set_title(f"other features {held}", loc="left", fontsize=9, color=GREY)


def quiet(ax: Any) -> None:
    """Style axes so that they do not draw attention to themselves."""
    ax.spines[["top", "right"]].set_visible(False)
    ax.spines[["left", "bottom"]].set_color(FAINT)
    ax.tick_params(length=0, labelcolor=GREY, labelsize=9)
    for axis in (ax.xaxis, ax.yaxis):
        axis.label.set_color(INK)


def name_axis(axis: Any, name: str, size: float = 10.0, width: float = 250.0) -> None:
    """Label an axis, no longer than a picture of usual size has room for."""
    axis.set_label_text(shortened(printable(name), width, size), fontsize=size, parse_math=False, color=INK)
