"""Rows in NumPy, the reference for all others: what they do by blocks, and how rows are derived from each other.

That their sums equal loops over rows is a law of all rows, in `laws/test_rows.py`.
"""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayesian_reticulum.data.schema import Schema, identity_schema
from bayesian_reticulum.families.dirichlet import DirichletCategorical
from bayesian_reticulum.rows.limits import Limits
from bayesian_reticulum.rows.numpy import NumpyRows
from bayesian_reticulum.tree import Tree, single_leaf, split_leaf
from plugins import FAMILIES, each_backend, examples, trees
from row_problems import SUMS, assert_same_pass, differences, naive_responsibilities, problems, requests, softened_gates

few = examples(25)
seeds = st.integers(0, 2**32 - 1)
family = DirichletCategorical((0.5, 0.5))
# Blocks of a few rows, and one thing at a time.
SMALL = Limits(
    block_floats=1, fewest_block_rows=3, kept_bytes=0, widest_products=2, product_floats=1, quantile_floats=1
)


@few
@given(problem=problems(n=st.integers(1, 60)), tail=st.booleans())
def test_sums_over_blocks_of_a_few_rows_are_those_over_all_at_once(problem, tail):
    tail = problem.rng.uniform(size=problem.hyperplanes.shape[-1] - 2 if tail else 0)
    at_once, in_blocks = problem.rows(NumpyRows, tail=tail), problem.rows(NumpyRows, tail=tail, limits=SMALL)
    assert_same_pass(problem.pass_(at_once), problem.pass_(in_blocks))
    assert_same_pass(problem.pass_(at_once, information=False), problem.pass_(in_blocks, information=False))
    answers = requests(problem, at_once)
    for name, answer in requests(problem, in_blocks).items():
        np.testing.assert_allclose(answer, answers[name], rtol=1e-9, atol=1e-9, err_msg=name)


@few
@given(problem=problems(n=st.integers(1, 60), min_splits=1), share=st.sampled_from([0.0, 1e-3]))
def test_a_view_holds_the_membership_of_its_rows_and_the_joint_of_all_other_leaves(problem, share):
    rows, tree = problem.rows(NumpyRows, limits=Limits(negligible_share=share)), problem.first_tree
    log_membership, joint, responsibility = naive_responsibilities(problem, 0)
    for leaf, view in enumerate(
        rows.views(tree.hyperplanes, tree.shape, problem.statistics[0], np.arange(tree.n_leaves))
    ):
        held = np.maximum(np.exp(log_membership[:, leaf]), responsibility[:, leaf])
        # Rows right at the limit may be seen or not.
        surely, perhaps = (set(np.flatnonzero(held > near * share)) for near in (1.001, 0.999))
        assert surely <= set(view._chosen) <= perhaps
        np.testing.assert_allclose(view._log_reach, log_membership[view._chosen, leaf], rtol=1e-9, atol=1e-9)
        others = np.logaddexp.reduce(np.delete(joint, leaf, axis=1), axis=1)
        np.testing.assert_allclose(view._log_other, others[view._chosen], rtol=1e-9, atol=1e-9)
        assert view.weight == pytest.approx((problem.weights * np.exp(log_membership[:, leaf]))[view._chosen].sum())


def test_views_of_a_tree_without_splits_are_the_rows_themselves():
    rows = NumpyRows(np.zeros((3, 1)), np.zeros(3, dtype=int), family, np.ones(3), identity_schema(1))
    leaf = single_leaf(1)
    assert rows.within(leaf.hyperplanes, leaf.shape, np.ones((1, 2)), 0) is rows


@few
@given(problem=problems(n=st.integers(1, 40), min_splits=1), hard=st.booleans())
def test_the_rows_that_reach_a_leaf_weigh_as_much_as_their_membership(problem, hard):
    membership = np.exp(softened_gates(problem, problem.hyperplanes[:1]).log_membership[0])
    for leaf in range(problem.shape.n_leaves):
        reached = problem.rows(NumpyRows).reaching(problem.hyperplanes[0], problem.shape, leaf, hard=hard)
        if hard:
            inside = membership[leaf] > 0.5
            expected = problem.weights[inside] if inside.any() else problem.weights
        else:
            expected = (problem.weights * membership[leaf])[membership[leaf] > 0]
        np.testing.assert_allclose(reached._weights, expected, rtol=1e-9)


