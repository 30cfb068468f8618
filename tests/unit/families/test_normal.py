"""Numbers with normal noise about a constant or a linear function of the features."""

import copy
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import t as student

from bayesian_reticulum.families.normal import NormalLinear

seeds = st.integers(0, 2**32 - 1)


def rows(n, d, seed=0):
    """A design and targets that are linear in it, with noise."""
    rng = np.random.default_rng(seed)
    design = np.vstack([np.ones(n), rng.normal(size=(d, n))])
    return design, rng.normal(size=d + 1) @ design + 0.3 * rng.normal(size=n)


def test_a_constant_leaf_is_the_textbook_posterior():
    # Two targets, -1 and 2, under Normal(offset, variance) with offset ~ Normal(0, variance / 0.5) and variance ~
    # InverseGamma(2, 1): posterior precision 2.5, mean 0.4, shape 3 and rate 1 + (5 - 0.4) / 2.
    family = NormalLinear(offset_precision=0.5, shape=2.0, rate=1.0)
    statistics = family.row_statistics(None, np.array([-1.0, 2.0])).sum(axis=0)[None]
    prediction = family.predictive(statistics, np.ones((1, 1)), np.ones((2, 1)))
    components = prediction.components
    assert components.dof.item() == pytest.approx(6.0, rel=1e-12)
    assert components.location.item() == pytest.approx(0.4, rel=1e-12)
    assert components.scale.item() == pytest.approx(np.sqrt(3.3 / 3.0 * (1 + 1 / 2.5)), rel=1e-12)


@given(seed=seeds)
def test_units_of_the_targets_do_not_matter(seed):
    rng = np.random.default_rng(seed)
    design = np.vstack([np.ones(9), rng.normal(size=(2, 9))])
    targets = rng.normal(size=9)
    standard, other = NormalLinear(2), NormalLinear(2, center=7.0, scale=0.01)
    one, two = (
        family.row_statistics(design, family.center + family.scale * targets).sum(axis=0)
        for family in (standard, other)
    )
    np.testing.assert_allclose(two, one, rtol=1e-9, atol=1e-9)
    # A density is a density per unit.
    assert other.log_evidence(two) == pytest.approx(standard.log_evidence(one) - 9 * np.log(0.01), rel=1e-9)


@given(seed=seeds)
def test_targets_of_unknown_rounding_have_expected_statistics(seed):
    rng = np.random.default_rng(seed)
    family = NormalLinear(1, center=1.0, scale=3.0)
    design = np.vstack([np.ones(5), rng.normal(size=5)])
    mean, variance = rng.normal(size=5), rng.uniform(0.1, 2.0, size=5)
    ends = [family.row_statistics(design, mean + sign * np.sqrt(variance)) for sign in (-1, 1)]
    expected = family.row_statistics(design, np.column_stack([mean, variance]))
    np.testing.assert_allclose(expected, sum(ends) / 2, rtol=1e-9, atol=1e-9)


def test_a_linear_leaf_is_ridge_regression():
    design, y = rows(40, 2)
    family = NormalLinear(2, slope_precisions=(0.7,), offset_precision=0.3)
    leaf = family.row_statistics(design, y).sum(axis=0)
    expected = np.linalg.solve(design @ design.T + np.diag([0.3, 0.7, 0.7]), design @ y)
    np.testing.assert_allclose(family.coefficients(leaf), expected)
    mean = family.predictive_mean(leaf[None], np.ones((1, 40)), design)
    np.testing.assert_allclose(mean, expected @ design)
    np.testing.assert_allclose(family.residuals(design, y, leaf), np.column_stack([y - mean, np.zeros(40)]))


def test_a_basis_of_the_features_themselves_changes_nothing():
    design, y = rows(30, 2)
    plain, along = NormalLinear(2), NormalLinear(2, basis=np.eye(2))
    one, two = (family.row_statistics(design, y).sum(axis=0) for family in (plain, along))
    np.testing.assert_allclose(two, one)
    np.testing.assert_allclose(along.coefficients(two), plain.coefficients(one))
    np.testing.assert_allclose(along.middle(two), plain.middle(one))
    np.testing.assert_allclose(along.slope_gains(two[None]), plain.slope_gains(one[None]))


def test_across_the_span_predictions_are_as_wide_as_the_prior():
    design, y = rows(200, 2)
    design[2] = 0.0
    family = NormalLinear(2, slope_precisions=(1.0,), span=[[1.0], [0.0]])
    leaf = family.row_statistics(design, y).sum(axis=0)[None]
    inside, across = (np.array([[1.0], *np.array([place]).T]) for place in ([0.5, 0.0], [0.5, 3.0]))
    parts, wider = (family.uncertainty(leaf, np.ones((1, 1)), place) for place in (inside, across))
    assert wider.leaf > 10 * parts.leaf
    np.testing.assert_allclose(wider.aleatoric, parts.aleatoric)
    std = family.predictive(leaf, np.ones((1, 1)), across).std
    np.testing.assert_allclose(std**2, wider.total)


