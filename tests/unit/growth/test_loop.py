"""Laws of the loop: every event is in order, limits hold, and what stopped growth is said."""

import numpy as np
import pytest

from asking import family_of
from bayesian_reticulum.datasets import make_cross, make_ripley
from bayesian_reticulum.growth.loop import grow_tree, try_site
from bayesian_reticulum.growth.policy import Policy
from bayesian_reticulum.growth.proposals import PROPOSERS
from growing import grow, leaf_site, make_rows, stump, three_classes

CLOSING = ("kept", "rejected")

GROWN = {
    "ripley": lambda: grow(*make_ripley(250, random_state=0)[:2]),
    "cross": lambda: grow(*make_cross(400, random_state=0)[:2]),
    "three classes": lambda: grow(*three_classes(200, 0), patience=3),
    "two restless rows": lambda: grow(np.array([[0.0], [1.0]]), np.array([0, 1])),
}


@pytest.fixture(scope="module", params=GROWN)
def grown(request):
    return GROWN[request.param]()


def assert_well_formed(tree):
    m = tree.n_splits
    assert tree.hyperplanes.shape == (m, tree.n_features + 1)
    assert np.isfinite(tree.hyperplanes).all()
    assert len(set(tree.ids.tolist())) == m
    children = tree.children
    splits, sides = np.nonzero(children >= 0)
    assert (children[splits, sides] > splits).all()
    assert sorted(children[children >= 0].tolist()) == list(range(1, m))
    assert sorted((~children[children < 0]).tolist()) == list(range(m + 1)) or m == 0
    # In reading order the paths of the leaves, left before right, are sorted.
    for split in range(m):
        left, right = (np.flatnonzero(tree.shape.sides[split] == side) for side in (1, -1))
        assert left.max() < right.min()


def test_every_event_carries_a_well_formed_tree(grown):
    rows, events, _, _ = grown
    for event in events:
        assert_well_formed(event.tree)
        assert event.tree.n_features == rows.n_columns


def test_growth_starts_with_one_leaf_and_ends_with_the_polished_tree(grown):
    _, events, state, _ = grown
    assert (events[0].attempt, events[0].phase, events[0].tree.n_splits) == (0, "start", 0)
    assert [event.phase for event in events].count("start") == 1
    assert [event.phase for event in events].count("polished") == 1
    assert events[-1].phase == "polished"
    assert events[-1].tree is state.tree
    assert events[-1].log_evidence == state.log_evidence


def test_every_attempt_is_closed_once_by_its_last_event(grown):
    _, events, _, _ = grown
    inner = [event for event in events if event.phase not in ("start", "polished")]
    attempts = [event.attempt for event in inner]
    assert attempts == sorted(attempts)
    assert sorted(set(attempts)) == list(range(1, max(attempts, default=0) + 1))
    for attempt in set(attempts):
        phases = [event.phase for event in inner if event.attempt == attempt]
        if phases[-1] == "tuned":
            assert phases.pop(-2) == "kept"
            phases[-1] = "kept"
        assert phases[-1] in CLOSING
        assert not set(phases[:-1]) & set(CLOSING)
        if len(phases) > 1:
            assert phases[:3] == ["proposed", "local", "global"]
            assert set(phases[3:-1]) <= {"pruned"}
    assert events[-1].attempt == max(attempts, default=0)


def test_candidates_come_with_reasons_and_one_is_kept_if_the_attempt_is(grown):
    _, events, _, _ = grown
    is_local = {proposer.kind: proposer.is_local for proposer in PROPOSERS}
    for event in events:
        if event.phase not in CLOSING:
            assert event.candidates == ()
            continue
        assert sum(candidate.kept for candidate in event.candidates) == (event.phase == "kept")
        for candidate in event.candidates:
            assert candidate.kind in is_local
            assert candidate.reason
            # A bend changes an old split: with the rest of the tree held it is nothing yet.
            assert (candidate.local_gain is not None) == is_local[candidate.kind]
            if candidate.kept:
                assert candidate.gain > Policy().minimal_gain


def test_every_kept_attempt_raises_the_log_evidence_by_more_than_a_tenth_of_a_nat(grown):
    _, events, _, _ = grown
    incumbent = events[0]
    for event in events:
        if event.phase == "kept":
            assert event.log_evidence > incumbent.log_evidence + Policy().minimal_gain
            (kept,) = (candidate for candidate in event.candidates if candidate.kept)
            assert kept.gain == pytest.approx(event.log_evidence - incumbent.log_evidence)
            incumbent = event
        elif event.phase == "tuned":
            assert event.log_evidence > incumbent.log_evidence
            incumbent = event
        elif event.phase == "rejected":
            assert event.tree is incumbent.tree
            assert event.log_evidence == incumbent.log_evidence


def test_growth_that_finds_no_more_stops_by_patience():
    _, events, state, reason = grow(*make_cross(300, random_state=1)[:2], patience=3)
    assert reason == "no_gain"
    closing = [event.phase for event in events if event.phase in CLOSING]
    assert closing[-3:] == ["rejected"] * 3
    assert state.tree.n_splits >= 1


