"""A surface in space has the height of a prediction, and names that can be read."""

import itertools

import matplotlib.pyplot as plt
import numpy as np
import pytest

from bayesian_reticulum.plots import Surface3DDisplay
from bayesian_reticulum.plots.surface3d import _mixed
from pictures import DISPLAYS, pixels
from small_models import fitted


@pytest.mark.parametrize(
    ("name", "label"),
    [("two classes", "P(class 1)"), ("26 classes", "P(most probable class)"), ("linear", "mean of y")],
)
def test_the_height_is_named(name, label):
    display = DISPLAYS["space"](*fitted(name))
    assert display.ax_.get_zlabel() == label
    assert display.ax_.get_xlabel() == "x0"
    pixels(display.figure_)


def test_no_class_on_a_surface_lies_on_another():
    display = DISPLAYS["space"](*fitted("long names"))
    texts = [text for text in display.ax_.texts if text.get_text()]
    assert len(texts) > 4
    display.figure_.canvas.draw()
    boxes = [text.get_window_extent() for text in texts]
    assert not any(first.overlaps(second) for first, second in itertools.combinations(boxes, 2))


def test_rows_may_be_left_out():
    display = DISPLAYS["space"](*fitted("two classes"))
    with_rows = len(display.ax_.collections)
    assert len(display.plot(rows=False).ax_.collections) == with_rows - 1


def test_colours_of_classes_are_mixed_by_their_probabilities():
    colours = _mixed(np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.5, 0.5, 0.0], [0.9, 0.1, 0.0]]))
    np.testing.assert_allclose(colours[2], (colours[0] + colours[1]) / 2)
    assert np.abs(colours[3] - colours[0]).max() < 0.01


def test_one_feature_or_flat_axes_are_refused():
    with pytest.raises(ValueError, match="a surface needs two features that are numbers"):
        Surface3DDisplay.from_estimator(fitted("one feature")[0])
    with pytest.raises(ValueError, match='needs axes in space: make them with projection="3d"'):
        Surface3DDisplay.from_estimator(fitted("two classes")[0], ax=plt.figure().add_subplot())
