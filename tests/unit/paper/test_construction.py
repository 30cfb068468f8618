"""The steps of the published construction, each alone, and a run of them."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from asking import family_of, membership_sums
from bayesian_reticulum.data import identity_schema
from bayesian_reticulum.datasets import make_cross, make_ripley
from bayesian_reticulum.families import DirichletCategorical
from bayesian_reticulum.paper.construction import (
    Construction,
    ascend_by_adam,
    bound_losses,
    choose_leaf,
    construct,
    initial_hyperplane,
    prune_by_factor,
)
from bayesian_reticulum.rows import ArrayRows
from bayesian_reticulum.tree import collapse, single_leaf, split_leaf
from plugins import trees

SETTINGS = Construction(
    max_attempts=8,
    max_depth=None,
    learning_rate=0.1,
    n_gradient_steps=40,
    initial_stiffness=2.0,
    pruning_factor=1.05,
    parametrization="cartesian",
)


def rows_of(X, y, prior=(1.0, 1.0)):
    return ArrayRows.of_table(X, y, DirichletCategorical(prior), np.ones(len(X)), identity_schema(X.shape[1]))


def bound(rows, hyperplanes, shape):
    return family_of(rows).log_evidence(membership_sums(rows, hyperplanes[None], shape)[0]).sum()


def run(rows, chosen, seed=0):
    """Events of a construction, its final state and why it stopped."""
    steps, events = construct(rows, family_of(rows), chosen, np.random.default_rng(seed)), []
    while True:
        try:
            events.append(next(steps))
        except StopIteration as stop:
            return events, *stop.value


def test_leaves_are_drawn_in_proportion_to_their_unexplained_potential():
    family = DirichletCategorical((1.0, 1.0))
    statistics = np.array([[30.0, 30.0], [0.0, 0.0], [20.0, 1.0]])
    tree = split_leaf(split_leaf(single_leaf(1), 0, [0.0, 1.0]), 0, [0.0, 1.0])
    rng = np.random.default_rng(0)
    drawn = np.bincount([choose_leaf(family, statistics, tree.shape, None, rng) for _ in range(4000)], minlength=3)
    c = family.log_evidence(statistics)
    np.testing.assert_allclose(drawn / drawn.sum(), c / c.sum(), atol=0.03)
    # Four levels: the two leaves at the last one are not extended.
    assert {choose_leaf(family, statistics, tree.shape, 2, rng) for _ in range(50)} == {2}
    assert choose_leaf(family, statistics, tree.shape, 1, rng) is None
    assert choose_leaf(family, np.zeros((3, 2)), tree.shape, None, rng) is None


@pytest.mark.parametrize("n", [500, 501])
@pytest.mark.parametrize("d", [1, 2, 3, 30])
def test_initial_splits_go_through_the_medians_with_the_initial_stiffness(d, n):
    rng = np.random.default_rng(1)
    scale = 10.0 ** rng.uniform(-3, 3, size=d)
    X = rng.normal(size=(n, d)) * scale + 5 * scale
    rows = ArrayRows.of_table(
        X, np.zeros(n, dtype=int), DirichletCategorical((1.0, 1.0)), np.ones(n), identity_schema(d)
    )
    first, median, third = np.quantile(X, [0.25, 0.5, 0.75], axis=0, method="averaged_inverted_cdf")
    directions = []
    for _ in range(300):
        offset, *slopes = initial_hyperplane(rows.gather(), single_leaf(d), 0, SETTINGS, rng)
        assert offset + slopes @ median == pytest.approx(0, abs=1e-9)
        direction = slopes * (third - first)
        assert np.linalg.norm(direction) == pytest.approx(SETTINGS.initial_stiffness)
        directions.append(direction / SETTINGS.initial_stiffness)
    np.testing.assert_allclose(np.cov(np.array(directions).T), np.eye(d) / d, atol=5 / np.sqrt(300) / d + 0.02)


def test_initial_splits_see_the_rows_whose_membership_exceeds_one_half():
    X = np.concatenate([np.linspace(-2, -1, 50), np.linspace(3, 9, 51)])[:, None]
    rows = ArrayRows.of_table(
        X, np.zeros(101, dtype=int), DirichletCategorical((1.0, 1.0)), np.ones(101), identity_schema(1)
    )
    tree = split_leaf(single_leaf(1), 0, [0.0, 0.1])
    for leaf, middle in ((0, 6.0), (1, -1.5)):
        offset, slope = initial_hyperplane(rows.gather(), tree, leaf, SETTINGS, np.random.default_rng(0))
        assert -offset / slope == pytest.approx(middle, abs=0.05)
    without_rows = split_leaf(single_leaf(1), 0, [-50.0, 0.1])
    offset, slope = initial_hyperplane(rows.gather(), without_rows, 0, SETTINGS, np.random.default_rng(0))
    assert -offset / slope == pytest.approx(np.quantile(X, 0.5))


def test_columns_whose_quartiles_coincide_fall_back_on_their_range():
    rare = np.zeros(100)
    rare[:5] = 4.0
    X = np.column_stack([rare, np.full(100, 7.0), np.arange(100.0)])
    rows = ArrayRows.of_table(
        X, np.zeros(100, dtype=int), DirichletCategorical((1.0, 1.0)), np.ones(100), identity_schema(3)
    )
    _, *slopes = initial_hyperplane(rows.gather(), single_leaf(3), 0, SETTINGS, np.random.default_rng(0))
    direction = slopes * np.array([4.0, 1.0, 50.0])
    assert np.linalg.norm(direction) == pytest.approx(SETTINGS.initial_stiffness)


@pytest.mark.parametrize("parametrization", ["cartesian", "polar"])
def test_an_ascent_climbs_the_bound(parametrization):
    X, y, _ = make_ripley(200, random_state=0)
    rows = ArrayRows.of_table(X, y, DirichletCategorical((1.0, 1.0)), np.ones(200), identity_schema(2))
    tree = split_leaf(single_leaf(2), 0, [0.1, 1.0, 1.0])
    chosen = Construction(**{**vars(SETTINGS), "parametrization": parametrization})
    after = ascend_by_adam(rows.gather(), family_of(rows), tree.hyperplanes, tree.shape, chosen, 60)
    assert bound(rows, after, tree.shape) > bound(rows, tree.hyperplanes, tree.shape) + 20


@given(tree=trees(max_splits=8), seed=st.integers(0, 2**32 - 1), factor=st.floats(1, 1.2))
@settings(max_examples=60)
def test_pruning_leaves_only_splits_that_pay_and_removes_no_other(tree, seed, factor):
    rng = np.random.default_rng(seed)
    family = DirichletCategorical((1.0, 1.0))
    statistics = rng.uniform(0, 4, size=(tree.n_leaves, 2)) * (rng.random((tree.n_leaves, 1)) < 0.8)

    def gain(tree, statistics, split):
        two = statistics[~tree.children[split]]
        return family.log_evidence(two).sum() - family.log_evidence(two.sum(axis=0))

    # One split after the other, in any order, until nothing changes.
    expected, sums = tree, statistics
    while True:
        for split in rng.permutation(expected.n_splits):
            pair = expected.children[split]
            price = np.log(factor ** (expected.shape.levels[split] + 1))
            if (pair < 0).all() and not gain(expected, sums, split) > price:
                total = sums[~pair].sum(axis=0)
                sums = np.delete(sums, ~pair[1], axis=0)
                sums[~pair[0]] = total
                expected = collapse(expected, split)
                break
        else:
            break
    result, left = prune_by_factor(family, tree, statistics, factor)
    assert result.ids.tolist() == expected.ids.tolist()
    np.testing.assert_array_equal(result.children, expected.children)
    np.testing.assert_allclose(left, sums)
    np.testing.assert_allclose(left.sum(axis=0), statistics.sum(axis=0))


def test_empty_leaves_are_pruned():
    tree = split_leaf(single_leaf(1), 0, [0.0, 1.0])
    family = DirichletCategorical((1.0, 1.0))
    result, statistics = prune_by_factor(family, tree, np.array([[5.0, 2.0], [0.0, 0.0]]), 1.0)
    assert result.n_splits == 0
    np.testing.assert_array_equal(statistics, [[5.0, 2.0]])


def test_a_construction_can_be_watched_from_outside():
    rng = np.random.default_rng(0)
    rows = rows_of(rng.normal(size=(40, 2)), rng.integers(2, size=40))
    events, state, reason = run(rows, SETTINGS)
    assert events[0].phase == "start"
    assert all(np.isfinite(event.log_evidence) for event in events)
    assert [event.phase for event in events[1:4]] == ["proposed", "local", "global"]
    assert reason == "max_attempts"
    assert state.log_evidence == pytest.approx(bound(rows, state.tree.hyperplanes, state.tree.shape))
    assert not state.prices.any()


def test_a_construction_stops_where_there_is_nothing_to_gain_or_no_room():
    X, y, _ = make_ripley(60, random_state=0)
    assert run(rows_of(X, np.zeros(60, dtype=int), prior=(1.0,)), SETTINGS)[2] == "no_gain"
    events, state, reason = run(rows_of(X, y), replace(SETTINGS, max_depth=0))
    assert (len(events), state.tree.n_splits, reason) == (1, 0, "max_depth")


def test_losses_of_the_bound_are_those_of_collapsed_trees():
    X, y, _ = make_cross(200, random_state=0)
    rows, rng = rows_of(X, y), np.random.default_rng(0)
    tree = single_leaf(2)
    for leaf in (0, 0, 2):
        tree = split_leaf(tree, leaf, rng.normal(size=3))
    statistics = membership_sums(rows, tree.hyperplanes[None], tree.shape)[0]
    losses = bound_losses(family_of(rows), tree, statistics)
    for split in range(tree.n_splits):
        smaller = collapse(tree, split)
        lost = bound(rows, tree.hyperplanes, tree.shape) - bound(rows, smaller.hyperplanes, smaller.shape)
        assert losses[split] == pytest.approx(lost, abs=1e-9)
