"""Checks of parameters."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Integral, Real
from typing import Any

import numpy as np

from ..families import JEFFREYS

# Counts beyond this cannot take up one more row without rounding it away.
LARGEST_TOTAL_WEIGHT = 1e15


def check_whole_number(name: str, value: Any, minimum: int, otherwise: str = "", bool_is_number: bool = False) -> None:
    if bool_is_number and isinstance(value, bool | np.bool_):
        return
    if not is_whole_number(value) or value < minimum:
        raise ValueError(f"{name} must be {otherwise}a whole number of at least {minimum}; got {value!r}.")


def is_whole_number(value: Any) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool | np.bool_)


def check_limit(name: str, value: Any) -> None:
    if value is not None:
        check_whole_number(name, value, 0, "None for no limit or ")


def check_number(name: str, value: Any, accepts: Callable[[float], bool], meaning: str) -> None:
    try:
        is_accepted = not isinstance(value, bool | np.bool_) and isinstance(value, Real) and accepts(float(value))
    except OverflowError:
        is_accepted = False
    if not is_accepted:
        raise ValueError(f"{name} must be {meaning}; got {value!r}.")


def checked_prior(given: Any, classes: np.ndarray) -> tuple[float, ...]:
    way_out = 'Give one positive number, one for each class in the order of classes_, or "auto".'
    if given is None or isinstance(given, bool | np.bool_):
        raise ValueError(f"prior = {given!r} is not a number. {way_out}")
    if isinstance(given, str):
        if given != "auto":
            raise ValueError(f"prior = {given!r} is not understood. {way_out}")
        return (JEFFREYS,) * len(classes)
    try:
        prior = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueError(f"prior = {given!r} is not a number. {way_out}") from error
    if prior.ndim == 0:
        prior = np.full(len(classes), float(prior))
    if prior.shape != (len(classes),):
        raise ValueError(f"prior has shape {prior.shape} but y has {len(classes)} classes. {way_out}")
    bad = np.flatnonzero(~((prior >= np.finfo(float).tiny) & (prior <= LARGEST_TOTAL_WEIGHT)))
    if len(bad):
        raise ValueError(
            f"prior pseudo-counts must be positive and at most {LARGEST_TOTAL_WEIGHT:.0e}; "
            f"that of class {classes[bad[0]]} is {prior[bad[0]]}. {way_out}"
        )
    return tuple(prior.tolist())
