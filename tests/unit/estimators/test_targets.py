"""Targets: what is refused, brought in, or known to within its rounding alone."""

import numpy as np
import pandas as pd
import pytest

from bayesian_reticulum.estimators.targets import (
    check_labels,
    check_row_statistics,
    check_target_size,
    clip_wild_targets,
    rounding_variance,
    target_units,
    with_rounding,
)
from bayesian_reticulum.families import NormalLinear


@pytest.mark.parametrize("y", [["a", None], pd.Series(["a", None]), np.array(["a", np.nan], dtype=object)])
def test_labels_that_are_missing_are_refused_by_their_place(y):
    with pytest.raises(ValueError, match=r"Input y contains NaN: y\[1\] is missing. Leave out rows"):
        check_labels(y)


@pytest.mark.parametrize("y", [["a", "b"], np.array([1.0, np.nan]), None, pd.Series([1, 2])])
def test_labels_that_scikit_learn_checks_itself_are_let_through(y):
    check_labels(y)


def test_targets_whose_squares_overflow_or_vanish_are_refused():
    check_target_size(np.array([-1e150, 0.0]))
    with pytest.raises(ValueError, match=r"y has a target of size 1e\+151, beyond 1e\+150"):
        check_target_size(np.array([-1e151, 0.0]))
    with pytest.raises(ValueError, match=r"y varies by no more than .*Multiply all targets"):
        target_units(np.array([0.0, 1e-160]), np.ones(2))


def test_units_of_targets_are_mean_and_deviation():
    y = np.random.default_rng(0).normal(50, 4, size=1000)
    center, scale = target_units(y, np.ones(1000))
    assert center == pytest.approx(y.mean(), abs=0.05)
    assert scale == pytest.approx(y.std(), rel=0.05)


@pytest.mark.parametrize(
    ("used", "row"), [(slice(None), 5), (np.arange(100, 200), 105)], ids=["all rows", "rows with a weight"]
)
def test_wild_targets_are_brought_in_and_named_by_their_row_in_the_table(used, row):
    y = np.random.default_rng(0).normal(size=100)
    np.testing.assert_array_equal(clip_wild_targets(y, np.ones(100), used), y)
    y[5] = -1e5
    with pytest.warns(UserWarning, match=rf"y\[{row}\] = -100000 lies more than 100 standard deviations"):
        clipped = clip_wild_targets(y, np.ones(100), used)
    assert clipped[5] == pytest.approx(-100, rel=0.3)
    np.testing.assert_array_equal(np.delete(clipped, 5), np.delete(y, 5))


@pytest.mark.parametrize("unit", [1.0, 0.01])
def test_rounding_has_the_variance_of_a_uniform_distribution(unit):
    y = unit * np.arange(30.0)
    assert rounding_variance(y, np.ones(30), 10 * unit) == pytest.approx(unit**2 / 12)
    np.testing.assert_allclose(with_rounding(y, np.ones(30), 10 * unit)[:, 1], unit**2 / 12)
    np.testing.assert_array_equal(with_rounding(y, np.ones(30), 10 * unit)[:, 0], y)
    assert rounding_variance(np.full(5, 3.0), np.ones(5), 1.0) == 0


class Shapeless(NormalLinear):
    def row_statistics(self, design, targets):
        return super().row_statistics(design, targets)[:, :2]


class Picky(NormalLinear):
    def row_statistics(self, design, targets):
        return np.where(np.arange(len(targets))[:, None] == 1, np.nan, super().row_statistics(design, targets))


class Positive(NormalLinear):
    """Takes targets that are not above zero for impossible."""

    def are_possible(self, statistics):
        return super().are_possible(statistics) & (statistics[..., 1] >= 0)


def test_targets_that_a_family_takes_for_impossible_are_refused():
    design, y = np.ones((1, 3)), np.array([1.0, -2.0, 3.0])
    with pytest.raises(ValueError, match=r"takes y\[8\] = -2 for impossible\. Leave such rows out"):
        check_row_statistics(Positive(), design, y, np.array([7, 8, 9]))


def test_families_that_do_not_fit_the_rows_are_refused():
    design, y = np.ones((1, 3)), np.array([1.0, 2.0, 3.0])
    check_row_statistics(NormalLinear(), design, y, slice(None))
    with pytest.raises(ValueError, match=r"gives statistics of shape \(3, 2\) for 3 rows, and not \(3, 3\)"):
        check_row_statistics(Shapeless(), design, y, slice(None))
    with pytest.raises(ValueError, match=r"has no finite statistics for y\[8\] = 2. Leave such rows out"):
        check_row_statistics(Picky(), design, y, np.array([7, 8, 9]))
