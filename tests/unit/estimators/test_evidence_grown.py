"""Growth by evidence: policy, restarts, limits of the tree, names of columns in predict."""

import tracemalloc
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from bayesian_reticulum import ReticulumClassifier, ReticulumRegressor
from bayesian_reticulum.datasets import make_sphere
from example_tables import CLASSES as TABLES
from plugins import mixed_frame


def fit(X, y, sample_weight=None, **parameters):
    return ReticulumClassifier(**{"random_state": 0, **parameters}).fit(X, y, sample_weight)


@pytest.mark.parametrize("make", [int, np.random.RandomState, np.random.default_rng], ids=lambda make: make.__name__)
def test_the_same_random_state_gives_the_same_model(make):
    X, y = TABLES["ripley"]()
    one, other = (fit(X, y, patience=2, random_state=make(5)) for _ in range(2))
    np.testing.assert_array_equal(one.predict_proba(X), other.predict_proba(X))


def test_no_random_state_is_a_random_state_too():
    assert fit(*TABLES["ripley"](), patience=1, random_state=None).n_splits_ >= 1


def test_restarts_keep_the_highest_log_evidence():
    X, y = TABLES["ripley"]()
    many = fit(X, y, patience=1, n_restarts=3, random_state=0)
    one = fit(X, y, patience=1, n_restarts=1, random_state=0)
    assert many.log_evidence_ >= one.log_evidence_ - 1e-6


@pytest.mark.parametrize("max_depth", [1, 2, 3])
def test_no_way_of_changing_a_tree_passes_the_largest_depth(max_depth):
    X, y, _ = make_sphere(600, random_state=0)
    clf = fit(X, y, max_depth=max_depth)
    assert all(event.tree.depth <= max_depth for event in clf.history_)
    assert clf.stopping_reason_ in ("max_depth", "no_gain")


def test_many_classes_need_little_memory():
    rng = np.random.default_rng(0)
    y = np.arange(1000) % 26
    X = rng.normal(size=(1000, 8)) + 2 * rng.normal(size=(26, 8))[y]
    tracemalloc.start()
    try:
        fit(X, y, max_attempts=1)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 64e6


def test_the_policy_has_the_parameters_and_defaults_for_everything_else():
    parameters = {"patience": 3, "max_attempts": 9, "max_splits": 4, "max_depth": 2, "n_directions": 5, "lookahead": 6}
    for make in (ReticulumClassifier, ReticulumRegressor):
        policy = make(**parameters).growth_policy()
        assert {name: getattr(policy, name) for name in parameters} == parameters
        assert policy == replace(make().growth_policy(), **parameters)


def test_a_subclass_can_grow_by_another_policy():
    class Impatient(ReticulumClassifier):
        def growth_policy(self):
            return replace(super().growth_policy(), max_attempts=1)

    clf = Impatient(random_state=0).fit(*TABLES["cross"]())
    assert clf.stopping_reason_ == "max_attempts"
    assert clf.history_.n_attempts == 1
    assert clf.get_params() == ReticulumClassifier(random_state=0).get_params()


def test_tables_of_gaps_and_categories_are_accepted():
    frame, y = mixed_frame()
    clf = ReticulumClassifier(random_state=0, patience=1).fit(frame, y)
    assert clf.model_.schema.names == tuple(frame.columns)
    tags = clf.__sklearn_tags__().input_tags
    assert tags.allow_nan
    assert tags.categorical
    assert tags.string
    shuffled = frame[["smokes", "city", "age", "income"]]
    np.testing.assert_array_equal(clf.predict_proba(shuffled), clf.predict_proba(frame))


def test_only_one_table_with_names_is_warned_of_and_columns_are_taken_in_order():
    X, y = TABLES["ripley"]()
    named = fit(pd.DataFrame(X, columns=["a", "b"]), y, patience=1)
    expected = named.predict_proba(pd.DataFrame(X, columns=["a", "b"]))
    for table in (X, pd.DataFrame(X, columns=[5, 6]), X.astype(object)):
        with pytest.warns(UserWarning, match="does not have valid feature names, but ReticulumClassifier was fitted"):
            np.testing.assert_array_equal(named.predict_proba(table), expected)
    nameless = fit(X, y, patience=1)
    with pytest.warns(UserWarning, match="X has feature names, but ReticulumClassifier was fitted without"):
        np.testing.assert_array_equal(nameless.predict_proba(pd.DataFrame(X, columns=["a", "b"])), expected)
    labelled = fit(pd.DataFrame(X, columns=[5, 6]), y, patience=1)
    with pytest.warns(UserWarning, match="X has feature names, but ReticulumClassifier was fitted without"):
        np.testing.assert_array_equal(labelled.predict_proba(pd.DataFrame(X, columns=["a", "b"])), expected)


def test_a_column_that_is_taken_by_its_place_is_still_called_by_its_name():
    X, y = TABLES["ripley"]()
    tables = (pd.DataFrame({"a": X[:, 0], "b": "text"}), pd.DataFrame({5: X[:, 0], 6: "text"}))
    fitted_to = (X, pd.DataFrame(X, columns=["u", "v"]))
    for known, table, name in zip(fitted_to, tables, ("'b'", "6"), strict=True):
        clf = fit(known, y, patience=1)
        message = f"column {name} holds text, such as 'text', but numbers in fit"
        with pytest.warns(UserWarning, match="feature names"), pytest.raises(ValueError, match=message):
            clf.predict(table)
