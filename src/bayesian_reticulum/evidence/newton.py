"""Damped Newton steps of hyperplanes, which have to be steps of ascent."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..arrays import Floats
from .prices import split_tail


def newton_steps(
    gradient: Floats, observed: Floats, complete: Floats, prior: Floats, damping: Floats, tail: Floats
) -> Floats:
    """Return damped Newton steps (c, m, d + 1) of the splits of a stack of trees.

    The observed information gives the longer steps but need not be positive definite far from the optimum; there the
    complete-data information, which always is, takes its place.

    Parameters
    ----------
    gradient : ndarray of shape (c, m, d + 1)
    observed, complete : ndarray of shape (c, m, p, p)
        Information; see `split_tail` for that of wide tables.
    prior : ndarray of shape (c, m, d + 1)
        Diagonal of the prior precision.
    damping : ndarray of shape (c,)
        In units of complete-data information and prior.
    tail : ndarray
        Variances of the columns whose information is one number in all.
    """
    (observed, along_tail), (complete, complete_along_tail) = (split_tail(h, tail) for h in (observed, complete))
    lead = observed.shape[-1]
    step = np.empty_like(gradient)
    step[..., :lead] = _steps(gradient[..., :lead], observed, complete, prior[..., :lead], damping[:, None, None, None])
    if len(tail):
        # Of the tail, information is a diagonal matrix.
        blocks = gradient, along_tail, complete_along_tail, prior
        g, h, safe, p = (part[..., -len(tail) :, None] for part in blocks)
        step[..., lead:] = _steps(g, h[..., None], safe[..., None], p, damping[:, None, None, None, None])[..., 0]
    return step


def _steps(gradient: Floats, observed: Floats, complete: Floats, prior: Floats, damping: Floats) -> Floats:
    prior = prior[..., None] * np.eye(prior.shape[-1])
    safe = complete + prior
    matrices = observed + prior + damping * safe
    indefinite = ~_are_positive_definite(matrices)
    matrices[indefinite] = ((1.0 + damping) * safe)[indefinite]
    return np.asarray(np.linalg.solve(matrices, gradient[..., None])[..., 0])


def _are_positive_definite(matrices: Floats) -> NDArray[np.bool_]:
    try:
        np.linalg.cholesky(matrices)
    except np.linalg.LinAlgError:
        return np.asarray(np.linalg.eigvalsh(matrices)[..., 0] > 0)
    return np.ones(matrices.shape[:-2], dtype=bool)
