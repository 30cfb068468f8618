"""Levels of a branch are exchanged where two splits cross."""

import numpy as np
import pytest

from asking import family_of
from bayesian_reticulum.datasets import make_cross
from bayesian_reticulum.evidence import evaluate
from bayesian_reticulum.gates import compute_gates
from bayesian_reticulum.growth.policy import Policy
from bayesian_reticulum.growth.proposals import survey_site
from bayesian_reticulum.growth.proposals.exchange import Exchange, exchange_levels
from bayesian_reticulum.growth.sites import branch_site
from bayesian_reticulum.tree import Tree, single_leaf, split_leaf
from growing import make_rows, survey


def test_crossing_splits_with_their_levels_exchanged_make_the_same_fields():
    rng = np.random.default_rng(0)
    design = np.vstack([np.ones(50), rng.normal(size=(2, 50))])
    first, second = np.array([0.3, 0.6, 0.8]), np.array([-0.1, 0.8, -0.6])
    tree = split_leaf(split_leaf(split_leaf(single_leaf(2), 0, first), 0, second), 2, -second)
    [exchanged] = exchange_levels(tree, 0)
    np.testing.assert_allclose(exchanged, [second, first, first], atol=1e-12)
    other = Tree(exchanged, tree.shape, tree.ids)
    one, two = (np.exp(compute_gates(t.hyperplanes[None], t.shape, design).log_membership[0]) for t in (tree, other))
    np.testing.assert_allclose(np.sort(one, axis=0), np.sort(two, axis=0), atol=1e-12)


def test_a_split_with_a_leaf_below_it_has_no_levels_to_exchange():
    tree = split_leaf(split_leaf(single_leaf(2), 0, [0.0, 1.0, 0.0]), 0, [0.0, 0.0, 1.0])
    assert [len(exchange_levels(tree, split)) for split in range(2)] == [0, 0]


@pytest.mark.parametrize("split", range(3))
def test_a_split_without_a_direction_is_not_exchanged(split):
    first, second = [0.3, 0.6, 0.8], [-0.1, 0.8, -0.6]
    tree = split_leaf(split_leaf(split_leaf(single_leaf(2), 0, first), 0, second), 2, second)
    hyperplanes = tree.hyperplanes.copy()
    hyperplanes[split] = 0.0
    assert exchange_levels(Tree(hyperplanes, tree.shape, tree.ids), 0).shape == (0, 3, 3)


def test_a_branch_of_two_levels_is_proposed_with_its_levels_exchanged():
    rows = make_rows(*make_cross(600, random_state=0)[:2])
    root = split_leaf(single_leaf(2), 0, [0.0, 4.0, 0.0], 3)
    tree = split_leaf(split_leaf(root, 0, [0.0, 0.0, 4.0], 4), 2, [0.0, 0.0, 4.0], 5)
    state = evaluate(rows, family_of(rows), tree, np.full(3, 0.1))
    site = branch_site(rows, state, 0, Policy())
    outlook = survey_site(rows, rows, site, Policy(), np.random.default_rng(0), 9)
    [proposal] = Exchange().propose(outlook, Policy(), np.random.default_rng(0), ())
    assert (proposal.kind, proposal.tree.n_splits) == ("exchange", 3)
    np.testing.assert_allclose(proposal.started.hyperplanes, [[0, 0, 4], [0, 4, 0], [0, 4, 0]], atol=1e-12)
    assert np.abs(proposal.tree.hyperplanes[:, 1:]).argmax(axis=1).tolist() == [1, 0, 0]
    assert list(Exchange().propose(outlook, Policy(max_splits=2), np.random.default_rng(0), ())) == []


def test_leaves_and_branches_of_one_level_are_not_exchanged():
    rows = make_rows(*make_cross(300, random_state=0)[:2])
    at_leaf = survey(rows, [0.0, 4.0, 0.0])
    site = branch_site(rows, at_leaf.site.state, 0, Policy())
    at_branch = survey_site(rows, rows, site, Policy(), np.random.default_rng(0), 9)
    for outlook in (at_leaf, at_branch):
        assert list(Exchange().propose(outlook, Policy(), np.random.default_rng(0), ())) == []
