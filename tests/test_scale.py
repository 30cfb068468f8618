"""What many rows and many splits are handled with: samples, views of all leaves, pruning at a glance, threads."""

from threading import Thread

import numpy as np
import pandas as pd
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from threadpoolctl import threadpool_info, threadpool_limits

from bayesian_reticulum import ReticulumClassifier, ReticulumRegressor
from bayesian_reticulum.datasets import make_cross
from bayesian_reticulum.families.dirichlet import DirichletCategorical
from plugins import BACKENDS, needs_compiled

few = settings(max_examples=25)
seeds = st.integers(0, 2**32 - 1)
each_backend = pytest.mark.parametrize("rows_class", BACKENDS)
family = DirichletCategorical((0.5, 0.5))


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


@pytest.mark.parametrize("n_jobs", [0, 1.5, "all", True])
def test_numbers_of_threads_that_make_no_sense_are_refused(n_jobs):
    X, y, _ = make_cross(20, random_state=0)
    with pytest.raises(ValueError, match=r"n_jobs must be None or a whole number other than 0; got"):
        ReticulumClassifier(n_jobs=n_jobs).fit(X, y)


@pytest.fixture
def blas():
    """The threads that each library has, where BLAS has two."""
    with threadpool_limits(2, user_api="blas"):
        yield [library["num_threads"] for library in threadpool_info()]


def test_fits_side_by_side_leave_blas_as_it_was(blas):
    X, y, _ = make_cross(600, random_state=0)
    fits = [Thread(target=ReticulumClassifier(random_state=0).fit, args=(X[:n], y[:n])) for n in (200, 600, 400)]
    for fit in fits:
        fit.start()
    for fit in fits:
        fit.join()
    assert [library["num_threads"] for library in threadpool_info()] == blas


def test_a_fit_that_fails_leaves_blas_as_it_was(blas, monkeypatch):
    X, y, _ = make_cross(200, random_state=0)
    monkeypatch.setattr(estimators, "log_bayes_factors", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError, match="division by zero"):
        ReticulumClassifier(random_state=0).fit(X, y)
    assert [library["num_threads"] for library in threadpool_info()] == blas


@pytest.mark.parametrize("seed", [2, 4, 7, 30])
def test_the_order_of_rows_cannot_be_seen_in_a_tree_of_many_splits(seed):
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(500, 1500)), int(rng.integers(2, 6))
    X = rng.normal(size=(n, d))
    y = np.sin(2 * X[:, 0]) + X[:, 1] ** 2 - X[:, -1] + 0.5 * rng.normal(size=n)
    order = rng.permutation(n)
    regressor = ReticulumRegressor(random_state=0, leaf="constant", max_splits=12)
    one, other = (regressor.fit(X[rows], y[rows]).predict(X) for rows in (slice(None), order))
    np.testing.assert_allclose(other, one, rtol=0, atol=1e-7)


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


@needs_compiled
def test_weights_equal_repeats_up_to_where_samples_begin():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(5000, 4))
    y = (np.sin(2 * X[:, 0]) + X[:, 1] ** 2 - X[:, 2] + 0.5 * rng.normal(size=len(X)) > 0.5).astype(int)
    classifier = ReticulumClassifier(random_state=0, max_splits=8, patience=4)
    one = classifier.fit(X, y, sample_weight=np.full(len(X), 2.0)).predict_proba(X)
    other = classifier.fit(np.repeat(X, 2, axis=0), np.repeat(y, 2)).predict_proba(X)
    np.testing.assert_allclose(other, one, rtol=0, atol=1e-7)
