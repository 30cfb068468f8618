"""Time and memory against peers in the same run, with the limits that the library is held to.

Prints Markdown tables. Times depend on the machine and on what else it does: peers take turns with what is measured,
and a ratio is taken within a turn. Shown are the median over the turns and, as "least to most", their range. All have
two threads, unless --threads or a line says otherwise; memory is measured in a process of its own.

On a busy machine, peers whose threads wait for each other lose far more than those that work alone. The report says how
busy it was; with --threads 1 the ratios still mean something there.

Needs no data. With --data also known tables are fitted, from files like banknote.csv with the class in the column
`target`, and with --large covertype.
"""

from __future__ import annotations

import argparse
import contextlib
import functools
import importlib.util
import os
import platform
import resource
import signal
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from multiprocessing import get_context
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split
from sklearn.neural_network import MLPClassifier
from sklearn.tree import DecisionTreeClassifier
from threadpoolctl import threadpool_limits

from bayesian_reticulum import DirichletCategorical, Reticulum, ReticulumClassifier, Schema, Tree
from bayesian_reticulum.compiled import instruction_set, is_available
from bayesian_reticulum.datasets import make_cross, make_sphere
from bayesian_reticulum.rows import rows_in_memory
from bayesian_reticulum.rows.numpy import NumpyRows
from bayesian_reticulum.tree import single_leaf, split_leaf

Floats = NDArray[np.float64]
Table = tuple[Floats, NDArray[Any]]
FAMILY = DirichletCategorical((0.5, 0.5))
OURS = "reticulum"
PARTS = ("passes", "predictions", "growth", "fits", "covertype")
SLOW = 20.0  # seconds; what takes longer takes one turn alone
BLOCKS = (512, 1024, 2048)  # rows at a time in the least work that a pass has to do; the fastest counts
IMPORT = (
    "import time; from sklearn.base import BaseEstimator; start = time.perf_counter(); import bayesian_reticulum; "
    "print(time.perf_counter() - start)"
)


class Line(NamedTuple):
    """One line of the table of limits; a limit is `(measured, largest allowed, unit)`."""

    task: str
    subject: str
    values: Floats
    unit: str
    ratios: Floats | None = None
    limit: tuple[float, float, str] | None = None

    def is_met(self) -> bool:
        """Whether the limit, if there is one, is kept; a NaN keeps none."""
        return self.limit is None or self.limit[0] <= self.limit[1]


class Peer(NamedTuple):
    """A kind of model: how it is made from a seed and a number of threads, and the package that it comes from.

    Tables with more than `most_rows` rows are not given to it: it would take most of the time of the whole run.
    """

    make: Callable[[int, int], Any]
    package: str = "sklearn"
    most_rows: int | None = None

    def is_installed(self) -> bool:
        return importlib.util.find_spec(self.package) is not None


def _xgboost(seed: int, threads: int, n_trees: int = 200, depth: int = 3) -> Any:
    from xgboost import XGBClassifier

    return XGBClassifier(n_estimators=n_trees, max_depth=depth, n_jobs=threads, random_state=seed)


def _lightgbm(seed: int, threads: int) -> Any:
    from lightgbm import LGBMClassifier

    return LGBMClassifier(n_jobs=threads, random_state=seed, verbosity=-1)


def _catboost(seed: int, threads: int) -> Any:
    from catboost import CatBoostClassifier

    return CatBoostClassifier(thread_count=threads, random_seed=seed, verbose=0, allow_writing_files=False)


def _ebm(seed: int, threads: int) -> Any:
    from interpret.glassbox import ExplainableBoostingClassifier

    return ExplainableBoostingClassifier(n_jobs=threads, random_state=seed)


def _soft_tree(seed: int, threads: int) -> Any:
    import torch
    from neural_trees import SoftDecisionTree

    # Its batches are so small that a second thread makes it slower.
    torch.set_num_threads(1)
    return SoftDecisionTree(random_state=seed)


PEERS: Mapping[str, Peer] = {
    OURS: Peer(lambda seed, threads: ReticulumClassifier(n_jobs=threads, random_state=seed), "bayesian_reticulum"),
    "decision tree (CART)": Peer(lambda seed, threads: DecisionTreeClassifier(random_state=seed)),
    "random forest": Peer(lambda seed, threads: RandomForestClassifier(n_jobs=threads, random_state=seed)),
    "HistGradientBoosting": Peer(lambda seed, threads: HistGradientBoostingClassifier(random_state=seed)),
    "neural network (32)": Peer(
        lambda seed, threads: MLPClassifier((32,), learning_rate_init=1e-3, max_iter=500, random_state=seed)
    ),
    "XGBoost, 200 × depth 3": Peer(_xgboost, "xgboost"),
    "LightGBM": Peer(_lightgbm, "lightgbm"),
    "CatBoost": Peer(_catboost, "catboost"),
    "EBM": Peer(_ebm, "interpret"),
    "soft tree (neural-trees), 1 thread": Peer(_soft_tree, "neural_trees", most_rows=10_000),
}

