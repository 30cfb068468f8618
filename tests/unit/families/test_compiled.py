"""What families say of themselves to compiled code."""

import numpy as np
import pytest

from bayesian_reticulum.families.compiled import FactoredFamily, compiled_form
from bayesian_reticulum.families.dirichlet import DirichletCategorical
from bayesian_reticulum.families.normal import NormalLinear
from plugins import FAMILIES, GammaPoisson


def test_classes_are_known_by_their_pseudo_counts():
    kind, (prior,) = compiled_form(DirichletCategorical((0.5, 2.0)))
    assert kind == "dirichlet"
    np.testing.assert_array_equal(prior, [0.5, 2.0])


def test_numbers_are_known_by_their_prior():
    family = NormalLinear(n_slopes=2, scale=3.0, offset_precision=0.2, shape=4.0, rate=0.5, slope_precisions=(1.0, 2.0))
    kind, (*numbers, precisions) = compiled_form(family)
    assert (kind, numbers) == ("normal", [2, 3.0, 0.2, 4.0, 0.5])
    np.testing.assert_array_equal(precisions, [1.0, 2.0])


def test_other_families_are_not_known():
    assert compiled_form(GammaPoisson()) is None
    assert not isinstance(GammaPoisson(), FactoredFamily)
    assert not isinstance(DirichletCategorical((0.5, 0.5)), FactoredFamily)


@pytest.mark.parametrize("rounded", [False, True])
@pytest.mark.parametrize("name", ["constant, other prior", "three slopes, other units", "slopes along a basis"])
def test_row_statistics_are_products_of_pairs_of_factors(name, rounded):
    case, rng = FAMILIES[name], np.random.default_rng(0)
    family, design = case.family, np.concatenate([np.ones((1, 9)), rng.normal(size=(case.n_features, 9))])
    targets = case.draw_targets(rng, 9)
    if rounded:
        targets = np.column_stack([targets, family.scale**2 * rng.uniform(size=9)])
    assert isinstance(family, FactoredFamily)
    (mean, variance), basis = family.target_moments(targets), family.column_basis(case.n_features)
    slopes = np.empty((0, 9)) if basis is None else basis.T @ design[1:]
    factors = np.stack([mean, np.ones(9), *slopes])
    first, second = np.triu_indices(len(factors))
    expected = factors[first] * factors[second]
    expected[0] += variance
    np.testing.assert_allclose(family.row_statistics(design, targets).T, expected, rtol=1e-9, atol=1e-9)
