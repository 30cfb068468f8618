"""Gates of splits, memberships of leaves, and sums from the leaves up to the root.

The gate of a split is sigmoid(activation), the probability that a row goes left, and the membership of a leaf is the
product of the gates on its path. `compute_gates` sums their logs, and so tells any two memberships apart;
`gate_products` multiplies, which is faster, for sums to which tiny memberships add nothing.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .arrays import Floats
from .data import Gaps
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

    activation: Floats
    gate: Floats
    log_membership: Floats


def gap_softening(gaps: Gaps | None, hyperplanes: Floats, missing: Floats | None) -> Floats | None:
    """Return the factor (c, m, n) by which missing cells soften each activation of a stack of trees.

    A gate is averaged over the missing cells, as if the activation were normal with `SOFTENED_SHARE` of its variance.

    Parameters
    ----------
    gaps : Gaps or None
    hyperplanes : ndarray of shape (c, m, d + 1)
    missing : ndarray of shape (gaps, n) or None
        Share of variance that each gap leaves open in each row, 0 where the cell is there.

    Returns
    -------
    ndarray of shape (c, m, n) or None
        None if no cell is missing.
    """
    if gaps is None or missing is None or not missing.any():
        return None
    return np.asarray((1.0 + SOFTENING * (gaps.variances(hyperplanes[..., 1:]) @ missing)) ** -0.5)


def compute_gates(hyperplanes: Floats, shape: Shape, design: Floats, soft: Floats | None = None) -> Gates:
    """Compute gates and log memberships of rows, the latter as sums of logs.

    Parameters
    ----------
    hyperplanes : ndarray of shape (c, m, d + 1)
        A stack of c trees.
    shape : Shape
    design : ndarray of shape (d + 1, n)
    soft : ndarray of shape (c, m, n), optional
        Factors of the activations where cells are missing, from `gap_softening`.
    """
    c, m, width = hyperplanes.shape
    n = design.shape[1]
    activation = (hyperplanes.reshape(c * m, width) @ design).reshape(c, m, n)
    if soft is not None:
        activation *= soft
    small = np.exp(-np.abs(activation))
    gate = np.where(activation >= 0, 1.0, small)
    small += 1.0
    gate /= small
    # log(1 + e), not log1p(e): the error of 1e-16 is as small as a sum of logs can use, and NumPy vectorises it.
    log_left = np.log(small, out=small)
    np.subtract(np.minimum(activation, 0.0), log_left, out=log_left)
    log_membership = np.zeros((c, m + 1, n))
    reach: list[Any] = [0.0] * m
    for split, pair in enumerate(shape.children):
        left = reach[split] + log_left[:, split]
        for child, reached in zip(pair, (left, left - activation[:, split]), strict=True):
            if child >= 0:
                reach[child] = reached
            else:
                log_membership[:, ~child] = reached
    return Gates(activation, gate, log_membership)


class GateProducts(NamedTuple):
    """Gates to the left and right and membership in each split (m, c, n), and in each leaf (leaves, c, n)."""

    left: Floats
    right: Floats
    reach: Floats
    membership: Floats


def gate_products(
    hyperplanes: Floats, shape: Shape, design: Floats, scratch: Floats, soft: Floats | None
) -> GateProducts:
    """Compute memberships as products of gates, for sums to which a membership that underflows adds nothing.

    The products are written into `scratch` (4 m + 1, c, n): new memory for each block would cost as much as the sums.
    """
    c, m, width = hyperplanes.shape
    odds, left, reach, membership = np.split(scratch, [m, 2 * m, 3 * m])
    np.matmul(-hyperplanes.transpose(1, 0, 2).reshape(m * c, width), design, out=odds.reshape(m * c, design.shape[1]))
    if soft is not None:
        odds *= soft.transpose(1, 0, 2)
    np.clip(odds, -_LARGEST_EXPONENT, _LARGEST_EXPONENT, out=odds)
    np.exp(odds, out=odds)
    # Both gates from one exponential, each to full relative precision.
    np.add(odds, 1.0, out=left)
    np.reciprocal(left, out=left)
    right = np.multiply(odds, left, out=odds)
    (reach if m else membership)[0] = 1.0
    reaches, memberships = list(reach), list(membership)
    for pair, above, *pair_of_gates in zip(shape.children.tolist(), reaches, left, right, strict=True):
        for child, gate in zip(pair, pair_of_gates, strict=True):
            np.multiply(above, gate, out=reaches[child] if child >= 0 else memberships[~child])
    return GateProducts(left, right, reach, membership)


def backpropagate(products: GateProducts, shape: Shape, value: Floats) -> Floats:
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


def sum_below(shape: Shape, responsibility: Floats) -> tuple[Floats, Floats]:
    """Sum responsibilities (c, leaves, n) left of each split, and of all leaves below it; (c, m, n) each."""
    c, leaves, n = responsibility.shape
    left, reached = np.empty((2, c, leaves - 1, n))
    for split in range(shape.n_splits - 1, -1, -1):
        first, second = (
            reached[:, child] if child >= 0 else responsibility[:, ~child] for child in shape.children[split]
        )
        left[:, split] = first
        np.add(first, second, out=reached[:, split])
    return left, reached


def log_sum_below(shape: Shape, logs: Floats) -> Floats:
    """Sum exp(logs) of shape (leaves, n) over all leaves below each split, and return the logs of the sums, (m, n)."""
    out = np.empty((shape.n_splits, logs.shape[1]))
    for split in range(shape.n_splits - 1, -1, -1):
        first, second = (out[child] if child >= 0 else logs[~child] for child in shape.children[split])
        np.logaddexp(first, second, out=out[split])
    return out
