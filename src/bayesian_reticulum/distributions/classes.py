"""The predictive distribution of a class."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..arrays import Floats, frozen, refreeze
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
from .solver import ROUNDING


@dataclass(frozen=True, eq=False, repr=False)
class ClassDistribution:
    """The predictive distribution of a class for each of n rows.

    Labels `y` are a scalar or (n,), with results of shape (n,), or (n, m) or (1, m), with results of shape (n, m).

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
        probabilities = checked_probabilities(self.probabilities, "probabilities", "classes", axis=1)
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
        """`pmf` under the name that it has for numbers."""
        return self.pmf(y)

    def logpdf(self, y: Any) -> Floats:
        """`logpmf` under the name that it has for numbers."""
        return self.logpmf(y)

    def cdf(self, y: Any) -> Floats:
        """Probability of the label `y` and those before it."""
        return self._look_up(cumulate(self.probabilities), y)

    def quantile(self, q: Any) -> NDArray[Any]:
        """First label whose `cdf` is at least `q`, shape (n,), or (n, m) for m probabilities."""
        levels, is_scalar = checked_levels(q)
        cumulated = cumulate(self.probabilities)
        below = [(cumulated < level * (1.0 - ROUNDING)).sum(axis=1) for level in levels]
        labels = self.classes[np.array(below, dtype=np.int64).reshape(len(levels), len(self)).T]
        return np.asarray(labels[:, 0] if is_scalar else labels)

    def interval(self, level: float) -> tuple[NDArray[Any], NDArray[Any]]:
        """First and last label of the central interval with at least `level`, which needs classes in an order."""
        lower, upper = self.quantile(interval_ends(level)).T
        return lower, upper

    def sample(self, n: int, random_state: Any = None) -> NDArray[Any]:
        """Draw `n` labels for each row, shape (rows, n)."""
        return np.asarray(self.classes[choose(cumulate(self.probabilities), n, random_generator(random_state))])

    def __getitem__(self, rows: Any) -> ClassDistribution:
        rows = np.atleast_1d(rows) if isinstance(rows, int | np.integer) else rows
        return ClassDistribution(self.classes, self.probabilities[rows])

    def __len__(self) -> int:
        return len(self.probabilities)

    def __repr__(self) -> str:
        return f"<ClassDistribution: {counted(len(self), 'row')}, {counted(len(self.classes), 'class', 'classes')}>"

    def _look_up(self, values: Floats, y: Any) -> Floats:
        """Of values (n, k) by class those of the labels `y`."""
        table, is_column = as_columns(np.asarray(y), len(self))
        codes = {label: code for code, label in enumerate(self.classes.tolist())}
        code = np.array([codes.get(label, -1) for label in table.reshape(-1).tolist()], dtype=np.int64)
        code = code.reshape(table.shape)
        check(code >= 0, table, "y", f"the known labels are {', '.join(map(repr, codes))}")
        result = np.take_along_axis(values, code, axis=1)
        return result[:, 0] if is_column else result
