"""Conjugate families: what a leaf believes about its targets.

A family turns each row's target into statistics T; a leaf holds their sum S and nothing else, so that
partitions of the rows add. A new family is one class with the methods of `Family`; `testing.check_family` holds it
to the laws that the rest of the package relies on.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaincinv, digamma, entr, gammaln

from .distributions import ClassDistribution, Mixture, StudentT
from .tree import Floats, Integers, frozen, refreeze
from .uncertainty import Uncertainty

_LOG_2PI = float(np.log(2 * np.pi))
# Slope precisions that a leaf believes in less than this do not show in its predictions.
_NEGLIGIBLE_WEIGHT = 1e-12
_NAMED_CLASSES = 4
# Pseudo-counts of Jeffreys' prior for classes, and how often these may be halved for leaves that are purer.
JEFFREYS = 0.5
_MOST_HALVINGS = 6

Spread = Callable[[Floats], Floats]


class Family(Protocol):
    """A conjugate exponential family with its prior.

    Leaf statistics are S (..., k) for any leading axes in the methods that learn, and S (leaves, k) in those that
    predict. There `membership` (leaves, n) is the probability of n rows to belong to each leaf, and `design`
    (d + 1, n) is a row of ones above their standardised features.
    """

    @property
    def uses_design(self) -> bool:
        """Whether a leaf looks at the features; if so, the family is a `LinearFamily`."""
        ...

    @property
    def n_statistics(self) -> int:
        """Number k of coordinates of T."""
        ...

    def row_statistics(self, design: Floats | None, targets: Any) -> Floats:
        """T of each row, shape (n, k); `design` may be None for a family that does not use it."""
        ...

    def log_evidence(self, statistics: Floats) -> Floats:
        """Log marginal likelihood of the targets of a leaf; 0 for an empty leaf."""
        ...

    def expected_parameters(self, statistics: Floats) -> Floats:
        """E_q of the natural parameters, the gradient of `log_evidence`: E_q[log p(y|theta)] = this @ T(y)."""
        ...

    def are_possible(self, statistics: Floats) -> NDArray[np.bool_]:
        """Whether statistics could be the sum of some rows with positive weights."""
        ...

    def unexplained_potential(self, statistics: Floats) -> Floats:
        """Roughly the nats that splits below a leaf could gain at most: where to try first. Not negative."""
        ...

    def counts(self, statistics: Floats) -> Floats:
        """Effective number of rows in a leaf."""
        ...

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
        """What a leaf (k,) says, in a few words for print.

        `names` are those of the targets; `linear` writes down an offset with slopes in the units of the table.
        """
        ...


class LinearFamily(Family, Protocol):
    """A family whose leaves look at the features.

    Features that are missing are at their mean in a design. By how much linear functions of the features vary over what
    these could have been is told by `spread`: from slopes (..., d) it makes variances (..., n). It is None where no
    feature is missing.
    """

    def predictive(
        self, statistics: Floats, membership: Floats, design: Floats, spread: Spread | None = None
    ) -> Mixture | ClassDistribution:
        """As of any family."""
        ...

    def uncertainty(
        self, statistics: Floats, membership: Floats, design: Floats, spread: Spread | None = None
    ) -> Uncertainty:
        """As of any family."""
        ...

    @property
    def scan_family(self) -> Family:
        """Family of `residuals` that are linear in one direction: what a scan along it works with."""
        ...

    def residuals(self, design: Floats, targets: Any, statistics: Floats) -> Floats:
        """Mean and variance (n, 2) of what a leaf (k,) leaves unexplained of each target."""
        ...

    def slope_gains(self, statistics: Floats) -> Floats:
        """Evidence that each slope is good for in each leaf, shape (leaves, d)."""
        ...


@runtime_checkable
class CodedFamily(Protocol):
    """A family whose statistics of a row are a single one among zeros."""

    def row_codes(self, targets: Any) -> Integers:
        """Place of the one in the statistics of each row: a shorter way to say the same."""
        ...


@runtime_checkable
class TunedFamily(Protocol):
    """A family whose prior is set by the evidence of the leaves of a tree."""

    def tuned(self, statistics: Floats) -> Family:
        """The family with the prior that leaves (leaves, k) tell; itself if that is the prior it has."""
        ...


def missing_members(family: Any) -> list[str]:
    """Names of what an object lacks to be a family."""
    wanted = {*vars(Family), *(vars(LinearFamily) if getattr(family, "uses_design", False) else ())}
    return sorted(name for name in wanted if not name.startswith("_") and not hasattr(family, name))


def _log_beta(counts: Floats) -> Floats:
    return np.asarray(gammaln(counts).sum(axis=-1) - gammaln(counts.sum(axis=-1)))


@dataclass(frozen=True)
class DirichletCategorical:
    """Classes with a Dirichlet prior; with two classes the Beta-Bernoulli leaf of the paper.

    Parameters
    ----------
    prior : tuple of float
        Pseudo-counts, one for each class.
    is_tuned : bool, default=False
        Whether a tree sets them by the evidence of its leaves: 0.5 for each class, or half of that, or a quarter, and
        so on.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesian_reticulum import DirichletCategorical
    >>> family = DirichletCategorical((1.0, 1.0))
    >>> float(family.log_evidence(np.array([0.0, 0.0])))
    0.0
    >>> family.probabilities(np.array([2.0, 0.0]))
    array([0.75, 0.25])
    """

    prior: tuple[float, ...]
    is_tuned: bool = False

    @property
    def uses_design(self) -> bool:
        return False

    @property
    def n_statistics(self) -> int:
        return len(self.prior)

    def row_statistics(self, design: Floats | None, targets: Any) -> Floats:
        """One-hot rows for class codes 0 to k - 1."""
        statistics = np.zeros((len(targets), len(self.prior)))
        statistics[np.arange(len(targets)), self.row_codes(targets)] = 1.0
        return statistics

    def row_codes(self, targets: Any) -> Integers:
        """The class codes themselves."""
        return np.asarray(targets)

    def log_evidence(self, statistics: Floats) -> Floats:
        """ln B(prior + S) - ln B(prior): the paper's c of each leaf."""
        prior = np.asarray(self.prior)
        return _log_beta(prior + statistics) - _log_beta(prior)

    def tuned(self, statistics: Floats) -> DirichletCategorical:
        """The family with the pseudo-counts of highest evidence in leaves (leaves, k), each halving half as likely."""
        if not self.is_tuned:
            return self
        halvings = np.arange(_MOST_HALVINGS + 1)
        rivals = [replace(self, prior=(JEFFREYS * 0.5**halving,) * len(self.prior)) for halving in halvings.tolist()]
        values = np.array([rival.log_evidence(statistics).sum() for rival in rivals]) - np.log(2.0) * halvings
        best = rivals[int(np.argmax(np.round(values, 6)))]
        return self if best == self else best

    def expected_parameters(self, statistics: Floats) -> Floats:
        """E_q[log of the class probabilities]."""
        counts = np.asarray(self.prior) + statistics
        return np.asarray(digamma(counts) - digamma(counts.sum(axis=-1, keepdims=True)))

    def probabilities(self, statistics: Floats) -> Floats:
        """Posterior mean of the class probabilities (paper, the leaf probabilities)."""
        counts = np.asarray(self.prior) + statistics
        return np.asarray(counts / counts.sum(axis=-1, keepdims=True))

    def mean_interval(self, statistics: Floats, level: float) -> tuple[Floats, Floats, Floats]:
        """Posterior mean and central interval of the probability of each class in a leaf (k,): Beta distributions."""
        counts = np.asarray(self.prior) + statistics
        others = np.maximum(counts.sum() - counts, np.finfo(float).tiny)
        low, high = (betaincinv(counts, others, tail) for tail in (0.5 - level / 2, 0.5 + level / 2))
        return self.probabilities(statistics), np.asarray(low), np.asarray(high)

    def are_possible(self, statistics: Floats) -> NDArray[np.bool_]:
        """Counts are not negative."""
        return np.asarray((statistics >= 0).all(axis=-1))

    def unexplained_potential(self, statistics: Floats) -> Floats:
        """The paper's unexplained potential, as a positive number: perfectly sorted classes have evidence near 1."""
        return np.asarray(np.maximum(-self.log_evidence(statistics), 0.0))

    def counts(self, statistics: Floats) -> Floats:
        """Sum of the class counts."""
        return np.asarray(statistics.sum(axis=-1))

    def predictive_mean(self, statistics: Floats, membership: Floats, design: Floats) -> Floats:
        """Probability of each class for each row, shape (n, classes)."""
        return np.asarray(membership.T @ self.probabilities(statistics))

    def predictive(self, statistics: Floats, membership: Floats, design: Floats) -> ClassDistribution:
        """Distribution over class codes."""
        probabilities = self.predictive_mean(statistics, membership, design)
        return ClassDistribution(np.arange(len(self.prior)), probabilities)

    def uncertainty(self, statistics: Floats, membership: Floats, design: Floats) -> Uncertainty:
        """Entropies in nats."""
        counts = np.asarray(self.prior) + statistics
        total = counts.sum(axis=-1, keepdims=True)
        # The mean over the posterior of a leaf of the entropy of its class probabilities.
        expected_entropy = -(counts / total * (digamma(counts + 1) - digamma(total + 1))).sum(axis=-1)
        probabilities = self.probabilities(statistics)
        mixed = _entropy(membership.T @ probabilities)
        leaf_entropy = membership.T @ _entropy(probabilities)
        aleatoric = membership.T @ expected_entropy
        return Uncertainty.of_parts(aleatoric, leaf_entropy - aleatoric, mixed - leaf_entropy)

    def describe(self, statistics: Floats, names: Sequence[str], linear: Callable[[Floats], str]) -> str:
        """The most probable classes."""
        return ", ".join(f"{name} {probability:.3f}" for name, probability in self.named(statistics, names))

    def named(self, statistics: Floats, names: Sequence[str]) -> list[tuple[str, float]]:
        """Classes with their probabilities in a leaf (k,): of many the most probable ones, and all others as one."""
        probabilities = self.probabilities(statistics)
        shown = np.arange(len(probabilities))
        if len(shown) > _NAMED_CLASSES:
            shown = np.sort(np.argsort(-probabilities, kind="stable")[:_NAMED_CLASSES])
        parts = [(names[int(k)], float(probabilities[k])) for k in shown]
        if len(shown) < len(probabilities):
            hidden = len(probabilities) - len(shown)
            parts.append((f"{hidden} other{'s' * (hidden != 1)}", float(1 - probabilities[shown].sum())))
        return parts


