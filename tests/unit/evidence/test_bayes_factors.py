"""The log Bayes factor of a split, and trees with splits collapsed."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from asking import family_of
from bayesian_reticulum.data.schema import identity_schema
from bayesian_reticulum.datasets import make_cross
from bayesian_reticulum.evidence.bayes_factors import (
    collapse_splits,
    least_collapse_gains,
    log_bayes_factors,
    merge_leaves,
)
from bayesian_reticulum.evidence.prices import penalty
from bayesian_reticulum.evidence.state import evaluate
from bayesian_reticulum.families.dirichlet import DirichletCategorical
from bayesian_reticulum.rows.memory import rows_in_memory
from bayesian_reticulum.rows.source import RowData
from bayesian_reticulum.tree import collapse, single_leaf, split_leaf
from evidence_problems import bound_at, make_rows, make_table
from plugins import each_backend, examples, trees

few = examples(25)
seeds = st.integers(0, 2**32 - 1)


@few
@given(tree=trees(min_splits=1, max_splits=4), seed=seeds, n=st.integers(5, 60))
def test_a_log_bayes_factor_is_what_collapsing_the_split_loses(tree, seed, n):
    rng = np.random.default_rng(seed)
    table = make_table(rng, n, tree.n_features, 2)
    rows = table.rows()
    precisions = rng.uniform(0.01, 1, size=tree.n_splits)
    state = evaluate(rows, family_of(rows), tree, precisions, tolerance=1e-9)
    factors = log_bayes_factors(rows, state)
    for split in range(tree.n_splits):
        smaller = collapse(tree, split)
        kept = np.isin(tree.ids, smaller.ids)
        without = collapse_splits(rows, state, [split], tolerance=1e-9)
        assert factors[split] == pytest.approx(state.log_evidence - without.log_evidence, abs=1e-9)
        np.testing.assert_array_equal(without.tree.hyperplanes, smaller.hyperplanes)
        # The merged leaf starts with the statistics of those that it takes the place of, and converges from there.
        first, *others = np.flatnonzero(tree.shape.sides[split])
        merged = np.delete(state.statistics, others, axis=0)
        merged[first] += state.statistics[others].sum(axis=0)
        value = bound_at(rows, smaller.hyperplanes[None], smaller.shape, merged[None])[0]
        least = value - penalty(smaller.hyperplanes, precisions[kept])
        assert without.log_evidence + without.prices.sum() >= least - 1e-9
    alone = float(family_of(rows).log_evidence(np.bincount(table.targets, minlength=2)))
    assert factors[0] == pytest.approx(state.log_evidence - alone, rel=1e-9, abs=1e-9)


@each_backend
@few
@given(tree=trees(min_splits=1, max_splits=5), seed=seeds, n=st.integers(5, 60))
def test_collapsing_gains_no_less_than_its_bound_from_one_pass(rows_class, tree, seed, n):
    rng = np.random.default_rng(seed)
    rows = make_rows(rng, n, tree.n_features, 2, weights=rng.uniform(0.5, 2, size=n), rows_class=rows_class)
    state = evaluate(rows, family_of(rows), tree, rng.uniform(0.01, 1, size=tree.n_splits), tolerance=1e-9)
    for split, least_gain in enumerate(least_collapse_gains(rows, state)):
        smaller = collapse_splits(rows, state, [split], tolerance=1e-9)
        kept = np.isin(state.tree.ids, smaller.tree.ids)
        with_prices_held = smaller.log_evidence + smaller.prices.sum() - state.prices[kept].sum()
        assert with_prices_held - state.log_evidence >= least_gain - 1e-6


@few
@given(tree=trees(min_splits=2, max_splits=5), seed=seeds)
def test_merged_leaves_hold_all_that_was_held_below_the_split(tree, seed):
    rng = np.random.default_rng(seed)
    rows = make_rows(rng, 30, tree.n_features, 2)
    state = evaluate(rows, family_of(rows), tree, rng.uniform(0.01, 1, size=tree.n_splits))
    split = int(rng.integers(tree.n_splits))
    merged = merge_leaves(state, [split])
    is_below = tree.shape.sides[split] != 0
    assert merged.tree.n_leaves == tree.n_leaves - is_below.sum() + 1
    leaf = np.flatnonzero(is_below)[0]
    np.testing.assert_allclose(merged.statistics[leaf], state.statistics[is_below].sum(axis=0))
    np.testing.assert_allclose(np.delete(merged.statistics, leaf, axis=0), state.statistics[~is_below])
    np.testing.assert_array_equal(merged.precisions, state.precisions[np.isin(tree.ids, merged.tree.ids)])
    assert merged.log_evidence == state.log_evidence


def test_of_many_rows_bayes_factors_beyond_doubt_are_upper_limits():
    X, y, _ = make_cross(600, random_state=0)
    data = RowData.of(X, y, np.ones(len(y)), identity_schema(2))
    rows = rows_in_memory(data, DirichletCategorical((0.5, 0.5)))
    tree = split_leaf(split_leaf(single_leaf(2), 0, [-2.0, 4.0, 0.0]), 1, [0.0, 0.1, 8.0])
    state = evaluate(rows, family_of(rows), tree, np.full(2, 0.1))
    factors = log_bayes_factors(rows, state)
    beyond_doubt = (factors.min() + factors.max()) / 2
    limited = log_bayes_factors(rows, state, many_rows=100, beyond_doubt=beyond_doubt)
    strong, weak = factors.argmax(), factors.argmin()
    assert limited[weak] == factors[weak] < beyond_doubt
    assert limited[strong] > factors[strong]