BOOSTED, NETWORK, HISTOGRAMS = "XGBoost, 200 × depth 3", "neural network (32)", "HistGradientBoosting"


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


class Comparison(NamedTuple):
    """One kind of model on one table: seconds of its fits and predictions, each (turns,), and megabytes of a fit."""

    data: str
    size: tuple[int, int]
    model: str
    fit: Floats
    predict: Floats
    memory: float | None = None


class Scaling(NamedTuple):
    """Seconds of fits, (turns,) for each size of what grows; fewer turns where they are slow."""

    what: str
    sizes: Sequence[int]
    seconds: Sequence[Floats]
    limit: float | None = None

    @property
    def exponents(self) -> Floats:
        """Slope of log time over log size by least squares, for each turn that all sizes took."""
        turns = min(map(len, self.seconds))
        logs = np.log([values[:turns] for values in self.seconds])
        return np.polyfit(np.log(self.sizes), logs, 1)[0]


class Part(NamedTuple):
    """Milliseconds that one part of a pass takes, and the same part of the least work that a pass has to do."""

    name: str
    floor: float
    own: float


@dataclass
class Report:
    """What has been measured so far; it can be printed at any time."""

    lines: list[Line] = field(default_factory=list)
    comparisons: list[Comparison] = field(default_factory=list)
    parts: list[Part] = field(default_factory=list)
    grown: list[Scaling] = field(default_factory=list)

    def limits(self) -> list[Line]:
        """All lines, those that follow from fits and from their growth included."""
        return [*fit_limits(self.comparisons), *self.lines, *scaling_limits(self.grown)]

    def __str__(self) -> str:
        tables = {
            "Limits": (limit_table, self.limits()),
            "Peers": (peer_table, self.comparisons),
            "Where a pass spends its time": (part_table, self.parts),
            "Growth of fit time": (scaling_table, self.grown),
        }
        return "\n\n".join(f"## {title}\n\n{make(found)}" for title, (make, found) in tables.items() if found)


class Memory:
    """Memory that this process comes to hold beyond what it holds when this object is made."""

    def __init__(self) -> None:
        self._before = _most_held(reset=True)

    def megabytes(self) -> float:
        return (_most_held() - self._before) / 1e6


def _most_held(reset: bool = False) -> float:
    """The most bytes that were resident in this process.

    Linux counts for a process that was started what the one that started it had held, but not in this file; and there
    it can be reset to what is held now.
    """
    try:
        if reset:
            Path("/proc/self/clear_refs").write_text("5")
        status = Path("/proc/self/status").read_text()
        return 1024.0 * int(status.split("VmHWM:")[1].split()[0])
    except (OSError, IndexError):
        unit = 1 if sys.platform == "darwin" else 1024
        return float(unit * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)


