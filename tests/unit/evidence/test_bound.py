"""The bound F and its form J: equal to their definitions, and in order of the exact values."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from asking import family_of, membership_sums, pass_at
from bayesian_reticulum.evidence.engine import converge_responsibilities
from bayesian_reticulum.exact import expected_log_likelihood, log_marginal_likelihood
from evidence_problems import bound_at, free_energy_at, make_rows, make_table, naive_free_energy
from plugins import examples, trees

few = examples(25)
seeds = st.integers(0, 2**32 - 1)


@few
@given(tree=trees(max_splits=5), seed=seeds, n=st.integers(1, 40), k=st.integers(1, 3))
def test_the_bound_at_responsibility_equal_to_membership_is_the_bound_of_the_paper(tree, seed, n, k):
    rng = np.random.default_rng(seed)
    table = make_table(rng, n, tree.n_features, k, weights=rng.uniform(0.2, 3, size=n))
    rows = table.rows()
    membership, T, weights = table.dense_parts(tree)
    paper = float(family_of(rows).log_evidence((weights[:, None] * membership).T @ T).sum())
    # Leaves with the same statistics do not move a row, so that responsibility is membership.
    alike = np.tile(rng.gamma(1.0, 3.0, size=k), (1, tree.n_leaves, 1))
    assert free_energy_at(rows, tree.hyperplanes[None], tree.shape, alike)[0] == pytest.approx(
        paper, rel=1e-10, abs=1e-10
    )
    assert naive_free_energy(family_of(rows), membership, membership, T, weights) == pytest.approx(paper, rel=1e-12)
    prior = membership_sums(rows, tree.hyperplanes[None], tree.shape)
    assert family_of(rows).log_evidence(prior).sum() == pytest.approx(paper, rel=1e-10, abs=1e-10)


@few
@given(tree=trees(max_splits=5), seed=seeds, n=st.integers(1, 40), k=st.integers(1, 3))
def test_the_free_energy_of_a_pass_is_that_of_its_responsibilities(tree, seed, n, k):
    rng = np.random.default_rng(seed)
    table = make_table(rng, n, tree.n_features, k, weights=rng.uniform(0.2, 3, size=n))
    rows = table.rows()
    membership, T, weights = table.dense_parts(tree)
    S = rng.gamma(1.0, 3.0, size=(1, tree.n_leaves, k))
    joint = membership * np.exp(T @ family_of(rows).expected_parameters(S[0]).T)
    r = joint / joint.sum(axis=1, keepdims=True)
    expected = naive_free_energy(family_of(rows), r, membership, T, weights)
    assert free_energy_at(rows, tree.hyperplanes[None], tree.shape, S)[0] == pytest.approx(expected, rel=1e-9, abs=1e-9)


@few
@given(tree=trees(min_splits=1, max_splits=3), seed=seeds, k=st.integers(1, 3), prior=st.sampled_from([0.5, 1.0, 2.0]))
def test_bounds_are_in_order_of_the_exact_values(tree, seed, k, prior):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, int(np.log(2e4) / np.log(tree.n_leaves)) + 1))
    table = make_table(rng, n, tree.n_features, k, prior=prior)
    rows = table.rows()
    membership, T, _ = table.dense_parts(tree)
    paper = float(family_of(rows).log_evidence(membership.T @ T).sum())
    stack = converge_responsibilities(
        rows, family_of(rows), tree.shape, tree.hyperplanes[None], np.ones((1, tree.n_splits)), tolerance=1e-9
    )
    best = bound_at(rows, tree.hyperplanes[None], tree.shape, stack.statistics)[0]
    exact = log_marginal_likelihood(membership, T, family_of(rows))
    assert paper <= best + 1e-9
    assert best <= exact + 1e-9
    assert paper <= expected_log_likelihood(membership, T, family_of(rows)) + 1e-9


@few
@given(tree=trees(max_splits=5), seed=seeds, n=st.integers(1, 60), k=st.integers(1, 3))
def test_an_e_step_never_lowers_the_bound(tree, seed, n, k):
    rng = np.random.default_rng(seed)
    rows = make_rows(rng, n, tree.n_features, k, weights=rng.uniform(0.2, 3, size=n))
    S = rng.gamma(1.0, 3.0, size=(1, tree.n_leaves, k))
    reached = -np.inf
    for _ in range(10):
        at = rows, tree.hyperplanes[None], tree.shape, S
        # J at S, F at its responsibilities, J at the next S: each is at least the last.
        for value in (bound_at(*at)[0], free_energy_at(*at)[0]):
            assert value >= reached - 1e-10 * abs(value)
            reached = value
        S = pass_at(*at).statistics
