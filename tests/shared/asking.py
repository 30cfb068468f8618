"""Requests in tests: rows asked for one sum, with the leaf parameters of the family that they were made for."""

from __future__ import annotations

from typing import Any

from bayesian_reticulum.rows import (
    BelowSplits,
    BelowSums,
    GreyShares,
    Histogram,
    Limits,
    MembershipSums,
    Moments,
    MomentSums,
    Pass,
    PassSums,
    RowData,
    TreeContext,
    scan,
    view_of_leaf,
)
from bayesian_reticulum.rows.limits import DEFAULT_LIMITS
from bayesian_reticulum.rows.part import TablePart


def rows_of_data(rows_class: Any, data: RowData, family: Any, limits: Limits = DEFAULT_LIMITS) -> Any:
    """Rows in memory of a class, made of finished data."""
    return rows_class(TablePart.whole(data, family, limits))


def family_of(rows: Any) -> Any:
    """The family that rows in memory were made for, with its prior."""
    return rows.part.likelihood


def pass_at(rows: Any, hyperplanes: Any, shape: Any, statistics: Any, *, information: bool = False) -> PassSums:
    """One pass at these leaf statistics."""
    expected = family_of(rows).expected_parameters(statistics)
    sums: PassSums = rows.reduce(Pass(hyperplanes, shape, expected, information))
    return sums


def membership_sums(rows: Any, hyperplanes: Any, shape: Any) -> Any:
    """Leaf statistics (c, leaves, k) at responsibility = membership."""
    return rows.reduce(MembershipSums(hyperplanes, shape)).statistics


def likelihoods_below(rows: Any, hyperplanes: Any, shape: Any, statistics: Any) -> BelowSums:
    """The likelihoods below splits at these leaf statistics."""
    expected = family_of(rows).expected_parameters(statistics)
    sums: BelowSums = rows.reduce(BelowSplits(hyperplanes, shape, expected))
    return sums


def grey_shares(rows: Any, hyperplanes: Any, shape: Any, low: float, high: float) -> Any:
    """The share of rows that are grey at each split."""
    return rows.reduce(GreyShares(hyperplanes, shape, low, high)).shares


def moments_of(rows: Any, statistics: Any) -> MomentSums:
    """The moments of a leaf."""
    sums: MomentSums = rows.reduce(Moments(family_of(rows), statistics))
    return sums


def histogram_of(rows: Any, directions: Any, edges: Any, cuts: Any, statistics: Any) -> Any:
    """The statistics by bin."""
    return rows.reduce(Histogram(family_of(rows), statistics, directions, edges, cuts)).statistics


def scan_of(rows: Any, directions: Any, edges: Any, cuts: Any, statistics: Any) -> Any:
    """The gains of thresholds."""
    return scan(rows, Histogram(family_of(rows), statistics, directions, edges, cuts))


def context_of(rows: Any, hyperplanes: Any, shape: Any, statistics: Any) -> TreeContext:
    """A tree with these leaf statistics."""
    return TreeContext(hyperplanes, shape, family_of(rows).expected_parameters(statistics))


def view_from(rows: Any, hyperplanes: Any, shape: Any, statistics: Any, leaf: int) -> Any:
    """The view from a leaf."""
    return view_of_leaf(rows, context_of(rows, hyperplanes, shape, statistics), leaf)


def views_from(rows: Any, hyperplanes: Any, shape: Any, statistics: Any, leaves: Any) -> Any:
    """The view from each of some leaves."""
    return rows.views(context_of(rows, hyperplanes, shape, statistics), leaves)
