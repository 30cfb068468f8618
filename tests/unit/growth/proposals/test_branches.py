"""Branches are trained side by side with the rest of the tree held; the best is put in the place of the leaf."""

import numpy as np
import pytest

from asking import family_of
from bayesian_reticulum.datasets import make_cross
from bayesian_reticulum.evidence import evaluate
from bayesian_reticulum.growth.policy import Policy
from bayesian_reticulum.growth.proposals.branches import fit_branches
from bayesian_reticulum.growth.shapes import CUT, THREE_SPLITS
from growing import make_rows, survey

policy = Policy()


@pytest.fixture(scope="module")
def outlook():
    return survey(make_rows(*make_cross(600, random_state=0)[:2]), [0.0, 4.0, 0.0], leaf=1)


STARTS = np.array([[[0.3, 4.0, 0.0]], [[0.0, 0.0, 4.0]], [[-2.0, 3.0, 1.0]], [[0.0, 1.0, 4.0]]])


def test_the_best_branch_takes_the_place_of_the_leaf(outlook):
    proposal = fit_branches(outlook, "toy", CUT, STARTS, policy)
    state = outlook.site.state
    assert (proposal.kind, proposal.split_id) == ("toy", 7)
    # Two of the starts lead to the same branch.
    assert proposal.started.hyperplanes[1].tolist() in STARTS[[1, 3], 0].tolist()
    np.testing.assert_array_equal(proposal.tree.hyperplanes[0], state.tree.hyperplanes[0])
    assert proposal.tree.n_leaves == len(proposal.statistics) == 3
    np.testing.assert_array_equal(proposal.statistics[0], state.statistics[0])
    np.testing.assert_array_equal(proposal.precisions[:1], state.precisions)
    assert all(proposal.local_gain >= gain for gain in proposal.outrun)


def test_what_a_branch_gains_the_whole_tree_gains_at_least(outlook):
    proposal = fit_branches(outlook, "toy", CUT, STARTS, policy)
    state = outlook.site.state
    whole = evaluate(outlook.rows, family_of(outlook.rows), proposal.tree, proposal.precisions, tolerance=1e-9)
    # The price of the old split, which may change, is no part of the local gain.
    before, after = (tree.log_evidence + tree.prices[0] for tree in (state, whole))
    assert after >= before + proposal.local_gain - 0.1


def test_half_of_the_candidates_go_on_after_each_look(outlook):
    proposal = fit_branches(outlook, "toy", CUT, np.repeat(STARTS, 2, axis=0), policy)
    assert len(proposal.outrun) == 1
    assert proposal.outrun[0] == pytest.approx(proposal.local_gain, abs=1e-9)
    assert fit_branches(outlook, "toy", CUT, STARTS[:1], policy).outrun == ()


def test_candidates_are_trained_in_parts_where_stacks_are_to_stay_small(outlook):
    together = fit_branches(outlook, "toy", CUT, STARTS, policy)
    one_by_one = fit_branches(outlook, "toy", CUT, STARTS, policy, stack_floats=1)
    assert one_by_one.local_gain == pytest.approx(together.local_gain, abs=0.1)


def test_of_three_splits_one_may_stay(outlook):
    starts = np.array([[[0.0, 0.0, 4.0], [0.2, 4.0, 0.0], [-0.2, 4.0, 0.0]]])
    proposal = fit_branches(outlook, "toy", THREE_SPLITS, starts, policy)
    assert proposal.tree.ids.tolist() == [0, 7, 8, 9]
    assert proposal.worth_without == -np.inf


def test_large_leaves_are_looked_at_on_a_sample_first():
    rows = make_rows(*make_cross(2000, random_state=0)[:2])
    sampled = survey(rows, [0.0, 4.0, 0.0], leaf=1, policy=Policy(sample_rows=400))
    assert sampled.sample is not sampled.view
    proposal = fit_branches(sampled, "toy", CUT, STARTS, policy)
    whole = fit_branches(survey(rows, [0.0, 4.0, 0.0], leaf=1), "toy", CUT, STARTS, policy)
    assert proposal.local_gain == pytest.approx(whole.local_gain, abs=0.5)
