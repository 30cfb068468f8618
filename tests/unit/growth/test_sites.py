"""Sites take turns, have names that survive changes of the tree, and stay within the limits."""

import numpy as np
import pytest

from asking import family_of, membership_sums
from bayesian_reticulum.datasets import make_cross, make_ripley
from bayesian_reticulum.evidence import evaluate
from bayesian_reticulum.growth.policy import Policy
from bayesian_reticulum.growth.shapes import CUT, THREE_SPLITS
from bayesian_reticulum.growth.sites import (
    BranchPlace,
    BranchSite,
    LeafPlace,
    LeafSite,
    branch_site,
    choose_site,
    fits_limits,
    leaf_places,
    leaf_sites,
    limit_reached,
    unexplained_leaves,
)
from bayesian_reticulum.tree import branch_of, single_leaf, split_leaf
from growing import leaf_site, make_rows, stump


@pytest.fixture(scope="module")
def chessboard():
    """Rows, and a tree of two splits with the ids 5 and 7."""
    rows = make_rows(*make_cross(600, random_state=0)[:2])
    tree = split_leaf(split_leaf(single_leaf(2), 0, [0.0, 4.0, 0.0], 5), 1, [0.0, 0.0, 4.0], 7)
    return rows, evaluate(rows, family_of(rows), tree, np.full(2, 0.1))


def test_the_places_of_leaves_are_named_by_the_splits_above(chessboard):
    _, state = chessboard
    assert leaf_places(state.tree) == [LeafPlace(5, 0), LeafPlace(7, 0), LeafPlace(7, 1)]
    assert leaf_places(single_leaf(2)) == [LeafPlace(-1, 0)]


def test_where_an_attempt_was_made_others_come_first(chessboard):
    last_tried, places = {}, []
    for attempt in range(10):
        places.append(choose_site(*chessboard, Policy(), last_tried).place)
        last_tried[places[-1]] = attempt
    assert set(places[:5]) == {LeafPlace(5, 0), LeafPlace(7, 0), LeafPlace(7, 1), BranchPlace(5), BranchPlace(7)}
    assert places[5:] == places[:5]


def test_the_least_explained_leaf_and_the_branch_nearest_to_the_root_come_first(chessboard):
    rows, state = chessboard
    first = choose_site(rows, state, Policy(), {})
    assert isinstance(first, LeafSite)
    assert first.leaf == unexplained_leaves(rows, family_of(rows), state.tree, Policy())[0]
    second = choose_site(rows, state, Policy(), {first.place: 0})
    assert isinstance(second, BranchSite)
    assert second.place == BranchPlace(5)


def test_large_branches_are_not_grown_anew(chessboard):
    places = [choose_site(*chessboard, Policy(small_branch=1), {}).place]
    while (site := choose_site(*chessboard, Policy(small_branch=1), dict.fromkeys(places, 0))).place not in places:
        places.append(site.place)
    assert {place for place in places if isinstance(place, BranchPlace)} == {BranchPlace(7)}


def test_a_branch_that_is_grown_anew_is_collapsed_but_remembered(chessboard):
    rows, state = chessboard
    site = branch_site(rows, state, 1, Policy())
    assert site.state.tree.n_leaves == 2
    assert leaf_places(site.state.tree)[site.leaf] == LeafPlace(5, 1)
    assert branch_of(site.branched, site.split).ids.tolist() == [7]


def test_explained_leaves_are_no_sites(chessboard):
    rows, state = chessboard
    potential = family_of(rows).unexplained_potential(
        membership_sums(rows, state.tree.hyperplanes[None], state.tree.shape)[0]
    )
    middle = float(np.sort(potential)[1])
    chosen = unexplained_leaves(rows, family_of(rows), state.tree, Policy(small_difference=middle + 1e-3))
    assert chosen.tolist() == [int(np.argmax(potential))]
    assert choose_site(rows, state, Policy(small_difference=1e9, small_branch=-1), {}) is None


@pytest.mark.parametrize(
    ("limits", "shape", "fits"),
    [
        ({}, THREE_SPLITS, True),
        ({"max_splits": 4}, THREE_SPLITS, True),
        ({"max_splits": 3}, THREE_SPLITS, False),
        ({"max_splits": 2}, CUT, True),
        ({"max_splits": 1}, CUT, False),
        ({"max_depth": 3}, THREE_SPLITS, True),
        ({"max_depth": 2}, THREE_SPLITS, False),
        ({"max_depth": 1}, CUT, False),
    ],
)
def test_branches_fit_where_limits_allow_for_their_splits_and_levels(limits, shape, fits):
    rows = make_rows(*make_ripley(50, random_state=0)[:2])
    site = leaf_site(stump(rows, [0.0, 2.0, 0.0]), 1)
    assert fits_limits(site, shape, Policy(**limits)) == fits
    sites = leaf_sites(rows, site.state, Policy(**limits))
    assert bool(sites) == fits_limits(site, CUT, Policy(**limits))


@pytest.mark.parametrize("limits", [{"max_splits": 2}, {"max_depth": 2}])
def test_every_site_has_room_for_a_split(chessboard, limits):
    rows, state = chessboard
    policy, last_tried = Policy(**limits), {}
    for attempt in range(6):
        site = choose_site(rows, state, policy, last_tried)
        assert fits_limits(site, CUT, policy)
        last_tried[site.place] = attempt


def test_the_limit_that_stopped_growth_is_named(chessboard):
    rows, state = chessboard
    assert limit_reached(rows, state, Policy(max_splits=2)) == "max_splits"
    assert limit_reached(rows, state, Policy(max_depth=1)) == "max_depth"
    assert limit_reached(rows, state, Policy(max_splits=3, max_depth=3)) == "no_gain"
    assert limit_reached(rows, state, Policy(max_splits=2, small_difference=1e9)) == "no_gain"
