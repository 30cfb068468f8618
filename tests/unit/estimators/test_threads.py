"""Threads: those of BLAS are as they were after fits that end, fail or run side by side."""

import contextlib
import io
from threading import Thread

import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from bayesian_reticulum import PaperReticulumClassifier, ReticulumClassifier
from bayesian_reticulum.datasets import make_cross
from bayesian_reticulum.estimators.threads import n_threads, single_blas


def blas_threads():
    return [library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"]


@pytest.fixture
def blas():
    """The threads that each library has, where BLAS has two."""
    with threadpool_limits(2, user_api="blas"):
        yield blas_threads()


class Failing(io.StringIO):
    def write(self, text):
        raise ZeroDivisionError("no paper left")


def test_blas_has_one_thread_until_the_last_fit_has_ended(blas):
    with single_blas():
        with single_blas():
            assert set(blas_threads()) == {1}
        assert set(blas_threads()) == {1}
    assert blas_threads() == blas


def test_fits_side_by_side_leave_blas_as_it_was(blas):
    X, y, _ = make_cross(600, random_state=0)
    fits = [Thread(target=ReticulumClassifier(random_state=0).fit, args=(X[:n], y[:n])) for n in (200, 600, 400)]
    for fit in fits:
        fit.start()
    for fit in fits:
        fit.join()
    assert blas_threads() == blas


@pytest.mark.parametrize("n_jobs", [None, 2])
def test_a_fit_that_fails_leaves_blas_as_it_was(blas, n_jobs):
    X, y, _ = make_cross(200, random_state=0)
    clf = ReticulumClassifier(random_state=0, verbose=1, n_jobs=n_jobs, n_restarts=2)
    with contextlib.redirect_stdout(Failing()), pytest.raises(ZeroDivisionError, match="no paper left"):
        clf.fit(X, y)
    assert blas_threads() == blas


@pytest.mark.parametrize(
    ("estimator", "expected"),
    [(ReticulumClassifier(), 1), (ReticulumClassifier(n_jobs=3), 3), (PaperReticulumClassifier(), 1)],
    ids=["default", "three", "no parameter"],
)
def test_threads_are_those_of_n_jobs(estimator, expected):
    assert n_threads(estimator) == expected
