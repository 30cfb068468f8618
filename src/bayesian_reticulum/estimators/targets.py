"""Targets as families want them."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from scipy.special import ndtri

from ..arrays import Floats, Integers
from ..data import Schema, is_gap, weighted_quantiles
from .training import TrainingData

_LARGEST_TARGET = 1e150
# Standard deviations beyond which a target is read as being that far out: one alone could decide all predictions.
_FARTHEST_TARGET = 100.0


def check_labels(y: Any) -> None:
    """Refuse class labels that are missing, where they are no plain numbers."""
    dtype = getattr(y, "dtype", None)
    is_plain = isinstance(dtype, np.dtype) and dtype.kind != "O"
    if isinstance(y, list | tuple) or (dtype is not None and not is_plain):
        gap = next((place for place, label in enumerate(y) if is_gap(label)), None)
        if gap is not None:
            raise ValueError(f"Input y contains NaN: y[{gap}] is missing. Leave out rows whose class is not known.")


def check_target_size(y: Floats) -> None:
    largest = float(np.abs(y).max())
    if largest > _LARGEST_TARGET:
        raise ValueError(
            f"y has a target of size {largest:.3g}, beyond {_LARGEST_TARGET:.0e}, whose square would overflow. "
            "Divide all targets by the same number."
        )


def target_units(y: Floats, weights: Floats) -> tuple[float, float]:
    """Mean and standard deviation of targets, their tails cut off as those of a feature are."""
    units = Schema.from_columns(y[:, None], weights, ("y",))
    center, scale = float(units.center[0]), abs(float(units.scale[0]))
    if scale < 1 / _LARGEST_TARGET:
        raise ValueError(
            f"y varies by no more than {scale:.3g}, whose square would vanish. Multiply all targets by the same number."
        )
    return center, scale


def clip_wild_targets(y: Floats, weights: Floats, place: Integers) -> Floats:
    """Targets, the wild ones read as being as far out as one may be; a warning names them."""
    low, median, high = weighted_quantiles(y[:, None], weights, [0.05, 0.5, 0.95])[0]
    # What the middle nine tenths say of the standard deviation, so that one row in twenty may be wild.
    reach = _FARTHEST_TARGET * (high - low) / (2 * ndtri(0.95))
    wild = np.flatnonzero(np.abs(y - median) > reach)
    if not len(wild) or reach == 0:
        return y
    first = f"y[{place[wild[0]]}] = {y[wild[0]]:.6g}"
    which = f"{first} lies" if len(wild) == 1 else f"{len(wild)} targets, the first of them {first}, lie"
    warnings.warn(
        f"{which} more than {_FARTHEST_TARGET:.0f} standard deviations from where most others are, and will be read as "
        "being that far out. Correct such targets or, if they are real, predict their logarithm.",
        stacklevel=5,
    )
    return np.clip(y, median - reach, median + reach)


def with_rounding(y: Floats, weights: Floats, scale: float) -> Floats:
    """Targets with the variance of what rounding took from them, (n, 2)."""
    return np.column_stack([y, np.full(len(y), _rounding_variance(y, weights, scale))])


def _rounding_variance(y: Floats, weights: Floats, scale: float) -> float:
    """Variance of what rounding took from targets that are typically this far from the next other value."""
    # Values that differ in the last few digits alone are the same.
    values, place = np.unique(np.round((y - y[0]) / scale, 9), return_inverse=True)
    if len(values) == 1:
        return 0.0
    gaps = np.diff(values)
    nearest = np.minimum(np.append(gaps, np.inf), np.append(np.inf, gaps))
    distance = float(weighted_quantiles(nearest[place][:, None], weights, [0.5])[0, 0])
    return (scale * distance) ** 2 / 12.0


def check_row_statistics(table: TrainingData, place: Integers) -> None:
    """Refuse a family that does not fit the table, or targets that do not fit the family."""
    family, y = table.family, table.targets
    schema = Schema.from_columns(table.X, table.weights, table.names, categories=table.categories)
    design = schema.design(table.X)
    statistics = np.asarray(family.row_statistics(design, y))
    if statistics.shape != (len(y), family.n_statistics):
        raise ValueError(
            f"leaf = {family!r} gives statistics of shape {statistics.shape} for {len(y)} rows, and not "
            f"({len(y)}, {family.n_statistics}). bayesian_reticulum.testing.check_family tells what is wrong with it."
        )
    bad = np.flatnonzero(~np.isfinite(statistics).all(axis=1))
    if len(bad):
        raise ValueError(
            f"leaf = {family!r} has no finite statistics for y[{place[bad[0]]}] = {y[bad[0]]:.6g}. "
            "Leave such rows out, or use a family for which they are possible."
        )