@few
@given(tree=trees(min_splits=1, max_splits=4), seed=seeds)
def test_the_gradient_of_the_papers_bound_equals_its_differences(tree, seed):
    rng = np.random.default_rng(seed)
    n, d = 30, tree.n_features
    rows = NumpyRows(
        rng.normal(size=(n, d)), rng.integers(2, size=n), family, rng.uniform(0.5, 2, size=n), identity_schema(d)
    )

    def bound(hyperplanes):
        return float(family.log_evidence(rows.prior_statistics(hyperplanes[None], tree.shape)).sum())

    stack = np.stack([tree.hyperplanes, rng.normal(size=tree.hyperplanes.shape)])
    statistics, gradient = rows.bound_pass(stack, tree.shape)
    np.testing.assert_allclose(statistics, rows.prior_statistics(stack, tree.shape))
    for one, of_tree in zip(stack, gradient, strict=True):
        np.testing.assert_allclose(of_tree, differences(bound, one, 1e-5), rtol=1e-6, atol=1e-6)


def test_the_papers_method_refuses_missing_cells():
    X = np.array([[0.0], [np.nan]])
    rows = NumpyRows(X, np.array([0, 1]), family, np.ones(2), identity_schema(1))
    with pytest.raises(ValueError, match="no place for missing cells"):
        rows.bound_pass(np.ones((1, 1, 2)), split_leaf(single_leaf(1), 0, [0.0, 1.0]).shape)


def linear_rows(n=40, d=3, limits=None):
    rng = np.random.default_rng(0)
    case = FAMILIES["three slopes, other units"]
    X, y = rng.normal(size=(n, d)), case.draw_targets(rng, n)
    rows = NumpyRows(X, y, case.family, rng.uniform(0.5, 2, size=n), identity_schema(d), limits=limits or Limits())
    return rows, case.family.row_statistics(np.column_stack([np.ones(n), X]).T, y)


def test_moments_of_linear_leaves_are_those_of_residuals():
    rows, T = linear_rows()
    held = rows._weights @ T
    design = np.column_stack([np.ones(40), rows._X])
    residual = rows.family.residuals(design.T, rows._targets, held)[:, 0]
    second, cross, size = rows.moments(held)
    varying = np.column_stack([residual[:, None] * design, residual**2])
    np.testing.assert_allclose(second, (design.T * rows._weights) @ design)
    np.testing.assert_allclose(cross, (varying.T * rows._weights) @ design)
    np.testing.assert_allclose(size, rows._weights @ np.abs(varying))


def test_scans_of_linear_leaves_sum_residuals_along_each_direction():
    rows, T = linear_rows()
    streamed, _ = linear_rows(limits=SMALL)
    rng, held = np.random.default_rng(1), rows._weights @ T
    directions, cuts, edges = rng.normal(size=(2, 4)), rng.normal(size=(1, 4)), np.tile([-0.5, 0.0, 0.5], (2, 1))
    histogram = rows.histogram(directions, edges, cuts, held)
    design = np.column_stack([np.ones(40), rows._X]).T
    residuals = rows.family.residuals(design, rows._targets, held)
    scanned = rows.family.scan_family
    for direction, along in enumerate(directions @ design):
        statistics = scanned.row_statistics(np.stack([np.ones(40), along]), residuals)
        expected = (statistics * rows._weights[:, None]).sum(axis=0)
        np.testing.assert_allclose(histogram[0, :, direction].sum(axis=(0, 1)), expected, atol=1e-9)
    np.testing.assert_allclose(streamed.histogram(directions, edges, cuts, held), histogram, atol=1e-9)
    assert rows.scan(directions, edges, cuts, held).shape == (1, 2, 2, 3)


def test_rows_of_some_columns_are_rows_of_a_smaller_table():
    rng = np.random.default_rng(0)
    X, y, weights = rng.normal(size=(30, 4)), rng.integers(2, size=30), rng.uniform(0.5, 2, size=30)
    schema, columns = Schema.from_columns(X, weights, tuple("abcd")), np.array([1, 3])
    some = NumpyRows(X, y, family, weights, schema).restricted(columns)
    alone = NumpyRows(X[:, columns], y, family, weights, Schema.from_columns(X[:, columns], weights, ("b", "d")))
    tree = split_leaf(single_leaf(2), 0, [0.3, 1.0, -2.0])
    statistics = rng.gamma(2.0, 3.0, size=(1, 2, 2))
    one, other = (
        rows.pass_(tree.hyperplanes[None], tree.shape, statistics, information=True) for rows in (some, alone)
    )
    for name in SUMS:
        np.testing.assert_allclose(getattr(one, name), getattr(other, name), rtol=1e-12, err_msg=name)


