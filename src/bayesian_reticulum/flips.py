"""A small change of a row after which something else is predicted for it, found by search and verified.

Numbers move within the limits between which splits see them, categories to another level that was frequent enough to
have a name of its own. What is missing stays so.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from .model import Reticulum
from .rows import gates, softening
from .schema import NUMBER
from .tree import Floats, Integers

# How much of a margin has to be on the other side, for rounding not to bring it back.
_SURE = 1e-6
# Values of a number that are looked at, on either side of it.
_STEPS = 32
_BISECTIONS = 40
# Features that are changed together, at most, and those of a wide table that are tried.
_MOST_CHANGES = 12
_MOST_TRIED = 64
# A change is rounded outwards to a digit that makes it larger by no more than about this, and to further ones where
# that would lead beyond limits.
_ROUNDED_BY = 0.03
_MORE_DIGITS = 4

Margin = Callable[[Floats], Floats]


def flipped(
    model: Reticulum, row: Floats, margin: Margin, is_free: NDArray[np.bool_], is_wanted: NDArray[np.bool_]
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
    is_wanted : ndarray of shape (leaves,)
        Leaves that predict what is wanted.
    """
    features = _worth_trying(model, row, is_free)
    if not len(features):
        return None
    alone = _flips_of_one(model, row, margin, features)
    if len(alone):
        found = alone[int(np.argmin(np.round(change_size(model, row, alone), 9)))]
    else:
        # Far from all boundaries predictions hardly move, but the log of a membership tells where to go.
        guides = [_log_membership(model, is_wanted)] if is_wanted.any() else []
        together = (_flip_of_several(model, row, margin, guide, features) for guide in (*guides, margin))
        several = next((own for own in together if own is not None), None)
        if several is None:
            return None
        found = several
    rounded = _rounded(model, row, found)
    return rounded if margin(rounded[None])[0] > _SURE else found


def change_size(model: Reticulum, row: Floats, rows: Floats) -> Floats:
    """Standard deviations by which rows (n, d) differ from a row, the distances of all features added: (n,)."""
    design = model.schema.design(np.vstack([row, rows]))[1:].T
    return np.asarray(np.sqrt(model.schema.by_feature((design[1:] - design[0]) ** 2)).sum(axis=1))


def changed_features(row: Floats, found: Floats) -> Integers:
    """Features in which two rows (d,) differ."""
    return np.flatnonzero((found != row) & ~np.isnan(row))


def _limits(model: Reticulum, feature: int) -> tuple[float, float] | None:
    """Between which values splits see a number; None for a category."""
    if model.schema.categories[feature] is not None:
        return None
    column = int(np.flatnonzero((model.schema.source == feature) & (model.schema.code == NUMBER))[0])
    return float(model.schema.low[column]), float(model.schema.high[column])


def _worth_trying(model: Reticulum, row: Floats, is_free: NDArray[np.bool_]) -> Integers:
    """Features that may change and have a say; of many, those with the largest slopes on the way of the row."""
    schema, tree = model.schema, model.tree
    reach = (tree.shape.sides != 0) @ model.membership(row[None])[0]
    say = schema.by_feature((reach[:, None] * np.abs(tree.hyperplanes[:, 1:])).sum(axis=0))
    if model.family.uses_design:
        # Linear leaves look at all features.
        say = say + np.finfo(float).tiny
    may = np.flatnonzero(is_free & ~np.isnan(row) & (say > 0))
    return np.sort(may[np.argsort(-say[may], kind="stable")][:_MOST_TRIED])


def _alternatives(model: Reticulum, row: Floats, feature: int) -> list[Floats]:
    """Other values of a feature: those of a number on either side of it, nearest first; each level by itself."""
    category, limits = model.schema.categories[feature], _limits(model, feature)
    if category is not None or limits is None:
        levels = () if category is None else category.levels
        return [np.array([float(code)]) for code in range(len(levels)) if code != row[feature]]
    low, high = limits
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
    return [way for way in ways if way[-1] != row[feature]]


def _with(row: Floats, features: Integers, values: Floats) -> Floats:
    """Rows like one, each with another value of one feature: (n, d)."""
    out = np.repeat(row[None], len(features), axis=0)
    out[np.arange(len(features)), features] = values
    return out


