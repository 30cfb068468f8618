"""A round puts a branch in the place of every leaf that gains by it, and remembers where none does."""

import numpy as np
import pytest

from asking import family_of
from bayesian_reticulum.evidence import evaluate
from bayesian_reticulum.growth.policy import Policy
from bayesian_reticulum.growth.proposals import PROPOSERS
from bayesian_reticulum.growth.proposals.bend import Bend
from bayesian_reticulum.growth.rounds import expand_leaves
from bayesian_reticulum.growth.sites import LeafPlace
from bayesian_reticulum.tree import single_leaf, split_leaf
from growing import make_rows

policy = Policy(lookahead=0)


@pytest.fixture(scope="module")
def stripes():
    """Rows in stripes of two classes, and a tree of one split: both of its leaves have more to gain."""
    rng = np.random.default_rng(0)
    X = rng.uniform(-2, 2, size=(600, 2))
    y = (np.floor(X[:, 0]) % 2).astype(int)
    rows = make_rows(X, y)
    return rows, evaluate(rows, family_of(rows), split_leaf(single_leaf(2), 0, [0.0, 9.0, 0.0], 3), np.full(1, 0.1))


def expand(stripes, fruitless=frozenset(), policy=policy, **proposers):
    return expand_leaves(*stripes, policy, np.random.default_rng(0), 4, fruitless, **proposers)


def test_a_round_splits_all_leaves_that_gain(stripes):
    trial, next_id, fruitless = expand(stripes)
    assert trial.challenger.tree.n_leaves == 4
    assert trial.challenger.log_evidence > stripes[1].log_evidence + policy.minimal_gain
    assert [candidate.kept for candidate in trial.candidates].count(True) == 2
    assert {candidate.reason for candidate in trial.candidates if candidate.kept} == {
        "the round raised the log evidence"
    }
    assert trial.split_id is None
    # Ids are set aside for three splits at each leaf.
    assert next_id == 10
    assert not fruitless


def test_leaves_without_a_branch_are_remembered_and_left_out(stripes):
    stubborn = Policy(lookahead=0, minimal_gain=1e6)
    trial, next_id, fruitless = expand(stripes, policy=stubborn)
    assert trial.challenger is None
    assert (trial.events, next_id) == ((), 4)
    assert fruitless == {LeafPlace(3, 0), LeafPlace(3, 1)}
    assert {candidate.reason for candidate in trial.candidates} == {"does not pay for its price"}
    again = expand(stripes, fruitless)
    assert again.trial.candidates == ()
    assert again.fruitless == fruitless


def test_a_round_stops_at_the_largest_number_of_splits(stripes):
    trial, _, _ = expand(stripes, policy=Policy(lookahead=0, max_splits=2))
    assert trial.challenger.tree.n_splits == 2


def test_a_leaf_gets_the_kind_of_branch_that_gains_most(stripes):
    trial, _, _ = expand(stripes, policy=Policy(lookahead=16))
    reasons = {candidate.reason for candidate in trial.candidates}
    assert reasons == {"the round raised the log evidence", "another kind gained more"}
    kinds = {candidate.kind for candidate in trial.candidates}
    assert {"cut", "look-ahead"} <= kinds <= {proposer.kind for proposer in PROPOSERS if proposer.is_local}


def test_a_round_asks_only_for_branches(stripes):
    assert expand(stripes, proposers=[Bend()]).trial.candidates == ()
