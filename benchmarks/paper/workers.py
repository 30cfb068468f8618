"""Processes that fit and judge models, and a line that shows their progress."""

from __future__ import annotations

import multiprocessing
import os
import shutil
import signal
import sys
import threading
import time
import warnings
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from typing import Any, NamedTuple

from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import log_loss
from threadpoolctl import threadpool_limits

from data import DataSet
from techniques import Settings, Technique, techniques


class Judged(NamedTuple):
    """A fitted model: its log-loss on rows that it has not seen, if there are any, its size and the time it took."""

    loss: float | None
    n_nodes: int
    seconds: float
    model: Any


# The data and techniques of a worker process; filled once, so that a task need not carry rows.
_data: dict[str, DataSet] = {}
_techniques: dict[str, Technique] = {}


def _start(data: dict[str, DataSet], quick: bool) -> None:
    # Ctrl-C reaches every process of a terminal; it is for the main one to answer.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    threadpool_limits(1)
    _data.update(data)
    _techniques.update(techniques(quick=quick))


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def judge(data: str, technique: str, settings: Settings, random_state: int, fold: int | None) -> Judged:
    """Task of a worker: fit without one fold and judge on it; None fits on all rows and judges on the test rows."""
    start = time.perf_counter()
    X, y, X_test, y_test = _data[data].parts(fold)
    try:
        with warnings.catch_warnings():
            # A network that has to stop early has not converged, and the tuning may want that.
            warnings.simplefilter("ignore", ConvergenceWarning)
            model = _techniques[technique].build(**settings, random_state=random_state).fit(X, y)
        loss = None if X_test is None else float(log_loss(y_test, model.predict_proba(X_test), labels=model.classes_))
    except Exception as error:
        error.add_note(f"{technique} on {data} with {settings}, random_state {random_state}, fold {fold}.")
        raise
    n_nodes = _techniques[technique].n_nodes(model)
    return Judged(loss, n_nodes, time.perf_counter() - start, model if fold is None else None)


class Progress:
    """One line on standard error: overwritten on a terminal, now and then a new one elsewhere."""

    def __init__(self, n_jobs: int) -> None:
        self._n_jobs = n_jobs
        self._done: Counter[str] = Counter()
        self._left: Counter[str] = Counter()
        self._seconds: Counter[str] = Counter()
        self._n_stored = 0
        self._last_line = -float("inf")

    def plan(self, title: str, left: int, stored: int = 0) -> None:
        """Announce work under a title, besides what is done already."""
        self._left[title] += left
        self._n_stored += stored

    def skip(self, title: str) -> None:
        """A part of the work turned out to be done already."""
        self._left[title] -= 1
        self._n_stored += 1

    def finish(self, title: str, note: str, judged: list[Judged]) -> None:
        """A part of the work was done, which took these fits."""
        self._left[title] -= 1
        self._done[title] += 1
        self._seconds[title] += sum(each.seconds for each in judged)
        left, is_terminal = self._left.total(), sys.stderr.isatty()
        if not is_terminal and left and time.monotonic() < self._last_line + 10:
            return
        self._last_line = time.monotonic()
        done = self._n_stored + self._done.total()
        # The title comes last, because a narrow terminal cuts off the end.
        line = f"[{done}/{done + left}, {self._remaining()} left] {note}: {title}"
        if is_terminal:
            columns = shutil.get_terminal_size().columns - 1
            line = "\r" + line[:columns].ljust(columns)
        print(line, end="" if is_terminal and left else "\n", file=sys.stderr, flush=True)

    def _remaining(self) -> str:
        mean = self._seconds.total() / self._done.total()
        seconds = sum(
            left * (self._seconds[title] / self._done[title] if self._done[title] else mean)
            for title, left in self._left.items()
        )
        minutes, seconds = divmod(round(seconds / self._n_jobs), 60)
        return f"{minutes}:{seconds:02d}"


@contextmanager
def workers(data: dict[str, DataSet], n_jobs: int, *, quick: bool) -> Iterator[ProcessPoolExecutor]:
    """Worker processes; however the block is left, they end with it."""
    # A forked process would inherit the locks of the libraries' threads, but not the threads.
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(n_jobs, mp_context=context, initializer=_start, initargs=(data, quick)) as pool:
        try:
            yield pool
        except BaseException:
            for process in multiprocessing.active_children():
                process.terminate()
            raise
