"""What many rows and many splits are handled with: samples, views of all leaves, pruning at a glance, threads."""

import gc
import weakref

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import expit
from threadpoolctl import threadpool_info, threadpool_limits

from bayesian_reticulum import ReticulumClassifier, ReticulumRegressor
from bayesian_reticulum.data.schema import identity_schema
from bayesian_reticulum.datasets import make_cross
from bayesian_reticulum.evidence.ascent import ascend
from bayesian_reticulum.evidence.bayes_factors import collapse_splits, least_collapse_gains, log_bayes_factors
from bayesian_reticulum.evidence.stack import Effort
from bayesian_reticulum.evidence.state import evaluate
from bayesian_reticulum.families.dirichlet import DirichletCategorical
from bayesian_reticulum.rows.memory import rows_in_memory
from bayesian_reticulum.rows.native import NativeRows
from bayesian_reticulum.rows.numpy import NumpyRows
from bayesian_reticulum.tree import single_leaf, split_leaf
from plugins import BACKENDS, FAMILIES, needs_compiled, trees

few = settings(max_examples=25)
seeds = st.integers(0, 2**32 - 1)
each_backend = pytest.mark.parametrize("rows_class", BACKENDS)
family = DirichletCategorical((0.5, 0.5))


def make_rows(rows_class, rng, n, d):
    X = rng.normal(size=(n, d))
    return rows_class(X, rng.integers(2, size=n), family, rng.uniform(0.5, 2, size=n), identity_schema(d))


@each_backend
def test_an_ascent_with_a_tail_ends_near_one_without(rows_class):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 12)) * np.linspace(2.0, 0.5, 12)
    y = (rng.uniform(size=400) < expit(X @ rng.normal(size=12))).astype(np.int64)
    family = DirichletCategorical((0.5, 0.5))
    rows = rows_class(X, y, family, np.ones(400), identity_schema(12))
    tree = split_leaf(single_leaf(12), 0, 0.1 * np.ones(13))
    effort = Effort(tolerance=1e-6, rounds=8, max_passes=300)
    whole = ascend(rows, tree.shape, tree.hyperplanes[None], np.ones((1, 1)), effort=effort)
    axes, basis = rows.rotated(4)
    assert len(axes.tail) == 8
    hyperplanes = np.column_stack([tree.hyperplanes[:, :1], tree.hyperplanes[:, 1:] @ basis])
    part = ascend(axes, tree.shape, hyperplanes[None], np.ones((1, 1)), effort=effort)
    # Prices differ a little, and precisions with them.
    assert part.log_evidence[0] == pytest.approx(whole.log_evidence[0], abs=3.0)
    found, expected = basis @ part.hyperplanes[0, 0, 1:], whole.hyperplanes[0, 0, 1:]
    cosine = found @ expected / np.linalg.norm(found) / np.linalg.norm(expected)
    assert abs(cosine) > 0.99


