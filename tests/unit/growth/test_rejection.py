"""Reasons of rejections are sentences for users; numbers in them are those of the policy."""

import pytest

from bayesian_reticulum.growth.policy import Policy
from bayesian_reticulum.growth.rejection import Rejection
from bayesian_reticulum.history import OUTRUN


def test_messages_name_the_gain_that_was_needed():
    assert Rejection.SMALL_GAIN.message(Policy()) == "gained less than 0.1 nat"
    assert Rejection.SMALL_GAIN_OF_ROUND.message(Policy(minimal_gain=2.5)) == "the round gained less than 2.5 nat"


@pytest.mark.parametrize("rejection", Rejection)
def test_every_rejection_has_a_message(rejection):
    message = rejection.message(Policy())
    assert message
    assert "{" not in message


def test_the_history_knows_the_reason_of_candidates_that_were_not_tried_as_a_whole():
    assert Rejection.OUTRUN.message(Policy()) == OUTRUN
