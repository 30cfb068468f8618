"""Runs of growth: one to its end, or to where it falls too far behind, and several side by side."""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator, Iterable, Sequence
from typing import NamedTuple, cast

import numpy as np
from joblib import Parallel, delayed

from ..evidence import State
from ..history import GrowthEvent, StoppingReason

# A growth is given up if it is further behind its rival than this many times its gain in its last few attempts.
_CATCH_UP = 3.0
_TRIAL_ATTEMPTS = 2


class Run(NamedTuple):
    """A growth that has ended: its final state, why it stopped, and everything that happened."""

    state: State
    reason: StoppingReason
    events: list[GrowthEvent]


def run_growth(
    growth: Generator[GrowthEvent, None, tuple[State, StoppingReason]], label: str, rival: Sequence[float] = ()
) -> Run | None:
    """Run a growth to its end; with a label, a line is printed for each attempt.

    None if it is given up: far behind the log evidence that a rival had in the end on the same rows
    (`evidence_by_rows`), and no longer catching up.
    """
    events: list[GrowthEvent] = []
    reached: list[float] = []
    n_starts = 0
    while True:
        try:
            event = next(growth)
        except StopIteration as end:
            state, reason = end.value
            return Run(state, reason, events)
        events.append(event)
        if event.phase == "start":
            # On other rows, the log evidence is another.
            n_starts += 1
            reached.clear()
        if event.phase not in ("kept", "rejected", "tuned"):
            continue
        if label:
            tried = len(event.candidates)
            outcome = event.phase if event.phase == "tuned" else f"{event.phase}, {tried} candidate{'s' * (tried != 1)}"
            print(
                f"{label}attempt {event.attempt}: {outcome}, {event.tree.n_splits} splits, "
                f"log evidence {event.log_evidence:.2f}",
                file=sys.stdout,
                flush=True,
            )
        if event.phase == "tuned":
            continue
        reached.append(event.log_evidence)
        if len(reached) > _TRIAL_ATTEMPTS:
            recent_gain = reached[-1] - reached[-1 - _TRIAL_ATTEMPTS]
            behind = rival[min(n_starts, len(rival)) - 1] - reached[-1] if rival else -np.inf
            if behind > _CATCH_UP * recent_gain:
                if label:
                    print(f"{label}given up, {behind:.0f} nats behind", file=sys.stdout, flush=True)
                growth.close()
                return None


def evidence_by_rows(events: Iterable[GrowthEvent]) -> list[float]:
    """Log evidence that a growth had in the end on each of the samples and tables that it started on."""
    reached: list[float] = []
    for event in events:
        if event.phase == "start":
            reached.append(event.log_evidence)
        elif event.phase in ("kept", "tuned", "polished"):
            reached[-1] = event.log_evidence
    return reached


def run_side_by_side(
    growth: Callable[[int, np.random.Generator], Run | None], children: list[np.random.Generator], threads: int
) -> Iterable[Run | None]:
    """Results of growths, in order, as many at once as there are threads."""
    if threads == 1:
        return (growth(restart, child) for restart, child in enumerate(children))
    results = Parallel(threads, require="sharedmem")(delayed(growth)(*job) for job in enumerate(children))
    return cast("list[Run | None]", results)
