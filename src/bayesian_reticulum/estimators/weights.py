"""Weights of rows and classes, and which rows have one."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Real
from typing import Any

import numpy as np

from ..arrays import Floats, Integers
from ..data import weights_by_code
from .parameters import LARGEST_TOTAL_WEIGHT, check_number


def class_weights(given: Any, classes: np.ndarray, codes: Integers, weights: Floats) -> Floats:
    """A weight for each class: as given, or such that all classes weigh the same."""
    if isinstance(given, str) and given == "balanced":
        sizes = weights_by_code(codes, weights, len(classes))
        return np.asarray(
            np.divide(sizes.sum(), (sizes > 0).sum() * sizes, out=np.zeros(len(classes)), where=sizes > 0)
        )
    if not isinstance(given, Mapping):
        raise ValueError(f'class_weight must be None, "balanced" or a dict of weights; got {given!r}.')
    known = classes.tolist()
    unknown = [label for label in given if label not in known]
    if unknown:
        raise ValueError(f"class_weight has a weight for {unknown[0]!r}, but the classes are {known}.")
    out = np.ones(len(classes))
    for place, label in enumerate(known):
        weight = given.get(label, 1.0)
        check_number(
            f"class_weight[{label!r}]", weight, lambda value: 0 <= value < np.inf, "a finite number, not negative"
        )
        out[place] = weight
    if not out[np.bincount(codes, weights, len(classes)) > 0].any():
        raise ValueError("class_weight is zero for all classes: no row is left to learn from.")
    return out


def checked_weights(sample_weight: Any, n: int, name: str = "sample_weight") -> Floats:
    """Weights (n,) of rows, 1 where none are given; those that make no sense are refused under their name."""
    if sample_weight is None:
        return np.ones(n)
    if isinstance(sample_weight, Real):
        sample_weight = np.full(n, sample_weight)
    try:
        weights = np.asarray(sample_weight, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"sample_weight must be numbers: {error}") from error
    if weights.shape != (n,):
        raise ValueError(f"sample_weight has shape {weights.shape}; X has {n} rows, so it must have shape ({n},).")
    bad = np.flatnonzero(~np.isfinite(weights) | (weights < 0))
    if len(bad):
        raise ValueError(
            f"{name} must be finite and not negative; {name}[{bad[0]}] = {weights[bad[0]]}. Use 0 to leave a row out."
        )
    total = float(weights.sum())
    if total > LARGEST_TOTAL_WEIGHT:
        raise ValueError(
            f"{name} sums to {total:.3g}, beyond what counts can resolve ({LARGEST_TOTAL_WEIGHT:.0e}). "
            "A weight counts rows: divide all weights by the same number."
        )
    if not weights.any():
        raise ValueError(f"all {name} are zero: no row is left to learn from. Give some row a positive weight.")
    return weights


def used_rows(weights: Floats) -> Any:
    """Index of the rows that have a weight: a slice, which copies nothing, where all have one."""
    return slice(None) if weights.all() else np.flatnonzero(weights)


def rows_of_table(used: Any, places: Any) -> Any:
    """The rows of the table that are at these places among the used ones."""
    return places if isinstance(used, slice) else used[places]
