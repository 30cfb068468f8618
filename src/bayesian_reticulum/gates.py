"""Gates of splits, memberships of leaves, and sums from the leaves up to the root.

The gate of a split is sigmoid(activation), the probability that a row goes left, and the membership of a leaf is the
product of the gates on its path. `compute_gates` sums their logs, and so tells any two memberships apart;
`gate_products` multiplies, which is faster, for sums to which tiny memberships add nothing. Both work on arrays of any
namespace of the array API standard.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .arrays import Floats
from .data import Gaps
from .namespaces import beside, namespace_of, permuted, zeros_beside
from .tree import Shape

# Activations are clipped at ±500, so that exp cannot overflow.
_LARGEST_EXPONENT = 500.0
# sigmoid(a), averaged over a normal distribution of a, is nearly sigmoid(mean / √(1 + π/8 variance)): this is MacKay's
# approximation, by a probit of the same slope at 0.
PROBIT_SLOPE = np.pi / 8
# Share of the variance over missing cells that softens a gate. With all of it rows with gaps keep complete rows from
# their best splits; with none of it predictions of rows with few cells are too sure. Log-loss over 16 tables of classes
# with 5, 20, 40% of the cells missing and with blocks of them, relative to all of the variance and an exact conditional
# mean: .99, .99, .98, .99 with half, 1.00, .99, .98, 1.01 with all, and 1.03, 1.01, 1.01, .95 with none. Where three
# quarters of the cells of a row are missing: 1.05 with half, 1.04 with all, 1.20 with none.
SOFTENED_SHARE = 0.5
# Factor of that variance in the softening, as kSoftening in kernels/gates.hpp.
SOFTENING = SOFTENED_SHARE * PROBIT_SLOPE


class Gates(NamedTuple):
    """Activations and gates (c, m, n) and log memberships (c, leaves, n) of a block of rows."""

    activation: Any
    gate: Any
    log_membership: Any


def gap_softening(gaps: Gaps | None, hyperplanes: Floats, missing: Any) -> Any:
    """Return the factor (c, m, n) by which missing cells soften each activation of a stack of trees.

    A gate is averaged over the missing cells, as if the activation were normal with `SOFTENED_SHARE` of its variance.

    Parameters
    ----------
    gaps : Gaps or None
    hyperplanes : ndarray of shape (c, m, d + 1)
        Of NumPy, whatever the namespace of `missing` is.
    missing : array of shape (gaps, n) or None
        Share of variance that each gap leaves open in each row, 0 where the cell is there.

    Returns
    -------
    array of shape (c, m, n) or None
        None if no cell is missing.
    """
    if gaps is None or missing is None or not namespace_of(missing).any(missing != 0):
        return None
    variances = beside(missing, gaps.variances(hyperplanes[..., 1:]))
    return (1.0 + SOFTENING * (variances @ missing)) ** -0.5


def compute_gates(hyperplanes: Any, shape: Shape, design: Any, soft: Any = None) -> Gates:
    """Compute gates and log memberships of rows, the latter as sums of logs.

    Parameters
    ----------
    hyperplanes : array of shape (c, m, d + 1)
        A stack of c trees.
    shape : Shape
    design : array of shape (d + 1, n)
    soft : array of shape (c, m, n), optional
        Factors of the activations where cells are missing, from `gap_softening`.
    """
    xp = namespace_of(design)
    c, m, width = hyperplanes.shape
    n = design.shape[1]
    activation = xp.reshape(xp.reshape(hyperplanes, (c * m, width)) @ design, (c, m, n))
    if soft is not None:
        activation *= soft
    small = xp.exp(-xp.abs(activation))
    gate = xp.where(activation >= 0, xp.ones_like(small), small)
    small += 1.0
    gate /= small
    # log(1 + e), not log1p(e): the error of 1e-16 is as small as a sum of logs can use, and NumPy vectorises it.
    log_left = xp.minimum(activation, xp.zeros_like(activation))
    log_left -= xp.log(small)
    log_membership = zeros_beside(design, (c, m + 1, n))
    reach: list[Any] = [zeros_beside(design, (1, 1))] * m
    for split, pair in enumerate(shape.children.tolist()):
        left = reach[split] + log_left[:, split, :]
        for child, reached in zip(pair, (left, left - activation[:, split, :]), strict=True):
            if child >= 0:
                reach[child] = reached
            else:
                log_membership[:, ~child, :] = reached
    return Gates(activation, gate, log_membership)


class GateProducts(NamedTuple):
    """Gates to the left and right and membership in each split (m, c, n), and in each leaf (leaves, c, n)."""

    left: Any
    right: Any
    reach: Any
    membership: Any


def gate_products(hyperplanes: Any, shape: Shape, design: Any, soft: Any = None) -> GateProducts:
    """Compute memberships as products of gates, for sums to which a membership that underflows adds nothing.

    Parameters are those of `compute_gates`.
    """
    xp = namespace_of(design)
    c, m, width = hyperplanes.shape
    n = design.shape[1]
    by_split = xp.reshape(permuted(hyperplanes, (1, 0, 2)), (m * c, width))
    odds = xp.reshape(-by_split @ design, (m, c, n))
    if soft is not None:
        odds *= permuted(soft, (1, 0, 2))
    odds = xp.exp(xp.clip(odds, -_LARGEST_EXPONENT, _LARGEST_EXPONENT))
    # Both gates from one exponential, each to full relative precision.
    left = 1.0 / (odds + 1.0)
    right = odds * left
    reach, membership = zeros_beside(design, (m, c, n)), zeros_beside(design, (m + 1, c, n))
    (reach if m else membership)[0, ...] = 1.0
    for split, pair in enumerate(shape.children.tolist()):
        for child, gate in zip(pair, (left, right), strict=True):
            reached = reach[split, ...] * gate[split, ...]
            if child >= 0:
                reach[child, ...] = reached
            else:
                membership[~child, ...] = reached
    return GateProducts(left, right, reach, membership)


def backpropagate(products: GateProducts, shape: Shape, value: Floats) -> Any:
    """Differentiate sum_leaves membership * value by each activation (m, c, n), values (leaves, c, n) held.

    Backpropagation in three steps, as in the paper's appendix: `products` are memberships from the root down, `value`
    is what a row is worth in each leaf, and means of the values by membership go up again: the difference between the
    two sides of a split is its derivative. The memberships of `products` are overwritten.
    """
    left, right, reach, membership = products
    slope = np.empty_like(reach)
    # Memberships are not needed any more: the means are written in their place.
    values, gains, mean = list(value), list(slope), list(membership)
    children = shape.children.tolist()
    for split, gate in zip(range(len(children) - 1, -1, -1), left[::-1], strict=True):
        first, second = (mean[child] if child >= 0 else values[~child] for child in children[split])
        gain = np.subtract(first, second, out=gains[split])
        gain *= gate
        np.add(second, gain, out=mean[split])
    slope *= right
    slope *= reach
    return slope


def sum_below(shape: Shape, responsibility: Any) -> tuple[Any, Any]:
    """Sum responsibilities (c, leaves, n) left of each split, and of all leaves below it; (c, m, n) each."""
    c, leaves, n = responsibility.shape
    left, reached = (zeros_beside(responsibility, (c, leaves - 1, n)) for _ in range(2))
    for split, pair in reversed(list(enumerate(shape.children.tolist()))):
        first, second = (reached[:, child, :] if child >= 0 else responsibility[:, ~child, :] for child in pair)
        left[:, split, :] = first
        reached[:, split, :] = first + second
    return left, reached


def log_sum_below(shape: Shape, logs: Any) -> Any:
    """Sum exp(logs) of shape (leaves, n) over all leaves below each split, and return the logs of the sums, (m, n)."""
    xp = namespace_of(logs)
    out = zeros_beside(logs, (shape.n_splits, logs.shape[1]))
    for split, pair in reversed(list(enumerate(shape.children.tolist()))):
        first, second = (out[child, :] if child >= 0 else logs[~child, :] for child in pair)
        out[split, :] = xp.logaddexp(first, second)
    return out
