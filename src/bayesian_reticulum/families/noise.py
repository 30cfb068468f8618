"""The prior of linear leaves, chosen by the evidence of all leaves of a tree (empirical Bayes)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.special import gammaln

from ..arrays import Floats
from .linear_posterior import LinearPosterior, LinearPrior

# Typical noise variance of a leaf, in parts of the variance of the targets, that is assumed before a tree is grown.
# Below it, each halving is half as likely as the one before, so that two or three rows that happen to agree do not make
# a leaf sure of itself.
USUAL_NOISE = 0.05
# What is left to be explained by noise when the targets have a variance of 1.
_MOST_NOISE = 0.8
# The typical noise is at least this part of that of all rows together. Without this limit a leaf of equal targets, as
# those of california_housing that are capped at 5.00001, drew it to a millionth; growth then searched for rows that
# happen to agree, and ended with 5 splits instead of 9.
_LEAST_OF_POOLED = 0.01
# Typical noises that are compared differ by this factor; half a step costs at most a few nats.
_STEP = 2**0.5
# Shapes of the inverse gamma distribution, from leaves that differ greatly to leaves with the same noise. Each doubling
# from 2 and each halving is half as likely as the one before, so that one leaf alone keeps 2.
_SHAPES = (1.25, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0)
_USUAL_SHAPE = 2.0
# Precisions of offset and slopes in parts of this one for the offset; they are changed together, by factors of 2.
_USUAL_PRECISION = 0.1
_LEAST_PRECISION = 1e-9
# Nats that another prior has to gain, as the tree is fitted again to it.
_LEAST_GAIN = 0.1
# Values that differ by no more than this are equal: rounding must not decide.
_TIE = 1e-6


def estimate_prior(
    prior: LinearPrior, posterior: Callable[[LinearPrior], LinearPosterior], counts: Floats, least_noise: float
) -> LinearPrior:
    """The prior of highest evidence; the same object if it would gain little.

    Chosen are the shape, the typical noise (rate / shape) and one factor for the precisions of offset and slopes. That
    offset and slopes are as large as some multiple of the noise is too much to believe where there is hardly any: the
    factor then falls with the noise.

    Parameters
    ----------
    prior : LinearPrior
        From which the search starts.
    posterior : callable
        Posteriors of the leaves under a prior.
    counts : ndarray of shape (leaves,)
        Rows in each leaf.
    least_noise : float
        Smallest typical noise.
    """
    here = posterior(prior)
    noises = _noises(prior, here, counts, least_noise)
    before, _ = _best_noise(prior, here, counts, np.array([prior.rate / prior.shape]), np.array([prior.shape]))
    if prior.rate < (1.0 - _TIE) * prior.shape * least_noise:
        before = -np.inf
    shapes = np.array(_SHAPES)
    best_value, best = _best_noise(prior, here, counts, noises, shapes)
    # Along the factor the evidence rises to one maximum, as far as the next step tells.
    for factor in (0.5, 2.0):
        moved = prior
        while moved.offset_precision * factor > _LEAST_PRECISION:
            moved = _with_factor(moved, factor)
            value, rival = _best_noise(moved, posterior(moved), counts, noises, shapes)
            if value <= best_value + _TIE:
                break
            best_value, best = value, rival
        if best.offset_precision != prior.offset_precision:
            break
    return best if best_value > before + _LEAST_GAIN else prior


def _with_factor(prior: LinearPrior, factor: float) -> LinearPrior:
    """The prior with the precisions of offset and slopes multiplied."""
    return prior._replace(
        offset_precision=prior.offset_precision * factor, slope_precisions=prior.slope_precisions * factor
    )


def _noises(prior: LinearPrior, posterior: LinearPosterior, counts: Floats, least_noise: float) -> Floats:
    """Typical noises to compare, from the largest down."""
    # One leaf alone has yet to be split, and most of what it takes for noise may be explained by splits.
    most = max(least_noise, USUAL_NOISE if len(counts) == 1 else _MOST_NOISE)
    squares = 2.0 * float((posterior.weight * (posterior.rate - prior.rate)).sum())
    pooled = squares / max(float(counts.sum()), 1.0)
    least = min(max(least_noise, _LEAST_OF_POOLED * pooled), most)
    n_steps = int(np.log(most / least) / np.log(_STEP) + _TIE)
    return np.append(most * _STEP ** -np.arange(float(n_steps)), least)


def _best_noise(
    prior: LinearPrior, posterior: LinearPosterior, counts: Floats, noises: Floats, shapes: Floats
) -> tuple[float, LinearPrior]:
    """Value of the best typical noise and shape with the precisions of a prior, and the prior that has them.

    The regressions depend on neither: only the integral over the variance is made anew for each.
    """
    half_residuals = posterior.rate - prior.rate
    rest = posterior.log_evidence - _integrals(np.array(prior.shape), np.array(prior.rate), counts, half_residuals)
    noise = noises[:, None, None]
    values = np.empty((len(shapes), len(noises)))
    for place, shape in enumerate(shapes):
        each = rest + _integrals(shape, shape * noise, counts, half_residuals)
        top = each.max(axis=-1)
        values[place] = (top + np.log(np.exp(each - top[..., None]).sum(axis=-1))).sum(axis=-1)
    values += np.minimum(np.log(noises / USUAL_NOISE), 0.0) - np.abs(np.log(shapes / _USUAL_SHAPE))[:, None]
    values -= abs(np.log(prior.offset_precision / _USUAL_PRECISION))
    value = float(values.max())
    # Of priors that differ by rounding the first is taken.
    row, column = np.argwhere(values >= value - _TIE)[0]
    shape = float(shapes[row])
    return value, prior._replace(shape=shape, rate=shape * float(noises[column]))


def _integrals(shape: Floats, rate: Floats, counts: Floats, half_residuals: Floats) -> Floats:
    """Log of what leaves with these half sums of squares (leaves, K) have by the integral over their variance."""
    posterior_shape = shape + 0.5 * counts[:, None]
    powers = shape * np.log(rate) - posterior_shape * np.log(rate + half_residuals)
    return np.asarray(powers + gammaln(posterior_shape) - gammaln(shape))
