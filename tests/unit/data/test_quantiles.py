"""Weighted quantiles and sums: weights equal repeats, in any order of rows."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayesian_reticulum.data.quantiles import quantiles_of_sorted, sort_cells, weighted_quantiles, weights_by_code

PROBABILITIES = [0.0, 0.1, 0.5, 0.9, 1.0]


@given(seed=st.integers(0, 1000), n=st.integers(1, 30))
def test_integer_weights_equal_repeats_in_any_order(seed, n):
    rng = np.random.default_rng(seed)
    values, times = rng.integers(5, size=(n, 2)).astype(float), rng.integers(1, 4, size=n)
    rows = rng.permutation(np.repeat(np.arange(n), times))
    expected = weighted_quantiles(values[rows], np.ones(len(rows)), PROBABILITIES)
    np.testing.assert_array_equal(weighted_quantiles(values, times.astype(float), PROBABILITIES), expected)
    ordered = np.sort(values[rows], axis=0)
    np.testing.assert_array_equal(expected[:, [0, -1]], ordered[[0, -1]].T)
    # The smallest value that so many rows do not exceed.
    share = (ordered <= expected[:, 2]).mean(axis=0)
    assert (share >= 0.5).all()
    assert ((ordered < expected[:, 2]).mean(axis=0) < 0.5).all()


@given(seed=st.integers(0, 1000), equal=st.booleans())
def test_sums_are_the_same_to_the_last_bit_in_any_order(seed, equal):
    rng = np.random.default_rng(seed)
    cells, codes = rng.integers(6, size=50).astype(float), rng.integers(4, size=50)
    weights = np.full(50, 0.1) if equal else rng.uniform(size=50)
    order = rng.permutation(50)
    for one, other in zip(sort_cells(cells, weights), sort_cells(cells[order], weights[order]), strict=True):
        np.testing.assert_array_equal(one, other)
    by_code = weights_by_code(codes, weights, 5)
    np.testing.assert_array_equal(weights_by_code(codes[order], weights[order], 5), by_code)
    np.testing.assert_allclose(by_code, [weights[codes == code].sum() for code in range(5)])


def test_equal_cells_are_one_with_their_weight():
    cells, weights = sort_cells(np.array([2.0, 1.0, 2.0]), np.array([1.0, 2.0, 3.0]))
    np.testing.assert_array_equal(cells, [1.0, 2.0])
    np.testing.assert_array_equal(weights, [2.0, 4.0])
    assert [len(part) for part in sort_cells(np.empty(0), np.empty(0))] == [0, 0]


@pytest.mark.parametrize(("probability", "expected"), [(0.3, 1.0), (0.3001, 2.0), (1.0, 2.0)])
def test_a_quantile_at_a_step_is_the_lower_cell(probability, expected):
    assert quantiles_of_sorted(np.array([1.0, 2.0]), np.array([0.3, 0.7]), [probability]) == expected