def _entropy(probabilities: Floats) -> Floats:
    return np.asarray(entr(probabilities).sum(axis=-1))


@dataclass(frozen=True, eq=False)
class NormalLinear:
    """Numbers that scatter about a constant or about a linear function of the features.

    In units in which targets have mean 0 and variance 1, a leaf believes

        y ~ Normal(offset + slopes · x, variance),        variance ~ InverseGamma(shape, rate),
        offset ~ Normal(0, variance / offset_precision),  slopes ~ Normal(0, variance / slope_precision),

    where the slope precision is one of `slope_precisions`. They are equally likely before rows are seen; after that
    each leaf weighs them by their evidence. The predictive is a mixture of Student's t, one for each precision.

    Parameters
    ----------
    n_slopes : int, default=0
        Number of features that the mean of a leaf depends on: all of them, or 0 for constant leaves.
    center, scale : float
        Mean and standard deviation of the targets, as far as known: the units of the prior.
    offset_precision, shape, rate : float
        The prior. By default a constant leaf without rows predicts the mean of all targets, and 1.1 times their
        variance.
    slope_precisions : tuple of float
    basis : ndarray of shape (d, n_slopes), optional
        Directions that a leaf is linear in, where these are not the features themselves. The longer one is, the
        larger slopes along it may be.
    span : ndarray of shape (d, r), optional
        Orthonormal directions in which rows vary; slopes across them are as uncertain as their prior is.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesian_reticulum import NormalLinear
    >>> family = NormalLinear()
    >>> statistics = family.row_statistics(None, np.array([0.9, 1.0, 1.1])).sum(axis=0)
    >>> round(float(family.log_evidence(statistics)), 3)
    -1.429
    """

    n_slopes: int = 0
    center: float = 0.0
    scale: float = 1.0
    offset_precision: float = 0.1
    shape: float = 2.0
    rate: float = 0.1
    slope_precisions: tuple[float, ...] = (0.01, 0.1, 1.0, 10.0, 100.0, 1000.0)
    basis: Floats | None = None
    span: Floats | None = None

    def __post_init__(self) -> None:
        for name in ("basis", "span"):
            if getattr(self, name) is not None:
                object.__setattr__(self, name, frozen(getattr(self, name)))
        object.__setattr__(self, "slope_precisions", tuple(self.slope_precisions))
        if not isinstance(self.n_slopes, int | np.integer) or self.n_slopes < 0:
            raise ValueError(f"n_slopes must be a whole number of at least 0; got {self.n_slopes!r}.")
        if not np.isfinite(self.center):
            raise ValueError(f"center must be a finite number; got {self.center!r}.")
        if self.basis is not None and self.basis.shape[1:] != (self.n_slopes,):
            raise ValueError(f"basis has shape {self.basis.shape}; it needs (features, {self.n_slopes}).")
        positive = {name: getattr(self, name) for name in ("scale", "offset_precision", "rate")}
        positive |= {f"slope_precisions[{k}]": precision for k, precision in enumerate(self.slope_precisions)}
        for name, value in positive.items():
            if not 0 < value < np.inf:
                raise ValueError(f"{name} must be a positive number; got {value!r}.")
        if not 1 < self.shape < np.inf:
            raise ValueError(f"shape must be above 1, so that variances are finite; got {self.shape!r}.")
        if not self.slope_precisions:
            raise ValueError("slope_precisions is empty; give at least one.")

    __setstate__ = refreeze

    @property
    def uses_design(self) -> bool:
        return self.n_slopes > 0

    @property
    def n_statistics(self) -> int:
        return (self.n_slopes + 2) * (self.n_slopes + 3) // 2

    def row_statistics(self, design: Floats | None, targets: Any) -> Floats:
        """Products of all pairs from y and (1, x), with y in standard units.

        Targets (n, 2) are means and variances of targets that are not known exactly; statistics are then expected
        ones.
        """
        known, blur = self._in_standard_units(targets)
        columns = np.ones((1, len(known)))
        if self.uses_design:
            assert design is not None
            width = self.n_slopes if self.basis is None else len(self.basis)
            if len(design) != 1 + width:
                raise ValueError(f"{self!r} is linear in {width} columns, but X has {len(design) - 1}.")
            columns = self._columns(design)
        first, second = _upper_triangle(len(columns))
        statistics = np.empty((self.n_statistics, len(known)))
        np.add(known**2, blur, out=statistics[0])
        np.multiply(columns, known, out=statistics[1 : 1 + len(columns)])
        np.multiply(columns[first], columns[second], out=statistics[1 + len(columns) :])
        return statistics.T

    def _in_standard_units(self, targets: Any) -> tuple[Floats, Floats | float]:
        targets = np.asarray(targets, dtype=np.float64)
        if targets.ndim == 1:
            return (targets - self.center) / self.scale, 0.0
        known, variance = targets.T
        return (known - self.center) / self.scale, variance / self.scale / self.scale

    def log_evidence(self, statistics: Floats) -> Floats:
        log_evidence = self._posterior(statistics).log_evidence
        top = log_evidence.max(axis=-1)
        return np.asarray(top + np.log(np.exp(log_evidence - top[..., None]).sum(axis=-1)))

    def expected_parameters(self, statistics: Floats) -> Floats:
        posterior = self._posterior(statistics)
        weight, mean = posterior.weight, posterior.mean
        precision = weight * posterior.shape[..., None] / posterior.rate
        scaled = np.sqrt(precision)[..., None] * mean
        second = scaled.swapaxes(-1, -2) @ scaled + (weight[..., None, None] * posterior.covariance).sum(axis=-3)
        rows, columns = _upper_triangle(self.n_slopes + 1)
        out = np.empty(np.shape(statistics))
        out[..., 0] = -0.5 * precision.sum(axis=-1)
        out[..., 1 : 2 + self.n_slopes] = (precision[..., None] * mean).sum(axis=-2)
        products = out[..., 2 + self.n_slopes :]
        np.multiply(second[..., rows, columns], np.where(rows == columns, -0.5, -1.0), out=products)
        log_variance = (weight * np.log(posterior.rate)).sum(axis=-1) - digamma(posterior.shape)
        products[..., 0] -= 0.5 * (_LOG_2PI + log_variance) + np.log(self.scale)
        return out

    def _posterior(self, statistics: Floats) -> _LinearPosterior:
        """What a leaf believes, for each slope precision."""
        d = self.n_slopes
        square, target_sum, with_target = statistics[..., 0], statistics[..., 1], statistics[..., 2 : 2 + d]
        count, sums, products = statistics[..., 2 + d], statistics[..., 3 + d : 3 + 2 * d], statistics[..., 3 + 2 * d :]
        total = self.offset_precision + count
        # The offset is integrated out first, then the slopes, along axes on which they are independent.
        by_offset = sums / total[..., None]
        sizes, axes = _eigh(unpacked(products, d) - sums[..., :, None] * by_offset[..., None, :])
        along = ((with_target - target_sum[..., None] * by_offset)[..., None, :] @ axes)[..., 0, :]
        precisions = self._precisions
        inverse = 1.0 / (np.maximum(sizes, 0.0)[..., None, :] + precisions[:, None])
        residual = (square - target_sum**2 / total)[..., None] - (inverse @ (along**2)[..., None])[..., 0]
        rate = self.rate + 0.5 * np.maximum(residual, 0.0)
        shape = self.shape + 0.5 * count
        log_evidence = (
            0.5 * np.log(inverse * precisions[:, None]).sum(axis=-1)
            - shape[..., None] * np.log(rate)
            + self.shape * np.log(self.rate)
            - np.log(len(precisions))
        )
        same = gammaln(shape) - gammaln(self.shape) - 0.5 * np.log1p(count / self.offset_precision)
        log_evidence += (same - count * (0.5 * _LOG_2PI + np.log(self.scale)))[..., None]
        return _LinearPosterior(log_evidence, shape, rate, total, sums, target_sum, along, axes, inverse)

    def are_possible(self, statistics: Floats) -> NDArray[np.bool_]:
        """No sum of squares is negative, in any direction."""
        gram = unpacked(statistics, self.n_slopes + 2)
        is_finite = np.asarray(np.isfinite(gram).all(axis=(-1, -2)))
        gram = np.where(is_finite[..., None, None], gram, 0.0)
        squares = np.diagonal(gram, axis1=-2, axis2=-1)
        # Each column in its own units, so that a wild target does not hide what is wrong with the others.
        root = np.sqrt(np.where(squares > 0, squares, 1.0))
        sizes = np.linalg.eigvalsh(gram / (root[..., :, None] * root[..., None, :]))
        return np.asarray(is_finite & (squares >= 0).all(axis=-1) & (sizes[..., 0] >= -1e-9))

    def unexplained_potential(self, statistics: Floats) -> Floats:
        """Nats to gain if all residuals vanished."""
        posterior = self._posterior(statistics)
        return np.asarray(posterior.shape * np.log(posterior.rate.min(axis=-1) / self.rate))

    def counts(self, statistics: Floats) -> Floats:
        return np.asarray(statistics[..., self.n_slopes + 2])

    def predictive_mean(self, statistics: Floats, membership: Floats, design: Floats) -> Floats:
        """Mean of the target of each row, shape (n,)."""
        mean = self._posterior(statistics).average @ self._columns(design)
        return self.center + self.scale * np.asarray((membership * mean).sum(axis=0))

    def predictive(
        self, statistics: Floats, membership: Floats, design: Floats, spread: Spread | None = None
    ) -> Mixture:
        """Mixture of Student's t over leaves and slope precisions; features that are missing add to their variance."""
        posterior = self._posterior(statistics)
        leaf, precision = np.nonzero(posterior.weight > _NEGLIGIBLE_WEIGHT)
        weight = posterior.weight[leaf, precision]
        weight /= np.bincount(leaf, weight)[leaf]
        columns = self._columns(design)
        location = posterior.mean[leaf, precision] @ columns
        variance = posterior.rate[leaf, precision] / posterior.shape[leaf]
        doubt = _quadratic(posterior.covariance[leaf, precision], columns)
        doubt += self._unseen(design) / self._precisions[precision, None]
        squared = variance[:, None] * (1.0 + doubt)
        dof = 2.0 * posterior.shape[leaf, None]
        if spread is not None:
            # The variance of Student's t is larger than the square of its scale.
            squared = squared + (1.0 - 2.0 / dof) * spread(self._slopes(posterior.mean[leaf, precision, 1:]))
        components = StudentT(dof, self.center + self.scale * location, self.scale * np.sqrt(squared))
        return Mixture(weight[:, None] * membership[leaf], components)

    def middle(self, statistics: Floats) -> Floats:
        """Design (D + 1, 1) of the centre of the rows of a leaf (k,), as far as the leaf is linear in features."""
        count = max(float(self.counts(statistics)), np.finfo(float).tiny)
        place = statistics[3 + self.n_slopes : 3 + 2 * self.n_slopes] / count
        own = place if self.basis is None else np.linalg.pinv(self.basis.T) @ place
        return np.append(1.0, own)[:, None]

    def mean_interval(self, statistics: Floats, level: float) -> tuple[Floats, Floats, Floats]:
        """Posterior mean and central interval of the mean of the target in a leaf (k,), at the centre of its rows.

        A leaf that is linear in features has a Student's t for each slope precision, and their mixture here.
        """
        posterior = self._posterior(statistics)
        count = max(float(self.counts(statistics)), np.finfo(float).tiny)
        place = np.append(1.0, posterior.sums / count)
        scale = np.sqrt(posterior.rate / posterior.shape * ((posterior.covariance @ place) @ place))[:, None]
        components = StudentT(
            np.full((len(scale), 1), 2.0 * posterior.shape),
            self.center + self.scale * (posterior.mean @ place)[:, None],
            self.scale * scale,
        )
        mixture = Mixture(posterior.weight[:, None], components)
        low, high = mixture.interval(level)
        return np.asarray(mixture.mean), low, high

    def uncertainty(
        self, statistics: Floats, membership: Floats, design: Floats, spread: Spread | None = None
    ) -> Uncertainty:
        """Variances, in squared units of the targets."""
        posterior = self._posterior(statistics)
        weight, columns = posterior.weight, self._columns(design)
        mean = posterior.mean @ columns
        leaf_mean = posterior.average @ columns
        variance = posterior.rate / (posterior.shape - 1.0)[:, None]
        noise = (weight * variance).sum(axis=1)
        doubt = _quadratic(posterior.covariance, columns) + self._unseen(design) / self._precisions[:, None]
        doubt = (weight * variance)[..., None] * doubt
        doubt = (doubt + weight[..., None] * (mean - leaf_mean[:, None]) ** 2).sum(axis=1)
        place: Floats | float = 0.0
        if spread is not None:
            place = (weight[..., None] * spread(self._slopes(posterior.mean[..., 1:]))).sum(axis=1)
        squared = self.scale**2
        return Uncertainty.of_numbers(
            membership, self.scale * leaf_mean, squared * noise[:, None], squared * doubt, squared * place
        )

    def describe(self, statistics: Floats, names: Sequence[str], linear: Callable[[Floats], str]) -> str:
        """Mean, as a function of the features for linear leaves, and standard deviation about it."""
        posterior = self._posterior(statistics)
        mean = self.scale * posterior.average
        mean[0] += self.center
        deviation = self.scale * np.sqrt(posterior.weight @ posterior.rate / (posterior.shape - 1.0))
        level = linear(np.append(mean[:1], self._slopes(mean[1:])) if self.uses_design else mean)
        return f"{names[0]} = {level} ± {deviation:.3g}"

    @property
    def scan_family(self) -> NormalLinear:
        # A scan compares thresholds, not slope precisions: one that binds weakly is enough.
        return replace(self, n_slopes=1, center=0.0, scale=1.0, slope_precisions=(1.0,), basis=None, span=None)

    def residuals(self, design: Floats, targets: Any, statistics: Floats) -> Floats:
        """Means and variances (n, 2) in standard units."""
        posterior = self._posterior(statistics)
        known, blur = self._in_standard_units(targets)
        known = known - posterior.average @ self._columns(design)
        return np.column_stack([known, np.broadcast_to(blur, known.shape)])

    def slope_gains(self, statistics: Floats) -> Floats:
        """What slopes gain over a constant leaf, shared out by their size."""
        posterior = self._posterior(statistics)
        constant = replace(self, n_slopes=0, basis=None, span=None)
        of_constant = np.concatenate([statistics[:, :2], statistics[:, 2 + self.n_slopes, None]], axis=1)
        gains = np.maximum(self.log_evidence(statistics) - constant.log_evidence(of_constant), 0.0)
        slopes = np.abs(self._slopes(posterior.average[:, 1:]))
        return np.asarray(gains[:, None] * slopes / np.maximum(slopes.sum(axis=1, keepdims=True), 1e-300))

    def _columns(self, design: Floats) -> Floats:
        """What the mean of a leaf is linear in: (1 + n_slopes, n), or (1, 1) for constant leaves."""
        if not self.uses_design:
            return np.ones((1, 1))
        return design if self.basis is None else np.concatenate([design[:1], self.basis.T @ design[1:]])

    def _unseen(self, design: Floats) -> Floats:
        """Squared distance (n,) of rows from all that could be learned of: there slopes are as they were before."""
        if not self.uses_design or self.span is None:
            return np.zeros(1)
        inside = self.span.T @ design[1:]
        return np.asarray(np.maximum((design[1:] ** 2).sum(axis=0) - (inside**2).sum(axis=0), 0.0))

    @property
    def _precisions(self) -> Floats:
        return np.array(self.slope_precisions if self.n_slopes else (1.0,))

    def _slopes(self, slopes: Floats) -> Floats:
        """Slopes (..., n_slopes) by feature."""
        return slopes if self.basis is None else slopes @ self.basis.T


