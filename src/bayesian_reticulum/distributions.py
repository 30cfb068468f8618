"""Predictive distributions: what a model believes about the target of each row.

Numbers are predicted by a `Mixture`, one component for each leaf (or for each belief within a leaf); classes by a
`ClassDistribution`. Both have the same methods, so that code can be written for either. A new family of numbers
brings its own `Components`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtr
from sklearn.utils import check_random_state

from .quantiles import LARGEST, ROUNDING, log_student_density, solved, student_solver
from .tree import Floats, Integers, frozen, refreeze

_BLOCK_FLOATS = 1 << 15


class Components(Protocol):
    """A distribution of one number for each of C components and n rows.

    Arrays have shape (C, n), or (C, 1) where all rows are alike.
    """

    @property
    def is_discrete(self) -> bool:
        """Whether the numbers are counts: whole and not negative."""
        ...

    @property
    def mean(self) -> Floats: ...

    @property
    def variance(self) -> Floats:
        """May be infinite."""
        ...

    def logpdf(self, y: Floats) -> Floats:
        """Log density at `y`, which broadcasts to (C, n) and may be infinite; of counts the log probability of `y`."""
        ...

    def cdf(self, y: Floats) -> Floats:
        """Probability of at most `y`, which broadcasts to (C, n) and may be infinite, though not for counts."""
        ...

    def draw(self, components: Integers, rows: Integers, rng: np.random.Generator) -> Floats:
        """One draw for each pair of a component and a row, arrays of the same shape."""
        ...

    def __getitem__(self, rows: Any) -> Self:
        """The components of these rows (a slice, a mask or integers); arrays of shape (C, 1) stay as they are."""
        ...


@dataclass(frozen=True, eq=False, repr=False)
class StudentT:
    """Student's t distributions, with degrees of freedom that do not depend on the row.

    Parameters
    ----------
    dof : array of shape (C, 1)
    location, scale : array of shape (C, n) or (C, 1)

    Examples
    --------
    >>> import numpy as np
    >>> from bayesian_reticulum import StudentT
    >>> components = StudentT(dof=[[4.0], [9.0]], location=[[0.0], [1.0]], scale=[[1.0], [2.0]])
    >>> components.cdf(np.array([[0.0], [1.0]]))
    array([[0.5],
           [0.5]])
    >>> components.variance.round(3)
    array([[2.   ],
           [5.143]])
    """

    dof: Floats
    location: Floats
    scale: Floats

    is_discrete = False

    def __post_init__(self) -> None:
        for field in ("dof", "location", "scale"):
            array = frozen(getattr(self, field))
            object.__setattr__(self, field, array)
            if array.ndim != 2 or len(array) != len(self.dof) or (field == "dof" and array.shape[1] != 1):
                width = "1" if field == "dof" else "rows or 1"
                raise ValueError(f"{field} has shape {array.shape}; it needs ({len(self.dof)} components, {width}).")
            good = np.isfinite(array) if field == "location" else (array > 0) & (array < np.inf)
            _check(good, array, field, "give a finite number" + " above 0" * (field != "location"))

    __setstate__ = refreeze

    @property
    def mean(self) -> Floats:
        """Location; undefined, as NaN, with one degree of freedom or less."""
        return np.where(self.dof > 1, self.location, np.nan)

    @property
    def variance(self) -> Floats:
        """Infinite with two degrees of freedom or less."""
        with np.errstate(over="ignore"):
            factor = np.where(self.dof > 2, self.dof / np.where(self.dof > 2, self.dof - 2, 1.0), np.inf)
            return np.asarray(self.scale**2 * factor)

    def logpdf(self, y: Floats) -> Floats:
        return log_student_density(self.dof, self._standardised(y)) - np.log(self.scale)

    def cdf(self, y: Floats) -> Floats:
        z = self._standardised(y)
        tail = stdtr(self.dof, -np.abs(z))
        return np.asarray(np.where(z > 0, 1.0 - tail, tail))

    def draw(self, components: Integers, rows: Integers, rng: np.random.Generator) -> Floats:
        location, scale = (
            array[components, rows if array.shape[1] != 1 else 0] for array in (self.location, self.scale)
        )
        return np.asarray(location + scale * rng.standard_t(self.dof[components, 0]))

    def __getitem__(self, rows: Any) -> StudentT:
        return StudentT(self.dof, _of_rows(self.location, rows), _of_rows(self.scale, rows))

    def __repr__(self) -> str:
        return f"<StudentT: {len(self.dof)} components>"

    def _standardised(self, y: Floats) -> Floats:
        with np.errstate(over="ignore"):
            return np.asarray((y - self.location) / self.scale)


@dataclass(frozen=True, eq=False, repr=False)
class Mixture:
    """The predictive distribution of a number for each of n rows.

    Numbers `y` are a scalar or (n,), with answers of shape (n,), or (n, m) or (1, m), with answers of shape (n, m).
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
        weights = _probabilities(self.weights, "weights", "components", axis=0)
        object.__setattr__(self, "weights", frozen(weights))
        shape = np.shape(self.components.mean)
        if shape not in (weights.shape, (len(weights), 1)):
            raise ValueError(f"weights have shape {weights.shape} and components {shape}; give one weight for each.")

    __setstate__ = refreeze

    @property
    def mean(self) -> Floats:
        """Shape (n,)."""
        return self._average(self.components.mean)

    @property
    def std(self) -> Floats:
        """Shape (n,); infinite where a component's variance is."""
        with np.errstate(over="ignore", invalid="ignore"):
            squares = self.components.variance + (self.components.mean - self.mean) ** 2
        # Without a mean, or with an infinite one, there is no end to the spread.
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
        levels, is_scalar = _checked_levels(q)
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
        lower, upper = self.quantile(_ends(level)).T
        return lower, upper

    def sample(self, n: int, random_state: Any = None) -> Floats:
        """`n` draws for each row, shape (rows, n)."""
        rng = generator(random_state)
        chosen = _choose(_cumulated(self.weights.T), n, rng)
        rows = np.broadcast_to(np.arange(len(self))[:, None], chosen.shape)
        return self.components.draw(chosen, rows, rng)

    def __getitem__(self, rows: Any) -> Mixture:
        rows = np.atleast_1d(rows) if isinstance(rows, int | np.integer) else rows
        return Mixture(self.weights[:, rows], self.components[rows])

    def __len__(self) -> int:
        return int(self.weights.shape[1])

    def __repr__(self) -> str:
        return f"<Mixture: {_counted(len(self), 'row')}, {_counted(len(self.weights), 'component')}>"

    def _average(self, values: Floats) -> Floats:
        # A component without weight may be infinite.
        return np.asarray((self.weights * np.where(self.weights > 0, values, 0.0)).sum(axis=0))

    def _blocks(self, m: int) -> Iterator[tuple[slice, Floats, Components, Integers]]:
        """Weights and components of each pair of a row and one of m columns, some pairs at a time."""
        size = max(64, _BLOCK_FLOATS // len(self.weights))
        for start in range(0, len(self) * m, size):
            place = slice(start, min(start + size, len(self) * m))
            rows, columns = np.divmod(np.arange(place.start, place.stop), m)
            # `take`, unlike an index, leaves the numbers of a component side by side.
            weights = self.weights[:, place] if m == 1 else self.weights.take(rows, axis=1)
            yield place, weights, self.components[place if m == 1 else rows], columns

    def _evaluate(self, method: Callable[[Floats, Components, Floats], Floats], y: Any) -> Floats:
        table, is_column = _columns(np.asarray(y, dtype=np.float64), len(self))
        _check(~np.isnan(table), table, "y", "give a number for each row")
        flat, result = table.reshape(-1), np.empty(table.shape)
        for place, weights, components, _ in self._blocks(table.shape[1]):
            result.flat[place] = method(weights, components, flat[place])
        return result[:, 0] if is_column else result


@dataclass(frozen=True, eq=False, repr=False)
class ClassDistribution:
    """The predictive distribution of a class for each of n rows.

    Labels `y` are a scalar or (n,), with answers of shape (n,), or (n, m) or (1, m), with answers of shape (n, m).

    Parameters
    ----------
    classes : array of shape (k,)
        Labels, in their order.
    probabilities : array of shape (n, k)

    Examples
    --------
    >>> from bayesian_reticulum import ClassDistribution
    >>> prediction = ClassDistribution(["high", "low"], [[0.25, 0.75], [0.5, 0.5]])
    >>> prediction.pmf("low")
    array([0.75, 0.5 ])
    >>> prediction.quantile(0.5)
    array(['low', 'high'], dtype='<U4')
    """

    classes: NDArray[Any]
    probabilities: Floats

    def __post_init__(self) -> None:
        classes = np.array(self.classes)
        classes.setflags(write=False)
        object.__setattr__(self, "classes", classes)
        probabilities = _probabilities(self.probabilities, "probabilities", "classes", axis=1)
        object.__setattr__(self, "probabilities", frozen(probabilities))
        if len(set(classes.tolist())) < classes.size:
            raise ValueError(f"classes are {classes}; give each label once.")
        if classes.shape != probabilities.shape[1:]:
            raise ValueError(
                f"probabilities have shape {probabilities.shape}; they need one column for each of {classes}."
            )

    __setstate__ = refreeze

    @property
    def mean(self) -> Floats:
        """Mean of the one-hot target: the probabilities, shape (n, k)."""
        return self.probabilities

    @property
    def std(self) -> Floats:
        """Standard deviation of the one-hot target, shape (n, k)."""
        return np.sqrt(self.probabilities * np.maximum(1.0 - self.probabilities, 0.0))

    def pmf(self, y: Any) -> Floats:
        """Probability of the label `y`."""
        return self._look_up(self.probabilities, y)

    def logpmf(self, y: Any) -> Floats:
        """Log of `pmf`."""
        with np.errstate(divide="ignore"):
            return np.log(self.pmf(y))

    def pdf(self, y: Any) -> Floats:
        """`pmf` under the name that numbers use."""
        return self.pmf(y)

    def logpdf(self, y: Any) -> Floats:
        """`logpmf` under the name that numbers use."""
        return self.logpmf(y)

    def cdf(self, y: Any) -> Floats:
        """Probability of the label `y` and those before it."""
        return self._look_up(_cumulated(self.probabilities), y)

    def quantile(self, q: Any) -> NDArray[Any]:
        """First label whose `cdf` is at least `q`, shape (n,), or (n, m) for m probabilities."""
        levels, is_scalar = _checked_levels(q)
        cumulated = _cumulated(self.probabilities)
        below = [(cumulated < level * (1.0 - ROUNDING)).sum(axis=1) for level in levels]
        labels = self.classes[np.array(below, dtype=np.int64).reshape(len(levels), len(self)).T]
        return np.asarray(labels[:, 0] if is_scalar else labels)

    def interval(self, level: float) -> tuple[NDArray[Any], NDArray[Any]]:
        """First and last label of the central interval with at least `level`: meaningful for ordered classes only."""
        lower, upper = self.quantile(_ends(level)).T
        return lower, upper

    def sample(self, n: int, random_state: Any = None) -> NDArray[Any]:
        """`n` labels for each row, shape (rows, n)."""
        return np.asarray(self.classes[_choose(_cumulated(self.probabilities), n, generator(random_state))])

    def __getitem__(self, rows: Any) -> ClassDistribution:
        rows = np.atleast_1d(rows) if isinstance(rows, int | np.integer) else rows
        return ClassDistribution(self.classes, self.probabilities[rows])

    def __len__(self) -> int:
        return len(self.probabilities)

    def __repr__(self) -> str:
        return f"<ClassDistribution: {_counted(len(self), 'row')}, {_counted(len(self.classes), 'class', 'classes')}>"

    def _look_up(self, values: Floats, y: Any) -> Floats:
        table, is_column = _columns(np.asarray(y), len(self))
        codes = {label: code for code, label in enumerate(self.classes.tolist())}
        found = np.array([codes.get(label, -1) for label in table.reshape(-1).tolist()], dtype=np.int64)
        found = found.reshape(table.shape)
        _check(found >= 0, table, "y", f"the known labels are {', '.join(map(repr, codes))}")
        result = np.take_along_axis(values, found, axis=1)
        return result[:, 0] if is_column else result


def _counted(n: int, one: str, many: str = "") -> str:
    return f"{n} {one if n == 1 else many or one + 's'}"


def _check(good: NDArray[np.bool_], values: NDArray[Any], name: str, remedy: str) -> None:
    if not good.all():
        place = tuple(int(i) for i in np.argwhere(~good)[0])
        value = values[place].item() if isinstance(values[place], np.generic) else values[place]
        shown = place[:1] if values.shape[1:] == (1,) else place
        raise ValueError(f"{name}[{', '.join(map(str, shown))}] is {value!r}; {remedy}.")


def _probabilities(values: Any, name: str, of: str, axis: int) -> Floats:
    """Probabilities that sum to one along the axis, and do so to the last digits."""
    given: Floats = np.asarray(values, dtype=np.float64)
    if given.ndim != 2 or given.shape[axis] == 0:
        shape = f"({of}, rows)" if axis == 0 else f"(rows, {of})"
        raise ValueError(f"{name} have shape {given.shape}; they need {shape}.")
    _check((given >= 0) & (given <= 1 + 1e-6), given, name, "give probabilities between 0 and 1")
    sums = given.sum(axis=axis, keepdims=True)
    off = np.abs(sums - 1).reshape(-1)
    if np.any(off > 1e-6):
        row = int(np.argmax(off > 1e-6))
        raise ValueError(f"the {name} of row {row} sum to {sums.flat[row]}; divide them by their sum.")
    # Those of some rows of another distribution are left as they are.
    return given if np.all(off <= ROUNDING) else np.asarray(given / sums)


def _columns(y: NDArray[Any], n: int) -> tuple[NDArray[Any], bool]:
    """`y` as a table (n, m), and whether answers are to be of shape (n,)."""
    if y.ndim == 0 or y.shape == (n,):
        return np.broadcast_to(y.reshape(-1, 1), (n, 1)), True
    if y.ndim == 2 and len(y) in (1, n):
        return np.broadcast_to(y, (n, y.shape[1])), False
    raise ValueError(f"y has shape {y.shape}; for {n} rows give a scalar, ({n},), ({n}, m) or (1, m).")


def _checked_levels(q: Any) -> tuple[Floats, bool]:
    levels = np.asarray(q, dtype=np.float64)
    if levels.ndim > 1:
        raise ValueError(f"q has shape {levels.shape}; give one probability or a list of them.")
    flat = levels.reshape(-1)
    _check((flat >= 0) & (flat <= 1), flat, "q", "give probabilities between 0 and 1")
    return flat, levels.ndim == 0


def _ends(level: float) -> Floats:
    if not isinstance(level, Real) or not 0 < level < 1:
        raise ValueError(f"level is {level!r}; give a probability between 0 and 1, such as 0.9.")
    return np.array([(1.0 - level) / 2, (1.0 + level) / 2])


def generator(random_state: Any) -> np.random.Generator:
    """A Generator from anything that scikit-learn takes as a random state."""
    if isinstance(random_state, np.random.Generator):
        return random_state
    return np.random.default_rng(check_random_state(random_state).randint(2**31 - 1, size=4))


def _cumulated(probabilities: Floats) -> Floats:
    """Cumulative probabilities that end in one exactly, so that none of them is missed."""
    cumulated = np.cumsum(probabilities, axis=1)
    return np.asarray(cumulated / cumulated[:, -1:])


def _choose(cumulated: Floats, n: int, rng: np.random.Generator) -> Integers:
    """`n` indices for each row of cumulative probabilities; one without probability is never chosen."""
    if not isinstance(n, Integral) or n < 0:
        raise ValueError(f"n is {n!r}; give the number of draws for each row, 0 or more.")
    uniform = rng.random((len(cumulated), n))
    chosen = np.zeros(uniform.shape, dtype=np.int64)
    for column in cumulated.T[:-1]:
        chosen += uniform >= column[:, None]
    return chosen


def _of_rows(array: Floats, rows: Any) -> Floats:
    return array if array.shape[1] == 1 else array[:, rows]


def _log_density(weights: Floats, components: Components, y: Floats) -> Floats:
    is_possible = (y >= 0) & (y < np.inf) & (np.floor(y) == y) if components.is_discrete else np.full(y.shape, True)
    with np.errstate(divide="ignore", over="ignore"):
        terms = components.logpdf(np.where(is_possible, y, 0.0)) + np.log(weights)
        peak = terms.max(axis=0)
        peak = np.where(np.isfinite(peak), peak, 0.0)
        return np.where(is_possible, peak + np.log(np.exp(terms - peak).sum(axis=0)), -np.inf)


def _cumulative(weights: Floats, components: Components, y: Floats) -> Floats:
    if not components.is_discrete:
        return np.asarray((weights * components.cdf(y)).sum(axis=0))
    is_count = (y >= 0) & (y < np.inf)
    total = (weights * components.cdf(np.floor(np.where(is_count, y, 0.0)))).sum(axis=0)
    return np.where(is_count, total, y > 0)


def _solver(components: Components, levels: Floats, n_pairs: int) -> Callable[..., Floats]:
    """What finds quantiles from weights (C, p), components of p pairs of a row and a level, these, and their places."""
    if not isinstance(components, StudentT):
        return _solve_counts if components.is_discrete else _solve_numbers
    solve = student_solver(components.dof, levels, n_pairs)
    return lambda weights, own, q, columns: solve(weights, own.location, own.scale, q, columns)


def _solve_counts(weights: Floats, components: Components, q: Floats, columns: Integers) -> Floats:
    """The smallest whole number whose cdf is at least q."""
    low, high = np.full(len(q), -1.0), np.ceil(_beyond(weights, components, q, 1.0))
    while True:
        middle = np.floor(0.5 * low + 0.5 * high)
        if not np.any(between := (low < middle) & (middle < high)):
            return high
        enough = _cumulative(weights, components, middle) >= q * (1.0 - ROUNDING)
        low, high = np.where(between & ~enough, middle, low), np.where(between & enough, middle, high)


def _solve_numbers(weights: Floats, components: Components, q: Floats, columns: Integers) -> Floats:
    def evaluate(x: Floats, rows: Integers) -> tuple[Floats, Floats]:
        some, part = weights[:, rows], components[rows]
        return _cumulative(some, part, x), np.exp(_log_density(some, part, x))

    low, high = _beyond(weights, components, q, -1.0), _beyond(weights, components, q, 1.0)
    return solved(evaluate, q, 0.5 * low + 0.5 * high, low, high)


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
