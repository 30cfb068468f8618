"""The tables of what was measured."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from markdown_table import markdown_table

from .peers import OURS, RIVAL
from .problems import PROBLEMS, Classification, Regression
from .runs import Row
from .scores import Floats

MIN_WINS = 4  # of the six prepared sets with numbers as targets: those on which to beat the rival in likelihood


def report(rows: list[Row]) -> str:
    """All tables, each below its heading."""
    tables = []
    for kind, raw in (("prepared", False), ("raw", True)):
        group = [row for row in rows if row.problem.raw == raw]
        classes = [row for row in group if isinstance(row.problem, Classification)]
        regressions = [row for row in group if isinstance(row.problem, Regression)]
        if classes:
            tables += [f"## Classification, {kind}: log-loss", loss_table(classes)]
            tables += [f"## Classification, {kind}: calibration", calibration_table(classes)]
        if regressions:
            title = f"## Regression, {kind}: RMSE / standard deviation, NLL, CRPS and coverage"
            tables += [title, regression_table(regressions)]
    return "\n\n".join(tables)


def loss_table(rows: list[Row]) -> str:
    """Log-loss; the last line has the geometric means of the ratios to each peer."""
    peers = list(Classification.peers)
    names = ["data", "log-loss", "worst seed", "splits", "s a fit", "limit", "met", *peers]
    lines = [
        [
            row.problem.name,
            cell(row, OURS, "loss"),
            f"{row.ours.loss.max():.4f}",
            *size_and_limits(row),
            *(cell(row, name, "loss") for name in peers),
        ]
        for row in rows
    ]
    means = {name: mean_ratio(rows, name, "loss") for name in peers}
    return markdown_table(names, [*lines, footer(names, "geometric mean of log-loss / peer's", means)])


def calibration_table(rows: list[Row]) -> str:
    """Brier score and expected calibration error (ECE) of every model; the last line has their means."""
    columns = {
        f"{name} {title}": (name, measure)
        for title, measure in (("Brier", "brier"), ("ECE", "calibration_error"))
        for name in (OURS, *Classification.peers)
    }
    lines = [[row.problem.name, *(cell(row, *column) for column in columns.values())] for row in rows]
    means = {
        title: f"{np.mean([value_of(row, name, measure) for row in rows]):.4f}"
        for title, (name, measure) in columns.items()
    }
    names = ["data", *columns]
    return markdown_table(names, [*lines, footer(names, "mean", means)])


def regression_table(rows: list[Row]) -> str:
    """All measures of the reticulum and of NGBoost, errors of the other peers; the last lines compare with each."""
    peers = list(Regression.peers)
    rival_nll, rival_crps, rival_coverage = (f"{RIVAL} {measure}" for measure in ("NLL", "CRPS", "90% covered"))
    names = ["data", "RMSE/sd", "worst seed", "NLL", "CRPS", "90% covered", "splits", "s a fit", "limit", "met"]
    names += [*peers, rival_nll, rival_crps, rival_coverage]
    lines = [
        [
            row.problem.name,
            cell(row, OURS, "error"),
            f"{row.ours.error.max():.4f}",
            cell(row, OURS, "nll"),
            cell(row, OURS, "crps"),
            range_text(row.ours.coverage, "{:.1%}"),
            *size_and_limits(row),
            *(cell(row, name, "error") for name in peers),
            cell(row, RIVAL, "nll"),
            cell(row, RIVAL, "crps"),
            cell(row, RIVAL, "coverage", "{:.1%}"),
        ]
        for row in rows
    ]
    ratios = {name: mean_ratio(rows, name, "error") for name in peers}
    ratios[rival_crps] = mean_ratio(rows, RIVAL, "crps")
    lines.append(footer(names, "geometric mean of RMSE or CRPS / peer's", ratios))
    differences = nll_differences(rows)
    if len(differences) > 0:
        lines.append(footer(names, "mean of NLL - peer's", {rival_nll: f"{differences.mean():+.4f}"}))
        wins = {rival_nll: f"{np.sum(differences < 0)} of {len(differences)}"}
        enough = wins_enough(differences)
        if enough is not None:
            wins |= {"limit": f"≥ {MIN_WINS}", "met": met_text(enough)}
        lines.append(footer(names, "data sets with a lower NLL", wins))
    return markdown_table(names, lines)


def nll_differences(rows: list[Row]) -> Floats:
    """The mean NLL over all seeds less that of NGBoost, of the data sets on which both were measured (sets,)."""
    both = [row for row in rows if RIVAL in row.scores]
    return np.array([value_of(row, OURS, "nll") - value_of(row, RIVAL, "nll") for row in both])


def wins_enough(differences: Floats) -> bool | None:
    """Whether the NLL is lower than NGBoost's on enough prepared data sets; None where not all were measured."""
    if len(differences) < sum(isinstance(problem, Regression) and not problem.raw for problem in PROBLEMS):
        return None
    return bool(np.sum(differences < 0) >= MIN_WINS)


def footer(names: list[str], title: str, cells: dict[str, str]) -> list[str]:
    return [title, *(cells.get(name, "") for name in names[1:])]


def value_of(row: Row, name: str, measure: str) -> float:
    return float(getattr(row.scores[name], measure).mean())


def cell(row: Row, name: str, measure: str, style: str = "{:.4f}") -> str:
    return style.format(value_of(row, name, measure)) if name in row.scores else ""


def mean_ratio(rows: list[Row], name: str, measure: str) -> str:
    ratios = [value_of(row, OURS, measure) / value_of(row, name, measure) for row in rows if name in row.scores]
    return f"{np.exp(np.mean(np.log(ratios))):.3f}" if ratios else ""


def size_and_limits(row: Row) -> list[str]:
    limits = row.problem.limits()
    met = met_text(row.is_met()) if limits else ""
    return [range_text(row.splits, "{}"), f"{row.seconds:.1f}", limits or "none", met]


def range_text(values: NDArray[Any], style: str) -> str:
    low, high = style.format(values.min()), style.format(values.max())
    return low if low == high else f"{low} to {high}"


def met_text(is_met: bool) -> str:
    return "yes" if is_met else "**no**"
