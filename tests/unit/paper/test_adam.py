"""Adam's steps."""

import numpy as np

from bayesian_reticulum.paper.adam import Adam


def test_adam_makes_the_steps_of_its_authors():
    gradients = np.random.default_rng(0).normal(size=(20, 3))
    adam = Adam(0.3)
    mean, square = np.zeros(3), np.zeros(3)
    for t, gradient in enumerate(gradients, start=1):
        mean = 0.9 * mean + 0.1 * gradient
        square = 0.999 * square + 0.001 * gradient**2
        expected = 0.3 * (mean / (1 - 0.9**t)) / (np.sqrt(square / (1 - 0.999**t)) + 1e-8)
        np.testing.assert_allclose(adam.step(gradient), expected)


def test_steps_do_not_depend_on_the_unit_of_the_gradient():
    gradients = np.random.default_rng(0).normal(size=(5, 2))
    one, other = Adam(0.1), Adam(0.1)
    for gradient in gradients:
        np.testing.assert_allclose(other.step(1e6 * gradient), one.step(gradient), rtol=1e-5)
