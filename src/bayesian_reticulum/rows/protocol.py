"""The training rows, behind the only door through which anything else may ask about them.

`Rows` answers *additive* requests with small sums, block by block, so that threads, files larger than memory,
GPUs and clusters are all "another Rows". Nothing is kept per row and leaf: the state between two passes is the
leaf statistics S.

A request works on a *stack* of trees of one shape: hyperplanes (c, m, d + 1) with leaf statistics (c, leaves, k).
Candidates are refined side by side in this way; one tree is a stack of one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol, cast

import numpy as np

from ..arrays import Floats, Integers
from ..families import Family, LinearFamily
from ..tree import Shape


def scan_family(family: Family) -> Family:
    """The family of the statistics in a `histogram`."""
    return cast("LinearFamily", family).scan_family if family.uses_design else family


@dataclass(frozen=True)
class Pass:
    """Sums over all rows at given hyperplanes and leaf statistics, for each tree of a stack.

    Attributes
    ----------
    expected : ndarray of shape (c, leaves, k)
        E_q of the natural parameters at the given leaf statistics.
    log_normalizer : ndarray of shape (c,)
        Sum over rows of weight * log sum_leaf membership * exp(E_q[log p(y | leaf)]).
    statistics : ndarray of shape (c, leaves, k)
        New leaf statistics, from the responsibilities that the given ones imply.
    gradient : ndarray of shape (c, m, d + 1)
        Derivative of the objective by each hyperplane, responsibilities held or converged.
    observed, complete : ndarray of shape (c, m, p, p) or None, p = d + 1
        Information of each split: what the rows tell, and what they would tell if leaves were known. Where rows have a
        `tail`, that of the columns before it, and in the last row and column the sum over rows of how much their
        activation tells: times its variance, that is what is told of a slope in the tail.
    """

    expected: Floats
    log_normalizer: Floats
    statistics: Floats
    gradient: Floats
    observed: Floats | None = None
    complete: Floats | None = None


class Moments(NamedTuple):
    """Sums over rows of products of (1, x) with itself, and with what may vary along a good direction.

    The latter are the row statistics or, where leaves are linear, the residuals, their products with x and their
    squares. `second` has shape (d + 1, d + 1), `cross` (q, d + 1), and `size`, the sums of their absolute
    values, (q,).
    """

    second: Floats
    cross: Floats
    size: Floats


def mean_and_covariance(second: Floats) -> tuple[Floats, Floats]:
    """Mean and covariance of x from the summed second moments of (1, x)."""
    mean = second[0, 1:] / second[0, 0]
    return mean, second[1:, 1:] / second[0, 0] - np.outer(mean, mean)


class Rows(Protocol):
    """What growth and the objective may ask of the training rows."""

    family: Family
    axes: Floats
    # Variances of the last columns of a wide table, the information of which is taken to be one number.
    tail: Floats

    @property
    def n_features(self) -> int:
        """Number of columns that splits work on."""
        ...

    @property
    def n_rows(self) -> int:
        """Number of rows in view."""
        ...

    @property
    def weight(self) -> float:
        """Sum of the weights of the rows in view, each as far as it is in view."""
        ...

    def pass_(self, hyperplanes: Floats, shape: Shape, statistics: Floats, *, information: bool = False) -> Pass:
        """One E step, and the derivatives that go with it."""
        ...

    def prior_statistics(self, hyperplanes: Floats, shape: Shape) -> Floats:
        """Leaf statistics with responsibility = membership, as in the paper."""
        ...

    def bound_pass(self, hyperplanes: Floats, shape: Shape) -> tuple[Floats, Floats]:
        """The `prior_statistics`, and the derivative of the paper's bound c by each hyperplane, (c, m, d + 1)."""
        ...

    def reaching(self, hyperplanes: Floats, shape: Shape, leaf: int, *, hard: bool) -> Rows:
        """The rows of a leaf: each weighted by its membership or, if hard, those with a membership above one half.

        If no row has one above one half, all rows.
        """
        ...

    def moments(self, statistics: Floats) -> Moments:
        """Sums of products of features and targets, as seen by a leaf that holds `statistics` (k,)."""
        ...

    def quantiles(self, directions: Floats, probabilities: Floats) -> Floats:
        """Weighted quantiles of the rows along directions (D, d + 1); shape (D, probabilities)."""
        ...

    def histogram(self, directions: Floats, edges: Floats, cuts: Floats, statistics: Floats) -> Floats:
        """Statistics by bin of each direction, on the left and right of each hard cut; (cuts, 2, D, bins, k).

        They are those of the `scan_family`: where leaves are linear, of the residuals from a leaf that holds
        `statistics` (k,).
        """
        ...

    def scan(self, directions: Floats, edges: Floats, cuts: Floats, statistics: Floats) -> Floats:
        """Evidence gained by a hard threshold at each edge, on the left and right of each cut; (cuts, 2, D, edges).

        It is that of the `scan_family`, from the sums of a `histogram`.
        """
        ...

    def within(self, hyperplanes: Floats, shape: Shape, statistics: Floats, leaf: int) -> Rows:
        """The rows as a branch in the place of one leaf would see them, all else held."""
        ...

    def views(
        self, hyperplanes: Floats, shape: Shape, statistics: Floats, leaves: Sequence[int] | Integers
    ) -> Iterator[Rows]:
        """The rows `within` each of some leaves; rows are read once for several of them."""
        ...

    def likelihoods_below(self, hyperplanes: Floats, shape: Shape, statistics: Floats) -> tuple[Floats, Floats]:
        """How likely targets are below each split of one tree, and the new leaf statistics (leaves, k).

        The former (m,) are sums over rows of the responsibility of all leaves below a split times the log of what they
        together say of the target: the mean of exp(E_q[log p(y | leaf)]) by membership among them.
        """
        ...

    def sampled(self, size: int) -> Rows:
        """About this many of the rows, the same ones in any order; all of them if they are not many more.

        Whether a row is taken depends on what it holds, so that repeats of a row are taken or left together.
        """
        ...

    def with_family(self, family: Family) -> Rows:
        """The same rows with leaves of another family."""
        ...

    def arranged(self, hyperplanes: Floats, shape: Shape) -> Rows:
        """The same rows, in an order in which neighbours go the same way down a tree if that makes passes faster."""
        ...

    def grey_shares(self, hyperplanes: Floats, shape: Shape, low: float, high: float) -> Floats:
        """For each split the share of the rows reaching it whose gate lies strictly between low and high."""
        ...


# Rows that tell enough of the information of splits to find the way up.
HESSIAN_ROWS = 16384
