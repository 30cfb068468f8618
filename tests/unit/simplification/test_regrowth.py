"""A regrown tree has sparse splits with the features that matter, while that pays."""

from dataclasses import replace

import numpy as np
import pytest

from asking import family_of
from bayesian_reticulum.evidence import evaluate
from bayesian_reticulum.growth import Policy
from bayesian_reticulum.simplification.policy import SimplificationPolicy
from bayesian_reticulum.simplification.regrowth import regrow
from sparse_problems import two_of_eight


@pytest.fixture(scope="module")
def problem():
    return two_of_eight().problem


@pytest.mark.parametrize("charged", [False, True])
def test_the_features_that_matter_are_found(problem, charged):
    state = regrow(problem, 2, charged)
    assert state.sparse
    assert state.tree.n_splits == 1
    assert np.flatnonzero(problem.uses(state.tree)[0]).tolist() == [0, 2]


def test_no_split_looks_at_more_features_than_allowed(problem):
    for most in (1, 2, 3):
        assert problem.most_features(regrow(problem, most, charged=False).tree) <= most


def test_a_regrown_tree_is_worth_what_its_evidence_says(problem):
    state = regrow(problem, 2, charged=True)
    measured = evaluate(problem.rows, family_of(problem.rows), state.tree, state.precisions, sparse=True)
    assert state.log_evidence == pytest.approx(measured.log_evidence, abs=0.05)


def test_splits_that_are_charged_are_no_more(problem):
    free, charged = (regrow(problem, 1, charged) for charged in (False, True))
    assert charged.tree.n_splits <= free.tree.n_splits
    worth = [state.log_evidence - problem.price_of_choice(state.tree) for state in (free, charged)]
    assert worth[1] >= worth[0] - 1.0


def test_limits_hold(problem):
    assert regrow(replace(problem, max_splits=0), 2, charged=False).tree.n_splits == 0
    assert regrow(replace(problem, max_depth=1), 1, charged=False).tree.depth <= 1
    assert regrow(replace(problem, max_splits=2), 1, charged=False).tree.n_splits <= 2


def test_many_rows_are_regrown_on_a_sample_and_fitted_to_all():
    problem = two_of_eight(1000, SimplificationPolicy(growth=Policy(sample_rows=300))).problem
    state = regrow(problem, 2, charged=True)
    assert np.flatnonzero(problem.uses(state.tree)[0]).tolist() == [0, 2]
    measured = evaluate(problem.rows, family_of(problem.rows), state.tree, state.precisions, sparse=True)
    assert state.log_evidence == pytest.approx(measured.log_evidence, abs=0.05)


def test_a_leaf_without_a_split_that_pays_stays_a_leaf(problem):
    demanding = replace(problem, policy=SimplificationPolicy(growth=Policy(small_difference=-1e6)))
    assert regrow(demanding, 2, charged=True).tree.n_splits == 0
