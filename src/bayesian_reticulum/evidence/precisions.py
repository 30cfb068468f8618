"""The update of slope precisions."""

from __future__ import annotations

import numpy as np

from ..arrays import Floats
from .prices import NO_TAIL, prior_diagonal, split_tail

# Weight of the belief, worth a fiftieth of a slope, that keeps a precision finite when a hyperplane vanishes.
_PRECISION_PRIOR = 0.02
PRECISION_RANGE = (1e-6, 1e3)


def update_precisions(hyperplanes: Floats, precisions: Floats, observed: Floats, tail: Floats = NO_TAIL) -> Floats:
    """MacKay's update of each split's precision: slopes that the rows determine, over their squared length."""
    width = hyperplanes.shape[-1]
    lead, along_tail = split_tail(observed, tail)
    root = prior_diagonal(precisions, lead.shape[-1]) ** -0.5
    eigenvalues, vectors = np.linalg.eigh(lead * root[..., :, None] * root[..., None, :])
    uncertain = (vectors**2 / (1.0 + np.maximum(eigenvalues, 0.0))[..., None, :]).sum(axis=-1)[..., 1:].sum(axis=-1)
    uncertain += (1.0 / (1.0 + np.maximum(along_tail / precisions[..., None], 0.0))).sum(axis=-1)
    determined = np.clip(width - 1 - uncertain, 0.0, width - 1)
    squared = (hyperplanes[..., 1:] ** 2).sum(axis=-1)
    return np.asarray(np.clip((determined + _PRECISION_PRIOR) / (squared + _PRECISION_PRIOR), *PRECISION_RANGE))
