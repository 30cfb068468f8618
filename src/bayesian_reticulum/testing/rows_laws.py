"""The laws of rows: their sums are those of arrays, and do not depend on how rows are cut into parts or repeated."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from ..arrays import Floats
from ..families import Family
from ..rows import (
    ArrayRows,
    BelowSplits,
    GreyShares,
    Histogram,
    Likelihood,
    LocalRows,
    MembershipSums,
    Moments,
    Pass,
    Request,
    RowData,
    Rows,
    TreeContext,
    view_of_leaf,
)
from ..tree import Shape, single_leaf, split_leaf
from .case import agree, hold

MakeRows = Callable[[RowData, Likelihood], Rows]
_SUMS_TOLERANCE = 1e-9


@dataclass(frozen=True, eq=False)
class RowsCase:
    """Rows that are held to laws: what makes them, their data, and the family whose likelihood they know."""

    make_rows: MakeRows
    data: RowData
    family: Family

    def rows(self, data: RowData | None = None) -> Rows:
        """The rows of the data, or of others."""
        return self.make_rows(self.data if data is None else data, self.family)

    def arrays(self, data: RowData | None = None) -> ArrayRows:
        """The reference: rows as NumPy arrays."""
        return ArrayRows.of_data(self.data if data is None else data, self.family)

    def trees(self, rng: np.random.Generator) -> tuple[Floats, Shape, Floats]:
        """Two trees of two splits, and leaf statistics that rows like these could have."""
        n_columns = self.data.schema.n_columns
        tree = split_leaf(single_leaf(n_columns), 0, rng.normal(size=n_columns + 1))
        tree = split_leaf(tree, 1, rng.normal(size=n_columns + 1))
        stack = np.stack([tree.hyperplanes, rng.normal(size=tree.hyperplanes.shape)])
        return stack, tree.shape, self.arrays().reduce(MembershipSums(stack, tree.shape)).statistics

    def context(self, rng: np.random.Generator) -> TreeContext:
        """A tree with the parameters of its leaves."""
        stack, shape, statistics = self.trees(rng)
        return TreeContext(stack[0], shape, self.family.expected_parameters(statistics[0]))

    def requests(self, rng: np.random.Generator) -> list[Request[Any]]:
        """One request of each type."""
        stack, shape, statistics = self.trees(rng)
        expected, of_leaf = self.family.expected_parameters(statistics), statistics[0, 0]
        width = stack.shape[-1]
        directions, cuts = rng.normal(size=(3, width)), rng.normal(size=(2, width))
        edges = np.tile([-0.731, 0.137, 0.913], (3, 1))
        return [
            Pass(stack, shape, expected, information=True),
            Pass(stack, shape, expected),
            MembershipSums(stack, shape),
            BelowSplits(stack[0], shape, expected[0]),
            GreyShares(stack[0], shape, 0.1, 0.9),
            Moments(self.family, of_leaf),
            Histogram(self.family, of_leaf, directions, edges, cuts),
        ]


def _same_sums(sums: Any, expected: Any, request: Request[Any], what: str) -> None:
    """Check that sums are as expected, but for rounding of the largest entry of each."""
    name = type(request).__name__
    for field in fields(expected):
        found, wanted = getattr(sums, field.name), getattr(expected, field.name)
        hold((found is None) == (wanted is None), f"{name}.{field.name}, {what}: only one is None", "reduce")
        if wanted is not None:
            otherwise = f"{name}.{field.name}: expected an array of NumPy, found {type(found)}"
            hold(isinstance(found, np.ndarray), otherwise, "reduce")
            unit = max(1.0, float(np.abs(wanted).max(initial=0.0)))
            agree(found, wanted, f"{name}.{field.name}, {what}", "reduce", unit=unit, tolerance=_SUMS_TOLERANCE)


def _same_rows(rows: Rows, expected: Rows, case: RowsCase, rng: np.random.Generator, what: str) -> None:
    """Check that two rows know the same of themselves, and have the same sums of all requests."""
    hold(rows.n_rows == expected.n_rows, f"{what}: expected {expected.n_rows} rows, found {rows.n_rows}", "n_rows")
    agree(rows.weight, expected.weight, f"{what}: the weight", "weight")
    for request in case.requests(rng):
        _same_sums(rows.reduce(request), expected.reduce(request), request, what)


def rows_know_their_table(case: RowsCase, rng: np.random.Generator) -> None:
    """Number, columns, axes and tail are those of the data."""
    rows = case.rows()
    hold(rows.n_rows == case.data.n_rows, f"expected {case.data.n_rows} rows, found {rows.n_rows}", "n_rows")
    expected = case.data.schema.n_columns
    hold(rows.n_columns == expected, f"expected {expected} columns, found {rows.n_columns}", "n_columns")
    agree(rows.axes, case.data.axes, "axes", "axes")
    agree(rows.tail, case.data.tail, "tail", "tail")


def sums_are_those_of_arrays(case: RowsCase, rng: np.random.Generator) -> None:
    """The sums of each request are those of `ArrayRows` in NumPy."""
    _same_rows(case.rows(), case.arrays(), case, rng, "beside those of arrays")


def sums_of_partitions_add(case: RowsCase, rng: np.random.Generator) -> None:
    """The sums of two parts of the rows add up to those of all."""
    is_first = rng.uniform(size=case.data.n_rows) < 0.3
    whole = case.rows()
    parts = [case.rows(case.data.take(np.flatnonzero(chosen))) for chosen in (is_first, ~is_first)]
    for request in case.requests(rng):
        first, second = (part.reduce(request) for part in parts)
        _same_sums(first + second, whole.reduce(request), request, "the sum of two parts beside the whole")


def the_order_of_rows_is_of_no_importance(case: RowsCase, rng: np.random.Generator) -> None:
    """Rows in another order have the same sums, and the same sample."""
    shuffled = case.rows(case.data.take(rng.permutation(case.data.n_rows)))
    _same_rows(shuffled, case.rows(), case, rng, "in another order")
    size = case.data.n_rows // 5
    _same_rows(shuffled.sample(size), case.rows().sample(size), case, rng, "a sample of rows in another order")


def an_integer_weight_equals_repeated_rows(case: RowsCase, rng: np.random.Generator) -> None:
    """A row of weight 2 is two rows, in every sum and view."""
    times = rng.integers(1, 4, size=case.data.n_rows)
    weighted = case.rows(replace(case.data, weights=times.astype(np.float64)))
    repeats = case.data.take(np.repeat(np.arange(case.data.n_rows), times))
    repeated = case.rows(replace(repeats, weights=np.ones(repeats.n_rows)))
    agree(weighted.weight, repeated.weight, "the weight of repeated rows", "weight")
    context = case.context(rng)
    for request in case.requests(rng):
        _same_sums(weighted.reduce(request), repeated.reduce(request), request, "weights beside repeats")
        one, other = (view_of_leaf(rows, context, 1).reduce(request) for rows in (weighted, repeated))
        _same_sums(one, other, request, "a view of weights beside one of repeats")


def views_are_those_of_arrays(case: RowsCase, rng: np.random.Generator) -> None:
    """Views from leaves, views of views and samples of views have the sums of those of arrays."""
    context = case.context(rng)
    rows, arrays = case.rows(), case.arrays()
    leaves = [2, 0, 1]
    for leaf, view, expected in zip(leaves, rows.views(context, leaves), arrays.views(context, leaves), strict=True):
        _same_rows(view, expected, case, rng, f"in the view from leaf {leaf}")
        nested = case.context(rng)
        _same_rows(view_of_leaf(view, nested, 0), view_of_leaf(expected, nested, 0), case, rng, "in a view of a view")
        size = max(1, expected.n_rows // 5)
        _same_rows(view.sample(size), expected.sample(size), case, rng, "in a sample of a view")


def the_view_of_a_tree_without_splits_is_all_rows(case: RowsCase, rng: np.random.Generator) -> None:
    """A single leaf sees all rows as they are."""
    leaf = single_leaf(case.data.schema.n_columns)
    statistics = case.arrays().reduce(MembershipSums(leaf.hyperplanes[None], leaf.shape)).statistics[0]
    context = TreeContext(leaf.hyperplanes, leaf.shape, case.family.expected_parameters(statistics))
    _same_rows(view_of_leaf(case.rows(), context, 0), case.arrays(), case, rng, "in the view of a single leaf")


def samples_are_those_of_arrays(case: RowsCase, rng: np.random.Generator) -> None:
    """A sample has the rows that the keys of `row_keys` choose; a large one is all rows, which can be gathered."""
    n = case.data.n_rows
    for size in (n // 5, n // 20, n):
        sample, expected = case.rows().sample(size), case.arrays().sample(size)
        _same_rows(sample, expected, case, rng, f"in a sample of {size} rows")
        _same_quantiles(sample, expected, case, rng)
    block = case.rows().sample(n).gather()
    hold(block.design.shape == (case.data.schema.n_columns + 1, n), f"expected a design of all {n} rows", "gather")
    hold(isinstance(block.design, np.ndarray), "expected a block of NumPy", "gather")
    agree(block.weights.sum(), case.data.weights.sum(), "the weights of all rows", "gather")


def _same_quantiles(sample: LocalRows, expected: LocalRows, case: RowsCase, rng: np.random.Generator) -> None:
    directions = rng.normal(size=(2, case.data.schema.n_columns + 1))
    probabilities = np.array([0.0, 0.25, 0.5, 0.9, 1.0])
    found, wanted = (rows.quantiles(directions, probabilities) for rows in (sample, expected))
    agree(found, wanted, "quantiles of a sample", "quantiles")


LAWS = (
    rows_know_their_table,
    sums_are_those_of_arrays,
    sums_of_partitions_add,
    the_order_of_rows_is_of_no_importance,
    an_integer_weight_equals_repeated_rows,
    views_are_those_of_arrays,
    the_view_of_a_tree_without_splits_is_all_rows,
    samples_are_those_of_arrays,
)
