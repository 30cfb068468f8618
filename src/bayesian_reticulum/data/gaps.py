"""The rule for gaps.

A missing cell is read at its mean, given the cells of its row that are there and the covariance of all columns.
Its deviation from this mean is taken to be normal, with the share of its variance that the rest of the row leaves open.
A gate is averaged over that deviation, which softens it: `gates.py` does so, with the variances of activations that
`Gaps.variances` returns.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse

from ..arrays import Floats, Integers
from .units import MISSING, Units

# Correlations are estimated as if so many rows had been seen before, in which columns are independent. In no direction
# do columns vary by less than this share of the variance of one column.
_INDEPENDENT_ROWS = 5.0
_LEAST_SIZE = 0.01


@dataclass(frozen=True, eq=False)
class Gaps:
    """What missing cells could have been, as far as splits are concerned: how much it makes activations vary.

    The activation of a row in which the cell of `sources[g]` is missing varies by the sum of (loading · slopes)² over
    the loadings of group g, times the share of the cell's variance that the rest of the row leaves open. The variances
    of several gaps add.

    Parameters
    ----------
    sources : ndarray of shape (q,)
        Columns of the table in which cells may be missing.
    loading : sparse array of shape (K, D)
        A standard deviation of each quantity that a missing cell leaves open, in the columns that hyperplanes have
        slopes for.
    group : ndarray of shape (K,)
        Place in `sources` of each loading.
    """

    sources: Integers
    loading: Any
    group: Integers

    @classmethod
    def of_features(cls, sources: Integers, units: Units) -> Gaps:
        """What cells of some features could have been if they were missing and did not follow from the rest of the row.

        A number has mean 0 and variance 1, in standard units; a level, the frequency that it had in training.
        """
        values, columns, rows = [], [], []
        group: list[int] = []
        for place, feature in enumerate(sources):
            members = np.flatnonzero((units.source == feature) & (units.code != MISSING))
            # A column that did not vary says nothing of what it could have been.
            varies = (units.low[members] < units.high[members]).astype(np.float64)
            if len(members) == 1:
                loadings = np.eye(1) * varies
            else:
                share, scale = units.center[members], units.scale[members]
                loadings = np.sqrt(share)[:, None] * (np.eye(len(members)) - share) / scale
            for loading in loadings:
                values.append(loading)
                columns.append(members)
                rows.append(np.full(len(members), len(group)))
                group.append(place)
        shape = len(group), len(units.source)
        nowhere = np.empty(0, dtype=np.int64)
        entries = (
            np.concatenate([*values, np.empty(0)]),
            (np.concatenate([*rows, nowhere]), np.concatenate([*columns, nowhere])),
        )
        return cls(np.asarray(sources), sparse.csr_array(entries, shape=shape), np.array(group, dtype=np.int64))

    def pulls(self, slopes: Floats) -> Floats:
        """Each loading times slopes (..., D): shape (..., K)."""
        pulls = (self.loading @ slopes.reshape(-1, slopes.shape[-1]).T).T
        return np.asarray(pulls).reshape(*slopes.shape[:-1], len(self.group))

    def variances(self, slopes: Floats) -> Floats:
        """How much activations with slopes (..., D) vary over each gap: shape (..., q)."""
        return sum_by_group(self.pulls(slopes) ** 2, self.group, len(self.sources))

    def along(self, basis: Floats) -> Gaps:
        """The same for slopes along the columns of a basis (D, r)."""
        return replace(self, loading=sparse.csr_array(self.loading @ basis))


def features_with_gaps(X: Any) -> Integers:
    """Columns of a table (n, d) in which cells are missing."""
    with np.errstate(invalid="ignore", over="ignore"):
        # Summing is a quick way to look for NaN. Infinities of both signs make NaN, too, and do no harm.
        return np.flatnonzero(np.isnan(np.asarray(X).sum(axis=0)))


def column_variances(units: Units) -> Floats:
    """Variance of each standardised column, (D,): that of a level follows from its frequency, of all else it is 1.

    That of a constant column is 0.
    """
    out = (units.low < units.high).astype(np.float64)
    is_level = units.code >= 0
    out[is_level] *= units.center[is_level] * (1 - units.center[is_level]) / units.scale[is_level] ** 2
    return out


def fill_gaps(design: Floats, missing: Any, sources: Integers, units: Units, covariance_inverse: Floats) -> Floats:
    """Put missing cells of a design at their mean given the rest of the row.

    Parameters
    ----------
    design : ndarray of shape (D + 1, n)
        Standardised columns under a row of ones, with 0 for what is missing; filled in place.
    missing : ndarray of bools, shape (n, q)
        Which cells of the features `sources` are missing.
    sources : ndarray of shape (q,)
    units : Units
    covariance_inverse : ndarray of shape (D, D)
        Of all columns.

    Returns
    -------
    ndarray of shape (q, n)
        Share of each cell's variance that the rest of the row leaves open; 0 where the cell is there.
    """
    left_open: Floats = missing.T.astype(np.float64)
    all_variances = column_variances(units)
    patterns, pattern_of_row = np.unique(missing, axis=0, return_inverse=True)
    for number, pattern in enumerate(patterns):
        rows = np.flatnonzero(pattern_of_row.reshape(-1) == number)
        gone = np.flatnonzero(np.isin(units.source, sources[pattern]) & (units.code != MISSING))
        covariance = np.linalg.inv(covariance_inverse[np.ix_(gone, gone)])
        design[np.ix_(1 + gone, rows)] = -covariance @ (covariance_inverse[gone] @ design[1:, rows])
        variances = np.diag(covariance)
        for gap in np.flatnonzero(pattern):
            is_of_gap = units.source[gone] == sources[gap]
            whole = all_variances[gone[is_of_gap]].sum()
            left_open[gap, rows] = variances[is_of_gap].sum() / whole if whole > 0 else 1.0
    return left_open


def estimate_covariance_inverse(columns: Floats, missing: Any, weights: Floats, units: Units) -> Floats:
    """Inverse (D, D) of the covariance of standardised columns, each pair from the weighted rows that have both.

    Parameters
    ----------
    columns : ndarray of shape (D, n)
    missing : ndarray of bools, shape (D, n)
    weights : ndarray of shape (n,)
    units : Units
    """
    there = np.where(units.code[:, None] == MISSING, 0.0, ~missing)
    columns = columns * there
    both = np.maximum((there * weights) @ there.T, np.finfo(float).tiny)
    covariance = (columns * weights) @ columns.T / both
    spread = np.sqrt(np.diag(covariance))
    varies = (spread > 0) & (units.code != MISSING) & (units.low < units.high)
    spread = np.where(varies, spread, 1.0)
    correlation = np.where(varies[:, None] & varies, covariance / np.outer(spread, spread), 0.0)
    # As if some rows had been seen in which columns are independent, and with no direction in which nothing varies:
    # pairs of columns that are known from different rows need not fit together.
    correlation *= both / (both + _INDEPENDENT_ROWS)
    np.fill_diagonal(correlation, 1.0)
    sizes, axes = np.linalg.eigh(correlation)
    correlation = (axes * np.maximum(sizes, _LEAST_SIZE)) @ axes.T
    deviation = np.sqrt(np.diag(correlation)) / np.sqrt(np.where(varies, column_variances(units), 1.0))
    return np.asarray(np.linalg.inv(correlation) * np.outer(deviation, deviation))


def sum_by_group(parts: Floats, group: Integers, size: int) -> Floats:
    """Sums (..., size) of parts (..., K) by their group (K,)."""
    out = np.zeros((size, *parts.shape[:-1]))
    for place, part in zip(group.tolist(), np.moveaxis(parts, -1, 0), strict=True):
        out[place] += part
    return np.moveaxis(out, 0, -1)
