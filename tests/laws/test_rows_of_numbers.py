"""Rows of numbers in compiled code, whose statistics are products of factors: the same sums as rows of arrays."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from asking import likelihoods_below, membership_sums, scan_of
from bayesian_reticulum import compiled
from bayesian_reticulum.compiled import native_leaves
from bayesian_reticulum.data.schema import identity_schema
from bayesian_reticulum.evidence import ascend
from bayesian_reticulum.families import DirichletCategorical, NormalLinear
from bayesian_reticulum.rows import ArrayRows, Limits, NativeRows
from bayesian_reticulum.testing.case import Case
from bayesian_reticulum.tree import single_leaf, split_leaf
from plugins import examples
from table_problems import assert_same_answers, table_problems

if compiled.instruction_set:
    from bayesian_reticulum._native import group_pad
else:
    pytest.skip("the compiled core is not built here", allow_module_level=True)

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
    rows = problem.rows(NativeRows, limits=limits, threads=data.draw(st.integers(1, 3)))
    reference = problem.rows(ArrayRows)
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


def test_rows_of_an_empty_table_sum_to_nothing():
    case = NUMBERS["nine slopes"]
    rows = NativeRows.of_table(np.empty((0, 9)), np.empty(0), case.family, np.empty(0), identity_schema(9))
    assert not membership_sums(rows, np.ones((1, 1, 10)), split_leaf(single_leaf(9), 0, np.ones(10)).shape).any()


def small_rows(family, n_features):
    rng = np.random.default_rng(0)
    targets = rng.normal(size=20) if isinstance(family, NormalLinear) else rng.integers(3, size=20)
    table = rng.normal(size=(20, n_features)), targets, family, np.ones(20), identity_schema(n_features)
    return NativeRows.of_table(*table)


LINEAR, CONSTANT, CLASSES = NormalLinear(n_slopes=2), NormalLinear(), DirichletCategorical((0.5, 0.5, 0.5))


@pytest.mark.parametrize(
    ("family", "coefficients", "message"),
    [
        (LINEAR, np.ones(2), "one coefficient for each of its columns"),
        (LINEAR, np.ones(4), "one coefficient for each of its columns"),
        (CONSTANT, np.ones(2), "one coefficient for each of its columns"),
        (CLASSES, np.ones(3), "one coefficient for each of its columns"),
    ],
)
def test_coefficients_of_other_leaves_are_refused(family, coefficients, message):
    table = small_rows(family, 2).table
    grid = np.ones((1, 3)), np.zeros((1, 1)), np.ones((1, 3))
    with pytest.raises(ValueError, match=message):
        table.histogram(*grid, coefficients, 1, np.zeros((1, 2, 6, group_pad)))
    with pytest.raises(ValueError, match=message):
        table.scan(*grid, native_leaves(LINEAR.scan_family), coefficients, 1, np.zeros((1, 2, 1, 1)))
    if family is not CLASSES:
        with pytest.raises(ValueError, match=message):
            table.moments_of_numbers(coefficients, 1, np.zeros(6), np.zeros(9), np.zeros(4))


def test_moments_are_refused_for_targets_of_another_kind():
    with pytest.raises(ValueError, match="only numbers have such moments"):
        small_rows(CLASSES, 2).table.moments_of_numbers(None, 1, np.zeros(6), np.zeros(9), np.zeros(3))
    with pytest.raises(ValueError, match="only targets with codes have such moments"):
        small_rows(CONSTANT, 2).table.moments(1, np.zeros(6), np.zeros((3, 3)))


@pytest.mark.parametrize("sizes", [(5, 9, 3), (6, 8, 3), (6, 9, 4)])
def test_sums_of_moments_of_another_size_are_refused(sizes):
    with pytest.raises(ValueError, match="another size"):
        small_rows(CONSTANT, 2).table.moments_of_numbers(None, 1, *map(np.zeros, sizes))


@pytest.mark.parametrize("size", [(1, 2, 5, group_pad), (1, 1, 6, group_pad), (1, 2, 6, 2 * group_pad)])
def test_a_histogram_of_another_size_is_refused(size):
    with pytest.raises(ValueError, match="out has another size"):
        small_rows(LINEAR, 2).table.histogram(
            np.ones((1, 3)), np.zeros((1, 1)), np.ones((1, 3)), np.ones(3), 1, np.zeros(size)
        )


@pytest.mark.parametrize(
    ("family", "leaves", "coefficients"),
    [
        (CONSTANT, CLASSES, None),
        (CLASSES, CONSTANT, None),
        (CONSTANT, LINEAR, None),
        (LINEAR, CONSTANT, np.ones(3)),
        (LINEAR, LINEAR, np.ones(3)),
        # One slope, but several precisions.
        (LINEAR, NormalLinear(n_slopes=1), np.ones(3)),
    ],
)
def test_leaves_of_another_kind_do_not_scan(family, leaves, coefficients):
    grid = np.ones((1, 3)), np.zeros((1, 1)), np.ones((1, 3))
    with pytest.raises(ValueError, match="cannot be scanned for these targets"):
        small_rows(family, 2).table.scan(*grid, native_leaves(leaves), coefficients, 1, np.zeros((1, 2, 1, 1)))


def test_leaves_of_another_size_do_not_ascend():
    rows, shape = small_rows(LINEAR, 2), split_leaf(single_leaf(2), 0, np.ones(3)).shape
    with pytest.raises(ValueError, match="another number of statistics than rows"):
        ascend(rows, CONSTANT, shape, np.ones((1, 1, 3)), np.ones((1, 1)))
