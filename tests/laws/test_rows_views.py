"""Laws of rows seen in part, for every kind of them: views from leaves, and wide tables along their axes."""

import gc
import weakref

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from asking import (
    family_of,
    likelihoods_below,
    membership_sums,
    moments_of,
    pass_at,
    rows_of_data,
    view_from,
    views_from,
)
from bayesian_reticulum.data.schema import Schema, identity_schema
from bayesian_reticulum.datasets import make_cross
from bayesian_reticulum.evidence.engine import ascend
from bayesian_reticulum.families.dirichlet import DirichletCategorical
from bayesian_reticulum.rows.limits import Limits
from bayesian_reticulum.rows.memory import rows_in_memory
from bayesian_reticulum.rows.source import RowData
from bayesian_reticulum.tree import Tree, graft, single_leaf, split_leaf
from plugins import FAMILIES, each_backend, examples, trees
from row_problems import problems, softened_gates

few = examples(25)
seeds = st.integers(0, 2**32 - 1)
family = DirichletCategorical((0.5, 0.5))
near = {"rtol": 1e-9, "atol": 1e-9}


@each_backend
@few
@given(problem=problems(min_splits=0, max_splits=4), branch=trees(min_splits=1, max_splits=3), data=st.data())
def test_a_branch_seen_from_its_leaf_has_the_sums_it_has_in_the_whole_tree(rows_class, problem, branch, data):
    rows, tree = problem.rows(rows_class, limits=Limits(negligible_share=1e-300)), problem.first_tree
    width, k = tree.hyperplanes.shape[1], problem.family.n_statistics
    leaf = data.draw(st.integers(0, tree.n_leaves - 1))
    branch = Tree(problem.rng.normal(size=(branch.n_splits, width)), branch.shape, 100 + branch.ids)
    S = problem.statistics[0]
    below = problem.rng.gamma(1.0, 2.0, size=(branch.n_leaves, k))
    view = view_from(rows, tree.hyperplanes, tree.shape, S, leaf)
    local = pass_at(view, branch.hyperplanes[None], branch.shape, below[None], information=True)
    whole_tree = graft(tree, leaf, branch)
    whole_statistics = np.concatenate([S[:leaf], below, S[leaf + 1 :]])
    whole = pass_at(rows, whole_tree.hyperplanes[None], whole_tree.shape, whole_statistics[None], information=True)
    np.testing.assert_allclose(local.log_normalizer, whole.log_normalizer, **near)
    np.testing.assert_allclose(local.statistics[0], whole.statistics[0, leaf : leaf + branch.n_leaves], **near)
    for name in ("gradient", "observed", "complete"):
        np.testing.assert_allclose(
            getattr(local, name)[0], getattr(whole, name)[0, tree.n_splits :], err_msg=name, **near
        )
    np.testing.assert_allclose(
        membership_sums(view, branch.hyperplanes[None], branch.shape)[0],
        membership_sums(rows, whole_tree.hyperplanes[None], whole_tree.shape)[0, leaf : leaf + branch.n_leaves],
        **near,
    )
    # A view from a leaf of the branch is the view from the same leaf of the whole tree.
    nested = view_from(view, branch.hyperplanes, branch.shape, below, 0)
    direct = view_from(rows, whole_tree.hyperplanes, whole_tree.shape, whole_statistics, leaf)
    one, other = (
        pass_at(seen, branch.hyperplanes[None], branch.shape, below[None], information=True)
        for seen in (nested, direct)
    )
    np.testing.assert_allclose(one.log_normalizer, other.log_normalizer, **near)
    np.testing.assert_allclose(one.statistics, other.statistics, **near)


@each_backend
@few
@given(problem=problems(n=st.integers(20, 40), min_splits=1), data=st.data())
def test_rows_left_out_of_a_view_hardly_matter(rows_class, problem, data):
    leaf = data.draw(st.integers(0, problem.shape.n_splits))
    view = view_from(problem.rows(rows_class), problem.hyperplanes[0], problem.shape, problem.statistics[0], leaf)
    seen = moments_of(view, problem.statistics[0, leaf]).second[0, 0]
    whole = np.exp(softened_gates(problem, problem.hyperplanes[:1]).log_membership[0, leaf])
    assert seen == pytest.approx(whole @ problem.weights, abs=1e-3 * problem.weights.sum())


