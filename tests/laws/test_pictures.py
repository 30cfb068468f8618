"""Every picture can be drawn of every tree, can be read, and needs Matplotlib only when it is drawn."""

import subprocess
import sys

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.text import Text

from bayesian_reticulum import ReticulumClassifier, ReticulumRegressor
from bayesian_reticulum.plots import IntervalsDisplay
from pictures import DISPLAYS, assert_readable, pixels
from small_models import MODELS, fitted

# Displays that make no sense, and the error that says so.
REFUSED = {
    ("intervals", "classes"): "predicts classes, which have no intervals. SurfaceDisplay draws their probabilities",
    ("space", "one feature"): "a surface needs two features that are numbers. SurfaceDisplay draws a curve along one",
}
NUMBERS = {"linear", "constant", "counts"}


@pytest.fixture(autouse=True)
def _no_figure_stays_open():
    yield
    plt.close("all")


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("kind", DISPLAYS)
def test_every_display_of_every_tree_is_drawn(kind, name):
    model, X, y = fitted(name)
    refused = REFUSED.get((kind, name if name in NUMBERS or kind != "intervals" else "classes"))
    if refused:
        with pytest.raises(ValueError, match=refused):
            DISPLAYS[kind](model, X, y)
        return
    display = DISPLAYS[kind](model, X, y)
    width, height = display.figure_.get_size_inches()
    assert pixels(display.figure_) == pytest.approx((50 * width, 50 * height), abs=1)
    assert 2 < width < 16
    assert 0.5 < height < 16
    assert display.ax_.figure is display.figure_


@pytest.mark.parametrize("kind", DISPLAYS)
def test_axes_may_be_given(kind):
    model, X, y = fitted("linear" if kind == "intervals" else "two classes")
    figure, (_, ax) = plt.subplots(
        1, 2, figsize=(8, 3), layout="constrained", subplot_kw={"projection": "3d"} if kind == "space" else None
    )
    display = DISPLAYS[kind](model, X, y, ax=ax)
    assert display.ax_ is ax
    assert display.figure_ is figure
    assert len(plt.get_fignums()) == 1
    assert pixels(figure) == (400, 150)
    assert display.plot() is display
    assert display.figure_ is not figure


@pytest.mark.parametrize("kind", DISPLAYS)
def test_an_estimator_without_fit_is_refused(kind):
    with pytest.raises(ValueError, match=r"ReticulumClassifier is not a fitted reticulum\. Call fit first"):
        DISPLAYS[kind](ReticulumClassifier(), None, None)


@pytest.mark.parametrize("kind", ["growth", "strip", "importances"])
@pytest.mark.parametrize("name", ["long names", "two classes", "500 features"])
def test_no_label_lies_on_another(kind, name):
    display = DISPLAYS[kind](*fitted(name))
    axes = [display.ax_, *getattr(display, "axes_", [])]
    texts = [text for ax in axes for text in (*ax.texts, ax.xaxis.label, ax.yaxis.label)]
    texts += [child for ax in axes for child in ax.get_children() if isinstance(child, Text)]
    if kind == "importances":
        texts += display.ax_.get_yticklabels()
    assert_readable(display.figure_, list(dict.fromkeys(texts)))


def test_names_are_shown_as_they_are():
    names = ["a $x$ & $y", "<b>bold</b>", "a\nb", "50% \\alpha_{1}"]
    X = pd.DataFrame(np.random.default_rng(0).normal(size=(120, 4)), columns=names)
    y = np.where(X.to_numpy().sum(axis=1) > 0, "$up$ <i>", "do$wn")
    model = ReticulumClassifier(random_state=0, patience=1).fit(X, y)
    drawn = {kind: DISPLAYS[kind](model, X, y) for kind in DISPLAYS if kind != "intervals"}
    for display in drawn.values():
        pixels(display.figure_)
    pixels(
        IntervalsDisplay.from_estimator(ReticulumRegressor(patience=1, leaf="constant").fit(X, X.iloc[:, 0])).figure_
    )
    assert any("$up$ <i>" in text.get_text() for text in drawn["tree"].texts_)


def test_matplotlib_is_asked_for_when_something_is_drawn(monkeypatch):
    model, X, y = fitted("two classes")
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    for kind in ("growth", "importances", "space", "strip", "surface", "tree"):
        with pytest.raises(ImportError, match=r"pip install 'bayesian-reticulum\[plots\]'"):
            DISPLAYS[kind](model, X, y)


def test_matplotlib_is_not_imported_before():
    code = "import sys, bayesian_reticulum, bayesian_reticulum.plots; sys.exit('matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], timeout=60).returncode == 0
