"""Times of tasks that take turns, and ratios between them."""

from __future__ import annotations

import functools
import time
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

SLOW_SECONDS = 20.0  # what takes longer takes one turn alone


def seconds_of(task: Callable[[], Any], clock: Callable[[], float] = time.perf_counter) -> float:
    start = clock()
    task()
    return clock() - start


def in_turns(
    tasks: Mapping[str, Callable[[int], Any]],
    repeats: int,
    slow_seconds: float = SLOW_SECONDS,
    clock: Callable[[], float] = time.perf_counter,
) -> dict[str, Floats]:
    """Seconds (repeats,) of each task, called with the number of the turn; a slow task takes one turn alone.

    Tasks take turns so that a busy moment of the machine hits all of them. `time.process_time` as the clock leaves out
    the moments in which other processes had the cores.
    """
    seconds: dict[str, list[float]] = {name: [] for name in tasks}
    for turn in range(repeats):
        for name, task in tasks.items():
            if turn and seconds[name][0] > slow_seconds:
                continue
            seconds[name].append(seconds_of(functools.partial(task, turn), clock))
    return {name: np.array(values) for name, values in seconds.items()}


def ratios(ours: Floats, theirs: Floats) -> Floats:
    """Ratio of two times in each turn that both took."""
    turns = min(len(ours), len(theirs))
    return ours[:turns] / theirs[:turns]


def middle(values: Floats) -> Floats:
    """The middle nine tenths: of many short calls a few are interrupted."""
    low, high = np.quantile(values, [0.05, 0.95])
    return values[(low <= values) & (values <= high)]
