"""The information of splits: what each row adds, and its sum over a block of rows.

With gate g, responsibility L left of a split and R of all leaves below it, the rows' gradient along the activation is
L - R g. Minus its derivative, responsibilities free to follow, is the *observed* information; R g (1 - g), which takes
leaves to be known, is the *complete-data* information.
"""

from __future__ import annotations

import numpy as np

from ..arrays import Floats
from .limits import Limits


def curvatures(left: Floats, reached: Floats, gate: Floats, slope: Floats, weights: Floats) -> Floats:
    """Observed and complete-data information of each activation, (2, c, m, n).

    Responsibilities L = `left`, R = `reached` and `slope` = L - R g are (c, m, n) times the weights (n,) of the rows.
    """
    complete = reached * gate * (1 - gate)
    share = slope / weights
    observed = complete - left * (1 - gate - share) + gate * slope * (1 - reached / weights)
    return np.stack([observed, complete])


def add_information(packed: Floats, design: Floats, curvature: Floats, limits: Limits) -> None:
    """Add sum_i curvature_i x_i x_i' of each row of curvature (2 c m, n) to its upper triangle in `packed`."""
    width, n = design.shape
    rows, columns = np.triu_indices(width)
    flat = packed.reshape(len(curvature), packed.shape[-1])
    if width > limits.widest_products:
        for sums, weights in zip(flat, curvature, strict=True):
            sums += ((design * weights) @ design.T)[rows, columns]
        return
    step = max(16, limits.product_floats // len(rows))
    for start in range(0, n, step):
        part = design[:, start : start + step]
        flat += curvature[:, start : start + step] @ (part[rows] * part[columns]).T
