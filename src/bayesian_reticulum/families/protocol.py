"""What a leaf asks of its family: a likelihood of the targets with its conjugate prior.

A family turns each row's target into statistics T; a leaf keeps their sum S and nothing else, so that
partitions of the rows add. A new family is one class with the methods of `Family`; `testing.check_family` holds it
to the laws that the rest of the package relies on.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from ..arrays import Floats, Integers
from ..distributions import ClassDistribution, Mixture, Uncertainty

Spread = Callable[[Floats], Floats]


class Family(Protocol):
    """A conjugate exponential family with its prior.

    Methods of the likelihood and of the posterior take leaf statistics S (..., k) with any leading axes, those that
    predict S (leaves, k). There `membership` (leaves, n) is the probability of n rows to belong to each leaf, and
    `design` (d + 1, n) is a row of ones above their standardised features.

    A family that takes more of a row than its target, such as an exposure, names it in the member `metadata`, a tuple
    of str. Methods that use it, `row_statistics` among them, have arguments (n,) of these names; where an argument has
    a default it may be left out in `fit` or `predict`.

    Four more members are optional; without them a family has numbers as targets, and plots and cards show less of it.
    `is_categorical` is True where targets are classes. `interval(statistics, level)` is the posterior mean with the
    limits of its central credible interval, of a leaf (k,): three arrays (classes,), or (1,) for numbers. Of a linear
    leaf `coefficients(statistics)` are offset and slopes (d + 1,), and `middle(statistics)` is the design (d + 1, 1)
    of the centre of its rows.
    """

    # The likelihood.

    @property
    def uses_design(self) -> bool:
        """True if the likelihood depends on the features; the family then is a `LinearFamily`."""
        ...

    @property
    def n_statistics(self) -> int:
        """Number k of coordinates of T."""
        ...

    def row_statistics(self, design: Floats | None, targets: Any) -> Floats:
        """T of each row, shape (n, k); `design` may be None for a family that does not use it."""
        ...

    def are_possible(self, statistics: Floats) -> NDArray[np.bool_]:
        """Whether statistics could be the sum of some rows with positive weights."""
        ...

    def counts(self, statistics: Floats) -> Floats:
        """Effective number of rows in a leaf."""
        ...

    # The prior, in view of the statistics of a leaf.

    def log_evidence(self, statistics: Floats) -> Floats:
        """Log marginal likelihood of the targets of a leaf; 0 for an empty leaf."""
        ...

    def expected_parameters(self, statistics: Floats) -> Floats:
        """E_q of the natural parameters, the gradient of `log_evidence`: E_q[log p(y|theta)] = this @ T(y)."""
        ...

    def unexplained_potential(self, statistics: Floats) -> Floats:
        """Roughly the nats that splits below a leaf could gain at most: where to try first. Not negative."""
        ...

    # The prediction.

    def predictive_mean(self, statistics: Floats, membership: Floats, design: Floats) -> Floats:
        """Mean of the target of each row; for classes their probabilities (n, classes), else (n,)."""
        ...

    def predictive(self, statistics: Floats, membership: Floats, design: Floats) -> Mixture | ClassDistribution:
        """Distribution of the target of each row: the leaves' posterior predictives, mixed by membership."""
        ...

    def uncertainty(self, statistics: Floats, membership: Floats, design: Floats) -> Uncertainty:
        """Uncertainty of the target of each row by where it comes from."""
        ...

    def describe(self, statistics: Floats, names: Sequence[str], linear: Callable[[Floats], str]) -> str:
        """The prediction of a leaf (k,) in a few words, for print.

        `names` are those of the classes, or of the number; `linear` writes an offset with slopes in the units of the
        table.
        """
        ...


class LinearFamily(Family, Protocol):
    """A family whose leaves are linear in the features.

    Missing features are at their mean in a design. `spread` turns slopes (..., d) into the variances (..., n) of these
    linear functions over what the missing features of each row may be; it is None where no feature is missing.
    """

    def predictive(
        self, statistics: Floats, membership: Floats, design: Floats, spread: Spread | None = None
    ) -> Mixture | ClassDistribution:
        """As of any family, wider by what is missing."""
        ...

    def uncertainty(
        self, statistics: Floats, membership: Floats, design: Floats, spread: Spread | None = None
    ) -> Uncertainty:
        """As of any family, with the variance by what is missing as part of the routing."""
        ...

    @property
    def scan_family(self) -> Family:
        """The family of `residuals` that are linear in one direction, with which thresholds along it are compared."""
        ...

    def residuals(self, design: Floats, targets: Any, statistics: Floats) -> Floats:
        """Mean and variance (n, 2) of the difference of each target from the mean of a leaf (k,)."""
        ...

    def slope_gains(self, statistics: Floats) -> Floats:
        """Log evidence that leaves gain by their slopes, shared out among them, shape (leaves, d)."""
        ...


@runtime_checkable
class CodedFamily(Protocol):
    """A family whose statistics of a row are a single one among zeros."""

    def row_codes(self, targets: Any) -> Integers:
        """Place of the one in the statistics of each row, which takes less memory than the statistics."""
        ...


@runtime_checkable
class EmpiricalPriorFamily(Protocol):
    """A family whose prior can be chosen by the evidence of the leaves of a tree."""

    def with_estimated_prior(self, statistics: Floats) -> Family:
        """The family with the prior of highest evidence in leaves (leaves, k); itself if that is its prior."""
        ...


@runtime_checkable
class LinearizableFamily(Protocol):
    """A family of constant leaves that has a version with linear ones, along the axes of a wide table, too."""

    def with_slopes(self, basis: Floats) -> Family:
        """The family with leaves that are linear along directions (d, s), slopes of the longer ones larger a priori."""
        ...

    def restored(self, axes: Floats) -> Family:
        """The family for the columns of a table, of one that was made for the axes (d, r) of their rotation."""
        ...


def missing_members(family: Any) -> list[str]:
    """Names of the members of `Family`, or of `LinearFamily` if it uses the design, that an object lacks."""
    required = {*vars(Family), *(vars(LinearFamily) if getattr(family, "uses_design", False) else ())}
    return sorted(name for name in required if not name.startswith("_") and not hasattr(family, name))
