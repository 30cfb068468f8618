"""The predictive distribution of a number."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..arrays import Floats, Integers, frozen, refreeze
from .checks import (
    as_columns,
    check,
    checked_levels,
    checked_probabilities,
    choose,
    counted,
    cumulate,
    interval_ends,
    random_generator,
)
from .components import Components
from .solver import LARGEST, ROUNDING, solve_cdf
from .student import StudentT
from .student_quantiles import student_solver

# Pairs of a row and a number are evaluated in blocks of so many floats, so that arrays (C, pairs) fit in the cache.
_BLOCK_FLOATS = 1 << 15


@dataclass(frozen=True, eq=False, repr=False)
class Mixture:
    """The predictive distribution of a number for each of n rows.

    Numbers `y` are a scalar or (n,), with results of shape (n,), or (n, m) or (1, m), with results of shape (n, m).
    `mixture[rows]` is the mixture of these rows alone.

    Parameters
    ----------
    weights : array of shape (C, n)
        Probability of each component; a row's sum to 1.
    components : Components

    Examples
    --------
    >>> import numpy as np
    >>> from bayesian_reticulum import Mixture, StudentT
    >>> leaves = StudentT(dof=[[5.0], [50.0]], location=[[0.0], [10.0]], scale=[[1.0], [1.0]])
    >>> prediction = Mixture(weights=[[1.0, 0.5], [0.0, 0.5]], components=leaves)
    >>> prediction
    <Mixture: 2 rows, 2 components>
    >>> prediction.mean
    array([0., 5.])
    >>> lower, upper = prediction.interval(0.9)
    >>> lower.round(2), upper.round(2)
    (array([-2.02, -1.48]), array([ 2.02, 11.3 ]))
    >>> prediction.cdf(prediction.quantile([0.1, 0.9])).round(6)
    array([[0.1, 0.9],
           [0.1, 0.9]])
    """

    weights: Floats
    components: Components

    def __post_init__(self) -> None:
        weights = checked_probabilities(self.weights, "weights", "components", axis=0)
        object.__setattr__(self, "weights", frozen(weights))
        shape = np.shape(self.components.mean)
        if shape not in (weights.shape, (len(weights), 1)):
            raise ValueError(f"weights have shape {weights.shape} and components {shape}; give one weight for each.")

    __setstate__ = refreeze

    @property
    def mean(self) -> Floats:
        """Mean of each row, shape (n,)."""
        return self._average(self.components.mean)

    @property
    def std(self) -> Floats:
        """Standard deviation of each row, shape (n,); infinite where the variance of a component is."""
        with np.errstate(over="ignore", invalid="ignore"):
            squares = self.components.variance + (self.components.mean - self.mean) ** 2
        # The variance about a mean that is infinite or does not exist is infinite.
        return np.sqrt(self._average(np.where(np.isnan(squares), np.inf, squares)))

    def pdf(self, y: Any) -> Floats:
        """Density at `y`; of counts the probability of `y`."""
        with np.errstate(over="ignore"):
            return np.exp(self.logpdf(y))

    def logpdf(self, y: Any) -> Floats:
        """Log of `pdf`."""
        return self._evaluate(_log_density, y)

    def pmf(self, y: Any) -> Floats:
        """Probability of the count `y`."""
        return np.exp(self.logpmf(y))

    def logpmf(self, y: Any) -> Floats:
        """Log of `pmf`."""
        if not self.components.is_discrete:
            raise ValueError("this distribution is continuous and gives no number a probability; take pdf or logpdf.")
        return self.logpdf(y)

    def cdf(self, y: Any) -> Floats:
        """Probability of at most `y`."""
        return self._evaluate(_cumulative, y)

    def quantile(self, q: Any) -> Floats:
        """Number whose `cdf` is `q`, shape (n,), or (n, m) for m probabilities.

        The `cdf` there is within 1e-9 min(q, 1 - q) of `q`, or as near as floats come. Of counts it is the smallest
        whose `cdf` is at least `q`.
        """
        levels, is_scalar = checked_levels(q)
        result = np.empty((len(self), len(levels)))
        inner = np.where((levels > 0) & (levels < 1), levels, 0.5)
        solve = _solver(self.components, inner, result.size)
        for place, weights, components, columns in self._blocks(len(levels)):
            result.flat[place] = solve(weights, components, inner[columns], columns)
        result[:, levels == 0] = 0.0 if self.components.is_discrete else -np.inf
        result[:, levels == 1] = np.inf
        return result[:, 0] if is_scalar else result

    def interval(self, level: float) -> tuple[Floats, Floats]:
        """Lower and upper end of the central interval that holds `level` of the probability."""
        lower, upper = self.quantile(interval_ends(level)).T
        return lower, upper

    def sample(self, n: int, random_state: Any = None) -> Floats:
        """Draw `n` numbers for each row, shape (rows, n)."""
        rng = random_generator(random_state)
        components = choose(cumulate(self.weights.T), n, rng)
        rows = np.broadcast_to(np.arange(len(self))[:, None], components.shape)
        return self.components.draw(components, rows, rng)

    def __getitem__(self, rows: Any) -> Mixture:
        rows = np.atleast_1d(rows) if isinstance(rows, int | np.integer) else rows
        return Mixture(self.weights[:, rows], self.components[rows])

    def __len__(self) -> int:
        return int(self.weights.shape[1])

    def __repr__(self) -> str:
        return f"<Mixture: {counted(len(self), 'row')}, {counted(len(self.weights), 'component')}>"

    def _average(self, values: Floats) -> Floats:
        """Values (C, n) averaged over components by weight, (n,)."""
        # A component without weight may be infinite.
        return np.asarray((self.weights * np.where(self.weights > 0, values, 0.0)).sum(axis=0))

    def _blocks(self, m: int) -> Iterator[tuple[slice, Floats, Components, Integers]]:
        """Weights and components of each pair of a row and one of m columns, some pairs at a time."""
        size = max(64, _BLOCK_FLOATS // len(self.weights))
        for start in range(0, len(self) * m, size):
            place = slice(start, min(start + size, len(self) * m))
            rows, columns = np.divmod(np.arange(place.start, place.stop), m)
            # `take`, unlike an index, leaves the numbers of a component next to each other in memory.
            weights = self.weights[:, place] if m == 1 else self.weights.take(rows, axis=1)
            yield place, weights, self.components[place if m == 1 else rows], columns

    def _evaluate(self, method: Callable[[Floats, Components, Floats], Floats], y: Any) -> Floats:
        """A function of weights (C, p), components of p rows and numbers (p,), for all rows and `y`."""
        table, is_column = as_columns(np.asarray(y, dtype=np.float64), len(self))
        check(~np.isnan(table), table, "y", "give a number for each row")
        flat, result = table.reshape(-1), np.empty(table.shape)
        for place, weights, components, _ in self._blocks(table.shape[1]):
            result.flat[place] = method(weights, components, flat[place])
        return result[:, 0] if is_column else result


def _log_density(weights: Floats, components: Components, y: Floats) -> Floats:
    """Log density of mixtures at `y` (p,); of counts the log probability."""
    is_possible = (y >= 0) & (y < np.inf) & (np.floor(y) == y) if components.is_discrete else np.full(y.shape, True)
    with np.errstate(divide="ignore", over="ignore"):
        terms = components.logpdf(np.where(is_possible, y, 0.0)) + np.log(weights)
        peak = terms.max(axis=0)
        peak = np.where(np.isfinite(peak), peak, 0.0)
        return np.where(is_possible, peak + np.log(np.exp(terms - peak).sum(axis=0)), -np.inf)


def _cumulative(weights: Floats, components: Components, y: Floats) -> Floats:
    """Probability of at most `y` (p,) in mixtures."""
    if not components.is_discrete:
        return np.asarray((weights * components.cdf(y)).sum(axis=0))
    is_count = (y >= 0) & (y < np.inf)
    total = (weights * components.cdf(np.floor(np.where(is_count, y, 0.0)))).sum(axis=0)
    return np.where(is_count, total, y > 0)


def _solver(components: Components, levels: Floats, n_pairs: int) -> Callable[..., Floats]:
    """The function that computes quantiles of mixtures of these components.

    It takes weights (C, p), components and levels (p,) of p pairs of a row and a level, and the places of the levels
    among all. `n_pairs` is the number of pairs of all calls.
    """
    if not isinstance(components, StudentT):
        return _solve_counts if components.is_discrete else _solve_numbers
    solve = student_solver(components.dof, levels, n_pairs)
    return lambda weights, student, q, columns: solve(weights, student.location, student.scale, q, columns)


def _solve_counts(weights: Floats, components: Components, q: Floats, columns: Integers) -> Floats:
    """The smallest whole number whose cdf is at least q."""
    low, high = np.full(len(q), -1.0), np.ceil(_beyond(weights, components, q, 1.0))
    while True:
        middle = np.floor(0.5 * low + 0.5 * high)
        if not np.any(between := (low < middle) & (middle < high)):
            return high
        is_enough = _cumulative(weights, components, middle) >= q * (1.0 - ROUNDING)
        low, high = np.where(between & ~is_enough, middle, low), np.where(between & is_enough, middle, high)


def _solve_numbers(weights: Floats, components: Components, q: Floats, columns: Integers) -> Floats:
    """The number whose cdf is q."""

    def evaluate(x: Floats, rows: Integers) -> tuple[Floats, Floats]:
        some, part = weights[:, rows], components[rows]
        return _cumulative(some, part, x), np.exp(_log_density(some, part, x))

    low, high = _beyond(weights, components, q, -1.0), _beyond(weights, components, q, 1.0)
    return solve_cdf(evaluate, q, 0.5 * low + 0.5 * high, low, high)


def _beyond(weights: Floats, components: Components, q: Floats, side: float) -> Floats:
    """A number on the given side of the quantile, or the last float there."""
    with np.errstate(all="ignore"):
        mean, spread = (weights * components.mean).sum(axis=0), np.sqrt((weights * components.variance).sum(axis=0))
        mean = np.where(np.isfinite(mean), mean, 0.0)
        spread = np.where(np.isfinite(spread) & (spread > 0), spread, np.maximum(np.abs(mean), 1.0))
        x = mean + side * spread
        for factor in 2.0**2.0 ** np.arange(11):
            is_short = (_cumulative(weights, components, x) < q) == (side > 0)
            if not is_short.any():
                break
            x = np.where(is_short, np.clip(mean + side * spread * factor, -LARGEST, LARGEST), x)
    return np.asarray(x)
