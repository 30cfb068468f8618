"""Slopes of linear leaves: the directions in which leaves are linear, and how large slopes are believed to be."""

from __future__ import annotations

import numpy as np

from ..arrays import Floats
from ..families import Family, LinearizableFamily
from ..rows import Moments, Rows, mean_and_covariance

# Standard deviations beyond the tails of a feature up to which linear leaves follow it: in the tails themselves a line
# would have a bend that is not in the data.
LINEAR_MARGIN = 2.0
# Features that the leaves of a tree may be linear in: each leaf holds the products of all pairs of them.
_MOST_SLOPES = 32
# Relevance that every feature has at least, in parts of the largest slope on all rows.
_LEAST_RELEVANCE = 0.1


def linear_family(rows: Rows, constant: Family, is_rotated: bool) -> Family:
    """The family of constant leaves, which the rows are made for, with linear ones.

    They are linear in all columns, or in those that matter most.

    Slopes along columns that matter more in the regression on all rows are believed to be larger, but not in a rotated
    table, which may have fewer rows than features.
    """
    assert isinstance(constant, LinearizableFamily)
    regression, n = _regression(rows, constant)
    basis = np.eye(rows.n_columns) if rows.n_columns <= _MOST_SLOPES else _main_directions(regression)
    # Fewer rows than features do not show which matter.
    if not is_rotated:
        basis *= _relevance(basis.T @ regression, n)
    return constant.with_slopes(basis)


def _regression(rows: Rows, constant: Family) -> tuple[Floats, float]:
    """Slopes (d,) of the ridge regression on all rows, which have constant leaves, and the number of rows."""
    sums = rows.reduce(Moments(constant, np.zeros(constant.n_statistics)))
    second, cross = sums.second, sums.cross
    mean, covariance = mean_and_covariance(second)
    with_target = (cross[1, 1:] - cross[1, 0] * mean) / second[0, 0]
    slopes = np.linalg.solve(covariance + 0.01 * np.eye(len(mean)), with_target)
    return slopes, float(second[0, 0])


def _main_directions(regression: Floats) -> Floats:
    """Columns with the largest slopes, and all the others as one: unit vectors (d, directions)."""
    # Rounding must not choose between columns that matter alike.
    size = np.abs(regression) / max(np.abs(regression).max(), np.finfo(float).tiny)
    ranked = np.argsort(-np.round(size, 6), kind="stable")
    kept, rest = ranked[: _MOST_SLOPES - 1], ranked[_MOST_SLOPES - 1 :]
    directions = np.zeros((len(regression), _MOST_SLOPES))
    directions[kept, np.arange(len(kept))] = 1.0
    # The others have the shares that they have in the regression on all rows.
    directions[rest, -1] = regression[rest] / max(np.linalg.norm(regression[rest]), np.finfo(float).tiny)
    return directions


def _relevance(slopes: Floats, n: float) -> Floats:
    """Prior size of slopes, with a mean square of 1, that have these sizes on n rows."""
    size = np.abs(slopes)
    # What does not matter on the whole may matter in a leaf, and n rows leave slopes uncertain by this much.
    relevance = size + max(_LEAST_RELEVANCE * size.max(), 1 / np.sqrt(n))
    return np.asarray(relevance / np.sqrt((relevance**2).mean()))
