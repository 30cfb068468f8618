"""The tables of what was measured, and the machine that it was measured on."""

from __future__ import annotations

import contextlib
import os
import platform
from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version

import numpy as np

from bayesian_reticulum.compiled import instruction_set, is_available
from markdown_table import markdown_table

from .fits import fit_limits
from .growth import scaling_limits
from .pass_growth import PassGrowth, pass_limits
from .peers import OURS
from .results import Comparison, Line, Part, Scaling, number_text, size_text
from .turns import Floats, ratios


@dataclass
class Report:
    """Everything that has been measured so far; it can be printed at any time."""

    lines: list[Line] = field(default_factory=list)
    comparisons: list[Comparison] = field(default_factory=list)
    parts: list[Part] = field(default_factory=list)
    grown: list[Scaling] = field(default_factory=list)
    passes_grown: list[PassGrowth] = field(default_factory=list)

    def limits(self) -> list[Line]:
        """All lines, those that follow from fits and from their growth included."""
        lines = [*fit_limits(self.comparisons), *self.lines, *scaling_limits(self.grown)]
        return [*lines, *pass_limits(self.passes_grown)]

    def __str__(self) -> str:
        tables = {
            "Limits": (limit_table, self.limits()),
            "Peers": (peer_table, self.comparisons),
            "Where a pass spends its time": (part_table, self.parts),
            "Growth of fit time": (scaling_table, self.grown),
            "Growth of a pass": (pass_table, self.passes_grown),
        }
        return "\n\n".join(f"## {title}\n\n{make(results)}" for title, (make, results) in tables.items() if results)


def limit_table(lines: Sequence[Line]) -> str:
    """Everything that was measured for a limit, and what belongs beside it."""
    names = ["task", "subject", "median", "least to most", "ratio", "least to most", "limit", "met"]
    body = []
    for line in lines:
        ratio = ("", "") if line.ratios is None else (f"{np.median(line.ratios):.2f}", range_text(line.ratios))
        limit, met = "", ""
        if line.limit is not None:
            _, largest, unit = line.limit
            limit, met = f"≤ {largest:g} {unit}".strip(), "yes" if line.is_met() else "**no**"
        median = f"{np.median(line.values):.3g} {line.unit}".strip()
        body.append([line.task, line.subject, median, range_text(line.values), *ratio, limit, met])
    return markdown_table(names, body, n_words=2)


def peer_table(comparisons: Sequence[Comparison]) -> str:
    """Times and memory of all models; ratios are those of the reticulum to the model of the line."""
    ours = {comparison.data: comparison for comparison in comparisons if comparison.model == OURS}
    names = ["data", "model", "fit, s", "least to most", "ours / its", "least to most"]
    names += ["predict_proba, ms", "ours / its", "least to most", "memory, MB", "ours / its"]
    body = []
    for data, size, model, fit, predict, memory in comparisons:
        of_fit, of_predict = ratios(ours[data].fit, fit), ratios(ours[data].predict, predict)
        body.append(
            [
                f"{data}, {size_text(size)}",
                model,
                f"{np.median(fit):.3g}",
                range_text(fit),
                f"{np.median(of_fit):.3g}",
                range_text(of_fit),
                f"{1e3 * np.median(predict):.3g}",
                f"{np.median(of_predict):.3g}",
                range_text(of_predict),
                *memory_cells(ours[data].memory, memory),
            ]
        )
    return markdown_table(names, body, n_words=2)


def memory_cells(ours: float | None, memory: float | None) -> tuple[str, str]:
    """Megabytes, and the ratio to them; less than one of them is within what a process takes by chance."""
    if memory is None:
        return "", ""
    return (f"{memory:.1f}", "" if ours is None else f"{ours / memory:.2f}") if memory >= 1.0 else ("< 1", "")


def part_table(parts: Sequence[Part]) -> str:
    """Where a pass spends its time."""
    total = parts[-1].ours
    body = [[part.name, f"{part.floor:.1f}", f"{part.ours:.1f}", f"{part.ours / total:.0%}"] for part in parts]
    return markdown_table(["part of a pass", "least work, ms", "pass, ms", "share of the pass"], body)


def scaling_table(grown: Sequence[Scaling]) -> str:
    """Fit times by size."""
    body = [
        [scaling.what, number_text(size), f"{np.median(seconds):.3g}", range_text(seconds)]
        for scaling in grown
        for size, seconds in zip(scaling.sizes, scaling.seconds, strict=True)
    ]
    return markdown_table(["what grows", "number", "fit, s", "least to most"], body)


def pass_table(grown: Sequence[PassGrowth]) -> str:
    """Times of passes by size, and of their units: rows where these grow, multiply-adds where columns do."""
    names = ["leaves", "what grows", "number", "pass, ms", "a row, ns", "a multiply-add, ps", "by this doubling"]
    body = []
    for growth in grown:
        of_unit = growth.unit_seconds
        by_doubling = ["", *(f"{factor:.2f} ×" for factor in growth.factors)]
        for size, seconds, unit, factor in zip(growth.sizes, growth.seconds, of_unit, by_doubling, strict=True):
            units = (f"{1e9 * unit:.0f}", "") if growth.what == "rows" else ("", f"{1e12 * unit:.0f}")
            body.append([growth.leaves, growth.what, number_text(size), f"{1e3 * seconds:.3g}", *units, factor])
    return markdown_table(names, body, n_words=2)


def range_text(values: Floats) -> str:
    """Least to most; empty where they are the same."""
    return "" if values.min() == values.max() else f"{values.min():.3g} to {values.max():.3g}"


def surroundings(threads: int) -> str:
    """A line on the machine and the versions, as far as times depend on them."""
    cores = os.cpu_count() or 1
    busy = f", of which {os.getloadavg()[0]:.1f} were asked for before the start" if hasattr(os, "getloadavg") else ""
    code = f"compiled code for {instruction_set}" if is_available() else "no compiled code"
    packages = ("numpy", "scikit-learn", "xgboost", "lightgbm", "catboost", "interpret-core", "neural-trees")
    versions = []
    for package in packages:
        with contextlib.suppress(PackageNotFoundError):
            versions.append(f"{package} {version(package)}")
    return (
        f"{cores} cores{busy}; {threads} thread{'s' * (threads != 1)} each unless said otherwise; {code}; "
        f"Python {platform.python_version()}, {', '.join(versions)}."
    )
