"""Laws of growth: every event is in order, limits hold, chance patterns are left alone and real ones found."""

import dataclasses

import numpy as np
import pytest

from bayesian_reticulum.data.schema import Schema
from bayesian_reticulum.datasets import make_cross, make_ripley
from bayesian_reticulum.evidence.state import ascend_tree, evaluate
from bayesian_reticulum.families.dirichlet import DirichletCategorical
from bayesian_reticulum.gates import compute_gates
from bayesian_reticulum.growth.loop import grow_tree
from bayesian_reticulum.growth.policy import GLOBAL, MINIMAL_GAIN, Policy
from bayesian_reticulum.growth.proposals.bend import bend_boundary
from bayesian_reticulum.growth.proposals.exchange import exchange_levels
from bayesian_reticulum.growth.proposals.proposal import Proposal
from bayesian_reticulum.growth.sites import Site, leaf_places
from bayesian_reticulum.growth.trial import adapt_surroundings, surroundings_of, try_site
from bayesian_reticulum.history import History
from bayesian_reticulum.rows.numpy import NumpyRows
from bayesian_reticulum.tree import Tree, single_leaf, split_leaf, splits_below

CLOSING = ("kept", "rejected")


def make_rows(X, y, weights=None):
    weights = np.ones(len(X)) if weights is None else weights
    schema = Schema.from_columns(X, weights, tuple(f"x{j}" for j in range(X.shape[1])))
    family = DirichletCategorical((0.5,) * (int(y.max()) + 1), is_tuned=y.max() > 1)
    rows = NumpyRows(X, y, family, weights, schema)
    return rows.rotated(1000)[0] if X.shape[1] > len(X) else rows


def grow(X, y, seed=0, **policy):
    """Rows, events, final state and stopping reason."""
    rows = make_rows(X, y)
    growth = grow_tree(rows, Policy(**policy), np.random.default_rng(seed))
    events = []
    while True:
        try:
            events.append(next(growth))
        except StopIteration as end:
            return rows, events, *end.value


