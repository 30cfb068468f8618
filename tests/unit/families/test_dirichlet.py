"""Classes with a Dirichlet prior."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import beta

from bayesian_reticulum.families.dirichlet import DirichletCategorical, named_classes

seeds = st.integers(0, 2**32 - 1)


def test_a_row_is_a_one_at_the_place_of_its_class():
    family, targets = DirichletCategorical((1.0, 1.0, 1.0)), np.array([2, 0, 2])
    np.testing.assert_array_equal(family.row_statistics(None, targets), [[0, 0, 1], [1, 0, 0], [0, 0, 1]])
    np.testing.assert_array_equal(family.row_codes(targets), targets)
    assert family.n_statistics == 3
    assert not family.uses_design
    assert family.is_categorical


def test_two_classes_have_the_evidence_of_a_beta_distribution():
    # Three ones and a zero under a uniform prior: B(4, 2) / B(1, 1).
    assert DirichletCategorical((1.0, 1.0)).log_evidence(np.array([3.0, 1.0])) == pytest.approx(np.log(1 / 20))


def test_intervals_of_classes_are_those_of_beta_distributions():
    mean, low, high = DirichletCategorical((0.5, 1.0, 2.0)).interval(np.array([3.0, 0.0, 7.0]), 0.8)
    np.testing.assert_allclose(mean, np.array([3.5, 1.0, 9.0]) / 13.5)
    expected = [beta(counts, 13.5 - counts).interval(0.8) for counts in (3.5, 1.0, 9.0)]
    np.testing.assert_allclose(np.column_stack([low, high]), expected)


def test_a_row_in_two_leaves_has_the_mean_of_their_probabilities_and_is_uncertain_of_the_way():
    family, sure = DirichletCategorical((1.0, 1.0)), np.array([[98.0, 0.0], [0.0, 98.0]])
    membership, design = np.array([[1.0, 0.5], [0.0, 0.5]]), np.ones((1, 2))
    np.testing.assert_allclose(family.predictive_mean(sure, membership, design), [[0.99, 0.01], [0.5, 0.5]])
    np.testing.assert_array_equal(family.predictive(sure, membership, design).classes, [0, 1])
    parts = family.uncertainty(sure, membership, design)
    assert parts.routing[0] == pytest.approx(0, abs=1e-12)
    assert parts.routing[1] > 0.9 * parts.total[1]


def test_names_of_few_classes_are_all_there():
    assert named_classes(np.array([0.2, 0.8]), ["no", "yes"]) == [("no", 0.2), ("yes", 0.8)]
    five = named_classes(np.array([0.1, 0.2, 0.3, 0.15, 0.25]), list("abcde"))
    assert [name for name, _ in five] == ["b", "c", "d", "e", "1 other"]
    assert five[-1][1] == pytest.approx(0.1)


def test_probabilities_are_shares_of_counts_with_pseudo_counts():
    family = DirichletCategorical((1.0, 1.0, 2.0))
    np.testing.assert_allclose(family.probabilities(np.array([3.0, 0.0, 1.0])), [4 / 8, 1 / 8, 3 / 8], rtol=1e-14)


@given(seed=seeds, n_leaves=st.integers(2, 8), k=st.integers(2, 8), concentration=st.floats(0.01, 5.0))
def test_a_tuned_prior_has_the_highest_evidence_of_all_halvings_each_half_as_likely(seed, n_leaves, k, concentration):
    rng = np.random.default_rng(seed)
    statistics = rng.gamma(concentration, 20.0, size=(n_leaves, k))
    tuned = DirichletCategorical((0.5,) * k, is_tuned=True).with_estimated_prior(statistics)
    values = {}
    for halving in range(7):
        rival = DirichletCategorical((0.5 / 2**halving,) * k, is_tuned=True)
        values[rival] = rival.log_evidence(statistics).sum() - halving * np.log(2)
    assert values[tuned] == pytest.approx(max(values.values()), abs=1e-5)
    assert tuned.with_estimated_prior(statistics) is tuned


def test_a_prior_that_was_given_is_not_tuned():
    family = DirichletCategorical((0.5, 0.5, 0.5))
    assert family.with_estimated_prior(np.diag([50.0, 60.0, 70.0])) is family
    assert replace(family, is_tuned=True).with_estimated_prior(np.diag([50.0, 60.0, 70.0])).prior < family.prior


def test_many_classes_are_described_by_the_most_probable():
    description = DirichletCategorical((1.0,) * 6).describe(np.array([5.0, 0, 0, 9, 1, 0]), list("abcdef"), str)
    assert description == "a 0.286, b 0.048, d 0.476, e 0.095, 2 others 0.095"


def test_a_leaf_that_has_yet_to_be_split_keeps_its_prior():
    family = DirichletCategorical((0.5, 0.5, 0.5), is_tuned=True)
    assert family.with_estimated_prior(np.array([[50.0, 0.0, 0.0]])) is family