def in_a_process(function: Callable[..., Any], *arguments: Any) -> Any:
    """What a function of this module returns in a fresh process."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        return pool.submit(function, *arguments).result()


def in_turns(tasks: Mapping[str, Callable[[int], Any]], repeats: int) -> dict[str, Floats]:
    """Seconds (repeats,) of each task, called with the number of the turn; a slow task takes one turn alone.

    They take turns, so that a busy moment of the machine hits all of them.
    """
    seconds: dict[str, list[float]] = {name: [] for name in tasks}
    for turn in range(repeats):
        for name, task in tasks.items():
            if turn and seconds[name][0] > SLOW:
                continue
            seconds[name].append(seconds_of(functools.partial(task, turn)))
    return {name: np.array(values) for name, values in seconds.items()}


def seconds_of(task: Callable[[], Any]) -> float:
    start = time.perf_counter()
    task()
    return time.perf_counter() - start


def ratios(own: Floats, other: Floats) -> Floats:
    """Ratio of two times in each turn that both took."""
    turns = min(len(own), len(other))
    return own[:turns] / other[:turns]


# Fits and predictions of all models


def tables(directory: Path | None) -> Iterator[tuple[str, Table]]:
    """The tables to fit, those with a file as far as it is there."""
    for name in DATA:
        if name in BUNDLED:
            yield name, BUNDLED[name]()
        elif directory is not None:
            table = loaded(directory, name)
            if table is None:
                _say(f"{name} is left out: there is no file {name}.csv or {name}.csv.gz in {directory}.")
            else:
                yield name, (table[0], np.unique(table[1], return_inverse=True)[1])


def loaded(directory: Path, name: str) -> Table | None:
    """Numbers and targets of a table as `quality.py` prepares it; None without its file."""
    from quality import load

    table = load(directory, name, None)
    return None if table is None else (table[0].to_numpy(dtype=np.float64), table[1])


def compared(directory: Path | None, repeats: int, threads: int, names: Sequence[str]) -> Iterator[Comparison]:
    """Fits and predictions of the installed ones of these models, in turns on each table."""
    for name, (X, y) in tables(directory):
        _say(f"  {name}, {_size(X.shape)} ...")
        models = {
            model: peer
            for model, peer in PEERS.items()
            if model in names and peer.is_installed() and (peer.most_rows is None or len(X) <= peer.most_rows)
        }
        times = fits_in_turns(models, X, y, repeats, threads)
        for model, (fit, predict) in times.items():
            memory = _in_a_file(fit_memory, (X, y), model) if DATA[name].memory else None
            yield Comparison(name, X.shape, model, fit, predict, memory)


def fits_in_turns(
    models: Mapping[str, Peer], X: Floats, y: Any, repeats: int, threads: int
) -> dict[str, tuple[Floats, Floats]]:
    """Seconds of fits and of predictions of each model; those of a prediction are the median of five."""
    times: dict[str, list[tuple[float, float]]] = {name: [] for name in models}
    for name in models:
        _warmed_up(name, X, y, threads)
    for turn in range(repeats):
        for name, peer in models.items():
            if turn and times[name][0][0] > SLOW:
                continue
            model = peer.make(turn, threads)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                fit = seconds_of(lambda model=model: model.fit(X, y))
                predictions = [seconds_of(lambda model=model: model.predict_proba(X)) for _ in range(5)]
            times[name].append((fit, float(np.median(predictions))))
    return {name: tuple(np.transpose(values)) for name, values in times.items()}


def _warmed_up(name: str, X: Floats, y: Any, threads: int) -> None:
    """A fit on a few rows of each class, so that imports and the start of threads are not measured."""
    few = np.concatenate([np.flatnonzero(y == label)[:50] for label in np.unique(y)])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        PEERS[name].make(0, threads).fit(X[few], y[few])


def fit_memory(path: Path, name: str) -> float:
    """Megabytes that one fit takes beyond the table; in one thread, as some would start processes for more."""
    X, y = _read(path)
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        _warmed_up(name, X, y, 1)
        memory = Memory()
        PEERS[name].make(0, 1).fit(X, y)
        return memory.megabytes()


def fit_limits(comparisons: Sequence[Comparison]) -> Iterator[Line]:
    """The limits on fits as lines, from what was measured."""
    by_name = {(comparison.data, comparison.model): comparison for comparison in comparisons}
    for data, (limits, _) in DATA.items():
        for peer, largest in limits.items():
            if (data, peer) in by_name:
                own, other = by_name[data, OURS], by_name[data, peer]
                ratio = ratios(own.fit, other.fit)
                task = f"fit, {data} {_size(own.size)}"
                yield Line(task, f"to {peer}", own.fit, "s", ratio, (float(np.median(ratio)), largest, "×"))


# Predictions from a given tree


def predictions(repeats: int, threads: int) -> Iterator[Line]:
    """Probabilities of a million rows from a random tree of 15 splits, and from common models."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((1_000_000, 20))
    own = ReticulumClassifier(n_jobs=threads)
    own.model_ = random_model(15, X[:10_000], rng)
    own.classes_, own.n_features_in_ = np.array([0, 1]), X.shape[1]
    sample = X[:10_000]
    y = (sample[:, 0] * sample[:, 1] > 0).astype(np.int64)
    boosted = "XGBoost, 100 × depth 6"
    models: dict[str, Any] = {
        "HistGradientBoosting, 100 trees": HistGradientBoostingClassifier(max_iter=100, early_stopping=False),
        "LogisticRegression": LogisticRegression(),
    }
    if PEERS[BOOSTED].is_installed():
        models = {boosted: _xgboost(0, threads, 100, 6)} | models
    for model in models.values():
        model.fit(sample, y)
    every = {f"{OURS}, 15 splits": own} | models
    seconds = in_turns({name: lambda _, model=model: model.predict_proba(X) for name, model in every.items()}, repeats)
    own_seconds, *_ = seconds.values()
    for name, values in seconds.items():
        ratio = ratios(own_seconds, values)
        limit = (float(np.median(ratio)), 1.0, "×") if name == boosted else None
        task = "predict_proba, 1 000 000 × 20"
        if name in models:
            yield Line(task, f"to {name}", own_seconds, "s", ratio, limit)
    yield from one_row(own, models.get(boosted), X[:1])


def one_row(own: ReticulumClassifier, boosted: Any, row: Floats, calls: int = 300) -> Iterator[Line]:
    """Microseconds for one row: by the light path, by predict_proba, and by boosting."""
    tasks = {"model_.predict_mean": own.model_.predict_mean, "predict_proba": own.predict_proba}
    if boosted is not None:
        tasks["XGBoost, 100 × depth 6"] = boosted.predict_proba
    seconds = in_turns({name: lambda _, task=task: task(row) for name, task in tasks.items()}, calls)
    light = seconds["model_.predict_mean"]
    for name, values in seconds.items():
        limit = (1e6 * float(np.median(values)), 60.0, "µs") if values is light else None
        yield Line("one row of 20 cells", name, _middle(1e6 * values), "µs", _middle(ratios(light, values)), limit)


def _middle(values: Floats) -> Floats:
    """The middle nine tenths: of many short calls a few are interrupted."""
    low, high = np.quantile(values, [0.05, 0.95])
    return values[(low <= values) & (values <= high)]


# One pass over the rows


