"""A proposal is trained as a whole and pruned; it is given up where it cannot come near the best."""

import numpy as np
import pytest

from asking import family_of
from bayesian_reticulum.datasets import make_cross
from bayesian_reticulum.evidence import evaluate
from bayesian_reticulum.growth.policy import Policy
from bayesian_reticulum.growth.proposals import Proposal
from bayesian_reticulum.growth.trial import train_all_splits, train_and_prune
from bayesian_reticulum.tree import single_leaf, split_leaf
from growing import make_rows

policy = Policy()


@pytest.fixture(scope="module")
def chessboard():
    """Rows, the leaf that growth starts from, and a proposal of the three splits that they need and one more."""
    rows = make_rows(*make_cross(600, random_state=0)[:2])
    root = split_leaf(single_leaf(2), 0, [0.0, 4.0, 0.0], 10)
    tree = split_leaf(split_leaf(root, 0, [0.0, 0.0, 4.0], 11), 2, [0.0, 0.0, 4.0], 12)
    tree = split_leaf(tree, 3, [0.0, 1.0, 0.1], 13)
    state = evaluate(rows, family_of(rows), tree, np.full(4, 0.1))
    proposal = Proposal("toy", tree, tree, state.precisions, state.statistics, 10)
    return rows, evaluate(rows, family_of(rows), single_leaf(2), np.empty(0)), proposal


def test_all_splits_of_a_proposal_are_trained(chessboard):
    rows, _, proposal = chessboard
    state = train_all_splits(rows, family_of(rows), proposal, policy, least=-np.inf)
    assert (state.tree.hyperplanes != proposal.tree.hyperplanes).any(axis=1).all()
    assert state.log_evidence > evaluate(rows, family_of(rows), proposal.tree, proposal.precisions).log_evidence


def test_the_way_of_a_proposal_is_shown_step_by_step(chessboard):
    rows, incumbent, proposal = chessboard
    challenger, events = train_and_prune(rows, incumbent, proposal, policy)
    assert [(event.phase, event.split_id) for event in events] == [
        ("proposed", 10),
        ("local", 10),
        ("global", 10),
        ("pruned", 13),
    ]
    assert challenger.tree.ids.tolist() == [10, 11, 12]
    assert events[-1].tree is challenger.tree
    assert events[-1].log_evidence == challenger.log_evidence > events[2].log_evidence


def test_a_proposal_without_hope_is_not_pruned(chessboard):
    rows, incumbent, proposal = chessboard
    challenger, events = train_and_prune(rows, incumbent, proposal, policy, lead=1e6)
    assert [event.phase for event in events] == ["proposed", "local", "global"]
    assert challenger.tree.n_splits == 4


def test_many_rows_are_pruned_once_for_each_proposal(chessboard):
    rows, incumbent, proposal = chessboard
    once, _ = train_and_prune(rows, incumbent, proposal, Policy(sample_rows=25))
    assert once.tree.ids.tolist() == [10, 11, 12]
