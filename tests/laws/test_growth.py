"""Laws of growth: chance patterns are left alone, real ones are found, and neither seeds nor fits disagree."""

import numpy as np
import pytest

from bayesian_reticulum.datasets import make_cross, make_ripley
from bayesian_reticulum.history import History
from growing import grow


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


def test_the_same_seed_grows_the_same_tree():
    data = make_ripley(250, random_state=0)[:2]
    one, other = grow(*data, seed=3, patience=2).state, grow(*data, seed=3, patience=2).state
    np.testing.assert_array_equal(one.tree.hyperplanes, other.tree.hyperplanes)


def test_seeds_agree_on_the_order_of_crossing_splits():
    X, y, _ = make_cross(600, random_state=7)
    evidences = [grow(X, y, seed=seed)[2].log_evidence for seed in range(6)]
    assert max(evidences) - min(evidences) < 0.5


def test_the_history_of_a_growth_replays_all_its_trees():
    _, events, state, reason = grow(*make_ripley(250, random_state=0)[:2])
    history = History(tuple(events), reason)
    assert [history.replay(k) for k in range(len(history))] == [event.tree for event in events]
    assert history.replay(-1) is state.tree
    assert history.n_attempts == events[-1].attempt
