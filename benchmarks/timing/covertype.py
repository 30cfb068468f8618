"""A fit of a large table."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split
from threadpoolctl import threadpool_limits

from bayesian_reticulum import ReticulumClassifier

from .fits import load_numbers
from .memory import Memory, read_table, with_table_in_a_process
from .peers import OURS, warm_up
from .results import Line, print_progress, size_text
from .turns import seconds_of


def covertype(directory: Path, threads: int) -> Iterator[Line]:
    """Four fifths of covertype, fitted in a process of its own, and the others predicted."""
    table = load_numbers(directory, "covertype")
    if table is None:
        print_progress(f"covertype is left out: there is no file covertype.csv or covertype.csv.gz in {directory}.")
        return
    seconds, megabytes, loss, n_splits, size = with_table_in_a_process(fit_and_judge, table, threads)
    task = f"fit, covertype {size_text(size)}"
    subject = f"{OURS}, {n_splits} splits"
    yield Line(task, subject, np.array([seconds / 60]), "min", None, (seconds / 60, 15.0, "min"))
    table_megabytes = 8e-6 * size[0] * size[1]
    share = (table_megabytes + megabytes) / table_megabytes
    subject = "X and all memory beyond, to X"
    yield Line(task, subject, np.array([megabytes]), "MB", np.array([share]), (share, 2.5, "×"))
    yield Line(task, "log-loss of the other fifth", np.array([loss]), "nats", None, (loss, 0.60, "nats"))


def fit_and_judge(path: Path, threads: int) -> tuple[float, float, float, int, tuple[int, int]]:
    """Seconds, megabytes beyond the table, held-out log-loss and splits of one fit, and the size of its table."""
    X, X_test, y, y_test = train_test_split(*read_table(path), test_size=0.2, random_state=0)
    with threadpool_limits(threads):
        warm_up(OURS, X, y, threads)
        model = ReticulumClassifier(n_jobs=threads, random_state=0)
        memory = Memory()
        seconds = seconds_of(lambda: model.fit(X, y))
        megabytes = memory.megabytes()
    loss = log_loss(y_test, model.predict_proba(X_test), labels=model.classes_)
    return seconds, megabytes, float(loss), model.n_splits_, X.shape
