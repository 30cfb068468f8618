"""A small change of a row after which the model predicts something else."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..arrays import Floats
from ..model import Reticulum
from .base import Card, by_target, join_predictions
from .flip_search import Margin, change_size, changed_features, search_flip


@dataclass(frozen=True)
class Flip(Card):
    """A change of a row after which the model predicts something else.

    Attributes
    ----------
    changes : dict of str to tuple
        For each feature that changes, its old and its new value: numbers in the units of the table, or levels; rare
        levels share one name, such as "3 rare levels".
    prediction : dict of str to float
        Prediction for the changed row: the probability of each class, or the mean of the target.
    size : float
        Sum of the distances by which features change, in standard deviations; for a level that between its columns.
    """

    changes: dict[str, tuple[Any, Any]]
    prediction: dict[str, float]
    size: float

    def __str__(self) -> str:
        changes = ", ".join(f"{name} {new!r} instead of {old!r}" for name, (old, new) in self.changes.items())
        return f"with {changes} ({self.size:.2g} sd): {join_predictions(self.prediction)}"


class Prediction(NamedTuple):
    """A row (d,) as numbers, its class probabilities (classes,) or mean, and its total uncertainty."""

    row: Floats
    mean: Any
    uncertainty: float


class Alterable(NamedTuple):
    """How each feature may change, (d,) each: at all, to whole numbers alone, to float32 alone."""

    is_free: NDArray[np.bool_]
    is_whole: NDArray[np.bool_]
    is_single: NDArray[np.bool_]


class _Goal(NamedTuple):
    """How far rows (n, d) are beyond the wanted change, (n,), and which leaves predict what is wanted."""

    margin: Margin
    is_wanted: NDArray[np.bool_]


def find_flip(model: Reticulum, prediction: Prediction, target: Any, alterable: Alterable) -> Flip | None:
    """Find a small change of a row after which the model predicts a target, or another class than now.

    Parameters
    ----------
    model : Reticulum
    prediction : Prediction
        The row, and what the model predicts for it.
    target : int, float or None
        As `checked_target` returns it.
    alterable : Alterable

    Returns
    -------
    Flip or None
        None if the search finds no such change, or there is no goal: the target is predicted already, or a number has
        no target.
    """

    def predict(rows: Floats) -> Floats:
        # The table would round to float32, which can undo a flip.
        is_single = alterable.is_single
        return model.predict_mean(np.where(is_single, rows.astype(np.float32), rows) if is_single.any() else rows)

    row = prediction.row
    leaves = model.tree.n_leaves
    design = np.repeat(model.schema.design(row[None]), leaves, axis=1)
    of_leaves = model.family.predictive_mean(model.statistics, np.eye(leaves), design)
    if model.has_classes:
        goal = _class_goal(predict, prediction, target, of_leaves)
    else:
        goal = _number_goal(predict, prediction, target, of_leaves)
    if goal is None:
        return None
    flipped = search_flip(model, row, goal.margin, alterable.is_free, alterable.is_whole, goal.is_wanted)
    if flipped is None:
        return None
    changes = {
        model.schema.names[feature]: (_cell_value(model, feature, row), _cell_value(model, feature, flipped))
        for feature in changed_features(row, flipped).tolist()
    }
    mean = predict(flipped[None])[0]
    return Flip(changes, by_target(model, mean), float(change_size(model, row, flipped[None])[0]))


def _class_goal(
    predict: Callable[[Floats], Floats], prediction: Prediction, target: Any, of_leaves: Floats
) -> _Goal | None:
    """To predict a class, or without a target any other class than now."""
    now = int(np.argmax(prediction.mean))
    if len(prediction.mean) == 1 or target == now:
        return None
    # The margin is the lead of the target over all other classes, or that of the others over the class of now.
    code, sign = (now, -1.0) if target is None else (target, 1.0)

    def margin(rows: Floats) -> Floats:
        probabilities = predict(rows)
        return np.asarray(sign * (probabilities[:, code] - np.delete(probabilities, code, axis=1).max(axis=1)))

    return _Goal(margin, (of_leaves.argmax(axis=1) == code) == (sign > 0))


def _number_goal(
    predict: Callable[[Floats], Floats], prediction: Prediction, target: Any, of_leaves: Floats
) -> _Goal | None:
    """To predict a mean on the other side of a target."""
    if target is None:
        return None
    sign = 1.0 if float(prediction.mean) < target else -1.0
    # The margin is in standard deviations of the prediction, so that one threshold suits targets of any scale; the
    # target is crossed by more than its own rounding.
    deviation = max(prediction.uncertainty**0.5, np.finfo(float).tiny)
    rounding = 4 * np.finfo(float).eps * abs(target)

    def margin(rows: Floats) -> Floats:
        return np.asarray((sign * (predict(rows) - target) - rounding) / deviation)

    return _Goal(margin, sign * (of_leaves - target) > 0)


def _cell_value(model: Reticulum, feature: int, row: Floats) -> Any:
    """The value of a feature in a row: a number, a level, or the name that rare levels share."""
    category, cell = model.schema.categories[feature], row[feature]
    if category is None:
        return float(cell)
    code = int(cell)
    return category.levels[code] if code < len(category.levels) else category.labels[code]


def checked_target(estimator: Any, to: Any) -> Any:
    """Turn the wanted prediction into the code of a class or a number; None stays None. Raise ValueError otherwise."""
    if to is None:
        return None
    if hasattr(estimator, "classes_"):
        if np.ndim(to) or not (estimator.classes_ == to).any():
            raise ValueError(f"to = {to!r} is no class; the classes are {estimator.classes_.tolist()}.")
        return int(np.flatnonzero(estimator.classes_ == to)[0])
    if isinstance(to, bool) or not isinstance(to, Real) or not np.isfinite(float(to)):
        raise ValueError(f"to must be a finite number that the prediction should come beyond; got {to!r}.")
    return float(to)
