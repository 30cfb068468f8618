"""What laws try a family out on, and how they say that it is broken."""

import numpy as np
import pytest

from bayesian_reticulum.families import DirichletCategorical
from bayesian_reticulum.testing.case import Case, agree, hold

CASE = Case(DirichletCategorical((0.5, 0.5)), lambda rng, n: rng.integers(2, size=n), n_features=3)


def test_rows_have_a_design_targets_and_statistics():
    design, targets, statistics = CASE.rows(np.random.default_rng(0), 5)
    assert design.shape == (4, 5)
    np.testing.assert_array_equal(design[0], 1.0)
    np.testing.assert_array_equal(statistics, np.eye(2)[targets])


def test_leaves_are_one_without_rows_one_with_few_and_one_with_many():
    counts = CASE.family.counts(CASE.leaves(np.random.default_rng(0)))
    assert counts[0] == 0
    assert 0 < counts[1] < 12
    assert counts[2] > 50


def test_leading_axes_of_statistics_are_those_asked_for():
    assert CASE.statistics(np.random.default_rng(0), 2, 3).shape == (2, 3, 2)
    assert CASE.statistics(np.random.default_rng(0)).shape == (2,)


def test_what_is_no_predictive_distribution_is_refused():
    class Number(DirichletCategorical):
        def predictive(self, statistics, membership, design):
            return 0.5

    case = Case(Number((0.5, 0.5)), CASE.draw_targets)
    with pytest.raises(
        AssertionError, match=r"expected a Mixture or ClassDistribution of 4 rows, found 0\.5\. Look at"
    ):
        case.predictive(case.leaves(np.random.default_rng(0)), np.ones((3, 4)) / 3, np.ones((3, 4)))


def test_what_does_not_hold_is_said_with_where_to_look():
    hold(True, "nothing", "nowhere")
    with pytest.raises(AssertionError, match=r"^expected 1, found 2\. Look at counts\.$"):
        hold(False, "expected 1, found 2", "counts")


def test_numbers_agree_up_to_the_tolerance_in_their_unit():
    agree([1.0, np.inf], [1.0 + 1e-9, np.inf], "numbers", "them")
    agree(100.0, 101.0, "numbers", "them", unit=1e8)
    with pytest.raises(AssertionError, match=r"^numbers at \[1\]: expected 2, found 2\.1\. Look at them\.$"):
        agree([1.0, 2.1], [1.0, 2.0], "numbers", "them")
    with pytest.raises(AssertionError, match=r"numbers: expected shape \(2,\), found \(\)"):
        agree(1.0, [1.0, 2.0], "numbers", "them")
    with pytest.raises(AssertionError, match="numbers: expected 1, found nan"):
        agree(np.nan, 1.0, "numbers", "them")
