"""What may be asked of rows: frozen requests, each computed on a block of rows, and the sums that they come to.

A request is made for some hyperplanes, and for leaf parameters where it needs any: rows know the likelihood of their
targets, but no prior. `compute` sums over one block, in the namespace of the block's arrays, sums of blocks add, and
`zero` is the sum over no rows. So threads, files larger than memory, GPUs and clusters can all be rows.

`Pass`, `MembershipSums` work on a *stack* of trees of one shape: hyperplanes (c, m, d + 1) with leaf parameters
(c, leaves, k). Candidates are refined side by side in this way; one tree is a stack of one.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields, replace
from typing import Any, Protocol, Self, TypeVar, cast

import numpy as np

from ..arrays import Floats
from ..families import Family, LinearFamily, residuals
from ..gates import Gates, compute_gates, gap_softening, gate_products, log_sum_below, sum_below
from ..namespaces import beside, log_sum_exp, namespace_of, permuted, sum_by_bin, to_numpy, zeros_beside
from ..tree import Shape
from .block import Block, Facts
from .gap_sums import gap_gradient, gap_information
from .information import curvatures, sum_information, with_tail


class Sums(Protocol):
    """Sums over some rows, a frozen dataclass of arrays; those of other rows can be added."""

    def __add__(self, other: Self, /) -> Self:
        """The sums over both."""
        ...


SumsT = TypeVar("SumsT", bound=Sums, covariant=True)


class Request(Protocol[SumsT]):
    """What is to be summed over rows; a frozen dataclass, so that it can be sent to where the rows are."""

    def floats_per_row(self, facts: Facts) -> int:
        """Numbers that `compute` holds for each row of a block, beyond the block."""
        ...

    def zero(self, facts: Facts) -> SumsT:
        """The sums over no rows, arrays of NumPy."""
        ...

    def compute(self, xp: Any, block: Block) -> SumsT:
        """The sums over a block of rows with arrays of a namespace."""
        ...


def sum_over(request: Request[SumsT], blocks: Iterable[Block], facts: Facts) -> SumsT:
    """Sum a request over blocks of rows; the sums are arrays of NumPy."""
    total: Any = None
    for block in blocks:
        sums: Any = request.compute(namespace_of(block.design), block)
        total = sums if total is None else total + sums
    return request.zero(facts) if total is None else _in_numpy(total)


def _added(one: Any, other: Any) -> Any:
    """Sums (a dataclass of arrays, or None) field by field."""
    pairs = ((getattr(one, field.name), getattr(other, field.name)) for field in fields(one))
    return type(one)(*(None if first is None else first + second for first, second in pairs))


def _in_numpy(sums: Any) -> Any:
    arrays = {field.name: getattr(sums, field.name) for field in fields(sums)}
    return replace(sums, **{name: to_numpy(array) for name, array in arrays.items() if array is not None})


def softening(hyperplanes: Floats, block: Block) -> Any:
    """Factor (c, m, n) by which gaps soften the activations of a stack of trees; None where no cell is missing."""
    return gap_softening(block.facts.gaps, hyperplanes, block.missing)


def _gates_of_tree(hyperplanes: Floats, shape: Shape, block: Block) -> Gates:
    """Gates of a block of rows, for the hyperplanes (m, d + 1) of one tree as a stack."""
    stack = hyperplanes[None]
    return compute_gates(beside(block.design, stack), shape, block.design, softening(stack, block))


@dataclass(frozen=True, eq=False)
class PassSums:
    """Sums over all rows at given hyperplanes and leaf parameters, for each tree of a stack.

    Attributes
    ----------
    log_normalizer : ndarray of shape (c,)
        Sum over rows of weight * log sum_leaf membership * exp(E_q[log p(y | leaf)]).
    statistics : ndarray of shape (c, leaves, k)
        New leaf statistics, summed by the responsibilities that the given ones imply: one E step.
    gradient : ndarray of shape (c, m, d + 1)
        Derivative of the bound F by each hyperplane, with responsibilities held (or converged, as these are where F is
        highest).
    observed, complete : ndarray of shape (c, m, p, p) or None, p = d + 1
        Observed and complete-data information of each split; the latter takes the leaf of each row to be known. Where
        rows have a `tail`, the matrix is that of the columns before it, and its last row and column hold the
        information of the activation, summed over rows: times the variance of a column in the tail, that is the
        information of its slope.
    """

    log_normalizer: Floats
    statistics: Floats
    gradient: Floats
    observed: Floats | None = None
    complete: Floats | None = None

    def __add__(self, other: PassSums) -> PassSums:
        sums: PassSums = _added(self, other)
        return sums


@dataclass(frozen=True, eq=False)
class Pass:
    """One E step, and the derivatives that go with it.

    Parameters
    ----------
    hyperplanes : ndarray of shape (c, m, d + 1)
    shape : Shape
    expected : ndarray of shape (c, leaves, k)
        `expected_parameters` of the family at the leaf statistics.
    information : bool
        Whether to sum information, too.
    """

    hyperplanes: Floats
    shape: Shape
    expected: Floats
    information: bool = False

    def floats_per_row(self, facts: Facts) -> int:
        return 6 * len(self.hyperplanes) * self.shape.n_leaves

    def zero(self, facts: Facts) -> PassSums:
        c, m, _ = self.hyperplanes.shape
        width = facts.n_columns + 1 - max(len(facts.tail) - 1, 0)
        information = np.zeros((2, c, m, width, width)) if self.information else (None, None)
        return PassSums(np.zeros(c), np.zeros(self.expected.shape), np.zeros(self.hyperplanes.shape), *information)

    def compute(self, xp: Any, block: Block) -> PassSums:
        c, m, width = self.hyperplanes.shape
        leaves, n, k = m + 1, block.n_rows, block.statistics.shape[1]
        design, weights, T = block.design, block.weights, block.statistics
        soft = softening(self.hyperplanes, block) if m else None
        activation, gate, joint = compute_gates(beside(design, self.hyperplanes), self.shape, design, soft)
        parameters = xp.reshape(beside(design, self.expected), (c * leaves, k))
        joint += xp.reshape(parameters @ T.T, (c, leaves, n))
        responsibility, log_total = _normalised(xp, joint, block)
        log_normalizer = log_total @ weights
        responsibility *= weights
        statistics = xp.reshape(xp.reshape(responsibility, (c * leaves, n)) @ T, (c, leaves, k))
        left, reached = sum_below(self.shape, responsibility)
        slope = left - reached * gate
        curvature = curvatures(left, reached, gate, slope, weights) if self.information else None
        softened = (activation, soft, slope), curvature
        if soft is not None:
            slope = slope * soft
            curvature = None if curvature is None else curvature * soft**2
        gradient = xp.reshape(xp.reshape(slope, (c * m, n)) @ design.T, (c, m, width))
        if soft is not None:
            gradient += gap_gradient(block.facts.gaps, self.hyperplanes, block.missing, *softened[0])
        if curvature is None:
            return PassSums(log_normalizer, statistics, gradient)
        lead = width - len(block.facts.tail)
        by_row = xp.reshape(curvature, (2 * c * m, n))
        information = sum_information(design[:lead, :], by_row, block.facts.limits)
        information = xp.reshape(information, (2, c, m, lead, lead))
        if soft is not None:
            gaps, of_gaps = block.facts.gaps, (*softened[0], softened[1])
            information += gap_information(gaps, self.hyperplanes, design, block.missing, *of_gaps)[..., :lead, :lead]
        if lead < width:
            information = with_tail(information, curvature)
        return PassSums(log_normalizer, statistics, gradient, information[0, ...], information[1, ...])


def _normalised(xp: Any, joint: Any, block: Block) -> tuple[Any, Any]:
    """Responsibilities from log joints (c, leaves, n) of membership and likelihood, and the logs of their sums (c, n).

    The responsibilities take the place of the joints.
    """
    if block.log_reach is not None:
        joint += block.log_reach
    top = xp.max(joint, axis=1, keepdims=True)
    if block.log_other is not None:
        top = xp.maximum(top, block.log_other)
    joint -= top
    joint = xp.exp(joint)
    total = xp.sum(joint, axis=1, keepdims=True)
    if block.log_other is not None:
        total += xp.exp(block.log_other - top)
    joint /= total
    return joint, xp.log(total[:, 0, :]) + top[:, 0, :]


@dataclass(frozen=True, eq=False)
class LeafSums:
    """Leaf statistics (c, leaves, k) of each tree of a stack."""

    statistics: Floats

    def __add__(self, other: LeafSums) -> LeafSums:
        sums: LeafSums = _added(self, other)
        return sums


@dataclass(frozen=True, eq=False)
class MembershipSums:
    """Leaf statistics with responsibility = membership, as in the paper.

    Parameters
    ----------
    hyperplanes : ndarray of shape (c, m, d + 1)
    shape : Shape
    """

    hyperplanes: Floats
    shape: Shape

    def floats_per_row(self, facts: Facts) -> int:
        return len(self.hyperplanes) * self.shape.n_leaves

    def zero(self, facts: Facts) -> LeafSums:
        return LeafSums(np.zeros((len(self.hyperplanes), self.shape.n_leaves, facts.n_statistics)))

    def compute(self, xp: Any, block: Block) -> LeafSums:
        hyperplanes, soft = beside(block.design, self.hyperplanes), softening(self.hyperplanes, block)
        membership = gate_products(hyperplanes, self.shape, block.design, soft).membership
        leaves, c, n = membership.shape
        weighted = block.statistics * block.mass[:, None]
        sums = xp.reshape(xp.reshape(membership, (leaves * c, n)) @ weighted, (leaves, c, weighted.shape[1]))
        return LeafSums(permuted(sums, (1, 0, 2)))


@dataclass(frozen=True, eq=False)
class BelowSums:
    """How likely targets are below each split of one tree (m,), and the new leaf statistics (leaves, k).

    The first are sums over rows of R log p: R is the responsibility of all leaves below a split, and p the
    likelihood that they give the target together, the mean of exp(E_q[log p(y | leaf)]) by membership among them.
    """

    log_likelihoods: Floats
    statistics: Floats

    def __add__(self, other: BelowSums) -> BelowSums:
        sums: BelowSums = _added(self, other)
        return sums


@dataclass(frozen=True, eq=False)
class BelowSplits:
    """How likely targets are below each split of one tree.

    Parameters
    ----------
    hyperplanes : ndarray of shape (m, d + 1)
    shape : Shape
    expected : ndarray of shape (leaves, k)
        `expected_parameters` of the family at the leaf statistics.
    """

    hyperplanes: Floats
    shape: Shape
    expected: Floats

    def floats_per_row(self, facts: Facts) -> int:
        return 8 * self.shape.n_leaves

    def zero(self, facts: Facts) -> BelowSums:
        return BelowSums(np.zeros(self.shape.n_splits), np.zeros(self.expected.shape))

    def compute(self, xp: Any, block: Block) -> BelowSums:
        log_membership = _gates_of_tree(self.hyperplanes, self.shape, block).log_membership[0, ...]
        joint = log_membership + beside(block.design, self.expected) @ block.statistics.T
        log_reach, below = log_sum_below(self.shape, log_membership), log_sum_below(self.shape, joint)
        log_total = log_sum_exp(joint)
        if block.log_reach is not None and block.log_other is not None:
            log_total = xp.logaddexp(log_total, block.log_other - block.log_reach)
        log_likelihoods = xp.exp(below - log_total) * (below - log_reach)
        responsibility = block.weights * xp.exp(joint - log_total)
        return BelowSums(log_likelihoods @ block.weights, responsibility @ block.statistics)


@dataclass(frozen=True, eq=False)
class GreySums:
    """Weight of the grey rows of each split, and of all that reach it, (m,) each."""

    grey: Floats
    reaching: Floats

    def __add__(self, other: GreySums) -> GreySums:
        sums: GreySums = _added(self, other)
        return sums

    @property
    def shares(self) -> Floats:
        """The share of the rows reaching each split that are grey, (m,); 0 for a split that no row reaches."""
        return np.asarray(self.grey / np.maximum(self.reaching, np.finfo(float).tiny))


@dataclass(frozen=True, eq=False)
class GreyShares:
    """The rows whose gate lies strictly between two limits, at each split of one tree.

    Parameters
    ----------
    hyperplanes : ndarray of shape (m, d + 1)
    shape : Shape
    low, high : float
    """

    hyperplanes: Floats
    shape: Shape
    low: float
    high: float

    def floats_per_row(self, facts: Facts) -> int:
        return 6 * self.shape.n_leaves

    def zero(self, facts: Facts) -> GreySums:
        return GreySums(*np.zeros((2, self.shape.n_splits)))

    def compute(self, xp: Any, block: Block) -> GreySums:
        _, gate, log_membership = _gates_of_tree(self.hyperplanes, self.shape, block)
        below = beside(block.design, (self.shape.sides != 0).astype(np.float64))
        reach = (below @ xp.exp(log_membership[0, ...])) * block.mass
        is_grey = (gate[0, ...] > self.low) & (gate[0, ...] < self.high)
        return GreySums(xp.sum(xp.where(is_grey, reach, xp.zeros_like(reach)), axis=1), xp.sum(reach, axis=1))


@dataclass(frozen=True, eq=False)
class MomentSums:
    """Sums over rows of products of (1, x) with itself, and with q quantities that may vary along a good direction.

    These quantities are the row statistics or, where leaves are linear, the residuals, their products with x and their
    squares. `second` has shape (d + 1, d + 1), `cross` (q, d + 1), and `size`, the sums of the quantities' absolute
    values, (q,).
    """

    second: Floats
    cross: Floats
    size: Floats

    def __add__(self, other: MomentSums) -> MomentSums:
        sums: MomentSums = _added(self, other)
        return sums

    @property
    def mean_and_covariance(self) -> tuple[Floats, Floats]:
        """Mean (d,) and covariance (d, d) of x."""
        return mean_and_covariance(self.second)


@dataclass(frozen=True, eq=False)
class Moments:
    """Products of features and targets, for a leaf.

    Parameters
    ----------
    family : Family
    statistics : ndarray of shape (k,)
        What the leaf holds.
    """

    family: Family
    statistics: Floats

    def floats_per_row(self, facts: Facts) -> int:
        return 2 * (facts.n_columns + 1)

    def zero(self, facts: Facts) -> MomentSums:
        width = facts.n_columns + 1
        q = width + 1 if self.family.uses_design else facts.n_statistics
        return MomentSums(np.zeros((width, width)), np.zeros((q, width)), np.zeros(q))

    def compute(self, xp: Any, block: Block) -> MomentSums:
        mass = block.mass
        weighted = block.design * mass
        varying = self._varying(block)
        return MomentSums(weighted @ block.design.T, varying @ weighted.T, xp.abs(varying) @ mass)

    def _varying(self, block: Block) -> Any:
        """Quantities (q, n) whose products with (1, x) are the `cross` sums."""
        if not self.family.uses_design:
            return block.statistics.T
        design = to_numpy(block.design)
        residual = residuals(self.family, design, block.targets, self.statistics)[:, 0]
        return beside(block.design, np.concatenate([residual * design, residual[None] ** 2]))


@dataclass(frozen=True, eq=False)
class HistogramSums:
    """Statistics by bin of each direction, on the left and right of each hard cut: (cuts, 2, D, bins, k)."""

    statistics: Floats

    def __add__(self, other: HistogramSums) -> HistogramSums:
        sums: HistogramSums = _added(self, other)
        return sums


@dataclass(frozen=True, eq=False)
class Histogram:
    """Statistics by bin along directions, on either side of hard cuts.

    The statistics are those of the `scan_family`: where leaves are linear, of the residuals from a leaf that holds
    `statistics`.

    Parameters
    ----------
    family : Family
    statistics : ndarray of shape (k,)
        What the leaf holds.
    directions : ndarray of shape (D, d + 1)
    edges : ndarray of shape (D, bins - 1)
    cuts : ndarray of shape (cuts, d + 1)
    """

    family: Family
    statistics: Floats
    directions: Floats
    edges: Floats
    cuts: Floats

    def floats_per_row(self, facts: Facts) -> int:
        return len(self.directions) + 2 * len(self.cuts) * scan_family(self.family).n_statistics

    def zero(self, facts: Facts) -> HistogramSums:
        k, (n_directions, edges) = scan_family(self.family).n_statistics, self.edges.shape
        return HistogramSums(np.zeros((len(self.cuts), 2, n_directions, edges + 1, k)))

    def compute(self, xp: Any, block: Block) -> HistogramSums:
        design, n = block.design, block.n_rows
        n_cuts, n_directions, bins = len(self.cuts), len(self.directions), self.edges.shape[1] + 1
        is_left = permuted(beside(design, self.cuts) @ design > 0, (1, 0))
        ones, zeros = (value * xp.ones_like(design[:1, :]).T for value in (1.0, 0.0))
        sides = xp.stack([xp.where(is_left, ones, zeros), xp.where(is_left, zeros, ones)], axis=2)
        weighted = xp.reshape(sides, (n, 2 * n_cuts, 1)) * block.mass[:, None, None]
        values, edges = beside(design, self.directions) @ design, beside(design, self.edges)
        index = xp.stack([xp.searchsorted(edges[row, :], values[row, :]) for row in range(n_directions)])
        if not self.family.uses_design:
            spread = xp.reshape(weighted * block.statistics[:, None, :], (n, -1))
            sums = sum_by_bin(index, bins, spread)
        else:
            sums = zeros_beside(design, (n_directions * bins, 2 * n_cuts * scan_family(self.family).n_statistics))
            for row, statistics in enumerate(self._residual_statistics(block, to_numpy(values))):
                spread = xp.reshape(weighted * beside(design, statistics)[:, None, :], (n, -1))
                sums[row * bins : (row + 1) * bins, :] = sum_by_bin(index[row : row + 1, :], bins, spread)
        by_group = xp.reshape(sums, (n_directions, bins, n_cuts, 2, -1))
        return HistogramSums(permuted(by_group, (2, 3, 0, 1, 4)))

    def _residual_statistics(self, block: Block, values: Floats) -> Iterable[Floats]:
        """Row statistics (n, k) of residuals that are linear in the values (D, n) along each direction."""
        scanned = scan_family(self.family)
        differences = residuals(self.family, to_numpy(block.design), block.targets, self.statistics)
        for along in values:
            yield scanned.row_statistics(np.stack([np.ones(len(along)), along]), differences)


def scan_family(family: Family) -> Family:
    """Return the family of the statistics in a `Histogram`: where leaves are linear, that of their residuals."""
    return cast("LinearFamily", family).scan_family if family.uses_design else family


def mean_and_covariance(second: Floats) -> tuple[Floats, Floats]:
    """Return mean (d,) and covariance (d, d) of x from the summed second moments (d + 1, d + 1) of (1, x)."""
    mean = second[0, 1:] / second[0, 0]
    return mean, second[1:, 1:] / second[0, 0] - np.outer(mean, mean)
