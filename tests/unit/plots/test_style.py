"""Colours stay apart for everyone, and text fits where it is written."""

import itertools

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.colors import to_rgb

from bayesian_reticulum.plots import class_colours
from bayesian_reticulum.plots.style import (
    Display,
    colour_scale,
    counted,
    halo,
    name_axis,
    number_box,
    quiet,
    shared_widths,
    short_number,
    shortened,
    text_width,
    write,
    write_held,
)
from pictures import pixels


@pytest.mark.parametrize("n", range(2, 9))
def test_colours_stay_apart_for_the_colour_blind(n):
    # Viénot, Brettel and Mollon's projections for protanopes and deuteranopes, on linear light.
    projections = [
        np.array([[0.11238, 0.88762, 0.0], [0.11238, 0.88762, -0.0], [0.00401, -0.00401, 1.0]]),
        np.array([[0.29275, 0.70725, 0.0], [0.29275, 0.70725, -0.0], [-0.02234, 0.02234, 1.0]]),
    ]
    light = np.array([to_rgb(colour) for colour in class_colours(n)]) ** 2.2
    for projection in projections:
        seen = np.clip(light @ projection.T, 0, 1) ** (1 / 2.2)
        for first, second in itertools.combinations(seen, 2):
            assert np.linalg.norm(first - second) > 0.18


def luminance(colours):
    return np.array([to_rgb(colour) for colour in colours]) @ [0.299, 0.587, 0.114]


@pytest.mark.parametrize(("n", "least"), [(2, 0.4), (3, 0.12), (4, 0.12), (5, 0.12)])
def test_few_colours_stay_apart_in_grey(n, least):
    grey = np.sort(luminance(class_colours(n)))
    assert np.diff(grey).min() > least
    # None is lost on white.
    assert grey[-1] < 0.85


def test_colours_that_follow_each_other_are_dark_and_light():
    assert np.abs(np.diff(luminance(class_colours(8)))).min() > 0.1


def test_many_colours_run_from_dark_to_light():
    assert (np.diff(luminance(class_colours(26))) > 0).all()


def test_a_probability_is_dark_white_or_light_in_grey():
    low, even, high = luminance(colour_scale(True)([0.0, 0.5, 1.0])[:, :3])
    assert high - low > 0.4
    assert even - high > 0.2


@pytest.mark.parametrize("has_classes", [True, False])
def test_a_weaker_scale_is_nearer_to_white(has_classes):
    strong, weak = (colour_scale(has_classes, strength)(np.linspace(0, 1, 9))[:, :3] for strength in (1.0, 0.5))
    np.testing.assert_allclose(weak, 1 - 0.5 * (1 - strong))


@pytest.mark.parametrize("width", [5, 20, 40, 80, 1000])
def test_a_shortened_text_fits_and_keeps_its_ends(width):
    text = "petal length (cm)"
    short = shortened(text, width, 10.0)
    assert text_width(short, 10.0) <= width or len(short) == 2
    assert short == text or (short[0] == "p" and "…" in short)
    assert width < 1000 or short == text


def test_shared_widths_are_no_wider_than_there_is():
    assert shared_widths([10.0, 200.0, 300.0], 210.0) == [10.0, 100.0, 100.0]
    assert shared_widths([10.0, 20.0], 100.0) == [10.0, 20.0]
    assert shared_widths([], 10.0) == []


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.0, "0"), (1.2345, "1.23"), (-12.345, "−12.3"), (12345.6, "12346"), (0.00123, "0.00123"), (1e-7, "1e−07")],
)
def test_numbers_have_three_digits_and_rarely_a_power_of_ten(value, text):
    assert short_number(value) == text


@pytest.mark.parametrize(("n", "text"), [(0, "0 splits"), (1, "1 split"), (7, "7 splits")])
def test_things_are_counted(n, text):
    assert counted(n, "split") == text


def test_a_display_is_drawn_on_new_axes_or_on_those_given():
    display = Display()
    ax = display._open(None, (3.0, 2.0))
    assert display.ax_ is ax
    assert tuple(ax.figure.get_size_inches()) == (3.0, 2.0)
    other = plt.figure().add_subplot()
    assert display._open(other, (3.0, 2.0)) is other
    assert display.figure_ is other.figure


def test_names_are_written_as_they_are_and_long_ones_are_shortened():
    ax = plt.figure().add_subplot()
    quiet(ax)
    name_axis(ax.xaxis, "a $x$ & $y")
    name_axis(ax.yaxis, "a\n" + 300 * "long")
    assert ax.get_xlabel() == "a $x$ & $y"
    assert ax.get_ylabel().startswith("a\\nlong")
    assert "…" in ax.get_ylabel()
    write(ax, 0.5, 0.5, "$up$ <i>", 9, bbox=number_box(), path_effects=halo())
    write_held(ax, "")
    assert ax.get_title(loc="left") == ""
    write_held(ax, "at their median")
    assert ax.get_title(loc="left") == "other features at their median"
    pixels(ax.figure)
