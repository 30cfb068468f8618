"""A history holds all events in order, as they were."""

import dataclasses
import pickle

import numpy as np
import pytest

from bayesian_reticulum.history import Candidate, GrowthEvent, History
from bayesian_reticulum.tree import single_leaf, split_leaf

LEAF = single_leaf(2)
STUMP = split_leaf(LEAF, 0, [0.0, 1.0, 0.0], 4)


@pytest.fixture
def history():
    kept = Candidate("cut", 2.0, 3.0, True, "raised the log evidence")
    return History(
        (
            GrowthEvent(0, "start", None, LEAF, -9.0),
            GrowthEvent(1, "proposed", 4, STUMP, np.nan),
            GrowthEvent(1, "kept", 4, STUMP, -6.0, (kept,)),
            GrowthEvent(2, "rejected", 5, STUMP, -6.0),
            GrowthEvent(2, "polished", None, STUMP, -5.9),
        ),
        "no_gain",
    )


def test_replay_gives_the_tree_after_each_event(history):
    assert [history.replay(k) for k in range(5)] == [LEAF, STUMP, STUMP, STUMP, STUMP]
    assert history.replay(-5) is LEAF
    for k in (5, -6):
        with pytest.raises(IndexError, match=f"event {k} does not exist; the history has 5 events, 0 to 4"):
            history.replay(k)


def test_a_history_is_a_sequence_of_its_events(history):
    assert len(history) == 5
    assert list(history) == list(history.events)
    assert history[-1] is history.events[4]
    assert history[1:3] == history.events[1:3]


def test_a_history_says_how_growth_went(history):
    assert history.n_attempts == 2
    assert repr(history) == "<History: 2 attempts, 1 kept, stopped by no_gain>"


def test_events_cannot_be_changed(history):
    with pytest.raises(dataclasses.FrozenInstanceError, match="cannot assign to field"):
        history[0].tree = None
    with pytest.raises(dataclasses.FrozenInstanceError, match="cannot assign to field"):
        history[2].candidates[0].kept = False


def test_a_history_can_be_saved(history):
    again = pickle.loads(pickle.dumps(history))
    assert [event.phase for event in again] == [event.phase for event in history]
    assert again[2].candidates == history[2].candidates
    np.testing.assert_array_equal(again.replay(-1).hyperplanes, STUMP.hyperplanes)
