"""The information of splits: derivatives of the gradient, and their sums."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import expit

from bayesian_reticulum.rows.information import curvatures, sum_information, with_tail
from bayesian_reticulum.rows.limits import Limits

seeds = st.integers(0, 2**32 - 1)


@given(seed=seeds)
def test_observed_information_is_minus_the_derivative_of_the_slope_by_the_activation(seed):
    rng = np.random.default_rng(seed)
    activation, weights = rng.normal(size=20), rng.uniform(0.5, 2, size=20)
    # Likelihoods left and right of the split, and of the rest of the tree.
    one, two, rest = rng.uniform(0.05, 1, size=(3, 20))

    def responsibilities(a):
        left, right = expit(a) * one, expit(-a) * two
        return weights * left / (left + right + rest), weights * (left + right) / (left + right + rest)

    def slope(a):
        left, reached = responsibilities(a)
        return left - reached * expit(a)

    observed, complete = curvatures(*responsibilities(activation), expit(activation), slope(activation), weights)
    step = 1e-5
    numeric = (slope(activation - step) - slope(activation + step)) / (2 * step)
    np.testing.assert_allclose(observed, numeric, rtol=1e-6, atol=1e-8)
    gate = expit(activation)
    np.testing.assert_allclose(complete, responsibilities(activation)[1] * gate * (1 - gate))


@pytest.mark.parametrize("limits", [Limits(), Limits(product_floats=1), Limits(widest_products=0)])
@given(seed=seeds, n=st.integers(1, 50), width=st.integers(1, 4))
def test_sums_of_products_are_the_same_whatever_is_formed_at_once(limits, seed, n, width):
    rng = np.random.default_rng(seed)
    design, curvature = rng.normal(size=(width, n)), rng.normal(size=(6, n))
    expected = np.einsum("sn,in,jn->sij", curvature, design, design)
    np.testing.assert_allclose(sum_information(design, curvature, limits), expected, atol=1e-10)


def test_the_information_of_activations_stands_behind_that_of_columns():
    matrices, curvature = np.arange(8.0).reshape(2, 2, 2), np.array([[1.0, 2.0], [3.0, -1.0]])
    out = with_tail(matrices, curvature)
    np.testing.assert_array_equal(out[:, :2, :2], matrices)
    np.testing.assert_array_equal(out[:, 2, 2], [3.0, 2.0])
    assert not out[:, 2, :2].any()
