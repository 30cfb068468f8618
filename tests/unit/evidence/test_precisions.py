"""The update of precisions: determined slopes over their squared length."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayesian_reticulum.evidence.precisions import PRECISION_RANGE, update_precisions
from bayesian_reticulum.evidence.prices import prior_diagonal

seeds = st.integers(0, 2**32 - 1)


@given(seed=seeds, width=st.integers(2, 5))
def test_an_updated_precision_is_determined_slopes_over_their_squared_length(seed, width):
    rng = np.random.default_rng(seed)
    factor = rng.normal(size=(width, width + 2))
    H, w, precision = factor @ factor.T, rng.normal(size=width), float(rng.uniform(1e-2, 2))
    uncertain = np.diag(np.linalg.inv(H + np.diag(prior_diagonal(np.array(precision), width))))[1:].sum()
    expected = (width - 1 - precision * uncertain + 0.02) / (w[1:] @ w[1:] + 0.02)
    updated = update_precisions(w[None, None], np.array([[precision]]), H[None, None])[0, 0]
    assert updated == pytest.approx(np.clip(expected, 1e-6, 1e3), rel=1e-6)


def test_a_hyperplane_that_vanishes_has_a_finite_precision():
    updated = update_precisions(np.zeros((1, 3)), np.ones(1), np.zeros((1, 3, 3)))
    np.testing.assert_allclose(updated, 1.0)
    updated = update_precisions(np.zeros((1, 3)), np.ones(1), 1e9 * np.eye(3)[None])
    assert 1 < updated[0] <= PRECISION_RANGE[1]


def test_a_hyperplane_of_any_length_has_a_precision_above_zero():
    assert update_precisions(np.full((1, 3), 1e9), np.ones(1), np.zeros((1, 3, 3)))[0] == PRECISION_RANGE[0]
