"""Many rows are grown on nested samples first, and find what growth on all rows finds."""

import numpy as np
import pytest

from asking import family_of
from bayesian_reticulum.data import identity_schema
from bayesian_reticulum.datasets import make_sphere
from bayesian_reticulum.evidence import evaluate
from bayesian_reticulum.families import DirichletCategorical
from bayesian_reticulum.growth import Policy, grow_tree
from bayesian_reticulum.growth.samples import carry_over, nested_samples
from bayesian_reticulum.tree import single_leaf, split_leaf
from growing import make_rows, run
from plugins import BACKENDS

each_backend = pytest.mark.parametrize("rows_class", BACKENDS)


@pytest.fixture(scope="module")
def table():
    X, y, _ = make_sphere(4000, random_state=0)
    return X, y


def rows_of(rows_class, X, y):
    return rows_class.of_table(X, y, DirichletCategorical((0.5, 0.5)), np.ones(len(y)), identity_schema(X.shape[1]))


@each_backend
def test_each_sample_is_some_times_larger_and_the_last_is_all_rows(rows_class, table):
    rows = rows_of(rows_class, *table)
    samples = list(nested_samples(rows, Policy(sample_rows=200, sample_growth=3)))
    assert samples[-1] is rows
    sizes = [sample.n_rows for sample in samples]
    np.testing.assert_allclose(sizes, [200, 600, 1800, 4000], rtol=0.2)


@each_backend
def test_few_rows_are_their_own_sample(rows_class, table):
    rows = rows_of(rows_class, *table)
    [only] = nested_samples(rows, Policy(sample_rows=2000))
    assert only is rows


def test_a_tree_is_fitted_and_pruned_when_it_is_carried_over(table):
    rows = make_rows(*table)
    sample = rows.sample(300)
    tree = split_leaf(split_leaf(single_leaf(2), 0, [0.0, 3.0, 0.0]), 0, [0.0, 0.0, 1e-3])
    state = evaluate(sample, family_of(sample), tree, np.full(2, 0.1))
    policy = Policy(sample_rows=1000)
    carried = carry_over(rows, state, policy)
    assert carried.log_evidence >= evaluate(rows, family_of(rows), tree, state.precisions).log_evidence
    assert carried.log_evidence == pytest.approx(
        evaluate(rows, family_of(rows), carried.tree, carried.precisions).log_evidence, abs=0.05
    )
    leaf = evaluate(sample, family_of(sample), single_leaf(2), np.empty(0))
    assert (
        carry_over(rows, leaf, policy).log_evidence
        == evaluate(rows, family_of(rows), single_leaf(2), np.empty(0)).log_evidence
    )


@each_backend
def test_growth_on_samples_finds_what_growth_on_all_rows_finds(rows_class, table):
    rows = rows_of(rows_class, *table)
    results = []
    for policy in (Policy(patience=4), Policy(patience=4, sample_rows=800)):
        events, state, _ = run(grow_tree(rows, family_of(rows), policy, np.random.default_rng(0)))
        starts = [event.phase for event in events].count("start")
        results.append((state.log_evidence, starts))
    (whole, one_start), (sampled, starts) = results
    # The leaf and, of samples, the tree on each of them; the first sample has nothing to carry over but the leaf.
    assert (one_start, starts) == (1, 3)
    assert sampled > whole - 0.03 * abs(whole)
