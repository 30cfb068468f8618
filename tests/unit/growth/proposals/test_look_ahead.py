"""Looking ahead finds the three splits of a chessboard, where no single one gains anything."""

import numpy as np
import pytest

from asking import family_of, histogram_of, scan_of
from bayesian_reticulum.datasets import make_cross
from bayesian_reticulum.evidence import evaluate
from bayesian_reticulum.growth.policy import Policy
from bayesian_reticulum.growth.proposals import Proposal, survey_site
from bayesian_reticulum.growth.proposals.look_ahead import LookAhead, look_ahead
from bayesian_reticulum.growth.proposals.scan import axis_directions, make_grid
from bayesian_reticulum.growth.sites import LeafPlace, LeafSite
from bayesian_reticulum.tree import single_leaf
from growing import make_rows

policy = Policy()


def outlook_of(rows):
    state = evaluate(rows, family_of(rows), single_leaf(2), np.empty(0))
    site = LeafSite(LeafPlace(-1, 0), state, 0)
    return survey_site(rows, rows, site, policy, np.random.default_rng(0), 0)


@pytest.fixture(scope="module")
def chessboard():
    return outlook_of(make_rows(*make_cross(600, random_state=0)[:2]))


def proposals(outlook, policy=policy, earlier=()):
    return list(LookAhead().propose(outlook, policy, np.random.default_rng(0), earlier))


def with_local_gain(gain):
    tree = single_leaf(2)
    return Proposal("cut", tree, tree, np.empty(0), np.ones((1, 2)), 0, gain)


def test_the_splits_of_a_chessboard_are_found(chessboard):
    [proposal] = proposals(chessboard)
    assert (proposal.kind, proposal.tree.n_splits) == ("look-ahead", 3)
    assert proposal.local_gain > 100
    # Either side is cut along the feature that the root does not look at.
    slopes = np.abs(proposal.tree.hyperplanes[:, 1:])
    assert len({int(slope.argmax()) for slope in slopes[1:]}) == 1
    assert slopes[0].argmax() != slopes[1].argmax()


def test_the_best_roots_come_first_with_the_gain_of_the_first(chessboard):
    rows, statistics = chessboard.sample, chessboard.statistics
    grid = make_grid(
        rows, family_of(rows), statistics, axis_directions(rows, family_of(rows), statistics, policy), policy
    )
    starts, gain = look_ahead(grid, policy, np.random.default_rng(0), 4)
    assert starts.shape == (4, 3, 3)
    family = family_of(rows)

    def gain_of(start):
        sides = histogram_of(rows, np.zeros((1, 3)), np.zeros((1, 0)), start[:1], statistics)[0, :, 0, 0]
        cuts = [
            scan_of(rows, start[1 + side, None], np.zeros((1, 1)), start[:1], statistics)[0, side] for side in (0, 1)
        ]
        return family.log_evidence(sides).sum() - family.log_evidence(sides.sum(axis=0)) + float(sum(cuts).sum())

    gains = [gain_of(start) for start in starts]
    assert gains[0] == pytest.approx(gain, abs=1e-5)
    np.testing.assert_allclose(gains, np.sort(gains)[::-1], atol=1e-5)
    in_parts, same_gain = look_ahead(grid, policy, np.random.default_rng(0), 4, scan_floats=1)
    np.testing.assert_array_equal(in_parts, starts)
    assert same_gain == gain


def test_rows_that_cannot_be_parted_have_no_root(chessboard):
    rows, statistics = chessboard.sample, chessboard.statistics
    grid = make_grid(
        rows, family_of(rows), statistics, axis_directions(rows, family_of(rows), statistics, policy), policy
    )
    empty = type(grid)(rows, grid.family, statistics, grid.directions, grid.edges, np.ones_like(grid.empty))
    starts, gain = look_ahead(empty, policy, np.random.default_rng(0), 4)
    assert (starts.shape, gain) == ((0, 3, 3), -np.inf)


def test_it_can_be_switched_off_and_keeps_the_limits(chessboard):
    for narrow in (Policy(lookahead=0), Policy(max_splits=2), Policy(max_depth=1)):
        assert proposals(chessboard, narrow) == []


def test_where_nothing_simpler_pays_only_what_stands_out_is_trained(chessboard):
    rng = np.random.default_rng(0)
    noise = make_rows(rng.normal(size=(200, 2)), rng.integers(2, size=200))
    pays, fails = with_local_gain(1.0), with_local_gain(-5.0)
    outlook = outlook_of(noise)
    never = Policy(stands_out=1e9)
    assert len(proposals(outlook, never, [fails, pays])) == 1
    assert proposals(outlook, never, [fails]) == []
    assert proposals(outlook, never, []) == []
    assert len(proposals(outlook, Policy(stands_out=0.0), [fails])) == 1