class _LinearPosterior(NamedTuple):
    """Posteriors of leaves (...) for K slope precisions, by the axes on which slopes are independent."""

    log_evidence: Floats
    shape: Floats
    rate: Floats
    total: Floats
    sums: Floats
    target_sum: Floats
    along: Floats
    axes: Floats
    inverse: Floats

    @property
    def weight(self) -> Floats:
        """Probability of each slope precision, (..., K)."""
        odds = np.exp(self.log_evidence - self.log_evidence.max(axis=-1, keepdims=True))
        return np.asarray(odds / odds.sum(axis=-1, keepdims=True))

    @property
    def mean(self) -> Floats:
        """Offset and slopes, (..., K, 1 + slopes)."""
        slopes = (self.along[..., None, :] * self.inverse) @ self.axes.swapaxes(-1, -2)
        offset = (self.target_sum[..., None] - (slopes @ self.sums[..., None])[..., 0]) / self.total[..., None]
        return np.concatenate([offset[..., None], slopes], axis=-1)

    @property
    def average(self) -> Floats:
        """Offset and slopes, averaged over slope precisions, (..., 1 + slopes)."""
        return np.asarray((self.weight[..., None, :] @ self.mean)[..., 0, :])

    @property
    def covariance(self) -> Floats:
        """Covariance of offset and slopes over the variance, (..., K, 1 + slopes, 1 + slopes)."""
        axes = self.axes[..., None, :, :]
        out = np.empty((*self.inverse.shape[:-1], axes.shape[-1] + 1, axes.shape[-1] + 1))
        out[..., 1:, 1:] = (axes * self.inverse[..., None, :]) @ axes.swapaxes(-1, -2)
        mean = (self.sums / self.total[..., None])[..., None, :, None]
        out[..., 1:, :1] = -out[..., 1:, 1:] @ mean
        out[..., :1, 1:] = out[..., 1:, :1].swapaxes(-1, -2)
        out[..., 0, 0] = 1.0 / self.total[..., None] - (out[..., :1, 1:] @ mean)[..., 0, 0]
        return out


