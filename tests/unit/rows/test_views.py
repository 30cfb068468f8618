"""What is seen from leaves: which rows, and how much of each."""

from dataclasses import replace

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import logsumexp

from asking import context_of
from bayesian_reticulum.rows.arrays import ArrayRows
from bayesian_reticulum.rows.limits import Limits
from bayesian_reticulum.rows.views import Seen, join_seen, log_negligible, seen_from
from plugins import examples
from row_problems import naive_responsibilities, problems

ALL = Limits(negligible_share=1e-300)


@examples(25)
@given(problem=problems(n=st.integers(1, 30), min_splits=1))
def test_a_leaf_sees_memberships_and_the_joint_of_all_others(problem):
    rows = problem.rows(ArrayRows)
    context = context_of(rows, problem.hyperplanes[0], problem.shape, problem.statistics[0])
    log_membership, joint, _ = naive_responsibilities(problem, 0)
    leaves = np.arange(problem.shape.n_leaves)
    for leaf, seen in zip(leaves, seen_from(rows.gather(), context, leaves, ALL), strict=True):
        np.testing.assert_array_equal(seen.places, np.arange(len(problem.X)))
        np.testing.assert_allclose(seen.log_reach, log_membership[:, leaf], rtol=1e-9, atol=1e-9)
        others = logsumexp(np.delete(joint, leaf, axis=1), axis=1)
        np.testing.assert_allclose(seen.log_other, others, rtol=1e-9, atol=1e-9)


@examples(10)
@given(problem=problems(n=st.integers(1, 30), min_splits=1))
def test_what_is_in_view_in_part_is_seen_in_part(problem):
    rows = problem.rows(ArrayRows)
    context = context_of(rows, problem.hyperplanes[0], problem.shape, problem.statistics[0])
    block = rows.gather()
    half = replace(block, log_reach=np.full(block.n_rows, np.log(0.5)), log_other=np.full(block.n_rows, -np.inf))
    [whole], [part] = (seen_from(some, context, np.array([0]), ALL) for some in (block, half))
    np.testing.assert_allclose(part.log_reach, whole.log_reach + np.log(0.5))
    np.testing.assert_allclose(part.log_other, whole.log_other + np.log(0.5))


def test_what_blocks_see_is_joined_by_the_places_of_their_rows():
    one, other = Seen(np.array([1, 2]), np.zeros(2), np.ones(2)), Seen(np.array([0]), np.array([5.0]), np.zeros(1))
    joined = join_seen([(0, one), (10, other)])
    np.testing.assert_array_equal(joined.places, [1, 2, 10])
    np.testing.assert_array_equal(joined.log_reach, [0, 0, 5])
    assert len(join_seen([]).places) == 0


def test_nothing_is_negligible_where_the_limit_is_zero():
    assert log_negligible(Limits(negligible_share=0.0)) == -np.inf
