"""Fits of all models on the folds of a data set, and their scores."""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from .folds import Fold
from .peers import OURS, RIVAL, has_rival
from .problems import Problem


class Run(NamedTuple):
    """One kind of model on all folds."""

    scores: Any
    splits: list[int]
    seconds: float


class Row(NamedTuple):
    """One data set: the scores of each model by its name, and the sizes of the reticulum (seeds, folds)."""

    problem: Problem
    scores: dict[str, Any]
    splits: NDArray[np.int64]
    seconds: float

    @property
    def ours(self) -> Any:
        return self.scores[OURS]

    def is_met(self) -> bool:
        return self.problem.is_met(self.scores, self.splits)


def fit(model: Any, fold: Fold) -> float:
    """Fit on one part of a fold; returns the seconds that it took."""
    start = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(fold.X, fold.y)
    return time.perf_counter() - start


def run(problem: Problem, parts: list[Fold], make: Callable[[], Any]) -> Run:
    """Fit and judge one kind of model on all folds."""
    judged: list[Any] = []
    splits, seconds = [], []
    for fold in parts:
        model = make()
        seconds.append(fit(model, fold))
        judged.append(problem.judge(model, fold))
        splits.append(getattr(model, "n_splits_", 0))
    return Run(problem.score(judged, parts), splits, float(np.mean(seconds)))


def measure(problem: Problem, parts: list[Fold], n_seeds: int) -> Row:
    """Fit and judge all seeds and all peers on the same folds."""
    ours = [run(problem, parts, partial(problem.model, random_state=seed)) for seed in range(n_seeds)]
    peers = {name: make for name, make in problem.peers.items() if name != RIVAL or has_rival()}
    scores = {OURS: stack_seeds([done.scores for done in ours])}
    prepared = [fold.for_peers() for fold in parts]
    scores |= {name: stack_seeds([run(problem, prepared, make).scores]) for name, make in peers.items()}
    splits = np.array([done.splits for done in ours])
    return Row(problem, scores, splits, float(np.mean([done.seconds for done in ours])))


def stack_seeds(scores: Sequence[Any]) -> Any:
    """The scores of all seeds as one, with an array (seeds,) for each measure."""
    return type(scores[0])(*np.transpose(scores))


def measure_all(directory: Path, problems: list[Problem], n_seeds: int) -> Iterator[Row]:
    """One row after the other, with progress on standard error."""
    for number, problem in enumerate(problems, start=1):
        print(f"[{number}/{len(problems)}] {problem.name} ...", end=" ", file=sys.stderr, flush=True)
        parts = problem.folds(directory)
        if parts is None:
            print("skipped: its table is not there", file=sys.stderr)
            continue
        row = measure(problem, parts, n_seeds)
        print(f"{row.ours[0].mean():.4f}, {row.seconds:.1f} s a fit", file=sys.stderr, flush=True)
        yield row