def floor(design: Floats, hyperplanes: Floats, size: int, steps: int) -> None:
    """The least that a pass has to do, in blocks of `size` rows with NumPy.

    One product (1 step), the exponentials of its gates (2), another product (3).
    """
    activations = np.empty((len(hyperplanes), size))
    gradient = np.zeros(hyperplanes.shape)
    for start in range(0, design.shape[1], size):
        block = design[:, start : start + size]
        activation = activations[:, : block.shape[1]]
        np.matmul(hyperplanes, block, out=activation)
        if steps > 1:
            np.exp(activation, out=activation)
        if steps > 2:
            gradient += activation @ block.T


def passes(repeats: int) -> tuple[list[Line], list[Part]]:
    """One pass with 31 splits in one thread, against the least that it has to do and against NumPy; and its parts."""
    n, d = 100_000, 20
    X, rows, tree, statistics = random_rows(n, d, np.random.default_rng(0))
    # One row of memory for each column, as compiled code has it: the products are faster than from rows.
    design = np.ascontiguousarray(np.column_stack([np.ones(n), X]).T)
    planes = tree.hyperplanes
    _, narrow, _, _ = random_rows(n, 1, np.random.default_rng(0))
    cut = np.ascontiguousarray(planes[:, :2])
    tasks: dict[str, Callable[[int], Any]] = {
        f"floor {steps}, {size}": lambda _, size=size, steps=steps: floor(design, planes, size, steps)
        for size in BLOCKS
        for steps in (1, 2, 3)
    }
    tasks |= {
        "gradient": lambda _: rows.pass_(planes[None], tree.shape, statistics),
        "gradient and information": lambda _: rows.pass_(planes[None], tree.shape, statistics, information=True),
        "narrow": lambda _: narrow.pass_(cut[None], tree.shape, statistics),
        "memberships": lambda _: rows.prior_statistics(planes[None], tree.shape),
        "narrow memberships": lambda _: narrow.prior_statistics(cut[None], tree.shape),
    }
    seconds = _warm_in_turns(tasks, 5 * repeats)
    best = min(BLOCKS, key=lambda size: np.median(seconds[f"floor 3, {size}"]))
    seconds |= {f"floor {steps}": seconds[f"floor {steps}, {best}"] for steps in (1, 2, 3)}
    parts = parts_of_a_pass({name: 1e3 * float(np.median(values)) for name, values in seconds.items()}, d)
    return [
        *_pass_lines(f"one pass, 31 splits, {_size((n, d))}, 1 thread", seconds, parts),
        *against_numpy(repeats),
    ], parts


def _pass_lines(task: str, seconds: Mapping[str, Floats], parts: Sequence[Part]) -> Iterator[Line]:
    own = seconds["gradient"]
    ratio = ratios(own, seconds["floor 3"])
    limit = (float(np.median(ratio)), 2.0, "×")
    yield Line(task, "gradient, to NumPy's two products and exp", 1e3 * own, "ms", ratio, limit)
    products, gates, _, total = (part.own for part in parts)
    share = total / (products + gates)
    subject = "gradient, to its own two products and gates"
    yield Line(task, subject, 1e3 * own, "ms", np.array([share]), (share, 2.0, "×"))
    both = seconds["gradient and information"]
    subject = "gradient and information, to NumPy's two products and exp"
    yield Line(task, subject, 1e3 * both, "ms", ratios(both, seconds["floor 3"]))


def parts_of_a_pass(times: Mapping[str, float], d: int) -> list[Part]:
    """Where the milliseconds of a pass go, from passes over rows with d columns and with one.

    What grows with the columns are the products; what a pass over one column has in common with sums of memberships
    are the gates.
    """
    products = (d + 1) / (d - 1) * (times["gradient"] - times["narrow"])
    gates = times["narrow memberships"] - 2 / (d - 1) * (times["memberships"] - times["narrow memberships"])
    exponentials = times["floor 2"] - times["floor 1"]
    return [
        Part("two matrix products", times["floor 3"] - exponentials, products),
        Part("gates and memberships (of the least work: exp)", exponentials, gates),
        Part("responsibilities, leaf statistics, slopes", 0.0, times["gradient"] - products - gates),
        Part("all", times["floor 3"], times["gradient"]),
    ]


def against_numpy(repeats: int) -> Iterator[Line]:
    """A small pass in compiled code and in NumPy."""
    if not is_available():
        _say("There is no compiled code, or it is switched off: it is not compared with NumPy.")
        return
    n, d = 5000, 2
    X, rows, tree, statistics = random_rows(n, d, np.random.default_rng(0))
    plain = NumpyRows(X, rows._targets, FAMILY, np.ones(n), _schema(X))
    both = {
        "compiled": lambda _: rows.pass_(tree.hyperplanes[None], tree.shape, statistics),
        "NumPy": lambda _: plain.pass_(tree.hyperplanes[None], tree.shape, statistics),
    }
    seconds = _warm_in_turns(both, 20 * repeats)
    ratio = _middle(ratios(seconds["compiled"], seconds["NumPy"]))
    limit = (float(np.median(ratio)), 0.25, "×")
    task = f"one pass, 31 splits, {n} × {d}, 1 thread"
    yield Line(task, "compiled, to NumPy", _middle(1e3 * seconds["compiled"]), "ms", ratio, limit)


