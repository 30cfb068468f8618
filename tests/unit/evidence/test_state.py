"""States of one tree: what log evidence is made of, and four ways to get a state."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from asking import family_of, pass_at
from bayesian_reticulum.evidence.bayes_factors import log_bayes_factors
from bayesian_reticulum.evidence.prices import prices, prior_diagonal
from bayesian_reticulum.evidence.stack import Effort
from bayesian_reticulum.evidence.state import ascend_and_evaluate, ascend_tree, evaluate, reconverge
from bayesian_reticulum.tree import Tree, single_leaf, split_leaf, with_canonical_signs
from evidence_problems import make_rows, make_table, naive_free_energy
from plugins import examples, trees

few = examples(25)
seeds = st.integers(0, 2**32 - 1)


@few
@given(tree=trees(max_splits=4), seed=seeds, n=st.integers(2, 60), k=st.integers(1, 3))
def test_log_evidence_is_the_bound_less_penalties_and_prices(tree, seed, n, k):
    rng = np.random.default_rng(seed)
    table = make_table(rng, n, tree.n_features, k, weights=rng.uniform(0.2, 3, size=n))
    rows = table.rows()
    precisions = rng.uniform(0.01, 1, size=tree.n_splits)
    state = evaluate(rows, family_of(rows), tree, precisions, tolerance=1e-9)
    membership, T, weights = table.dense_parts(tree)
    joint = membership * np.exp(T @ family_of(rows).expected_parameters(state.statistics).T)
    r = joint / joint.sum(axis=1, keepdims=True)
    F = naive_free_energy(family_of(rows), r, membership, T, weights)
    P = prior_diagonal(precisions, tree.n_features + 1)
    observed = pass_at(rows, tree.hyperplanes[None], tree.shape, state.statistics[None], information=True).observed[0]
    expected = F - 0.5 * (P * tree.hyperplanes**2).sum() - prices(observed, precisions).sum()
    assert state.log_evidence == pytest.approx(expected, rel=1e-7, abs=1e-6)
    np.testing.assert_allclose(state.prices, prices(observed, precisions), rtol=1e-9, atol=1e-12)
    assert (state.prices >= 0).all()


@few
@given(seed=seeds, n=st.integers(1, 60), d=st.integers(1, 4), k=st.integers(1, 4))
def test_a_tree_with_no_split_is_an_ordinary_model(seed, n, d, k):
    rng = np.random.default_rng(seed)
    weights = rng.uniform(0.2, 3, size=n)
    table = make_table(rng, n, d, k, weights=weights)
    rows = table.rows()
    counts = np.bincount(table.targets, weights, minlength=k)
    for state in (
        evaluate(rows, family_of(rows), single_leaf(d), np.empty(0)),
        ascend_and_evaluate(rows, family_of(rows), single_leaf(d), np.empty(0), counts[None] / 2, Effort()),
    ):
        assert state.tree.n_splits == 0
        assert state.prices.shape == (0,)
        np.testing.assert_allclose(state.statistics, counts[None], rtol=1e-12)
        assert state.log_evidence == pytest.approx(float(family_of(rows).log_evidence(counts)), rel=1e-10, abs=1e-10)
    assert log_bayes_factors(rows, state).shape == (0,)


@few
@given(tree=trees(min_splits=1, max_splits=4), seed=seeds)
def test_a_split_and_its_mirror_image_have_the_same_log_evidence(tree, seed):
    rng = np.random.default_rng(seed)
    table = make_table(rng, 40, tree.n_features, 2)
    rows = table.rows()
    precisions = rng.uniform(0.01, 1, size=tree.n_splits)
    canonical, old_leaf = with_canonical_signs(tree)
    one, other = (evaluate(rows, family_of(rows), either, precisions, tolerance=1e-9) for either in (tree, canonical))
    assert other.log_evidence == pytest.approx(one.log_evidence, abs=1e-6)
    np.testing.assert_allclose(table.dense_parts(canonical)[0], table.dense_parts(tree)[0][:, old_leaf], atol=1e-12)


def test_states_cannot_be_written():
    rng = np.random.default_rng(0)
    rows = make_rows(rng, 30, 2, 2)
    state = evaluate(
        rows, family_of(rows), Tree(np.ones((1, 3)), split_leaf(single_leaf(2), 0, np.ones(3)).shape, [0]), np.ones(1)
    )
    for array in (state.precisions, state.statistics, state.prices):
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0


@few
@given(tree=trees(min_splits=1, max_splits=3), seed=seeds)
def test_a_state_that_has_converged_stays_as_it_is_when_it_converges_again(tree, seed):
    rng = np.random.default_rng(seed)
    rows = make_rows(rng, 40, tree.n_features, 2)
    state = evaluate(rows, family_of(rows), tree, rng.uniform(0.01, 1, size=tree.n_splits), tolerance=1e-10)
    again = reconverge(rows, state, tolerance=1e-10)
    assert again.tree is state.tree
    # The penalised bound has converged; prices may still follow statistics along directions in which it is flat.
    one, other = (some.log_evidence + some.prices.sum() for some in (state, again))
    assert one - 1e-9 <= other <= one + 1e-4
    np.testing.assert_array_equal(again.precisions, state.precisions)


@few
@given(tree=trees(min_splits=1, max_splits=3), seed=seeds)
def test_an_ascent_that_is_evaluated_afresh_is_worth_no_less_than_either(tree, seed):
    rng = np.random.default_rng(seed)
    rows = make_rows(rng, 60, tree.n_features, 2)
    start = evaluate(rows, family_of(rows), tree, np.full(tree.n_splits, 0.02))
    arguments = rows, family_of(rows), tree, start.precisions, start.statistics, Effort(tolerance=1e-6)
    ascended, better = ascend_tree(*arguments), ascend_and_evaluate(*arguments)
    afresh = evaluate(rows, family_of(rows), ascended.tree, ascended.precisions)
    np.testing.assert_array_equal(better.tree.hyperplanes, ascended.tree.hyperplanes)
    np.testing.assert_array_equal(better.tree.ids, tree.ids)
    assert better.log_evidence >= max(ascended.log_evidence, afresh.log_evidence) - 1e-3
