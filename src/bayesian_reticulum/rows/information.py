"""The information of splits: what each row adds, and its sum over a block of rows.

With gate g, responsibility L left of a split and R of all leaves below it, the rows' gradient along the activation is
L - R g. Minus its derivative, responsibilities free to follow, is the *observed* information; R g (1 - g), which takes
leaves to be known, is the *complete-data* information.
"""

from __future__ import annotations

from typing import Any

from ..arrays import upper_triangle
from ..namespaces import beside, namespace_of, unpacked_symmetric, zeros_beside
from .limits import Limits


def curvatures(left: Any, reached: Any, gate: Any, slope: Any, weights: Any) -> Any:
    """Observed and complete-data information of each activation, (2, c, m, n).

    Responsibilities L = `left`, R = `reached` and `slope` = L - R g are (c, m, n) times the weights (n,) of the rows.
    """
    complete = reached * gate * (1 - gate)
    share = slope / weights
    observed = complete - left * (1 - gate - share) + gate * slope * (1 - reached / weights)
    return namespace_of(slope).stack([observed, complete])


def sum_information(design: Any, curvature: Any, limits: Limits) -> Any:
    """Sums of curvature_i x_i x_i' for each row of curvature (s, n) and columns x of the design (p, n): (s, p, p)."""
    xp = namespace_of(design)
    width, n = design.shape
    if width > limits.widest_products:
        out = zeros_beside(design, (curvature.shape[0], width, width))
        for row in range(curvature.shape[0]):
            out[row, ...] = (design * curvature[row, :]) @ design.T
        return out
    rows, columns = (beside(design, index) for index in upper_triangle(width))
    packed = zeros_beside(design, (curvature.shape[0], rows.shape[0]))
    step = max(16, limits.product_floats // rows.shape[0])
    for start in range(0, n, step):
        some = slice(start, min(start + step, n))
        part = design[:, some]
        products = xp.take(part, rows, axis=0)
        products *= xp.take(part, columns, axis=0)
        packed += curvature[:, some] @ products.T
    return unpacked_symmetric(packed, width)


def with_tail(matrices: Any, curvature: Any) -> Any:
    """Information (..., p, p) of leading columns with that of the activations behind it, (..., p + 1, p + 1).

    The latter is the sum of the curvature (..., n); where columns have a tail, it takes the place of their matrix.
    """
    xp = namespace_of(matrices)
    *stack, width, _ = matrices.shape
    out = zeros_beside(matrices, (*stack, width + 1, width + 1))
    out[..., :width, :width] = matrices
    out[..., width, width] = xp.sum(curvature, axis=-1)
    return out
