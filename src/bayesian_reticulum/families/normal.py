"""The family of numbers: targets with normal noise about a constant or a linear function of the features."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import digamma

from ..arrays import Floats, frozen, refreeze, unpack_symmetric, upper_triangle
from ..distributions import Mixture, StudentT, Uncertainty
from .compiled import CompiledForm
from .linear_posterior import LOG_2PI, LinearPosterior, LinearPrior, quadratic_forms
from .noise import estimate_prior
from .protocol import Spread

# Slope precisions with a posterior probability of at most this are left out of predictions.
_NEGLIGIBLE_WEIGHT = 1e-12


@dataclass(frozen=True, eq=False)
class NormalLinear:
    """Numbers that scatter about a constant or about a linear function of the features.

    In units in which targets have mean 0 and variance 1, likelihood and prior of a leaf are

        y ~ Normal(offset + slopes · x, variance),        variance ~ InverseGamma(shape, rate),
        offset ~ Normal(0, variance / offset_precision),  slopes ~ Normal(0, variance / slope_precision),

    where the slope precision is one of `slope_precisions`, which are equally likely a priori and weighed by their
    evidence in each leaf. The predictive is a mixture of Student's t, one for each precision.

    Parameters
    ----------
    n_slopes : int, default=0
        Number of features that the mean of a leaf depends on: all of them, or 0 for constant leaves.
    center, scale : float
        Mean and standard deviation of the targets, or a guess of them: the units of the prior.
    offset_precision, shape, rate : float
        The prior. By default a constant leaf without rows predicts the mean of all targets, and 1.1 times their
        variance.
    slope_precisions : tuple of float
    basis : ndarray of shape (d, n_slopes), optional
        Directions in which a leaf is linear, where these are not the features themselves. The longer a direction, the
        larger the slopes along it are a priori.
    span : ndarray of shape (d, r), optional
        Orthonormal directions in which rows vary. Slopes across them keep their prior.
    is_tuned : bool, default=False
        True if the prior is chosen by the evidence of the leaves of a tree: the typical variance of the noise, rate /
        shape; by the shape, how much leaves differ in it; and one factor for all precisions of offset and slopes.
    least_noise : float, default=1e-8
        The smallest typical variance that is chosen, in parts of the variance of the targets.

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
    is_tuned: bool = False
    least_noise: float = 1e-8

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
        positive = {name: getattr(self, name) for name in ("scale", "offset_precision", "rate", "least_noise")}
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
    def is_categorical(self) -> bool:
        return False

    @property
    def n_statistics(self) -> int:
        return (self.n_slopes + 2) * (self.n_slopes + 3) // 2

    def row_statistics(self, design: Floats | None, targets: Any) -> Floats:
        """Products of all pairs from y and (1, x), with y in standard units.

        Targets (n, 2) are means and variances of targets that are not known exactly; statistics are then their
        expectations.
        """
        mean, variance = self._in_standard_units(targets)
        columns = np.ones((1, len(mean)))
        if self.uses_design:
            assert design is not None
            width = self.n_slopes if self.basis is None else len(self.basis)
            if len(design) != 1 + width:
                raise ValueError(f"{self!r} is linear in {width} columns, but X has {len(design) - 1}.")
            columns = self._columns(design)
        first, second = upper_triangle(len(columns))
        statistics = np.empty((self.n_statistics, len(mean)))
        np.add(mean**2, variance, out=statistics[0])
        np.multiply(columns, mean, out=statistics[1 : 1 + len(columns)])
        np.multiply(columns[first], columns[second], out=statistics[1 + len(columns) :])
        return statistics.T

    def _in_standard_units(self, targets: Any) -> tuple[Floats, Floats | float]:
        """Means and variances of targets (n,) that are known, or (n, 2) that are not."""
        targets = np.asarray(targets, dtype=np.float64)
        if targets.ndim == 1:
            return (targets - self.center) / self.scale, 0.0
        mean, variance = targets.T
        return (mean - self.center) / self.scale, variance / self.scale / self.scale

    def _columns(self, design: Floats) -> Floats:
        """The ones and the directions in which the mean is linear, (1 + n_slopes, n); (1, 1) for constant leaves."""
        if not self.uses_design:
            return np.ones((1, 1))
        return design if self.basis is None else np.concatenate([design[:1], self.basis.T @ design[1:]])

    @property
    def compiled_form(self) -> CompiledForm:
        """How compiled code computes the leaves."""
        numbers = self.scale, self.offset_precision, self.shape, self.rate, self._precisions
        return CompiledForm("normal", (self.n_slopes, *numbers))

    def target_moments(self, targets: Any) -> Floats:
        """Means and variances of targets in standard units, (2, n)."""
        mean, variance = self._in_standard_units(targets)
        return np.stack([mean, np.broadcast_to(variance, mean.shape)])

    def column_basis(self, n_columns: int) -> Floats | None:
        """Directions (columns, slopes) in which leaves are linear; None where they are constant."""
        if not self.uses_design:
            return None
        return np.eye(n_columns) if self.basis is None else self.basis

    def mean_coefficients(self, statistics: Floats) -> Floats:
        """Offset and slopes (1 + slopes,) of the mean of a leaf (k,), in standard units."""
        return self._posterior(statistics).average

    def are_possible(self, statistics: Floats) -> NDArray[np.bool_]:
        """Sums of squares are not negative, in any direction."""
        gram = unpack_symmetric(statistics, self.n_slopes + 2)
        is_finite = np.asarray(np.isfinite(gram).all(axis=(-1, -2)))
        gram = np.where(is_finite[..., None, None], gram, 0.0)
        squares = np.diagonal(gram, axis1=-2, axis2=-1)
        # Each column in units of its root mean square, so that large targets do not hide that others are impossible.
        root = np.sqrt(np.where(squares > 0, squares, 1.0))
        sizes = np.linalg.eigvalsh(gram / (root[..., :, None] * root[..., None, :]))
        return np.asarray(is_finite & (squares >= 0).all(axis=-1) & (sizes[..., 0] >= -1e-9))

    def counts(self, statistics: Floats) -> Floats:
        """The product of the ones."""
        return np.asarray(statistics[..., self.n_slopes + 2])

    @cached_property
    def _prior(self) -> LinearPrior:
        return LinearPrior(self.offset_precision, self.shape, self.rate, self._precisions)

    @property
    def _precisions(self) -> Floats:
        return np.array(self.slope_precisions if self.n_slopes else (1.0,))

    def _posterior(self, statistics: Floats) -> LinearPosterior:
        return self._prior.posterior(statistics, self.n_slopes, self.scale)

    def log_evidence(self, statistics: Floats) -> Floats:
        """That of a Bayesian linear regression, summed over slope precisions."""
        log_evidence = self._posterior(statistics).log_evidence
        top = log_evidence.max(axis=-1)
        return np.asarray(top + np.log(np.exp(log_evidence - top[..., None]).sum(axis=-1)))

    def with_estimated_prior(self, statistics: Floats) -> NormalLinear:
        """The family with the prior of highest evidence in leaves (leaves, k), if it is tuned."""
        if not self.is_tuned:
            return self
        before = LinearPrior(self.offset_precision, self.shape, self.rate, np.array(self.slope_precisions))

        def posterior(prior: LinearPrior) -> LinearPosterior:
            return self._with_prior(prior)._posterior(statistics)

        prior = estimate_prior(before, posterior, self.counts(statistics), self.least_noise)
        return self if prior is before else self._with_prior(prior)

    def _with_prior(self, prior: LinearPrior) -> NormalLinear:
        return replace(self, **(prior._asdict() | {"slope_precisions": tuple(prior.slope_precisions.tolist())}))

    def expected_parameters(self, statistics: Floats) -> Floats:
        """E_q of -1/2, offset and slopes, and minus half their products, each over the variance."""
        posterior = self._posterior(statistics)
        weight, mean = posterior.weight, posterior.mean
        precision = weight * posterior.shape[..., None] / posterior.rate
        scaled = np.sqrt(precision)[..., None] * mean
        second = scaled.swapaxes(-1, -2) @ scaled + (weight[..., None, None] * posterior.covariance).sum(axis=-3)
        rows, columns = upper_triangle(self.n_slopes + 1)
        out = np.empty(np.shape(statistics))
        out[..., 0] = -0.5 * precision.sum(axis=-1)
        out[..., 1 : 2 + self.n_slopes] = (precision[..., None] * mean).sum(axis=-2)
        products = out[..., 2 + self.n_slopes :]
        np.multiply(second[..., rows, columns], np.where(rows == columns, -0.5, -1.0), out=products)
        log_variance = (weight * np.log(posterior.rate)).sum(axis=-1) - digamma(posterior.shape)
        products[..., 0] -= 0.5 * (LOG_2PI + log_variance) + np.log(self.scale)
        return out

    def unexplained_potential(self, statistics: Floats) -> Floats:
        """Log evidence that would be gained if all residuals vanished."""
        posterior = self._posterior(statistics)
        return np.asarray(posterior.shape * np.log(posterior.rate.min(axis=-1) / self.rate))

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
        of_mean = quadratic_forms(posterior.covariance[leaf, precision], columns)
        of_mean += self._unseen(design) / self._precisions[precision, None]
        squared = variance[:, None] * (1.0 + of_mean)
        dof = 2.0 * posterior.shape[leaf, None]
        if spread is not None:
            # The variance of Student's t is larger than the square of its scale.
            squared = squared + (1.0 - 2.0 / dof) * spread(self._slopes(posterior.mean[leaf, precision, 1:]))
        components = StudentT(dof, self.center + self.scale * location, self.scale * np.sqrt(squared))
        return Mixture(weight[:, None] * membership[leaf], components)

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
        of_mean = quadratic_forms(posterior.covariance, columns) + self._unseen(design) / self._precisions[:, None]
        of_mean = (weight * variance)[..., None] * of_mean
        of_mean = (of_mean + weight[..., None] * (mean - leaf_mean[:, None]) ** 2).sum(axis=1)
        by_gaps: Floats | float = 0.0
        if spread is not None:
            by_gaps = (weight[..., None] * spread(self._slopes(posterior.mean[..., 1:]))).sum(axis=1)
        squared = self.scale**2
        return Uncertainty.of_numbers(
            membership, self.scale * leaf_mean, squared * noise[:, None], squared * of_mean, squared * by_gaps
        )

    def with_slopes(self, basis: Floats) -> NormalLinear:
        """The family with leaves that are linear along the columns of a basis (d, s)."""
        return replace(self, n_slopes=basis.shape[1], basis=basis)

    def restored(self, axes: Floats) -> NormalLinear:
        """The family for the columns of a table that was rotated to axes (d, r)."""
        if self.basis is None:
            return self
        span = axes if axes.shape[1] < len(axes) else None
        return replace(self, basis=axes @ self.basis, span=span)

    def _slopes(self, slopes: Floats) -> Floats:
        """Slopes (..., d) by feature from those (..., n_slopes) along the basis."""
        return slopes if self.basis is None else slopes @ self.basis.T

    def _unseen(self, design: Floats) -> Floats:
        """Squared distance (n,) of rows from the directions of `span`, across which slopes keep their prior."""
        if not self.uses_design or self.span is None:
            return np.zeros(1)
        inside = self.span.T @ design[1:]
        return np.asarray(np.maximum((design[1:] ** 2).sum(axis=0) - (inside**2).sum(axis=0), 0.0))

    def interval(self, statistics: Floats, level: float) -> tuple[Floats, Floats, Floats]:
        """Posterior mean and central interval of the mean of the target in a leaf (k,), at the centre of its rows.

        It is that of a mixture of Student's t, one for each slope precision.
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

    def middle(self, statistics: Floats) -> Floats:
        """Design (D + 1, 1) of the centre of the rows of a linear leaf (k,)."""
        count = max(float(self.counts(statistics)), np.finfo(float).tiny)
        place = statistics[3 + self.n_slopes : 3 + 2 * self.n_slopes] / count
        features = place if self.basis is None else np.linalg.pinv(self.basis.T) @ place
        return np.append(1.0, features)[:, None]

    def coefficients(self, statistics: Floats) -> Floats:
        """Offset and slopes (D + 1,) of the mean of a leaf (k,) in the units of the targets; (1,) for a constant."""
        return self._coefficients(self._posterior(statistics))

    def _coefficients(self, posterior: LinearPosterior) -> Floats:
        mean = self.scale * posterior.average
        mean[0] += self.center
        return np.append(mean[:1], self._slopes(mean[1:])) if self.uses_design else mean

    def describe(self, statistics: Floats, names: Sequence[str], linear: Callable[[Floats], str]) -> str:
        """Mean, as a function of the features for linear leaves, and standard deviation about it."""
        posterior = self._posterior(statistics)
        deviation = self.scale * np.sqrt(posterior.weight @ posterior.rate / (posterior.shape - 1.0))
        return f"{names[0]} = {linear(self._coefficients(posterior))} ± {deviation:.3g}"

    @property
    def scan_family(self) -> NormalLinear:
        """One slope and one slope precision: a scan compares thresholds, for which a weak prior is enough."""
        return replace(self, n_slopes=1, center=0.0, scale=1.0, slope_precisions=(1.0,), basis=None, span=None)

    def residuals(self, design: Floats, targets: Any, statistics: Floats) -> Floats:
        """Means and variances (n, 2) in standard units."""
        posterior = self._posterior(statistics)
        mean, variance = self._in_standard_units(targets)
        mean = mean - posterior.average @ self._columns(design)
        return np.column_stack([mean, np.broadcast_to(variance, mean.shape)])

    def slope_gains(self, statistics: Floats) -> Floats:
        """Log evidence that a linear leaf has more than a constant one, shared out by the size of slopes."""
        posterior = self._posterior(statistics)
        constant = replace(self, n_slopes=0, basis=None, span=None)
        of_constant = np.concatenate([statistics[:, :2], statistics[:, 2 + self.n_slopes, None]], axis=1)
        gains = np.maximum(self.log_evidence(statistics) - constant.log_evidence(of_constant), 0.0)
        slopes = np.abs(self._slopes(posterior.average[:, 1:]))
        return np.asarray(gains[:, None] * slopes / np.maximum(slopes.sum(axis=1, keepdims=True), 1e-300))
