"""The prior of linear leaves is the one for which the leaves speak."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayesian_reticulum.families.normal import NormalLinear

seeds = st.integers(0, 2**32 - 1)


def leaf(family, n, noise, seed=0, slope=1.0):
    """Statistics of a leaf whose targets follow a line, with noise."""
    rng = np.random.default_rng(seed)
    design = np.vstack([np.ones(n), rng.normal(size=n)])
    return family.row_statistics(design, slope * design[1] + noise * rng.normal(size=n)).sum(axis=0)


def leaves(noises, n=100, seed=0):
    family = NormalLinear(1, is_tuned=True)
    return family, np.array([leaf(family, n, noise, seed + place) for place, noise in enumerate(noises)])


def chosen(family, statistics):
    """The family that estimating its prior again does not change."""
    for _ in range(10):
        tuned = family.with_estimated_prior(statistics)
        if tuned is family:
            return tuned
        family = tuned
    raise AssertionError("the prior does not stop changing")


@pytest.mark.parametrize("noise", [0.5, 0.1, 0.01, 0.001])
def test_the_typical_noise_is_that_of_the_leaves(noise):
    family, statistics = leaves([noise] * 6)
    tuned = chosen(family, statistics)
    assert 0.8 < np.sqrt(tuned.rate / tuned.shape) / noise < 1.25
    assert tuned.log_evidence(statistics).sum() > family.log_evidence(statistics).sum()


def test_leaves_of_the_same_noise_share_it_and_others_do_not():
    shapes = [chosen(*leaves(noises)).shape for noises in ([0.1] * 8, [0.07, 0.1, 0.14] * 3, [0.01, 0.1, 1.0] * 3)]
    assert shapes[0] > shapes[1] > shapes[2]
    assert min(shapes) > 1


def test_precisions_follow_where_offset_and_slopes_are_many_times_the_noise():
    tuned = chosen(*leaves([0.001] * 4))
    assert tuned.offset_precision < 1e-3
    np.testing.assert_allclose(
        np.array(tuned.slope_precisions) / tuned.offset_precision, np.array(NormalLinear().slope_precisions) / 0.1
    )


def test_a_leaf_alone_may_be_surer_but_not_less_sure_before_it_is_split():
    quiet, wild = (chosen(*leaves([noise], n=400)) for noise in (0.01, 1.0))
    assert quiet.rate / quiet.shape < 1e-3
    assert wild.rate / wild.shape <= 0.05 + 1e-12


def test_few_rows_that_agree_are_not_believed():
    family = NormalLinear(is_tuned=True)
    statistics = family.row_statistics(None, np.array([0.5, 0.5, 0.5])).sum(axis=0)[None]
    tuned = chosen(family, statistics)
    assert tuned.predictive(statistics, np.ones((1, 1)), np.ones((2, 1))).std.item() > 1e-3


@pytest.mark.parametrize("least", [0.09, 1e-4])
def test_the_typical_noise_is_not_below_the_least(least):
    family, statistics = leaves([1e-3] * 3)
    tuned = chosen(replace(family, least_noise=least), statistics)
    assert tuned.rate / tuned.shape == pytest.approx(least, rel=1e-6)


def test_a_leaf_of_equal_targets_does_not_decide_for_all_others():
    family, statistics = leaves([0.4] * 5 + [0.0])
    statistics[-1] = leaf(family, 100, 0.0, slope=0.0)
    tuned = chosen(family, statistics)
    assert tuned.rate / tuned.shape > 1e-3


def test_a_prior_that_is_given_is_kept():
    family, statistics = leaves([0.01] * 6)
    given = replace(family, is_tuned=False)
    assert given.with_estimated_prior(statistics) is given


@given(seed=seeds, n=st.integers(0, 40), count=st.integers(1, 6), log_noise=st.floats(-6, 1))
def test_the_prior_stops_changing(seed, n, count, log_noise):
    chosen(*leaves([10.0**log_noise] * count, n=n, seed=seed % 1000))


@given(seed=seeds)
def test_the_order_of_leaves_does_not_matter(seed):
    family, statistics = leaves([0.1, 0.3, 0.05], n=20, seed=seed % 1000)
    one, two = family.with_estimated_prior(statistics), family.with_estimated_prior(statistics[::-1])
    assert (one.shape, one.slope_precisions) == (two.shape, two.slope_precisions)
    assert one.rate == pytest.approx(two.rate, rel=1e-9)


def test_a_prior_is_chosen_where_the_evidence_is_too_large_to_resolve_ties():
    family, statistics = leaves([0.1, 0.3])
    # Of 1e13 nats the last digit is a hundredth: no two priors differ by a millionth.
    tuned = family.with_estimated_prior(1e11 * statistics)
    assert 0.5 < np.sqrt(tuned.rate / tuned.shape) / 0.2 < 2
