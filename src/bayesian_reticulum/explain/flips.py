"""A change of a row after which something else is predicted."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..arrays import Floats
from ..model import Reticulum
from .base import Card, by_target, join_predictions
from .flip_search import change_size, changed_features, search_flip


@dataclass(frozen=True)
class Flip(Card):
    """A change of a row after which something else is predicted.

    Attributes
    ----------
    changes : dict of str to tuple
        For each feature that changes, what the row holds and what it would have to hold: numbers in the units of the
        table, or levels, of which rare ones are told together, as "3 rare levels".
    prediction : dict of str to float
        What is predicted then: the probability of each class, or the mean of the target.
    size : float
        By how much features change, in standard deviations, all added up; a level by the distance of its columns.
    """

    changes: dict[str, tuple[Any, Any]]
    prediction: dict[str, float]
    size: float

    def __str__(self) -> str:
        told = ", ".join(f"{name} {new!r} instead of {old!r}" for name, (old, new) in self.changes.items())
        return f"with {told} ({self.size:.2g} sd): {join_predictions(self.prediction)}"


class Wish(NamedTuple):
    """What is predicted for a row, how uncertain that is, what is wanted instead, and what may change to what."""

    mean: Any
    uncertainty: float
    target: Any
    is_free: NDArray[np.bool_]
    is_whole: NDArray[np.bool_]
    is_single: NDArray[np.bool_]


def find_flip(model: Reticulum, row: Floats, wish: Wish) -> Flip | None:
    """A change of a row (d,) after which something else is predicted."""
    mean, target = wish.mean, wish.target
    leaves = model.tree.n_leaves
    design = np.repeat(model.schema.design(row[None]), leaves, axis=1)
    alone = model.family.predictive_mean(model.statistics, np.eye(leaves), design)

    def predicted(rows: Floats) -> Floats:
        # As the table would hold it.
        rows = np.where(wish.is_single, rows.astype(np.float32), rows) if wish.is_single.any() else rows
        return model.predict_mean(rows)

    if model.has_classes:
        now = int(np.argmax(mean))
        if len(mean) == 1 or target == now:
            return None
        own, side = (now, -1.0) if target is None else (target, 1.0)

        def margin(rows: Floats) -> Floats:
            found = predicted(rows)
            return np.asarray(side * (found[:, own] - np.delete(found, own, axis=1).max(axis=1)))

        is_wanted = (alone.argmax(axis=1) == own) == (side > 0)
    else:
        if target is None:
            return None
        side = 1.0 if float(mean) < target else -1.0
        # In standard deviations of the prediction, and beyond what rounding could make of it.
        spread = max(wish.uncertainty**0.5, np.finfo(float).tiny)
        rounding = 4 * np.finfo(float).eps * abs(target)

        def margin(rows: Floats) -> Floats:
            return np.asarray((side * (predicted(rows) - target) - rounding) / spread)

        is_wanted = side * (alone - target) > 0
    found = search_flip(model, row, margin, wish.is_free, wish.is_whole, is_wanted)
    if found is None:
        return None
    changed = changed_features(row, found).tolist()
    changes = {
        model.schema.names[own]: (_level_or_number(model, own, row), _level_or_number(model, own, found))
        for own in changed
    }
    prediction = by_target(model, predicted(found[None])[0])
    return Flip(changes, prediction, float(change_size(model, row, found[None])[0]))


def _level_or_number(model: Reticulum, feature: int, row: Floats) -> Any:
    """What a row holds of a feature: a number, or a level, of which rare ones are told together."""
    category, cell = model.schema.categories[feature], row[feature]
    if category is None:
        return float(cell)
    code = int(cell)
    return category.levels[code] if code < len(category.levels) else category.labels[code]


def checked_target(estimator: Any, to: Any) -> Any:
    """The place of a class, or a number, that should be predicted after a flip; None if it was not said."""
    if to is None:
        return None
    if hasattr(estimator, "classes_"):
        if np.ndim(to) or not (estimator.classes_ == to).any():
            raise ValueError(f"to = {to!r} is no class; the classes are {estimator.classes_.tolist()}.")
        return int(np.flatnonzero(estimator.classes_ == to)[0])
    if isinstance(to, bool) or not isinstance(to, Real) or not np.isfinite(float(to)):
        raise ValueError(f"to must be a finite number that the prediction should come beyond; got {to!r}.")
    return float(to)
