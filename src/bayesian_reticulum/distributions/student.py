"""Student's t distributions as components of a mixture."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import gammaln, stdtr

from ..arrays import Floats, Integers, frozen, refreeze
from .checks import check


def log_student_density(dof: Floats, z: Floats) -> Floats:
    """Log density of Student's t at z, in units of its scale."""
    # The difference of log gammas loses all its digits where they are large, so that a series takes its place.
    series = -0.5 * np.log(2 * np.pi) - 1 / (4 * dof) + 1 / (24 * dof**3) - 1 / (20 * dof**5)
    few = np.minimum(dof, 100.0)
    norm = np.where(dof < 100, gammaln((few + 1) / 2) - gammaln(few / 2) - 0.5 * np.log(few * np.pi), series)
    size = np.abs(z) / np.sqrt(dof)
    with np.errstate(divide="ignore"):
        log_square = np.where(size < 1e8, np.log1p(np.minimum(size, 1e8) ** 2), 2 * np.log(size))
    return np.asarray(norm - 0.5 * (dof + 1) * log_square)


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
            is_good = np.isfinite(array) if field == "location" else (array > 0) & (array < np.inf)
            check(is_good, array, field, "give a finite number" + " above 0" * (field != "location"))

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


def _of_rows(array: Floats, rows: Any) -> Floats:
    """Columns of an array (C, n); one of shape (C, 1) holds for all rows."""
    return array if array.shape[1] == 1 else array[:, rows]
