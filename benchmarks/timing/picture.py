"""The pictures of docs/speed.md: growth of fit time with ratios to all peers, and growth of a pass."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from .pass_growth import PassGrowth
from .peers import OURS, PEERS
from .results import Comparison, Scaling, number_text, size_text
from .turns import ratios


def draw(comparisons: Sequence[Comparison], grown: Sequence[Scaling], path: Path) -> None:
    """Write the picture of fits as a PNG."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    by_name = {scaling.what: scaling for scaling in grown}
    figure, (left, middle, right) = plt.subplots(
        1, 3, figsize=(12, 4.4), width_ratios=(1, 1, 1.5), layout="constrained"
    )
    for axes, what in ((left, "rows"), (middle, "splits")):
        draw_growth(axes, by_name[what])
    draw_ratios(right, comparisons)
    figure.savefig(path, dpi=150)
    plt.close(figure)


def draw_growth(axes: Any, scaling: Scaling) -> None:
    """Fit time over size, with the line of its exponent."""
    medians = np.array([np.median(values) for values in scaling.seconds])
    sizes = np.array(scaling.sizes, dtype=np.float64)
    spread = np.array([[values.min(), values.max()] for values in scaling.seconds]).T
    errors = np.abs(spread - medians)
    axes.errorbar(sizes, medians, errors, color="#0072B2", marker="o", capsize=3, label="median, least to most")
    exponent = float(np.median(scaling.exponents))
    level = np.exp(np.mean(np.log(medians)) - exponent * np.mean(np.log(sizes)))
    axes.plot(sizes, level * sizes**exponent, color="black", linestyle="--", label=f"exponent {exponent:.2f}")
    axes.set(xscale="log", yscale="log", xlabel=scaling.what, ylabel="seconds a fit")
    axes.set_title(f"Fit time by {scaling.what}")
    if scaling.what == "splits":
        axes.set_xticks(scaling.sizes, [str(size) for size in scaling.sizes])
        axes.set_xticks([], minor=True)
    axes.grid(alpha=0.3)
    axes.legend(loc="upper left", fontsize=8)


def draw_ratios(axes: Any, comparisons: Sequence[Comparison]) -> None:
    """Ratios of fit times on two small tables and the longest one."""
    ours = {comparison.data: comparison for comparison in comparisons if comparison.model == OURS}
    longest = max(ours, key=lambda data: ours[data].size[0])
    shown = list(dict.fromkeys([name for name in ("cross", "wdbc") if name in ours] + [longest]))
    # They differ in lightness and hatching too, for those who see no colours.
    styles = (("#F0E442", ""), ("#56B4E9", "//"), ("#0B4F6C", ""))
    models = [name for name in PEERS if name != OURS and any(c.model == name for c in comparisons)]
    height = 0.8 / len(shown)
    for number, (data, (colour, hatch)) in enumerate(zip(shown, styles, strict=False)):
        medians = {c.model: float(np.median(ratios(ours[data].fit, c.fit))) for c in comparisons if c.data == data}
        places = [models.index(name) + (number - (len(shown) - 1) / 2) * height for name in medians if name in models]
        values = np.array([value for name, value in medians.items() if name in models])
        axes.barh(
            places,
            values - 1,
            height,
            left=1.0,
            color=colour,
            hatch=hatch,
            edgecolor="black",
            linewidth=0.6,
            label=f"{data}, {size_text(ours[data].size)}",
        )
    axes.axvline(1.0, color="black")
    axes.set_yticks(range(len(models)), models, fontsize=8)
    axes.invert_yaxis()
    axes.set(xscale="log", xlabel="our fit time / its fit time (left of 1: ours is faster)")
    axes.set_title("Fit time, ours to peers")
    axes.grid(axis="x", alpha=0.3)
    axes.legend(loc="upper right", bbox_to_anchor=(1.0, -0.13), ncols=3, fontsize=8, frameon=False)


def draw_passes(grown: Sequence[PassGrowth], path: Path) -> None:
    """Write the picture of passes as a PNG: time a row over rows, and a multiply-add over columns."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, panels = plt.subplots(1, 2, figsize=(10, 4.2), layout="constrained")
    units = {"rows": (1e9, "nanoseconds a row"), "columns": (1e12, "picoseconds a multiply-add")}
    for axes, (what, (scale, label)) in zip(panels, units.items(), strict=True):
        shown = [growth for growth in grown if growth.what == what]
        # They differ in lightness and in marks too, for those who see no colours.
        styles = (("#0B4F6C", "o"), ("#56B4E9", "s"), ("#E69F00", "^"))
        for growth, (colour, mark) in zip(shown, styles, strict=False):
            axes.plot(growth.sizes, scale * growth.unit_seconds, color=colour, marker=mark, label=growth.leaves)
        sizes = shown[0].sizes
        axes.set(xscale="log", yscale="log", xlabel=what, ylabel=label)
        axes.set_title(f"One pass by {what}")
        axes.set_xticks(sizes, [number_text(size) for size in sizes], fontsize=8)
        axes.set_xticks([], minor=True)
        for which in (axes.yaxis.set_major_formatter, axes.yaxis.set_minor_formatter):
            which("{x:g}")
        axes.grid(alpha=0.3)
        axes.legend(fontsize=8)
    figure.savefig(path, dpi=150)
    plt.close(figure)