@each_backend
@few
@given(tree=trees(min_splits=1, max_splits=6), seed=seeds, n=st.integers(1, 60), name=st.sampled_from(sorted(FAMILIES)))
def test_the_likelihood_below_the_root_is_the_normalizer(rows_class, tree, seed, n, name):
    case = FAMILIES[name]
    rng = np.random.default_rng(seed)
    d = case.n_features if case.family.uses_design else tree.n_features
    tree = split_leaf(single_leaf(d), 0, rng.normal(size=d + 1))
    X, targets = rng.normal(size=(n, d)), case.draw_targets(rng, n)
    rows = rows_class.of_table(X, targets, case.family, rng.uniform(0.5, 2, size=n), identity_schema(d))
    statistics = membership_sums(rows, tree.hyperplanes[None], tree.shape)[0]
    at = pass_at(rows, tree.hyperplanes[None], tree.shape, statistics[None])
    sums = likelihoods_below(rows, tree.hyperplanes, tree.shape, statistics)
    size = np.abs(at.log_normalizer[0]) + 1
    assert sums.log_likelihoods[0] == pytest.approx(at.log_normalizer[0], abs=1e-9 * size)
    np.testing.assert_allclose(sums.statistics, at.statistics[0], rtol=1e-9, atol=1e-9)


def test_views_are_freed_as_soon_as_they_have_served():
    X, y, _ = make_cross(600, random_state=0)
    rows = rows_in_memory(RowData.of(X, y, np.ones(len(y)), identity_schema(2)), family)
    tree = split_leaf(single_leaf(2), 0, [0.0, 4.0, 0.0])
    statistics = membership_sums(rows, tree.hyperplanes[None], tree.shape)[0]
    gc.disable()
    try:
        for view in views_from(rows, tree.hyperplanes, tree.shape, statistics, [0, 1]):
            ascend(view, family_of(view), tree.shape, tree.hyperplanes[None], np.ones((1, 1)))
            last = weakref.ref(view)
        del view
        assert last() is None
    finally:
        gc.enable()


@each_backend
@few
@given(seed=seeds, n=st.integers(2, 12), extra=st.integers(1, 30))
def test_rotated_rows_give_the_same_pass_for_hyperplanes_in_their_span(rows_class, seed, n, extra):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, n + extra)) * rng.uniform(0.1, 10, size=n + extra)
    three = DirichletCategorical((0.5, 0.5, 0.5))
    targets, weights = rng.integers(3, size=n), rng.uniform(0.5, 2, size=n)
    schema = Schema.from_columns(X, weights, tuple(f"x{j}" for j in range(n + extra)))
    data = RowData.of(X, targets, weights, schema)
    rotated, rotation = data.rotated(1000)
    wide, narrow = (rows_of_data(rows_class, some, three) for some in (data, rotated))
    basis = rotation.basis
    assert narrow.n_columns == basis.shape[1] <= n
    np.testing.assert_allclose(basis.T @ basis, np.eye(basis.shape[1]), atol=1e-10)
    shape = split_leaf(split_leaf(single_leaf(1), 0, [0.0, 1.0]), 1, [0.0, 1.0]).shape
    slim = rng.normal(size=(2, 2, basis.shape[1] + 1))
    broad = np.concatenate([slim[..., :1], slim[..., 1:] @ basis.T], axis=-1)
    S = rng.gamma(1.0, 2.0, size=(2, 3, 3))
    along, expected = pass_at(narrow, slim, shape, S), pass_at(wide, broad, shape, S)
    np.testing.assert_allclose(along.log_normalizer, expected.log_normalizer, rtol=1e-9)
    np.testing.assert_allclose(along.statistics, expected.statistics, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(along.gradient[..., 1:], expected.gradient[..., 1:] @ basis, rtol=1e-7, atol=1e-8)


@each_backend
@few
@given(seed=seeds, n=st.integers(2, 8))
def test_rotated_columns_do_not_depend_on_the_order_or_repetition_of_rows(rows_class, seed, n):
    rng = np.random.default_rng(seed)
    X, times = rng.normal(size=(n, 40)), rng.integers(1, 4, size=n)
    targets, schema = rng.integers(2, size=n), identity_schema(40)
    repeats = rng.permutation(np.repeat(np.arange(n), times))
    weighted, rotation = RowData.of(X, targets, times.astype(float), schema).rotated(1000)
    repeated, same = RowData.of(X[repeats], targets[repeats], np.ones(len(repeats)), schema).rotated(1000)
    np.testing.assert_allclose(same.basis, rotation.basis, atol=1e-8)
    one, other = (
        moments_of(rows_of_data(rows_class, data, family), np.zeros(2)).second for data in (weighted, repeated)
    )
    np.testing.assert_allclose(other, one, atol=1e-8)
