"""Time and memory on one thread, with peers in the same run; needs no data.

Prints one Markdown table. Times depend on the machine and on what else it does, so that limits on fits are ratios to
a peer that takes turns with what is measured. Each ratio is a median over turns; it compares with the line of 1.00.
"""

from __future__ import annotations

import argparse
import sys
import time
import tracemalloc
import warnings
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier
from threadpoolctl import threadpool_limits

from bayesian_reticulum import DirichletCategorical, Reticulum, ReticulumClassifier, Schema, Tree
from bayesian_reticulum.datasets import make_cross, make_sphere
from bayesian_reticulum.rows import NumpyRows
from bayesian_reticulum.tree import single_leaf, split_leaf

Floats = NDArray[np.float64]
FAMILY = DirichletCategorical((0.5, 0.5))


class Line(NamedTuple):
    """One line of the table; a limit is `(measured, largest allowed, unit)`."""

    task: str
    subject: str
    values: Floats
    unit: str
    ratios: Floats | None = None
    limit: tuple[float, float, str] | None = None


def in_turns(tasks: dict[str, Callable[[int], Any]], repeats: int) -> dict[str, Floats]:
    """Seconds (repeats,) of each task, called with the number of the turn.

    They take turns, so that a busy moment of the machine hits all of them.
    """
    seconds: dict[str, list[float]] = {name: [] for name in tasks}
    for turn in range(repeats):
        for name, task in tasks.items():
            start = time.perf_counter()
            task(turn)
            seconds[name].append(time.perf_counter() - start)
    return {name: np.array(values) for name, values in seconds.items()}


def fits(repeats: int) -> Iterator[Line]:
    """A fit with the defaults against a small neural network."""
    for name, make, limit in (("cross 1000 × 2", make_cross, 10.0), ("sphere 5000 × 2", make_sphere, 8.0)):
        X, y, _ = make(random_state=0)

        def network(seed: int, X: Floats = X, y: Any = y) -> None:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)
                MLPClassifier((32,), learning_rate_init=1e-3, max_iter=500, random_state=seed).fit(X, y)

        def reticulum(seed: int, X: Floats = X, y: Any = y) -> None:
            ReticulumClassifier(random_state=seed).fit(X, y)

        seconds = in_turns({"MLPClassifier": network, "ReticulumClassifier": reticulum}, repeats)
        own, peer = seconds["ReticulumClassifier"], seconds["MLPClassifier"]
        measured = float(np.median(own / peer))
        yield Line(f"fit, {name}", "ReticulumClassifier", own, "s", own / peer, (measured, limit, "×"))
        yield Line("", "MLPClassifier", peer, "s", peer / peer)


