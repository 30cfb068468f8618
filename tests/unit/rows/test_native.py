"""Compiled code answers what NumPy answers: the same sums, and with any number of threads the same bits."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from asking import (
    family_of,
    grey_shares,
    histogram_of,
    likelihoods_below,
    membership_sums,
    moments_of,
    pass_at,
    scan_of,
    view_from,
)
from bayesian_reticulum.data.schema import Schema, identity_schema
from bayesian_reticulum.evidence.engine import ascend, converge_responsibilities
from bayesian_reticulum.evidence.stack import Effort
from bayesian_reticulum.families.dirichlet import DirichletCategorical
from bayesian_reticulum.rows.arrays import ArrayRows
from bayesian_reticulum.rows.limits import Limits
from bayesian_reticulum.rows.native import NativeRows
from bayesian_reticulum.tree import single_leaf, split_leaf
from plugins import FAMILIES, examples, needs_compiled
from row_problems import SUMS
from table_problems import assert_same_answers, laid_out, large_problem, table_problems

pytestmark = needs_compiled
few = examples(25)
BOTH = (ArrayRows, NativeRows)
DEFAULT = Limits()


@given(problem=table_problems(), kept=st.sampled_from([DEFAULT.kept_bytes, 0]))
def test_classes_have_the_same_sums(problem, kept):
    answers = problem.answers(problem.rows(NativeRows, limits=Limits(kept_bytes=kept)))
    assert_same_answers(problem.answers(problem.rows(ArrayRows)), answers, problem.precision)


def test_memberships_that_all_but_vanish_count_where_nothing_else_explains_a_row():
    # The first leaf has not seen the class of the row, and the row goes right of it with a probability of exp(-242). To
    # the left of what comes there the gate is closed altogether: that must not cost the right side its digits.
    tree = split_leaf(split_leaf(single_leaf(1), 0, [0.0, 1.0]), 1, [-1000.0, 0.0])
    statistics = np.array([[[0.0, 5.0], [3.0, 1.0], [3.0, 1.0]]])
    table = np.array([[241.9]]), np.array([0]), DirichletCategorical((1e-3, 1e-3)), np.ones(1), identity_schema(1)
    one, other = (
        pass_at(rows.of_table(*table), tree.hyperplanes[None], tree.shape, statistics).log_normalizer
        for rows in (ArrayRows, NativeRows)
    )
    np.testing.assert_allclose(other, one, rtol=1e-12)


def test_a_leaf_knows_what_others_say_of_a_row_however_little_that_is():
    # Products of these gates are smaller than any double, but not their logs: the branch that takes the leaf's place
    # may come to say even less of the row.
    tree = split_leaf(split_leaf(single_leaf(1), 0, [0.0, 1.0]), 1, [0.0, 0.5])
    statistics = np.array([[3.0, 1.0], [1.0, 2.0], [4.0, 1.0]])
    X, y = np.array([[2000.0], [-900.0], [0.5], [3.0]]), np.array([0, 1, 0, 1])
    table = X, y, DirichletCategorical((0.5, 0.5)), np.ones(4), identity_schema(1)
    for leaf in range(3):
        one, other = (
            view_from(rows.of_table(*table), tree.hyperplanes, tree.shape, statistics, leaf)
            for rows in (ArrayRows, NativeRows)
        )
        # Compiled rows lie in the order of their content.
        order = np.argsort(other.part.chosen)
        np.testing.assert_array_equal(other.part.chosen[order], one.part.chosen)
        np.testing.assert_allclose(other.part.log_other[order], one.part.log_other, rtol=1e-12)
        np.testing.assert_allclose(other.part.log_reach[order], one.part.log_reach, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("case", FAMILIES.values(), ids=FAMILIES)
@few
@given(data=st.data())
def test_every_family_has_the_same_sums(case, data):
    problem = data.draw(table_problems(case=case))
    statistics_alone = 8 * len(problem.table["weights"]) * problem.family.n_statistics
    limits = Limits(kept_bytes=data.draw(st.sampled_from([DEFAULT.kept_bytes, statistics_alone, 0])))
    answers = problem.answers(problem.rows(NativeRows, limits=limits))
    assert_same_answers(problem.answers(problem.rows(ArrayRows)), answers, problem.precision)


@few
@given(problem=table_problems())
def test_thresholds_gain_the_same(problem):
    # Whoever asks rounds to six digits.
    scans = [
        scan_of(problem.rows(rows_class), problem.directions, problem.edges, problem.cuts, problem.statistics[0, 0])
        for rows_class in BOTH
    ]
    np.testing.assert_allclose(*scans, rtol=1e-9, atol=1e-8)


@pytest.mark.parametrize(
    ("name", "n"),
    [("seven classes", 60_000), ("counts", 60_000), ("constant", 20_000), ("three slopes, other units", 20_000)],
)
def test_the_number_of_threads_does_not_change_a_bit(name, n):
    case = FAMILIES[name]
    problem = large_problem(case.family, case.draw_targets, n)
    limits = Limits(fewest_gates=0)
    alone = problem.answers(problem.rows(NativeRows, limits=limits), views=1)
    for threads in (2, 3, 8):
        together = problem.answers(problem.rows(NativeRows, threads=threads, limits=limits), views=1)
        for answer, same in zip(alone.values(), together.values(), strict=True):
            np.testing.assert_array_equal(answer, same)
    assert_same_answers(problem.answers(problem.rows(ArrayRows), views=1), alone)


def test_threads_serve_views_as_well():
    problem = large_problem(FAMILIES["seven classes"].family, FAMILIES["seven classes"].draw_targets, 50)
    rows = problem.rows(NativeRows, threads=3)
    assert view_from(rows, problem.hyperplanes[0], problem.shape, problem.statistics[0], 0).threads == 3


@pytest.mark.parametrize("layout", ["C", "Fortran", "strided", "backwards"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_cells_are_read_where_they_are(layout, dtype):
    problem = large_problem(FAMILIES["seven classes"].family, FAMILIES["seven classes"].draw_targets, 100)
    X = laid_out(problem.table["X"].astype(dtype), layout)
    rows = problem.rows(NativeRows, X=X, limits=Limits(kept_bytes=0))
    membership_sums(rows, problem.hyperplanes, problem.shape)
    # A copy would not know of this.
    X[:] = -X
    statistics = membership_sums(rows, problem.hyperplanes, problem.shape)
    expected = membership_sums(problem.rows(ArrayRows, X=X), problem.hyperplanes, problem.shape)
    np.testing.assert_allclose(statistics, expected, rtol=1e-12)


@pytest.mark.parametrize("values", [[0.0, 1e-310], [0.0, 5e-324, 1.0], [-1e308, 1e308], [3.0, 3.0], [1.0]])
def test_values_may_lie_as_near_or_as_far_as_they_like(values):
    X, direction = np.array(values)[:, None], np.array([[0.0, 1.0]])
    probabilities = np.array([0.0, 0.3, 0.5, 0.9, 1.0])
    table = X, np.zeros(len(X), dtype=int), DirichletCategorical((0.5,)), np.ones(len(X)), identity_schema(1)
    expected, compiled = (rows.of_table(*table).quantiles(direction, probabilities) for rows in BOTH)
    np.testing.assert_array_equal(compiled, expected)


def test_no_rows_have_no_quantiles():
    problem = large_problem(FAMILIES["two classes"].family, FAMILIES["two classes"].draw_targets, 20)
    rows = problem.rows(NativeRows, chosen=np.arange(0), weights=np.ones(0))
    with pytest.raises(ValueError, match="no rows"):
        rows.quantiles(problem.directions, np.array([0.5]))


def test_columns_may_have_the_smallest_units():
    X = np.array([[0.0], [1e-310], [1e-310]])
    schema = Schema.from_columns(X, np.ones(3), ("a",))
    table = X, np.array([0, 1, 1]), DirichletCategorical((0.5, 0.5)), np.ones(3), schema
    shape = split_leaf(single_leaf(1), 0, [0.0, 1.0]).shape
    expected, compiled = (membership_sums(rows.of_table(*table), np.array([[[0.0, 1.0]]]), shape) for rows in BOTH)
    np.testing.assert_allclose(compiled, expected, rtol=1e-12)


def pass_in(rows, problem, in_floats):
    """The sums of a pass in float64 or float32."""
    c, m, width = problem.hyperplanes.shape
    packed = width - max(len(rows.tail) - 1, 0)
    expected = family_of(rows).expected_parameters(problem.statistics)
    information = np.zeros((2, c, m, packed * (packed + 1) // 2))
    sums = (np.zeros(c), np.zeros(problem.statistics.shape), np.zeros((c, m, width)), *information)
    table, children = rows.table, problem.shape.children
    table.pass_(np.ascontiguousarray(problem.hyperplanes), children, expected, 1, *sums, in_floats=in_floats)
    return dict(zip(SUMS, sums, strict=True))


@few
@given(problem=table_problems(), kept=st.booleans())
def test_floats_have_the_same_sums_but_for_their_rounding(problem, kept):
    rows = problem.rows(NativeRows, limits=Limits(kept_bytes=DEFAULT.kept_bytes if kept else 0))
    in_doubles, in_floats = (pass_in(rows, problem, in_floats) for in_floats in (False, True))
    rounding = problem.precision * np.finfo(np.float32).eps / np.finfo(np.float64).eps
    assert_same_answers(in_doubles, in_floats, max(1e-5, rounding))


def test_targets_without_codes_are_not_passed_over_in_floats():
    case = FAMILIES["counts"]
    problem = large_problem(case.family, case.draw_targets, 50)
    with pytest.raises(ValueError, match="only targets with codes"):
        pass_in(problem.rows(NativeRows), problem, in_floats=True)


@pytest.mark.parametrize("weight", [1e-13, 1e7])
def test_weights_that_floats_cannot_divide_are_left_to_doubles(weight):
    table = np.zeros((3, 1)), np.zeros(3, dtype=int), DirichletCategorical((0.5, 0.5))
    one, other = (
        NativeRows.of_table(*table, weights, identity_schema(1), limits=Limits(fewest_in_floats=0))
        for weights in (np.ones(3), np.array([1.0, weight, 1.0]))
    )
    assert one.in_floats
    assert not other.in_floats


@pytest.mark.parametrize("children", [[[0, -1]], [[1, -1]], [[-1, -3]]])
def test_children_that_form_no_tree_are_refused(children):
    problem = large_problem(FAMILIES["two classes"].family, FAMILIES["two classes"].draw_targets, 20)
    table, hyperplanes = problem.rows(NativeRows).table, np.ascontiguousarray(problem.hyperplanes[:, :1])
    with pytest.raises(ValueError, match="do not form a tree"):
        table.membership_sums(hyperplanes, np.array(children), 1, np.zeros((2, 2, 2)))


def test_rows_in_another_arrangement_have_the_same_sums():
    rng = np.random.default_rng(0)
    tree = single_leaf(4)
    for _ in range(24):
        tree = split_leaf(tree, int(rng.integers(tree.n_leaves)), 40 * rng.normal(size=5))
    X, y, weights = rng.normal(size=(5000, 4)), rng.integers(2, size=5000), rng.uniform(0.5, 2, size=5000)
    table = X, y, DirichletCategorical((0.5, 0.5)), weights, identity_schema(4)
    rows, reference = NativeRows.of_table(*table, limits=Limits(fewest_arranged=100)), ArrayRows.of_table(*table)
    assert NativeRows.of_table(*table).arranged(tree.hyperplanes, tree.shape).part.chosen is None
    arranged = rows.arranged(tree.hyperplanes, tree.shape)
    assert not np.array_equal(arranged.part.chosen, np.arange(5000))
    np.testing.assert_array_equal(np.sort(arranged.part.chosen), np.arange(5000))
    statistics = rng.gamma(2.0, 20.0, size=(1, tree.n_leaves, 2))
    expected = pass_at(reference, tree.hyperplanes[None], tree.shape, statistics, information=True)
    for some in (rows, arranged):
        at = pass_at(some, tree.hyperplanes[None], tree.shape, statistics, information=True)
        for name in SUMS:
            # Subtrees that hardly a row of a block reaches are skipped: 1e-13 of each row at most.
            sums = getattr(expected, name)
            np.testing.assert_allclose(getattr(at, name), sums, rtol=0, atol=1e-10 * np.abs(sums).max(), err_msg=name)


def large_rows(X, y, weights, family, **limits):
    """Rows of a table that is large enough for passes in floats."""
    limits = Limits(fewest_in_floats=1000, **limits)
    return NativeRows.of_table(X, y, family, weights, identity_schema(X.shape[1]), limits=limits)


@pytest.mark.parametrize("name", ["two classes", "counts", "constant", "slopes along a basis"])
@pytest.mark.parametrize("n", [40, 3000])
@pytest.mark.parametrize("heaviest", [2.0, 1e7])
@pytest.mark.parametrize("gaps", [0.0, 0.03])
def test_the_order_of_rows_does_not_change_a_bit_of_any_answer(name, n, heaviest, gaps):
    case, rng = FAMILIES[name], np.random.default_rng(0)
    X, y, weights = rng.normal(size=(n, 3)), case.draw_targets(rng, n), rng.uniform(0.5, 2, size=n)
    X[rng.uniform(size=X.shape) < gaps] = np.nan
    weights[0] = heaviest
    order, tree = rng.permutation(n), split_leaf(single_leaf(3), 0, rng.normal(size=4))
    for leaf in (0, 1, 0, 2, 1, 3, 5, 4):
        tree = split_leaf(tree, leaf, rng.normal(size=4))
    one = large_rows(X, y, weights, case.family)
    other = large_rows(X[order], y[order], weights[order], case.family)
    T = case.family.row_statistics(np.concatenate([np.ones((1, n)), np.nan_to_num(X).T]), y)
    stack, statistics = tree.hyperplanes[None], np.stack([T[leaf::10].sum(axis=0) for leaf in range(10)])[None]
    directions, probabilities = rng.normal(size=(3, 4)), np.array([0.1, 0.5])
    edges, cuts = np.tile([-0.5, 0.1, 0.7], (3, 1)), rng.normal(size=(2, 4))

    def answers(rows):
        sample, view = rows.sample(n // 10), view_from(rows, tree.hyperplanes, tree.shape, statistics[0], 3)
        assert sample.n_rows < n or n < 100
        yield np.array([rows.weight, sample.weight, view.weight])
        yield grey_shares(rows, tree.hyperplanes, tree.shape, 0.1, 0.9)
        for some in (rows, sample, view, rows.arranged(tree.hyperplanes, tree.shape)):
            at = pass_at(some, stack, tree.shape, statistics, information=True)
            yield from (getattr(at, name) for name in SUMS)
            yield from vars(moments_of(some, statistics[0, 0])).values()
            yield some.quantiles(directions, probabilities)
            yield likelihoods_below(some, tree.hyperplanes, tree.shape, statistics[0]).log_likelihoods
            yield histogram_of(some, directions, edges, cuts, statistics[0, 0])
            yield scan_of(some, directions, edges, cuts, statistics[0, 0])

    for answer, same in zip(answers(one), answers(other), strict=True):
        np.testing.assert_array_equal(same, answer)


def test_samples_of_all_rows_are_made_once():
    rng = np.random.default_rng(0)
    family = FAMILIES["two classes"].family
    rows = large_rows(rng.normal(size=(3000, 2)), rng.integers(2, size=3000), np.ones(3000), family)
    assert rows.sample(300) is rows.sample(300)


def test_statistics_too_wide_for_memory_are_left_to_numpy_block_by_block():
    case = FAMILIES["counts"]
    problem = large_problem(case.family, case.draw_targets, 200)
    kept, streamed = (problem.rows(NativeRows, limits=limits) for limits in (DEFAULT, Limits(kept_bytes=0)))
    assert kept.has_table
    assert not streamed.has_table
    assert_same_answers(problem.answers(kept), problem.answers(streamed))


@pytest.mark.parametrize("name", ["two classes", "seven classes", "three classes, small prior"])
@pytest.mark.parametrize("rounds", [0, 3])
def test_ascents_in_floats_rise_to_what_doubles_confirm(name, rounds):
    case = FAMILIES[name]
    problem = large_problem(case.family, case.draw_targets, 3000)
    in_floats, in_doubles = (problem.rows(NativeRows, limits=Limits(fewest_in_floats=n)) for n in (0, 3000))
    assert (in_floats.in_floats, in_doubles.in_floats) == (True, False)
    start = problem.hyperplanes, np.ones((2, 7)), problem.statistics
    effort = Effort(tolerance=1e-3, rounds=rounds, max_passes=100)
    stack = ascend(in_floats, family_of(in_floats), problem.shape, *start, effort=effort)
    before, after = (
        converge_responsibilities(in_doubles, family_of(in_doubles), problem.shape, *at, tolerance=1e-3, max_passes=1)
        for at in (start, (stack.hyperplanes, stack.precisions, stack.statistics))
    )
    assert (after.log_evidence > before.log_evidence + 1).all()
    np.testing.assert_allclose(stack.log_evidence, after.log_evidence, rtol=1e-6)
    np.testing.assert_allclose(stack.prices, after.prices, rtol=0, atol=1e-3)


def test_likelihoods_too_small_for_floats_are_not_taken_to_be_zero():
    X = np.repeat([-1.0, 1.0], 40)[:, None]
    y = np.repeat([0, 1], 40)
    tree = split_leaf(single_leaf(1), 0, [0.0, 300.0])
    log_evidence = []
    for pseudo_count in (1e-2, 1e-3):
        table = X, y, DirichletCategorical((pseudo_count,) * 2), np.ones(80), identity_schema(1)
        # At first each leaf is sure of the wrong class, by more than floats can tell.
        start = tree.hyperplanes[None], np.ones((1, 1)), np.array([[[40.0, 0.0], [0.0, 40.0]]])
        in_floats, in_doubles = (
            NativeRows.of_table(*table, limits=Limits(fewest_in_floats=0)),
            ArrayRows.of_table(*table),
        )
        assert in_floats.in_floats
        one, other = (
            converge_responsibilities(rows, family_of(rows), tree.shape, *start, tolerance=1e-3, exact=False)
            for rows in (in_floats, in_doubles)
        )
        np.testing.assert_allclose(one.log_evidence, other.log_evidence, rtol=1e-6, atol=1e-3)
        log_evidence.append(one.log_evidence[0])
    assert np.isfinite(log_evidence).all()
