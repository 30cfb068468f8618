"""BLAS with one thread while growth has its own."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock
from typing import Any

from threadpoolctl import ThreadpoolController


class _Blas:
    """How many fits want BLAS to keep to one thread, and what it was told before the first of them."""

    lock = Lock()
    n_fits = 0
    limiter: Any = None
    # To find out where BLAS is takes as long as many a fit.
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