def predictions(repeats: int) -> Iterator[Line]:
    """Probabilities of a million rows from a random tree of 15 splits, and from common models."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((1_000_000, 20))
    reticulum = ReticulumClassifier()
    reticulum.model_ = random_model(15, X[:10_000], rng)
    reticulum.classes_, reticulum.n_features_in_ = np.array([0, 1]), X.shape[1]
    sample = X[:10_000]
    y = (sample[:, 0] * sample[:, 1] > 0).astype(np.int64)
    boosting = HistGradientBoostingClassifier(max_iter=100, early_stopping=False).fit(sample, y)
    logistic = LogisticRegression().fit(sample, y)
    seconds = in_turns(
        {
            "reticulum, 15 splits": lambda _: reticulum.predict_proba(X),
            "HistGradientBoosting, 100 trees": lambda _: boosting.predict_proba(X),
            "LogisticRegression": lambda _: logistic.predict_proba(X),
        },
        repeats,
    )
    own = seconds["reticulum, 15 splits"]
    for number, (name, values) in enumerate(seconds.items()):
        task = "" if number else "predict_proba, 1 000 000 × 20"
        yield Line(task, name, values, "s", values / own, None if number else (float(np.median(own)), 1.5, "s"))


def passes(repeats: int) -> Iterator[Line]:
    """One pass over the rows with 31 splits, and the least work that any pass has to do."""
    for n, d in ((5000, 2), (100_000, 20)):
        rng = np.random.default_rng(0)
        X, rows, tree, statistics = random_rows(n, d, rng)
        design = np.column_stack([np.ones(n), X]).T

        def floor(_: int, design: Floats = design, hyperplanes: Floats = tree.hyperplanes) -> None:
            for start in range(0, design.shape[1], 2048):
                block = design[:, start : start + 2048]
                activation = hyperplanes @ block
                np.exp(activation, out=activation)
                activation @ block.T

        def one_pass(
            information: bool, rows: NumpyRows = rows, tree: Tree = tree, statistics: Floats = statistics
        ) -> Callable[[int], Any]:
            return lambda _: rows.pass_(tree.hyperplanes[None], tree.shape, statistics, information=information)

        one_pass(information=True)(0)  # what is kept between passes is made in the first one
        names = ("two products and one exp", "gradient", "gradient and information")
        tasks = dict(zip(names, (floor, one_pass(False), one_pass(True)), strict=True))
        seconds = in_turns(tasks, 5 * repeats)
        for number, name in enumerate((names[1], names[2], names[0])):
            task = "" if number else f"one pass, 31 splits, {n} × {d}"
            yield Line(task, name, 1e3 * seconds[name], "ms", seconds[name] / seconds[names[0]])


def memory() -> Iterator[Line]:
    """Largest memory beyond the rows themselves during one pass over a million of them."""
    _, rows, tree, statistics = random_rows(1_000_000, 20, np.random.default_rng(0))
    tracemalloc.start()
    before, _ = tracemalloc.get_traced_memory()
    rows.pass_(tree.hyperplanes[None], tree.shape, statistics)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    megabytes = (peak - before) / 1e6
    task = "one pass, 31 splits, 1 000 000 × 20"
    yield Line(task, "memory beyond X", np.array([megabytes]), "MB", None, (megabytes, 64.0, "MB"))


def random_tree(n_splits: int, n_features: int, rng: np.random.Generator) -> Tree:
    """A tree of random shape with hyperplanes of ordinary stiffness."""
    tree = single_leaf(n_features)
    for _ in range(n_splits):
        hyperplane = rng.standard_normal(n_features + 1) * 3 / np.sqrt(n_features)
        tree = split_leaf(tree, int(rng.integers(tree.n_leaves)), hyperplane)
    return tree


def random_model(n_splits: int, X: Floats, rng: np.random.Generator) -> Reticulum:
    """A model as a fit would leave it, without the time that a fit of its size takes."""
    return Reticulum(
        tree=random_tree(n_splits, X.shape[1], rng),
        statistics=rng.gamma(2.0, 10.0, size=(n_splits + 1, FAMILY.n_statistics)),
        family=FAMILY,
        schema=_schema(X),
        targets=("0", "1"),
        precisions=np.ones(n_splits),
        log_evidence=0.0,
        log_bayes_factors=np.ones(n_splits),
        prices=np.ones(n_splits),
        grey_shares=np.ones(n_splits),
    )


def random_rows(n: int, d: int, rng: np.random.Generator) -> tuple[Floats, NumpyRows, Tree, Floats]:
    """Rows (n, d) of noise, as they are and behind their door, with a tree of 31 splits and its leaf statistics."""
    X = rng.standard_normal((n, d))
    rows = NumpyRows(X, rng.integers(2, size=n), FAMILY, np.ones(n), _schema(X[:10_000]))
    tree = random_tree(31, d, rng)
    statistics = rng.gamma(2.0, n / 200, size=(1, tree.n_leaves, FAMILY.n_statistics))
    return X, rows, tree, statistics


def _schema(X: Floats) -> Schema:
    return Schema.from_columns(X, np.ones(len(X)), tuple(f"x{j}" for j in range(X.shape[1])))


def table(lines: list[Line]) -> str:
    """Everything as one Markdown table."""
    names = ["task", "subject", "median", "least to most", "ratio", "least to most", "limit", "met"]
    out = ["| " + " | ".join(names) + " |", "|---|---" + "|---:" * 6 + "|"]
    for line in lines:
        ratio = ("", "") if line.ratios is None else (f"{np.median(line.ratios):.2f}", _spread(line.ratios))
        limit, met = "", ""
        if line.limit is not None:
            measured, largest, unit = line.limit
            limit, met = f"≤ {largest:g} {unit}", "yes" if measured <= largest else "**no**"
        median = f"{np.median(line.values):.3g} {line.unit}"
        cells = [line.task, line.subject, median, _spread(line.values), *ratio, limit, met]
        out.append("| " + " | ".join(cells) + " |")
    return "\n".join(out)


def _spread(values: Floats) -> str:
    return "" if values.min() == values.max() else f"{values.min():.3g} to {values.max():.3g}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=3, metavar="K", help="turns that each task takes (default: 3)")
    parser.add_argument("--limits", action="store_true", help="exit with 1 if a limit is not met")
    arguments = parser.parse_args()
    if arguments.repeats < 1:
        parser.error(f"--repeats must be at least 1; got {arguments.repeats}.")
    lines: list[Line] = []
    with threadpool_limits(1):
        for name, part in (
            ("fits", fits(arguments.repeats)),
            ("predictions", predictions(arguments.repeats)),
            ("passes", passes(arguments.repeats)),
            ("memory", memory()),
        ):
            print(f"{name} ...", file=sys.stderr, flush=True)
            lines += part
    print(table(lines))
    missed = any(line.limit is not None and line.limit[0] > line.limit[1] for line in lines)
    return int(arguments.limits and missed)


if __name__ == "__main__":
    sys.exit(main())
