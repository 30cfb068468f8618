"""What some rows do in one go is what all others do by requests."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from asking import family_of
from bayesian_reticulum.data.schema import identity_schema
from bayesian_reticulum.families.dirichlet import DirichletCategorical
from bayesian_reticulum.rows.arrays import ArrayRows
from bayesian_reticulum.rows.native import NativeRows
from bayesian_reticulum.rows.requests import Histogram
from bayesian_reticulum.rows.shortcuts import arranged, has_table, scan, threshold_gains
from bayesian_reticulum.tree import single_leaf, split_leaf
from plugins import each_backend

seeds = st.integers(0, 2**32 - 1)


@given(seed=seeds, bins=st.integers(2, 5), k=st.integers(1, 3))
def test_a_threshold_gains_the_evidence_of_both_sides_less_that_of_all(seed, bins, k):
    rng = np.random.default_rng(seed)
    family, histogram = DirichletCategorical((0.5,) * k), rng.gamma(1.0, 5.0, size=(3, 2, bins, k))
    gains = threshold_gains(family, histogram)
    assert gains.shape == (3, 2, bins - 1)
    for edge in range(bins - 1):
        below, above = histogram[..., : edge + 1, :].sum(axis=-2), histogram[..., edge + 1 :, :].sum(axis=-2)
        expected = family.log_evidence(below) + family.log_evidence(above) - family.log_evidence(below + above)
        np.testing.assert_allclose(gains[..., edge], expected, atol=1e-9)


def small_rows(rows_class):
    rng = np.random.default_rng(0)
    family = DirichletCategorical((0.5, 0.5))
    return rows_class.of_table(
        rng.normal(size=(80, 2)), rng.integers(2, size=80), family, np.ones(80), identity_schema(2)
    )


@each_backend
def test_a_scan_is_made_of_a_histogram(rows_class):
    rows, rng = small_rows(rows_class), np.random.default_rng(1)
    directions, cuts, edges = rng.normal(size=(3, 3)), rng.normal(size=(2, 3)), np.tile([-0.5, 0.1, 0.7], (3, 1))
    request = Histogram(family_of(rows), np.zeros(2), directions, edges, cuts)
    expected = threshold_gains(family_of(rows), rows.reduce(request).statistics)
    np.testing.assert_allclose(scan(rows, request), expected, atol=1e-9)


def test_only_compiled_rows_take_shortcuts():
    shortcuts = ("scan", "arranged", "table_passes")
    assert not any(hasattr(ArrayRows, name) for name in shortcuts)
    assert all(hasattr(NativeRows, name) for name in shortcuts)
    assert not has_table(small_rows(ArrayRows))


@each_backend
def test_few_rows_are_not_worth_sorting(rows_class):
    rows, tree = small_rows(rows_class), split_leaf(single_leaf(2), 0, [0.0, 1.0, 0.0])
    assert arranged(rows, tree.hyperplanes, tree.shape) is rows
