"""Versions of what is installed, and whether compiled code is in use: a part of every report of a problem."""

from __future__ import annotations

import os
import platform
from importlib.metadata import PackageNotFoundError, version

from . import compiled
from .compiled import is_available
from .estimators import default_threads
from .rows import ANSWERS

_PACKAGES = ("numpy", "scipy", "scikit-learn")


def show_versions() -> None:
    """Print versions, and whether and how compiled code is in use.

    Examples
    --------
    >>> from bayesian_reticulum import show_versions
    >>> show_versions()  # doctest: +ELLIPSIS
    bayesian-reticulum: ...
    python: ...
    platform: ...
    numpy: ...
    scipy: ...
    scikit-learn: ...
    compiled code: ...
    sums over rows: ...
    CPUs: ...
    threads: ...
    """
    for name, value in _versions().items():
        print(f"{name}: {value}")


def _versions() -> dict[str, str]:
    return {
        "bayesian-reticulum": _version("bayesian-reticulum"),
        "python": f"{platform.python_version()} ({platform.python_implementation()})",
        "platform": platform.platform(),
        **{name: _version(name) for name in _PACKAGES},
        "compiled code": _compiled_code(),
        "sums over rows": _sums_over_rows(),
        "CPUs": str(_cpus()),
        "threads": f"{default_threads()} by default",
    }


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"


def _compiled_code() -> str:
    if is_available():
        return f"in use, instruction set {compiled.instruction_set}"
    if compiled.instruction_set:
        return "switched off by BAYESIAN_RETICULUM_NATIVE=0"
    return f"not built ({compiled.import_error})"


def _sums_over_rows() -> str:
    """Who answers requests to rows in memory."""
    if not is_available():
        return "NumPy"
    compiled_requests = ", ".join(sorted(request.__name__ for request in ANSWERS))
    return f"compiled code ({compiled_requests}), NumPy for all others"


def _cpus() -> int:
    """Number of CPUs that this process may use, if the system knows it, or else of all."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
