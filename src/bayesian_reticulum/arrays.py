"""Array types, read-only copies, and symmetric matrices kept as their upper triangle."""

from __future__ import annotations

from dataclasses import fields
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


def frozen(array: Any) -> Floats:
    """A read-only copy, so that the arrays of frozen dataclasses cannot change."""
    copy = np.array(array, dtype=np.float64, order="C")
    copy.setflags(write=False)
    # A view of a read-only array, unlike the array itself, cannot be made writeable again.
    return copy.view()


def frozen_integers(array: Any) -> Integers:
    """A read-only copy of whole numbers."""
    copy = np.array(array, dtype=np.int64, order="C")
    copy.setflags(write=False)
    return copy.view()


def refreeze(instance: Any, state: dict[str, Any]) -> None:
    """`__setstate__` of frozen dataclasses: in copies and pickles NumPy's arrays are no longer read-only."""
    for field in fields(instance):
        object.__setattr__(instance, field.name, state[field.name])
    instance.__post_init__()


@lru_cache(maxsize=64)
def upper_triangle(width: int) -> tuple[Integers, Integers]:
    """Rows and columns of the upper triangle of a square matrix, row by row."""
    return np.triu_indices(width)


def unpack_symmetric(packed: Floats, width: int) -> Floats:
    """Symmetric matrices (..., width, width) from their upper triangles, row by row."""
    if width <= 1:
        return packed.reshape(*packed.shape[:-1], width, width)
    rows, columns = upper_triangle(width)
    full = np.empty((*packed.shape[:-1], width, width))
    full[..., rows, columns] = packed
    full[..., columns, rows] = packed
    return full
