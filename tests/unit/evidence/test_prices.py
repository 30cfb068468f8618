"""Penalties and prices: Laplace's approximation of the evidence of a hyperplane."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayesian_reticulum.evidence.precisions import update_precisions
from bayesian_reticulum.evidence.prices import penalty, prices, prior_diagonal, split_tail

seeds = st.integers(0, 2**32 - 1)


@given(seed=seeds, width=st.integers(2, 5))
def test_a_price_is_the_log_determinant_of_the_laplace_approximation(seed, width):
    rng = np.random.default_rng(seed)
    factors = rng.normal(size=(3, width, width + 2))
    information = factors @ factors.transpose(0, 2, 1)
    precisions = rng.uniform(1e-3, 2, size=3)
    for H, precision, price in zip(information, precisions, prices(information, precisions), strict=True):
        P = np.diag(prior_diagonal(np.array(precision), width))
        exact = 0.5 * (np.linalg.slogdet(P + H)[1] - np.linalg.slogdet(P)[1])
        assert price == pytest.approx(exact, rel=1e-8)
        assert price > 0


@given(seed=seeds, width=st.integers(2, 4), n_tail=st.integers(1, 4))
def test_a_tail_counts_as_a_diagonal_matrix(seed, width, n_tail):
    rng = np.random.default_rng(seed)
    factor, tail, along = rng.normal(size=(width, width + 2)), rng.uniform(size=n_tail), rng.uniform(0.1, 5)
    whole = np.diag(np.append(np.zeros(width), along * tail))
    whole[:width, :width] = factor @ factor.T
    short = np.zeros((width + 1, width + 1))
    short[:width, :width], short[-1, -1] = whole[:width, :width], along
    precisions, w = rng.uniform(1e-2, 2, size=1), rng.normal(size=(1, width + n_tail))
    np.testing.assert_allclose(prices(short[None], precisions, tail), prices(whole[None], precisions))
    tuned = update_precisions(w, precisions, short[None], tail)
    np.testing.assert_allclose(tuned, update_precisions(w, precisions, whole[None]))


def test_a_price_counts_negative_curvature_as_none():
    assert prices(np.diag([-3.0, 2.0])[None], np.array([0.5]))[0] == pytest.approx(0.5 * np.log(1 + 2.0 / 0.5))
    assert prices(-np.eye(2)[None], np.array([0.5]))[0] == 0


@given(precision=st.floats(1e-6, 1e3))
def test_an_offset_is_bound_no_more_than_the_slopes_and_no_more_than_a_hundredth(precision):
    diagonal = prior_diagonal(np.array([[precision]]), 4)
    assert diagonal.shape == (1, 1, 4)
    np.testing.assert_array_equal(diagonal[0, 0], [min(0.01, precision), precision, precision, precision])


@given(seed=seeds, width=st.integers(2, 4))
def test_a_penalty_is_half_the_length_of_hyperplanes_in_the_metric_of_their_prior(seed, width):
    rng = np.random.default_rng(seed)
    hyperplanes, precisions = rng.normal(size=(2, 3, width)), rng.uniform(1e-3, 2, size=(2, 3))
    expected = [
        sum(
            0.5 * w @ np.diag(prior_diagonal(np.array(precision), width)) @ w
            for w, precision in zip(*tree, strict=True)
        )
        for tree in zip(hyperplanes, precisions, strict=True)
    ]
    np.testing.assert_allclose(penalty(hyperplanes, precisions), expected)


def test_without_a_tail_information_is_that_of_the_leading_columns():
    information = np.arange(8.0).reshape(2, 2, 2)
    lead, along_tail = split_tail(information, np.empty(0))
    np.testing.assert_array_equal(lead, information)
    assert along_tail.shape == (2, 0)
