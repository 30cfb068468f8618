"""Targets as families want them: codes of classes, or numbers in their units with the variance of their rounding."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.special import ndtri

from ..arrays import Floats
from ..data import Schema, is_gap, weighted_quantiles
from ..families import Family, Metadata, TargetsWithMetadata, row_statistics, target_values
from .callers import warn_caller
from .weights import rows_of_table

# Larger targets have squares that overflow; smaller ones than its inverse, squares that vanish.
_LARGEST_TARGET = 1e150
# Standard deviations beyond which a target is read as being that far out: one alone could decide all predictions.
_FARTHEST_TARGET = 100.0
# Noise variance, in parts of the variance of all targets, below which targets that follow a line are not believed to be
# exact: sums of squares of many rows keep about twelve digits.
_LEAST_NOISE = 1e-8


class Targets(NamedTuple):
    """Targets of the rows that have a weight, and the family that they are for.

    Attributes
    ----------
    values : ndarray of shape (n,) or (n, q), or TargetsWithMetadata
        As the family wants them.
    numbers : ndarray of shape (n,)
        Codes of classes, or the numbers that were given.
    weights : ndarray of shape (n,)
        Positive.
    used : slice or ndarray of shape (n,)
        The rows of the table that have a weight.
    family : Family
    names : tuple of str
        Names of the classes, or of the target.
    """

    values: Any
    numbers: Any
    weights: Floats
    used: Any
    family: Family
    names: tuple[str, ...]

    def with_metadata(self, metadata: Metadata) -> Targets:
        """The same with what else is known of each row of the table, if anything."""
        if not metadata:
            return self
        return self._replace(
            values=TargetsWithMetadata(self.values, {name: part[self.used] for name, part in metadata.items()})
        )


def check_labels(y: Any) -> None:
    """Refuse class labels that are missing, where they are no plain numbers."""
    dtype = getattr(y, "dtype", None)
    is_plain = isinstance(dtype, np.dtype) and dtype.kind != "O"
    if isinstance(y, list | tuple) or (dtype is not None and not is_plain):
        gap = next((place for place, label in enumerate(y) if is_gap(label)), None)
        if gap is not None:
            raise ValueError(f"Input y contains NaN: y[{gap}] is missing. Leave out rows whose class is not known.")


def check_target_size(y: Floats) -> None:
    """Refuse numbers whose squares overflow."""
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


def clip_wild_targets(y: Floats, weights: Floats, used: Any) -> Floats:
    """Bring wild targets (n,) in to 100 standard deviations from the median; a warning names them by row.

    They are those of the `used` rows of a table.
    """
    low, median, high = weighted_quantiles(y[:, None], weights, [0.05, 0.5, 0.95])[0]
    # The standard deviation that the middle nine tenths have, so that one row in twenty may be wild.
    reach = _FARTHEST_TARGET * (high - low) / (2 * ndtri(0.95))
    wild = np.flatnonzero(np.abs(y - median) > reach)
    if not len(wild) or reach == 0:
        return y
    first = f"y[{rows_of_table(used, wild[0])}] = {y[wild[0]]:.6g}"
    subject = f"{first} lies" if len(wild) == 1 else f"{len(wild)} targets, the first of them {first}, lie"
    warn_caller(
        f"{subject} more than {_FARTHEST_TARGET:.0f} standard deviations from where most others are, and will be read "
        "as being that far out. Correct such targets or, if they are real, predict their logarithm."
    )
    return np.clip(y, median - reach, median + reach)


def with_rounding(y: Floats, weights: Floats, scale: float) -> Floats:
    """Targets with the variance of their rounding, (n, 2), or of the least noise that is believed."""
    variance = max(rounding_variance(y, weights, scale), _LEAST_NOISE * scale**2)
    return np.column_stack([y, np.full(len(y), variance)])


def rounding_variance(y: Floats, weights: Floats, scale: float) -> float:
    """Variance of the rounding of targets (n,) that are typically this far from the next other value."""
    # Values that differ in the last few digits alone are the same.
    values, place = np.unique(np.round((y - y.min()) / scale, 9), return_inverse=True)
    if len(values) == 1:
        return 0.0
    steps = np.diff(values)
    nearest = np.minimum(np.append(steps, np.inf), np.append(np.inf, steps))
    distance = float(weighted_quantiles(nearest[place][:, None], weights, [0.5])[0, 0])
    return (scale * distance) ** 2 / 12.0


def check_row_statistics(family: Family, design: Floats, targets: Any, used: Any, classes: Any = None) -> None:
    """Refuse a family that does not fit the design (D + 1, n), or targets (n,) that do not fit the family.

    They are those of the `used` rows of a table; codes of classes stand for these labels.
    """
    n = len(targets)
    statistics = np.asarray(row_statistics(family, design, targets))
    if statistics.shape != (n, family.n_statistics):
        raise ValueError(
            f"leaf = {family!r} gives statistics of shape {statistics.shape} for {n} rows, and not "
            f"({n}, {family.n_statistics}). bayesian_reticulum.testing.check_family tells what is wrong with it."
        )
    bad = np.flatnonzero(~np.isfinite(statistics).all(axis=1))
    if len(bad):
        raise ValueError(
            f"leaf = {family!r} has no finite statistics for {_named(targets, bad[0], used, classes)}. "
            "Leave such rows out, or use a family for which they are possible."
        )
    bad = np.flatnonzero(~np.asarray(family.are_possible(statistics), dtype=bool))
    if len(bad):
        raise ValueError(
            f"leaf = {family!r} takes {_named(targets, bad[0], used, classes)} for impossible. "
            "Leave such rows out, or use a family for which they are possible."
        )


def _named(targets: Any, place: int, used: Any, classes: Any) -> str:
    """A target and its metadata, by its row of the table and as it was given."""
    row, value = rows_of_table(used, place), target_values(targets)[place].tolist()
    label = value if classes is None else classes[value : value + 1].tolist()[0]
    named = f"y[{row}] = {f'{label:.6g}' if isinstance(label, float) else repr(label)}"
    if isinstance(targets, TargetsWithMetadata):
        named += "".join(f" with {name} = {part[place]:.6g}" for name, part in targets.metadata.items())
    return named
