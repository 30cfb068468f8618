"""A line or a plane through the space of rows, along which displays draw predictions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from numbers import Integral
from typing import Any, Self

import numpy as np

from ..arrays import Floats
from ..data import Schema
from ..estimators import encode_like_fit
from ..model import Reticulum, compute_membership, compute_routes
from ..tree import Tree

# Grid points along each axis of a plane, and along a line.
GRID, CURVE = 240, 400
# Cells of the rows that are predicted at once: 16 MB.
_BLOCK_CELLS = 1 << 21
# Without rows, an axis ends this many standard deviations from the centre, or at the limits of the schema.
_SHOWN = 3.0


@dataclass(frozen=True, eq=False)
class Section:
    """Rows that differ in one or two features, and are alike in all others.

    Attributes
    ----------
    features : tuple of int
        Features on the axes.
    grid : tuple of ndarray of shape (G,)
        Places along each.
    base : ndarray of shape (d,)
        A row with the values of all other features.
    held : str
        Where these are held, in words; empty if there are none.
    """

    features: tuple[int, ...]
    grid: tuple[Floats, ...]
    base: Floats
    held: str

    @classmethod
    def of_numbers(
        cls, estimator: Any, features: tuple[int, ...], cells: Floats | None, row: Any, resolution: int
    ) -> Self:
        """Make a section over features that are numbers, with as many equal grid cells along each as `resolution` says.

        Parameters
        ----------
        estimator : fitted estimator
        features : tuple of int
        cells : ndarray of shape (n, d) or None
            Rows as numbers: axes end where they do, and the other features are held at their medians.
        row : array-like, table of one row or None
            Values at which the other features are held.
        resolution : int
        """
        middles = (np.arange(resolution) + 0.5) / resolution
        ends = [limits(estimator.model_, feature, cells) for feature in features]
        grid = tuple(low + (high - low) * middles for low, high in ends)
        return cls(features, grid, *held_row(estimator, features, cells, row))

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the grid; the second feature comes first, as in images."""
        return tuple(len(places) for places in reversed(self.grid))

    def blocks(self) -> Iterator[Floats]:
        """Rows (n, d) of the grid as numbers, block by block."""
        points = np.stack(np.meshgrid(*self.grid), axis=-1).reshape(-1, len(self.features))
        size = max(1, _BLOCK_CELLS // len(self.base))
        for start in range(0, len(points), size):
            yield self._rows(points[start : start + size])

    def _rows(self, points: Floats) -> Floats:
        cells = np.repeat(self.base[None], len(points), axis=0)
        cells[:, list(self.features)] = points
        return cells

    def means(self, model: Reticulum) -> Floats:
        """Probabilities of classes, or the mean of a number, shape (*shape, k)."""
        parts = [model.predict_mean(rows).reshape(len(rows), -1) for rows in self.blocks()]
        return np.concatenate(parts).reshape(*self.shape, -1)

    def reach(self, schema: Schema, tree: Tree) -> Floats:
        """Probability to come to each split of a tree, shape (m, *shape)."""
        is_below = (tree.shape.sides != 0).astype(np.float64)
        parts = [is_below @ compute_membership(schema, tree, rows).T for rows in self.blocks()]
        # Rounding can lift a sum above one, which Matplotlib refuses as an opacity.
        return np.asarray(np.minimum(np.concatenate(parts, axis=1), 1.0)).reshape(-1, *self.shape)

    def planes(self, schema: Schema, tree: Tree) -> Floats:
        """Offset and slopes of the activation of each split of a tree, shape (m, 1 + features).

        Within the limits of the schema an activation is linear in the features.
        """
        low, high = np.array([(places[0], places[-1]) for places in self.grid]).T
        corners = self._rows(np.vstack([low, low + np.diag(high - low)]))
        activation = compute_routes(schema, tree, corners).activation[0]
        slopes = (activation[:, 1:] - activation[:, :1]) / (high - low)
        return np.column_stack([activation[:, 0] - slopes @ low, slopes])


def place_of(model: Reticulum, feature: Any) -> int:
    """Return the place of a feature that is given by name or place, or raise ValueError."""
    names = model.schema.names
    if isinstance(feature, str) and feature in names:
        return names.index(feature)
    if isinstance(feature, Integral) and 0 <= int(feature) < len(names):
        return int(feature)
    known = ", ".join(map(repr, names[:8])) + (", ..." if len(names) > 8 else "")
    raise ValueError(f"there is no feature {feature!r}; choose from {known}, or by place, 0 to {len(names) - 1}.")


def _check_is_number(model: Reticulum, feature: int) -> None:
    if feature not in model.schema.numbers:
        known = ", ".join(repr(model.schema.names[number]) for number in model.schema.numbers) or "none"
        raise ValueError(
            f"feature {model.schema.names[feature]!r} is a category, which has no place on an axis. "
            f"Choose from the numbers ({known}), and set a category by row=."
        )


def chosen_features(model: Reticulum, features: Any, n: int) -> tuple[int, ...]:
    """Return the features to draw: those asked for, or the n numbers that matter most, in the order of the table."""
    if features is not None:
        asked = [features] if isinstance(features, str | Integral) else list(features)
        chosen = tuple(place_of(model, feature) for feature in asked)
        if not 1 <= len(set(chosen)) == len(chosen) <= n:
            raise ValueError(f"features must name one or two different features; got {features!r}.")
    else:
        ranked = sorted(model.schema.numbers, key=lambda number: -model.feature_importances[number])
        chosen = tuple(sorted(ranked[:n]))
        if not chosen:
            raise ValueError("all features are categories, which have no place on an axis. Draw TreeDisplay instead.")
    for feature in chosen:
        _check_is_number(model, feature)
    return chosen


def held_row(estimator: Any, features: tuple[int, ...], cells: Floats | None, row: Any) -> tuple[Floats, str]:
    """Return a row (d,) with the values of all features but those on the axes, and in words where they are held.

    There are no words if all features are on the axes.
    """
    schema = estimator.model_.schema
    held = "as in the given row" if row is not None else "at their centre" if cells is None else "at their median"
    if len(features) == schema.n_features:
        held = ""
    if row is not None:
        if hasattr(row, "to_frame"):
            row = row.to_frame().T.infer_objects()
        elif np.ndim(row) == 1 and not hasattr(row, "columns"):
            row = [list(row)]
        cells_held = np.asarray(encode_like_fit(estimator, row), dtype=np.float64)
        if len(cells_held) != 1:
            raise ValueError(f"row must be a single row, such as X[:1]; got {len(cells_held)} rows.")
        return cells_held[0], held
    base = np.full(schema.n_features, np.nan)
    for place, category in enumerate(schema.categories):
        known = None if cells is None else cells[~np.isnan(cells[:, place]), place]
        if known is not None and len(known):
            base[place] = np.median(known) if category is None else np.bincount(known.astype(np.int64)).argmax()
        elif category is None:
            base[place] = schema.center[schema.column_of_number(place)]
        elif category.n_codes:
            # The most frequent level has code 0.
            base[place] = 0.0
    return base, held


def limits(model: Reticulum, feature: int, cells: Floats | None) -> tuple[float, float]:
    """Ends of the axis of a number: within the limits of the schema, where splits are straight, and of the rows."""
    schema = model.schema
    column = schema.column_of_number(feature)
    center, reach = float(schema.center[column]), _SHOWN * float(abs(schema.scale[column]))
    least, most = center - reach, center + reach
    if cells is not None and np.isfinite(cells[:, feature]).any():
        least, most = float(np.nanmin(cells[:, feature])), float(np.nanmax(cells[:, feature]))
    low, high = schema.limits(feature)
    low, high = max(low, least), min(high, most)
    return (low, high) if low < high else (center - 1, center + 1)


def checked_cells(estimator: Any, X: Any, y: Any) -> tuple[Floats | None, Any]:
    """Return rows as numbers, and their targets; both, or the targets alone, may be left out."""
    if X is None:
        if y is not None:
            raise ValueError("y was given without X; give both, or neither.")
        return None, None
    cells = np.asarray(encode_like_fit(estimator, X), dtype=np.float64)
    if y is None:
        return cells, None
    y = np.asarray(y)
    if y.shape != (len(cells),):
        raise ValueError(f"y must have one target for each of the {len(cells)} rows; got shape {y.shape}.")
    return cells, y


def class_codes(estimator: Any, y: Any) -> Any:
    """Return the class codes of labels, -1 for labels that fit did not see; numbers stay as they are."""
    if y is None or not hasattr(estimator, "classes_"):
        return None if y is None else y.astype(np.float64)
    places = {value: place for place, value in enumerate(estimator.classes_.tolist())}
    return np.array([places.get(value, -1) for value in y.tolist()], dtype=np.int64)
