"""Gates, memberships, and sums from the leaves up to the root."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import expit, logsumexp

from bayesian_reticulum.gates import (
    PROBIT_SLOPE,
    SOFTENING,
    backpropagate,
    compute_gates,
    gap_softening,
    gate_products,
    log_sum_below,
    sum_below,
)
from bayesian_reticulum.tree import single_leaf, split_leaf
from plugins import draw_table, examples, trees
from row_problems import naive_activations, naive_log_membership, problems, softened_gates

few = examples(25)
seeds = st.integers(0, 2**32 - 1)


@given(problem=problems())
def test_memberships_sum_to_one(problem):
    gates = softened_gates(problem, problem.hyperplanes)
    np.testing.assert_allclose(np.exp(gates.log_membership).sum(axis=1), 1, rtol=1e-12)


@given(problem=problems(), size=st.sampled_from([1.0, 30.0, 1e4]))
def test_gates_equal_a_computation_row_by_row(problem, size):
    hyperplanes = size * problem.hyperplanes
    gates = softened_gates(problem, hyperplanes)
    np.testing.assert_allclose(gates.gate, expit(gates.activation), rtol=1e-12, atol=1e-300)
    for tree in range(len(hyperplanes)):
        activations = naive_activations(problem, hyperplanes[tree])
        np.testing.assert_allclose(gates.activation[tree].T, activations, rtol=1e-12, atol=1e-12 * size)
        naive = [naive_log_membership(row, problem.shape) for row in activations]
        np.testing.assert_allclose(gates.log_membership[tree].T, naive, rtol=1e-12, atol=1e-11 * size)


def products_of(problem, hyperplanes):
    gaps = problem.schema.gaps(problem.X)
    design, left_open = problem.schema.filled(problem.X, gaps)
    soft = gap_softening(gaps, hyperplanes, left_open)
    return gate_products(hyperplanes, problem.shape, design, soft)


@given(problem=problems(), size=st.sampled_from([1.0, 30.0, 1e4]))
def test_products_of_gates_are_memberships(problem, size):
    hyperplanes = size * problem.hyperplanes
    gates, products = softened_gates(problem, hyperplanes), products_of(problem, hyperplanes)
    # Beyond ±500 activations are clipped: what goes there has a membership of e^-500 at most.
    near = {"rtol": 1e-10, "atol": 1e-200}
    np.testing.assert_allclose(products.membership.swapaxes(0, 1), np.exp(gates.log_membership), **near)
    np.testing.assert_allclose(products.left.swapaxes(0, 1), gates.gate, **near)
    np.testing.assert_allclose(products.right + products.left, 1, rtol=1e-12)
    below = (problem.shape.sides != 0).astype(float)
    reach = np.einsum("ml,cln->mcn", below, np.exp(gates.log_membership))
    np.testing.assert_allclose(products.reach, reach, **near)


@few
@given(tree=trees(min_splits=1, max_splits=4), seed=seeds)
def test_backpropagation_equals_differences_of_the_mean_value(tree, seed):
    rng = np.random.default_rng(seed)
    n, m = 6, tree.n_splits
    design = np.concatenate([np.ones((1, n)), rng.normal(size=(tree.n_features, n))])
    value = rng.normal(size=(tree.n_leaves, 1, n))

    def mean(softening):
        membership = np.exp(compute_gates(tree.hyperplanes[None], tree.shape, design, softening).log_membership[0])
        return (membership * value[:, 0]).sum(axis=0)

    products = gate_products(tree.hyperplanes[None], tree.shape, design)
    slope = backpropagate(products, tree.shape, value)
    # Factors of activations are the only way to move one activation alone.
    activation = compute_gates(tree.hyperplanes[None], tree.shape, design).activation[0]
    for split in range(m):
        step = np.zeros((1, m, n))
        step[0, split] = 1e-6
        numeric = (mean(1 + step) - mean(1 - step)) / 2e-6
        np.testing.assert_allclose(slope[split, 0] * activation[split], numeric, rtol=1e-6, atol=1e-7)


@given(tree=trees(max_splits=6), seed=seeds)
def test_sums_below_a_split_are_those_of_its_leaves(tree, seed):
    rng = np.random.default_rng(seed)
    responsibility = rng.uniform(size=(2, tree.n_leaves, 3))
    left, reached = sum_below(tree.shape, responsibility)
    np.testing.assert_allclose(left, np.einsum("ml,cln->cmn", tree.shape.sides == 1, responsibility))
    np.testing.assert_allclose(reached, np.einsum("ml,cln->cmn", tree.shape.sides != 0, responsibility))


@given(tree=trees(max_splits=6), seed=seeds)
def test_log_sums_below_a_split_keep_numbers_that_underflow(tree, seed):
    logs = np.random.default_rng(seed).uniform(-2000, 0, size=(tree.n_leaves, 3))
    expected = [logsumexp(logs[sides != 0], axis=0) for sides in tree.shape.sides]
    np.testing.assert_allclose(log_sum_below(tree.shape, logs), np.reshape(expected, (tree.n_splits, 3)), rtol=1e-12)


def test_activations_of_any_size_have_gates_and_memberships_without_a_warning():
    tree = split_leaf(single_leaf(1), 0, [0.0, 1.0])
    design = np.array([[1.0, 1.0, 1.0], [-1e6, 0.0, 1e6]])
    gates = compute_gates(tree.hyperplanes[None], tree.shape, design)
    np.testing.assert_array_equal(gates.gate[0, 0], [0, 0.5, 1])
    np.testing.assert_allclose(gates.log_membership[0], [[-1e6, np.log(0.5), 0], [0, np.log(0.5), -1e6]])
    products = gate_products(tree.hyperplanes[None], tree.shape, design)
    np.testing.assert_allclose(products.membership[:, 0], [[0, 0.5, 1], [1, 0.5, 0]], atol=1e-200)


def test_gates_are_softened_only_where_cells_are_missing():
    rng = np.random.default_rng(0)
    X, schema = draw_table(rng, 10, 3, "numbers")
    hyperplanes = rng.normal(size=(1, 2, 4))
    assert gap_softening(schema.gaps(X), hyperplanes, None) is None
    X[3, 1] = np.nan
    gaps = schema.gaps(X)
    _, left_open = schema.filled(X, gaps)
    assert gap_softening(gaps, hyperplanes, np.zeros_like(left_open)) is None
    soft = gap_softening(gaps, hyperplanes, left_open)
    expected = np.ones((1, 2, 10))
    expected[0, :, 3] = (1 + SOFTENING * hyperplanes[0, :, 2] ** 2) ** -0.5
    np.testing.assert_allclose(soft, expected)


@pytest.mark.parametrize("mean", [-3.0, 0.0, 0.7, 3.0])
@pytest.mark.parametrize("spread", [0.3, 1.0, 3.0])
def test_a_softened_gate_is_nearly_the_mean_gate(mean, spread):
    nodes, weights = np.polynomial.hermite_e.hermegauss(200)
    average = (weights * expit(mean + spread * nodes)).sum() / weights.sum()
    assert expit(mean * (1 + PROBIT_SLOPE * spread**2) ** -0.5) == pytest.approx(average, abs=0.02)
