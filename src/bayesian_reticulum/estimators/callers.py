"""Warnings that point at the line of the user's code which called this package."""

from __future__ import annotations

import warnings
from inspect import currentframe

_PACKAGE = __name__.partition(".")[0]


def warn_caller(message: str) -> None:
    """Warn at the nearest line outside of this package among those that led here."""
    level, frame = 1, currentframe()
    # In Python 3.12 `skip_file_prefixes` of `warnings.warn` does the same.
    while frame is not None and frame.f_globals.get("__name__", "").partition(".")[0] == _PACKAGE:
        level, frame = level + 1, frame.f_back
    warnings.warn(message, stacklevel=level)
