"""Intervals are those of the predictive distribution, along a number or beside each level of a category."""

import numpy as np
import pytest

from bayesian_reticulum import ReticulumRegressor
from bayesian_reticulum.plots import IntervalsDisplay
from pictures import pixels
from plugins import mixed_frame
from small_models import fitted


def test_intervals_are_those_of_the_predictive_distribution():
    model, X, y = fitted("linear")
    display = IntervalsDisplay.from_estimator(model, X, y, feature=0)
    table = np.column_stack([display.grid, np.full(len(display.grid), np.median(X[:, 1]))])
    distribution = model.predict_distribution(table)
    np.testing.assert_allclose(display.mean, distribution.mean)
    for level in (0.5, 0.9):
        np.testing.assert_allclose(display.intervals[level], distribution.interval(level))
    np.testing.assert_array_equal(display.rows, X[:, 0])
    np.testing.assert_array_equal(display.values, y)


def test_the_curve_and_the_bands_are_named_one_above_the_other():
    display = IntervalsDisplay.from_estimator(fitted("constant")[0])
    names = {text.get_text(): text.get_position()[1] for text in display.ax_.texts}
    assert set(names) == {"mean", "50%", "90%"}
    assert names["mean"] < names["50%"] < names["90%"]
    pixels(display.figure_)


def test_by_default_the_feature_is_the_one_that_matters_most():
    model, *_ = fitted("linear")
    most = int(np.argmax(model.model_.feature_importances))
    assert IntervalsDisplay.from_estimator(model).name == f"x{most}"


def test_intervals_of_a_category_stand_side_by_side():
    frame, y = mixed_frame(150)
    model = ReticulumRegressor(leaf="constant", random_state=0, patience=1).fit(frame, y + 0.0)
    display = IntervalsDisplay.from_estimator(model, frame, y, feature="city")
    assert set(display.levels) == set(frame["city"].dropna())
    shown = [tick.get_text() for tick in display.ax_.get_xticklabels()]
    assert tuple(shown) == display.levels
    assert display.held == "at their median"
    pixels(display.figure_)


def test_classes_have_no_intervals():
    with pytest.raises(ValueError, match="predicts classes, which have no intervals"):
        IntervalsDisplay.from_estimator(fitted("two classes")[0])
