"""A small change of a row after which something else is predicted for it, found by search and verified.

Numbers move within the limits between which splits see them, whole ones to whole ones, and categories to another level
that was frequent enough to have a name of its own. What is missing stays so.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from ..arrays import Floats, Integers
from ..model import Reticulum

# How much of a margin has to be on the other side, for rounding not to bring it back.
_SURE = 1e-6
# Values of a number that are looked at, on either side of it.
_STEPS = 32
_BISECTIONS = 40
# Features that are changed together, at most, and those of a wide table that are tried.
_MOST_CHANGES = 12
_MOST_TRIED = 64
# How often changes of several features are made smaller in turn.
_SHRINKINGS = 3
# A change is rounded outwards to a digit that makes it larger by no more than this.
_ROUNDED_BY = 0.03
Margin = Callable[[Floats], Floats]


def search_flip(
    model: Reticulum,
    row: Floats,
    margin: Margin,
    is_free: NDArray[np.bool_],
    is_whole: NDArray[np.bool_],
    is_wanted: NDArray[np.bool_],
) -> Floats | None:
    """Cells (d,) like those of a row, few of them changed, and by little, for which `margin` is positive.

    None if there are no such cells among those tried. One feature alone is changed if that suffices; of several that
    would do, the one that has to move least, in standard deviations.

    Parameters
    ----------
    model : Reticulum
    row : ndarray of shape (d,)
        As the methods of the model want it.
    margin : callable
        For rows (n, d) how far each is beyond the change that is wanted, (n,).
    is_free : ndarray of shape (d,)
        Features that may change.
    is_whole : ndarray of shape (d,)
        Features that hold whole numbers alone.
    is_wanted : ndarray of shape (leaves,)
        Leaves that predict what is wanted.
    """
    ways = _ways(model, row, is_free, is_whole)
    if not ways:
        return None
    alone = _flips_of_one(model, row, margin, ways, is_whole)
    if len(alone):
        found = alone[int(np.argmin(np.round(change_size(model, row, alone), 9)))]
    else:
        # Far from all boundaries predictions hardly move, but the log of a membership tells where to go.
        guides = [_log_membership(model, is_wanted)] if is_wanted.any() else []
        several = (_flip_of_several(model, row, margin, guide, is_free, is_whole) for guide in (*guides, margin))
        found = next((own for own in several if own is not None), None)
        if found is None:
            return None
    rounded = _rounded(model, row, found, is_whole)
    return rounded if margin(rounded[None])[0] > _SURE else found


def change_size(model: Reticulum, row: Floats, rows: Floats) -> Floats:
    """Standard deviations by which rows (n, d) differ from a row, the distances of all features added: (n,)."""
    design = model.schema.design(np.vstack([row, rows]))[1:].T
    return np.asarray(np.sqrt(model.schema.by_feature((design[1:] - design[0]) ** 2)).sum(axis=1))


def changed_features(row: Floats, found: Floats) -> Integers:
    """Features in which two rows (d,) differ."""
    return np.flatnonzero((found != row) & ~np.isnan(row))


# Values that a feature could have instead: of a number those on one side of it, nearest first, or one level.
Way = tuple[int, Floats]


def _ways(model: Reticulum, row: Floats, is_free: NDArray[np.bool_], is_whole: NDArray[np.bool_]) -> list[Way]:
    """How features that may change, and have a say, could; of many features, those that matter most on the row's way.

    What matters least has a say, too: beyond a hard split, where the row does not come by itself, it may decide.
    """
    schema, tree = model.schema, model.tree
    slopes = np.abs(tree.hyperplanes[:, 1:])
    reach = (tree.shape.sides != 0) @ model.membership(row[None])[0]
    here, anywhere = (schema.by_feature(own) for own in ((reach[:, None] * slopes).sum(axis=0), slopes.sum(axis=0)))
    # Linear leaves look at all features.
    may = np.flatnonzero(is_free & ~np.isnan(row) & ((anywhere > 0) | model.family.uses_design))
    tried = np.sort(may[np.lexsort((-anywhere[may], -here[may]))][:_MOST_TRIED])
    return [(own, way) for own in tried.tolist() for way in _alternatives(model, row, own, bool(is_whole[own]))]


def _alternatives(model: Reticulum, row: Floats, feature: int, is_whole: bool) -> list[Floats]:
    category = model.schema.categories[feature]
    if category is not None:
        return [np.array([float(code)]) for code in range(len(category.levels)) if code != row[feature]]
    low, high = model.schema.limits(feature)
    if low == high:
        return []
    if np.isfinite(low) and np.isfinite(high):
        here = np.clip(row[feature], low, high)
        ways = [np.linspace(here, end, _STEPS + 1)[1:] for end in (low, high)]
    else:
        # Without limits, as far as makes a difference to the steepest split, and ever further.
        steepest = np.abs(model.tree.hyperplanes[:, 1:][:, model.schema.source == feature]).max(initial=0.0)
        far = 2.0 ** np.linspace(-4, 12, _STEPS) / max(steepest, 1e-12)
        ways = [row[feature] - far, row[feature] + far]
    if is_whole:
        ways = [_distinct(away(way)) for away, way in zip((np.floor, np.ceil), ways, strict=True)]
    return [way[way != row[feature]] for way in ways if (way != row[feature]).any()]


def _distinct(values: Floats) -> Floats:
    """Values without those that equal the one before."""
    return np.asarray(values[np.append(True, values[1:] != values[:-1])])


def _with(row: Floats, features: Sequence[int] | Integers, values: Floats) -> Floats:
    """Rows like one, each with another value of one feature: (n, d)."""
    out = np.repeat(row[None], len(features), axis=0)
    out[np.arange(len(features)), features] = values
    return out


def _all_of(row: Floats, ways: list[Way]) -> tuple[Integers, Floats]:
    """The feature that each value of all ways is one of, and rows with these values."""
    features = np.repeat([feature for feature, _ in ways], [len(way) for _, way in ways])
    return features, _with(row, features, np.concatenate([way for _, way in ways]))


def _flips_of_one(
    model: Reticulum, row: Floats, margin: Margin, ways: list[Way], is_whole: NDArray[np.bool_]
) -> Floats:
    """Rows in which a change of one feature is enough, as small as it can be."""
    is_beyond = margin(_all_of(row, ways)[1]) > _SURE
    chosen, inner, outer = [], [], []
    starts = np.cumsum([0, *(len(way) for _, way in ways)])
    for (feature, way), start in zip(ways, starts, strict=False):
        beyond = np.flatnonzero(is_beyond[start : start + len(way)])
        if len(beyond):
            chosen.append(feature)
            inner.append(way[beyond[0] - 1] if beyond[0] else row[feature])
            outer.append(way[beyond[0]])
    places = np.array(chosen, dtype=np.int64)
    is_number = np.array([model.schema.categories[own] is None for own in chosen], dtype=bool)
    values = np.array(outer)
    values[is_number] = _nearest(
        row, margin, places[is_number], np.array(inner)[is_number], values[is_number], is_whole[places[is_number]]
    )
    return _with(row, places, values)


def _nearest(
    row: Floats, margin: Margin, features: Integers, inner: Floats, outer: Floats, is_whole: NDArray[np.bool_]
) -> Floats:
    """Values of numbers, each changed alone, that are just enough: between values that are not and values that are."""
    for _ in range(_BISECTIONS if len(features) else 0):
        half = 0.5 * (outer - inner)
        middle = inner + np.where(is_whole, np.trunc(half), half)
        is_beyond = margin(_with(row, features, middle)) > _SURE
        inner, outer = np.where(is_beyond, inner, middle), np.where(is_beyond, middle, outer)
    return outer


def _log_membership(model: Reticulum, leaves: NDArray[np.bool_]) -> Margin:
    """Log of the probability that rows (n, d) belong to one of some leaves."""

    def log_membership(rows: Floats) -> Floats:
        return np.asarray(logsumexp(model.routes(rows).log_membership[0, leaves], axis=0))

    return log_membership


def _flip_of_several(
    model: Reticulum,
    row: Floats,
    margin: Margin,
    guide: Margin,
    is_free: NDArray[np.bool_],
    is_whole: NDArray[np.bool_],
) -> Floats | None:
    """A row with several features changed: at first those that raise the guide most, then each as little as will do."""
    changed, reached = row.copy(), guide(row[None])[0]
    order: list[int] = []
    while margin(changed[None])[0] <= _SURE:
        if len(order) == _MOST_CHANGES:
            return None
        features, tried = _all_of(changed, _ways(model, changed, is_free, is_whole))
        raised = guide(tried)
        best = int(np.argmax(np.round(raised, 9)))
        if raised[best] <= reached + 1e-9:
            return None
        changed, reached = tried[best], raised[best]
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
    """A changed row with one of its features as near to what it was as will do."""
    way = row[[feature]]
    if model.schema.categories[feature] is None:
        way = np.linspace(np.clip(row[feature], *model.schema.limits(feature)), changed[feature], _STEPS + 1)[:-1]
        way = np.concatenate([row[[feature]], np.trunc(way) if is_whole[feature] else way])
    beyond = np.flatnonzero(margin(_with(changed, [feature] * len(way), way)) > _SURE)
    out = changed.copy()
    if len(beyond):
        out[feature] = way[beyond[0]]
    if len(way) > 1 and out[feature] != row[feature]:
        inner = way[[beyond[0] - 1 if len(beyond) else -1]]
        out[feature] = _nearest(out, margin, np.array([feature]), inner, out[[feature]], is_whole[[feature]])[0]
    return out


def _rounded(model: Reticulum, row: Floats, found: Floats, is_whole: NDArray[np.bool_]) -> Floats:
    """The same change with numbers that are short to say: rounded outwards."""
    out = found.copy()
    for feature in changed_features(row, found).tolist():
        if model.schema.categories[feature] is not None or is_whole[feature]:
            continue
        # A wild cell is read as being at the limit.
        moved = found[feature] - np.clip(row[feature], *model.schema.limits(feature))
        if moved == 0:
            continue
        digits = int(np.ceil(-np.log10(_ROUNDED_BY * abs(moved))))
        with np.errstate(over="ignore", invalid="ignore"):
            steps = np.sign(moved) * np.ceil(np.sign(moved) * found[feature] * 10.0**digits - 1e-6)
            # Adding 0 makes 0 of -0.
            value = np.round(steps / 10.0**digits, digits) + 0.0
        if np.isfinite(value):
            out[feature] = value
    return out
