"""The inverse information of Newton's direction."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from bayesian_reticulum.evidence.newton import newton_inverses

seeds = st.integers(0, 2**32 - 1)


@given(seed=seeds, width=st.integers(1, 4), count=st.integers(1, 5))
def test_newton_uses_the_complete_information_where_the_observed_is_indefinite(seed, width, count):
    rng = np.random.default_rng(seed)
    factors = rng.normal(size=(2, count, width, width + 1))
    observed, complete = factors @ factors.swapaxes(-1, -2)
    prior = rng.uniform(0.1, 1, size=(count, width))
    indefinite = rng.random(count) < 0.5
    observed[indefinite] -= 100 * np.eye(width)
    cautious = rng.random(count) < 0.5
    inverses, of_use = newton_inverses(
        observed[:, None], complete[:, None], prior[:, None], cautious[:, None, None, None]
    )
    inverses = inverses[:, 0]
    for index in range(count):
        both = 0.8 * observed[index] + 0.2 * complete[index] if cautious[index] else observed[index]
        usable = np.linalg.eigvalsh(both + np.diag(prior[index])).min() > 0
        assert of_use[index] == (cautious[index] or not usable)
        information = both if usable else complete[index]
        np.testing.assert_allclose(inverses[index] @ (information + np.diag(prior[index])), np.eye(width), atol=1e-6)
        assert np.linalg.eigvalsh(inverses[index]).min() > 0
