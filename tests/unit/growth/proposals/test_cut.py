"""A cut puts one split in the place of a leaf, where a scan has found one."""

import numpy as np

from bayesian_reticulum.datasets import make_cross
from bayesian_reticulum.growth.policy import Policy
from bayesian_reticulum.growth.proposals.cut import Cut
from growing import make_rows, survey


def test_the_best_of_the_cuts_of_a_leaf_is_proposed():
    outlook = survey(make_rows(*make_cross(300, random_state=0)[:2]), [0.0, 4.0, 0.0], leaf=1)
    [proposal] = Cut().propose(outlook, Policy(), np.random.default_rng(0), ())
    assert proposal.kind == "cut"
    assert proposal.tree.n_splits == 2
    assert proposal.tree.ids.tolist() == [0, 7]
    assert proposal.local_gain > 20
    assert proposal.worth_without == outlook.site.state.log_evidence


def test_where_nothing_can_be_parted_no_cut_is_proposed():
    outlook = survey(make_rows(np.zeros((20, 2)), np.arange(20) % 2), [0.0, 1.0, 0.0])
    assert list(Cut().propose(outlook, Policy(), np.random.default_rng(0), ())) == []
