"""What the paper's construction sums over rows: the gradient of its bound; and the rows of a leaf."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..arrays import Floats
from ..families import Family
from ..gates import backpropagate, gate_products
from ..rows import Block, MembershipSums, Request, SumsT, block_size, sum_over
from ..tree import Shape


def reduce_block(request: Request[SumsT], block: Block) -> SumsT:
    """Sum a request over a block of NumPy, in parts that stay in cache."""
    size = block_size(request.floats_per_row(block.facts), block.facts.limits)
    return sum_over(request, block.parts(size), block.facts)


@dataclass(frozen=True, eq=False)
class GradientSums:
    """The derivative of the paper's bound c by each hyperplane, (c, m, d + 1)."""

    gradient: Floats

    def __add__(self, other: GradientSums) -> GradientSums:
        return GradientSums(self.gradient + other.gradient)


@dataclass(frozen=True, eq=False)
class BoundGradient:
    """The derivative of the paper's bound, responsibilities being memberships.

    Parameters
    ----------
    hyperplanes : ndarray of shape (c, m, d + 1)
    shape : Shape
    expected : ndarray of shape (c, leaves, k)
        `expected_parameters` of the family at the membership sums of these hyperplanes.
    """

    hyperplanes: Floats
    shape: Shape
    expected: Floats

    def floats_per_row(self, facts: object) -> int:
        return len(self.hyperplanes) * self.shape.n_leaves

    def zero(self, facts: object) -> GradientSums:
        return GradientSums(np.zeros(self.hyperplanes.shape))

    def compute(self, xp: object, block: Block) -> GradientSums:
        c, m, width = self.hyperplanes.shape
        products = gate_products(self.hyperplanes, self.shape, block.design)
        expected = self.expected.transpose(1, 0, 2).reshape((m + 1) * c, -1)
        value = (expected @ block.statistics.T).reshape(m + 1, c, -1)
        slope = backpropagate(products, self.shape, value).reshape(m * c, block.n_rows)
        gradient = slope @ (block.design * block.weights).T
        return GradientSums(gradient.reshape(m, c, width).transpose(1, 0, 2))


def bound_gradient(block: Block, family: Family, hyperplanes: Floats, shape: Shape) -> Floats:
    """Derivative of the paper's bound c by each hyperplane (c, m, d + 1) of a stack of trees."""
    if block.missing is not None:
        raise ValueError("the paper's method has no place for missing cells")
    # The gradient needs the leaf statistics of these hyperplanes, so that rows are read twice.
    statistics = reduce_block(MembershipSums(hyperplanes, shape), block).statistics
    request = BoundGradient(hyperplanes, shape, family.expected_parameters(statistics))
    return reduce_block(request, block).gradient


def rows_of_leaf(block: Block, hyperplanes: Floats, shape: Shape, leaf: int, *, hard: bool) -> Block:
    """The rows of a leaf: each weighted by its membership or, if hard, those with a membership above one half.

    If no row has a membership above one half, all rows.
    """
    size = block_size(shape.n_leaves, block.facts.limits)
    parts = (gate_products(hyperplanes[None], shape, part.design).membership[leaf, 0] for part in block.parts(size))
    membership = np.concatenate(list(parts))
    seen = np.flatnonzero(membership > (0.5 if hard else 0.0))
    if hard and not len(seen):
        return block
    of_leaf = block.take(seen)
    return of_leaf if hard else replace(of_leaf, weights=of_leaf.weights * membership[seen])
