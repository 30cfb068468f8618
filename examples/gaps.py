"""Draw how missing cells soften a gate, and what they cost beside means in their place."""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_breast_cancer
from sklearn.metrics import log_loss
from sklearn.model_selection import StratifiedKFold

from bayesian_reticulum import ReticulumClassifier
from bayesian_reticulum.plots import BLUE, INK, ORANGE

Floats = NDArray[np.float64]
# Share of the variance over missing cells that softens gates.
SOFTENED_SHARE = 0.5


def averaged_gate(mean: Floats, variance: float) -> Floats:
    """The mean of a gate over a normal activation, by quadrature."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(80)
    gates = 1 / (1 + np.exp(-(mean[:, None] + np.sqrt(variance) * nodes)))
    return gates @ weights / np.sqrt(2 * np.pi)


def losses(shares: list[float], n_folds: int) -> tuple[Floats, Floats]:
    """Mean log-loss by share of cells removed at random: with gaps, and with the means of columns in their place."""
    whole, y = load_breast_cancer(return_X_y=True)
    chance = np.random.default_rng(0).uniform(size=whole.shape)
    out = np.zeros((2, len(shares)))
    for place, share in enumerate(shares):
        X = np.where(chance < share, np.nan, whole)
        for train, test in StratifiedKFold(n_folds, shuffle=True, random_state=42).split(X, y):
            filled = np.where(np.isnan(X), np.nanmean(X[train], axis=0), X)
            for kind, table in enumerate((X, filled)):
                model = ReticulumClassifier(random_state=0).fit(table[train], y[train])
                out[kind, place] += log_loss(y[test], model.predict_proba(table[test])) / n_folds
    return out[0], out[1]


def draw(shares: list[float], gaps: Floats, means: Floats, path: Path) -> None:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.2), layout="constrained")
    activation = np.linspace(-8, 8, 400)
    some = np.linspace(-8, 8, 17)
    for variance, style in ((0.0, "-"), (4.0, "--"), (25.0, ":")):
        soft = activation / np.sqrt(1 + np.pi / 8 * SOFTENED_SHARE * variance)
        left.plot(activation, 1 / (1 + np.exp(-soft)), style, color=BLUE, lw=2, label=f"variance {variance:.0f}")
        left.plot(some, averaged_gate(some, SOFTENED_SHARE * variance), "o", color=INK, ms=3)
    left.plot([], [], "o", color=INK, ms=3, label="average over half")
    left.set(xlabel="mean activation", ylabel="probability to go left", title="A gate, softened by what is missing")
    left.legend(frameon=False)
    percent = [100 * share for share in shares]
    right.plot(percent, means, "s--", color=ORANGE, lw=2, label="means of columns in their place")
    right.plot(percent, gaps, "o-", color=BLUE, lw=2, label="gaps as they are")
    right.set(xlabel="cells removed at random (%)", ylabel="log-loss, held out", title="Breast cancer, same folds")
    right.legend(frameon=False, loc="upper left")
    for axes in (left, right):
        axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(path, dpi=110)
    plt.close(figure)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("gaps.png"), help="where to draw (gaps.png)")
    parser.add_argument("--quick", action="store_true", help="two shares and two folds instead of six and five")
    arguments = parser.parse_args()
    shares = [0.0, 0.2] if arguments.quick else [0.0, 0.05, 0.1, 0.2, 0.3, 0.4]
    gaps, means = losses(shares, 2 if arguments.quick else 5)
    print("removed  gaps   means")
    for share, one, other in zip(shares, gaps, means, strict=True):
        print(f"{share:7.0%}  {one:.4f} {other:.4f}")
    draw(shares, gaps, means, arguments.out)
    print(f"Drawn as {arguments.out}.")


if __name__ == "__main__":
    main()
