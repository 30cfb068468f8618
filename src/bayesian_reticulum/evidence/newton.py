"""The inverse information of Newton's direction, which has to be one of ascent."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..arrays import Floats

# How much of the complete-data information a cautious step adds to the observed.
_CAUTION = 0.2


def newton_inverses(
    observed: Floats, complete: Floats, prior: Floats, cautious: NDArray[np.bool_]
) -> tuple[Floats, NDArray[np.bool_]]:
    """Inverse of information plus prior precision (..., p, p) that makes Newton's direction one of ascent.

    The observed information gives the longer steps but need not be positive definite far from the optimum;
    there the complete-data information, which always is, takes its place. A `cautious` step (broadcast to all
    matrices) looks at both. The second of the results tells where (...) the complete-data information was of use.
    """
    diagonal = np.arange(prior.shape[-1])
    caution = np.where(cautious, _CAUTION, 0.0)
    matrices = (1.0 - caution) * observed + caution * complete
    matrices[..., diagonal, diagonal] += prior
    flat = matrices.reshape(-1, len(diagonal), len(diagonal))
    safe = complete.reshape(flat.shape)
    penalties = prior.reshape(-1, len(diagonal))
    is_replaced = ~_positive_definite(flat)
    for index in np.flatnonzero(is_replaced):
        flat[index] = safe[index]
        flat[index, diagonal, diagonal] += penalties[index]
    is_of_use = is_replaced.reshape(matrices.shape[:-2]) | np.broadcast_to(cautious, matrices.shape)[..., 0, 0]
    return np.asarray(np.linalg.inv(matrices)), is_of_use


def _positive_definite(matrices: Floats) -> np.ndarray:
    try:
        np.linalg.cholesky(matrices)
    except np.linalg.LinAlgError:
        if len(matrices) == 1:
            return np.array([False])
        half = len(matrices) // 2
        return np.concatenate([_positive_definite(matrices[:half]), _positive_definite(matrices[half:])])
    return np.ones(len(matrices), dtype=bool)