def _quadratic(matrices: Floats, columns: Floats) -> Floats:
    """x' M x for each column x and matrix M (..., p, p): shape (..., n)."""
    flat = matrices.reshape(-1, *matrices.shape[-2:])
    # One matrix at a time: all at once would hold p numbers for each row and matrix.
    each = [(columns * (matrix @ columns)).sum(axis=0) for matrix in flat]
    return np.array(each).reshape(*matrices.shape[:-2], columns.shape[1])


@lru_cache(maxsize=64)
def _upper_triangle(width: int) -> tuple[Integers, Integers]:
    return np.triu_indices(width)


def unpacked(packed: Floats, width: int) -> Floats:
    """Symmetric matrices (..., width, width) from their upper triangles, row by row."""
    if width <= 1:
        return packed.reshape(*packed.shape[:-1], width, width)
    rows, columns = _upper_triangle(width)
    full = np.empty((*packed.shape[:-1], width, width))
    full[..., rows, columns] = packed
    full[..., columns, rows] = packed
    return full


def _eigh(matrices: Floats) -> tuple[Floats, Floats]:
    """Eigenvalues and eigenvectors; small ones without a call for each matrix."""
    if matrices.shape[-1] <= 1:
        return matrices.sum(axis=-1), np.ones_like(matrices)
    sizes, axes = np.linalg.eigh(matrices)
    return sizes, axes
