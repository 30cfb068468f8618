"""Search for a small change of a row that makes a margin positive.

Numbers move within the limits of the schema, whole ones to whole ones, and categories to another level that was
frequent enough to have a code of its own. Missing cells stay missing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from ..arrays import Floats, Integers
from ..model import Reticulum

# A margin has to exceed this, so that rounding cannot bring the prediction back.
_LEAST_MARGIN = 1e-6
# Values that are tried on either side of a number, and halvings of the interval between the last value that is not
# enough and the first that is.
_STEPS = 32
_BISECTIONS = 40
# Most features that are changed together, and most of a wide table that are tried.
_MOST_CHANGES = 12
_MOST_TRIED = 64
# Rounds in which the changes of several features are made smaller in turn.
_SHRINKINGS = 3
# A change is rounded outwards to a digit that makes it larger by no more than this share.
_ROUNDING = 0.03
# Gains of a step below this are rounding.
_LEAST_GAIN = 1e-9
Margin = Callable[[Floats], Floats]


class _Move(NamedTuple):
    """Values that a feature could take instead: of a number those on one side of it, nearest first, or one level."""

    feature: int
    values: Floats


def search_flip(
    model: Reticulum,
    row: Floats,
    margin: Margin,
    is_free: NDArray[np.bool_],
    is_whole: NDArray[np.bool_],
    is_wanted: NDArray[np.bool_],
) -> Floats | None:
    """Find a row with few and small changes for which the margin is positive.

    One feature alone is changed if that suffices; among several such features, the one with the smallest change in
    standard deviations. Otherwise features are changed together, greedily.

    Parameters
    ----------
    model : Reticulum
    row : ndarray of shape (d,)
        Cells as numbers, as the methods of the model take them.
    margin : callable
        For rows (n, d) how far each is beyond the wanted change, (n,).
    is_free : ndarray of shape (d,)
        Features that may change.
    is_whole : ndarray of shape (d,)
        Features that hold whole numbers alone.
    is_wanted : ndarray of shape (leaves,)
        Leaves that predict what is wanted.

    Returns
    -------
    ndarray of shape (d,) or None
        None if none of the rows that were tried has a positive margin.
    """
    moves = _moves(model, row, is_free, is_whole)
    if not moves:
        return None
    alone = _flips_of_one(model, row, margin, moves, is_whole)
    if len(alone):
        flipped = alone[int(np.argmin(np.round(change_size(model, row, alone), 9)))]
    else:
        # Far from all boundaries the margin hardly moves, but the log of a membership shows where to go.
        guides = [_log_membership(model, is_wanted)] if is_wanted.any() else []
        attempts = (_flip_of_several(model, row, margin, guide, is_free, is_whole) for guide in (*guides, margin))
        first = next((attempt for attempt in attempts if attempt is not None), None)
        if first is None:
            return None
        flipped = first
    rounded = _rounded(model, row, flipped, is_whole)
    return rounded if margin(rounded[None])[0] > _LEAST_MARGIN else flipped


def change_size(model: Reticulum, row: Floats, rows: Floats) -> Floats:
    """Distance of rows (n, d) from a row in standard deviations, summed over features: (n,)."""
    design = model.schema.design(np.vstack([row, rows]))[1:].T
    return np.asarray(np.sqrt(model.schema.by_feature((design[1:] - design[0]) ** 2)).sum(axis=1))


def changed_features(row: Floats, changed: Floats) -> Integers:
    """Features in which two rows (d,) differ."""
    return np.flatnonzero((changed != row) & ~np.isnan(row))


def _moves(model: Reticulum, row: Floats, is_free: NDArray[np.bool_], is_whole: NDArray[np.bool_]) -> list[_Move]:
    """List how the features that the model uses may change; of many, those with the largest slopes on the row's way.

    Features with small slopes there are tried too: beyond a hard split, where the row does not come by itself, they may
    decide.
    """
    schema, tree = model.schema, model.tree
    slopes = np.abs(tree.hyperplanes[:, 1:])
    reach = (tree.shape.sides != 0) @ model.membership(row[None])[0]
    here, anywhere = (schema.by_feature(sizes) for sizes in ((reach[:, None] * slopes).sum(axis=0), slopes.sum(axis=0)))
    # Linear leaves use all features.
    usable = np.flatnonzero(is_free & ~np.isnan(row) & ((anywhere > 0) | model.family.uses_design))
    tried = np.sort(usable[np.lexsort((-anywhere[usable], -here[usable]))][:_MOST_TRIED])
    return [
        _Move(feature, values)
        for feature in tried.tolist()
        for values in _alternatives(model, row, feature, bool(is_whole[feature]))
    ]


def _alternatives(model: Reticulum, row: Floats, feature: int, is_whole: bool) -> list[Floats]:
    """Values that a feature could take: each level alone, or the numbers on each side, nearest first."""
    category = model.schema.categories[feature]
    if category is not None:
        return [np.array([float(code)]) for code in range(len(category.levels)) if code != row[feature]]
    low, high = model.schema.limits(feature)
    if low == high:
        return []
    if np.isfinite(low) and np.isfinite(high):
        here = np.clip(row[feature], low, high)
        sides = [np.linspace(here, end, _STEPS + 1)[1:] for end in (low, high)]
    else:
        # Without limits, from a sixteenth of the width of the steepest split to 4096 widths.
        steepest = np.abs(model.tree.hyperplanes[:, 1:][:, model.schema.source == feature]).max(initial=0.0)
        distances = 2.0 ** np.linspace(-4, 12, _STEPS) / max(steepest, 1e-12)
        sides = [row[feature] - distances, row[feature] + distances]
    if is_whole:
        sides = [_distinct(outwards(side)) for outwards, side in zip((np.floor, np.ceil), sides, strict=True)]
    return [side[side != row[feature]] for side in sides if (side != row[feature]).any()]


def _distinct(values: Floats) -> Floats:
    """Drop values that equal the one before."""
    return np.asarray(values[np.append(True, values[1:] != values[:-1])])


def _with(row: Floats, features: Sequence[int] | Integers, values: Floats) -> Floats:
    """Copies of a row, each with another value of one feature: (n, d)."""
    rows = np.repeat(row[None], len(features), axis=0)
    rows[np.arange(len(features)), features] = values
    return rows


def _all_moved(row: Floats, moves: list[_Move]) -> tuple[Integers, Floats]:
    """Copies of a row (n, d) with each value of all moves, and the feature (n,) that each changes."""
    features = np.repeat([move.feature for move in moves], [len(move.values) for move in moves])
    return features, _with(row, features, np.concatenate([move.values for move in moves]))


def _flips_of_one(
    model: Reticulum, row: Floats, margin: Margin, moves: list[_Move], is_whole: NDArray[np.bool_]
) -> Floats:
    """Copies of a row (n, d) in each of which one feature is changed by just enough."""
    is_beyond = margin(_all_moved(row, moves)[1]) > _LEAST_MARGIN
    chosen, inner, outer = [], [], []
    starts = np.cumsum([0, *(len(move.values) for move in moves)])
    for (feature, values), start in zip(moves, starts, strict=False):
        beyond = np.flatnonzero(is_beyond[start : start + len(values)])
        if len(beyond):
            chosen.append(feature)
            inner.append(values[beyond[0] - 1] if beyond[0] else row[feature])
            outer.append(values[beyond[0]])
    features = np.array(chosen, dtype=np.int64)
    is_number = np.array([model.schema.categories[feature] is None for feature in chosen], dtype=bool)
    enough = np.array(outer)
    enough[is_number] = _nearest(
        row, margin, features[is_number], np.array(inner)[is_number], enough[is_number], is_whole[features[is_number]]
    )
    return _with(row, features, enough)


def _nearest(
    row: Floats, margin: Margin, features: Integers, inner: Floats, outer: Floats, is_whole: NDArray[np.bool_]
) -> Floats:
    """Bisect, for each of some numbers changed alone, between a value that is not enough and one that is."""
    for _ in range(_BISECTIONS if len(features) else 0):
        half = 0.5 * (outer - inner)
        middle = inner + np.where(is_whole, np.trunc(half), half)
        is_beyond = margin(_with(row, features, middle)) > _LEAST_MARGIN
        inner, outer = np.where(is_beyond, inner, middle), np.where(is_beyond, middle, outer)
    return outer


def _log_membership(model: Reticulum, is_wanted: NDArray[np.bool_]) -> Margin:
    """Make a guide: the log probability of rows (n, d) to belong to one of the wanted leaves."""

    def log_membership(rows: Floats) -> Floats:
        return np.asarray(logsumexp(model.routes(rows).log_membership[0, is_wanted], axis=0))

    return log_membership


def _flip_of_several(
    model: Reticulum,
    row: Floats,
    margin: Margin,
    guide: Margin,
    is_free: NDArray[np.bool_],
    is_whole: NDArray[np.bool_],
) -> Floats | None:
    """Change the feature that raises the guide most until the margin is positive, then shrink each change."""
    changed, reached = row.copy(), guide(row[None])[0]
    order: list[int] = []
    while margin(changed[None])[0] <= _LEAST_MARGIN:
        if len(order) == _MOST_CHANGES:
            return None
        features, rows = _all_moved(changed, _moves(model, changed, is_free, is_whole))
        raised = guide(rows)
        best = int(np.argmax(np.round(raised, 9)))
        if raised[best] <= reached + _LEAST_GAIN:
            return None
        changed, reached = rows[best], raised[best]
        order.append(int(features[best]))
    for _ in range(_SHRINKINGS):
        before = changed
        for feature in dict.fromkeys(order):
            changed = _shrunk(model, row, changed, margin, feature, is_whole)
        if (changed == before)[~np.isnan(row)].all():
            break
    return changed


def _shrunk(
    model: Reticulum, row: Floats, changed: Floats, margin: Margin, feature: int, is_whole: NDArray[np.bool_]
) -> Floats:
    """Bring one feature of a changed row as near to its value in the original row as the margin allows."""
    values = row[[feature]]
    if model.schema.categories[feature] is None:
        here = np.clip(row[feature], *model.schema.limits(feature))
        between = np.linspace(here, changed[feature], _STEPS + 1)[:-1]
        values = np.concatenate([row[[feature]], np.trunc(between) if is_whole[feature] else between])
    beyond = np.flatnonzero(margin(_with(changed, [feature] * len(values), values)) > _LEAST_MARGIN)
    shrunk = changed.copy()
    if len(beyond):
        shrunk[feature] = values[beyond[0]]
    if len(values) > 1 and shrunk[feature] != row[feature]:
        inner = values[[beyond[0] - 1 if len(beyond) else -1]]
        outer = shrunk[[feature]]
        shrunk[feature] = _nearest(shrunk, margin, np.array([feature]), inner, outer, is_whole[[feature]])[0]
    return shrunk


def _rounded(model: Reticulum, row: Floats, flipped: Floats, is_whole: NDArray[np.bool_]) -> Floats:
    """Round the changed numbers of a row outwards, so that they are short to print."""
    rounded = flipped.copy()
    for feature in changed_features(row, flipped).tolist():
        if model.schema.categories[feature] is not None or is_whole[feature]:
            continue
        # The model moves a wild cell to the limit: the change is measured from there.
        change = flipped[feature] - np.clip(row[feature], *model.schema.limits(feature))
        if change == 0:
            continue
        digits = int(np.ceil(-np.log10(_ROUNDING * abs(change))))
        with np.errstate(over="ignore", invalid="ignore"):
            steps = np.sign(change) * np.ceil(np.sign(change) * flipped[feature] * 10.0**digits - 1e-6)
            # Adding 0 makes 0 of -0.
            value = np.round(steps / 10.0**digits, digits) + 0.0
        if np.isfinite(value):
            rounded[feature] = value
    return rounded
