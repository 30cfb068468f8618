"""Every parametrization of a hyperplane keeps the same laws."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from bayesian_reticulum.paper.parametrizations import PARAMETRIZATIONS, Polar

DIMENSIONS = (1, 2, 3, 30)
every = pytest.mark.parametrize("name", PARAMETRIZATIONS)
in_all = pytest.mark.parametrize("d", DIMENSIONS)
seeds = st.integers(0, 2**32 - 1)


def draw_hyperplanes(seed, d, n=4):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, d + 1)) * 10 ** rng.uniform(-2, 2, size=(n, 1))


@every
@in_all
@given(seed=seeds)
@settings(max_examples=20)
def test_coordinates_lead_back_to_the_hyperplane(name, d, seed):
    hyperplanes = draw_hyperplanes(seed, d)
    parametrization = PARAMETRIZATIONS[name]
    back = parametrization.hyperplanes(parametrization.coordinates(hyperplanes))
    np.testing.assert_allclose(back, hyperplanes, rtol=1e-9, atol=1e-9 * np.abs(hyperplanes).max())


@every
@in_all
@given(seed=seeds)
@settings(max_examples=20)
def test_the_gradient_by_coordinates_equals_differences(name, d, seed):
    parametrization = PARAMETRIZATIONS[name]
    rng = np.random.default_rng(seed)
    coordinates = rng.normal(size=d + 1)
    curvature = rng.normal(size=d + 1)

    def height(at):
        hyperplane = parametrization.hyperplanes(at)
        return (curvature * hyperplane**2).sum() + np.sin(hyperplane).sum()

    hyperplane = parametrization.hyperplanes(coordinates)
    gradient = parametrization.gradient(coordinates, 2 * curvature * hyperplane + np.cos(hyperplane))
    steps = 1e-6 * np.eye(d + 1)
    differences = [(height(coordinates + step) - height(coordinates - step)) / 2e-6 for step in steps]
    np.testing.assert_allclose(gradient, differences, atol=2e-7 * (1 + np.abs(gradient).max()))


@in_all
@given(seed=seeds)
@settings(max_examples=20)
def test_polar_coordinates_are_stiffness_offset_and_angles(d, seed):
    hyperplanes = draw_hyperplanes(seed, d)
    polar = Polar().coordinates(hyperplanes)
    np.testing.assert_allclose(np.abs(polar[:, 1]), np.linalg.norm(hyperplanes[:, 1:], axis=1))
    np.testing.assert_allclose(polar[:, 0] * polar[:, 1], hyperplanes[:, 0])
    angles = polar[:, 2:]
    assert angles.shape[1] == d - 1
    assert (np.abs(angles) <= np.pi).all()
    assert (angles[:, :-1] >= 0).all()
    if d > 1:
        np.testing.assert_allclose(np.cos(angles[:, 0]), hyperplanes[:, 1] / polar[:, 1], atol=1e-12)


@given(
    polar=hnp.arrays(np.float64, 3, elements=st.floats(-4, 4)),
    x=hnp.arrays(np.float64, 2, elements=st.floats(-4, 4)),
)
def test_the_polar_form_in_two_dimensions_is_that_of_the_paper(polar, x):
    q, r, angle = polar
    printed = r * (q + np.cos(angle) * x[0] + np.sin(angle) * x[1])
    offset, *slopes = Polar().hyperplanes(polar)
    assert offset + slopes @ x == pytest.approx(printed, abs=1e-9)


@in_all
def test_a_hyperplane_without_slopes_has_no_stiffness(d):
    polar = Polar().coordinates(np.array([3.0, *np.zeros(d)]))
    assert np.isfinite(polar).all()
    assert polar[1] == 0


@pytest.mark.parametrize("size", [1e-200, 1e200])
def test_slopes_of_any_size_have_polar_coordinates(size):
    hyperplane = size * np.array([1.0, 2.0, -3.0, 4.0])
    np.testing.assert_allclose(Polar().hyperplanes(Polar().coordinates(hyperplane)), hyperplane)
