"""What may be asked of the training rows, and what they answer.

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
    """Return the family of the statistics in a `histogram`: where leaves are linear, that of their residuals."""
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

    expected: Floats
    log_normalizer: Floats
    statistics: Floats
    gradient: Floats
    observed: Floats | None = None
    complete: Floats | None = None


class Moments(NamedTuple):
    """Sums over rows of products of (1, x) with itself, and with q quantities that may vary along a good direction.

    These quantities are the row statistics or, where leaves are linear, the residuals, their products with x and their
    squares. `second` has shape (d + 1, d + 1), `cross` (q, d + 1), and `size`, the sums of the quantities' absolute
    values, (q,).
    """

    second: Floats
    cross: Floats
    size: Floats


def mean_and_covariance(second: Floats) -> tuple[Floats, Floats]:
    """Return mean (d,) and covariance (d, d) of x from the summed second moments (d + 1, d + 1) of (1, x)."""
    mean = second[0, 1:] / second[0, 0]
    return mean, second[1:, 1:] / second[0, 0] - np.outer(mean, mean)


class Rows(Protocol):
    """What growth and evidence may ask of the training rows.

    Attributes
    ----------
    family : Family
        That of the leaves.
    axes : ndarray of shape (D, d)
        Directions that stand for one feature each.
    tail : ndarray
        Variances of the last columns of a wide table: information is one number for all of these.
    """

    family: Family
    axes: Floats
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

    def pass_(
        self,
        hyperplanes: Floats,
        shape: Shape,
        statistics: Floats | None = None,
        *,
        information: bool = False,
        expected: Floats | None = None,
    ) -> Pass:
        """Make one E step, and sum the derivatives that go with it.

        Either the leaf statistics (c, leaves, k) are given or the `expected` parameters that follow from them.
        """
        ...

    def prior_statistics(self, hyperplanes: Floats, shape: Shape) -> Floats:
        """Leaf statistics (c, leaves, k) with responsibility = membership, as in the paper."""
        ...

    def bound_pass(self, hyperplanes: Floats, shape: Shape) -> tuple[Floats, Floats]:
        """The `prior_statistics`, and the derivative of the paper's bound c by each hyperplane, (c, m, d + 1)."""
        ...

    def reaching(self, hyperplanes: Floats, shape: Shape, leaf: int, *, hard: bool) -> Rows:
        """The rows of a leaf: each weighted by its membership or, if hard, those with a membership above one half.

        If no row has a membership above one half, all rows.
        """
        ...

    def moments(self, statistics: Floats) -> Moments:
        """Sums of products of features and targets, for a leaf that holds `statistics` (k,)."""
        ...

    def quantiles(self, directions: Floats, probabilities: Floats) -> Floats:
        """Weighted quantiles of the rows along directions (D, d + 1); shape (D, probabilities)."""
        ...

    def histogram(self, directions: Floats, edges: Floats, cuts: Floats, statistics: Floats) -> Floats:
        """Statistics by bin of each direction, on the left and right of each hard cut; (cuts, 2, D, bins, k).

        The statistics are those of the `scan_family`: where leaves are linear, of the residuals from a leaf that holds
        `statistics` (k,).
        """
        ...

    def scan(self, directions: Floats, edges: Floats, cuts: Floats, statistics: Floats) -> Floats:
        """Log evidence gained by a hard threshold at each edge, left and right of each cut; (cuts, 2, D, edges).

        It is that of the `scan_family`, from the sums of a `histogram`.
        """
        ...

    def within(self, hyperplanes: Floats, shape: Shape, statistics: Floats, leaf: int) -> Rows:
        """The view from a leaf: the rows for a branch that takes its place while all else is held.

        The view knows how likely the other leaves make each target, so that sums over it are those of the whole tree.
        """
        ...

    def views(
        self, hyperplanes: Floats, shape: Shape, statistics: Floats, leaves: Sequence[int] | Integers
    ) -> Iterator[Rows]:
        """The rows `within` each of some leaves; the rows are read once for several leaves."""
        ...

    def likelihoods_below(self, hyperplanes: Floats, shape: Shape, statistics: Floats) -> tuple[Floats, Floats]:
        """How likely targets are below each split of one tree (m,), and the new leaf statistics (leaves, k).

        The first are sums over rows of R log p: R is the responsibility of all leaves below a split, and p the
        likelihood that they give the target together, the mean of exp(E_q[log p(y | leaf)]) by membership among them.
        """
        ...

    def sampled(self, size: int) -> Rows:
        """About `size` of the rows, the same ones in any order; all rows if these are at most twice as many.

        Whether a row is taken depends on its content alone, so that repeats of a row are taken or left together.
        """
        ...

    def with_family(self, family: Family) -> Rows:
        """The same rows with leaves of another family."""
        ...

    def arranged(self, hyperplanes: Floats, shape: Shape) -> Rows:
        """The same rows, sorted by their way down a tree if that makes passes faster."""
        ...

    def grey_shares(self, hyperplanes: Floats, shape: Shape, low: float, high: float) -> Floats:
        """For each split the share of the rows reaching it whose gate lies strictly between low and high."""
        ...
