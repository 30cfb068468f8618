"""The prior of the leaves is the one that the tree calls for, and the last ascent ends at an optimum."""

import dataclasses

import numpy as np
import pytest

from asking import family_of
from bayesian_reticulum.datasets import make_ripley
from bayesian_reticulum.evidence import Effort, evaluate
from bayesian_reticulum.growth.policy import Policy
from bayesian_reticulum.growth.polish import polish, reestimate_prior
from bayesian_reticulum.tree import single_leaf, split_leaf
from growing import grow, make_rows, stump, three_classes

GROWN = {
    "ripley": lambda: grow(*make_ripley(250, random_state=0)[:2]),
    "three classes": lambda: grow(*three_classes(200, 0), patience=3),
    "two restless rows": lambda: grow(np.array([[0.0], [1.0]]), np.array([0, 1])),
}


@pytest.fixture(scope="module", params=GROWN)
def grown(request):
    return GROWN[request.param]()


def test_polishing_raises_the_penalised_bound_and_keeps_the_ids(grown):
    rows, events, state, _ = grown
    last = [event for event in events if event.phase in ("start", "tuned", "kept", "rejected")][-1]
    before = evaluate(
        rows,
        state.family,
        last.tree,
        state.precisions,
        tolerance=1e-11,
    )
    # The ascent knows nothing of prices, which may rise a little on the way.
    assert state.log_evidence + state.prices.sum() >= before.log_evidence + before.prices.sum() - 1e-6
    assert state.log_evidence > last.log_evidence - Policy().minimal_gain
    np.testing.assert_array_equal(state.tree.ids, last.tree.ids)


def test_the_final_state_is_what_evaluating_its_tree_gives(grown):
    rows, _, state, _ = grown
    again = evaluate(
        rows,
        state.family,
        state.tree,
        state.precisions,
        tolerance=1e-11,
    )
    assert again.log_evidence == pytest.approx(state.log_evidence, abs=1e-6)
    np.testing.assert_allclose(again.statistics, state.statistics, atol=1e-4)
    np.testing.assert_allclose(again.prices, state.prices, atol=1e-5)


def test_the_prior_of_the_leaves_is_set_by_growth_where_there_are_more_than_two_classes(grown):
    rows, events, state, _ = grown
    is_tuned = "tuned" in [event.phase for event in events]
    assert is_tuned == (state.family.prior < family_of(rows).prior)
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


def pure_classes(n, seed):
    """Seven classes along one feature, few rows of which lie among those of another."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 7
    return np.column_stack([3.0 * y + rng.normal(size=n), rng.normal(size=n)]), y


def test_a_tree_without_splits_is_polished():
    rows = make_rows(*make_ripley(50, random_state=0)[:2])
    leaf = evaluate(rows, family_of(rows), single_leaf(2), np.empty(0))
    assert polish(rows, leaf, Policy()) is leaf


def test_polishing_picks_one_of_two_mirror_images():
    rows = make_rows(*make_ripley(250, random_state=0)[:2])
    one, other = (
        polish(rows, stump(rows, hyperplane), Policy()) for hyperplane in ([1.0, 0.5, -3.0], [-1.0, -0.5, 3.0])
    )
    np.testing.assert_allclose(one.tree.hyperplanes, other.tree.hyperplanes, atol=1e-6)
    np.testing.assert_allclose(one.statistics, other.statistics, atol=1e-4)
    assert one.log_evidence == pytest.approx(other.log_evidence, abs=1e-8)


def test_hyperplanes_of_many_rows_stay_when_they_are_polished():
    rows = make_rows(*make_ripley(250, random_state=0)[:2])
    state = stump(rows, [1.0, 0.5, 3.0])
    polished = polish(rows, state, Policy(sample_rows=100))
    np.testing.assert_array_equal(polished.tree.hyperplanes, state.tree.hyperplanes)
    assert polished.log_evidence == pytest.approx(state.log_evidence, abs=1e-2)


def test_slopes_that_are_zero_stay_zero_in_a_sparse_tree():
    rows = make_rows(*make_ripley(250, random_state=0)[:2])
    tree = split_leaf(single_leaf(2), 0, [1.0, 0.0, 3.0])
    polished = polish(rows, evaluate(rows, family_of(rows), tree, np.full(1, 0.1), sparse=True), Policy())
    assert polished.sparse
    assert polished.tree.hyperplanes[0, 1] == 0
    assert polished.tree.hyperplanes[0, 2] != 3.0


def test_a_prior_that_is_given_is_kept():
    rows = make_rows(*three_classes(120, 0))
    state = stump(rows, [0.0, 3.0, 0.0, 0.0])
    state = dataclasses.replace(state, family=dataclasses.replace(state.family, is_tuned=False))
    assert reestimate_prior(rows, state, Policy()) is state


def test_the_prior_is_updated_no_more_often_than_allowed():
    rows = make_rows(*pure_classes(300, 0))
    state = stump(rows, [0.0, 3.0, 0.0])
    assert reestimate_prior(rows, state, Policy(global_effort=Effort(rounds=0))) is state
    once = reestimate_prior(rows, state, Policy(global_effort=Effort(rounds=1)))
    assert once.family.prior < state.family.prior
    assert once.log_evidence > state.log_evidence
