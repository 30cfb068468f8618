"""A bent boundary is two splits turned against each other, which lead to two copies of a leaf."""

import numpy as np
import pytest

from asking import family_of, rows_of_data
from bayesian_reticulum.data import identity_schema
from bayesian_reticulum.datasets import make_ripley, make_sphere
from bayesian_reticulum.evidence import evaluate
from bayesian_reticulum.families import DirichletCategorical
from bayesian_reticulum.growth.policy import Policy
from bayesian_reticulum.growth.proposals.bend import Bend, bend_boundary
from bayesian_reticulum.rows import ArrayRows, RowData
from bayesian_reticulum.tree import single_leaf
from growing import leaf_site, make_rows, stump, survey

policy = Policy()


@pytest.fixture(scope="module")
def ring():
    """Rows inside and outside of a circle, and a tree that cuts a cap off."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 2))
    rows = make_rows(X, (np.linalg.norm(X, axis=1) < 1.2).astype(int))
    return rows, stump(rows, [-4.0, 4.0, 0.0])


@pytest.mark.parametrize("leaf", [0, 1])
def test_a_bend_has_one_more_split_and_a_copy_of_the_leaf(ring, leaf):
    rows, state = ring
    proposal = bend_boundary(rows, leaf_site(state, leaf), 5, policy)
    assert (proposal.kind, proposal.split_id, proposal.local_gain) == ("bend", 5, None)
    assert proposal.tree.ids.tolist() == [0, 5]
    assert proposal.worth_without == state.log_evidence
    np.testing.assert_allclose(proposal.statistics.sum(axis=0), state.statistics.sum(axis=0))
    copies = proposal.statistics[leaf : leaf + 2]
    np.testing.assert_array_equal(copies[0], state.statistics[leaf] / 2)
    np.testing.assert_array_equal(copies[0], copies[1])


def test_halves_are_turned_against_each_other_along_the_boundary(ring):
    rows, state = ring
    proposal = bend_boundary(rows, leaf_site(state, 1), 5, policy)
    one, other = proposal.tree.hyperplanes
    np.testing.assert_allclose(one + other, 2 * state.tree.hyperplanes[0], atol=1e-12)
    turn = (one - other) / 2
    assert turn[1] == pytest.approx(0.0, abs=1e-9)
    assert abs(turn[2]) == pytest.approx(policy.turn * 4.0)


def test_without_a_boundary_nothing_is_bent(ring):
    rows, _ = ring
    assert (
        bend_boundary(rows, leaf_site(evaluate(rows, family_of(rows), single_leaf(2), np.empty(0)), 0), 1, policy)
        is None
    )
    assert bend_boundary(rows, leaf_site(stump(rows, [40.0, 4.0, 0.0]), 0), 1, policy) is None


def test_one_feature_leaves_no_direction_to_turn_to():
    rng = np.random.default_rng(0)
    rows = make_rows(rng.normal(size=(50, 1)), rng.integers(2, size=50))
    assert bend_boundary(rows, leaf_site(stump(rows, [0.0, 2.0]), 0), 1, policy) is None


def test_a_split_without_a_direction_is_not_bent():
    rows = make_rows(*make_ripley(50, random_state=0)[:2])
    state = stump(rows, [0.0, 0.0, 0.0], precision=1.0)
    assert bend_boundary(rows, leaf_site(state, 1), 1, policy) is None


def test_a_wide_table_is_bent_along_its_leading_columns():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 6)) * np.linspace(3.0, 1.0, 6)
    y = rng.integers(2, size=200)
    rotated, _ = RowData.of(X, y, np.ones(200), identity_schema(6)).rotated(2)
    rows = rows_of_data(ArrayRows, rotated, DirichletCategorical((0.5, 0.5)))
    state = stump(rows, [0.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0])
    proposal = bend_boundary(rows, leaf_site(state, 0), 1, policy)
    moved = proposal.tree.hyperplanes[0] - state.tree.hyperplanes[0]
    assert moved[1:3].any()
    assert not moved[3:].any()


def test_bends_keep_the_depth_of_the_tree_within_its_limit():
    rows = make_rows(*make_sphere(200, random_state=0)[:2])
    outlook = survey(rows, [1.0, 2.0, 0.0])
    for depth, count in ((1, 0), (2, 1), (None, 1)):
        bends = list(Bend().propose(outlook, Policy(max_depth=depth), np.random.default_rng(0), ()))
        assert len(bends) == count
