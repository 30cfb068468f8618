"""Keys of rows depend on their content alone, and samples on keys."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from asking import view_from
from bayesian_reticulum.data.schema import identity_schema
from bayesian_reticulum.families.dirichlet import DirichletCategorical
from bayesian_reticulum.rows.sampling import row_keys, sampled_places
from bayesian_reticulum.tree import single_leaf, split_leaf
from plugins import each_backend

seeds = st.integers(0, 2**32 - 1)
family = DirichletCategorical((0.5, 0.5))


@given(seed=seeds, n=st.integers(1, 30), d=st.integers(0, 4))
def test_the_key_of_a_row_does_not_depend_on_other_rows(seed, n, d):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(n, d)), rng.integers(3, size=n)
    rows = rng.integers(n, size=2 * n)
    np.testing.assert_array_equal(row_keys(X[rows], y[rows]), row_keys(X, y)[rows])
    np.testing.assert_array_equal(row_keys(np.asfortranarray(X), y.astype(float)), row_keys(X, y))


def test_rows_that_differ_in_a_cell_a_target_or_their_order_of_cells_have_other_keys():
    rows = [[0.0, 1.0], [1.0, 0.0], [0.0, 1.0], [0.0, np.nan], [np.nan, 0.0], [0.0, 1.0 + 2**-52]]
    assert len(set(row_keys(np.array(rows), np.array([0, 0, 1, 0, 0, 0])).tolist())) == len(rows)


def test_zeros_and_gaps_have_one_key_however_they_are_written():
    other_gap = np.uint64(0xFFF8000000000123).view(np.float64)
    X = np.array([[0.0, np.nan], [-0.0, other_gap]])
    one, other = row_keys(X, np.zeros(2))
    assert one == other


def test_single_precision_cells_have_the_keys_of_the_same_values_in_double():
    X = np.random.default_rng(0).normal(size=(5, 2)).astype(np.float32)
    np.testing.assert_array_equal(row_keys(X, np.zeros(5)), row_keys(X.astype(np.float64), np.zeros(5)))


@pytest.mark.parametrize("cells", ["normal", "whole numbers"])
def test_keys_are_spread_evenly(cells):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40_000, 2)) if cells == "normal" else np.indices((200, 200)).reshape(2, -1).T
    counts = np.histogram(row_keys(X, np.zeros(len(X))).astype(float), bins=16, range=(0, 2.0**64))[0]
    # Standard deviation of a count: 48.
    assert np.abs(counts - 2500).max() < 250


def test_a_smaller_share_is_part_of_a_larger_one():
    keys = row_keys(np.random.default_rng(0).normal(size=(5000, 1)), np.zeros(5000))
    few, many = sampled_places(keys, 500, 0.1), sampled_places(keys, 1000, 0.2)
    assert 400 < len(few) < 600
    assert 850 < len(many) < 1150
    assert set(few.tolist()) <= set(many.tolist())


def test_there_is_no_sample_where_rows_come_in_lumps():
    lump = np.full(900, 1 << 10, dtype=np.uint64)
    scattered = np.linspace(0, 2.0**64, 100, endpoint=False).astype(np.uint64)
    assert sampled_places(np.concatenate([lump, scattered]), 100, 0.1) is None
    assert sampled_places(lump[:0], 100, 0.1) is None


@each_backend
def test_a_sample_is_the_same_in_any_order_and_for_repeats(rows_class):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(3000, 3)), rng.integers(2, size=3000)
    times = rng.integers(1, 3, size=3000)
    repeats, order = np.repeat(np.arange(3000), times), rng.permutation(3000)

    def sample(X, y, weights, size=500):
        part = rows_class.of_table(X, y, family, weights.astype(float), identity_schema(3)).sample(size)
        return part, {tuple(row) for row in X[part.part.chosen]}

    one, cells = sample(X, y, times)
    assert 300 < one.n_rows < 700
    assert sample(X[order], y[order], times[order])[1] == cells
    repeated, same_cells = sample(X[repeats], y[repeats], np.ones(len(repeats)))
    # Repeats are more rows, so that fewer of them are taken; those that are come with all of their repeats.
    assert same_cells <= cells
    assert repeated.weight == times[[tuple(row) in same_cells for row in X]].sum()
    assert one.sample(400) is one
    # A sample of a sample is one of the whole.
    few, few_cells = one.sample(100), sample(X, y, times, 100)[1]
    assert 60 < few.n_rows < 140
    assert {tuple(row) for row in X[few.part.chosen]} <= cells
    assert len(few_cells & {tuple(row) for row in X[few.part.chosen]}) > 60


@each_backend
def test_a_sample_of_a_view_knows_what_the_view_knows_of_its_rows(rows_class):
    rng = np.random.default_rng(0)
    X, y, weights = rng.normal(size=(2000, 2)), rng.integers(2, size=2000), rng.uniform(0.5, 2, size=2000)
    rows = rows_class.of_table(X, y, family, weights, identity_schema(2))
    tree = split_leaf(single_leaf(2), 0, [0.0, 2.0, 0.0])
    view = view_from(rows, tree.hyperplanes, tree.shape, np.array([[30.0, 10.0], [10.0, 30.0]]), 0)
    sample = view.sample(200)
    assert 100 < sample.n_rows < 400
    # Compiled rows lie in the order of their content.
    order = np.argsort(view.part.chosen)
    places = order[np.searchsorted(view.part.chosen, sample.part.chosen, sorter=order)]
    np.testing.assert_array_equal(view.part.chosen[places], sample.part.chosen)
    for name in ("weights", "log_reach", "log_other"):
        np.testing.assert_array_equal(getattr(sample.part, name), getattr(view.part, name)[places], err_msg=name)


@each_backend
def test_rows_that_are_nearly_all_repeats_are_not_sampled(rows_class):
    X = np.repeat([[0.0], [-0.0], [1.0], [2.0]], 1000, axis=0)
    y = np.tile([0, 1], 2000)
    rows = rows_class.of_table(X, y, family, np.ones(4000), identity_schema(1))
    assert rows.sample(100) is rows