def _warm_in_turns(tasks: Mapping[str, Callable[[int], Any]], repeats: int) -> dict[str, Floats]:
    # What is kept between passes is made in the first one.
    with threadpool_limits(1):
        for task in tasks.values():
            task(0)
        return in_turns(tasks, repeats)


def memory() -> Iterator[Line]:
    """Largest memory beyond the rows themselves during one pass over a million of them."""
    megabytes = in_a_process(pass_memory, 1_000_000, 20)
    task = "one pass, 31 splits, 1 000 000 × 20"
    yield Line(task, "memory beyond X", np.array([megabytes]), "MB", None, (megabytes, 64.0, "MB"))


def pass_memory(n: int, d: int) -> float:
    """Megabytes that the first pass over rows takes, with what it keeps for the next."""
    _, small, tree, statistics = random_rows(1000, d, np.random.default_rng(0))
    small.pass_(tree.hyperplanes[None], tree.shape, statistics)
    _, rows, tree, statistics = random_rows(n, d, np.random.default_rng(0))
    held = Memory()
    rows.pass_(tree.hyperplanes[None], tree.shape, statistics)
    return held.megabytes()


# How cost grows


def scalings(full: bool, repeats: int, threads: int) -> Iterator[Scaling]:
    """Fit time by the number of rows, splits, columns and classes, the number of splits given but for the second."""
    n_rows = (10_000, 30_000, 100_000, 300_000, 1_000_000) if full else (10_000, 30_000, 100_000)
    n_splits = (3, 7, 15, 31) if full else (3, 7, 15)
    n_columns = (2, 4, 8, 16, 32) if full else (2, 4, 8)
    n_classes = (2, 4, 8, 16) if full else (2, 4, 8)
    yield _scaling("rows", n_rows, lambda n: (board(n, 6, 4), 7), 1.1, repeats, threads)
    yield _scaling("splits", n_splits, lambda m: (board(10_000, 2, 4), m), 1.3, repeats, threads)
    yield _scaling("columns", n_columns, lambda d: (board(10_000, d, 4), 7), None, repeats, threads)
    yield _scaling("classes", n_classes, lambda k: (board(10_000, 2, k), 7), None, repeats, threads)


def _scaling(
    what: str,
    sizes: Sequence[int],
    make: Callable[[int], tuple[Table, int]],
    limit: float | None,
    repeats: int,
    threads: int,
) -> Scaling:
    _say(f"  {what} ...")

    def fit(size: int, problem: tuple[Table, int]) -> Callable[[int], None]:
        (X, y), n_splits = problem

        def task(turn: int) -> None:
            model = ReticulumClassifier(max_splits=n_splits, n_jobs=threads, random_state=turn).fit(X, y)
            if model.n_splits_ < n_splits:
                _say(f"  {what} = {size}: {model.n_splits_} of {n_splits} splits were used")

        return task

    seconds = in_turns({str(size): fit(size, make(size)) for size in sizes}, repeats)
    return Scaling(what, sizes, list(seconds.values()), limit)


def board(n: int, d: int, n_classes: int, side: int = 8) -> Table:
    """Rows (n, d) on a board of side × side fields, each with a class of its own drawing; one class in ten is wrong.

    A tree of few splits never comes to its end here, so that the number of splits can be given.
    """
    colours = np.random.default_rng(1).integers(n_classes, size=(side, side))
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(n, d))
    column, row = (side * X[:, :2].T).astype(np.int64)
    y = colours[column, row]
    return X, np.where(rng.random(n) < 0.1, rng.integers(n_classes, size=n), y)


def scaling_limits(grown: Sequence[Scaling]) -> Iterator[Line]:
    """Exponents as lines."""
    for scaling in grown:
        values = scaling.exponents
        limit = None if scaling.limit is None else (float(np.median(values)), scaling.limit, "")
        sizes = f"{_number(scaling.sizes[0])} to {_number(scaling.sizes[-1])}"
        yield Line("growth of fit time", f"exponent, {sizes} {scaling.what}", values, "", None, limit)


# A large table, and the import


def large(directory: Path, threads: int) -> Iterator[Line]:
    """Four fifths of covertype, fitted in a process of its own, and the others predicted."""
    table = loaded(directory, "covertype")
    if table is None:
        _say(f"covertype is left out: there is no file covertype.csv or covertype.csv.gz in {directory}.")
        return
    seconds, megabytes, loss, n_splits, size = _in_a_file(large_fit, table, threads)
    task = f"fit, covertype {_size(size)}"
    subject = f"{OURS}, {n_splits} splits"
    yield Line(task, subject, np.array([seconds / 60]), "min", None, (seconds / 60, 15.0, "min"))
    table_size = 8e-6 * size[0] * size[1]
    share = (table_size + megabytes) / table_size
    memory = np.array([megabytes])
    yield Line(task, "X and all memory beyond, to X", memory, "MB", np.array([share]), (share, 2.5, "×"))
    yield Line(task, "log-loss of the other fifth", np.array([loss]), "nats", None, (loss, 0.60, "nats"))


