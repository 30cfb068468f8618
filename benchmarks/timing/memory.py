"""Memory that a task takes, measured in a process of its own."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

Table = tuple[NDArray[np.float64], NDArray[Any]]


class Memory:
    """Memory that this process comes to hold beyond what it holds when this object is made."""

    def __init__(self) -> None:
        self._before = most_bytes_held(reset=True)

    def megabytes(self) -> float:
        return (most_bytes_held() - self._before) / 1e6


def most_bytes_held(reset: bool = False) -> float:
    """The most bytes that were resident in this process.

    On Linux `ru_maxrss` of a process that was started includes what its parent had held; `VmHWM` does not, and can be
    reset to what is held now.
    """
    try:
        if reset:
            Path("/proc/self/clear_refs").write_text("5")
        status = Path("/proc/self/status").read_text()
        return 1024.0 * int(status.split("VmHWM:")[1].split()[0])
    except (OSError, IndexError):
        import resource  # not there on Windows

        unit = 1 if sys.platform == "darwin" else 1024
        return float(unit * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)


def in_a_process(function: Callable[..., Any], *arguments: Any) -> Any:
    """The result of a function in a fresh process."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        return pool.submit(function, *arguments).result()


def with_table_in_a_process(function: Callable[..., Any], table: Table, *arguments: Any) -> Any:
    """The result of a function of a table's file in a fresh process; a table that is sent would be copied there."""
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "table.npz"
        np.savez(path, X=table[0], y=table[1])
        return in_a_process(function, path, *arguments)


def read_table(path: Path) -> Table:
    with np.load(path) as arrays:
        return arrays["X"], arrays["y"]
