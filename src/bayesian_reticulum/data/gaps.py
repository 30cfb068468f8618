"""The rule for gaps.

A missing cell is read at what its column's regression on all other columns says. In this regression cells that are
missing, too, stand at their means first, and then at what their regressions say. So filling a table is one matrix
product, made twice: any system that can multiply matrices can do it.

The deviation of a missing cell from this value is taken to be normal, with the variance that the regression leaves
open. A gate is softened by a share of that variance: `gates.py` does so, with the variances of activations that
`Gaps.variances` returns.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse

from ..arrays import Floats, Integers, frozen, refreeze
from .units import MISSING, Units

# Regressions are estimated as if so many rows had been seen before, in which columns are independent.
_INDEPENDENT_ROWS = 5.0
# How often the regressions are applied. Over 16 tables of classes the second time lowers log-loss by 0, 2 and 1% where
# 5, 20 and 40% of the cells are missing, and by 1% where they are missing in blocks. kFillings in gaps.hpp is the same.
_FILLINGS = 2


@dataclass(frozen=True, eq=False)
class Regressions:
    """How each standardised column follows from the columns of all other features.

    Parameters
    ----------
    coefficients : ndarray of shape (D, D)
        A row for each column: its regression on the others. 0 for columns of the same feature.
    variances : ndarray of shape (D,)
        Variance of each column that its regression leaves open where all others are there.
    """

    coefficients: Floats
    variances: Floats

    def __post_init__(self) -> None:
        object.__setattr__(self, "coefficients", frozen(self.coefficients))
        object.__setattr__(self, "variances", frozen(self.variances))

    __setstate__ = refreeze

    @classmethod
    def learn(cls, columns: Floats, missing: Any, weights: Floats, units: Units) -> Regressions:
        """Regress each column on the others, over the weighted rows in which it is there.

        Gaps of the others are at their means, as they are in rows to be filled: a column that is often missing in the
        same rows gets a smaller coefficient.

        Parameters
        ----------
        columns : ndarray of shape (D, n)
            Standardised.
        missing : ndarray of bools, shape (D, n)
        weights : ndarray of shape (n,)
        units : Units
        """
        takes_part = (units.code != MISSING) & (units.low < units.high)
        columns = np.where(missing | ~takes_part[:, None], 0.0, columns)
        absent = missing.astype(np.float64)
        whole = column_variances(units)
        ridge = np.diag(np.where(takes_part, _INDEPENDENT_ROWS * whole, 1.0))
        products_of_all = (columns * weights) @ columns.T
        # By the rows in which a feature is missing: many features are missing in none, or in the same ones.
        sums: dict[bytes, tuple[Floats, Floats, float, Floats]] = {}
        coefficients, variances = np.zeros(ridge.shape), whole.copy()
        for feature in np.unique(units.source[takes_part]):
            members = (units.source == feature) & takes_part
            is_gap = missing[np.flatnonzero(members)[0]]
            key = np.packbits(is_gap).tobytes()
            if key not in sums:
                without = columns[:, is_gap]
                products = products_of_all - (without * weights[is_gap]) @ without.T
                there = np.where(is_gap, 0.0, weights)
                sums[key] = products, np.linalg.inv(products + ridge), float(there.sum()), absent @ there
            products, inverse, weight, weight_absent = sums[key]
            follows = -np.linalg.solve(inverse[np.ix_(members, members)], inverse[np.ix_(members, ~members)])
            coefficients[np.ix_(members, ~members)] = follows
            residual = np.eye(len(whole))[members]
            residual[:, ~members] -= follows
            left_open = (residual @ products * residual).sum(axis=1) + _INDEPENDENT_ROWS * whole[members]
            # What gaps of the others add is not counted here: `fill` adds it row by row.
            left_open -= follows**2 @ (weight_absent * whole)[~members]
            variances[members] = np.maximum(left_open, 0.0) / (weight + _INDEPENDENT_ROWS)
        return cls(coefficients, variances)

    def fill(self, design: Floats, missing: Any, sources: Integers, units: Units) -> Floats:
        """Put missing cells of a design at what follows from the rest of their row.

        Parameters
        ----------
        design : ndarray of shape (D + 1, n)
            Standardised columns under a row of ones, with 0 for what is missing; filled in place.
        missing : ndarray of bools, shape (n, q)
            Which cells of the features `sources` are missing.
        sources : ndarray of shape (q,)
            In ascending order.
        units : Units

        Returns
        -------
        ndarray of shape (q, n)
            Share of each cell's variance that the rest of the row leaves open; 0 where the cell is there.

        Notes
        -----
        To the variance that a regression leaves open each missing cell that it has a coefficient of adds its share, up
        to the whole variance of the column: that many cells of a row are missing must not make it seem well known.
        """
        rows = np.flatnonzero(missing.any(axis=1))
        columns = np.flatnonzero(np.isin(units.source, sources) & (units.code != MISSING))
        gap = np.searchsorted(sources, units.source[columns])
        is_gap = missing[rows][:, gap].T
        coefficients, places = self.coefficients[columns], np.ix_(1 + columns, rows)
        for _ in range(_FILLINGS):
            design[places] = np.where(is_gap, coefficients @ design[1:, rows], design[places])
        whole = column_variances(units)[columns]
        variances = self.variances[columns, None] + (coefficients[:, columns] ** 2 * whole) @ is_gap
        indicators = (gap == np.arange(len(sources))[:, None]).astype(np.float64)
        by_gap = indicators @ np.minimum(variances, whole[:, None])
        whole_by_gap = (indicators @ whole)[:, None]
        left_open: Floats = missing.T.astype(np.float64)
        left_open[:, rows] *= np.divide(by_gap, whole_by_gap, out=np.ones_like(by_gap), where=whole_by_gap > 0)
        return left_open


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


def sum_by_group(parts: Floats, group: Integers, size: int) -> Floats:
    """Sums (..., size) of parts (..., K) by their group (K,)."""
    out = np.zeros((size, *parts.shape[:-1]))
    for place, part in zip(group.tolist(), np.moveaxis(parts, -1, 0), strict=True):
        out[place] += part
    return np.moveaxis(out, 0, -1)