def large_fit(path: Path, threads: int) -> tuple[float, float, float, int, tuple[int, int]]:
    """Seconds, megabytes beyond the table, held-out log-loss and splits of one fit, and the size of its table."""
    X, X_test, y, y_test = train_test_split(*_read(path), test_size=0.2, random_state=0)
    with threadpool_limits(threads):
        _warmed_up(OURS, X, y, threads)
        model = ReticulumClassifier(n_jobs=threads, random_state=0)
        held = Memory()
        seconds = seconds_of(lambda: model.fit(X, y))
        megabytes = held.megabytes()
    loss = log_loss(y_test, model.predict_proba(X_test), labels=model.classes_)
    return seconds, megabytes, float(loss), model.n_splits_, X.shape


def imports(repeats: int) -> Iterator[Line]:
    """What the import adds to that of scikit-learn, in fresh processes, from bytecode as where it is installed."""
    with tempfile.TemporaryDirectory() as directory:
        # An empty value switches it off, so that the first process leaves the bytecode for the others.
        environment = os.environ | {"PYTHONPYCACHEPREFIX": directory, "PYTHONDONTWRITEBYTECODE": ""}
        command = [sys.executable, "-c", IMPORT]
        outputs = [subprocess.check_output(command, env=environment, text=True) for _ in range(2 + 3 * repeats)]
    seconds = np.array([float(output) for output in outputs[2:]])
    limit = (float(np.median(seconds)), 0.1, "s")
    yield Line("import bayesian_reticulum", "beyond sklearn.base", seconds, "s", None, limit)


# Random trees and rows


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
    rows = rows_in_memory(X, rng.integers(2, size=n), FAMILY, np.ones(n), _schema(X[:10_000]))
    tree = random_tree(31, d, rng)
    statistics = rng.gamma(2.0, n / 200, size=(1, tree.n_leaves, FAMILY.n_statistics))
    return X, rows, tree, statistics


def _schema(X: Floats) -> Schema:
    return Schema.from_columns(X, np.ones(len(X)), tuple(f"x{j}" for j in range(X.shape[1])))


def _in_a_file(function: Callable[..., Any], table: Table, *arguments: Any) -> Any:
    """What a function of a file with a table returns in a fresh process; sent there, a table would be copied."""
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "table.npz"
        np.savez(path, X=table[0], y=table[1])
        return in_a_process(function, path, *arguments)


def _read(path: Path) -> Table:
    with np.load(path) as arrays:
        return arrays["X"], arrays["y"]


# What is printed and drawn


def limit_table(lines: Sequence[Line]) -> str:
    """Everything that was measured for a limit, and what belongs beside it."""
    names = ["task", "subject", "median", "least to most", "ratio", "least to most", "limit", "met"]
    body = []
    for line in lines:
        ratio = ("", "") if line.ratios is None else (f"{np.median(line.ratios):.2f}", _spread(line.ratios))
        limit, met = "", ""
        if line.limit is not None:
            _, largest, unit = line.limit
            limit, met = f"≤ {largest:g} {unit}".strip(), "yes" if line.is_met() else "**no**"
        median = f"{np.median(line.values):.3g} {line.unit}".strip()
        body.append([line.task, line.subject, median, _spread(line.values), *ratio, limit, met])
    return markdown(names, body, n_words=2)


def peer_table(comparisons: Sequence[Comparison]) -> str:
    """Times and memory of all models; ratios are those of the reticulum to the model of the line."""
    own = {comparison.data: comparison for comparison in comparisons if comparison.model == OURS}
    names = ["data", "model", "fit, s", "least to most", "ours / its", "least to most"]
    names += ["predict_proba, ms", "ours / its", "least to most", "memory, MB", "ours / its"]
    body = []
    for data, size, model, fit, predict, memory in comparisons:
        ours = own[data]
        of_fit, of_predict = ratios(ours.fit, fit), ratios(ours.predict, predict)
        body.append(
            [
                f"{data}, {_size(size)}",
                model,
                f"{np.median(fit):.3g}",
                _spread(fit),
                f"{np.median(of_fit):.3g}",
                _spread(of_fit),
                f"{1e3 * np.median(predict):.3g}",
                f"{np.median(of_predict):.3g}",
                _spread(of_predict),
                *_memory_cells(ours.memory, memory),
            ]
        )
    return markdown(names, body, n_words=2)


def _memory_cells(own: float | None, memory: float | None) -> tuple[str, str]:
    """Megabytes, and the ratio to them; less than one of them is within what a process takes by chance."""
    if memory is None:
        return "", ""
    return (f"{memory:.1f}", "" if own is None else f"{own / memory:.2f}") if memory >= 1.0 else ("< 1", "")


