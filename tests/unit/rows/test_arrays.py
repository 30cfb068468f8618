"""Rows as arrays, the reference for all others: what they do by blocks, in any namespace, and how they are derived.

That their sums equal loops over rows is a law of all rows, in `laws/test_rows.py`.
"""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from asking import (
    context_of,
    family_of,
    histogram_of,
    likelihoods_below,
    moments_of,
    scan_of,
    view_from,
    views_from,
)
from bayesian_reticulum.data.schema import identity_schema
from bayesian_reticulum.families.dirichlet import DirichletCategorical
from bayesian_reticulum.rows.arrays import ArrayRows
from bayesian_reticulum.rows.limits import Limits
from bayesian_reticulum.rows.protocol import view_of_leaf
from bayesian_reticulum.rows.requests import BelowSplits, MembershipSums
from bayesian_reticulum.tree import single_leaf, split_leaf
from plugins import FAMILIES, each_backend, examples, strict_arrays, trees
from row_problems import assert_same_pass, naive_responsibilities, problems, requests

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
    at_once, in_blocks = problem.rows(ArrayRows, tail=tail), problem.rows(ArrayRows, tail=tail, limits=SMALL)
    assert_same_pass(problem.pass_(at_once), problem.pass_(in_blocks))
    assert_same_pass(problem.pass_(at_once, information=False), problem.pass_(in_blocks, information=False))
    answers = requests(problem, at_once)
    for name, answer in requests(problem, in_blocks).items():
        np.testing.assert_allclose(answer, answers[name], rtol=1e-9, atol=1e-9, err_msg=name)


@few
@given(problem=problems(n=st.integers(1, 60), min_splits=1), share=st.sampled_from([0.0, 1e-3]))
def test_a_view_holds_the_membership_of_its_rows_and_the_joint_of_all_other_leaves(problem, share):
    rows, tree = problem.rows(ArrayRows, limits=Limits(negligible_share=share)), problem.first_tree
    log_membership, joint, responsibility = naive_responsibilities(problem, 0)
    for leaf, view in enumerate(
        views_from(rows, tree.hyperplanes, tree.shape, problem.statistics[0], np.arange(tree.n_leaves))
    ):
        held = np.maximum(np.exp(log_membership[:, leaf]), responsibility[:, leaf])
        # Rows right at the limit may be seen or not.
        surely, perhaps = (set(np.flatnonzero(held > near * share)) for near in (1.001, 0.999))
        assert surely <= set(view.part.chosen) <= perhaps
        np.testing.assert_allclose(view.part.log_reach, log_membership[view.part.chosen, leaf], rtol=1e-9, atol=1e-9)
        others = np.logaddexp.reduce(np.delete(joint, leaf, axis=1), axis=1)
        np.testing.assert_allclose(view.part.log_other, others[view.part.chosen], rtol=1e-9, atol=1e-9)
        assert view.weight == pytest.approx((problem.weights * np.exp(log_membership[:, leaf]))[view.part.chosen].sum())


def test_views_of_a_tree_without_splits_are_the_rows_themselves():
    rows = ArrayRows.of_table(np.zeros((3, 1)), np.zeros(3, dtype=int), family, np.ones(3), identity_schema(1))
    leaf = single_leaf(1)
    assert view_from(rows, leaf.hyperplanes, leaf.shape, np.ones((1, 2)), 0) is rows


def linear_rows(n=40, d=3, limits=None):
    rng = np.random.default_rng(0)
    case = FAMILIES["three slopes, other units"]
    X, y = rng.normal(size=(n, d)), case.draw_targets(rng, n)
    rows = ArrayRows.of_table(
        X, y, case.family, rng.uniform(0.5, 2, size=n), identity_schema(d), limits=limits or Limits()
    )
    return rows, case.family.row_statistics(np.column_stack([np.ones(n), X]).T, y)


def test_moments_of_linear_leaves_are_those_of_residuals():
    rows, T = linear_rows()
    held = rows.part.weights @ T
    design = np.column_stack([np.ones(40), rows.part.cells])
    residual = family_of(rows).residuals(design.T, rows.part.targets, held)[:, 0]
    sums = moments_of(rows, held)
    varying = np.column_stack([residual[:, None] * design, residual**2])
    np.testing.assert_allclose(sums.second, (design.T * rows.part.weights) @ design)
    np.testing.assert_allclose(sums.cross, (varying.T * rows.part.weights) @ design)
    np.testing.assert_allclose(sums.size, rows.part.weights @ np.abs(varying))


def test_scans_of_linear_leaves_sum_residuals_along_each_direction():
    rows, T = linear_rows()
    streamed, _ = linear_rows(limits=SMALL)
    rng, held = np.random.default_rng(1), rows.part.weights @ T
    directions, cuts, edges = rng.normal(size=(2, 4)), rng.normal(size=(1, 4)), np.tile([-0.5, 0.0, 0.5], (2, 1))
    histogram = histogram_of(rows, directions, edges, cuts, held)
    design = np.column_stack([np.ones(40), rows.part.cells]).T
    residuals = family_of(rows).residuals(design, rows.part.targets, held)
    scanned = family_of(rows).scan_family
    for direction, along in enumerate(directions @ design):
        statistics = scanned.row_statistics(np.stack([np.ones(40), along]), residuals)
        expected = (statistics * rows.part.weights[:, None]).sum(axis=0)
        np.testing.assert_allclose(histogram[0, :, direction].sum(axis=(0, 1)), expected, atol=1e-9)
    np.testing.assert_allclose(histogram_of(streamed, directions, edges, cuts, held), histogram, atol=1e-9)
    assert scan_of(rows, directions, edges, cuts, held).shape == (1, 2, 2, 3)


