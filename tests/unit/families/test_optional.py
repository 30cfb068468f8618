"""Optional members of families, and what stands in for them."""

import numpy as np
import pytest

from bayesian_reticulum.families import (
    DirichletCategorical,
    NormalLinear,
    class_probabilities,
    is_categorical,
    leaf_coefficients,
    leaf_interval,
    leaf_middle,
)
from plugins import GammaPoisson

CLASSES = DirichletCategorical((0.5, 1.0, 2.0))
COUNTS = GammaPoisson()
CONSTANT = NormalLinear(center=5.0, scale=2.0)
PLANE = NormalLinear(n_slopes=2, center=5.0, scale=2.0)
ALONG_A_BASIS = NormalLinear(n_slopes=1, basis=[[0.6], [0.8]])


class WithoutOptionalMembers:
    """A linear family that has the members of the protocol alone."""

    uses_design = True

    def __init__(self, family):
        self._family = family

    def predictive_mean(self, statistics, membership, design):
        return self._family.predictive_mean(statistics, membership, design)

    def describe(self, statistics, names, linear):
        return self._family.describe(statistics, names, linear)


class Silent(WithoutOptionalMembers):
    def describe(self, statistics, names, linear):
        return "a plane"


def leaf_of(family, n=50):
    rng = np.random.default_rng(0)
    design = np.concatenate([np.ones((1, n)), rng.normal(size=(2, n))])
    targets = rng.integers(3, size=n) if family is CLASSES else rng.poisson(5.0, size=n)
    return family.row_statistics(design, targets).sum(axis=0), design


def test_classes_are_known_by_the_family():
    assert is_categorical(CLASSES)
    assert not is_categorical(CONSTANT)
    assert not is_categorical(COUNTS)


def test_class_probabilities_are_those_of_the_family():
    statistics, _ = leaf_of(CLASSES)
    np.testing.assert_array_equal(class_probabilities(CLASSES, statistics), CLASSES.probabilities(statistics))


@pytest.mark.parametrize("family", [CLASSES, CONSTANT, PLANE])
def test_an_interval_is_about_the_mean(family):
    statistics, _ = leaf_of(family)
    mean, low, high = leaf_interval(family, statistics, 0.9)
    assert mean.shape == ((3,) if family is CLASSES else (1,))
    assert np.all((low < mean) & (mean < high))
    assert all(map(np.array_equal, (mean, low, high), family.interval(statistics, 0.9)))


def test_without_an_interval_the_mean_is_known_and_its_limits_are_not():
    statistics, _ = leaf_of(COUNTS)
    mean, low, high = leaf_interval(COUNTS, statistics, 0.9)
    np.testing.assert_allclose(mean, [(COUNTS.shape + statistics[1]) / (COUNTS.rate + statistics[0])])
    assert np.isnan(low).all()
    assert np.isnan(high).all()


def test_a_linear_family_without_an_interval_has_its_mean_at_the_mean_of_all_rows():
    statistics, _ = leaf_of(PLANE)
    mean, low, _ = leaf_interval(WithoutOptionalMembers(PLANE), statistics, 0.9)
    np.testing.assert_allclose(mean, PLANE.coefficients(statistics)[:1])
    assert np.isnan(low).all()


@pytest.mark.parametrize("family", [PLANE, ALONG_A_BASIS])
def test_coefficients_are_those_of_the_predictive_mean(family):
    statistics, design = leaf_of(family)
    coefficients = leaf_coefficients(family, statistics)
    assert coefficients.shape == (3,)
    mean = family.predictive_mean(statistics[None], np.ones((1, design.shape[1])), design)
    np.testing.assert_allclose(coefficients @ design, mean)


def test_without_coefficients_a_linear_family_is_asked_for_its_description():
    statistics, _ = leaf_of(PLANE)
    described = leaf_coefficients(WithoutOptionalMembers(PLANE), statistics)
    np.testing.assert_array_equal(described, leaf_coefficients(PLANE, statistics))
    assert leaf_coefficients(Silent(PLANE), statistics) is None


@pytest.mark.parametrize("family", [CLASSES, COUNTS, CONSTANT])
def test_constant_leaves_have_no_coefficients_and_their_middle_is_that_of_all_rows(family):
    statistics, _ = leaf_of(family)
    assert leaf_coefficients(family, statistics) is None
    np.testing.assert_array_equal(leaf_middle(family, statistics, 2), [[1.0], [0.0], [0.0]])


def test_the_middle_of_a_linear_leaf_is_the_mean_of_its_rows():
    statistics, design = leaf_of(PLANE)
    np.testing.assert_allclose(leaf_middle(PLANE, statistics, 2)[:, 0], design.mean(axis=1))
    np.testing.assert_array_equal(leaf_middle(WithoutOptionalMembers(PLANE), statistics, 2), [[1.0], [0.0], [0.0]])


def test_the_middle_along_a_basis_is_a_design_of_all_features():
    statistics, design = leaf_of(ALONG_A_BASIS)
    middle = leaf_middle(ALONG_A_BASIS, statistics, 2)
    np.testing.assert_allclose([0.6, 0.8] @ middle[1:, 0], [0.6, 0.8] @ design[1:].mean(axis=1))