def part_table(parts: Sequence[Part]) -> str:
    """Where a pass spends its time."""
    total = parts[-1].own
    body = [[part.name, f"{part.floor:.1f}", f"{part.own:.1f}", f"{part.own / total:.0%}"] for part in parts]
    return markdown(["part of a pass", "least work, ms", "pass, ms", "share of the pass"], body)


def scaling_table(grown: Sequence[Scaling]) -> str:
    """Fit times by size."""
    body = [
        [scaling.what, f"{_number(size)}", f"{np.median(seconds):.3g}", _spread(seconds)]
        for scaling in grown
        for size, seconds in zip(scaling.sizes, scaling.seconds, strict=True)
    ]
    return markdown(["what grows", "number", "fit, s", "least to most"], body)


def markdown(names: Sequence[str], lines: Sequence[Sequence[str]], n_words: int = 1) -> str:
    """A Markdown table with the first columns to the left and numbers to the right."""
    rule = "|---" * n_words + "|---:" * (len(names) - n_words) + "|"
    header, *body = ("| " + " | ".join(cells) + " |" for cells in [names, *lines])
    return "\n".join([header, rule, *body])


def missing_peers() -> str:
    """A line that says which peers are not installed; empty if all are."""
    missing = [name for name, peer in PEERS.items() if not peer.is_installed()]
    if not missing:
        return ""
    return (
        f"Not installed, and left out with the limits that need them: {', '.join(missing)}. "
        "Install the extra 'benchmarks': pip install 'bayesian-reticulum[benchmarks]'"
    )


def surroundings(threads: int) -> str:
    """A line on the machine and the versions, as far as times depend on them."""
    cores = os.cpu_count() or 1
    busy = f", of which {os.getloadavg()[0]:.1f} were asked for before the start" if hasattr(os, "getloadavg") else ""
    code = f"compiled code for {instruction_set}" if is_available() else "no compiled code"
    packages = ("numpy", "scikit-learn", "xgboost", "lightgbm", "catboost", "interpret-core", "neural-trees")
    versions = []
    for package in packages:
        with contextlib.suppress(PackageNotFoundError):
            versions.append(f"{package} {version(package)}")
    return (
        f"{cores} cores{busy}; {threads} thread{'s' * (threads != 1)} each unless said otherwise; {code}; "
        f"Python {platform.python_version()}, {', '.join(versions)}."
    )


