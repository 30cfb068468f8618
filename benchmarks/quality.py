"""Log-loss of the defaults on known data sets, with peers on the same folds.

Prints one Markdown table: for each data set the mean log-loss over five stratified folds, the number of splits, the
limit that is to be held, and the peers. Rows with gaps are dropped and categories become indicator columns.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier
from threadpoolctl import threadpool_limits

from bayesian_reticulum import ReticulumClassifier

Floats = NDArray[np.float64]

PEERS: dict[str, Callable[[], Any]] = {
    "logistic regression": lambda: make_pipeline(StandardScaler(), LogisticRegression(max_iter=2000)),
    "random forest": lambda: RandomForestClassifier(200, random_state=0),
    "boosting": lambda: HistGradientBoostingClassifier(random_state=0),
    "decision tree": lambda: DecisionTreeClassifier(random_state=0),
}


@dataclass(frozen=True)
class Problem:
    """A data set and what is asked of it.

    Parameters
    ----------
    name : str
        The table `name.csv` or `name.csv.gz`; its column `target` holds the classes.
    limit : float or None
        Largest mean log-loss that any seed may have.
    max_rows : int or None
        Rows are sampled down to this number.
    train : str or None
        The table to fit on instead; then the whole of `name` is the one fold to predict.
    usual_splits : int or None
        Number of splits that at least 95% of the fits must have.
    max_splits : int or None
        Number of splits that no fit may exceed.
    """

    name: str
    limit: float | None = None
    max_rows: int | None = None
    train: str | None = None
    usual_splits: int | None = None
    max_splits: int | None = None

    def is_met(self, losses: Floats, splits: NDArray[np.int64]) -> bool:
        """Whether mean losses of all seeds (seeds,) and sizes of all fits (seeds, folds) keep what is asked."""
        small = self.max_splits is None or splits.max() <= self.max_splits
        usual = self.usual_splits is None or (splits == self.usual_splits).mean() >= 0.95
        return bool((self.limit is None or losses.max() <= self.limit) and small and usual)


PROBLEMS = (
    Problem("cross", 0.331, usual_splits=3),
    Problem("sphere", 0.360, max_splits=8),
    Problem("ripley_train", 0.31),
    Problem("ripley_test", 0.24, train="ripley_train"),
    Problem("wdbc", 0.084),
    Problem("wine", 0.10),
    Problem("iris", 0.10),
    Problem("pima_diabetes", 0.486),
    Problem("banknote", 0.015),
    Problem("ionosphere", 0.28),
    Problem("heart_cleveland", 0.40),
    Problem("vowel", 0.62),
    Problem("glass", 1.0),
    Problem("magic_telescope", 0.355, max_rows=3000),
    Problem("satimage", 0.315, max_rows=3000),
    Problem("spambase", max_rows=3000),
)


class Fold(NamedTuple):
    """Rows to fit on and rows to predict."""

    X: Floats
    y: NDArray[Any]
    X_test: Floats
    y_test: NDArray[Any]


class Row(NamedTuple):
    """What was measured on one data set."""

    problem: Problem
    losses: Floats
    splits: NDArray[np.int64]
    peers: dict[str, float]
    seconds: float


def load(directory: Path, name: str, max_rows: int | None) -> tuple[Floats, NDArray[Any]] | None:
    """Features and classes of a prepared table; None if it is not there."""
    import pandas as pd

    paths = [path for path in (directory / f"{name}.csv", directory / f"{name}.csv.gz") if path.exists()]
    if not paths:
        return None
    frame = pd.read_csv(paths[0]).dropna()
    if max_rows is not None and len(frame) > max_rows:
        frame = frame.sample(max_rows, random_state=0)
    X = pd.get_dummies(frame.drop(columns="target")).to_numpy(dtype=np.float64)
    return X, frame["target"].to_numpy()


def folds(directory: Path, problem: Problem) -> list[Fold] | None:
    """The five folds of a data set, or its one fold where it comes with rows to fit on."""
    table = load(directory, problem.name, problem.max_rows)
    if table is None:
        return None
    X, y = table
    if problem.train is not None:
        train = load(directory, problem.train, None)
        return None if train is None else [Fold(*train, X, y)]
    parts = StratifiedKFold(5, shuffle=True, random_state=42).split(X, y)
    return [Fold(X[train], y[train], X[test], y[test]) for train, test in parts]


def loss(model: Any, fold: Fold) -> float:
    """Log-loss of a model that is fitted on one part of a fold and asked about the other."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(fold.X, fold.y)
    return float(log_loss(fold.y_test, model.predict_proba(fold.X_test), labels=model.classes_))


