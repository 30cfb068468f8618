"""Damped Newton steps of hyperplanes."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from bayesian_reticulum.evidence.newton import newton_steps

seeds = st.integers(0, 2**32 - 1)
NO_TAIL = np.empty(0)


@given(seed=seeds, width=st.integers(1, 4), count=st.integers(1, 5), damped=st.booleans())
def test_newton_uses_the_complete_information_where_the_observed_is_indefinite(seed, width, count, damped):
    rng = np.random.default_rng(seed)
    factors = rng.normal(size=(2, count, 1, width, width + 1))
    observed, complete = factors @ factors.swapaxes(-1, -2)
    prior = rng.uniform(0.1, 1, size=(count, 1, width))
    indefinite = rng.random(count) < 0.5
    observed[indefinite] -= 1000 * np.eye(width)
    gradient = rng.normal(size=(count, 1, width))
    damping = np.full(count, 0.5 * damped)
    steps = newton_steps(gradient, observed, complete, prior, damping, NO_TAIL)
    for tree in range(count):
        safe = complete[tree, 0] + np.diag(prior[tree, 0])
        used = safe if indefinite[tree] else observed[tree, 0] + np.diag(prior[tree, 0])
        expected = np.linalg.solve(used + damping[tree] * safe, gradient[tree, 0])
        np.testing.assert_allclose(steps[tree, 0], expected, rtol=1e-6, atol=1e-9)
        assert gradient[tree, 0] @ steps[tree, 0] >= 0


@given(seed=seeds, n_tail=st.integers(1, 3))
def test_a_tail_is_a_diagonal_matrix(seed, n_tail):
    rng = np.random.default_rng(seed)
    factors = rng.normal(size=(2, 2, 3, 2, 3))
    lead = factors @ factors.swapaxes(-1, -2)
    activation, tail = rng.uniform(0.1, 2, size=(2, 2, 3)), rng.uniform(0.5, 2, size=n_tail)
    packed, whole = np.zeros((2, 2, 3, 3, 3)), np.zeros((2, 2, 3, 2 + n_tail, 2 + n_tail))
    packed[..., :2, :2] = whole[..., :2, :2] = lead
    packed[..., -1, -1] = activation
    places = np.arange(2, 2 + n_tail)
    whole[..., places, places] = activation[..., None] * tail
    gradient, prior = rng.normal(size=(2, 3, 2 + n_tail)), rng.uniform(0.1, 1, size=(2, 3, 2 + n_tail))
    damping = np.array([0.0, 1.0])
    steps = newton_steps(gradient, *packed, prior, damping, tail)
    np.testing.assert_allclose(steps, newton_steps(gradient, *whole, prior, damping, NO_TAIL), rtol=1e-9)
