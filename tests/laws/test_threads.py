"""Threads: how many there may be, and that those of BLAS are left as they were."""

from threading import Thread

import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from bayesian_reticulum import ReticulumClassifier
from bayesian_reticulum.datasets import make_cross


@pytest.fixture
def blas():
    """The threads that each library has, where BLAS has two."""
    with threadpool_limits(2, user_api="blas"):
        yield [library["num_threads"] for library in threadpool_info()]


@pytest.mark.parametrize("n_jobs", [0, 1.5, "all", True])
def test_numbers_of_threads_that_make_no_sense_are_refused(n_jobs):
    X, y, _ = make_cross(20, random_state=0)
    with pytest.raises(ValueError, match=r"n_jobs must be None or a whole number other than 0; got"):
        ReticulumClassifier(n_jobs=n_jobs).fit(X, y)


def test_fits_side_by_side_leave_blas_as_it_was(blas):
    X, y, _ = make_cross(600, random_state=0)
    fits = [Thread(target=ReticulumClassifier(random_state=0).fit, args=(X[:n], y[:n])) for n in (200, 600, 400)]
    for fit in fits:
        fit.start()
    for fit in fits:
        fit.join()
    assert [library["num_threads"] for library in threadpool_info()] == blas
