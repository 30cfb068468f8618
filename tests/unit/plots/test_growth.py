"""Pictures of growth show each attempt, why growth stopped, and the trees on the way."""

import numpy as np
import pytest
from sklearn.datasets import load_wine

from bayesian_reticulum import ReticulumClassifier, simplify
from bayesian_reticulum.plots import BLUE, GrowthDisplay, GrowthStripDisplay
from small_models import fitted


@pytest.fixture(scope="module")
def wine():
    X, y = load_wine(return_X_y=True, as_frame=True)
    return ReticulumClassifier(random_state=0).fit(X, y), X, y


def test_a_tree_that_is_kept_and_then_tuned_is_one_step_of_growth(wine):
    model, *_ = wine
    tuned = [event for event in model.history_ if event.phase == "tuned"]
    assert tuned
    display = GrowthDisplay.from_estimator(model)
    assert "tuned" not in display.phases
    assert len(set(zip(display.attempts[:-1], display.phases[:-1], strict=True))) == len(display.phases) - 1
    for event in tuned:
        (place,) = np.flatnonzero((display.attempts == event.attempt) & (np.array(display.phases) == "kept"))
        assert display.log_evidence[place] == event.log_evidence


def test_growth_on_larger_samples_is_drawn_in_parts():
    phases = ("start", "start", "kept", "rejected", "start", "kept", "polished")
    log_evidence = np.array([-900.0, -90.0, -50.0, -50.0, -510.0, -500.0, -499.0])
    display = GrowthDisplay(
        np.array([0, 0, 1, 2, 2, 3, 3]), phases, log_evidence, np.array([0, 0, 2, 2, 2, 3, 3]), "no_gain"
    ).plot()
    first, second = (line.get_xydata() for line in display.lines_)
    np.testing.assert_array_equal(first, [[0, 0], [1, 40], [2, 40]])
    np.testing.assert_array_equal(second, [[3, 0], [4, 10], [4, 11]])
    assert "more rows" in [text.get_text() for text in display.ax_.texts]


@pytest.mark.parametrize(
    ("reason", "shown"),
    [
        ("no_gain", "the last 2 attempts gained nothing"),
        ("max_splits", "all splits were used"),
        ("max_attempts", "all attempts were made"),
        ("max_depth", "the tree is as deep as it may be"),
    ],
)
def test_growth_says_why_it_stopped(reason, shown):
    phases = ("start", "kept", "rejected", "rejected", "polished")
    display = GrowthDisplay(np.array([0, 1, 2, 3, 3]), phases, np.linspace(-9, -5, 5), np.arange(5), reason).plot()
    assert display.ax_.get_title(loc="left").endswith(f"stopped: {shown}")


def test_numbers_of_splits_stand_above_the_trees_that_changed():
    phases = ("start", "kept", "rejected", "kept", "polished")
    display = GrowthDisplay(
        np.array([0, 1, 2, 3, 3]), phases, np.linspace(-9, -5, 5), np.array([0, 1, 1, 3, 3]), "no_gain"
    ).plot()
    assert [text.get_text() for text in display.ax_.texts] == ["1", "3"]


def test_simplified_steps_are_shown():
    X, y = load_wine(return_X_y=True, as_frame=True)
    model = ReticulumClassifier(random_state=0, patience=1).fit(X, y)
    simpler = simplify(model, X, y).estimator
    display = GrowthDisplay.from_estimator(simpler)
    assert "simplified" in display.phases
    assert "simplified" in [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert GrowthStripDisplay.from_estimator(simpler).frames[-1].phase == "simplified"


def test_a_strip_ends_with_the_tree_of_the_model():
    model, X, y = fitted("26 classes")
    kept = [event for event in model.history_ if event.phase == "kept"]
    display = GrowthStripDisplay.from_estimator(model, X, y, n_frames=3)
    assert len(display.frames) == len(display.axes_) == min(3, len(kept))
    np.testing.assert_array_equal(display.frames[-1].tree.hyperplanes, model.model_.tree.hyperplanes)
    assert display.frames[0].attempt == kept[0].attempt
    (only,) = GrowthStripDisplay.from_estimator(model, n_frames=1).frames
    assert only.tree.n_splits == model.n_splits_


def test_frames_of_two_numbers_show_the_splits_of_their_own_tree():
    model, X, y = fitted("two classes")
    display = GrowthStripDisplay.from_estimator(model, X, y)
    assert display.names == ("x0", "x1")
    for frame, planes, reach in zip(display.frames, display.planes, display.reach, strict=True):
        assert len(planes) == len(reach) == frame.tree.n_splits
    last = model.model_.hyperplanes
    np.testing.assert_allclose(display.planes[-1], last, atol=1e-9)


def test_new_splits_of_a_shape_are_blue(wine):
    display = GrowthStripDisplay.from_estimator(wine[0])
    assert display.names == ()
    before = set()
    for frame, ax in zip(display.frames, display.axes_, strict=True):
        colours = [line.get_color() for line in ax.lines[-frame.tree.n_splits :]]
        assert [colour == BLUE for colour in colours] == [split not in before for split in frame.tree.ids.tolist()]
        before = set(frame.tree.ids.tolist())


def test_at_least_one_frame_is_drawn():
    with pytest.raises(ValueError, match="n_frames must be a whole number of at least 1; got 0"):
        GrowthStripDisplay.from_estimator(fitted("two classes")[0], n_frames=0)
