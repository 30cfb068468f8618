"""What a hyperplane costs: the penalty of its prior, and the price of a split, for having chosen it among all others.

    penalty  = ½ w' P w,    P = diag(min(0.01, λ), λ, ..., λ)
    price    = ½ log |I + P^-½ H P^-½|

with λ the precision of the slopes and H the observed information of the split: Laplace's approximation of the evidence
of a hyperplane w. A split that explains nothing does not earn its price.
"""

from __future__ import annotations

import numpy as np

from ..arrays import Floats

# Prior precision of an offset, at most: otherwise stiff splits far from the mean would pay for their place.
OFFSET_PRECISION = 0.01
NO_TAIL = np.empty(0)


def prior_diagonal(precisions: Floats, width: int) -> Floats:
    """Return the diagonal of P, (..., width), for slope precisions (...)."""
    diagonal = np.repeat(precisions[..., None], width, axis=-1)
    diagonal[..., 0] = np.minimum(OFFSET_PRECISION, precisions)
    return diagonal


def penalty(hyperplanes: Floats, precisions: Floats) -> Floats:
    """Return ½ sum_splits w' P w of each tree of a stack, (c,)."""
    diagonal = prior_diagonal(precisions, hyperplanes.shape[-1])
    return np.asarray(0.5 * (diagonal * hyperplanes**2).sum(axis=(-1, -2)))


def split_tail(information: Floats, tail: Floats) -> tuple[Floats, Floats]:
    """Split information (..., p, p) into that of the leading columns and that of each column of the tail, (..., tail).

    With a tail (`rows.Pass`), the last entry of the matrix is the information of the activation: times the variance of
    a column, that of its slope.
    """
    if not len(tail):
        return information, np.zeros((*information.shape[:-2], 0))
    return information[..., :-1, :-1], information[..., -1, -1, None] * tail


def prices(observed: Floats, precisions: Floats, tail: Floats = NO_TAIL) -> Floats:
    """Return the price of each split, (...): ½ log |I + P^-½ H P^-½| with negative eigenvalues counted as 0.

    Parameters
    ----------
    observed : ndarray of shape (..., p, p)
        Observed information H.
    precisions : ndarray of shape (...)
        Of the slopes.
    tail : ndarray, optional
        Variances of the columns whose information is one number in all.
    """
    lead, along_tail = split_tail(observed, tail)
    root = prior_diagonal(precisions, lead.shape[-1]) ** -0.5
    eigenvalues = np.linalg.eigvalsh(lead * root[..., :, None] * root[..., None, :])
    sizes = np.concatenate([eigenvalues, along_tail / precisions[..., None]], axis=-1)
    return np.asarray(0.5 * np.log1p(np.maximum(sizes, 0.0)).sum(axis=-1))
