"""Orders do not depend on the last digits of sums."""

import numpy as np

from bayesian_reticulum.growth.ranking import best_first


def test_gains_that_are_alike_to_a_millionth_keep_their_order():
    assert best_first(np.array([1.0, 3.0 - 1e-9, 3.0, -np.inf, 2.0, np.inf])).tolist() == [5, 1, 2, 4, 0, 3]
