"""Fits and predictions of all models on known tables, in turns."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.datasets import load_breast_cancer
from threadpoolctl import threadpool_limits

from bayesian_reticulum.datasets import make_cross, make_sphere
from scoring.folds import load

from .memory import Memory, Table, read_table, with_table_in_a_process
from .peers import BOOSTED, HISTOGRAMS, NETWORK, OURS, PEERS, Peer, warm_up
from .results import Comparison, Line, print_progress, size_text
from .turns import SLOW_SECONDS, Floats, ratios, seconds_of


class Data(NamedTuple):
    """A table to fit: the largest ratio that its fit may have to that of each peer, and whether memory is measured."""

    limits: Mapping[str, float]
    memory: bool = False


DATA: Mapping[str, Data] = {
    "cross": Data({BOOSTED: 10.0, NETWORK: 1.0}),
    "sphere": Data({BOOSTED: 10.0, NETWORK: 1.0}, memory=True),
    "wdbc": Data({HISTOGRAMS: 10.0}),
    "pima_diabetes": Data({HISTOGRAMS: 10.0}),
    "banknote": Data({HISTOGRAMS: 10.0}),
    "magic_telescope": Data({HISTOGRAMS: 5.0}, memory=True),
}
BUNDLED: Mapping[str, Callable[[], Table]] = {
    "cross": lambda: make_cross(random_state=0)[:2],
    "sphere": lambda: make_sphere(random_state=0)[:2],
    "wdbc": lambda: load_breast_cancer(return_X_y=True),
}


def tables(directory: Path | None) -> Iterator[tuple[str, Table]]:
    """The tables to fit: those that need no file, and those whose file is there."""
    for name in DATA:
        if name in BUNDLED:
            yield name, BUNDLED[name]()
        elif directory is not None:
            table = load_numbers(directory, name)
            if table is None:
                print_progress(f"{name} is left out: there is no file {name}.csv or {name}.csv.gz in {directory}.")
            else:
                yield name, (table[0], np.unique(table[1], return_inverse=True)[1])


def load_numbers(directory: Path, name: str) -> Table | None:
    """Numbers and targets of a table as `quality.py` prepares it; None without its file."""
    table = load(directory, name, None)
    return None if table is None else (table[0].to_numpy(dtype=np.float64), table[1])


def compare(directory: Path | None, repeats: int, threads: int, names: Sequence[str]) -> Iterator[Comparison]:
    """Fits and predictions of the installed ones of these models, in turns on each table."""
    for name, (X, y) in tables(directory):
        print_progress(f"  {name}, {size_text(X.shape)} ...")
        models = {
            model: peer
            for model, peer in PEERS.items()
            if model in names and peer.is_installed() and (peer.most_rows is None or len(X) <= peer.most_rows)
        }
        times = fits_in_turns(models, X, y, repeats, threads)
        for model, (fit, predict) in times.items():
            memory = with_table_in_a_process(fit_memory, (X, y), model) if DATA[name].memory else None
            yield Comparison(name, X.shape, model, fit, predict, memory)


def fits_in_turns(
    models: Mapping[str, Peer], X: Floats, y: Any, repeats: int, threads: int
) -> dict[str, tuple[Floats, Floats]]:
    """Seconds of fits and of predictions of each model; those of a prediction are the median of five."""
    times: dict[str, list[tuple[float, float]]] = {name: [] for name in models}
    for name in models:
        warm_up(name, X, y, threads)
    for turn in range(repeats):
        for name, peer in models.items():
            if turn and times[name][0][0] > SLOW_SECONDS:
                continue
            model = peer.make(turn, threads)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                fit = seconds_of(lambda model=model: model.fit(X, y))
                predictions = [seconds_of(lambda model=model: model.predict_proba(X)) for _ in range(5)]
            times[name].append((fit, float(np.median(predictions))))
    return {name: tuple(np.transpose(values)) for name, values in times.items()}


def fit_memory(path: Path, name: str) -> float:
    """Megabytes that one fit takes beyond the table; in one thread, as some would start processes for more."""
    X, y = read_table(path)
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warm_up(name, X, y, 1)
        memory = Memory()
        PEERS[name].make(0, 1).fit(X, y)
        return memory.megabytes()


def fit_limits(comparisons: Sequence[Comparison]) -> Iterator[Line]:
    """The limits on fits as lines."""
    by_name = {(comparison.data, comparison.model): comparison for comparison in comparisons}
    for data, (limits, _) in DATA.items():
        for peer, largest in limits.items():
            if (data, peer) in by_name:
                ours, theirs = by_name[data, OURS], by_name[data, peer]
                ratio = ratios(ours.fit, theirs.fit)
                task = f"fit, {data} {size_text(ours.size)}"
                yield Line(task, f"to {peer}", ours.fit, "s", ratio, (float(np.median(ratio)), largest, "×"))
