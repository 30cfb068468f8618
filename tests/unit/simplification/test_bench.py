"""Rows with what they are made of: made anew on fewer columns, fewer rows, or along other axes."""

import numpy as np

from bayesian_reticulum.data import identity_schema
from bayesian_reticulum.families import DirichletCategorical, NormalLinear
from bayesian_reticulum.rows import RowData, rows_in_memory
from bayesian_reticulum.simplification.bench import Bench


def bench_of(family, n=200):
    rng = np.random.default_rng(0)
    data = RowData.of(rng.normal(size=(n, 3)), rng.integers(2, size=n), np.ones(n), identity_schema(3))
    return Bench(data, family, lambda made_of: rows_in_memory(made_of, family))


def test_rows_are_made_once_and_anew_on_fewer_columns_or_rows():
    bench = bench_of(DirichletCategorical((0.5, 0.5)))
    assert bench.rows is bench.rows
    assert bench.restricted(np.array([0, 2])).rows.n_columns == 2
    assert bench.sample(100) is bench
    assert bench.sample(50).rows.n_rows < 120
    rotated, rotation = bench.rotated(1)
    np.testing.assert_array_equal(rotated.rows.tail, rotation.tail)
    assert len(rotation.tail) == 2


def test_linear_leaves_depend_on_all_columns():
    assert bench_of(NormalLinear(n_slopes=3)).restricted(np.array([0])) is None
