"""The solver behind the quantiles of mixtures: where a cumulative distribution reaches a probability."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.special import ndtri

from ..arrays import Floats, Integers

# Error of the cdf that is allowed, relative to q and 1 - q.
_TOLERANCE = 1e-10
ROUNDING = 4 * np.finfo(float).eps
LARGEST = float(np.finfo(float).max)
# The first few steps are of inverse interpolation, and nearly always enough. After these, each second step halves the
# bracket, in turns by value and by the number of floats within; after 64 halvings of the latter kind it is empty.
_FREE_STEPS = 6
_MOST_STEPS = _FREE_STEPS + 4 * 66


def solve_cdf(
    evaluate: Callable[[Floats, Integers], tuple[Floats, Floats]], q: Floats, x: Floats, low: Floats, high: Floats
) -> Floats:
    """Solve cdf(x) = q for x between low and high, for many rows at once.

    `evaluate` computes the cdf and its slope at some x of some rows. The equation is solved for normal scores of the
    cdf, which are a straight line for a normal distribution; each step follows the cubic through the last two points
    and their slopes.
    """
    result, rows = x.copy(), np.arange(len(q))
    goal = ndtri(q)
    tolerance = np.maximum(_TOLERANCE * np.minimum(q, 1.0 - q), 0.5 * ROUNDING * q)
    x_before, score_before, ratio_before = np.full((3, len(q)), np.nan)
    with np.errstate(all="ignore"):
        for step in range(_MOST_STEPS):
            cdf, slope = evaluate(x, rows)
            is_low = cdf < q
            low, high = np.where(is_low, x, low), np.where(is_low, high, x)
            score = ndtri(cdf)
            ratio = np.exp(-0.5 * score**2) / (np.sqrt(2 * np.pi) * slope)
            run = score - score_before
            t = (goal - score_before) / run
            cubic = (x_before - x) * (1 + 2 * t) * (1 - t) ** 2 + run * t * (t - 1) * (
                (t - 1) * ratio_before + t * ratio
            )
            # The first point alone, or points that the solution is far from, give Newton's step instead.
            proposal = x + np.where(np.abs(t - 1) < 1, cubic, ratio * (goal - score))
            is_inside, is_wide = (low < proposal) & (proposal < high), np.nextafter(low, np.inf) < high
            result[rows] = np.where(is_wide, x, high)
            is_open = is_wide & (np.abs(cdf - q) > tolerance)
            if not is_open.any():
                break
            is_inside &= step < _FREE_STEPS or step % 2 == 1
            middle = _middle_float(low, high) if step % 4 == 2 else 0.5 * low + 0.5 * high
            after = np.where(is_inside, proposal, middle)
            rows, state = rows[is_open], np.stack([q, goal, tolerance, low, high, x, score, ratio, after])[:, is_open]
            q, goal, tolerance, low, high, x_before, score_before, ratio_before, x = state
    return result


def _middle_float(low: Floats, high: Floats) -> Floats:
    """The float with as many floats below it, down to low, as above it, up to high."""
    negative = np.int64(np.iinfo(np.int64).min)
    places = [np.where((bits := x.view(np.int64)) < 0, negative - bits, bits) for x in (low, high)]
    middle = (places[0] >> 1) + (places[1] >> 1) + (places[0] & places[1] & 1)
    return np.asarray(np.where(middle < 0, negative - middle, middle).view(np.float64))
