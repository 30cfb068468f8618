"""Laws that every conjugate family keeps."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from plugins import FAMILIES

seeds = st.integers(0, 2**32 - 1)
every_family = pytest.mark.parametrize("case", FAMILIES, ids=lambda case: case.name)
every_listed_family = pytest.mark.parametrize(
    "case", [case for case in FAMILIES if case.support is not None], ids=lambda case: case.name
)


@every_family
def test_an_empty_leaf_has_no_evidence_for_or_against_anything(case):
    assert case.family.log_evidence(np.zeros(case.family.n_statistics)) == pytest.approx(0, abs=1e-12)


@every_family
@given(seed=seeds, n=st.integers(0, 20), cut=st.integers(0, 20))
def test_statistics_of_partitions_add(case, seed, n, cut):
    targets = case.draw_targets(np.random.default_rng(seed), n)
    whole = case.family.row_statistics(None, targets)
    parts = [case.family.row_statistics(None, part) for part in (targets[:cut], targets[cut:])]
    assert whole.shape == (n, case.family.n_statistics)
    np.testing.assert_allclose(sum(part.sum(axis=0) for part in parts), whole.sum(axis=0), rtol=1e-12)


@every_family
@given(seed=seeds, n=st.integers(0, 12))
def test_evidence_is_the_product_of_sequential_predictives(case, seed, n):
    targets = case.draw_targets(np.random.default_rng(seed), n)
    statistics = np.zeros(case.family.n_statistics)
    chained = 0.0
    for target, row in zip(targets, case.family.row_statistics(None, targets), strict=True):
        chained += case.log_predictive(case.family, statistics, target)
        statistics = statistics + row
    assert case.family.log_evidence(statistics) == pytest.approx(chained, rel=1e-10, abs=1e-10)


@every_family
@given(seed=seeds)
def test_expected_parameters_are_the_gradient_of_log_evidence(case, seed):
    statistics = case.draw_statistics(np.random.default_rng(seed))
    step = 1e-5 * np.eye(case.family.n_statistics)
    evidence = case.family.log_evidence
    differences = (evidence(statistics + step) - evidence(statistics - step)) / 2e-5
    np.testing.assert_allclose(case.family.expected_parameters(statistics), differences, rtol=1e-6, atol=1e-7)


@every_family
@given(seed=seeds)
def test_log_evidence_is_convex_in_the_statistics(case, seed):
    # This is what makes the paper's c and the variational objective lower bounds.
    here, there = case.draw_statistics(np.random.default_rng(seed), 2)
    tangent = case.family.log_evidence(here) + case.family.expected_parameters(here) @ (there - here)
    assert case.family.log_evidence(there) >= tangent - 1e-10


@every_family
@given(seed=seeds)
def test_leaves_are_treated_one_by_one(case, seed):
    statistics = case.draw_statistics(np.random.default_rng(seed), 2, 3)
    for method in (case.family.log_evidence, case.family.expected_parameters, case.family.predictive_mean):
        together = method(statistics)
        for index in np.ndindex(2, 3):
            np.testing.assert_allclose(together[index], method(statistics[index]), rtol=1e-12)


@every_listed_family
@given(seed=seeds)
def test_predictive_sums_to_one_over_all_targets_and_has_the_stated_mean(case, seed):
    statistics = case.draw_statistics(np.random.default_rng(seed))
    rows = case.family.row_statistics(None, case.support)
    predictive = np.exp(case.family.log_evidence(statistics + rows) - case.family.log_evidence(statistics))
    assert predictive.sum() == pytest.approx(1, rel=1e-10)
    np.testing.assert_allclose(case.family.predictive_mean(statistics), predictive @ rows, rtol=1e-10)
