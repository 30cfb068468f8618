"""What missing cells add to the gradient and information of hyperplanes.

With the mean activation a, its variance v' v over the missing cells, and λ = SOFTENING, a gate has the activation
b = κ a, κ = (1 + λ v' v)^-1/2, and b has the slope κ x - λ κ² b v' ∂v. Rows share v, but for the share of variance that
each of their gaps leaves open: so their parts are summed by gap first, and v is multiplied in at the end.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..arrays import Floats
from ..gates import SOFTENING
from ..namespaces import beside, namespace_of, permuted, zeros_beside


def gap_gradient(gaps: Any, hyperplanes: Floats, missing: Any, activation: Any, soft: Any, slope: Any) -> Any:
    """The part of the derivative of the bound by each hyperplane that gaps add in a block of rows, (c, m, D + 1).

    Parameters
    ----------
    gaps : Gaps
    hyperplanes : ndarray of shape (c, m, D + 1)
        Of NumPy.
    missing : array of shape (gaps, n)
        Share of variance that each gap leaves open.
    activation, soft, slope : array of shape (c, m, n)
        Softened activations, the factors that softened them, and derivatives of the bound by them.
    """
    xp = namespace_of(missing)
    alone = (slope * _pull(activation, soft)) @ missing.T
    pulls, loading = beside(missing, gaps.pulls(hyperplanes[..., 1:])), beside(missing, gaps.loading.toarray())
    by_loading = xp.take(alone, beside(missing, gaps.group), axis=-1)
    out = zeros_beside(missing, hyperplanes.shape)
    out[..., 1:] = -(by_loading * pulls) @ loading
    return out


def gap_information(
    gaps: Any,
    hyperplanes: Floats,
    design: Any,
    missing: Any,
    activation: Any,
    soft: Any,
    slope: Any,
    curvature: Any,
) -> Any:
    """The parts of observed and complete-data information that gaps add in a block, (2, c, m, D + 1, D + 1).

    Parameters are those of `gap_gradient`, the design (D + 1, n), and the observed and complete-data information
    (2, c, m, n) of the activations.
    """
    xp = namespace_of(missing)
    c, m, width = hyperplanes.shape
    n, q = design.shape[1], missing.shape[0]
    pull = _pull(activation, soft)
    # The complete-data information leaves out how slopes change.
    changing = xp.stack([slope, xp.zeros_like(slope)])
    step = SOFTENING * soft**3 * (changing - curvature * activation)
    twice = SOFTENING * soft**2 * pull * (curvature * activation - 3 * changing)
    with_columns, together = (
        xp.reshape(
            xp.stack([(left * weights[row, :]) @ missing.T for row in range(2 * c * m)]),
            (2, c * m, left.shape[0], q),
        )
        for left, weights in ((design, xp.reshape(step, (2 * c * m, n))), (missing, xp.reshape(twice, (2 * c * m, n))))
    )
    loadings = gaps.loading.toarray()
    pulls = gaps.pulls(hyperplanes[..., 1:]).reshape(c * m, -1)
    # Derivative of half of v' v by slopes, for each gap.
    steps = np.zeros((c * m, q, width))
    for loading, gap, of_loading in zip(loadings, gaps.group, pulls.T, strict=True):
        steps[:, gap, 1:] += of_loading[:, None] * loading
    half = with_columns + 0.5 * beside(missing, steps.swapaxes(-1, -2).copy()) @ together
    out = half @ beside(missing, steps)
    out = out + permuted(out, (0, 1, 3, 2))
    # Second derivative of v' v, for the observed information.
    alone = xp.reshape((slope * pull) @ missing.T, (c * m, q))
    by_loading = xp.take(alone, beside(missing, gaps.group), axis=-1)
    along = beside(missing, loadings)
    for tree in range(c * m):
        out[0, tree, 1:, 1:] += (along.T * by_loading[tree, :]) @ along
    return xp.reshape(out, (2, c, m, width, width))


def _pull(activation: Any, soft: Any) -> Any:
    return SOFTENING * soft**2 * activation
