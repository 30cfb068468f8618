"""A proposal carries its kind and all that training needs, and nothing of it can be replaced in place."""

import dataclasses

import numpy as np
import pytest

from bayesian_reticulum.growth.proposals.proposal import Proposal
from bayesian_reticulum.tree import single_leaf, split_leaf


def test_a_proposal_may_know_neither_its_local_gain_nor_what_is_left_without_it():
    tree = split_leaf(single_leaf(1), 0, [0.0, 1.0])
    proposal = Proposal("toy", tree, tree, np.ones(1), np.ones((2, 2)), 0)
    assert (proposal.local_gain, proposal.worth_without, proposal.outrun) == (None, -np.inf, ())
    with pytest.raises(dataclasses.FrozenInstanceError, match="cannot assign to field 'kind'"):
        proposal.kind = "other"
