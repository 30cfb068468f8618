"""Parameters that make no sense are refused with a message that tells the way out."""

import numpy as np
import pytest

from bayesian_reticulum import ReticulumClassifier
from bayesian_reticulum.datasets import make_cross

X_GOOD, Y_GOOD = np.arange(12.0).reshape(6, 2), np.array([0, 1, 0, 1, 0, 1])


WHOLE = {"patience": 1, "max_attempts": 0, "n_restarts": 1, "n_directions": 0, "lookahead": 0, "verbose": 0}


BAD_WHOLE = [
    (name, value)
    for name in WHOLE
    for value in ("below", 1.5, 2.0, "many", None, True, np.nan, [3])
    # Whether to print is a question that may be answered with yes.
    if not (name == "verbose" and value is True)
]


def test_verbose_may_be_true(capsys):
    ReticulumClassifier(verbose=True, patience=1).fit(X_GOOD, Y_GOOD)
    assert "[ReticulumClassifier] attempt 1: " in capsys.readouterr().out


@pytest.mark.parametrize(("name", "value"), BAD_WHOLE, ids=repr)
def test_bad_whole_numbers_are_refused(name, value):
    value = WHOLE[name] - 1 if value == "below" else value
    with pytest.raises(ValueError, match=rf"{name} must be a whole number of at least {WHOLE[name]}; got "):
        ReticulumClassifier(**{name: value}).fit(X_GOOD, Y_GOOD)


@pytest.mark.parametrize("name", ["max_splits", "max_depth"])
@pytest.mark.parametrize("value", [-1, 1.5, "many", True], ids=repr)
def test_bad_limits_are_refused(name, value):
    with pytest.raises(ValueError, match=rf"{name} must be None for no limit or a whole number of at least 0; got "):
        ReticulumClassifier(**{name: value}).fit(X_GOOD, Y_GOOD)


@pytest.mark.parametrize(
    ("prior", "message"),
    [
        ("jeffreys", "prior = 'jeffreys' is not understood. Give one positive number"),
        (1e16, "at most 1e\\+15; that of class .* is 1e\\+16"),
        (10**400, "prior = 1000.* is not a number"),
        (0.0, "prior pseudo-counts must be positive and at most 1e\\+15; that of class .*0.* is 0.0"),
        (-1, "must be positive and at most 1e\\+15; that of class .* is -1.0"),
        (np.nan, "must be positive and at most 1e\\+15; that of class .* is nan"),
        (np.inf, "must be positive and at most 1e\\+15; that of class .* is inf"),
        ([0.5, 0.0], "must be positive and at most 1e\\+15; that of class .*1.* is 0.0"),
        ([0.5, 0.5, 0.5], r"prior has shape \(3,\) but y has 2 classes"),
        ([[0.5, 0.5]], r"prior has shape \(1, 2\) but y has 2 classes"),
        ([], r"prior has shape \(0,\) but y has 2 classes"),
        (["a", "b"], "is not a number. Give one positive number"),
        ({"a": 1}, "is not a number. Give one positive number"),
        (None, "prior = None|must be positive"),
    ],
    ids=repr,
)
def test_bad_priors_are_refused(prior, message):
    with pytest.raises(ValueError, match=message):
        ReticulumClassifier(prior=prior).fit(X_GOOD, Y_GOOD)


def test_bad_random_states_are_refused():
    with pytest.raises(ValueError, match="cannot be used to seed"):
        ReticulumClassifier(random_state="chance").fit(X_GOOD, Y_GOOD)


@pytest.mark.parametrize("n_jobs", [0, 1.5, "all", True])
def test_numbers_of_threads_that_make_no_sense_are_refused(n_jobs):
    X, y, _ = make_cross(20, random_state=0)
    with pytest.raises(ValueError, match=r"n_jobs must be None or a whole number other than 0; got"):
        ReticulumClassifier(n_jobs=n_jobs).fit(X, y)