def test_gains_that_are_small_for_so_many_rows_are_kept_but_are_no_progress():
    X, y, _ = make_ripley(250, random_state=0)
    rows = make_rows(X, y, weights=np.full(len(X), 1000.0))
    events = list(grow_tree(rows, family_of(rows), Policy(patience=3), np.random.default_rng(0)))
    closing = [event for event in events if event.phase in CLOSING]
    reached = [events[0].log_evidence, *(event.log_evidence for event in closing)]
    progress = np.diff(reached) > 2e-4 * rows.weight
    assert progress.any()
    assert not progress[-3:].any()
    in_a_row = [len(run) for run in "".join("x" if gain else "." for gain in progress[:-3]).split("x")]
    assert max(in_a_row) < 3


@pytest.mark.parametrize("limit", [0, 1, 2])
def test_growth_stops_after_the_largest_number_of_attempts(limit):
    _, events, _, reason = grow(*make_cross(300, random_state=1)[:2], max_attempts=limit)
    assert reason == "max_attempts"
    assert sum(event.phase in CLOSING for event in events) == limit


@pytest.mark.parametrize("limit", [0, 1, 2, 3])
def test_no_tree_has_more_splits_than_allowed(limit):
    _, events, state, reason = grow(*make_ripley(250, random_state=0)[:2], max_splits=limit, patience=3)
    assert max(event.tree.n_splits for event in events) <= limit
    if state.tree.n_splits == limit:
        assert reason == "max_splits"


@pytest.mark.parametrize("limit", [0, 1, 2])
def test_no_tree_is_deeper_than_allowed(limit):
    _, events, state, reason = grow(*make_ripley(250, random_state=0)[:2], max_depth=limit, patience=3)
    assert max(event.tree.depth for event in events) <= limit
    if state.tree.shape.leaf_levels.min() == limit:
        assert reason == "max_depth"


def test_full_trees_name_the_limit_that_stopped_them():
    data = make_cross(600, random_state=0)[:2]
    _, _, by_splits, splits_reason = grow(*data, max_splits=3, patience=3)
    assert (by_splits.tree.n_splits, splits_reason) == (3, "max_splits")
    _, _, by_depth, depth_reason = grow(*data, max_depth=2, patience=3)
    assert (by_depth.tree.depth, by_depth.tree.n_leaves, depth_reason) == (2, 4, "max_depth")


@pytest.mark.parametrize("policy", [{"lookahead": 0}, {"n_directions": 0}, {"lookahead": 0, "n_directions": 0}])
def test_search_can_be_narrowed(policy):
    _, events, state, _ = grow(*make_ripley(250, random_state=0)[:2], **policy)
    assert state.tree.n_splits >= 1
    kinds = {candidate.kind for event in events for candidate in event.candidates}
    assert "cut" in kinds
    assert ("look-ahead" in kinds) == ("lookahead" not in policy)


def test_the_same_seed_grows_the_same_tree():
    data = make_ripley(250, random_state=0)[:2]
    one, other = grow(*data, seed=3, patience=2)[2], grow(*data, seed=3, patience=2)[2]
    np.testing.assert_array_equal(one.tree.hyperplanes, other.tree.hyperplanes)


def test_a_leaf_that_no_row_reaches_is_not_split():
    rows = make_rows(*make_ripley(50, random_state=0)[:2])
    state = stump(rows, [1e4, 1.0, 0.0], precision=1.0)
    trial = try_site(rows, state, leaf_site(state, 1), Policy(), np.random.default_rng(0), 1)
    assert (trial.challenger, trial.candidates, trial.events, trial.split_id) == (None, (), (), None)


def test_an_attempt_gives_reasons_for_all_candidates_and_the_way_of_the_best():
    rows = make_rows(*make_cross(400, random_state=0)[:2])
    state = stump(rows, [0.0, 4.0, 0.0])
    trial = try_site(rows, state, leaf_site(state, 0), Policy(), np.random.default_rng(0), 7)
    assert trial.challenger.log_evidence > state.log_evidence + Policy().minimal_gain
    assert {event.phase for event in trial.events} <= {"proposed", "local", "global", "pruned"}
    assert (trial.events[0].split_id, trial.split_id) == (7, 7)
    [kept] = [candidate for candidate in trial.candidates if candidate.kept]
    assert kept.gain == trial.challenger.log_evidence - state.log_evidence
    assert kept.reason == "raised the log evidence"
    assert "another of its kind was ahead" in {candidate.reason for candidate in trial.candidates}


def test_only_proposals_that_lose_little_by_themselves_are_trained_with_the_whole_tree():
    rows = make_rows(*make_cross(400, random_state=0)[:2])
    state = stump(rows, [0.0, 4.0, 0.0])
    policy = Policy(small_difference=-1e6)
    trial = try_site(rows, state, leaf_site(state, 0), policy, np.random.default_rng(0), 7, PROPOSERS[:3])
    assert trial.challenger is None
    assert {candidate.reason for candidate in trial.candidates} == {
        "another of its kind was ahead",
        "does not pay for its price",
    }


def test_a_generator_of_growth_returns_the_state_and_the_reason():
    rows = make_rows(*make_ripley(50, random_state=0)[:2])
    growth = grow_tree(rows, family_of(rows), Policy(max_attempts=0), np.random.default_rng(0))
    assert [event.phase for event in (next(growth), next(growth))] == ["start", "polished"]
    with pytest.raises(StopIteration) as end:
        next(growth)
    state, reason = end.value.value
    assert (state.tree.n_splits, reason) == (0, "max_attempts")
