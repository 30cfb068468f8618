"""Fit numbers whose trend bends and whose noise grows; draw intervals, and where uncertainty comes from."""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bayesian_reticulum import ReticulumRegressor
from bayesian_reticulum.plots import BLUE, GREEN, INK, ORANGE

Floats = NDArray[np.float64]


def make_bend(n: int, seed: int) -> tuple[Floats, Floats]:
    """A rise, a fall and another rise; the noise trebles at the first bend, and few rows lie to the right of 8."""
    rng = np.random.default_rng(seed)
    x = np.where(rng.random(n) < 0.95, rng.uniform(0, 8, n), rng.uniform(8, 10, n))
    mean = np.where(x < 4, 1 + 0.75 * x, np.where(x < 6.5, 4 - 0.8 * (x - 4), 0.6 * x - 0.8))
    return x[:, None], mean + np.where(x < 4, 0.12, 0.36) * rng.standard_normal(n)


def draw(model: ReticulumRegressor, X: Floats, y: Floats, path: Path) -> None:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    grid = np.linspace(-0.5, 10.5, 600)
    prediction = model.predict_distribution(grid[:, None])
    parts = model.predict_uncertainty(grid[:, None])
    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.2), layout="constrained")
    for level, alpha in ((0.9, 0.18), (0.5, 0.32)):
        left.fill_between(
            grid, *prediction.interval(level), color=BLUE, alpha=alpha, lw=0, label=f"{level:.0%} interval"
        )
    left.plot(grid, prediction.mean, color=BLUE, lw=2, label="mean")
    left.plot(X[:, 0], y, ".", color=INK, ms=3, alpha=0.7, label="rows")
    left.set(xlabel="x", ylabel="y", title="What is predicted")
    left.legend(frameon=False, loc="lower right")
    right.stackplot(
        grid,
        parts.aleatoric,
        parts.leaf,
        parts.routing,
        labels=["noise", "too few rows in the leaf", "which leaf"],
        colors=[BLUE, GREEN, ORANGE],
    )
    right.set(xlabel="x", ylabel="variance", title="Where its uncertainty comes from")
    right.legend(frameon=False, loc="upper left")
    for axes in (left, right):
        axes.spines[["top", "right"]].set_visible(False)
        axes.margins(x=0)
    figure.savefig(path, dpi=110)
    plt.close(figure)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("regression.png"), help="where to draw (regression.png)")
    path = parser.parse_args().out
    X, y = make_bend(100, seed=0)
    model = ReticulumRegressor(random_state=0).fit(X, y)
    print(model.model_)
    X_test, y_test = make_bend(20_000, seed=1)
    lower, upper = model.predict_distribution(X_test).interval(0.9)
    print(f"{((lower < y_test) & (y_test < upper)).mean():.1%} of new rows lie within their 90% interval.")
    draw(model, X, y, path)
    print(f"Drawn as {path}.")


if __name__ == "__main__":
    main()
