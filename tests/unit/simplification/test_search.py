"""The search thins and regrows trees, then takes away what costs least, within the tolerance."""

from dataclasses import replace

import numpy as np
import pytest

from asking import family_of
from bayesian_reticulum.evidence import evaluate
from bayesian_reticulum.simplification.policy import SimplificationPolicy
from bayesian_reticulum.simplification.search import feature_losses, simplifying_changes, thin
from bayesian_reticulum.tree import Tree, split_leaf
from sparse_problems import two_of_eight


@pytest.fixture(scope="module")
def fitted():
    return two_of_eight()


def without(state, split, feature):
    hyperplanes = state.tree.hyperplanes.copy()
    hyperplanes[split, 1 + feature] = 0.0
    return replace(state, tree=Tree(hyperplanes, state.tree.shape, state.tree.ids))


def test_losses_are_close_to_what_leaving_a_feature_out_costs(fitted):
    problem, state = fitted
    start = problem.refit(state)
    losses = feature_losses(problem, start)
    assert losses.shape == (1, 8)
    assert set(np.argsort(losses[0])[-2:].tolist()) == {0, 2}
    for feature in np.argsort(losses[0])[:3].tolist():
        smaller = problem.refit(without(start, 0, feature))
        assert losses[0, feature] == pytest.approx(start.log_evidence - smaller.log_evidence, abs=1.5)


def test_a_feature_that_is_not_looked_at_cannot_be_lost(fitted):
    problem, state = fitted
    losses = feature_losses(problem, without(state, 0, 3))
    assert np.flatnonzero(np.isinf(losses[0])).tolist() == [3]


@pytest.mark.parametrize("thinned_part", [1, 3])
def test_thinning_leaves_the_features_that_matter(thinned_part):
    problem, state = two_of_eight(policy=SimplificationPolicy(thinned_part=thinned_part))
    thinned = thin(problem, state, 2)
    assert np.flatnonzero(problem.uses(thinned.tree)[0]).tolist() == [0, 2]
    assert thin(problem, thinned, 2) is thinned


def test_the_tree_with_the_fewest_numbers_within_the_tolerance_is_taken(fitted):
    problem, state = fitted
    changes = list(simplifying_changes(problem, state, 5.0, 5))
    _, last = changes[-1]
    assert np.flatnonzero(problem.uses(last.tree)[0]).tolist() == [0, 2]
    assert last.log_evidence >= max(state.log_evidence, *(rival.log_evidence for _, rival in changes)) - 5.0


def test_a_tree_that_is_sparse_already_stays(fitted):
    problem, state = fitted
    sparse = thin(problem, state, 2)
    assert list(simplifying_changes(problem, sparse, 0.0, 5)) == []


def test_splits_are_dropped_or_merged_where_that_costs_little(fitted):
    problem, state = fitted
    sparse = thin(problem, state, 1)
    slope = np.zeros(9)
    slope[4] = 0.1
    larger = evaluate(
        problem.rows,
        family_of(problem.rows),
        split_leaf(sparse.tree, 0, slope),
        np.append(sparse.precisions, 1.0),
        sparse=True,
    )
    assert problem.most_features(larger.tree) == 1
    [(what, smaller)] = simplifying_changes(problem, larger, 1.0, 5)
    assert what in ("split 1 dropped", "split 0 merged with one below")
    assert smaller.tree.n_splits == 1
    assert smaller.log_evidence > larger.log_evidence - 1.0


def test_a_tree_that_would_have_to_pay_too_much_for_its_choice_is_not_taken(fitted):
    problem, state = fitted
    strict = replace(problem, policy=SimplificationPolicy(choice_loss=-1e6))
    assert list(simplifying_changes(strict, state, 5.0, 5)) == []
