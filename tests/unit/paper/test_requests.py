"""What the paper's construction sums: the gradient of its bound is that of differences, and the rows of a leaf."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import expit

from asking import membership_sums
from bayesian_reticulum.data.schema import identity_schema
from bayesian_reticulum.families.dirichlet import DirichletCategorical
from bayesian_reticulum.paper.requests import bound_gradient, reduce_block, rows_of_leaf
from bayesian_reticulum.rows import ArrayRows, Limits, MembershipSums
from bayesian_reticulum.tree import single_leaf, split_leaf
from plugins import examples, trees
from row_problems import differences, problems, softened_gates

few = examples(25)
seeds = st.integers(0, 2**32 - 1)
family = DirichletCategorical((0.5, 0.5))


@few
@given(problem=problems(n=st.integers(1, 40), min_splits=1, table="numbers"), hard=st.booleans())
def test_the_rows_that_reach_a_leaf_weigh_as_much_as_their_membership(problem, hard):
    membership = np.exp(softened_gates(problem, problem.hyperplanes[:1]).log_membership[0])
    block = problem.rows(ArrayRows).gather()
    for leaf in range(problem.shape.n_leaves):
        reached = rows_of_leaf(block, problem.hyperplanes[0], problem.shape, leaf, hard=hard)
        if hard:
            inside = membership[leaf] > 0.5
            expected = problem.weights[inside] if inside.any() else problem.weights
        else:
            expected = (problem.weights * membership[leaf])[membership[leaf] > 0]
        np.testing.assert_allclose(reached.weights, expected, rtol=1e-9)


def test_rows_without_a_weight_of_one_half_are_all_reached():
    X, targets = np.array([[-1.0], [1.0]]), np.array([0, 1])
    block = ArrayRows.of_table(X, targets, family, np.ones(2), identity_schema(1)).gather()
    shape, closed = split_leaf(single_leaf(1), 0, [0.0, 1.0]).shape, np.array([[-9.0, 0.0]])
    assert rows_of_leaf(block, closed, shape, 0, hard=True) is block
    assert rows_of_leaf(block, closed, shape, 1, hard=True).weights.sum() == 2
    assert rows_of_leaf(block, closed, shape, 0, hard=False).weights.sum() == pytest.approx(2 * expit(-9.0))


@few
@given(tree=trees(min_splits=1, max_splits=4), seed=seeds)
def test_the_gradient_of_the_papers_bound_equals_its_differences(tree, seed):
    rng = np.random.default_rng(seed)
    n, d = 30, tree.n_features
    rows = ArrayRows.of_table(
        rng.normal(size=(n, d)), rng.integers(2, size=n), family, rng.uniform(0.5, 2, size=n), identity_schema(d)
    )

    def bound(hyperplanes):
        return float(family.log_evidence(membership_sums(rows, hyperplanes[None], tree.shape)).sum())

    stack = np.stack([tree.hyperplanes, rng.normal(size=tree.hyperplanes.shape)])
    gradient = bound_gradient(rows.gather(), family, stack, tree.shape)
    for one, of_tree in zip(stack, gradient, strict=True):
        np.testing.assert_allclose(of_tree, differences(bound, one, 1e-5), rtol=1e-6, atol=1e-6)


@few
@given(problem=problems(n=st.integers(1, 40), table="numbers"))
def test_a_block_in_parts_has_the_sums_of_rows(problem):
    rows = problem.rows(ArrayRows, limits=Limits(block_floats=1, fewest_block_rows=3))
    statistics = reduce_block(MembershipSums(problem.hyperplanes, problem.shape), rows.gather()).statistics
    np.testing.assert_allclose(statistics, membership_sums(rows, problem.hyperplanes, problem.shape), rtol=1e-12)
    whole, parts = (
        bound_gradient(some.gather(), problem.family, problem.hyperplanes, problem.shape)
        for some in (problem.rows(ArrayRows), rows)
    )
    np.testing.assert_allclose(parts, whole, rtol=1e-9, atol=1e-9)


def test_the_papers_method_refuses_missing_cells():
    X = np.array([[0.0], [np.nan]])
    block = ArrayRows.of_table(X, np.array([0, 1]), family, np.ones(2), identity_schema(1)).gather()
    with pytest.raises(ValueError, match="no place for missing cells"):
        bound_gradient(block, family, np.ones((1, 1, 2)), split_leaf(single_leaf(1), 0, [0.0, 1.0]).shape)
