"""Arrays of other libraries, and what the array API standard lacks."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import logsumexp

from bayesian_reticulum.arrays import unpack_symmetric
from bayesian_reticulum.namespaces import (
    beside,
    log_sum_exp,
    namespace_of,
    permuted,
    sum_by_bin,
    to_numpy,
    unpacked_symmetric,
    zeros_beside,
)
from plugins import strict_arrays

strict = strict_arrays()
LIBRARIES = pytest.mark.parametrize("like", [np.empty(0), strict.zeros(0)], ids=["NumPy", "strict"])
seeds = st.integers(0, 2**32 - 1)


@LIBRARIES
def test_arrays_are_made_beside_others_and_come_back(like):
    values = np.arange(6.0).reshape(2, 3)
    array = beside(like, values)
    assert type(array) is type(like)
    assert type(zeros_beside(like, (2, 0))) is type(like)
    assert zeros_beside(like, (2, 0)).shape == (2, 0)
    np.testing.assert_array_equal(to_numpy(array), values)
    np.testing.assert_array_equal(to_numpy(permuted(array, (1, 0))), values.T)


def test_the_namespace_of_an_array_is_that_of_its_library():
    assert namespace_of(np.zeros(1)) is np
    assert namespace_of(strict.zeros(1)) is strict


@LIBRARIES
@given(seed=seeds, leaves=st.integers(1, 4))
def test_sums_of_exponentials_neither_overflow_nor_underflow(like, seed, leaves):
    logs = np.random.default_rng(seed).uniform(-2000, 2000, size=(leaves, 5))
    logs[0, 0] = -np.inf
    with np.errstate(divide="ignore"):
        found = to_numpy(log_sum_exp(beside(like, logs)))
    np.testing.assert_allclose(found, logsumexp(logs, axis=0), rtol=1e-12)


@LIBRARIES
@given(seed=seeds, width=st.integers(1, 5))
def test_triangles_become_matrices(like, seed, width):
    packed = np.random.default_rng(seed).normal(size=(2, 3, width * (width + 1) // 2))
    found = to_numpy(unpacked_symmetric(beside(like, packed), width))
    np.testing.assert_array_equal(found, unpack_symmetric(packed, width))


@LIBRARIES
@given(seed=seeds, n=st.integers(1, 30), n_directions=st.integers(1, 3), n_bins=st.integers(1, 4))
def test_each_row_is_counted_in_one_bin_of_each_direction(like, seed, n, n_directions, n_bins):
    rng = np.random.default_rng(seed)
    index, values = rng.integers(n_bins, size=(n_directions, n)), rng.normal(size=(n, 2))
    sums = to_numpy(sum_by_bin(beside(like, index), n_bins, beside(like, values)))
    for direction in range(n_directions):
        for number in range(n_bins):
            expected = values[index[direction] == number].sum(axis=0)
            np.testing.assert_allclose(sums[direction * n_bins + number], expected, atol=1e-12)
