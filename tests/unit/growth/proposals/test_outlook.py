"""All kinds see the same rows and scan of a site; a leaf is worth what its bound says."""

import numpy as np
import pytest

from asking import family_of
from bayesian_reticulum.datasets import make_cross, make_ripley
from bayesian_reticulum.evidence import evaluate
from bayesian_reticulum.growth.policy import Policy
from bayesian_reticulum.growth.proposals.outlook import bound_of_leaf
from bayesian_reticulum.tree import single_leaf
from growing import make_rows, survey


def test_the_bound_of_the_only_leaf_is_the_log_evidence_of_the_tree():
    rows = make_rows(*make_ripley(100, random_state=0)[:2])
    leaf = evaluate(rows, family_of(rows), single_leaf(2), np.empty(0), tolerance=1e-9)
    assert bound_of_leaf(rows, family_of(rows), leaf.statistics[0]) == pytest.approx(leaf.log_evidence, abs=1e-9)


def test_a_survey_shows_the_leaf_and_its_cuts():
    rows = make_rows(*make_cross(300, random_state=0)[:2])
    outlook = survey(rows, [0.0, 4.0, 0.0], leaf=1)
    assert outlook.rows is rows
    np.testing.assert_array_equal(outlook.statistics, outlook.site.state.statistics[1])
    assert outlook.bound == bound_of_leaf(outlook.view, family_of(outlook.view), outlook.statistics)
    assert outlook.first_id == 7
    # Below the first split of a chessboard the other feature decides.
    best = outlook.scan.cuts[0]
    assert abs(best[2]) > 5 * abs(best[1])


def test_large_leaves_are_scanned_on_a_sample():
    rows = make_rows(*make_cross(900, random_state=0)[:2])
    outlook = survey(rows, [0.0, 4.0, 0.0], policy=Policy(sample_rows=200))
    assert outlook.sample.n_rows < 0.5 * outlook.view.n_rows


@pytest.mark.parametrize(("n_varying", "angles"), [(1, 1), (2, 1), (4, 3)])
def test_splits_start_with_a_precision_for_each_angle_of_their_hyperplane(n_varying, angles):
    rng = np.random.default_rng(0)
    X = np.zeros((60, 5))
    X[:, :n_varying] = rng.normal(size=(60, n_varying))
    outlook = survey(make_rows(X, rng.integers(2, size=60)), [0.0, 1.0, 0.0, 0.0, 0.0, 0.0])
    assert outlook.precision == pytest.approx(0.02 * angles)


def test_there_is_nothing_to_scan_where_rows_are_alike():
    outlook = survey(make_rows(np.zeros((20, 2)), np.arange(20) % 2), [0.0, 1.0, 0.0])
    assert outlook.scan is None
