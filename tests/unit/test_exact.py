"""Enumeration agrees with what can be computed by hand, and keeps the order of the bounds."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bayesian_reticulum.exact import expected_log_likelihood, leaf_probabilities, log_marginal_likelihood
from bayesian_reticulum.families.dirichlet import DirichletCategorical
from plugins import FAMILIES

few = settings(max_examples=25)
seeds = st.integers(0, 2**32 - 1)
every_family = pytest.mark.parametrize("case", FAMILIES.values(), ids=FAMILIES)
CLASSES = {name: case for name, case in FAMILIES.items() if isinstance(case.family, DirichletCategorical)}
every_family_of_classes = pytest.mark.parametrize("case", CLASSES.values(), ids=CLASSES)
every_function = pytest.mark.parametrize(
    "function", [log_marginal_likelihood, expected_log_likelihood, leaf_probabilities]
)
BETA = DirichletCategorical((1.0, 1.0))


def random_rows(case, seed, n, leaves):
    rng = np.random.default_rng(seed)
    membership = rng.dirichlet(np.full(leaves, 0.5), size=n)
    return membership, case.rows(rng, n).statistics


def test_two_rows_by_hand():
    # Row 0 (class 0) goes to the first leaf with 0.7, row 1 (class 1) with 0.2. Evidence 1/6 together, 1/4 apart.
    membership, T = [[0.7, 0.3], [0.2, 0.8]], [[1, 0], [0, 1]]
    together, apart = 0.7 * 0.2 + 0.3 * 0.8, 0.7 * 0.8 + 0.3 * 0.2
    assert log_marginal_likelihood(membership, T, BETA) == pytest.approx(np.log(together / 6 + apart / 4), rel=1e-12)
    assert expected_log_likelihood(membership, T, BETA) == pytest.approx(
        together * np.log(1 / 6) + apart * np.log(1 / 4), rel=1e-12
    )
    # The first leaf holds both rows, row 0, row 1 or none, and gives class 0 probability 1/2, 2/3, 1/3 or 1/2.
    first = 0.14 / 2 + 0.56 * 2 / 3 + 0.06 / 3 + 0.24 / 2
    second = 0.24 / 2 + 0.06 * 2 / 3 + 0.56 / 3 + 0.14 / 2
    np.testing.assert_allclose(
        leaf_probabilities(membership, T, BETA), [[first, 1 - first], [second, 1 - second]], rtol=1e-12
    )


@every_family
@few
@given(seed=seeds, n=st.integers(0, 40))
def test_one_leaf_has_the_evidence_of_its_family(case, seed, n):
    membership, T = random_rows(case, seed, n, 1)
    S = T.sum(axis=0)
    for function in (log_marginal_likelihood, expected_log_likelihood):
        assert function(membership, T, case.family) == pytest.approx(
            float(case.family.log_evidence(S)), rel=1e-10, abs=1e-10
        )


@every_family
@few
@given(seed=seeds, n=st.integers(0, 7))
def test_hard_memberships_have_the_summed_evidence_of_the_leaves(case, seed, n):
    _, T = random_rows(case, seed, n, 3)
    membership = np.eye(3)[np.random.default_rng(seed).integers(3, size=n)]
    S = membership.T @ T
    evidence = float(case.family.log_evidence(S).sum())
    for function in (log_marginal_likelihood, expected_log_likelihood):
        assert function(membership, T, case.family) == pytest.approx(evidence, rel=1e-10, abs=1e-10)


@every_family_of_classes
@few
@given(seed=seeds, n=st.integers(0, 7), leaves=st.integers(1, 3))
def test_hard_memberships_have_the_class_probabilities_of_the_leaves(case, seed, n, leaves):
    _, T = random_rows(case, seed, n, leaves)
    membership = np.eye(leaves)[np.random.default_rng(seed).integers(leaves, size=n)]
    expected = case.family.probabilities(membership.T @ T)
    np.testing.assert_allclose(leaf_probabilities(membership, T, case.family), expected, rtol=1e-10)


@every_family
@few
@given(seed=seeds, n=st.integers(0, 6), leaves=st.integers(1, 4))
def test_bounds_are_in_order(case, seed, n, leaves):
    membership, T = random_rows(case, seed, n, leaves)
    paper_bound = case.family.log_evidence(membership.T @ T).sum()
    expected = expected_log_likelihood(membership, T, case.family)
    assert paper_bound <= expected + 1e-10
    assert expected <= log_marginal_likelihood(membership, T, case.family) + 1e-10


@every_family
@few
@given(seed=seeds, n=st.integers(1, 6), leaves=st.integers(1, 4))
def test_order_of_rows_and_leaves_does_not_matter(case, seed, n, leaves):
    membership, T = random_rows(case, seed, n, leaves)
    rng = np.random.default_rng(seed)
    rows, order = rng.permutation(n), rng.permutation(leaves)
    shuffled = membership[rows][:, order], T[rows], case.family
    for function in (log_marginal_likelihood, expected_log_likelihood):
        assert function(*shuffled) == pytest.approx(function(membership, T, case.family), rel=1e-10, abs=1e-10)
    if isinstance(case.family, DirichletCategorical):
        np.testing.assert_allclose(
            leaf_probabilities(*shuffled), leaf_probabilities(membership, T, case.family)[order], rtol=1e-10
        )


@every_family_of_classes
@few
@given(seed=seeds, n=st.integers(0, 6), leaves=st.integers(1, 4))
def test_leaf_probabilities_sum_to_one(case, seed, n, leaves):
    membership, T = random_rows(case, seed, n, leaves)
    np.testing.assert_allclose(leaf_probabilities(membership, T, case.family).sum(axis=1), 1, rtol=1e-10)


@every_function
def test_too_many_configurations_are_refused(function):
    with pytest.raises(ValueError, match=r"15 rows in 2 leaves have 2\^15 configurations, more than the 20000"):
        function(np.full((15, 2), 0.5), np.eye(2)[np.zeros(15, dtype=int)], BETA)


@every_function
@pytest.mark.parametrize("membership", [[0.5, 0.5], np.empty((2, 0))])
def test_membership_must_be_rows_by_leaves(function, membership):
    with pytest.raises(ValueError, match=r"membership must have shape \(rows, leaves\); got "):
        function(membership, np.eye(2), BETA)


@every_function
@pytest.mark.parametrize("statistics", [np.eye(3), np.ones((2, 3)), np.ones(2)])
def test_row_statistics_must_fit(function, statistics):
    with pytest.raises(ValueError, match=r"row_statistics must have shape \(2, 2\); got "):
        function(np.eye(2), statistics, BETA)


@every_function
@pytest.mark.parametrize("bad", [[0.5, 0.6], [-0.5, 1.5], [np.nan, 0.5]])
def test_memberships_must_be_probabilities(function, bad):
    with pytest.raises(ValueError, match=r"sum to 1; membership\[1\] = \["):
        function([[0.5, 0.5], bad], np.eye(2), BETA)
