"""Splits go if the tree is better off without them, and none of those that go together is below another."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from asking import family_of
from bayesian_reticulum.data import identity_schema
from bayesian_reticulum.datasets import make_cross
from bayesian_reticulum.evidence import collapse_splits, evaluate, least_collapse_gains
from bayesian_reticulum.families import DirichletCategorical
from bayesian_reticulum.growth.policy import Policy
from bayesian_reticulum.growth.pruning import disjoint_splits, prune, retrain
from bayesian_reticulum.tree import single_leaf, split_leaf
from growing import make_rows, stump
from plugins import BACKENDS, trees

policy = Policy()
seeds = st.integers(0, 2**32 - 1)


@pytest.fixture(scope="module")
def chessboard():
    """Rows, and a tree of the three splits that they need."""
    rows = make_rows(*make_cross(600, random_state=0)[:2])
    root = split_leaf(single_leaf(2), 0, [0.0, 4.0, 0.0], 10)
    tree = split_leaf(split_leaf(root, 0, [0.0, 0.0, 4.0], 11), 2, [0.0, 0.0, 4.0], 12)
    return rows, evaluate(rows, family_of(rows), tree, np.full(3, 0.1))


def test_splits_that_pay_stay(chessboard):
    rows, state = chessboard
    assert prune(rows, state, policy) is None


@pytest.mark.parametrize("doubtful", [10.0, 0.0])
def test_splits_that_do_not_pay_go(chessboard, doubtful):
    rows, state = chessboard
    tree = split_leaf(split_leaf(state.tree, 3, [0.0, 1.0, 0.1], 13), 0, [0.1, 0.0, 0.2], 14)
    worse = evaluate(rows, family_of(rows), tree, np.full(5, 0.1))
    pruned = prune(rows, worse, Policy(large_difference=doubtful))
    assert pruned.tree.ids.tolist() == [10, 11, 12]
    assert pruned.log_evidence > worse.log_evidence
    assert pruned.log_evidence == pytest.approx(state.log_evidence, abs=1e-2)


def test_a_tree_may_lose_all_of_its_splits():
    rng = np.random.default_rng(0)
    rows = make_rows(rng.normal(size=(60, 2)), rng.integers(2, size=60))
    pruned = prune(rows, stump(rows, [0.0, 3.0, 1.0]), policy)
    assert pruned.tree.n_splits == 0


def test_retraining_never_lowers_the_log_evidence(chessboard):
    rows, state = chessboard
    retrained = retrain(rows, state, policy)
    assert retrained.log_evidence > state.log_evidence
    assert retrain(rows, retrained, policy).log_evidence >= retrained.log_evidence
    leaf = evaluate(rows, family_of(rows), single_leaf(2), np.empty(0))
    assert retrain(rows, leaf, policy) is leaf


def gain_with_prices_held(state, smaller):
    """What a tree gains by losing splits, had the prices of the others stayed: in the bound of one pass they do."""
    kept = np.isin(state.tree.ids, smaller.tree.ids)
    return smaller.log_evidence - state.log_evidence + smaller.prices.sum() - state.prices[kept].sum()


@pytest.mark.parametrize("rows_class", BACKENDS)
@settings(max_examples=25)
@given(tree=trees(min_splits=3, max_splits=7), seed=seeds, n=st.integers(5, 60))
def test_disjoint_splits_may_be_collapsed_together(rows_class, tree, seed, n):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(n, tree.n_features)), rng.integers(2, size=n)
    family, schema = DirichletCategorical((0.5, 0.5)), identity_schema(tree.n_features)
    rows = rows_class.of_table(X, y, family, rng.uniform(0.5, 2, size=n), schema)
    state = evaluate(rows, family_of(rows), tree, rng.uniform(0.01, 1, size=tree.n_splits), tolerance=1e-9)
    gains = least_collapse_gains(rows, state)
    centred = gains - np.median(gains)
    chosen = disjoint_splits(tree.shape, centred)
    assert centred[chosen[0]] == centred.max()
    assert (tree.shape.sides[chosen] != 0).sum(axis=0).max() == 1
    smaller = collapse_splits(rows, state, chosen, tolerance=1e-9)
    # Each of them goes with all that is below it, and nothing else does.
    reached = (tree.shape.sides[chosen] != 0).any(axis=0)
    np.testing.assert_array_equal(np.isin(tree.ids, smaller.tree.ids), (tree.shape.sides[:, ~reached] != 0).any(axis=1))
    assert gain_with_prices_held(state, smaller) >= gains[chosen].sum() - 1e-6
