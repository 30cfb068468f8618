"""Only the branch around a change is trained with it, and what that gains the whole tree gains."""

import numpy as np
import pytest

from asking import family_of
from bayesian_reticulum.evidence import ascend_tree, evaluate
from bayesian_reticulum.growth.policy import Policy
from bayesian_reticulum.growth.proposals import Proposal
from bayesian_reticulum.growth.sites import branch_site
from bayesian_reticulum.growth.surroundings import surroundings_of, train_surroundings
from bayesian_reticulum.tree import Tree, splits_below
from growing import leaf_site, make_rows, seven_splits, stump

policy = Policy(small_branch=5)


@pytest.fixture(scope="module")
def fitted():
    """Rows and the state of a fitted tree whose root has three splits on either side."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 2))
    rows = make_rows(X, ((np.floor(X[:, 0]) + np.floor(X[:, 1])) % 2).astype(int))
    start = evaluate(rows, family_of(rows), seven_splits(), np.full(7, 0.1))
    return rows, ascend_tree(
        rows, family_of(rows), start.tree, start.precisions, start.statistics, policy.global_effort
    )


def unchanged(state):
    return Proposal("none", state.tree, state.tree, state.precisions, state.statistics, 7)


def place_of(tree, split_id):
    return int(np.flatnonzero(tree.ids == split_id)[0])


def test_surroundings_are_a_branch_with_few_splits_but_never_the_whole_tree(fitted):
    rows, state = fitted
    tree = state.tree
    for leaf in range(tree.n_leaves):
        surroundings = surroundings_of(rows, state, leaf_site(state, leaf), policy)
        split = place_of(tree, surroundings.split_id)
        assert split in tree.children[0]
        assert tree.shape.sides[split, leaf]
    small = stump(rows, [0.0, 2.0, 0.5])
    assert surroundings_of(rows, small, leaf_site(small, 0), policy) is None
    narrow = surroundings_of(rows, state, leaf_site(state, 0), Policy(small_branch=1))
    assert splits_below(tree, place_of(tree, narrow.split_id)) == [place_of(tree, narrow.split_id)]


def test_a_branch_that_is_grown_anew_is_not_its_own_surroundings(fitted):
    rows, state = fitted
    tree = state.tree
    for split in range(tree.n_splits):
        site = branch_site(rows, state, split, policy)
        surroundings = surroundings_of(rows, state, site, policy)
        if tree.shape.levels[split] < 2:
            assert surroundings is None
        else:
            around = place_of(tree, surroundings.split_id)
            assert split in splits_below(tree, around)
            assert split != around


def test_no_change_gains_nothing_in_its_surroundings_but_by_training(fitted):
    rows, state = fitted
    for leaf in range(state.tree.n_leaves):
        surroundings = surroundings_of(rows, state, leaf_site(state, leaf), policy)
        gain, trained = train_surroundings(surroundings, unchanged(state), policy)
        assert gain > -1e-2
        # What is gained with the rest of the tree held, the whole tree gains at least.
        whole = evaluate(rows, family_of(rows), trained.tree, trained.precisions, tolerance=1e-9)
        assert whole.log_evidence >= state.log_evidence + gain - 0.1


def test_without_surroundings_the_whole_tree_decides(fitted):
    proposal = unchanged(fitted[1])
    assert train_surroundings(None, proposal, policy) == (np.inf, proposal)


def test_only_the_branch_around_a_change_is_trained_with_it(fitted):
    rows, state = fitted
    tree = state.tree
    surroundings = surroundings_of(rows, state, leaf_site(state, 0), policy)
    split = place_of(tree, surroundings.split_id)
    hyperplanes = tree.hyperplanes.copy()
    hyperplanes[split] *= 0.5
    changed = Tree(hyperplanes, tree.shape, tree.ids)
    proposal = Proposal("half as stiff", changed, changed, state.precisions, state.statistics, 7)
    gain, trained = train_surroundings(surroundings, proposal, policy)
    assert gain > -0.1
    moved = (trained.tree.hyperplanes != hyperplanes).any(axis=1)
    assert np.flatnonzero(moved).tolist() == splits_below(tree, split)
    below = tree.shape.sides[split] != 0
    np.testing.assert_array_equal(trained.statistics[~below], state.statistics[~below])
