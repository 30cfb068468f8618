"""Warnings point at the line of the user's code that called the package."""

import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from bayesian_reticulum import ReticulumClassifier, ReticulumRegressor, simplify
from bayesian_reticulum.estimators.callers import warn_caller
from example_tables import line


def assert_points_here(caught):
    assert [Path(warning.filename).name for warning in caught] == [Path(__file__).name] * len(caught)


def test_a_warning_points_at_the_line_that_called_the_package():
    with pytest.warns(UserWarning, match="mind the gap") as caught:
        warn_caller("mind the gap")
    assert_points_here(caught)


def test_warnings_of_a_fit_point_at_the_line_of_the_fit():
    X, y = line(60)
    y[7] = 1e6
    with pytest.warns(UserWarning, match=r"y\[7\] = 1e\+06 lies more than") as caught:
        reg = ReticulumRegressor(random_state=0, leaf="constant", max_attempts=0).fit(X, y)
    assert_points_here(caught)
    with pytest.warns(UserWarning, match=r"y\[7\] = 1e\+06 lies more than") as caught:
        simplify(reg, X, y)
    assert_points_here(caught)
    with pytest.warns(UserWarning, match="all of them rare") as caught:
        ReticulumClassifier(max_attempts=0).fit(pd.DataFrame({"id": [f"id {k}" for k in range(60)]}), y > 0)
    assert_points_here(caught)


def test_a_fit_without_a_reason_does_not_warn():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ReticulumClassifier(max_attempts=0).fit(np.zeros((4, 1)), [0, 1, 0, 1])
