"""Threads: how many there are by default, and that those of BLAS are as they were after a fit."""

import contextlib
import io
import os
import subprocess
import sys
from threading import Thread

import pytest
from joblib import cpu_count, parallel_config
from threadpoolctl import threadpool_info, threadpool_limits

from bayesian_reticulum import PaperReticulumClassifier, ReticulumClassifier, ReticulumRegressor
from bayesian_reticulum.datasets import make_cross
from bayesian_reticulum.estimators.threads import default_threads, n_threads, single_blas

needs_affinity = pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="this system has no affinity")


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
    [(ReticulumClassifier(n_jobs=3), 3), (ReticulumRegressor(n_jobs=1), 1), (PaperReticulumClassifier(), 1)],
    ids=["three", "one", "no parameter"],
)
def test_threads_are_those_of_n_jobs(estimator, expected):
    assert n_threads(estimator) == expected


def run_in_new_process(statements, environment=()):
    """What Python prints that starts with some variables; these tests have one thread in OMP_NUM_THREADS."""
    kept = {name: value for name, value in os.environ.items() if name != "OMP_NUM_THREADS"}
    command = [sys.executable, "-c", "\n".join(statements)]
    return subprocess.run(command, env=kept | dict(environment), capture_output=True, text=True, check=True).stdout


def threads_in_new_process(environment=(), before=""):
    """Threads by default where Python starts with some variables, and runs some statements first."""
    statements = [before, "from bayesian_reticulum import ReticulumRegressor"]
    statements += [
        "from bayesian_reticulum.estimators.threads import n_threads",
        "print(n_threads(ReticulumRegressor()))",
    ]
    return int(run_in_new_process(statements, environment))


def test_by_default_there_is_a_thread_for_each_core():
    assert threads_in_new_process() == cpu_count()


@needs_affinity
def test_the_affinity_of_the_process_limits_threads():
    assert threads_in_new_process(before="import os; os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})") == 1


@needs_affinity
def test_affinity_that_changes_is_noticed():
    all_cpus = os.sched_getaffinity(0)
    try:
        os.sched_setaffinity(0, {min(all_cpus)})
        assert n_threads(ReticulumClassifier()) == 1
    finally:
        os.sched_setaffinity(0, all_cpus)


@pytest.mark.parametrize("variable", ["1", "1,4"])
def test_the_environment_limits_threads(variable, monkeypatch):
    assert threads_in_new_process({"OMP_NUM_THREADS": variable}) == 1
    monkeypatch.setenv("OMP_NUM_THREADS", variable)
    assert n_threads(ReticulumClassifier()) == 1


@pytest.mark.parametrize("variable", ["", "all", "0"])
def test_an_environment_that_names_no_number_is_no_limit(variable, monkeypatch):
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    expected = n_threads(ReticulumClassifier())
    monkeypatch.setenv("OMP_NUM_THREADS", variable)
    assert n_threads(ReticulumClassifier()) == expected


def test_more_threads_than_cores_have_to_be_asked_for(monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "1000")
    assert n_threads(ReticulumClassifier()) <= cpu_count()
    assert n_threads(ReticulumClassifier(n_jobs=1000)) == 1000


def test_limits_of_threadpoolctl_hold():
    # A part of scikit-learn that loads OpenMP.
    before = "import sklearn.ensemble, threadpoolctl; limits = threadpoolctl.threadpool_limits(1)"
    assert threads_in_new_process(before=before) == 1


@pytest.mark.parametrize("n_jobs", [1, 3])
def test_joblib_decides_where_it_is_set(n_jobs):
    with parallel_config(backend="threading", n_jobs=n_jobs):
        assert n_threads(ReticulumClassifier()) == n_jobs
        assert n_threads(ReticulumClassifier(n_jobs=2)) == 2


def test_a_backend_without_a_number_of_jobs_decides_nothing():
    with parallel_config(backend="threading"):
        assert n_threads(ReticulumClassifier()) == default_threads()


@pytest.mark.parametrize("backend", ["loky", "threading", "multiprocessing"])
def test_a_worker_of_joblib_has_one_thread(backend):
    statements = [
        "from joblib import Parallel, delayed",
        "from bayesian_reticulum import ReticulumClassifier",
        "from bayesian_reticulum.estimators.threads import n_threads",
        f"print(Parallel(2, backend={backend!r})(delayed(n_threads)(ReticulumClassifier()) for _ in range(3)))",
    ]
    assert run_in_new_process(statements).strip() == "[1, 1, 1]"


def test_results_do_not_depend_on_the_number_of_threads():
    X, y, _ = make_cross(3000, random_state=0)
    with parallel_config(backend="loky", n_jobs=3):
        models = [
            ReticulumClassifier(n_jobs=n, max_splits=3, n_restarts=2, random_state=0).fit(X, y) for n in (1, None)
        ]
        one, three = (model.predict_proba(X) for model in models)
    assert (one == three).all()
