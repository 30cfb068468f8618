"""Gates of splits, memberships of leaves, and sums that go up the tree again."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .arrays import Floats
from .data import Gaps
from .tree import Shape

# Gates are told from 0 and 1 up to this activation.
_LARGEST_EXPONENT = 500.0
# The logistic function of a normal number, averaged, is that of its mean divided by √(1 + this times its variance).
PROBIT_SLOPE = np.pi / 8


class Gates(NamedTuple):
    """Activations and gates (c, m, n) and log memberships (c, leaves, n) of a block of rows."""

    activation: Floats
    gate: Floats
    log_membership: Floats


def gap_softening(gaps: Gaps | None, hyperplanes: Floats, missing: Floats | None) -> Floats | None:
    """By how much gaps, which leave shares of variance (q, n) open, soften each gate of a stack of trees.

    That is a factor of its activation, (c, m, n), or None where nothing is missing. A gate is averaged over what is
    missing, taken to be normal.
    """
    if gaps is None or missing is None or not missing.any():
        return None
    return np.asarray((1.0 + PROBIT_SLOPE * (gaps.variances(hyperplanes[..., 1:]) @ missing)) ** -0.5)


def compute_gates(hyperplanes: Floats, shape: Shape, design: Floats, soft: Floats | None = None) -> Gates:
    """Gates and log memberships of the rows of a design (d + 1, n), `soft`ened where cells are missing.

    A membership is the product of the gates on a leaf's path, computed as a sum of logs.
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
    # log(1 + e), not log1p(e): its error is 1e-16 absolute, all that a sum of logs can use, and it is vectorised.
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
    """Memberships as plain products of gates, for sums to which what underflows adds nothing.

    They are written into `scratch` (4 m + 1, c, n): fresh memory for each block would cost as much as the sums.
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
    """Derivative of sum_leaves membership * value by each activation (m, c, n), values (leaves, c, n) held.

    Backpropagation in three steps, as in the paper's appendix: memberships went down the tree, each leaf says what
    a row is worth there, and the mean of what either side says goes up again, leaving its difference at each split.
    """
    left, right, reach, membership = products
    slope = np.empty_like(reach)
    # Memberships have served: their place is taken by what goes up the tree.
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
    """Responsibility left of each split, and of all leaves below it; (c, m, n) each."""
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
    """Logs of the sums, over all leaves below each split, of what has these logs (leaves, n); (m, n)."""
    out = np.empty((shape.n_splits, logs.shape[1]))
    for split in range(shape.n_splits - 1, -1, -1):
        first, second = (out[child] if child >= 0 else logs[~child] for child in shape.children[split])
        np.logaddexp(first, second, out=out[split])
    return out