def draw(comparisons: Sequence[Comparison], grown: Sequence[Scaling], path: Path) -> None:
    """Growth of fit time with rows and splits, and the ratios of fit times to all peers."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    by_name = {scaling.what: scaling for scaling in grown}
    figure, (left, middle, right) = plt.subplots(
        1, 3, figsize=(12, 4.4), width_ratios=(1, 1, 1.5), layout="constrained"
    )
    for axes, what in ((left, "rows"), (middle, "splits")):
        _draw_growth(axes, by_name[what])
    _draw_ratios(right, comparisons)
    figure.savefig(path, dpi=150)
    plt.close(figure)


def _draw_growth(axes: Any, scaling: Scaling) -> None:
    medians = np.array([np.median(values) for values in scaling.seconds])
    sizes = np.array(scaling.sizes, dtype=np.float64)
    spread = np.array([[values.min(), values.max()] for values in scaling.seconds]).T
    errors = np.abs(spread - medians)
    axes.errorbar(sizes, medians, errors, color="#0072B2", marker="o", capsize=3, label="median, least to most")
    exponent = float(np.median(scaling.exponents))
    level = np.exp(np.mean(np.log(medians)) - exponent * np.mean(np.log(sizes)))
    axes.plot(sizes, level * sizes**exponent, color="black", linestyle="--", label=f"exponent {exponent:.2f}")
    axes.set(xscale="log", yscale="log", xlabel=scaling.what, ylabel="seconds a fit")
    axes.set_title(f"Fit time by {scaling.what}")
    if scaling.what == "splits":
        axes.set_xticks(scaling.sizes, [str(size) for size in scaling.sizes])
        axes.set_xticks([], minor=True)
    axes.grid(alpha=0.3)
    axes.legend(loc="upper left", fontsize=8)


def _draw_ratios(axes: Any, comparisons: Sequence[Comparison]) -> None:
    own = {comparison.data: comparison for comparison in comparisons if comparison.model == OURS}
    # Two small tables and the longest one say enough; they differ in lightness and hatching, too.
    longest = max(own, key=lambda data: own[data].size[0])
    shown = list(dict.fromkeys([name for name in ("cross", "wdbc") if name in own] + [longest]))
    styles = (("#F0E442", ""), ("#56B4E9", "//"), ("#0B4F6C", ""))
    models = [name for name in PEERS if name != OURS and any(c.model == name for c in comparisons)]
    height = 0.8 / len(shown)
    for number, (data, (colour, hatch)) in enumerate(zip(shown, styles, strict=False)):
        found = {c.model: float(np.median(ratios(own[data].fit, c.fit))) for c in comparisons if c.data == data}
        places = [models.index(name) + (number - (len(shown) - 1) / 2) * height for name in found if name in models]
        values = np.array([value for name, value in found.items() if name in models])
        axes.barh(
            places,
            values - 1,
            height,
            left=1.0,
            color=colour,
            hatch=hatch,
            edgecolor="black",
            linewidth=0.6,
            label=f"{data}, {_size(own[data].size)}",
        )
    axes.axvline(1.0, color="black")
    axes.set_yticks(range(len(models)), models, fontsize=8)
    axes.invert_yaxis()
    axes.set(xscale="log", xlabel="our fit time / its fit time (left of 1: ours is faster)")
    axes.set_title("Fit time, ours to peers")
    axes.grid(axis="x", alpha=0.3)
    axes.legend(loc="upper right", bbox_to_anchor=(1.0, -0.13), ncols=3, fontsize=8, frameon=False)


def _size(shape: tuple[int, int]) -> str:
    return f"{_number(shape[0])} × {shape[1]}"


def _number(value: int) -> str:
    """A number with its thousands apart, but for four digits."""
    return f"{value:,}".replace(",", " ") if value >= 10_000 else str(value)


def _spread(values: Floats) -> str:
    return "" if values.min() == values.max() else f"{values.min():.3g} to {values.max():.3g}"


def _say(message: str) -> None:
    print(message, file=sys.stderr, flush=True)


def parsed(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    """The checked arguments of the command line; `parts` are those to measure, `models` those to fit."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=3, metavar="K", help="turns that each task takes (default: 3)")
    parser.add_argument("--threads", type=int, default=2, metavar="K", help="threads of each model (default: 2)")
    parser.add_argument("--data", type=Path, metavar="DIR", help="folder with tables as CSV, to be fitted as well")
    parser.add_argument("--large", action="store_true", help="fit covertype of --data; takes minutes")
    parser.add_argument("--scaling", action="store_true", help="growth of cost up to a million rows; takes minutes")
    parser.add_argument("--only", metavar="PART,PART", help=f"some parts alone, of {', '.join(PARTS)}")
    parser.add_argument("--peers", metavar="NAME,NAME", help="fits of some peers alone, by how their names begin")
    parser.add_argument("--plot", type=Path, metavar="FILE", help="draw growth of cost and fit times as a PNG")
    parser.add_argument("--limits", action="store_true", help="exit with 1 if a limit is not met")
    found = parser.parse_args(arguments)
    usual = ",".join(PARTS if found.large else PARTS[:-1])
    found.parts = [part.strip() for part in (found.only or usual).split(",")]
    unknown = [part for part in found.parts if part not in PARTS]
    if unknown:
        parser.error(f"--only: {unknown[0]!r} is not a part of this benchmark. Choose from {', '.join(PARTS)}.")
    beginnings = [name.strip().casefold() for name in (found.peers or "").split(",")]
    found.models = [name for name in PEERS if name == OURS or name.casefold().startswith(tuple(beginnings))]
    if len(found.models) == 1:
        parser.error(f"--peers: no peer begins with {found.peers!r}. They are {'; '.join(PEERS)}.")
    for name in ("repeats", "threads"):
        if getattr(found, name) < 1:
            parser.error(f"--{name} must be at least 1; got {getattr(found, name)}.")
    if found.data is not None and not found.data.is_dir():
        parser.error(f"--data: there is no folder {found.data}.")
    if "covertype" in found.parts and found.data is None:
        parser.error("covertype is a table of --data; give the folder that holds covertype.csv.gz.")
    if found.plot is not None and not {"growth", "fits"} <= set(found.parts):
        parser.error("--plot draws growth and fits, which --only leaves out.")
    return found


def measure(arguments: argparse.Namespace, report: Report) -> None:
    """Fill a report, part by part."""
    repeats, threads = arguments.repeats, arguments.threads
    for part in arguments.parts:
        _say(f"{part} ...")
        if part == "passes":
            lines, report.parts = passes(repeats)
            report.lines += [*lines, *memory(), *imports(repeats)]
        elif part == "predictions":
            report.lines += predictions(repeats, threads)
        elif part == "growth":
            for scaling in scalings(arguments.scaling, repeats, threads):
                report.grown.append(scaling)
        elif part == "fits":
            for comparison in compared(arguments.data, repeats, threads, arguments.models):
                report.comparisons.append(comparison)
        else:
            report.lines += large(arguments.data, threads)


def main() -> int:
    arguments = parsed()
    header = surroundings(arguments.threads)
    if missing_peers():
        _say(missing_peers())
    report = Report()
    complete = False
    try:
        with threadpool_limits(arguments.threads):
            measure(arguments, report)
        complete = True
    finally:
        ending = "" if complete else "Interrupted: the rest was not measured."
        print("\n\n".join(filter(None, [header, str(report), missing_peers(), ending])))
    if arguments.plot is not None:
        draw(report.comparisons, report.grown, arguments.plot)
    return int(arguments.limits and not all(line.is_met() for line in report.limits()))


if __name__ == "__main__":
    # A long run that is ended from outside is to leave what it has measured, as one that is interrupted.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    sys.exit(main())
