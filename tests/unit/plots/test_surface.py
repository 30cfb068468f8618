"""A surface shows the predictions of the model, its splits, and the names of classes where there is room."""

import itertools

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit

from bayesian_reticulum.explain import explain_rows
from bayesian_reticulum.plots import SurfaceDisplay
from pictures import DISPLAYS, pixels
from small_models import fitted


def test_a_surface_is_what_is_predicted():
    model, X, y = fitted("two classes")
    display = SurfaceDisplay.from_estimator(model, X, y, grid_resolution=7)
    points = np.stack(np.meshgrid(*display.grid), axis=-1)
    np.testing.assert_allclose(display.values, model.predict_proba(points.reshape(-1, 2)).reshape(7, 7, 2))
    # Activations, and who gets there, are those of the splits.
    activation = np.einsum("mk,xyk->mxy", display.planes[:, 1:], points) + display.planes[:, :1, None]
    for why, gate, reach in zip(
        explain_rows(model, points.reshape(-1, 2)),
        expit(activation).reshape(len(display.planes), -1).T,
        display.reach.reshape(len(display.planes), -1).T,
        strict=True,
    ):
        for decision in why.decisions:
            assert gate[decision.split] == pytest.approx(decision.probability_left, abs=1e-9)
            assert reach[decision.split] == pytest.approx(decision.reach, abs=1e-9)
    assert display.held == ""
    np.testing.assert_array_equal(display.codes, y)


def test_features_that_are_not_drawn_are_held():
    model, frame, y = fitted("categories and gaps")
    others = ["age", "city", "smokes"]
    row = frame.dropna().iloc[[3]]
    typical = {"age": frame["age"].median(), "city": frame["city"].mode()[0], "smokes": frame["smokes"].mode()[0]}
    for given, expected, held in (
        ({"row": row}, row.iloc[0], "as in the given row"),
        ({"row": row.iloc[0]}, row.iloc[0], "as in the given row"),
        ({}, typical, "at their median"),
    ):
        display = SurfaceDisplay.from_estimator(model, frame, y, features="income", **given)
        table = pd.DataFrame({"income": display.grid[0]} | {name: expected[name] for name in others})
        np.testing.assert_allclose(display.values, model.predict_proba(table[list(frame.columns)]))
        assert display.held == held
    assert SurfaceDisplay.from_estimator(model).held == "at their centre"


def test_a_row_with_gaps_is_averaged_over():
    model, frame, _ = fitted("categories and gaps")
    row = frame.iloc[[0]].assign(city=None, age=np.nan)
    display = SurfaceDisplay.from_estimator(model, row=row, features=["income"])
    table = pd.concat([row] * len(display.grid[0]), ignore_index=True).assign(income=display.grid[0])
    np.testing.assert_allclose(display.values, model.predict_proba(table), atol=1e-9)


def test_no_class_on_a_surface_lies_on_another_or_on_a_split():
    display = DISPLAYS["surface"](*fitted("long names"))
    texts = [text for text in display.ax_.texts if text.get_text()]
    assert len(texts) > 4
    display.figure_.canvas.draw()
    boxes = [text.get_window_extent() for text in texts]
    assert not any(first.overlaps(second) for first, second in itertools.combinations(boxes, 2))


def test_two_classes_have_a_scale_of_colours():
    display = DISPLAYS["surface"](*fitted("two classes"), splits=False, rows=False)
    low, even, high = display.surface_.cmap([0.0, 0.5, 1.0])[:, :3] @ [0.299, 0.587, 0.114]
    assert high - low > 0.4
    assert even - high > 0.2
    assert len(display.figure_.axes) == 2
    assert display.figure_.axes[1].get_ylabel() == "P(class 1)"
    assert len(display.plot(colorbar=False).figure_.axes) == 1


def test_more_classes_are_blended_and_without_splits_have_borders():
    display = DISPLAYS["surface"](*fitted("26 classes"), splits=False, rows=False)
    assert display.surface_.get_array().shape == (40, 40, 3)
    assert display.ax_.collections
    assert len(display.figure_.axes) == 1


def test_a_legend_names_the_marks_of_classes():
    display = SurfaceDisplay.from_estimator(*fitted("two classes"), surface=False)
    _, names = display.ax_.get_legend_handles_labels()
    assert names == ["class 0", "class 1"]


@pytest.mark.parametrize(
    ("name", "label", "n_lines"),
    [("one feature", "P(class 1)", 1), ("26 classes", "probability", 26), ("linear", "mean of y", 1)],
)
def test_along_one_feature_predictions_are_curves(name, label, n_lines):
    model, X, y = fitted(name)
    display = SurfaceDisplay.from_estimator(model, X, y, features=[0])
    assert display.ax_.get_ylabel() == label
    assert len(display.surface_) == n_lines
    pixels(display.figure_)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"features": ["height"]}, "there is no feature 'height'"),
        ({"grid_resolution": 1}, "grid_resolution must be a whole number of at least 2; got 1"),
        ({"y": [0]}, "y was given without X"),
    ],
)
def test_options_that_make_no_sense_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        SurfaceDisplay.from_estimator(fitted("categories and gaps")[0], **options)
