"""Quantiles of mixtures of Student's t, which most models predict, with tables of their tails."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.special import ndtri, stdtr, stdtrit

from ..arrays import Floats, Integers
from .solver import LARGEST, solve_cdf
from .student import log_student_density

# Tables of log tails have 2^5 cells of equal length in each of 24 octaves of 1 + |z|, so that the leading bits of this
# float are the number of the cell.
_CELL_BITS, _OCTAVES = 5, 24
_FRACTION_BITS = 52 - _CELL_BITS
_ONE = 1023 << 52
# The log tail in cells that have none, of which exp is next to nothing.
_LOG_NOTHING = -700.0
# With fewer pairs of a row and a probability a table does not pay, and for smaller probabilities it may end too soon.
_PAIRS_WORTH_A_TABLE = 500
_LEAST_TABULATED = 1e-4
# SciPy's quantiles of smaller probabilities are infinite or wrong.
_LEAST_TRUSTED = 1e-100
# Components are separate bells where the variance between them is more than this times the variance within.
_FAR_APART = 8.0
# Tails of components below this share of the probability asked for need not be exact.
_NEGLIGIBLE = 1e-13


def student_solver(
    dof: Floats, levels: Floats, n_pairs: int
) -> Callable[[Floats, Floats, Floats, Floats, Integers], Floats]:
    """The function that computes quantiles of mixtures of Student's t.

    It takes weights (C, p), locations and scales (C, p) or (C, 1), and probabilities (p,) of p pairs of a row and a
    probability, with the places of these among the `levels`. `n_pairs` is the number of pairs of all calls: if they are
    many, tails are read from tables, at a tenth of the cost. Probabilities above one half are solved in the mirror
    image of the mixture, so that both tails keep their digits.
    """
    lesser = np.minimum(levels, 1.0 - levels)
    is_table = n_pairs >= _PAIRS_WORTH_A_TABLE and lesser.min() >= _LEAST_TABULATED
    tails = _tail_tables(dof) if is_table else None
    scores = stdtrit(dof, lesser)
    is_known = np.isfinite(scores) & (scores <= 0) & (lesser > _LEAST_TRUSTED)
    scores = np.where(is_known, scores, -1e165)
    least, most = scores * (1 + 1e-6) - 1e-9, np.where(is_known, scores * (1 - 1e-6) + 1e-9, 0.0)

    def solve(weights: Floats, location: Floats, scale: Floats, q: Floats, columns: Integers) -> Floats:
        sign = np.where(q > 0.5, -1.0, 1.0)
        q = lesser[columns]
        location = np.broadcast_to(location * sign, weights.shape)
        scale = np.broadcast_to(scale, weights.shape)

        def evaluate(x: Floats, rows: Integers) -> tuple[Floats, Floats]:
            weight, center, width, goal = weights, location, scale, q
            if len(rows) < len(q):
                weight, center, width = (array.take(rows, axis=1) for array in (weights, location, scale))
                goal = q[rows]
            z = (x - center) / width
            if tails is not None:
                tail, density = tails(z)
            else:
                tail, density = np.zeros(z.shape), np.exp(log_student_density(dof, z))
                stdtr(dof, -np.abs(z), out=tail, where=weight > _NEGLIGIBLE * goal)
            np.subtract(1.0, tail, out=tail, where=z > 0)
            tail *= weight
            density *= weight
            density /= width
            return tail.sum(axis=0), density.sum(axis=0)

        with np.errstate(all="ignore"):
            ends = (location + scale * end.take(columns, axis=1) for end in (least, most))
            low, high = (np.where(weights > 0, end, fill) for end, fill in zip(ends, (np.inf, -np.inf), strict=True))
            low = np.maximum(np.nextafter(low.min(axis=0), -np.inf), -LARGEST)
            high = np.minimum(high.max(axis=0), LARGEST)
            middle = (weights * location).sum(axis=0)
            within = weights * scale**2
            between = (weights * (location - middle) ** 2).sum(axis=0)
            x = middle - np.sqrt((within * scores.take(columns, axis=1) ** 2).sum(axis=0) + between * ndtri(q) ** 2)
            apart = np.flatnonzero(between > _FAR_APART * within.sum(axis=0))
            x[apart] = _step_quantile(weights[:, apart], location[:, apart], scale[:, apart], q[apart])
            x = np.where((low < x) & (x < high), x, 0.5 * low + 0.5 * high)
        return sign * solve_cdf(evaluate, q, x, low, high)

    return solve


def _step_quantile(weights: Floats, location: Floats, scale: Floats, q: Floats) -> Floats:
    """The quantile of bells as if they did not overlap: that of the bell into which it falls."""
    order = np.argsort(location, axis=0)
    reached = np.cumsum(np.take_along_axis(weights, order, axis=0), axis=0)
    place = np.minimum((reached < q).sum(axis=0), len(weights) - 1)
    columns = np.arange(len(q))
    bell = order[place, columns], columns
    share = 1.0 - (reached[place, columns] - q) / weights[bell]
    return np.asarray(location[bell] + scale[bell] * ndtri(np.clip(share, 1e-9, 1 - 1e-9)))


def _tail_tables(dof: Floats) -> Callable[[Floats], tuple[Floats, Floats]]:
    """The function that computes tails beyond |z| and densities at z (C, n) of Student's t, to about 1e-10 of the tail.

    Its table holds quintics of the log tail, which meet its value and first two derivatives at the ends of each cell.
    """
    kinds, kind = np.unique(dof[:, 0], return_inverse=True)
    n_cells = _OCTAVES << _CELL_BITS
    nodes = np.arange(n_cells + 1)
    z = (_ONE + (nodes << _FRACTION_BITS)).view(np.float64) - 1.0
    tail = stdtr(kinds[:, None], -z)
    has_tail = tail > 1e-290
    tail = np.where(has_tail, tail, 1.0)
    hazard = np.exp(log_student_density(kinds[:, None], z)) / tail
    bend = hazard * ((kinds[:, None] + 1) * z / (kinds[:, None] + z**2) - hazard)
    width = 2.0 ** ((nodes[:-1] >> _CELL_BITS) - _CELL_BITS)
    (a, b), (da, db), (ea, eb) = (
        (f[:, :-1] * width**power, f[:, 1:] * width**power) for power, f in enumerate((np.log(tail), -hazard, bend))
    )
    rise = b - a
    quintic = [
        a,
        da,
        ea / 2,
        10 * rise - 6 * da - 4 * db - 1.5 * ea + 0.5 * eb,
        -15 * rise + 8 * da + 7 * db + 1.5 * ea - eb,
        6 * rise - 3 * da - 3 * db - 0.5 * ea + 0.5 * eb,
    ]
    is_inside = has_tail[:, 1:] & has_tail[:, :-1]
    table = [
        np.where(is_inside, c * 2.0 ** (power * _CELL_BITS), 0.0 if power else _LOG_NOTHING).reshape(-1)
        for power, c in enumerate(quintic)
    ]
    start = (kind.reshape(-1, 1) * n_cells) - (1023 << _CELL_BITS)

    def look_up(z: Floats) -> tuple[Floats, Floats]:
        # The leading bits of 1 + |z| are the number of its cell, and those that follow are its place in the cell.
        bits = (np.minimum(np.abs(z), 2.0**_OCTAVES - 1.5) + 1.0).view(np.int64)
        cell = (bits >> _FRACTION_BITS) + start
        t = ((bits & ((1 << _FRACTION_BITS) - 1)) | _ONE).view(np.float64)
        t -= 1.0
        log_tail = table[5].take(cell)
        slope = np.zeros(z.shape)
        for coefficients in table[4::-1]:
            slope *= t
            slope += log_tail
            log_tail *= t
            log_tail += coefficients.take(cell)
        tail = np.exp(log_tail, out=log_tail)
        slope *= tail
        slope *= (2 * _ONE - (bits & (0x7FF << 52))).view(np.float64)
        return tail, np.negative(slope, out=slope)

    return look_up
