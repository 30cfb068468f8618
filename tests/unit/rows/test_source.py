"""What rows are made of: fewer columns, fewer rows and other axes, before there are any rows."""

import numpy as np

from asking import pass_at, rows_of_data
from bayesian_reticulum.data.schema import Schema, identity_schema
from bayesian_reticulum.families.dirichlet import DirichletCategorical
from bayesian_reticulum.rows.arrays import ArrayRows
from bayesian_reticulum.rows.source import RowData
from bayesian_reticulum.tree import single_leaf, split_leaf
from row_problems import SUMS

family = DirichletCategorical((0.5, 0.5))
NAMES = tuple(f"x{j}" for j in range(30))


def rows_of(data):
    return rows_of_data(ArrayRows, data, family)


def test_rows_of_some_columns_are_rows_of_a_smaller_table():
    rng = np.random.default_rng(0)
    X, y, weights = rng.normal(size=(30, 4)), rng.integers(2, size=30), rng.uniform(0.5, 2, size=30)
    columns = np.array([1, 3])
    some = RowData.of(X, y, weights, Schema.from_columns(X, weights, tuple("abcd"))).restricted(columns)
    alone = RowData.of(X[:, columns], y, weights, Schema.from_columns(X[:, columns], weights, ("b", "d")))
    tree = split_leaf(single_leaf(2), 0, [0.3, 1.0, -2.0])
    statistics = rng.gamma(2.0, 3.0, size=(1, 2, 2))
    one, other = (
        pass_at(rows_of(data), tree.hyperplanes[None], tree.shape, statistics, information=True)
        for data in (some, alone)
    )
    for name in SUMS:
        np.testing.assert_allclose(getattr(one, name), getattr(other, name), rtol=1e-12, err_msg=name)


def test_rows_whose_gaps_depend_on_all_columns_cannot_be_restricted():
    X = np.random.default_rng(0).normal(size=(30, 2))
    X[0, 0] = np.nan
    apart = RowData.of(X, np.zeros(30, dtype=int), np.ones(30), Schema.from_columns(X, np.ones(30), ("a", "b")))
    assert apart.restricted(np.array([0])) is not None
    together = apart.with_schema(apart.schema.with_regressions(X, np.ones(30)))
    assert together.restricted(np.array([0])) is None


def test_missing_cells_stay_in_view_of_rotated_rows():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(20, 30)), rng.integers(2, size=20)
    X[rng.uniform(size=X.shape) < 0.05] = np.nan
    data = RowData.of(X, y, np.ones(20), Schema.from_columns(X, np.ones(20), NAMES))
    along, rotation = data.rotated(5)
    basis = rotation.basis
    rank = basis.shape[1]
    rows = rows_of(along)
    assert (rows.n_columns, len(rows.tail), rows.axes.shape) == (rank, rank - 5, (30, rank))
    tree = split_leaf(single_leaf(rank), 0, rng.normal(size=rank + 1))
    statistics = rng.gamma(2.0, 3.0, size=(1, 2, 2))
    one = pass_at(rows, tree.hyperplanes[None], tree.shape, statistics)
    other = pass_at(rows_of(data), rotation.undo(tree.hyperplanes)[None], tree.shape, statistics)
    np.testing.assert_allclose(one.log_normalizer, other.log_normalizer, rtol=1e-9)
    np.testing.assert_allclose(one.gradient[..., 1:], other.gradient[..., 1:] @ basis, rtol=1e-7, atol=1e-8)


def test_a_sample_is_in_the_order_of_its_content_whatever_the_order_of_the_table():
    rng = np.random.default_rng(0)
    X, y, order = rng.normal(size=(1000, 2)), rng.integers(2, size=1000), rng.permutation(1000)
    data, shuffled = (RowData.of(X[at], y[at], np.ones(1000), identity_schema(2)) for at in (np.arange(1000), order))
    sample = data.sample(100)
    assert 60 < sample.n_rows < 150
    np.testing.assert_array_equal(shuffled.sample(100).X, sample.X)
    np.testing.assert_array_equal(sample.content.keys, np.sort(sample.content.keys))
    assert data.sample(500) is data
    np.testing.assert_array_equal(shuffled.in_order().X, data.in_order().X)


def test_of_rows_that_are_mostly_repeats_all_are_the_sample():
    X = np.repeat([[0.0], [1.0], [2.0]], 500, axis=0)
    data = RowData.of(X, np.zeros(1500, dtype=int), np.ones(1500), identity_schema(1))
    assert data.sample(100).n_rows == 1500
