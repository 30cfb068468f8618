"""Threads: how many an estimator may use, and BLAS with a single one while growth has its own."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from threading import Lock
from typing import Any

from joblib import cpu_count, effective_n_jobs
from joblib.parallel import get_active_backend
from threadpoolctl import ThreadpoolController


def n_threads(estimator: Any) -> int:
    """Threads that an estimator may use, as its `n_jobs` says; one if it has no such parameter."""
    n_jobs = getattr(estimator, "n_jobs", 1)
    return default_threads() if n_jobs is None else int(effective_n_jobs(n_jobs))


def default_threads() -> int:
    """Threads of an estimator with `n_jobs=None`: all cores that this process may use.

    `n_jobs` of `joblib.parallel_config` decides where it is set. In a worker of joblib, which shares the cores with
    others, it is one. The affinity of the process, limits of its control group, `OMP_NUM_THREADS` and limits that
    threadpoolctl has set on OpenMP make it less.
    """
    backend, n_jobs = get_active_backend()
    if n_jobs is not None:
        return int(effective_n_jobs(n_jobs))
    if backend.nesting_level:
        return 1
    return max(1, min(_cpus(_affinity()), *_openmp_limits()))


def _affinity() -> int | None:
    """Number of CPUs that this process may run on, if the system knows it."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else None


@cache
def _cpus(affinity: int | None) -> int:
    """CPUs that this process may use, by its affinity and its control group.

    The files of the control group are read once for each affinity: that takes half as long as to predict a row.
    """
    return int(cpu_count())


def _openmp_limits() -> list[int]:
    """Limits on threads: those of the OpenMP libraries that are loaded, and that of the environment as it is now."""
    limits = [library["num_threads"] for library in _libraries("openmp").info()]
    # Further numbers, behind commas, are for threads that other threads start.
    first = os.environ.get("OMP_NUM_THREADS", "").split(",")[0].strip()
    return [*limits, int(first)] if first.isdecimal() and int(first) > 0 else limits


@cache
def _libraries(kind: str) -> Any:
    """The loaded libraries of a kind that have threads; to find them takes as long as many a fit."""
    return ThreadpoolController().select(user_api=kind)


class _Blas:
    """How many fits want BLAS to have a single thread, and the limits that it had before the first of them."""

    lock = Lock()
    n_fits = 0
    limiter: Any = None


@contextmanager
def single_blas() -> Iterator[None]:
    """BLAS with one thread until the last of the fits that run side by side, in threads of Python, has ended."""
    with _Blas.lock:
        if not _Blas.n_fits:
            _Blas.limiter = _libraries("blas").limit(limits=1)
        _Blas.n_fits += 1
    try:
        yield
    finally:
        with _Blas.lock:
            _Blas.n_fits -= 1
            if not _Blas.n_fits:
                _Blas.limiter.restore_original_limits()
