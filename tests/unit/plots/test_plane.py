"""A soft split is a line in a band, and rows are marks of their classes."""

import matplotlib.pyplot as plt
import numpy as np
import pytest

from bayesian_reticulum.plots.plane import axis_ends, draw_rows, draw_soft_point, draw_soft_split, image_style
from pictures import pixels

GRID = np.linspace(-0.95, 0.95, 20), np.linspace(-1.9, 1.9, 20)
EVERYWHERE = np.ones((20, 20))


@pytest.fixture
def ax():
    return plt.figure().add_subplot()


def test_an_image_covers_whole_cells():
    assert axis_ends(GRID[0]) == pytest.approx((-1.0, 1.0))
    assert image_style(GRID)["extent"] == pytest.approx((-1.0, 1.0, -2.0, 2.0))


def test_the_line_of_a_split_is_where_its_activation_is_zero(ax):
    plane = np.array([0.3, 4.0, -2.0])
    (place,) = draw_soft_split(ax, GRID, plane, EVERYWHERE, "7")
    for line in ax.lines:
        x, y = line.get_xydata().T
        np.testing.assert_allclose(plane[0] + plane[1] * x + plane[2] * y, 0, atol=1e-9)
        assert (np.abs(x) <= 1 + 1e-9).all()
        assert (np.abs(y) <= 2 + 1e-9).all()
    assert [text.get_text() for text in ax.texts] == ["7"]
    assert plane[0] + plane[1:] @ place == pytest.approx(0, abs=1e-9)


def test_the_band_is_where_the_gate_is_between_10_and_90_percent(ax):
    draw_soft_split(ax, GRID, np.array([0.0, 4.0, 0.0]), EVERYWHERE, opacity=0.5)
    (band,) = ax.images
    opacity = band.get_array()[..., 3]
    gate = 1 / (1 + np.exp(-4.0 * GRID[0]))
    is_soft = (gate > 0.1) & (gate < 0.9)
    assert opacity[0, is_soft].max() == 0.5
    # But for the smooth edge, one cell wide.
    assert (opacity[0, (gate < 0.05) | (gate > 0.95)] == 0).all()


def test_a_split_is_as_strong_as_the_probability_to_come_there(ax):
    reach = np.tile(np.linspace(0, 1, 20)[:, None], (1, 20))
    draw_soft_split(ax, GRID, np.array([0.0, 4.0, 0.0]), reach)
    strengths = [line.get_alpha() for line in ax.lines]
    assert strengths == sorted(strengths)
    assert strengths == pytest.approx(np.arange(1, 11) / 10)


@pytest.mark.parametrize("plane", [[0.5, 0.0, 0.0], [99.0, 1.0, 1.0]])
def test_a_split_without_a_line_in_view_has_no_name(ax, plane):
    assert draw_soft_split(ax, GRID, np.array(plane), EVERYWHERE, "0") == []
    assert not ax.texts
    pixels(ax.figure)


def test_a_split_that_no_row_reaches_has_no_name(ax):
    assert draw_soft_split(ax, GRID, np.array([0.0, 4.0, 0.0]), 0.01 * EVERYWHERE, "0") == []
    assert not ax.texts


def test_a_split_along_one_feature_is_a_line_in_a_band(ax):
    draw_soft_point(ax, GRID[0], np.array([-1.0, 4.0]), np.ones(20), "3")
    (line,) = ax.lines
    assert line.get_xdata()[0] == 0.25
    (band,) = ax.patches
    assert (band.get_x(), band.get_x() + band.get_width()) == pytest.approx(
        (0.25 - np.log(9) / 4, 0.25 + np.log(9) / 4)
    )
    assert ax.texts[0].get_text() == "3"


def test_a_split_that_ignores_the_feature_is_not_drawn(ax):
    draw_soft_point(ax, GRID[0], np.array([-1.0, 0.0]), np.ones(20), "3")
    assert not ax.lines
    assert not ax.patches


def test_each_class_has_a_mark_and_a_name(ax):
    rng = np.random.default_rng(0)
    draw_rows(ax, rng.normal(size=(60, 2)), np.arange(60) % 3, ("a", "b", "2"), on_surface=True)
    assert ax.get_legend_handles_labels()[1] == ["a", "b", "class 2"]
    drawn = sum(len(collection.get_offsets()) for collection in ax.collections)
    assert drawn == 60


@pytest.mark.parametrize("codes", [None, np.arange(60) % 9])
def test_numbers_and_many_classes_have_one_mark(ax, codes):
    rows = np.random.default_rng(0).normal(size=(60, 2))
    draw_rows(ax, rows, codes, tuple("abcdefghi"), on_surface=False)
    (marks,) = ax.collections
    assert len(marks.get_offsets()) == 60
