"""Requests and their sums."""

import pickle
from dataclasses import fields

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from bayesian_reticulum.families.dirichlet import DirichletCategorical
from bayesian_reticulum.rows.arrays import ArrayRows
from bayesian_reticulum.rows.block import Facts
from bayesian_reticulum.rows.requests import (
    BelowSplits,
    GreyShares,
    GreySums,
    Histogram,
    MembershipSums,
    Moments,
    Pass,
    mean_and_covariance,
    scan_family,
    sum_over,
)
from plugins import FAMILIES, examples
from row_problems import problems

few = examples(15)


def test_mean_and_covariance_follow_from_second_moments():
    rng = np.random.default_rng(0)
    X, weights = rng.normal(size=(30, 3)), rng.integers(1, 4, size=30)
    design = np.column_stack([np.ones(30), X])
    mean, covariance = mean_and_covariance((design.T * weights) @ design)
    np.testing.assert_allclose(mean, np.average(X, axis=0, weights=weights))
    np.testing.assert_allclose(covariance, np.cov(X.T, fweights=weights, ddof=0))


def test_scans_of_linear_leaves_look_at_residuals():
    linear = FAMILIES["one slope"].family
    assert scan_family(linear) is not linear
    assert not np.isnan(scan_family(linear).log_evidence(np.zeros(scan_family(linear).n_statistics)))
    constant = FAMILIES["constant"].family
    assert scan_family(constant) is constant


def problem_requests(problem):
    """A request of each type, and its answer by rows."""
    width, family, rng = problem.hyperplanes.shape[-1], problem.family, problem.rng
    tree = problem.hyperplanes[0], problem.shape
    expected, of_leaf = family.expected_parameters(problem.statistics), problem.statistics[0, 0]
    edges = np.tile([-0.5, 0.3], (3, 1))
    return [
        Pass(problem.hyperplanes, problem.shape, expected, information=True),
        Pass(problem.hyperplanes, problem.shape, expected),
        MembershipSums(problem.hyperplanes, problem.shape),
        BelowSplits(*tree, expected[0]),
        GreyShares(*tree, 0.1, 0.9),
        Moments(family, of_leaf),
        Histogram(family, of_leaf, rng.normal(size=(3, width)), edges, rng.normal(size=(2, width))),
    ]


def arrays_of(sums):
    return {field.name: getattr(sums, field.name) for field in fields(sums) if getattr(sums, field.name) is not None}


@few
@given(problem=problems(n=st.integers(2, 40)), tail=st.booleans())
def test_sums_of_parts_add_up_to_those_of_the_whole_and_no_rows_add_nothing(problem, tail):
    tail = problem.rng.uniform(size=problem.hyperplanes.shape[-1] - 2 if tail else 0)
    block = problem.rows(ArrayRows, tail=tail).gather()
    cut = block.n_rows // 2
    for request in problem_requests(problem):
        parts = request.compute(np, block.part(slice(0, cut))) + request.compute(np, block.part(slice(cut, None)))
        parts = parts + request.zero(block.facts)
        for name, whole in arrays_of(request.compute(np, block)).items():
            atol = 1e-10 * max(1.0, np.abs(whole).max(initial=0.0))
            np.testing.assert_allclose(getattr(parts, name), whole, rtol=0, atol=atol, err_msg=name)


@few
@given(problem=problems(n=st.integers(1, 5)))
def test_requests_and_sums_can_be_sent_to_where_rows_are(problem):
    block = problem.rows(ArrayRows).gather()
    for request in problem_requests(problem):
        sums = request.compute(np, block)
        again = pickle.loads(pickle.dumps(request)).compute(np, block)
        for name, array in arrays_of(pickle.loads(pickle.dumps(sums))).items():
            np.testing.assert_array_equal(getattr(again, name), array)
        assert request.floats_per_row(block.facts) > 0


def test_the_share_of_grey_rows_is_zero_where_no_row_goes():
    np.testing.assert_array_equal(GreySums(np.array([0.0, 1.0]), np.array([0.0, 4.0])).shares, [0.0, 0.25])


def test_a_sum_over_no_blocks_is_zero():
    problem = Moments(DirichletCategorical((0.5, 0.5)), np.zeros(2))
    sums = sum_over(problem, [], Facts(n_columns=3, n_statistics=2))
    assert (sums.second.shape, sums.cross.shape, sums.size.shape) == ((4, 4), (2, 4), (2,))
    assert not sums.second.any()
