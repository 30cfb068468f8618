"""A scan finds the best hard threshold along each direction."""

import numpy as np
import pytest

from asking import family_of
from bayesian_reticulum.data import identity_schema
from bayesian_reticulum.families import DirichletCategorical
from bayesian_reticulum.growth.policy import Policy
from bayesian_reticulum.growth.proposals.scan import (
    axis_directions,
    best_axis_cuts,
    choose_directions,
    cut_at,
    make_grid,
    scan_gains,
    scan_leaf,
)
from bayesian_reticulum.rows import ArrayRows
from growing import make_rows

policy = Policy()
FAMILY = DirichletCategorical((0.5, 0.5))


@pytest.fixture(scope="module")
def table():
    """Rows, (1, x) of each, their classes, and the statistics of all."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 2))
    y = (X[:, 0] + X[:, 1] + 0.3 * rng.normal(size=120) > 0).astype(int)
    rows = ArrayRows.of_table(X, y, FAMILY, np.ones(120), identity_schema(2))
    return rows, np.vstack([np.ones(120), X.T]), y, np.bincount(y).astype(float)


def gain_of(cut, design, y):
    """Evidence that a hard cut of all rows gains."""
    left = cut @ design > 0
    sides = [np.bincount(y[side], minlength=2).astype(float) for side in (left, ~left)]
    return FAMILY.log_evidence(np.array(sides)).sum() - FAMILY.log_evidence(sum(sides))


def test_directions_are_features_random_ones_and_those_of_the_targets(table):
    rows, design, _, statistics = table
    directions, n_varying = choose_directions(rows, family_of(rows), statistics, policy, np.random.default_rng(0))
    # Two classes have two contrasts, each with and without regard to the covariance.
    assert directions.shape == (2 + policy.n_directions + 2 * 2, 3)
    assert n_varying == 2
    np.testing.assert_array_equal(directions[:2], axis_directions(rows, family_of(rows), statistics, policy))
    np.testing.assert_allclose((directions @ design).std(axis=1), 1.0)
    target = directions[-1, 1:] / np.linalg.norm(directions[-1, 1:])
    assert abs(target.sum()) > 0.98 * np.sqrt(2)


def test_only_some_directions_of_many_classes_are_scanned():
    rng = np.random.default_rng(0)
    rows = make_rows(rng.normal(size=(200, 2)), np.arange(200) % 5)
    statistics = np.full(5, 40.0)
    n_scanned = [
        len(
            choose_directions(
                rows, family_of(rows), statistics, Policy(n_directions=0, **few), np.random.default_rng(0)
            )[0]
        )
        for few in ({}, {"most_branches": 1})
    ]
    assert n_scanned == [2 + 10, 2 + 2]


def test_columns_that_do_not_vary_are_no_directions():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=50), np.full(50, 3.0)])
    rows = make_rows(X, rng.integers(2, size=50))
    directions, n_varying = choose_directions(rows, family_of(rows), np.full(2, 25.0), Policy(n_directions=0), rng)
    assert n_varying == 1
    assert len(axis_directions(rows, family_of(rows), np.full(2, 25.0), policy)) == 1
    assert not directions[:, 2].any() or (directions[:, 1] != 0).all()


def test_rows_without_weight_have_no_directions(table):
    *_, statistics = table
    nobody = ArrayRows.of_table(np.zeros((3, 2)), np.zeros(3, dtype=int), FAMILY, np.zeros(3), identity_schema(2))
    assert choose_directions(nobody, family_of(nobody), statistics, policy, np.random.default_rng(0))[0].shape == (0, 3)
    assert best_axis_cuts(nobody, family_of(nobody), statistics, 4, policy).shape == (0, 1, 3)


def test_gains_of_a_scan_are_those_of_hard_cuts(table):
    rows, design, y, statistics = table
    grid = make_grid(
        rows, family_of(rows), statistics, axis_directions(rows, family_of(rows), statistics, policy), policy
    )
    everything = np.array([[1.0, 0.0, 0.0]])
    gains = scan_gains(grid, everything)[0, 0]
    assert gains.shape == (2, policy.bins)
    for direction in range(2):
        for edge in (3, 15, 28):
            [cut] = cut_at(grid, np.array([direction]), np.array([edge]))
            assert gains[direction, edge] == pytest.approx(gain_of(cut, design, y), abs=1e-5)


def test_thresholds_that_part_nothing_are_never_chosen():
    X = np.repeat([[0.0], [1.0]], 10, axis=0)
    rows = ArrayRows.of_table(X, np.arange(20) % 2, FAMILY, np.ones(20), identity_schema(1))
    statistics = np.full(2, 10.0)
    grid = make_grid(
        rows, family_of(rows), statistics, axis_directions(rows, family_of(rows), statistics, policy), policy
    )
    gains = scan_gains(grid, np.array([[1.0, 0.0]]))[0, 0]
    assert grid.empty.sum() == policy.bins - 1
    np.testing.assert_array_equal(np.isfinite(gains), ~grid.empty)


def test_the_best_cuts_come_first(table):
    rows, design, y, statistics = table
    directions, _ = choose_directions(rows, family_of(rows), statistics, policy, np.random.default_rng(0))
    scan = scan_leaf(rows, family_of(rows), statistics, directions, policy)
    gains = [gain_of(cut, design, y) for cut in scan.cuts]
    assert scan.gain == pytest.approx(gains[0], abs=1e-5)
    np.testing.assert_allclose(gains, np.sort(gains)[::-1], atol=1e-5)
    np.testing.assert_allclose(scan.cuts[:, 1:], directions[scan.ranking, 1:])
    few = scan.grid.along(scan.ranking[:3])
    np.testing.assert_array_equal(few.directions, directions[scan.ranking[:3]])
    assert few.edges.shape == few.empty.shape == (3, policy.bins)


def test_there_is_no_scan_where_no_threshold_parts_rows(table):
    rows, _, _, statistics = table
    assert scan_leaf(rows, family_of(rows), statistics, np.empty((0, 3)), policy) is None
    alike = ArrayRows.of_table(np.zeros((9, 2)), np.zeros(9, dtype=int), FAMILY, np.ones(9), identity_schema(2))
    assert scan_leaf(alike, family_of(alike), statistics, np.array([[0.0, 1.0, 0.0]]), policy) is None


def test_the_best_axis_cuts_look_at_one_column_each(table):
    rows, _, _, statistics = table
    cuts = best_axis_cuts(rows, family_of(rows), statistics, 5, policy)
    assert cuts.shape == (2, 1, 3)
    assert (cuts[:, 0, 1:] != 0).sum(axis=1).tolist() == [1, 1]
    assert len(best_axis_cuts(rows, family_of(rows), statistics, 1, policy)) == 1
