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
from scipy.special import expit
from sklearn.metrics import log_loss

from bayesian_reticulum import Reticulum, ReticulumClassifier
from bayesian_reticulum.datasets import Generated, make_cross, make_sphere

Floats = NDArray[np.float64]

TEST_ROWS = 20_000
GRID = 400
# The ends of a red-blue scale, which stay apart under all common kinds of colour blindness.
BLUE, RED = "#2166ac", "#b2182b"
INK = "#222222"


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
    model: Reticulum
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
    return Result(problem, data, clf.model_, loss, log_loss(test.y, test.probability), seconds)


def table(results: list[Result]) -> str:
    """One line for each problem; the log-loss of the true probability is the best that any model can reach."""
    lines = ["data     rows  log-loss  of the true p  splits  seconds"]
    lines += [
        f"{result.problem.name:<7}{result.problem.n_rows:>6}{result.loss:>10.4f}{result.true_loss:>15.4f}"
        f"{result.model.tree.n_splits:>8}{result.seconds:>9.1f}"
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
        for axis in (left, right):
            # Within these limits splits are straight; cells beyond are read as being on them.
            low, high = result.model.schema.low, result.model.schema.high
            axis.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]), aspect="equal", xlabel="x0", ylabel="x1")
            axis.spines[:].set_visible(False)
            axis.tick_params(length=0, labelcolor="#666666", labelsize=9)
            axis.locator_params(nbins=5)
        name, splits = result.problem.name, result.model.tree.n_splits
        left.set_title(f"{name}: {result.problem.n_rows} rows and {splits} soft splits", loc="left", color=INK)
        right.set_title(
            f"P(class 1), test log-loss {result.loss:.3f} (truth {result.true_loss:.3f})", loc="left", color=INK
        )
        _draw_rows(left, result.data)
        _draw_splits(left, result.model)
        shades = _draw_probability(right, result)
        bar = figure.colorbar(shades, ax=right, fraction=0.046, pad=0.02, ticks=[0, 0.25, 0.5, 0.75, 1])
        bar.outline.set_visible(False)
        bar.ax.tick_params(length=0, labelcolor="#666666", labelsize=9)
    _draw_legends(*axes[0])


def _draw_rows(axis: Any, data: Generated) -> None:
    # One call for both classes: drawn one after the other, the second would hide the first.
    colours = np.array([BLUE, RED])[data.y]
    size = 22 * min(1.0, (1000 / len(data.y)) ** 0.5)
    axis.scatter(*data.X.T, s=size, c=colours, alpha=0.55, linewidths=0, rasterized=True)


def _draw_splits(axis: Any, model: Reticulum) -> None:
    """Lines where gates are even and bands from 0.1 to 0.9, as strong as the probability that rows get there."""
    x0, x1, X = _grid(axis)
    reach, gate = _reach(model, X), expit(_activation(model, X))
    for split in range(model.tree.n_splits):
        band = np.zeros((len(X), 4))
        band[:, 3] = 0.28 * reach[:, split] * ((gate[:, split] > 0.1) & (gate[:, split] < 0.9))
        extent = (x0[0], x0[-1], x1[0], x1[-1])
        axis.imshow(band.reshape(GRID, GRID, 4), extent=extent, origin="lower", interpolation="bilinear", zorder=2)

        line = _line(model.hyperplanes[split], axis)
        reached = _reach(model, line)[:, split]
        # A few strengths, each drawn in one stroke: joints between strokes show as beads.
        strength = np.round(reached, 1)
        for level in np.unique(strength[strength > 0]):
            stroke = np.where((strength == level)[:, None], line, np.nan)
            axis.plot(*stroke.T, color="black", alpha=level, linewidth=2.2, solid_capstyle="butt", zorder=3)
        _label(axis, line, reached, str(split))


def _label(axis: Any, line: Floats, reached: Floats, text: str) -> None:
    """The split's number as the printed tree has it, on the part of its line that rows reach."""
    if not reached.any():
        return
    # Off the middle, where splits like to cross.
    place = np.searchsorted(reached.cumsum(), 0.4 * reached.sum())
    style = {"boxstyle": "circle,pad=0.25", "facecolor": "white", "edgecolor": INK, "linewidth": 1.2}
    axis.text(*line[place], text, ha="center", va="center", fontsize=9, color=INK, bbox=style, zorder=4)


