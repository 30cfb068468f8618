"""Checks of parameters."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Integral, Real
from typing import Any

import numpy as np

from ..families import JEFFREYS, class_probabilities, is_categorical, missing_members
from .metadata import check_metadata_names

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


def _quoted(word: str) -> str:
    return f'"{word}"'


def check_leaf(leaf: Any, kinds: tuple[str, ...], *, of_classes: bool) -> None:
    """Refuse a parameter `leaf` that is neither the name of a kind of leaf nor a family, of classes or of numbers."""
    known = f"leaf must be {', '.join(map(_quoted, kinds))} or a family"
    if isinstance(leaf, str):
        if leaf not in kinds:
            raise ValueError(f"{known}; got {leaf!r}.")
        return
    if isinstance(leaf, type):
        raise ValueError(f"{known}; got the class {leaf.__name__}: give an instance of it.")
    missing = missing_members(leaf)
    if missing:
        raise ValueError(f"{known}; got {leaf!r}, which as a family lacks {', '.join(missing)}.")
    if of_classes and not is_categorical(leaf):
        raise ValueError(
            f"{known} of classes, whose is_categorical is True; got {leaf!r}. For numbers use ReticulumRegressor."
        )
    if not of_classes and is_categorical(leaf):
        raise ValueError(f"{known} of numbers; for classes use ReticulumClassifier.")
    check_metadata_names(leaf)


def check_number_of_classes(family: Any, classes: np.ndarray) -> None:
    """Refuse a family that is for another number of classes than there are."""
    n_classes = len(class_probabilities(family, np.zeros(family.n_statistics)))
    if n_classes != len(classes):
        raise ValueError(
            f"leaf = {family!r} is for {n_classes} classes, but y has {len(classes)}: {classes.tolist()}. "
            "Give a family for as many, in this order."
        )
