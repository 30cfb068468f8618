"""Rows in memory whose sums are made in compiled code.

The compiled code (`src/native`) reads the rows once for each request, block by block, in threads if asked to. Which
requests it answers is said in one place, `answers`; all others, and those of families that it does not know, are
computed on blocks as in `ArrayRows`, which it is tested against.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from ..arrays import Floats, Integers
from ..compiled import leaf_coefficients, mix_leaves, native_gaps, native_leaves, native_units, readable_cells
from ..data import Schema
from ..families import CodedFamily, FactoredFamily, TargetsWithMetadata
from ..tree import Shape, Tree
from .answers import ANSWERS
from .arrays import ArrayRows
from .block import NO_TAIL, Block
from .limits import DEFAULT_LIMITS, HESSIAN_ROWS, Limits
from .part import TablePart, mass_of, sample_of
from .protocol import Likelihood, TreeContext
from .requests import Histogram, Request, SumsT, scan_family
from .source import RowData
from .views import Seen, log_negligible

# Without a compiler at installation these are missing, and no NativeRows are made (`compiled.is_available`).
with contextlib.suppress(ImportError):
    from .._native import Table, TablePasses, pad


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


class _Whole:
    """What the rows of one table share, whichever of them are in view; made when it is first needed.

    Parameters
    ----------
    data : RowData
    likelihood : Likelihood
    limits : Limits
    """

    def __init__(self, data: RowData, likelihood: Likelihood, limits: Limits) -> None:
        self._data = data
        low, high = limits.float_weights
        # Codes and moments are those of targets alone.
        is_plain = not isinstance(data.targets, TargetsWithMetadata)
        self.is_coded = is_plain and isinstance(likelihood, CodedFamily)
        self.is_factored = is_plain and isinstance(likelihood, FactoredFamily)
        is_large = self.is_coded and data.n_rows > limits.fewest_in_floats
        self.in_floats = is_large and bool(((data.weights >= low) & (data.weights <= high)).all())
        # The compiled table, and the place in it of each row, once it is made: views copy its standardised columns.
        self.table: tuple[Any, Integers] | None = None

    @cached_property
    def has_gaps(self) -> NDArray[np.bool_] | None:
        """Whether cells are missing in each row; None if in none of the table."""
        if self._data.gaps is None:
            return None
        columns = [np.isnan(self._data.X[:, source]) for source in self._data.gaps.sources]
        return np.asarray(np.logical_or.reduce(columns))


class NativeRows:
    """Rows in memory whose sums are made in compiled code.

    Parameters
    ----------
    part : TablePart
        The rows in view.
    threads : int, default=1
        Threads that work on a request, where it is large enough; they do not change a bit of the answer.
    """

    def __init__(self, part: TablePart, *, threads: int = 1, _whole: _Whole | None = None) -> None:
        self.part, self.threads = part, threads
        self._limits = part.facts.limits
        self._whole = _Whole(part.data, part.likelihood, self._limits) if _whole is None else _whole
        # Samples by size, None where all rows are the sample.
        self._samples: dict[int, NativeRows | None] = {}

    @classmethod
    def of_table(
        cls,
        X: Any,
        targets: Any,
        likelihood: Likelihood,
        weights: Floats,
        schema: Schema,
        *,
        tail: Floats = NO_TAIL,
        limits: Limits = DEFAULT_LIMITS,
        threads: int = 1,
    ) -> NativeRows:
        """All rows of a table, given as for `RowData`."""
        part = TablePart.whole(RowData.of(X, targets, weights, schema, tail), likelihood, limits)
        return cls(part, threads=threads)

    def _of(self, part: TablePart) -> NativeRows:
        """Other rows of the same table."""
        return NativeRows(part, threads=self.threads, _whole=self._whole)

    @property
    def axes(self) -> Floats:
        return self.part.axes

    @property
    def tail(self) -> Floats:
        return self.part.facts.tail

    @property
    def n_columns(self) -> int:
        return self.part.facts.n_columns

    @property
    def n_rows(self) -> int:
        return len(self.part.weights)

    @cached_property
    def weight(self) -> float:
        # Sorted, as the sum can be seen in the last digits of precisions.
        return float(np.sort(mass_of(self.part)).sum())

    def reduce(self, request: Request[SumsT]) -> SumsT:
        answer = ANSWERS.get(type(request))
        if answer is None or not answer.serves(self, request):
            return self.in_blocks.reduce(request)
        sums: SumsT = answer.compute(self, request)
        return sums

    @cached_property
    def in_blocks(self) -> ArrayRows:
        """The same rows as blocks, in the order in which compiled code sums them."""
        return ArrayRows(self._part_in_order)

    @cached_property
    def _part_in_order(self) -> TablePart:
        return self.part if self._order is None else self.part.take(self._order)

    def views(self, context: TreeContext, leaves: Sequence[int] | Integers) -> Iterator[NativeRows]:
        if context.shape.n_splits == 0:
            yield from (self for _ in leaves)
            return
        seen_from, ordered = self._seen_from, self.part
        if not self.holds_statistics:
            seen_from, ordered = self.in_blocks.seen_from, self._part_in_order
        at_once = self._limits.views_at_once
        for start in range(0, len(leaves), at_once):
            seen = seen_from(context, np.asarray(leaves[start : start + at_once], dtype=np.int64))[::-1]
            while seen:
                # Popped, so that the arrays of a view are freed with it.
                places, log_reach, log_other = seen.pop()
                yield self._of(ordered.take(places, log_reach=log_reach, log_other=log_other))

    def _seen_from(self, context: TreeContext, leaves: Integers) -> list[Seen]:
        contents = self.table.leaf_views(
            np.ascontiguousarray(context.hyperplanes[None]),
            context.shape.children,
            np.ascontiguousarray(context.expected[None]),
            leaves,
            log_negligible(self._limits),
            self.threads_for(context.shape.n_splits),
        )
        views = []
        contents.reverse()
        while contents:
            # Popped, so that compiled arrays are freed one by one as those of NumPy take their place.
            place, log_reach, log_other = contents.pop()
            views.append(Seen(self._layout.row[place], log_reach, log_other))
        return views

    def sample(self, size: int) -> NativeRows:
        # Samples of all rows are asked for again and again. Those of views are not, and would be kept for nothing.
        if self.part.log_reach is not None:
            return self._sampled(size)
        if size not in self._samples:
            sample = self._sampled(size)
            # Rows that refer to themselves would be freed late.
            self._samples[size] = None if sample is self else sample
        sampled = self._samples[size]
        return self if sampled is None else sampled

    def _sampled(self, size: int) -> NativeRows:
        part = sample_of(self.part, size)
        if part is self.part:
            return self
        if self.part.chosen is None:
            part = part.take(np.lexsort((part.weights, part.keys)))
        return self._of(part)

    def quantiles(self, directions: Floats, probabilities: Floats) -> Floats:
        if not self.holds_statistics:
            return self.in_blocks.quantiles(directions, probabilities)
        out = np.empty((len(directions), len(probabilities)))
        # A few directions at a time, as the values of all rows along them are held at once.
        step = max(1, self._limits.quantile_floats // max(self.n_rows, 1))
        threads = self.threads_for(len(directions))
        for start in range(0, len(directions), step):
            part = slice(start, start + step)
            self.table.quantiles(np.ascontiguousarray(directions[part]), probabilities, threads, out[part])
        return out

    def gather(self) -> Block:
        return self.part.read(0, self.n_rows)

    def scan(self, request: Histogram) -> Floats | None:
        """Gains of thresholds, made where the sums are (`shortcuts.scan`); None for families that the core lacks."""
        leaves = native_leaves(scan_family(request.family))
        if leaves is None or not (self.is_coded or self.is_factored):
            return None
        out = np.empty((len(request.cuts), 2, *request.edges.shape))
        self.table.scan(
            np.ascontiguousarray(request.directions),
            np.ascontiguousarray(request.edges),
            np.ascontiguousarray(request.cuts),
            leaves,
            leaf_coefficients(request.family, request.statistics),
            self.threads_for(len(request.directions) * len(request.cuts)),
            out,
        )
        return out

    def arranged(self, hyperplanes: Floats, shape: Shape) -> NativeRows:
        """The same rows sorted by their leaf if they are many: most subtrees can then be skipped."""
        limits = self._limits
        if self.n_rows < limits.fewest_arranged or shape.n_splits < limits.fewest_splits_arranged:
            return self
        tree = Tree(hyperplanes, shape, np.arange(shape.n_splits))
        leaf = np.empty(self.n_rows, dtype=np.int64)
        step = max(1, limits.arranged_floats // (shape.n_leaves + self.n_columns))
        data, chosen = self.part.data, self.part.chosen
        for start in range(0, self.n_rows, step):
            part = slice(start, start + step)
            X = data.X[part if chosen is None else chosen[part]]
            leaf[part] = mix_leaves(data.schema, tree, None, X, self.threads).argmax(axis=1)
        order = self._order
        if order is None:
            order = np.arange(self.n_rows)
        return self._of(self.part.take(order[np.argsort(leaf[order], kind="stable")]))

    @property
    def is_coded(self) -> bool:
        """Whether row statistics are a single one among zeros."""
        return self._whole.is_coded

    @property
    def is_factored(self) -> bool:
        """Whether row statistics are products of factors, which are made where they are summed."""
        return self._whole.is_factored

    @property
    def holds_statistics(self) -> bool:
        """Whether the compiled table has all row statistics: those of other families can be too many for memory."""
        return (
            self.is_coded
            or self.is_factored
            or self.n_rows * self.part.facts.n_statistics * 8 <= self._limits.kept_bytes
        )

    @property
    def has_table(self) -> bool:
        """Whether `table_passes` may be called."""
        return self.holds_statistics

    @property
    def in_floats(self) -> bool:
        """Whether ascents may make passes in float32."""
        return self._whole.in_floats

    def table_passes(self, tolerance: float, exact: bool) -> Any:
        """Return passes over the compiled table, for an ascent of this `Effort`."""
        hessian_rows = self if exact else self.sample(HESSIAN_ROWS)
        return TablePasses(
            self.table,
            hessian_rows.table,
            1.0 if hessian_rows is self else self.weight / hessian_rows.weight,
            self.threads,
            self._limits.fewest_gates,
            self.in_floats and tolerance >= self._limits.float_tolerance and not exact,
        )

    def threads_for(self, gates_per_row: int) -> int:
        """Threads for a request of so many gates for each row."""
        return self.threads if self.n_rows * gates_per_row >= self._limits.fewest_gates else 1

    @property
    def _order(self) -> Integers | None:
        """The order by content of a whole table, so that the order of rows cannot be seen in any sum.

        Views and samples of rows in order are in order, too: these have none.
        """
        return self.part.data.content.order if self.part.chosen is None else None

    @cached_property
    def _layout(self) -> _Layout:
        n, likelihood = self.n_rows, self.part.likelihood
        if self.is_coded:
            codes = np.asarray(cast("CodedFamily", likelihood).row_codes(self.part.targets))
            counts = np.bincount(codes)
        else:
            codes, counts = np.zeros(n, dtype=np.int64), np.array([n])
        # Rows with gaps come last in each segment, so that blocks without any are spared their work.
        has_gaps, chosen = self._whole.has_gaps, self.part.chosen
        if has_gaps is not None and chosen is not None:
            has_gaps = has_gaps[chosen]
        ranks, order = codes if has_gaps is None else 2 * codes + has_gaps, self._order
        order = np.argsort(ranks, kind="stable") if order is None else order[np.argsort(ranks[order], kind="stable")]
        present = np.flatnonzero(counts)
        gap_counts = np.zeros(len(counts)) if has_gaps is None else np.bincount(codes, has_gaps, len(counts))
        counts, gap_counts = counts[present], gap_counts[present].astype(np.int64)
        padded = -(-counts // pad) * pad
        segments = np.concatenate([[0], np.cumsum(padded)])
        skipped = segments[:-1] - np.concatenate([[0], np.cumsum(counts)[:-1]])
        row = np.full(segments[-1], -1, dtype=np.int64)
        row[np.arange(n) + np.repeat(skipped, counts)] = order
        gap_starts = np.where(gap_counts > 0, segments[:-1] + counts - gap_counts, segments[1:])
        return _Layout(row, segments, present.astype(np.int32), gap_starts)

    @cached_property
    def table(self) -> Any:
        """The compiled table."""
        row, segments, codes, gap_starts = self._layout
        is_row = row >= 0
        part, facts, schema = self.part, self.part.facts, self.part.data.schema

        def spread(values: Any) -> Any:
            return None if values is None else np.where(is_row, values[..., row], 0.0)

        statistics, targets, basis = None, None, None
        if self.is_factored:
            likelihood = cast("FactoredFamily", part.likelihood)
            targets, basis = spread(likelihood.target_moments(part.targets)), likelihood.column_basis(facts.n_columns)
        elif not self.is_coded:
            statistics = spread(part.read(0, self.n_rows).statistics.T)
        weights, chosen = spread(part.weights), part.chosen
        n_gaps = 0 if facts.gaps is None else len(facts.gaps.sources)
        n_factors = 0 if targets is None else 2 + (0 if basis is None else basis.shape[1])
        keeps = self.n_rows * (facts.n_columns + 1 + n_gaps + n_factors) * 8 <= self._limits.kept_bytes
        whole, places = None, None
        if keeps and chosen is not None and self._whole.table is not None:
            whole, place = self._whole.table
            places = np.where(is_row, place[chosen[row]], -1)
        table = Table(
            readable_cells(part.data.X),
            row if chosen is None else np.where(is_row, chosen[row], -1),
            segments,
            gap_starts,
            codes,
            facts.n_statistics,
            statistics,
            targets,
            None if basis is None else np.ascontiguousarray(basis),
            weights,
            weights if part.log_reach is None else spread(mass_of(part)),
            spread(part.log_reach),
            spread(part.log_other),
            native_units(schema),
            native_gaps(facts.gaps, schema.regressions),
            np.ascontiguousarray(facts.tail),
            keeps,
            whole,
            places,
        )
        if keeps and chosen is None:
            place = np.empty(self.n_rows, dtype=np.int64)
            place[row[is_row]] = np.flatnonzero(is_row)
            self._whole.table = table, place
        return table