@each_backend
@few
@given(tree=trees(min_splits=1, max_splits=6), seed=seeds, n=st.integers(1, 60))
def test_the_view_of_each_leaf_is_that_within_it(rows_class, tree, seed, n):
    rng = np.random.default_rng(seed)
    rows = make_rows(rows_class, rng, n, tree.n_features)
    statistics = rng.gamma(1.0, 4.0, size=(tree.n_leaves, 2))
    leaves = rng.permutation(tree.n_leaves)[: rng.integers(1, tree.n_leaves + 1)]
    for leaf, view in zip(leaves, rows.views(tree.hyperplanes, tree.shape, statistics, leaves), strict=True):
        alone = rows.within(tree.hyperplanes, tree.shape, statistics, leaf)
        np.testing.assert_array_equal(view._chosen, alone._chosen)
        np.testing.assert_allclose(view._log_reach, alone._log_reach, rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(view._log_other, alone._log_other, rtol=1e-12, atol=1e-12)


@each_backend
@few
@given(tree=trees(min_splits=1, max_splits=6), seed=seeds, n=st.integers(1, 60), name=st.sampled_from(sorted(FAMILIES)))
def test_what_is_said_below_the_root_is_the_normalizer(rows_class, tree, seed, n, name):
    case = FAMILIES[name]
    rng = np.random.default_rng(seed)
    d = case.n_features if case.family.uses_design else tree.n_features
    tree = split_leaf(single_leaf(d), 0, rng.normal(size=d + 1))
    X, targets = rng.normal(size=(n, d)), case.draw_targets(rng, n)
    rows = rows_class(X, targets, case.family, rng.uniform(0.5, 2, size=n), identity_schema(d))
    statistics = rows.prior_statistics(tree.hyperplanes[None], tree.shape)[0]
    at = rows.pass_(tree.hyperplanes[None], tree.shape, statistics[None])
    sums, new_statistics = rows.likelihoods_below(tree.hyperplanes, tree.shape, statistics)
    size = np.abs(at.log_normalizer[0]) + 1
    assert sums[0] == pytest.approx(at.log_normalizer[0], abs=1e-9 * size)
    np.testing.assert_allclose(new_statistics, at.statistics[0], rtol=1e-9, atol=1e-9)


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
@given(tree=trees(min_splits=1, max_splits=5), seed=seeds, n=st.integers(5, 60))
def test_collapsing_gains_no_less_than_is_said_at_a_glance(rows_class, tree, seed, n):
    rows, state = make_state(rows_class, seed, n, tree)
    for split, gain in enumerate(least_collapse_gains(rows, state)):
        smaller = collapse_splits(rows, state, [split], tolerance=1e-9)
        assert gain_with_prices_held(state, smaller) >= gain - 1e-6


def test_of_many_rows_bayes_factors_beyond_doubt_are_upper_limits(monkeypatch):
    X, y, _ = make_cross(600, random_state=0)
    rows = rows_in_memory(X, y, family, np.ones(len(y)), identity_schema(2))
    tree = split_leaf(split_leaf(single_leaf(2), 0, [-2.0, 4.0, 0.0]), 1, [0.0, 0.1, 8.0])
    state = evaluate(rows, tree, np.full(2, 0.1))
    factors = log_bayes_factors(rows, state)
    monkeypatch.setattr(objective, "_MANY_ROWS", 100)
    monkeypatch.setattr(objective, "_BEYOND_DOUBT", (factors.min() + factors.max()) / 2)
    seen = log_bayes_factors(rows, state)
    strong, weak = factors.argmax(), factors.argmin()
    assert seen[weak] == factors[weak] < objective._BEYOND_DOUBT
    assert seen[strong] > factors[strong]


def test_rows_that_have_served_are_let_go_at_once():
    X, y, _ = make_cross(600, random_state=0)
    rows = rows_in_memory(X, y, family, np.ones(len(y)), identity_schema(2))
    tree = split_leaf(single_leaf(2), 0, [0.0, 4.0, 0.0])
    statistics = rows.prior_statistics(tree.hyperplanes[None], tree.shape)[0]
    gc.disable()
    try:
        for view in rows.views(tree.hyperplanes, tree.shape, statistics, [0, 1]):
            ascend(view, tree.shape, tree.hyperplanes[None], np.ones((1, 1)))
            last = weakref.ref(view)
        del view
        assert last() is None
    finally:
        gc.enable()


@each_backend
def test_a_sample_is_the_same_in_any_order_and_for_repeats(rows_class):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(3000, 3)), rng.integers(2, size=3000)
    times = rng.integers(1, 3, size=3000)
    repeats, order = np.repeat(np.arange(3000), times), rng.permutation(3000)

    def sample(X, y, weights, size=500):
        part = rows_class(X, y, family, weights.astype(float), identity_schema(3)).sampled(size)
        return part, {tuple(row) for row in X[part._chosen]}

    one, cells = sample(X, y, times)
    assert 300 < one.n_rows < 700
    assert sample(X[order], y[order], times[order])[1] == cells
    repeated, same_cells = sample(X[repeats], y[repeats], np.ones(len(repeats)))
    # Repeats are more rows, so that fewer of them are taken; those that are come with all of their repeats.
    assert same_cells <= cells
    assert repeated.weight == times[[tuple(row) in same_cells for row in X]].sum()
    assert one.sampled(400) is one
    # A sample of a sample is one of the whole.
    few, few_cells = one.sampled(100), sample(X, y, times, 100)[1]
    assert 60 < few.n_rows < 140
    assert {tuple(row) for row in X[few._chosen]} <= cells
    assert len(few_cells & {tuple(row) for row in X[few._chosen]}) > 60


@each_backend
def test_rows_that_are_nearly_all_repeats_are_not_sampled(rows_class):
    X = np.repeat([[0.0], [-0.0], [1.0], [2.0]], 1000, axis=0)
    y = np.tile([0, 1], 2000)
    rows = rows_class(X, y, family, np.ones(4000), identity_schema(1))
    assert rows.sampled(100) is rows