def test_rows_that_depend_on_all_columns_cannot_be_restricted():
    rows, _ = linear_rows()
    assert rows.restricted(np.array([0])) is None
    X = np.random.default_rng(0).normal(size=(30, 2))
    X[0, 0] = np.nan
    table = X, np.zeros(30, dtype=int), family, np.ones(30)
    apart = NumpyRows(*table, Schema.from_columns(X, np.ones(30), ("a", "b")))
    assert apart.restricted(np.array([0])) is not None
    together = apart.with_schema(apart.with_regressions())
    assert together._schema.regressions is not None
    assert together.restricted(np.array([0])) is None


def test_missing_cells_stay_in_view_of_rotated_rows():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(20, 30)), rng.integers(2, size=20)
    X[rng.uniform(size=X.shape) < 0.05] = np.nan
    rows = NumpyRows(X, y, family, np.ones(20), Schema.from_columns(X, np.ones(20), tuple(f"x{j}" for j in range(30))))
    along, basis = rows.rotated(5)
    rank = basis.shape[1]
    assert (along.n_features, len(along.tail), along.axes.shape) == (rank, rank - 5, (30, rank))
    tree = split_leaf(single_leaf(rank), 0, rng.normal(size=rank + 1))
    there = Tree(np.column_stack([tree.hyperplanes[:, :1], tree.hyperplanes[:, 1:] @ basis.T]), tree.shape, tree.ids)
    statistics = rng.gamma(2.0, 3.0, size=(1, 2, 2))
    one = along.pass_(tree.hyperplanes[None], tree.shape, statistics)
    other = rows.pass_(there.hyperplanes[None], tree.shape, statistics)
    np.testing.assert_allclose(one.log_normalizer, other.log_normalizer, rtol=1e-9)
    np.testing.assert_allclose(one.gradient[..., 1:], other.gradient[..., 1:] @ basis, rtol=1e-7, atol=1e-8)


def test_likelihoods_below_splits_of_a_view_are_those_of_the_whole_tree():
    rng = np.random.default_rng(0)
    rows = NumpyRows(rng.normal(size=(50, 2)), rng.integers(2, size=50), family, np.ones(50), identity_schema(2))
    tree = split_leaf(split_leaf(single_leaf(2), 0, rng.normal(size=3)), 1, rng.normal(size=3))
    statistics = rng.gamma(2.0, 5.0, size=(3, 2))
    whole, held = rows.likelihoods_below(tree.hyperplanes, tree.shape, statistics)
    above = split_leaf(single_leaf(2), 0, tree.hyperplanes[0])
    first = rows._replaced(limits=Limits(negligible_share=1e-300))
    view = first.within(above.hyperplanes, above.shape, statistics[:2], 1)
    branch = split_leaf(single_leaf(2), 0, tree.hyperplanes[1])
    sums, below = view.likelihoods_below(branch.hyperplanes, branch.shape, statistics[1:])
    assert sums[0] == pytest.approx(whole[1])
    np.testing.assert_allclose(below, held[1:])


def test_large_tables_are_sampled_and_small_ones_are_not():
    rng = np.random.default_rng(0)
    rows = NumpyRows(rng.normal(size=(1000, 2)), rng.integers(2, size=1000), family, np.ones(1000), identity_schema(2))
    assert rows.sampled(500) is rows
    sample = rows.sampled(100)
    assert 60 < sample.n_rows < 150
    assert sample.weight == sample.n_rows
    assert sample.arranged(np.ones((1, 3)), split_leaf(single_leaf(2), 0, np.ones(3)).shape) is sample
    assert rows.with_family(family) is rows


@each_backend
@few
@given(
    tree=trees(min_splits=1, max_splits=6),
    seed=seeds,
    n=st.integers(1, 60),
    limits=st.sampled_from([Limits(), Limits(views_at_once=2), Limits(block_floats=1)]),
)
def test_the_view_of_each_leaf_is_that_within_it(rows_class, tree, seed, n, limits):
    rng = np.random.default_rng(seed)
    X, d = rng.normal(size=(n, tree.n_features)), tree.n_features
    table = X, rng.integers(2, size=n), family, rng.uniform(0.5, 2, size=n), identity_schema(d)
    rows = rows_class(*table, limits=limits)
    statistics = rng.gamma(1.0, 4.0, size=(tree.n_leaves, 2))
    leaves = rng.permutation(tree.n_leaves)[: rng.integers(1, tree.n_leaves + 1)]
    for leaf, view in zip(leaves, rows.views(tree.hyperplanes, tree.shape, statistics, leaves), strict=True):
        alone = rows.within(tree.hyperplanes, tree.shape, statistics, leaf)
        np.testing.assert_array_equal(view._chosen, alone._chosen)
        np.testing.assert_allclose(view._log_reach, alone._log_reach, rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(view._log_other, alone._log_other, rtol=1e-12, atol=1e-12)
