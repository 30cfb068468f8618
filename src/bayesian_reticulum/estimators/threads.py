"""Threads: how many an estimator may use, and BLAS with a single one while growth has its own."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock
from typing import Any

from joblib import effective_n_jobs
from threadpoolctl import ThreadpoolController


def n_threads(estimator: Any) -> int:
    """Threads that an estimator may use, as its `n_jobs` says; one if it has no such parameter."""
    return int(effective_n_jobs(getattr(estimator, "n_jobs", None)))


class _Blas:
    """How many fits want BLAS to have a single thread, and the limits that it had before the first of them."""

    lock = Lock()
    n_fits = 0
    limiter: Any = None
    # To find out where BLAS is takes as long as many a fit, so that it is done once.
    controller: ThreadpoolController | None = None


@contextmanager
def single_blas() -> Iterator[None]:
    """BLAS with one thread until the last of the fits that run side by side, in threads of Python, has ended."""
    with _Blas.lock:
        if not _Blas.n_fits:
            _Blas.controller = _Blas.controller or ThreadpoolController().select(user_api="blas")
            _Blas.limiter = _Blas.controller.limit(limits=1)
        _Blas.n_fits += 1
    try:
        yield
    finally:
        with _Blas.lock:
            _Blas.n_fits -= 1
            if not _Blas.n_fits:
                _Blas.limiter.restore_original_limits()
