"""What many rows and many splits are handled with: samples, views of all leaves, pruning at a glance, threads."""

from threading import Thread

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import expit
from threadpoolctl import threadpool_info, threadpool_limits

from bayesian_reticulum import ReticulumClassifier, ReticulumRegressor
from bayesian_reticulum.data.schema import identity_schema
from bayesian_reticulum.datasets import make_cross, make_sphere
from bayesian_reticulum.evidence.bayes_factors import collapse_splits, least_collapse_gains
from bayesian_reticulum.evidence.state import evaluate
from bayesian_reticulum.families.dirichlet import DirichletCategorical
from bayesian_reticulum.growth.policy import Policy
from bayesian_reticulum.growth.pruning import disjoint_splits
from bayesian_reticulum.growth.sites import next_site
from bayesian_reticulum.rows.memory import rows_in_memory
from bayesian_reticulum.tree import single_leaf, split_leaf
from plugins import BACKENDS, needs_compiled, trees

few = settings(max_examples=25)
seeds = st.integers(0, 2**32 - 1)
each_backend = pytest.mark.parametrize("rows_class", BACKENDS)
family = DirichletCategorical((0.5, 0.5))


def make_rows(rows_class, rng, n, d):
    X = rng.normal(size=(n, d))
    return rows_class(X, rng.integers(2, size=n), family, rng.uniform(0.5, 2, size=n), identity_schema(d))


def make_state(rows_class, seed, n, tree):
    """Rows and a tree evaluated on them."""
    rng = np.random.default_rng(seed)
    rows = make_rows(rows_class, rng, n, tree.n_features)
    return rows, evaluate(rows, tree, rng.uniform(0.01, 1, size=tree.n_splits), tolerance=1e-9)


def gain_with_prices_held(state, smaller):
    """What a tree gains by losing splits, had the prices of the others stayed: at a glance they do."""
    kept = np.isin(state.tree.ids, smaller.tree.ids)
    return smaller.log_evidence - state.log_evidence + smaller.prices.sum() - state.prices[kept].sum()


@each_backend
@few
@given(tree=trees(min_splits=3, max_splits=7), seed=seeds, n=st.integers(5, 60))
def test_splits_apart_may_be_collapsed_together(rows_class, tree, seed, n):
    rows, state = make_state(rows_class, seed, n, tree)
    gains = least_collapse_gains(rows, state)
    liked = gains - np.median(gains)
    apart = disjoint_splits(tree.shape, liked)
    assert liked[apart[0]] == liked.max()
    assert (tree.shape.sides[apart] != 0).sum(axis=0).max() == 1
    smaller = collapse_splits(rows, state, apart, tolerance=1e-9)
    # Each of them goes with all that is below it, and nothing else does.
    reached = (tree.shape.sides[apart] != 0).any(axis=0)
    np.testing.assert_array_equal(np.isin(tree.ids, smaller.tree.ids), (tree.shape.sides[:, ~reached] != 0).any(axis=1))
    assert gain_with_prices_held(state, smaller) >= gains[apart].sum() - 1e-6


def test_where_an_attempt_was_made_others_come_first():
    X, y, _ = make_cross(600, random_state=0)
    rows = rows_in_memory(X, y, family, np.ones(len(y)), identity_schema(2))
    tree = split_leaf(split_leaf(single_leaf(2), 0, [0.0, 4.0, 0.0], 5), 1, [0.0, 0.0, 4.0], 7)
    state = evaluate(rows, tree, np.full(2, 0.1))
    tried, places = {}, []
    for attempt in range(10):
        places.append(next_site(rows, state, Policy(), tried).place)
        tried[places[-1]] = attempt
    assert set(places[:5]) == {(5, 0), (7, 0), (7, 1), (5,), (7,)}
    assert places[5:] == places[:5]


@each_backend
def test_growth_on_samples_finds_what_growth_on_all_rows_finds(rows_class, monkeypatch):
    X, y, _ = make_sphere(4000, random_state=0)
    rows = rows_class(X, y, family, np.ones(len(y)), identity_schema(2))
    found = []
    for first, sample, parts in ((1 << 20, 1 << 20, 1), (500, 400, 2)):
        monkeypatch.setattr(growth, "_FIRST_SAMPLE", first)
        monkeypatch.setattr(growth, "_SAMPLE", sample)
        assert len(list(growth._samples(rows))) == parts
        events = growth.iterate_growth(rows, growth.Policy(patience=4), np.random.default_rng(0))
        while True:
            try:
                next(events)
            except StopIteration as end:
                found.append(end.value[0])
                break
    whole, sampled = found
    assert sampled.log_evidence > whole.log_evidence - 0.03 * abs(whole.log_evidence)
