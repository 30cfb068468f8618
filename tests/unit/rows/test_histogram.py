"""Histograms along directions, and the evidence of hard thresholds."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from bayesian_reticulum.families.dirichlet import DirichletCategorical
from bayesian_reticulum.rows.histogram import bin_indicators, threshold_gains

seeds = st.integers(0, 2**32 - 1)


@given(seed=seeds, n=st.integers(1, 30), n_directions=st.integers(1, 3), n_edges=st.integers(1, 4))
def test_each_row_is_in_one_bin_of_each_direction(seed, n, n_directions, n_edges):
    rng = np.random.default_rng(seed)
    design = np.concatenate([np.ones((1, n)), rng.normal(size=(2, n))])
    directions, edges = rng.normal(size=(n_directions, 3)), np.sort(rng.normal(size=(n_directions, n_edges)), axis=1)
    indicators = bin_indicators(directions, edges, design).toarray().reshape(n, n_directions, n_edges + 1)
    for row in range(n):
        for direction in range(n_directions):
            bin_ = sum(directions[direction] @ design[:, row] > edge for edge in edges[direction])
            np.testing.assert_array_equal(indicators[row, direction], np.arange(n_edges + 1) == bin_)


@given(seed=seeds, bins=st.integers(2, 5), k=st.integers(1, 3))
def test_a_threshold_gains_the_evidence_of_both_sides_less_that_of_all(seed, bins, k):
    rng = np.random.default_rng(seed)
    family, histogram = DirichletCategorical((0.5,) * k), rng.gamma(1.0, 5.0, size=(3, 2, bins, k))
    gains = threshold_gains(family, histogram)
    assert gains.shape == (3, 2, bins - 1)
    for edge in range(bins - 1):
        below, above = histogram[..., : edge + 1, :].sum(axis=-2), histogram[..., edge + 1 :, :].sum(axis=-2)
        expected = family.log_evidence(below) + family.log_evidence(above) - family.log_evidence(below + above)
        np.testing.assert_allclose(gains[..., edge], expected, atol=1e-9)
