"""The tables: measured numbers beside those that the paper printed, and whether limits are kept."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from data import N_FOLDS, Floats, Ints
from markdown_table import markdown_table
from study import VERSIONS, Fit, Results
from techniques import OURS, PAPER, PUBLISHED, XGBOOST

# Number of nodes and log-loss as printed in the paper.
PRINTED: dict[tuple[str, str], tuple[int, float]] = {
    ("sphere", "decision tree"): (15, 0.4779),
    ("sphere", PAPER): (35, 0.3798),
    ("sphere", PUBLISHED): (35, 0.3798),
    ("sphere", "neural network"): (23, 0.3511),
    ("sphere", XGBOOST): (1474, 0.3630),
    ("cross", "decision tree"): (9, 0.4952),
    ("cross", PAPER): (3, 0.3369),
    ("cross", PUBLISHED): (3, 0.3369),
    ("cross", "neural network"): (26, 0.3677),
    ("cross", XGBOOST): (638, 0.3345),
}


class Aim(NamedTuple):
    """Limits on one data set: of ReticulumClassifier for every seed, and of the published settings."""

    loss: float
    splits: tuple[int, int]
    published_best: float
    published_median: float


AIMS = {
    "cross": Aim(0.331, (3, 3), 0.3369, 0.395),
    "sphere": Aim(0.360, (0, 8), 0.3798, 0.391),
}


_ORIGIN = (
    "The published settings should do as well as printed with their best seed, and in the median as well as the "
    "published implementation in the median of three seeds. The limits of ReticulumClassifier are those that this "
    "library holds itself to. Log-losses are compared as they are shown, at four decimals."
)


class Check(NamedTuple):
    """A limit, and whether what was measured keeps it."""

    data: str
    technique: str
    text: str
    measured: str
    is_kept: bool

    @property
    def verdict(self) -> str:
        return "kept" if self.is_kept else "**not kept**"


def checks(results: Results) -> Iterator[Check]:
    """All limits on the data sets at hand."""
    for name in results.data:
        if name not in AIMS:
            continue
        aim, ours, published = AIMS[name], results.spreads[name, OURS], results.spreads[name, PUBLISHED]
        worst = _rounded(ours.losses.max())
        low, high = aim.splits
        splits = f"{high} splits" if low == high else f"at most {high} splits"
        is_small = bool(((ours.splits >= low) & (ours.splits <= high)).all())
        yield Check(name, OURS, f"log-loss ≤ {aim.loss:.3f} for every seed", f"worst {worst:.4f}", worst <= aim.loss)
        yield Check(name, OURS, f"{splits} for every seed and fold", _range(ours.splits), is_small)
        boosting = _rounded(results.fits[name, XGBOOST].losses.mean())
        text, measured = "log-loss below tuned XGBoost for every seed", f"worst {worst:.4f}, XGBoost {boosting:.4f}"
        yield Check(name, OURS, text, measured, worst < boosting)
        for which, value, limit in (
            ("best", published.losses.min(), aim.published_best),
            ("median", np.median(published.losses), aim.published_median),
        ):
            value = _rounded(value)
            yield Check(name, PUBLISHED, f"{which} log-loss of the seeds ≤ {limit:.4f}", f"{value:.4f}", value <= limit)


def markdown(results: Results) -> str:
    """Everything for reading."""
    parts = ["# The examples of the paper, measured", _preamble(results)]
    for name in results.data:
        keys = [key for key in results.fits if key[0] == name]
        parts += [f"## {name}", _fits(results, keys), _settings(results, keys), _spreads(results, name)]
    rows = [[check.data, check.technique, check.text, check.measured, check.verdict] for check in checks(results)]
    if rows:
        shown = markdown_table(["data", "technique", "limit", "measured", "verdict"], rows, n_words=3)
        parts += ["## Limits", _ORIGIN, shown]
    return "\n\n".join(parts) + "\n"


def as_csv(results: Results) -> str:
    """Everything for computing: one number a line."""
    lines: list[list[Any]] = []
    for (name, technique), fit in results.fits.items():
        printed = PRINTED.get((name, technique), ("", ""))
        lines.append([name, technique, "nodes", fit.n_nodes, printed[0], ""])
        lines.append([name, technique, "log-loss", _precise(fit.losses.mean()), printed[1], ""])
        if fit.test_loss is not None:
            lines.append([name, technique, "test log-loss", _precise(fit.test_loss), "", ""])
        lines += [[name, technique, f"setting {key}", value, "", ""] for key, value in fit.settings.items()]
    for (name, technique), spread in results.spreads.items():
        for seed, (loss, splits) in enumerate(zip(spread.losses, spread.splits, strict=True)):
            lines.append([name, technique, f"log-loss seed {seed}", _precise(loss), "", ""])
            lines += [[name, technique, f"splits seed {seed} fold {fold}", n, "", ""] for fold, n in enumerate(splits)]
        for seed, loss in enumerate([] if spread.test_losses is None else spread.test_losses):
            lines.append([name, technique, f"test log-loss seed {seed}", _precise(loss), "", ""])
    lines += [
        [check.data, check.technique, check.text, check.measured, "", check.verdict.strip("*")]
        for check in checks(results)
    ]
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["data", "technique", "measure", "value", "printed", "verdict"])
    writer.writerows(lines)
    return text.getvalue()


def _preamble(results: Results) -> str:
    versions = ", ".join(f"{name} {version}" for name, version in VERSIONS.items())
    text = (
        f"Log-loss is the mean over {N_FOLDS} stratified folds, of rows that the model has not seen. Nodes are those "
        "with weights (|N| in the paper), after a fit on all rows: the splits of all trees, or the hidden units and "
        f"the output of a network. Settings are the best of {results.n_trials} trials of Optuna on the same folds, of "
        "which the first of PaperReticulumClassifier has the published settings; "
        f"ReticulumClassifier has nothing tuned. Seeds are 0 to {results.n_seeds - 1}, elsewhere random_state is 42. "
        f"Made with {versions}."
    )
    if results.is_generated:
        text += (
            "\n\n**Generated data.** The rows were drawn anew from the distributions in the paper. Printed numbers "
            "and limits belong to the published rows."
        )
    if results.is_quick:
        text += "\n\n**Quick run.** A few rows and tiny models show that everything works; the numbers mean nothing."
    return text


def _fits(results: Results, keys: list[tuple[str, str]]) -> str:
    has_test = results.data[keys[0][0]].X_test is not None
    header = ["technique", "nodes", "log-loss", "printed nodes", "printed log-loss"] + ["test log-loss"] * has_test
    rows = []
    for key in keys:
        fit: Fit = results.fits[key]
        printed = PRINTED.get(key)
        row = [key[1], str(fit.n_nodes), f"{fit.losses.mean():.4f}"]
        row += ["", ""] if printed is None else [str(printed[0]), f"{printed[1]:.4f}"]
        rows.append(row + ([] if fit.test_loss is None else [f"{fit.test_loss:.4f}"]))
    return markdown_table(header, rows)


def _settings(results: Results, keys: list[tuple[str, str]]) -> str:
    lines = []
    for key in keys:
        shown = (f"{name} {_short(value)}" for name, value in results.fits[key].settings.items())
        lines.append(f"- {key[1]}: {', '.join(shown) or 'defaults'}")
    return "Settings:\n\n" + "\n".join(lines)


def _spreads(results: Results, name: str) -> str:
    spreads = {key[1]: spread for key, spread in results.spreads.items() if key[0] == name}
    has_test = results.data[name].X_test is not None
    header = [f"over {results.n_seeds} seeds", "best log-loss", "median", "worst", "splits in a fold"]
    header += ["best test log-loss", "median", "worst"] * has_test
    rows = []
    for technique, spread in spreads.items():
        rows.append([technique, *_three(spread.losses), _range(spread.splits), *_three(spread.test_losses)])
    return markdown_table(header, rows)


def _three(losses: Floats | None) -> list[str]:
    return [] if losses is None else [f"{value:.4f}" for value in (losses.min(), np.median(losses), losses.max())]


def _range(splits: Ints) -> str:
    low, high = int(splits.min()), int(splits.max())
    return str(low) if low == high else f"{low} to {high}"


def _short(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _rounded(value: Any) -> float:
    return round(float(value), 4)


def _precise(value: Any) -> str:
    return f"{value:.6f}"
