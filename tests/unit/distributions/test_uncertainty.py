"""The sources of uncertainty add up."""

import numpy as np
import pytest

from bayesian_reticulum.distributions.uncertainty import Uncertainty


def test_the_total_is_the_sum_of_its_parts():
    parts = Uncertainty.of_parts(np.array([0.3]), np.array([0.1]), np.array([0.2]))
    np.testing.assert_allclose(parts.total, [0.6])


def test_rounding_makes_no_part_negative():
    parts = Uncertainty.of_parts(np.array([0.3]), np.array([-1e-17]), np.array([-1e-17]))
    np.testing.assert_array_equal([parts.leaf, parts.routing], 0.0)
    np.testing.assert_array_equal(parts.total, [0.3])


def test_routing_between_leaves_is_the_variance_of_their_means():
    membership = np.array([[1.0, 0.5], [0.0, 0.5]])
    mean, noise, doubt = np.array([[0.0], [4.0]]), np.array([[1.0], [3.0]]), np.array([[0.1], [0.3]])
    parts = Uncertainty.of_numbers(membership, mean, noise, doubt)
    np.testing.assert_allclose(parts.routing, [0.0, 4.0])
    np.testing.assert_allclose(parts.aleatoric, [1.0, 2.0])
    np.testing.assert_allclose(parts.leaf, [0.1, 0.2])
    with_gaps = Uncertainty.of_numbers(membership, mean, noise, doubt, np.array([[2.0], [0.0]]))
    np.testing.assert_allclose(with_gaps.routing, [2.0, 5.0])


def test_leaves_that_a_row_does_not_reach_may_be_infinitely_uncertain():
    membership, endless = np.array([[1.0, 0.5], [0.0, 0.5]]), np.array([[1.0], [np.inf]])
    parts = Uncertainty.of_numbers(membership, endless, endless, endless)
    np.testing.assert_array_equal(parts.total, [2.0, np.inf])
    np.testing.assert_array_equal(parts.routing, [0.0, np.inf])


def test_blocks_are_put_together_in_their_order():
    blocks = [Uncertainty.of_parts(np.full(n, float(n)), np.zeros(n), np.zeros(n)) for n in (2, 1)]
    np.testing.assert_array_equal(Uncertainty.joined(blocks).total, [2.0, 2.0, 1.0])


def test_parts_cannot_be_written():
    parts = Uncertainty.of_parts(np.ones(2), np.ones(2), np.ones(2))
    with pytest.raises(ValueError, match="read-only"):
        parts.leaf[0] = 0.0
