"""Student's t against SciPy."""

import numpy as np
import pytest
from scipy import stats

from bayesian_reticulum.distributions.mixture import Mixture
from bayesian_reticulum.distributions.student import StudentT, log_student_density


@pytest.mark.parametrize("dof", [2.0001, 2.1, 3.0, 30.0, 99.0, 101.0, 1e4, 1e9, 1e15])
def test_one_component_is_student_t(dof):
    mixture = Mixture(np.ones((1, 1)), StudentT([[dof]], [[3.0]], [[0.5]]))
    expected, bell = stats.t(dof, 3.0, 0.5), stats.norm(3.0, 0.5)
    y = np.array([-20.0, 0.0, 2.9, 3.0, 3.5, 5.0])
    tolerance = {"rtol": 1e-9, "atol": 1e-300}
    np.testing.assert_allclose(mixture.cdf(y[None])[0], expected.cdf(y), **tolerance)
    log_density = (expected if dof < 1e9 else bell).logpdf(y)
    np.testing.assert_allclose(mixture.logpdf(y[None])[0], log_density, rtol=2e-6 if dof >= 1e9 else 1e-9)
    q = [1e-12, 1e-6, 0.1, 0.5, 0.75, 0.999]
    np.testing.assert_allclose(mixture.quantile(q)[0], expected.ppf(q), rtol=1e-8)
    assert mixture.mean == pytest.approx(3.0)
    assert mixture.std == pytest.approx(expected.std())


@pytest.mark.parametrize("dof", [0.5, 3.0, 99.0, 101.0, 1e4])
def test_the_log_density_keeps_its_digits_far_out(dof):
    z = np.array([0.0, 1.0, -40.0, 1e5])
    np.testing.assert_allclose(log_student_density(np.array([[dof]]), z[None])[0], stats.t(dof).logpdf(z), rtol=1e-9)
    # Beyond all squares that a float holds the density is a power.
    far, further = log_student_density(np.array([[dof]]), np.array([[1e200, 1e201]]))[0]
    assert further - far == pytest.approx(-(dof + 1) * np.log(10))


def test_moments_that_do_not_exist_are_nan_or_infinite():
    components = StudentT([[0.5], [1.5], [4.0]], [[1.0]] * 3, [[3.0]] * 3)
    np.testing.assert_array_equal(components.mean, [[np.nan], [1.0], [1.0]])
    np.testing.assert_array_equal(components.variance, [[np.inf], [np.inf], [18.0]])


def test_some_rows_are_the_components_of_these_rows():
    components = StudentT([[3.0], [4.0]], [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], [[1.0], [2.0]])
    some = components[[2, 0]]
    np.testing.assert_array_equal(some.location, [[3.0, 1.0], [6.0, 4.0]])
    np.testing.assert_array_equal(some.scale, [[1.0], [2.0]])


def test_draws_are_of_their_component_and_row():
    components = StudentT([[3.0], [4.0]], [[-1e6, 0.0], [1e6, 2e6]], [[1.0], [1.0]])
    draws = components.draw(np.array([0, 1, 1]), np.array([0, 0, 1]), np.random.default_rng(0))
    np.testing.assert_allclose(draws, [-1e6, 1e6, 2e6], atol=100)


def test_components_say_how_many_they_are():
    assert repr(StudentT([[3.0], [4.0]], [[0.0]] * 2, [[1.0]] * 2)) == "<StudentT: 2 components>"


def test_what_is_no_students_t_is_refused():
    with pytest.raises(ValueError, match=r"scale\[0\] is 0.0; give a finite number above 0"):
        StudentT([[3.0]], [[0.0]], [[0.0]])
    with pytest.raises(ValueError, match=r"location\[0\] is inf; give a finite number"):
        StudentT([[3.0]], [[np.inf]], [[1.0]])
    with pytest.raises(ValueError, match=r"dof has shape \(2,\); it needs \(2 components, 1\)"):
        StudentT([3.0, 4.0], [[0.0]], [[1.0]])
