"""The measures of the quality benchmark are what they are called."""

import numpy as np
import pytest
from scipy.stats import norm

from plugins import benchmark


@pytest.fixture(scope="module")
def quality():
    with benchmark("quality") as module:
        yield module


def test_the_ranked_probability_score_of_a_normal_is_that_of_the_closed_form(quality):
    mean, std, y = np.array([0.0, 1.0, -2.0]), np.array([1.0, 2.0, 0.1]), np.array([0.3, -4.0, -2.2])
    z = (y - mean) / std
    closed = std * (z * (2 * norm.cdf(z) - 1) + 2 * norm.pdf(z) - 1 / np.sqrt(np.pi))
    np.testing.assert_allclose(quality.crps(quality.Normal(mean, std), y), closed, rtol=1e-3)


def test_the_calibration_error_weighs_bins_by_their_rows(quality):
    # Three rows at 90% of which two are right, one at 50% that is wrong.
    confidence, is_right = np.array([0.9, 0.9, 0.9, 0.5]), np.array([True, True, False, False])
    assert quality.calibration_error(confidence, is_right) == pytest.approx(0.75 * (0.9 - 2 / 3) + 0.25 * 0.5)


def test_likelihoods_are_compared_on_all_data_sets_or_not_at_all(quality):
    assert quality.wins_enough(np.array([-1.0, -1.0, -1.0, -1.0, 1.0, 1.0])) is True
    assert quality.wins_enough(np.array([-1.0, -1.0, -1.0, 1.0, 1.0, 1.0])) is False
    assert quality.wins_enough(np.array([-1.0] * 5)) is None
