"""What a hyperplane costs: its prior, and the price of having chosen it."""

from __future__ import annotations

import numpy as np

from ..arrays import Floats

# Prior precision of an offset, at most; stiff splits far from the mean would otherwise pay for their place.
OFFSET_PRECISION = 0.01
NO_TAIL = np.empty(0)


def prior_diagonal(precisions: Floats, width: int) -> Floats:
    """Diagonal of P (..., width) for slope precisions (...): the offset's is min(0.01, that of the slopes)."""
    diagonal = np.repeat(precisions[..., None], width, axis=-1)
    diagonal[..., 0] = np.minimum(OFFSET_PRECISION, precisions)
    return diagonal


def penalty(hyperplanes: Floats, precisions: Floats) -> Floats:
    """1/2 sum_splits w' P w of each tree of a stack."""
    diagonal = prior_diagonal(precisions, hyperplanes.shape[-1])
    return np.asarray(0.5 * (diagonal * hyperplanes**2).sum(axis=(-1, -2)))


def split_tail(information: Floats, tail: Floats) -> tuple[Floats, Floats]:
    """Information (..., p, p) of the leading columns, and that of each of the tail's, (..., columns)."""
    if not len(tail):
        return information, np.zeros((*information.shape[:-2], 0))
    return information[..., :-1, :-1], information[..., -1, -1, None] * tail


def prices(observed: Floats, precisions: Floats, tail: Floats = NO_TAIL) -> Floats:
    """Laplace price of each split: 1/2 log|I + P^-1/2 H P^-1/2|, negative eigenvalues counted as 0."""
    lead, along_tail = split_tail(observed, tail)
    root = prior_diagonal(precisions, lead.shape[-1]) ** -0.5
    eigenvalues = np.linalg.eigvalsh(lead * root[..., :, None] * root[..., None, :])
    sizes = np.concatenate([eigenvalues, along_tail / precisions[..., None]], axis=-1)
    return np.asarray(0.5 * np.log1p(np.maximum(sizes, 0.0)).sum(axis=-1))
