"""A new kind of proposals takes part in growth once it is in the list, as the protocol says."""

import numpy as np

from asking import family_of, moments_of
from bayesian_reticulum.datasets import make_cross, make_ripley
from bayesian_reticulum.growth import Policy, grow_tree
from bayesian_reticulum.growth.proposals import PROPOSERS, Proposal, Proposer, fit_branches
from bayesian_reticulum.growth.shapes import CUT
from bayesian_reticulum.rows import mean_and_covariance
from growing import make_rows, run


class MeanCut:
    """A split of each column at its mean: the example of the protocol."""

    kind = "mean"
    is_local = True

    def propose(self, outlook, policy, rng, earlier):
        if outlook.scan is None:
            return
        mean, _ = mean_and_covariance(moments_of(outlook.sample, outlook.statistics).second)
        slopes = policy.stiffness * np.eye(len(mean))
        starts = np.column_stack([-slopes @ mean, slopes])[:, None]
        yield fit_branches(outlook, self.kind, CUT, starts, policy)


class Stiffer:
    """A tree with all of its splits twice as stiff: a change elsewhere, without new splits."""

    kind = "stiffer"
    is_local = False

    def propose(self, outlook, policy, rng, earlier):
        state = outlook.site.state
        tree = type(state.tree)(2.0 * state.tree.hyperplanes, state.tree.shape, state.tree.ids)
        yield Proposal(self.kind, tree, tree, state.precisions, state.statistics, outlook.first_id)


def kinds_of(proposers, data, **policy):
    rows = make_rows(*data)
    events, state, _ = run(grow_tree(rows, family_of(rows), Policy(**policy), np.random.default_rng(0), proposers))
    return {candidate.kind for event in events for candidate in event.candidates}, state


def test_a_new_kind_takes_part_in_growth():
    toy: Proposer = MeanCut()
    kinds, state = kinds_of([*PROPOSERS, toy, Stiffer()], make_cross(300, random_state=0)[:2], patience=3)
    assert {"mean", "stiffer"} < kinds
    assert state.tree.n_splits == 3


def test_a_kind_alone_grows_trees():
    kinds, state = kinds_of([MeanCut()], make_ripley(250, random_state=0)[:2], patience=2)
    assert kinds == {"mean"}
    assert state.tree.n_splits >= 1


def test_a_new_kind_takes_part_in_rounds():
    data = make_ripley(1000, random_state=0)[:2]
    kinds, _ = kinds_of([MeanCut(), Stiffer()], data, patience=2, sample_rows=200)
    assert "mean" in kinds


def test_each_kind_says_its_name_and_whether_it_is_local():
    assert len({proposer.kind for proposer in PROPOSERS}) == len(PROPOSERS)
    is_local = {proposer.kind: proposer.is_local for proposer in PROPOSERS}
    assert is_local["cut"]
    assert not is_local["bend"]