def measure(problem: Problem, parts: list[Fold], n_seeds: int) -> Row:
    """Fit and judge all seeds and all peers on the same folds."""
    losses = np.empty((n_seeds, len(parts)))
    splits = np.empty((n_seeds, len(parts)), dtype=np.int64)
    start = time.perf_counter()
    for seed in range(n_seeds):
        for index, fold in enumerate(parts):
            model = ReticulumClassifier(random_state=seed)
            losses[seed, index] = loss(model, fold)
            splits[seed, index] = model.n_splits_
    seconds = (time.perf_counter() - start) / losses.size
    peers = {name: float(np.mean([loss(make(), fold) for fold in parts])) for name, make in PEERS.items()}
    return Row(problem, losses.mean(axis=1), splits, peers, seconds)


def measured(directory: Path, problems: list[Problem], n_seeds: int) -> Iterator[Row]:
    """One row after the other, with progress on standard error."""
    for number, problem in enumerate(problems, start=1):
        print(f"[{number}/{len(problems)}] {problem.name} ...", end=" ", file=sys.stderr, flush=True)
        parts = folds(directory, problem)
        if parts is None:
            print("skipped: its table is not there", file=sys.stderr)
            continue
        row = measure(problem, parts, n_seeds)
        print(f"{row.losses.mean():.4f}, {row.seconds:.1f} s a fit", file=sys.stderr, flush=True)
        yield row


def table(rows: list[Row]) -> str:
    """Everything as one Markdown table; its last line has the geometric means of the ratios to each peer."""
    names = ["data", "log-loss", "worst seed", "splits", "s a fit", "limit", "met", *PEERS]
    lines = ["| " + " | ".join(names) + " |", "|---" + "|---:" * (len(names) - 1) + "|"]
    for row in rows:
        cells = [
            row.problem.name,
            f"{row.losses.mean():.4f}",
            f"{row.losses.max():.4f}",
            _range(row.splits),
            f"{row.seconds:.1f}",
            _limits(row.problem),
            _met(row),
            *(f"{row.peers[name]:.4f}" for name in PEERS),
        ]
        lines.append("| " + " | ".join(cells) + " |")
    means = [f"{np.exp(np.mean([np.log(row.losses.mean() / row.peers[name]) for row in rows])):.3f}" for name in PEERS]
    lines.append("| geometric mean of log-loss / peer's" + " |" * 7 + " " + " | ".join(means) + " |")
    return "\n".join(lines)


def _range(splits: NDArray[np.int64]) -> str:
    low, high = int(splits.min()), int(splits.max())
    return str(low) if low == high else f"{low} to {high}"


def _limits(problem: Problem) -> str:
    limits = [] if problem.limit is None else [f"≤ {problem.limit:.3f}"]
    limits += [] if problem.usual_splits is None else [f"{problem.usual_splits} splits in 95%"]
    limits += [] if problem.max_splits is None else [f"≤ {problem.max_splits} splits"]
    return ", ".join(limits) or "none"


def _met(row: Row) -> str:
    if row.problem.limit is None:
        return ""
    return "yes" if row.problem.is_met(row.losses, row.splits) else "**no**"


def _chosen(names: str | None) -> list[Problem]:
    if names is None:
        return list(PROBLEMS)
    known = {problem.name: problem for problem in PROBLEMS}
    wanted = [name.strip() for name in names.split(",")]
    unknown = [name for name in wanted if name not in known]
    if unknown:
        raise SystemExit(f"--only: {unknown[0]!r} is not a data set of this benchmark. Choose from {', '.join(known)}.")
    return [known[name] for name in wanted]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, metavar="DIR", help="folder with the tables, as CSV")
    parser.add_argument("--seeds", type=int, default=1, metavar="K", help="fits with random_state below K (default: 1)")
    parser.add_argument("--only", metavar="NAME,NAME", help="some data sets alone")
    parser.add_argument("--limits", action="store_true", help="exit with 1 if a limit is not met")
    arguments = parser.parse_args()
    problems = _chosen(arguments.only)
    if arguments.seeds < 1:
        parser.error(f"--seeds must be at least 1; got {arguments.seeds}.")
    if not arguments.data.is_dir():
        print(f"Skipped: there is no folder {arguments.data}. Give the folder that holds cross.csv and the others.")
        return 0
    try:
        import pandas  # noqa: F401
    except ImportError as error:
        raise ImportError(
            "reading the tables needs pandas, which is not installed. "
            "Install the extra 'benchmarks': pip install 'bayesian-reticulum[benchmarks]'"
        ) from error
    with threadpool_limits(1):
        rows = list(measured(arguments.data, problems, arguments.seeds))
    if not rows:
        print(f"Skipped: {arguments.data} holds none of the tables {', '.join(problem.name for problem in problems)}.")
        return 0
    print(table(rows))
    missed = any(not row.problem.is_met(row.losses, row.splits) for row in rows)
    return int(arguments.limits and missed)


if __name__ == "__main__":
    sys.exit(main())