@needs_compiled
def test_rows_in_another_arrangement_have_the_same_sums(monkeypatch):
    monkeypatch.setattr(native, "_FEWEST_ARRANGED", 100)
    rng = np.random.default_rng(0)
    tree = single_leaf(4)
    for _ in range(24):
        tree = split_leaf(tree, int(rng.integers(tree.n_leaves)), 40 * rng.normal(size=5))
    rows, reference = (make_rows(cls, np.random.default_rng(1), 5000, 4) for cls in (NativeRows, NumpyRows))
    arranged = rows.arranged(tree.hyperplanes, tree.shape)
    assert not np.array_equal(arranged._chosen, np.arange(5000))
    np.testing.assert_array_equal(np.sort(arranged._chosen), np.arange(5000))
    statistics = rng.gamma(2.0, 20.0, size=(1, tree.n_leaves, 2))
    expected = reference.pass_(tree.hyperplanes[None], tree.shape, statistics, information=True)
    for some in (rows, arranged):
        at = some.pass_(tree.hyperplanes[None], tree.shape, statistics, information=True)
        for name in ("log_normalizer", "statistics", "gradient", "observed", "complete"):
            # Subtrees that hardly a row of a block reaches are skipped: 1e-13 of each row at most.
            sums = getattr(expected, name)
            np.testing.assert_allclose(getattr(at, name), sums, rtol=0, atol=1e-10 * np.abs(sums).max(), err_msg=name)


@pytest.mark.parametrize("estimator", [ReticulumClassifier(), ReticulumRegressor(leaf="constant")])
@pytest.mark.parametrize("fewest_in_floats", [100, native._FEWEST_IN_FLOATS])
def test_threads_do_not_change_a_bit(estimator, fewest_in_floats, monkeypatch):
    monkeypatch.setattr(native, "_FEWEST_GATES", 1)
    monkeypatch.setattr(native, "_FEWEST_IN_FLOATS", fewest_in_floats)
    X, y, _ = make_cross(500, random_state=0)
    estimator.set_params(random_state=0, n_restarts=2, patience=2)
    one, two = (estimator.set_params(n_jobs=n_jobs).fit(X, y).model_ for n_jobs in (None, 2))
    np.testing.assert_array_equal(one.tree.hyperplanes, two.tree.hyperplanes)
    np.testing.assert_array_equal(one.statistics, two.statistics)
    assert one.log_evidence == two.log_evidence
    np.testing.assert_array_equal(one.predict_mean(X), two.predict_mean(X, threads=2))


@pytest.fixture
def blas():
    """The threads that each library has, where BLAS has two."""
    with threadpool_limits(2, user_api="blas"):
        yield [library["num_threads"] for library in threadpool_info()]


def test_a_fit_that_fails_leaves_blas_as_it_was(blas, monkeypatch):
    X, y, _ = make_cross(200, random_state=0)
    monkeypatch.setattr(estimators, "log_bayes_factors", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError, match="division by zero"):
        ReticulumClassifier(random_state=0).fit(X, y)
    assert [library["num_threads"] for library in threadpool_info()] == blas


@needs_compiled
@pytest.mark.parametrize("gaps", [0.0, 0.03])
@pytest.mark.parametrize("first_sample", [500, 1 << 14])
@pytest.mark.parametrize("heaviest", [2.0, 1e7])
def test_the_order_of_many_rows_does_not_change_a_bit(gaps, first_sample, heaviest, monkeypatch):
    monkeypatch.setattr(native, "_FEWEST_IN_FLOATS", 1000)
    monkeypatch.setattr(native, "_FEWEST_ARRANGED", 1000)
    monkeypatch.setattr(growth, "_FIRST_SAMPLE", first_sample)
    monkeypatch.setattr(growth, "_SAMPLE", 400)
    rng = np.random.default_rng(0)
    X, weights, order = rng.normal(size=(3000, 4)), rng.uniform(0.5, 2, size=3000), rng.permutation(3000)
    y = np.sin(2 * X[:, 0]) + X[:, 1] ** 2 - X[:, 2] + 0.3 * rng.normal(size=3000) > 0.5
    X[rng.uniform(size=X.shape) < gaps] = np.nan
    X = pd.DataFrame(X, columns=list("abcd")).assign(
        level=pd.Categorical(rng.choice(list("abc"), 3000)), pair=np.where(y, "u", "v")
    )
    X.loc[rng.uniform(size=3000) < 0.4, "pair"] = "u"
    weights[0] = heaviest
    classifier = ReticulumClassifier(random_state=0, max_splits=9, class_weight="balanced")
    one = classifier.fit(X, y, sample_weight=weights).model_
    other = classifier.fit(X.iloc[order], y[order], sample_weight=weights[order]).model_
    assert one.tree.n_splits > 3
    for name in ("statistics", "precisions", "prices", "log_bayes_factors", "grey_shares"):
        np.testing.assert_array_equal(getattr(other, name), getattr(one, name), err_msg=name)
    np.testing.assert_array_equal(other.tree.hyperplanes, one.tree.hyperplanes)
