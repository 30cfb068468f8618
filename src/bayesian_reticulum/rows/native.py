"""Rows in memory whose sums are made in compiled code.

The compiled code (`src/native`) reads the rows once for each request, block by block, in threads if asked to; NumPy
remains the reference that it is tested against.
"""

from __future__ import annotations

import contextlib
from functools import cached_property
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from ..arrays import Floats, Integers, unpack_symmetric
from ..compiled import mix_leaves, native_gaps, native_units, readable_cells
from ..data import Schema
from ..families import CodedFamily, DirichletCategorical, Family, target_values
from ..tree import Shape, Tree
from .limits import HESSIAN_ROWS
from .numpy import NumpyRows
from .protocol import Moments, Pass

# Without a compiler at installation these are missing, and no NativeRows are made (`compiled.is_available`).
with contextlib.suppress(ImportError):
    from .._native import Table, ascend, group_pad, pad


class _Layout(NamedTuple):
    """Where rows stand in a compiled table: sorted by code, as blocks of one code are faster.

    Attributes
    ----------
    row : ndarray of shape (places,)
        The row at each place, -1 for padding.
    segments : ndarray of shape (codes + 1,)
        Where the segment of each code begins, and the last ends; each is padded to whole vectors.
    codes : ndarray of shape (codes,)
    gap_starts : ndarray of shape (codes,)
        First place in each segment of a row with missing cells, or the segment's end.
    """

    row: Integers
    segments: Integers
    codes: NDArray[np.int32]
    gap_starts: Integers