def _draw_probability(axis: Any, result: Result) -> Any:
    x0, x1, X = _grid(axis)
    probability = result.model.predict_mean(X)[:, 1].reshape(GRID, GRID)
    shades = axis.pcolormesh(x0, x1, probability, cmap="RdBu_r", vmin=0, vmax=1, shading="nearest", rasterized=True)
    axis.contour(x0, x1, probability, levels=[0.5], colors=INK, linewidths=1.8)
    axis.contour(
        x0, x1, result.problem.beyond(*np.meshgrid(x0, x1)), levels=[0], colors=INK, linewidths=1.2, linestyles="--"
    )
    return shades


def _draw_legends(left: Any, right: Any) -> None:
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    def dot(colour: str, label: str) -> Line2D:
        return Line2D([], [], marker="o", linestyle="", color=colour, markersize=6, label=label)

    line = Line2D([], [], color="black", linewidth=2.2, label="gate = 0.5")
    band = Patch(color="black", alpha=0.28, linewidth=0, label="gate 0.1 to 0.9")
    even = Line2D([], [], color=INK, linewidth=1.8, label="even odds")
    truth = Line2D([], [], color=INK, linewidth=1.2, linestyle="--", label="even odds, truth")
    style = {"loc": "lower right", "fontsize": 10, "framealpha": 0.95, "edgecolor": "none", "labelcolor": INK}
    left.legend(handles=[dot(BLUE, "class 0"), dot(RED, "class 1"), line, band], **style).set_zorder(5)
    right.legend(handles=[even, truth], **style).set_zorder(5)


def _grid(axis: Any) -> tuple[Floats, Floats, Floats]:
    """Coordinates (GRID,) of columns and of rows, and all points (GRID², 2) of what an axis shows."""
    x0, x1 = (np.linspace(low, high, GRID) for low, high in (axis.get_xlim(), axis.get_ylim()))
    return x0, x1, np.stack(np.meshgrid(x0, x1), axis=-1).reshape(-1, 2)


def _activation(model: Reticulum, X: Floats) -> Floats:
    """Activation of each split at points (n, 2) inside the limits, shape (n, splits)."""
    return np.asarray(model.hyperplanes[:, 0] + X @ model.hyperplanes[:, 1:].T)


def _reach(model: Reticulum, X: Floats) -> Floats:
    """Probability of points (n, 2) to reach each split, shape (n, splits): their memberships below it."""
    reach = model.membership(X) @ (model.tree.shape.sides != 0).T.astype(np.float64)
    return np.asarray(np.minimum(reach, 1.0))  # sums may end a rounding above one, which is no opacity


def _line(hyperplane: Floats, axis: Any, n_points: int = 3000) -> Floats:
    """Points (n, 2) in view where the activation is zero."""
    offset, slopes = hyperplane[0], hyperplane[1:]
    squared = slopes @ slopes
    corners = np.array([axis.get_xlim(), axis.get_ylim()])
    length = np.linalg.norm(corners[:, 1] - corners[:, 0])
    middle = corners.mean(axis=1)
    foot = middle - (offset + slopes @ middle) / squared * slopes
    along = np.array([-slopes[1], slopes[0]]) / np.sqrt(squared)
    points = foot + np.linspace(-length, length, n_points)[:, None] * along
    return np.asarray(points[((points >= corners[:, 0]) & (points <= corners[:, 1])).all(axis=1)])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("demo.png"), help="the picture (default: %(default)s)")
    path = parser.parse_args().out
    figure = new_figure(len(PROBLEMS))
    results = []
    for problem in PROBLEMS:
        print(f"Fitting {problem.name} ({problem.n_rows} rows) ...", flush=True)
        results.append(solve(problem))
        print(results[-1].model, end="\n\n", flush=True)
    print(table(results))
    draw(figure, results)
    figure.savefig(path)
    print(f"\nPicture: {path}")


if __name__ == "__main__":
    main()