def test_likelihoods_below_splits_of_a_view_are_those_of_the_whole_tree():
    rng = np.random.default_rng(0)
    rows = ArrayRows.of_table(
        rng.normal(size=(50, 2)), rng.integers(2, size=50), family, np.ones(50), identity_schema(2)
    )
    tree = split_leaf(split_leaf(single_leaf(2), 0, rng.normal(size=3)), 1, rng.normal(size=3))
    statistics = rng.gamma(2.0, 5.0, size=(3, 2))
    whole = likelihoods_below(rows, tree.hyperplanes, tree.shape, statistics)
    above = split_leaf(single_leaf(2), 0, tree.hyperplanes[0])
    first = ArrayRows(replace(rows.part, facts=replace(rows.part.facts, limits=Limits(negligible_share=1e-300))))
    view = view_from(first, above.hyperplanes, above.shape, statistics[:2], 1)
    branch = split_leaf(single_leaf(2), 0, tree.hyperplanes[1])
    seen = likelihoods_below(view, branch.hyperplanes, branch.shape, statistics[1:])
    assert seen.log_likelihoods[0] == pytest.approx(whole.log_likelihoods[1])
    np.testing.assert_allclose(seen.statistics, whole.statistics[1:])


def test_large_tables_are_sampled_and_small_ones_are_not():
    rng = np.random.default_rng(0)
    rows = ArrayRows.of_table(
        rng.normal(size=(1000, 2)), rng.integers(2, size=1000), family, np.ones(1000), identity_schema(2)
    )
    assert rows.sample(500) is rows
    sample = rows.sample(100)
    assert 60 < sample.n_rows < 150
    assert sample.weight == sample.n_rows


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
    rows = rows_class.of_table(*table, limits=limits)
    statistics = rng.gamma(1.0, 4.0, size=(tree.n_leaves, 2))
    leaves = rng.permutation(tree.n_leaves)[: rng.integers(1, tree.n_leaves + 1)]
    for leaf, view in zip(leaves, views_from(rows, tree.hyperplanes, tree.shape, statistics, leaves), strict=True):
        alone = view_from(rows, tree.hyperplanes, tree.shape, statistics, leaf)
        np.testing.assert_array_equal(view.part.chosen, alone.part.chosen)
        np.testing.assert_allclose(view.part.log_reach, alone.part.log_reach, rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(view.part.log_other, alone.part.log_other, rtol=1e-12, atol=1e-12)


def test_rows_of_a_block_are_those_of_the_table_that_it_was_gathered_from():
    rows, _ = linear_rows()
    again = ArrayRows.of_block(rows.gather(), rows.axes, rows.part.keys)
    tree = split_leaf(single_leaf(3), 0, np.array([0.1, 1.0, -1.0, 0.5]))
    request = MembershipSums(tree.hyperplanes[None], tree.shape)
    np.testing.assert_allclose(again.reduce(request).statistics, rows.reduce(request).statistics)
    np.testing.assert_array_equal(again.sample(10).part.weights, rows.sample(10).part.weights)
    context = context_of(rows, tree.hyperplanes, tree.shape, rows.reduce(request).statistics[0])
    one, other = (view_of_leaf(some, context, 1) for some in (again, rows))
    np.testing.assert_array_equal(one.part.log_reach, other.part.log_reach)
    np.testing.assert_array_equal(one.gather().targets, other.gather().targets)
    assert one.weight == other.weight


@few
@given(problem=problems(n=st.integers(1, 40)), tail=st.booleans())
def test_arrays_of_the_standard_have_the_sums_of_numpy(problem, tail):
    strict = strict_arrays()
    tail = problem.rng.uniform(size=problem.hyperplanes.shape[-1] - 2 if tail else 0)
    plain = problem.rows(ArrayRows, tail=tail)
    standard = problem.rows(ArrayRows, tail=tail, like=strict.zeros(0, dtype=strict.float64))
    assert_same_pass(problem.pass_(plain), problem.pass_(standard))
    answers = requests(problem, plain)
    for name, answer in requests(problem, standard).items():
        assert isinstance(answer, np.ndarray)
        np.testing.assert_allclose(answer, answers[name], rtol=1e-9, atol=1e-9, err_msg=name)
    if problem.shape.n_splits:
        context = context_of(plain, problem.hyperplanes[0], problem.shape, problem.statistics[0])
        below = [rows.reduce(BelowSplits(*vars(context).values())) for rows in (plain, standard)]
        np.testing.assert_allclose(below[1].log_likelihoods, below[0].log_likelihoods, rtol=1e-9, atol=1e-9)
        one, other = (view_of_leaf(rows, context, 0) for rows in (plain, standard))
        assert_same_pass(problem.pass_(one), problem.pass_(other))