class NativeRows(NumpyRows):
    """Rows in memory whose sums are made in compiled code.

    Parameters
    ----------
    threads : int, default=1
        Threads that work on a request, where it is large enough; they do not change a bit of the answer.

    Notes
    -----
    All other parameters are those of `NumpyRows`.
    """

    def __init__(self, *args: Any, threads: int = 1, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._threads = threads
        # Samples by size, None where all rows are the sample.
        self._samples: dict[int, Self | None] = {}
        # Statistics that are too wide to be held for all rows are left to NumPy, block by block.
        self._is_coded = isinstance(self.family, CodedFamily)
        self._fits = self._is_coded or self._n * self.family.n_statistics * 8 <= self._limits.kept_bytes
        if "is_large" not in self._shared:
            low, high = self._limits.float_weights
            self._shared["is_large"] = self._n > self._limits.fewest_in_floats
            self._shared["has_float_weights"] = bool(((self._weights >= low) & (self._weights <= high)).all())

    def _replaced(self, **changes: Any) -> Self:
        return super()._replaced(**({"threads": self._threads} | changes))

    @cached_property
    def _layout(self) -> _Layout:
        if isinstance(self.family, CodedFamily):
            codes = np.asarray(self.family.row_codes(target_values(self._targets_of(slice(0, self._n)))))
            counts = np.bincount(codes)
        else:
            codes, counts = np.zeros(self._n, dtype=np.int64), np.array([self._n])
        # Rows with gaps come last in each segment, so that blocks without any are spared their work.
        has_gaps = self._has_gaps
        ranks, order = codes if has_gaps is None else 2 * codes + has_gaps, self._order
        order = np.argsort(ranks, kind="stable") if order is None else order[np.argsort(ranks[order], kind="stable")]
        present = np.flatnonzero(counts)
        gap_counts = np.zeros(len(counts)) if has_gaps is None else np.bincount(codes, has_gaps, len(counts))
        counts, gap_counts = counts[present], gap_counts[present].astype(np.int64)
        padded = -(-counts // pad) * pad
        segments = np.concatenate([[0], np.cumsum(padded)])
        skipped = segments[:-1] - np.concatenate([[0], np.cumsum(counts)[:-1]])
        row = np.full(segments[-1], -1, dtype=np.int64)
        row[np.arange(self._n) + np.repeat(skipped, counts)] = order
        gap_starts = np.where(gap_counts > 0, segments[:-1] + counts - gap_counts, segments[1:])
        return _Layout(row, segments, present.astype(np.int32), gap_starts)

    @property
    def _in_floats(self) -> bool:
        """Whether ascents may make passes in float32."""
        return self._is_ordered and bool(self._shared["has_float_weights"])

    @property
    def _is_ordered(self) -> bool:
        """Whether rows are summed in an order by content."""
        return self._is_coded and bool(self._shared["is_large"])

    @property
    def _order(self) -> Integers | None:
        """The order of a large table by keys and weights; None for all other rows.

        Sums, of float32 above all, depend on the order of rows so much that the tree would show it. Views and samples
        of rows in order are in order, too.
        """
        if not self._is_ordered or self._chosen is not None:
            return None
        if "order" not in self._shared:
            self._shared["order"] = np.lexsort((self._weights, self._keys))
        order: Integers = self._shared["order"]
        return order

    def sampled(self, size: int) -> Self:
        if self._log_reach is not None:
            return super().sampled(size)
        # Samples of all rows are asked for again and again. Those of views are not, and would be kept for nothing.
        if size not in self._samples:
            sample = super().sampled(size)
            if sample._chosen is not None and self._chosen is None and self._is_ordered:
                sample = sample._at(np.lexsort((sample._weights, self._keys[sample._chosen])))
            # Rows that refer to themselves would be freed late.
            self._samples[size] = None if sample is self else sample
        sampled = self._samples[size]
        return self if sampled is None else sampled

    @cached_property
    def _sum_of_weights(self) -> float:
        # Sorted, as the sum can be seen in the last digits of precisions.
        return float(np.sort(self._mass).sum() if self._is_ordered else self._mass.sum())

    @property
    def weight(self) -> float:
        return self._sum_of_weights

    def with_covariance_inverse(self) -> Schema:
        order = self._order
        return super().with_covariance_inverse() if order is None else self._at(order).with_covariance_inverse()

    def grey_shares(self, hyperplanes: Floats, shape: Shape, low: float, high: float) -> Floats:
        order = self._order
        if order is not None:
            return self._at(order).grey_shares(hyperplanes, shape, low, high)
        return super().grey_shares(hyperplanes, shape, low, high)

    @property
    def _has_gaps(self) -> NDArray[np.bool_] | None:
        """Whether cells are missing in each row in view; None if in none of the table."""
        if self._gaps is None:
            return None
        if "has_gaps" not in self._shared:
            columns = (np.isnan(self._X[:, source]) for source in self._gaps.sources)
            self._shared["has_gaps"] = np.logical_or.reduce(list(columns))
        has_gaps: NDArray[np.bool_] = self._shared["has_gaps"]
        return has_gaps if self._chosen is None else has_gaps[self._chosen]

    @cached_property
    def _table(self) -> Any:
        row, segments, codes, gap_starts = self._layout
        is_row = row >= 0

        def spread(values: Floats) -> Floats:
            return np.where(is_row, values[..., row], 0.0)

        statistics = None if self._is_coded else spread(self._read(0, self._n)[1].T)
        weights = spread(self._weights)
        is_view = self._log_reach is not None
        keeps = self._n * self._width * 8 <= self._limits.kept_bytes
        whole, places = None, None
        if keeps and self._chosen is not None and "whole" in self._shared:
            schema, whole_table, place = self._shared["whole"]
            if schema is self._schema:
                whole, places = whole_table, np.where(is_row, place[self._chosen[row]], -1)
        table = Table(
            readable_cells(self._X),
            row if self._chosen is None else np.where(is_row, self._chosen[row], -1),
            segments,
            gap_starts,
            codes,
            self.family.n_statistics,
            statistics,
            weights,
            spread(self._mass) if is_view else weights,
            None if self._log_reach is None else spread(self._log_reach),
            None if self._log_other is None else spread(self._log_other),
            native_units(self._schema),
            native_gaps(self._gaps, self._schema.covariance_inverse),
            np.ascontiguousarray(self.tail),
            keeps,
            whole,
            places,
        )
        if keeps and self._chosen is None:
            # Views copy their standardised columns from this table.
            place = np.empty(self._n, dtype=np.int64)
            place[row[is_row]] = np.flatnonzero(is_row)
            self._shared["whole"] = self._schema, table, place
        return table

    def with_family(self, family: Family) -> Self:
        rows = super().with_family(family)
        if self._is_coded and rows._is_coded and family.n_statistics == self.family.n_statistics:
            # The compiled table and the samples do not depend on the prior.
            cached = vars(self).keys() & {"_layout", "_table"}
            vars(rows).update((name, vars(self)[name]) for name in cached)
            rows._samples = {size: sample and sample.with_family(family) for size, sample in self._samples.items()}
        return rows

    def _threads_for(self, gates_per_row: int) -> int:
        return self._threads if self._n * gates_per_row >= self._limits.fewest_gates else 1

    def pass_(self, hyperplanes: Floats, shape: Shape, statistics: Floats, *, information: bool = False) -> Pass:
        if not self._fits:
            return super().pass_(hyperplanes, shape, statistics, information=information)
        c, m, width = hyperplanes.shape
        expected = self.family.expected_parameters(statistics)
        log_normalizer = np.zeros(c)
        new_statistics = np.zeros(statistics.shape)
        gradient = np.zeros(hyperplanes.shape)
        width -= max(len(self.tail) - 1, 0)
        packed = np.zeros((2, c, m, width * (width + 1) // 2)) if information else None
        self._table.pass_(
            np.ascontiguousarray(hyperplanes),
            shape.children,
            np.ascontiguousarray(expected),
            self._threads_for(c * m * (width if information else 1)),
            log_normalizer,
            new_statistics,
            gradient,
            None if packed is None else packed[0],
            None if packed is None else packed[1],
        )
        if packed is None:
            return Pass(expected, log_normalizer, new_statistics, gradient)
        return Pass(expected, log_normalizer, new_statistics, gradient, *unpack_symmetric(packed, width))

    def prior_statistics(self, hyperplanes: Floats, shape: Shape) -> Floats:
        if not self._fits:
            return super().prior_statistics(hyperplanes, shape)
        c, m, _ = hyperplanes.shape
        out = np.zeros((c, m + 1, self.family.n_statistics))
        threads = self._threads_for(c * m)
        self._table.membership_sums(np.ascontiguousarray(hyperplanes), shape.children, threads, out)
        return out

    def _view_contents(
        self, hyperplanes: Floats, shape: Shape, statistics: Floats, leaves: Integers
    ) -> list[tuple[Integers, Floats, Floats]]:
        if not self._fits:
            return super()._view_contents(hyperplanes, shape, statistics, leaves)
        contents = self._table.leaf_views(
            np.ascontiguousarray(hyperplanes[None]),
            shape.children,
            np.ascontiguousarray(self.family.expected_parameters(statistics)[None]),
            leaves,
            self._log_negligible,
            self._threads_for(shape.n_splits),
        )
        views = []
        contents.reverse()
        while contents:
            # Popped, so that compiled arrays are freed one by one as those of NumPy take their place.
            place, log_reach, log_other = contents.pop()
            places = self._layout.row[place]
            order = slice(None) if self._is_ordered else np.argsort(places)
            views.append((places[order], log_reach[order], log_other[order]))
        return views

    def likelihoods_below(self, hyperplanes: Floats, shape: Shape, statistics: Floats) -> tuple[Floats, Floats]:
        if not self._fits:
            return super().likelihoods_below(hyperplanes, shape, statistics)
        sums, new_statistics = np.zeros(shape.n_splits), np.zeros(statistics.shape)
        self._table.likelihoods_below(
            np.ascontiguousarray(hyperplanes[None]),
            shape.children,
            np.ascontiguousarray(self.family.expected_parameters(statistics)[None]),
            self._threads_for(shape.n_splits),
            sums,
            new_statistics,
        )
        return sums, new_statistics

    def moments(self, statistics: Floats) -> Moments:
        width = self.n_features + 1
        if not self._is_coded or width > self._limits.most_multiplied:
            return super().moments(statistics)
        second, cross = np.zeros(width * (width + 1) // 2), np.zeros((self.family.n_statistics, width))
        self._table.moments(self._threads_for(width), second, cross)
        # Each row has a 1 in its first column, and in the statistic of its code.
        return Moments(unpack_symmetric(second, width), cross, cross[:, 0].copy())

    def quantiles(self, directions: Floats, probabilities: Floats) -> Floats:
        if not self._fits:
            return super().quantiles(directions, probabilities)
        out = np.empty((len(directions), len(probabilities)))
        # A few directions at a time, as the values of all rows along them are held at once.
        step = max(1, self._limits.quantile_floats // max(self._n, 1))
        threads = self._threads_for(len(directions))
        for start in range(0, len(directions), step):
            part = slice(start, start + step)
            self._table.quantiles(np.ascontiguousarray(directions[part]), probabilities, threads, out[part])
        return out

    def scan(self, directions: Floats, edges: Floats, cuts: Floats, statistics: Floats) -> Floats:
        if not isinstance(self.family, DirichletCategorical):
            return super().scan(directions, edges, cuts, statistics)
        out = np.empty((len(cuts), 2, *edges.shape))
        self._table.scan(
            np.ascontiguousarray(directions),
            np.ascontiguousarray(edges),
            np.ascontiguousarray(cuts),
            np.array(self.family.prior),
            self._threads_for(len(directions) * len(cuts)),
            out,
        )
        return out

    def arranged(self, hyperplanes: Floats, shape: Shape) -> Self:
        limits = self._limits
        if self._n < limits.fewest_arranged or shape.n_splits < limits.fewest_splits_arranged:
            return self
        tree = Tree(hyperplanes, shape, np.arange(shape.n_splits))
        leaf = np.empty(self._n, dtype=np.int64)
        step = max(1, limits.arranged_floats // (shape.n_leaves + self.n_features))
        for start in range(0, self._n, step):
            part = slice(start, start + step)
            X = self._X[part if self._chosen is None else self._chosen[part]]
            leaf[part] = mix_leaves(self._schema, tree, None, X, self._threads).argmax(axis=1)
        order = self._order
        if order is None:
            order = np.arange(self._n)
        return self._at(order[np.argsort(leaf[order], kind="stable")])

    @property
    def can_climb(self) -> bool:
        """Whether `climb` may be called: row statistics fit into memory."""
        return self._fits

    def climb(
        self,
        shape: Shape,
        hyperplanes: Floats,
        precisions: Floats,
        statistics: Floats,
        *,
        fixed: bool,
        tolerance: float,
        rounds: int,
        max_passes: int,
        least: float,
        exact: bool,
        sparse: bool,
    ) -> tuple[Floats, Floats, Floats, Floats, Floats]:
        """The ascent of `evidence` without a return to Python between passes: the fields of its `Stack`."""
        hyperplanes, precisions, statistics = (
            np.array(start, dtype=np.float64, order="C") for start in (hyperplanes, precisions, statistics)
        )
        log_evidence, prices = np.empty(len(hyperplanes)), np.empty(precisions.shape)
        hessian_rows = self if exact else self.sampled(HESSIAN_ROWS)
        ascend(
            self._table,
            hessian_rows._table,
            1.0 if hessian_rows is self else self.weight / hessian_rows.weight,
            shape.children,
            hyperplanes,
            precisions,
            statistics,
            np.array(self.family.prior) if isinstance(self.family, DirichletCategorical) else None,
            self.family,
            fixed,
            sparse,
            tolerance,
            rounds,
            max_passes,
            least,
            self._threads,
            self._limits.fewest_gates,
            self._in_floats and tolerance >= self._limits.float_tolerance and not exact,
            log_evidence,
            prices,
        )
        return hyperplanes, precisions, statistics, log_evidence, prices

    def histogram(self, directions: Floats, edges: Floats, cuts: Floats, statistics: Floats) -> Floats:
        if self.family.uses_design or not self._fits:
            return super().histogram(directions, edges, cuts, statistics)
        k, coded = self.family.n_statistics, self._is_coded
        bins, groups = edges.shape[1] + 1, len(cuts) + 1
        size = -(-groups * (1 if coded else k) // group_pad) * group_pad
        out = np.zeros((len(directions), bins, k if coded else 1, size))
        self._table.histogram(
            np.ascontiguousarray(directions),
            np.ascontiguousarray(edges),
            np.ascontiguousarray(cuts),
            self._threads_for(len(directions)),
            out,
        )
        if coded:
            by_group = out[..., :groups].transpose(3, 0, 1, 2)
        else:
            by_group = out[..., 0, : groups * k].reshape(*out.shape[:2], groups, k).transpose(2, 0, 1, 3)
        left = by_group[1:]
        return np.stack([left, by_group[:1] - left], axis=1)