def test_missing_features_are_part_of_the_routing():
    design, y = rows(50, 2)
    family = NormalLinear(2)
    leaf, one = family.row_statistics(design, y).sum(axis=0)[None], np.ones((1, 50))

    def spread(slopes):
        return (slopes**2).sum(axis=-1)[..., None] * np.ones(50)

    whole, gaps = family.uncertainty(leaf, one, design), family.uncertainty(leaf, one, design, spread)
    np.testing.assert_allclose(gaps.total - whole.total, gaps.routing)
    np.testing.assert_allclose(family.predictive(leaf, one, design, spread).std ** 2, gaps.total)


def test_the_interval_of_a_constant_leaf_is_students():
    family, y = NormalLinear(), np.array([0.3, 0.5, 1.2, -0.4])
    mean, low, high = family.interval(family.row_statistics(None, y).sum(axis=0), 0.9)
    total, shape = 0.1 + 4, 2.0 + 2
    center = y.sum() / total
    rate = 0.1 + 0.5 * (y @ y - total * center**2)
    expected = student(2 * shape, center, np.sqrt(rate / shape / total)).interval(0.9)
    assert mean[0] == pytest.approx(center)
    np.testing.assert_allclose([low[0], high[0]], expected, rtol=1e-6)


def test_a_leaf_is_described_by_its_mean_and_the_deviation_about_it():
    design, y = rows(1000, 1)
    constant, line = NormalLinear(center=2.0), NormalLinear(1)

    def write(coefficients):
        return " + ".join(f"{coefficient:.2f}" for coefficient in coefficients)

    leaf = constant.row_statistics(None, np.full(1000, 5.0)).sum(axis=0)
    assert constant.describe(leaf, ["y"], write).startswith("y = 5.00 ± 0.0")
    leaf = line.row_statistics(design, y).sum(axis=0)
    offset, slope = line.coefficients(leaf)
    assert line.describe(leaf, ["price"], write).startswith(f"price = {offset:.2f} + {slope:.2f} ± 0.3")


def test_statistics_that_no_rows_have_are_impossible():
    design, y = rows(20, 1)
    family = NormalLinear(1)
    leaf = family.row_statistics(design, y).sum(axis=0)
    beyond = leaf.copy()
    beyond[2] = 1e6
    wrong = np.stack([-leaf, beyond, np.full_like(leaf, np.nan)])
    np.testing.assert_array_equal(family.are_possible(np.stack([leaf, *wrong])), [True, False, False, False])


def test_copies_and_pickles_are_the_same_family_with_arrays_that_cannot_be_written():
    design, y = rows(10, 2)
    family = NormalLinear(2, basis=np.eye(2), span=np.eye(2))
    leaf = family.row_statistics(design, y).sum(axis=0)
    evidence = family.log_evidence(leaf)
    for copied in (copy.copy(family), copy.deepcopy(family), pickle.loads(pickle.dumps(family))):
        assert copied.log_evidence(leaf) == evidence
        assert not copied.basis.flags.writeable


def test_a_design_with_another_number_of_features_is_refused():
    design, y = rows(5, 3)
    with pytest.raises(ValueError, match=r"is linear in 2 columns, but X has 3\."):
        NormalLinear(2).row_statistics(design, y)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"scale": 0.0}, "scale must be a positive number; got 0.0"),
        ({"rate": np.nan}, "rate must be a positive number; got nan"),
        ({"offset_precision": -1.0}, "offset_precision must be a positive number; got -1.0"),
        ({"shape": 1.0}, "shape must be above 1, so that variances are finite; got 1.0"),
        ({"slope_precisions": (1.0, 0.0)}, r"slope_precisions\[1\] must be a positive number; got 0.0"),
        ({"slope_precisions": ()}, "slope_precisions is empty"),
        ({"n_slopes": -1}, "n_slopes must be a whole number of at least 0; got -1"),
        ({"center": np.nan}, "center must be a finite number; got nan"),
        ({"n_slopes": 3, "basis": np.eye(2)}, r"basis has shape \(2, 2\); it needs \(features, 3\)"),
    ],
)
def test_bad_priors_are_named(parameters, message):
    with pytest.raises(ValueError, match=message):
        NormalLinear(**parameters)
