"""Rows of numbers in compiled code, whose statistics are products of factors: the same sums as rows of arrays."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from asking import family_of, likelihoods_below, pass_at, scan_of
from bayesian_reticulum.compiled import native_leaves
from bayesian_reticulum.data.schema import identity_schema
from bayesian_reticulum.families import DirichletCategorical, NormalLinear
from bayesian_reticulum.rows import ArrayRows, Limits, NativeRows
from bayesian_reticulum.testing.case import Case
from plugins import FAMILIES, examples, needs_compiled
from table_problems import assert_same_answers, large_problem, table_problems

pytestmark = needs_compiled
few = examples(25)


def numbers(n_features, *, rounded=False, **parameters):
    """A case of numbers that are known exactly, or to within a variance for each row."""
    family = NormalLinear(**parameters)

    def draw_targets(rng, n):
        targets = family.center + family.scale * rng.normal(size=n)
        return np.column_stack([targets, family.scale**2 * rng.uniform(0, 0.5, size=n)]) if rounded else targets

    return Case(family, draw_targets, n_features)


def basis(*shape):
    return np.random.default_rng(0).normal(size=shape)


NUMBERS = {
    "constant": numbers(2),
    "constant, rounded": numbers(2, rounded=True, center=3.0, scale=10.0),
    "one slope, rounded": numbers(1, rounded=True, n_slopes=1),
    "nine slopes": numbers(9, n_slopes=9, slope_precisions=(0.1, 10.0)),
    "a diagonal basis, rounded": numbers(4, rounded=True, n_slopes=4, basis=np.diag([2.0, 1.0, 0.5, 0.1])),
    "a basis of some columns": numbers(5, n_slopes=2, basis=np.eye(5)[:, [3, 1]]),
    "a wide basis": numbers(3, n_slopes=7, basis=basis(3, 7)),
    "a narrow basis, rounded": numbers(8, rounded=True, n_slopes=2, basis=basis(8, 2)),
}
each_case = pytest.mark.parametrize("case", NUMBERS.values(), ids=NUMBERS)


def below(problem, rows):
    """The likelihoods below splits of the first tree."""
    return vars(likelihoods_below(rows, problem.hyperplanes[0], problem.shape, problem.statistics[0]))


@each_case
@few
@given(data=st.data())
def test_numbers_have_the_same_sums(case, data):
    problem = data.draw(table_problems(case=case))
    limits = Limits(kept_bytes=data.draw(st.sampled_from([Limits().kept_bytes, 0])), fewest_gates=0)
    rows, reference = problem.rows(NativeRows, limits=limits, threads=data.draw(st.integers(1, 3))), problem.rows(ArrayRows)
    assert rows.is_factored
    assert_same_answers(problem.answers(reference), problem.answers(rows), problem.precision)
    if "log_other" not in problem.table:
        assert_same_answers(below(problem, reference), below(problem, rows), 10 * problem.precision)


@each_case
@few
@given(data=st.data())
def test_thresholds_gain_the_same(case, data):
    problem = data.draw(table_problems(case=case))
    rows, reference = problem.rows(NativeRows), problem.rows(ArrayRows)
    request = problem.directions, problem.edges, problem.cuts, problem.statistics[0, 0]
    # Whoever asks rounds to six digits.
    np.testing.assert_allclose(scan_of(rows, *request), scan_of(reference, *request), rtol=1e-8, atol=1e-7)


@pytest.mark.parametrize("name", ["constant, rounded", "nine slopes", "a basis of some columns"])
def test_the_number_of_threads_does_not_change_a_bit(name):
    case = NUMBERS[name]
    problem = large_problem_of(case, 6000)
    limits = Limits(fewest_gates=0)
    alone = problem.answers(problem.rows(NativeRows, limits=limits), views=1)
    for threads in (2, 5):
        together = problem.answers(problem.rows(NativeRows, threads=threads, limits=limits), views=1)
        for answer, same in zip(alone.values(), together.values(), strict=True):
            np.testing.assert_array_equal(answer, same)
    assert_same_answers(problem.answers(problem.rows(ArrayRows), views=1), alone)
