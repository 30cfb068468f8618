"""The policy says what many rows are, and how far trees are fitted to so many."""

import dataclasses

import numpy as np
import pytest

from bayesian_reticulum.evidence import Effort
from bayesian_reticulum.growth.policy import Policy
from growing import make_rows


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    return make_rows(rng.normal(size=(100, 3)), np.arange(100) % 2)


@pytest.mark.parametrize(("sample_rows", "is_sampled"), [(49, True), (50, False)])
def test_rows_are_many_if_there_are_more_than_twice_a_sample(rows, sample_rows, is_sampled):
    assert Policy(sample_rows=sample_rows).grows_on_samples(rows) == is_sampled


@pytest.mark.parametrize(("sample_rows", "is_grown"), [(25, True), (24, False)])
def test_leaves_are_searched_one_by_one_in_up_to_four_samples(rows, sample_rows, is_grown):
    assert Policy(sample_rows=sample_rows).grows_leaf_by_leaf(rows) == is_grown


def test_leaves_of_wide_tables_are_searched_one_by_one_up_to_a_number_of_cells():
    wide = make_rows(np.random.default_rng(0).normal(size=(40, 40)), np.arange(40) % 2)
    assert Policy(sample_rows=13).grows_leaf_by_leaf(wide)
    assert not Policy(sample_rows=12).grows_leaf_by_leaf(wide)


def test_the_effort_for_few_rows_is_the_one_that_is_asked_for(rows):
    policy = Policy()
    assert policy.effort_for(rows, policy.global_effort) is policy.global_effort
    assert policy.tolerance_for(rows, 1e-9) == 1e-9


def test_the_effort_for_many_rows_has_limits(rows):
    policy = Policy(sample_rows=40, minimal_progress=0.1, many_rows=Effort(rounds=1, max_passes=7))
    assert policy.tolerance_for(rows, 1e-3) == pytest.approx(0.1)
    assert policy.tolerance_for(rows, 0.5) == 0.5
    effort = Effort(tolerance=1e-3, rounds=8, max_passes=200, least=-3.0, exact=True, sparse=True)
    limited = policy.effort_for(rows, effort)
    assert limited == dataclasses.replace(effort, tolerance=pytest.approx(0.1), rounds=1, max_passes=7)
    small = Effort(tolerance=0.5, rounds=0, max_passes=3)
    assert policy.effort_for(rows, small) == small


def test_fewer_candidates_are_fitted_in_wide_tables_but_two_at_least():
    policy = Policy(most_branches=8, branch_widths=512)
    assert [policy.n_branches(width) for width in (3, 64, 65, 200, 1000)] == [8, 8, 7, 2, 2]


def test_a_policy_cannot_be_changed():
    with pytest.raises(dataclasses.FrozenInstanceError, match="cannot assign to field 'patience'"):
        Policy().patience = 3
