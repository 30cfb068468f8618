"""What missing cells add to gradient and information: the derivatives of softened activations."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from bayesian_reticulum.gates import gap_softening
from bayesian_reticulum.rows.gap_sums import gap_gradient, gap_information
from plugins import draw_table, examples
from row_problems import differences


class Bowl:
    """A sum over rows of a quadratic function of the softened activation of each."""

    def __init__(self, rng, n=8, n_columns=4):
        X, self.schema = draw_table(rng, n, n_columns, "all sorts")
        X[0, 0] = np.nan
        self.gaps = self.schema.gaps(X)
        self.design, self.missing = self.schema.filled(X, self.gaps)
        self.top, self.bend = rng.normal(size=n), rng.uniform(0.5, 2, size=n)

    def activations(self, hyperplane):
        soft = gap_softening(self.gaps, hyperplane[None, None], self.missing)
        return soft * (hyperplane @ self.design), soft

    def value(self, hyperplanes):
        activation, _ = self.activations(hyperplanes[0])
        return float(-0.5 * (self.bend * (activation - self.top) ** 2).sum())

    def sums(self, hyperplanes, information):
        """Gradient and observed information as rows sum them: those of the columns, and what gaps add."""
        activation, soft = self.activations(hyperplanes[0])
        slope, curvature = -self.bend * (activation - self.top), np.broadcast_to(self.bend, (2, 1, 1, len(self.top)))
        gradient = (slope * soft)[0] @ self.design.T
        inner = (self.design * (self.bend * soft[0, 0] ** 2)) @ self.design.T
        # In two blocks of rows.
        for part in (slice(0, 3), slice(3, None)):
            block = activation[..., part], soft[..., part], slope[..., part]
            missing, design = self.missing[:, part], self.design[:, part]
            gradient += gap_gradient(self.gaps, hyperplanes[None], missing, *block)[0]
            if information:
                inner += gap_information(self.gaps, hyperplanes[None], design, missing, *block, curvature[..., part])[
                    0, 0, 0
                ]
        return gradient, inner


@examples(50)
@given(seed=st.integers(0, 2**32 - 1))
def test_gradient_and_observed_information_are_derivatives_of_softened_activations(seed):
    rng = np.random.default_rng(seed)
    bowl = Bowl(rng)
    hyperplanes = rng.normal(size=(1, 5))
    gradient, observed = bowl.sums(hyperplanes, information=True)
    np.testing.assert_allclose(gradient, differences(bowl.value, hyperplanes, 1e-5), rtol=1e-6, atol=1e-6)

    def gradient_at(w):
        return bowl.sums(w, information=False)[0]

    numeric = -differences(gradient_at, hyperplanes, 1e-5)[0, :, 0]
    np.testing.assert_allclose(observed, numeric, rtol=1e-5, atol=1e-5)
