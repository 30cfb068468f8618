"""Fit the paper's cross and sphere, print the trees, compare with the truth, and draw what was learned."""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import log_loss

from bayesian_reticulum import ReticulumClassifier
from bayesian_reticulum.datasets import Generated, make_cross, make_sphere
from bayesian_reticulum.plots import INK, SurfaceDisplay

Floats = NDArray[np.float64]

TEST_ROWS = 20_000


@dataclass(frozen=True)
class Problem:
    """Data with a known truth; `beyond(x0, x1)` changes its sign where the odds are even."""

    name: str
    make: Callable[..., Generated]
    n_rows: int
    beyond: Callable[[Floats, Floats], Floats]


@dataclass(frozen=True)
class Result:
    """A fitted problem and how close it came to the truth on rows it has not seen."""

    problem: Problem
    data: Generated
    clf: ReticulumClassifier
    loss: float
    true_loss: float
    seconds: float


PROBLEMS = (
    Problem("cross", make_cross, 1000, lambda x0, x1: x0 * x1),
    Problem("sphere", make_sphere, 5000, lambda x0, x1: np.hypot(x0, x1) - 1),
)


def solve(problem: Problem) -> Result:
    """Fit one problem with the defaults and judge it on a fresh draw."""
    data = problem.make(problem.n_rows, random_state=0)
    test = problem.make(TEST_ROWS, random_state=1)
    start = time.perf_counter()
    clf = ReticulumClassifier(random_state=0).fit(data.X, data.y)
    seconds = time.perf_counter() - start
    loss = log_loss(test.y, clf.predict_proba(test.X))
    return Result(problem, data, clf, loss, log_loss(test.y, test.probability), seconds)


def table(results: list[Result]) -> str:
    """One line for each problem; the log-loss of the true probability is the best that any model can reach."""
    lines = ["data     rows  log-loss  of the true p  splits  seconds"]
    lines += [
        f"{result.problem.name:<7}{result.problem.n_rows:>6}{result.loss:>10.4f}{result.true_loss:>15.4f}"
        f"{result.clf.n_splits_:>8}{result.seconds:>9.1f}"
        for result in results
    ]
    return "\n".join(lines)


def new_figure(n_rows: int) -> Any:
    """An empty figure; made before anything is fitted, so that a missing package is noticed at once."""
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise ImportError(
            "the picture needs Matplotlib, which is not installed. "
            "Install the extra 'plots': pip install 'bayesian-reticulum[plots]'"
        ) from error
    return Figure(figsize=(10, 4.75 * n_rows + 0.3), dpi=140, layout="constrained")


def draw(figure: Any, results: list[Result]) -> None:
    """For each problem the data under its soft splits, and the probability surface."""
    axes = figure.subplots(len(results), 2, squeeze=False)
    for (left, right), result in zip(axes, results, strict=True):
        display = SurfaceDisplay.from_estimator(result.clf, result.data.X, result.data.y, ax=left, surface=False)
        display.plot(ax=right, splits=False, rows=False)
        beyond = result.problem.beyond(*np.meshgrid(*display.grid))
        right.contour(*display.grid, beyond, levels=[0], colors=INK, linewidths=1.2, linestyles="--")
        for axis in (left, right):
            axis.set_aspect("equal")
        name, splits = result.problem.name, result.clf.n_splits_
        left.set_title(f"{name}: {result.problem.n_rows} rows and {splits} soft splits", loc="left", color=INK)
        right.set_title(f"test log-loss {result.loss:.3f} (truth {result.true_loss:.3f})", loc="left", color=INK)
    _draw_legends(*axes[0])


def _draw_legends(left: Any, right: Any) -> None:
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    line = Line2D([], [], color="black", linewidth=1.8, label="gate = 0.5")
    band = Patch(color="black", alpha=0.25, linewidth=0, label="gate 0.1 to 0.9")
    even = Line2D([], [], color=INK, linewidth=1.4, label="even odds")
    truth = Line2D([], [], color=INK, linewidth=1.2, linestyle="--", label="even odds, truth")
    style = {"loc": "lower right", "fontsize": 10, "framealpha": 0.95, "edgecolor": "none", "labelcolor": INK}
    marks, _ = left.get_legend_handles_labels()
    left.legend(handles=[*marks, line, band], markerscale=1.8, **style).set_zorder(5)
    right.legend(handles=[even, truth], **style).set_zorder(5)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("demo.png"), help="the picture (default: %(default)s)")
    path = parser.parse_args().out
    figure = new_figure(len(PROBLEMS))
    results = []
    for problem in PROBLEMS:
        print(f"Fitting {problem.name} ({problem.n_rows} rows) ...", flush=True)
        results.append(solve(problem))
        print(results[-1].clf.model_, end="\n\n", flush=True)
    print(table(results))
    draw(figure, results)
    figure.savefig(path)
    print(f"\nPicture: {path}")


if __name__ == "__main__":
    main()
