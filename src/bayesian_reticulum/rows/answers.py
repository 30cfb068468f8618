"""Which requests compiled code answers, and how: the one place that decides for rows in memory.

A request of another type, or for other rows, is computed on blocks. To let compiled code answer more, write a function
of rows and request here, and add a line to `ANSWERS`.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from ..arrays import unpack_symmetric
from ..compiled import leaf_coefficients
from .requests import (
    BelowSplits,
    BelowSums,
    Histogram,
    HistogramSums,
    LeafSums,
    MembershipSums,
    Moments,
    MomentSums,
    Pass,
    PassSums,
    scan_family,
)

if TYPE_CHECKING:
    from .native import NativeRows

# Without a compiler at installation it is missing, and no NativeRows are made (`compiled.is_available`).
with contextlib.suppress(ImportError):
    from .._native import group_pad


@dataclass(frozen=True)
class Answer:
    """How compiled code answers one type of request.

    Parameters
    ----------
    compute : callable
        Sums of rows and request.
    serves : callable
        Whether compiled code answers this request for these rows.
    unless : str
        For which requests of this type the sums are computed on blocks, in words.
    """

    compute: Callable[[NativeRows, Any], Any]
    serves: Callable[[NativeRows, Any], bool] = field(default=lambda rows, request: rows.holds_statistics)
    unless: str = "the row statistics of all rows take more memory than `Limits.kept_bytes`"


def _pass(rows: NativeRows, request: Pass) -> PassSums:
    c, m, width = request.hyperplanes.shape
    log_normalizer, statistics = np.zeros(c), np.zeros(request.expected.shape)
    gradient = np.zeros(request.hyperplanes.shape)
    width -= max(len(rows.tail) - 1, 0)
    packed = np.zeros((2, c, m, width * (width + 1) // 2)) if request.information else None
    rows.table.pass_(
        np.ascontiguousarray(request.hyperplanes),
        request.shape.children,
        np.ascontiguousarray(request.expected),
        rows.threads_for(c * m * (width if request.information else 1)),
        log_normalizer,
        statistics,
        gradient,
        None if packed is None else packed[0],
        None if packed is None else packed[1],
    )
    information = (None, None) if packed is None else unpack_symmetric(packed, width)
    return PassSums(log_normalizer, statistics, gradient, *information)


def _membership_sums(rows: NativeRows, request: MembershipSums) -> LeafSums:
    c, m, _ = request.hyperplanes.shape
    out = np.zeros((c, m + 1, rows.part.facts.n_statistics))
    hyperplanes = np.ascontiguousarray(request.hyperplanes)
    rows.table.membership_sums(hyperplanes, request.shape.children, rows.threads_for(c * m), out)
    return LeafSums(out)


def _below_splits(rows: NativeRows, request: BelowSplits) -> BelowSums:
    sums, statistics = np.zeros(request.shape.n_splits), np.zeros(request.expected.shape)
    rows.table.likelihoods_below(
        np.ascontiguousarray(request.hyperplanes[None]),
        request.shape.children,
        np.ascontiguousarray(request.expected[None]),
        rows.threads_for(request.shape.n_splits),
        sums,
        statistics,
    )
    return BelowSums(sums, statistics)


def _multiplies(rows: NativeRows, request: Moments) -> bool:
    return (rows.is_coded or rows.is_factored) and rows.n_columns + 1 <= rows.part.facts.limits.most_multiplied


def _moments(rows: NativeRows, request: Moments) -> MomentSums:
    width = rows.n_columns + 1
    pairs, threads = width * (width + 1) // 2, rows.threads_for(width)
    second = np.zeros(pairs)
    if rows.is_coded:
        cross = np.zeros((rows.part.facts.n_statistics, width))
        rows.table.moments(threads, second, cross)
        # Each row has a 1 in its first column, and in the statistic of its code.
        return MomentSums(unpack_symmetric(second, width), cross, cross[:, 0].copy())
    coefficients = leaf_coefficients(request.family, request.statistics)
    sums = np.zeros(3 * width if coefficients is None else pairs + width)
    size = np.zeros(3 if coefficients is None else width + 1)
    rows.table.moments_of_numbers(coefficients, threads, second, sums, size)
    if coefficients is None:
        return MomentSums(unpack_symmetric(second, width), sums.reshape(3, width), size)
    cross = np.concatenate([unpack_symmetric(sums[:pairs], width), sums[None, pairs:]])
    return MomentSums(unpack_symmetric(second, width), cross, size)


def _bins(rows: NativeRows, request: Histogram) -> bool:
    return rows.is_factored or (rows.holds_statistics and not request.family.uses_design)


def _histogram(rows: NativeRows, request: Histogram) -> HistogramSums:
    k = scan_family(request.family).n_statistics
    bins, groups = request.edges.shape[1] + 1, len(request.cuts) + 1
    out = np.zeros((len(request.directions), bins, k, -(-groups // group_pad) * group_pad))
    rows.table.histogram(
        np.ascontiguousarray(request.directions),
        np.ascontiguousarray(request.edges),
        np.ascontiguousarray(request.cuts),
        leaf_coefficients(request.family, request.statistics),
        rows.threads_for(len(request.directions)),
        out,
    )
    by_group = out[..., :groups].transpose(3, 0, 1, 2)
    left = by_group[1:]
    return HistogramSums(np.stack([left, by_group[:1] - left], axis=1))


# The requests that compiled code answers; all others are computed on blocks.
ANSWERS: dict[type, Answer] = {
    Pass: Answer(_pass),
    MembershipSums: Answer(_membership_sums),
    BelowSplits: Answer(_below_splits),
    Moments: Answer(_moments, _multiplies, "targets are neither codes nor numbers, or columns are too many for them"),
    Histogram: Answer(
        _histogram, _bins, "targets are neither codes nor numbers, and leaves are linear or take much memory"
    ),
}