def three_classes(n, seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    y = (X[:, 0] + 0.3 * rng.normal(size=n) > 0).astype(int) + (X[:, 1] + 0.3 * rng.normal(size=n) > 0.5)
    return X, y


def pure_classes(n, seed):
    """Seven classes along one feature, few rows of which lie among those of another."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 7
    return np.column_stack([3.0 * y + rng.normal(size=n), rng.normal(size=n)]), y


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
        assert event.tree.n_features == rows.n_features


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
    for event in events:
        if event.phase not in CLOSING:
            assert event.candidates == ()
            continue
        assert sum(candidate.kept for candidate in event.candidates) == (event.phase == "kept")
        for candidate in event.candidates:
            assert candidate.kind in ("cut", "look-ahead", "exchange", "bend")
            assert candidate.reason
            # A bend changes an old split: with the rest of the tree held it is nothing yet.
            assert (candidate.local_gain is None) == (candidate.kind == "bend")
            if candidate.kept:
                assert candidate.gain > MINIMAL_GAIN


def test_every_kept_attempt_raises_the_log_evidence_by_more_than_a_tenth_of_a_nat(grown):
    _, events, _, _ = grown
    incumbent = events[0]
    for event in events:
        if event.phase == "kept":
            assert event.log_evidence > incumbent.log_evidence + MINIMAL_GAIN
            (kept,) = (candidate for candidate in event.candidates if candidate.kept)
            assert kept.gain == pytest.approx(event.log_evidence - incumbent.log_evidence)
            incumbent = event
        elif event.phase == "tuned":
            assert event.log_evidence > incumbent.log_evidence
            incumbent = event
        elif event.phase == "rejected":
            assert event.tree is incumbent.tree
            assert event.log_evidence == incumbent.log_evidence


def test_polishing_raises_the_penalised_bound_and_keeps_the_ids(grown):
    rows, events, state, _ = grown
    last = [event for event in events if event.phase in ("start", "tuned", *CLOSING)][-1]
    before = evaluate(rows.with_family(state.family), last.tree, state.precisions, tolerance=1e-11)
    # The ascent knows nothing of prices, which may rise a little on the way.
    assert state.log_evidence + state.prices.sum() >= before.log_evidence + before.prices.sum() - 1e-6
    assert state.log_evidence > last.log_evidence - MINIMAL_GAIN
    np.testing.assert_array_equal(state.tree.ids, last.tree.ids)


def test_the_final_state_is_what_evaluating_its_tree_gives(grown):
    rows, _, state, _ = grown
    again = evaluate(rows.with_family(state.family), state.tree, state.precisions, tolerance=1e-11)
    assert again.log_evidence == pytest.approx(state.log_evidence, abs=1e-6)
    np.testing.assert_allclose(again.statistics, state.statistics, atol=1e-4)
    np.testing.assert_allclose(again.prices, state.prices, atol=1e-5)


def test_the_prior_of_the_leaves_is_set_by_growth_where_there_are_more_than_two_classes(grown):
    rows, events, state, _ = grown
    is_tuned = "tuned" in [event.phase for event in events]
    assert is_tuned == (state.family.prior < rows.family.prior)
    assert state.family.with_estimated_prior(state.statistics) is state.family


@pytest.mark.parametrize("seed", range(5))
def test_the_prior_that_growth_ends_with_is_the_one_that_the_leaves_tell(seed):
    _, _, state, _ = grow(*three_classes(120, seed), seed=seed, patience=2)
    assert state.tree.n_splits
    assert state.family.with_estimated_prior(state.statistics) is state.family


def test_the_prior_of_pure_leaves_of_many_classes_is_small():
    _, _, state, _ = grow(*pure_classes(300, 0), patience=3)
    assert state.tree.n_splits == 6
    assert max(state.family.prior) < 0.05


def test_the_largest_slope_of_every_split_is_positive(grown):
    slopes = grown[2].tree.hyperplanes[:, 1:]
    assert (slopes[np.arange(len(slopes)), np.abs(slopes).argmax(axis=1)] > 0).all()


def test_replay_gives_the_tree_after_each_event(grown):
    _, events, state, reason = grown
    history = History(tuple(events), reason)
    assert len(history) == len(events)
    for k, event in enumerate(events):
        assert history.replay(k) is event.tree
        assert history[k] is event
    assert history.replay(-1) is state.tree
    assert history.n_attempts == events[-1].attempt
    assert f"{history.n_attempts} attempts" in repr(history)
    with pytest.raises(IndexError, match=f"event {len(events)} does not exist; the history has {len(events)} events"):
        history.replay(len(events))


def test_events_cannot_be_changed(grown):
    with pytest.raises(dataclasses.FrozenInstanceError, match="cannot assign to field"):
        grown[1][0].tree = None


def test_growth_that_finds_no_more_stops_by_patience():
    _, events, state, reason = grow(*make_cross(300, random_state=1)[:2], patience=3)
    assert reason == "no_gain"
    closing = [event.phase for event in events if event.phase in CLOSING]
    assert closing[-3:] == ["rejected"] * 3
    assert state.tree.n_splits >= 1


def test_gains_that_are_small_for_so_many_rows_are_kept_but_are_no_progress():
    X, y, _ = make_ripley(250, random_state=0)
    rows = make_rows(X, y, weights=np.full(len(X), 1000.0))
    events = list(grow_tree(rows, Policy(patience=3), np.random.default_rng(0)))
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


def test_one_class_grows_nothing():
    X = np.random.default_rng(0).normal(size=(50, 2))
    _, _, state, reason = grow(X, np.zeros(50, dtype=int))
    assert (state.tree.n_splits, reason) == (0, "no_gain")
    assert state.log_evidence == 0


def test_pure_noise_grows_no_split_in_at_least_95_percent_of_fits():
    grown = []
    for seed in range(40):
        rng = np.random.default_rng(seed)
        n, d = int(rng.integers(60, 201)), int(rng.integers(1, 21))
        if seed % 10 == 9:
            n, d = 60, 100
        X, y = rng.normal(size=(n, d)), rng.integers(2 + (seed % 4 == 0), size=n)
        grown.append(grow(X, y, seed)[2].tree.n_splits > 0)
    assert np.mean(grown) <= 0.05


@pytest.mark.parametrize("seed", range(3))
def test_a_chessboard_is_found_with_three_splits(seed):
    _, _, state, _ = grow(*make_cross(600, random_state=seed)[:2], seed)
    assert (state.tree.n_splits, state.tree.depth) == (3, 2)
    means = np.sort((state.statistics + 0.5)[:, 1] / (state.statistics + 0.5).sum(axis=1))
    np.testing.assert_allclose(means, [0.1, 0.1, 0.9, 0.9], atol=0.1)


@pytest.mark.parametrize("policy", [{"lookahead": 0}, {"n_directions": 0}, {"lookahead": 0, "n_directions": 0}])
def test_search_can_be_narrowed(policy):
    _, events, state, _ = grow(*make_ripley(250, random_state=0)[:2], **policy)
    assert state.tree.n_splits >= 1
    kinds = {candidate.kind for event in events for candidate in event.candidates}
    assert kinds - {"bend", "exchange"} == ({"cut"} if "lookahead" in policy else {"cut", "look-ahead"})


def test_the_same_seed_grows_the_same_tree():
    data = make_ripley(250, random_state=0)[:2]
    one, other = grow(*data, seed=3, patience=2)[2], grow(*data, seed=3, patience=2)[2]
    np.testing.assert_array_equal(one.tree.hyperplanes, other.tree.hyperplanes)


def test_crossing_splits_with_their_levels_exchanged_make_the_same_fields():
    rng = np.random.default_rng(0)
    design = np.vstack([np.ones(50), rng.normal(size=(2, 50))])
    first, second = np.array([0.3, 0.6, 0.8]), np.array([-0.1, 0.8, -0.6])
    tree = split_leaf(split_leaf(split_leaf(single_leaf(2), 0, first), 0, second), 2, -second)
    [exchanged] = exchange_levels(tree, 0)
    np.testing.assert_allclose(exchanged, [second, first, first], atol=1e-12)
    other = Tree(exchanged, tree.shape, tree.ids)
    one, two = (np.exp(compute_gates(t.hyperplanes[None], t.shape, design).log_membership[0]) for t in (tree, other))
    np.testing.assert_allclose(np.sort(one, axis=0), np.sort(two, axis=0), atol=1e-12)


def test_a_split_with_a_leaf_below_it_has_no_levels_to_exchange():
    tree = split_leaf(split_leaf(single_leaf(2), 0, [0.0, 1.0, 0.0]), 0, [0.0, 0.0, 1.0])
    assert [len(exchange_levels(tree, split)) for split in range(2)] == [0, 0]


@pytest.mark.parametrize("split", range(3))
def test_a_split_without_a_direction_is_not_exchanged(split):
    first, second = [0.3, 0.6, 0.8], [-0.1, 0.8, -0.6]
    tree = split_leaf(split_leaf(split_leaf(single_leaf(2), 0, first), 0, second), 2, second)
    hyperplanes = tree.hyperplanes.copy()
    hyperplanes[split] = 0.0
    assert exchange_levels(Tree(hyperplanes, tree.shape, tree.ids), 0).shape == (0, 3, 3)


def test_a_split_without_a_direction_is_not_bent():
    rows = make_rows(*make_ripley(50, random_state=0)[:2])
    state = evaluate(rows, split_leaf(single_leaf(2), 0, [0.0, 0.0, 0.0]), np.ones(1))
    assert bend_boundary(rows, Site((0, 1), state, 1, np.empty((0, 3, 3))), 1) is None


def test_a_leaf_that_no_row_reaches_is_not_split():
    rows = make_rows(*make_ripley(50, random_state=0)[:2])
    state = evaluate(rows, split_leaf(single_leaf(2), 0, [1e4, 1.0, 0.0]), np.ones(1))
    site = Site((0, 1), state, 1, np.empty((0, 3, 3)))
    assert try_site(rows, state, site, Policy(), np.random.default_rng(0), 1) == (None, (), [])


def test_seeds_agree_on_the_order_of_crossing_splits():
    X, y, _ = make_cross(600, random_state=7)
    evidences = [grow(X, y, seed=seed)[2].log_evidence for seed in range(6)]
    assert max(evidences) - min(evidences) < 0.5


@pytest.fixture(scope="module")
def seven_splits():
    """Rows and the state of a fitted tree whose root has three splits on either side."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 2))
    y = ((np.floor(X[:, 0]) + np.floor(X[:, 1])) % 2).astype(int)
    rows = make_rows(X, y)
    tree = split_leaf(single_leaf(2), 0, [0.0, 2.0, 0.5])
    for leaf, hyperplane in (
        (0, [-1.0, 2.0, 0.0]),
        (2, [1.0, 2.0, 0.0]),
        *((k, [0.0, 0.3, 3.0]) for k in (6, 4, 2, 0)),
    ):
        tree = split_leaf(tree, leaf if leaf < tree.n_leaves else tree.n_leaves - 1, hyperplane)
    assert tree.n_splits == 7
    start = evaluate(rows, tree, np.full(7, 0.1))
    return rows, ascend_tree(rows, tree, start.precisions, start.statistics, GLOBAL)


def test_a_change_that_is_none_gains_nothing_around_it_but_by_fitting(seven_splits):
    rows, state = seven_splits
    for leaf, name in enumerate(leaf_places(state.tree)):
        around = surroundings_of(rows, state, Site(name, state, leaf, np.empty((0, 3, 3))))
        as_it_is = Proposal(state.tree, state.tree, state.precisions, state.statistics, -np.inf, 7)
        gain, adapted = adapt_surroundings(around, as_it_is)
        if around is None:
            assert (gain, adapted) == (np.inf, as_it_is)
            continue
        assert gain > -1e-2
        # What is gained with the rest of the tree held, all of the tree gains, at least.
        whole = evaluate(rows, adapted.tree, adapted.precisions, tolerance=1e-9)
        assert whole.log_evidence >= state.log_evidence + gain - 0.1


def test_surroundings_are_a_branch_with_few_splits_but_never_the_whole_tree(seven_splits):
    rows, state = seven_splits
    tree = state.tree
    for leaf, name in enumerate(leaf_places(tree)):
        around = surroundings_of(rows, state, Site(name, state, leaf, np.empty((0, 3, 3))))
        assert around is not None
        split = int(np.flatnonzero(tree.ids == around.split_id)[0])
        assert split in tree.children[0]
        assert tree.shape.sides[split, leaf]
    small = evaluate(rows, split_leaf(single_leaf(2), 0, [0.0, 2.0, 0.5]), np.full(1, 0.1))
    assert surroundings_of(rows, small, Site((0, 0), small, 0, np.empty((0, 3, 3)))) is None


def test_only_the_branch_around_a_change_adapts_to_it(seven_splits):
    rows, state = seven_splits
    tree = state.tree
    around = surroundings_of(rows, state, Site(leaf_places(tree)[0], state, 0, np.empty((0, 3, 3))))
    split = int(np.flatnonzero(tree.ids == around.split_id)[0])
    hyperplanes = tree.hyperplanes.copy()
    hyperplanes[split] *= 0.5
    changed = Tree(hyperplanes, tree.shape, tree.ids)
    gain, adapted = adapt_surroundings(
        around, Proposal(changed, changed, state.precisions, state.statistics, -np.inf, 7)
    )
    assert gain > -0.1
    moved = (adapted.tree.hyperplanes != hyperplanes).any(axis=1)
    assert np.flatnonzero(moved).tolist() == splits_below(tree, split)
    below = tree.shape.sides[split] != 0
    np.testing.assert_array_equal(adapted.statistics[~below], state.statistics[~below])
