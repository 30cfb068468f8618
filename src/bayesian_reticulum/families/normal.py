"""Numbers with normal noise about a constant or a linear function of the features."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import digamma, gammaln

from ..arrays import Floats, frozen, refreeze, unpack_symmetric, upper_triangle
from ..distributions import Mixture, StudentT, Uncertainty
from .linear_posterior import LinearPosterior, eigh, quadratic_forms
from .protocol import Spread

_LOG_2PI = float(np.log(2 * np.pi))
# Slope precisions that a leaf believes in less than this do not show in its predictions.
_NEGLIGIBLE_WEIGHT = 1e-12


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
    def is_categorical(self) -> bool:
        return False

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
        first, second = upper_triangle(len(columns))
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
        rows, columns = upper_triangle(self.n_slopes + 1)
        out = np.empty(np.shape(statistics))
        out[..., 0] = -0.5 * precision.sum(axis=-1)
        out[..., 1 : 2 + self.n_slopes] = (precision[..., None] * mean).sum(axis=-2)
        products = out[..., 2 + self.n_slopes :]
        np.multiply(second[..., rows, columns], np.where(rows == columns, -0.5, -1.0), out=products)
        log_variance = (weight * np.log(posterior.rate)).sum(axis=-1) - digamma(posterior.shape)
        products[..., 0] -= 0.5 * (_LOG_2PI + log_variance) + np.log(self.scale)
        return out

    def _posterior(self, statistics: Floats) -> LinearPosterior:
        """What a leaf believes, for each slope precision."""
        d = self.n_slopes
        square, target_sum, with_target = statistics[..., 0], statistics[..., 1], statistics[..., 2 : 2 + d]
        count, sums, products = statistics[..., 2 + d], statistics[..., 3 + d : 3 + 2 * d], statistics[..., 3 + 2 * d :]
        total = self.offset_precision + count
        # The offset is integrated out first, then the slopes, along axes on which they are independent.
        by_offset = sums / total[..., None]
        sizes, axes = eigh(unpack_symmetric(products, d) - sums[..., :, None] * by_offset[..., None, :])
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
        return LinearPosterior(log_evidence, shape, rate, total, sums, target_sum, along, axes, inverse)

    def are_possible(self, statistics: Floats) -> NDArray[np.bool_]:
        """No sum of squares is negative, in any direction."""
        gram = unpack_symmetric(statistics, self.n_slopes + 2)
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
        doubt = quadratic_forms(posterior.covariance[leaf, precision], columns)
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

    def interval(self, statistics: Floats, level: float) -> tuple[Floats, Floats, Floats]:
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
        doubt = quadratic_forms(posterior.covariance, columns) + self._unseen(design) / self._precisions[:, None]
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
        deviation = self.scale * np.sqrt(posterior.weight @ posterior.rate / (posterior.shape - 1.0))
        return f"{names[0]} = {linear(self._coefficients(posterior))} ± {deviation:.3g}"

    def coefficients(self, statistics: Floats) -> Floats:
        """Offset and slopes (D + 1,) of the mean of a leaf (k,) in the units of the targets; (1,) for a constant."""
        return self._coefficients(self._posterior(statistics))

    def _coefficients(self, posterior: LinearPosterior) -> Floats:
        mean = self.scale * posterior.average
        mean[0] += self.center
        return np.append(mean[:1], self._slopes(mean[1:])) if self.uses_design else mean

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
