"""The update of slope precisions, by their evidence (MacKay).

A split with slopes w and information H has the prior precision λ for each slope; P is the diagonal matrix of these and
of the precision of the offset. The evidence of the split is highest where

    λ = γ / |w|²,    γ = d - trace of λ (P + H)^-1 over the slopes

γ counts the slopes that the rows determine. With a weak prior of λ itself, worth a = 0.02 slopes, the update is
λ = (γ + a) / (|w|² + a): it stays finite when the hyperplane vanishes.
"""

from __future__ import annotations

import numpy as np

from ..arrays import Floats
from .prices import NO_TAIL, prior_diagonal, split_tail

# The weight a of the prior, in slopes.
_PRECISION_PRIOR = 0.02
# Least and largest precision: slopes of about 1000, or of about 0.03, in the units of standardised columns.
PRECISION_RANGE = (1e-6, 1e3)


def update_precisions(hyperplanes: Floats, precisions: Floats, observed: Floats, tail: Floats = NO_TAIL) -> Floats:
    """Update each split's precision to the slopes that its rows determine, over their squared length.

    Parameters
    ----------
    hyperplanes : ndarray of shape (..., d + 1)
    precisions : ndarray of shape (...)
    observed : ndarray of shape (..., p, p)
        Observed information; see `split_tail` for that of wide tables.
    tail : ndarray, optional
        Variances of the columns whose information is one number in all.

    Returns
    -------
    ndarray of shape (...)
    """
    width = hyperplanes.shape[-1]
    lead, along_tail = split_tail(observed, tail)
    root = prior_diagonal(precisions, lead.shape[-1]) ** -0.5
    eigenvalues, vectors = np.linalg.eigh(lead * root[..., :, None] * root[..., None, :])
    uncertain = (vectors**2 / (1.0 + np.maximum(eigenvalues, 0.0))[..., None, :]).sum(axis=-1)[..., 1:].sum(axis=-1)
    uncertain += (1.0 / (1.0 + np.maximum(along_tail / precisions[..., None], 0.0))).sum(axis=-1)
    determined = np.clip(width - 1 - uncertain, 0.0, width - 1)
    squared = (hyperplanes[..., 1:] ** 2).sum(axis=-1)
    return np.asarray(np.clip((determined + _PRECISION_PRIOR) / (squared + _PRECISION_PRIOR), *PRECISION_RANGE))