def _flips_of_one(model: Reticulum, row: Floats, margin: Margin, features: Integers) -> Floats:
    """Rows in which a change of one feature is enough, as small as it can be."""
    ways = [(feature, way) for feature in features.tolist() for way in _alternatives(model, row, feature)]
    if not ways:
        return np.empty((0, len(row)))
    moved = np.repeat([feature for feature, _ in ways], [len(way) for _, way in ways])
    is_beyond = margin(_with(row, moved, np.concatenate([way for _, way in ways]))) > _SURE
    chosen, inner, outer = [], [], []
    starts = np.cumsum([0, *(len(way) for _, way in ways)])
    for (feature, way), start in zip(ways, starts, strict=False):
        beyond = np.flatnonzero(is_beyond[start : start + len(way)])
        if len(beyond):
            chosen.append(feature)
            inner.append(way[beyond[0] - 1] if beyond[0] else row[feature])
            outer.append(way[beyond[0]])
    places = np.array(chosen, dtype=np.int64)
    return _with(row, places, _nearest(model, row, margin, places, np.array(inner), np.array(outer)))


def _nearest(model: Reticulum, row: Floats, margin: Margin, features: Integers, inner: Floats, outer: Floats) -> Floats:
    """Values of features, each changed alone, that are just enough: between values that are not and values that are."""
    is_number = np.array([model.schema.categories[feature] is None for feature in features], dtype=bool)
    for _ in range(_BISECTIONS if is_number.any() else 0):
        middle = np.where(is_number, 0.5 * (inner + outer), outer)
        is_beyond = margin(_with(row, features, middle)) > _SURE
        inner, outer = np.where(is_beyond, inner, middle), np.where(is_beyond, middle, outer)
    return outer


def _log_membership(model: Reticulum, leaves: NDArray[np.bool_]) -> Margin:
    """Log of the probability that rows (n, d) belong to one of some leaves."""

    def log_membership(rows: Floats) -> Floats:
        gaps, hyperplanes = model.schema.gaps(rows), model.tree.hyperplanes[None]
        design, left_open = model.schema.filled(rows, gaps)
        found = gates(hyperplanes, model.tree.shape, design, softening(gaps, hyperplanes, left_open))
        return np.asarray(logsumexp(found.log_membership[0][leaves], axis=0))

    return log_membership


def _flip_of_several(model: Reticulum, row: Floats, margin: Margin, guide: Margin, features: Integers) -> Floats | None:
    """A row with several features changed: at first those that raise the guide most, then each as little as will do."""
    changed, reached = row.copy(), guide(row[None])[0]
    order: list[int] = []
    while margin(changed[None])[0] <= _SURE:
        if len(order) == _MOST_CHANGES:
            return None
        ways = [(feature, way) for feature in features.tolist() for way in _alternatives(model, changed, feature)]
        moved = np.repeat([feature for feature, _ in ways], [len(way) for _, way in ways])
        tried = _with(changed, moved, np.concatenate([way for _, way in ways]))
        raised = guide(tried)
        best = int(np.argmax(np.round(raised, 9)))
        if raised[best] <= reached + 1e-9:
            return None
        changed, reached = tried[best], raised[best]
        order.append(int(moved[best]))
    for feature in dict.fromkeys(order):
        back = changed.copy()
        back[feature] = row[feature]
        if margin(back[None])[0] > _SURE:
            changed = back
        elif model.schema.categories[feature] is None:
            ends = back[[feature]], changed[[feature]]
            changed[feature] = _nearest(model, changed, margin, np.array([feature]), *ends)[0]
    return changed


def _rounded(model: Reticulum, row: Floats, found: Floats) -> Floats:
    """The same change with numbers that are short to say: rounded outwards, as far as limits leave room for it."""
    out = found.copy()
    for feature in changed_features(row, found).tolist():
        limits = _limits(model, feature)
        if limits is None:
            continue
        moved = found[feature] - row[feature]
        digit = int(np.floor(-np.log10(_ROUNDED_BY * abs(moved)))) + 1
        for digits in range(digit, digit + _MORE_DIGITS):
            with np.errstate(over="ignore", invalid="ignore"):
                # Adding 0 makes 0 of -0.
                value = np.round(found[feature] + np.sign(moved) * 0.5 * 10.0**-digits, digits) + 0.0
            if limits[0] <= value <= limits[1]:
                out[feature] = value
                break
    return out
