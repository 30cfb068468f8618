"""Rows go down a tree by its gates, whether the tree is fitted or still growing."""

import numpy as np
import pytest
from scipy.special import expit

from bayesian_reticulum.model import compute_membership, compute_routes
from bayesian_reticulum.model.routing import row_blocks
from bayesian_reticulum.tree import single_leaf
from plugins import TABLES, draw_table
from small_models import chain, fitted


@pytest.fixture(params=["NumPy", "compiled"])
def engine(request, monkeypatch):
    if request.param == "NumPy":
        monkeypatch.setenv("BAYESIAN_RETICULUM_NATIVE", "0")


@pytest.mark.parametrize("kind", TABLES)
def test_memberships_are_products_of_gates(engine, kind):
    rng = np.random.default_rng(0)
    X, schema = draw_table(rng, 50, 4, kind)
    tree = chain(5, "abcd").model_.tree
    gates, membership = compute_routes(schema, tree, X), compute_membership(schema, tree, X)
    gate = gates.gate[0]
    for leaf in range(tree.n_leaves):
        sides = tree.shape.sides[:, leaf, None]
        path = np.where(sides == 1, gate, np.where(sides == -1, 1 - gate, 1.0)).prod(axis=0)
        np.testing.assert_allclose(membership[:, leaf], path, atol=1e-12)
    np.testing.assert_allclose(membership.sum(axis=1), 1)


def test_activations_without_gaps_are_those_of_the_hyperplanes():
    rng = np.random.default_rng(0)
    X, schema = draw_table(rng, 50, 3, "numbers")
    tree = chain(3, "abc").model_.tree
    gates = compute_routes(schema, tree, X)
    np.testing.assert_allclose(gates.activation[0], tree.hyperplanes @ schema.design(X), atol=1e-12)
    np.testing.assert_allclose(gates.gate, expit(gates.activation), atol=1e-12)


def test_a_tree_without_splits_has_all_rows_in_its_leaf(engine):
    X, schema = draw_table(np.random.default_rng(0), 20, 2, "gaps")
    np.testing.assert_array_equal(compute_membership(schema, single_leaf(2), X), np.ones((20, 1)))


def test_blocks_are_all_rows_in_order():
    X, schema = draw_table(np.random.default_rng(0), 9000, 2, "gaps")
    tree = chain(2, "ab").model_.tree
    blocks = list(row_blocks(schema, tree, X, schema.gaps(X)))
    assert len(blocks) > 2
    assert [block.rows.start for block in blocks[1:]] == [block.rows.stop for block in blocks[:-1]]
    assert blocks[-1].rows.stop == len(X)
    for block in blocks:
        size = block.rows.stop - block.rows.start
        assert block.membership.shape == (3, size)
        assert block.design.shape == (3, size)
        assert block.left_open.shape[1] == size
    joined = np.concatenate([block.membership for block in blocks], axis=1)
    np.testing.assert_allclose(joined.T, compute_membership(schema, tree, X), atol=1e-12)


def test_an_empty_table_is_one_empty_block():
    X, schema = draw_table(np.random.default_rng(0), 1, 2, "numbers")
    (block,) = row_blocks(schema, chain(2, "ab").model_.tree, X[:0], None)
    assert block.membership.shape == (3, 0)
    assert block.left_open is None


def test_a_tree_that_is_still_growing_needs_no_leaves(engine):
    estimator, X, _ = fitted("two classes")
    model = estimator.model_
    for event in estimator.history_:
        membership = compute_membership(model.schema, event.tree, X)
        assert membership.shape == (len(X), event.tree.n_leaves)
        np.testing.assert_allclose(membership.sum(axis=1), 1)
    np.testing.assert_allclose(membership, estimator.membership(X), atol=1e-12)
