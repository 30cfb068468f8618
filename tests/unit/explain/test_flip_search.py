"""The search changes few features, each by little, to numbers that are short and levels that are frequent."""

from dataclasses import replace

import numpy as np
import pytest

from bayesian_reticulum import ReticulumClassifier, Schema, simplify
from bayesian_reticulum.explain import explain_rows
from bayesian_reticulum.explain.flip_search import change_size, changed_features, search_flip
from small_models import chain, fitted_to_mixed

FREE, WHOLE = np.ones(2, dtype=bool), np.zeros(2, dtype=bool)


@pytest.fixture(scope="module")
def model():
    """Two numbers between -3 and 3, and splits that use both."""
    return chain(3, ("a", "b")).model_


def search(model, row, margin, is_free=FREE, is_whole=WHOLE, is_wanted=None):
    is_wanted = np.ones(model.tree.n_leaves, dtype=bool) if is_wanted is None else is_wanted
    return search_flip(model, np.array(row), margin, is_free, is_whole, is_wanted)


def test_the_feature_that_has_to_move_least_is_changed_by_just_enough(model):
    flipped = search(model, [0.0, 0.0], lambda rows: np.maximum(rows[:, 0] - 2.0, rows[:, 1] - 1.0))
    assert flipped[0] == 0.0
    # Rounded outwards by at most 3% of the change.
    assert 1.0 < flipped[1] <= 1.03


def test_a_feature_that_is_not_free_stays(model):
    flipped = search(
        model, [0.0, 0.0], lambda rows: np.maximum(rows[:, 0] - 2.0, rows[:, 1] - 1.0), is_free=np.array([True, False])
    )
    assert flipped[1] == 0.0
    assert 2.0 < flipped[0] <= 2.06
    assert search(model, [0.0, 0.0], lambda rows: rows[:, 0], is_free=~FREE) is None


def test_a_missing_cell_stays_missing(model):
    flipped = search(model, [0.0, np.nan], lambda rows: rows[:, 0] - 1.0)
    assert np.isnan(flipped[1])
    assert flipped[0] > 1.0


def test_whole_numbers_change_to_whole_numbers(model):
    flipped = search(model, [0.0, 0.0], lambda rows: rows[:, 0] - 1.2, is_whole=~WHOLE)
    np.testing.assert_array_equal(flipped, [2.0, 0.0])
    down = search(model, [1.0, 0.0], lambda rows: -1.2 - rows[:, 0], is_whole=~WHOLE)
    np.testing.assert_array_equal(down, [-2.0, 0.0])


def test_numbers_stay_within_the_limits(model):
    assert search(model, [0.0, 0.0], lambda rows: rows[:, 0] - 3.1) is None


def test_several_features_change_if_one_is_not_enough(model):
    flipped = search(model, [0.0, 0.0], lambda rows: rows.sum(axis=1) - 4.0)
    assert (flipped > 0).all()
    assert 4.0 < flipped.sum() < 4.2


def test_whole_numbers_shrink_to_whole_numbers(model):
    flipped = search(model, [0.0, 0.0], lambda rows: rows.sum(axis=1) - 3.5, is_whole=~WHOLE)
    np.testing.assert_array_equal(flipped, np.round(flipped))
    assert flipped.sum() == 4.0


def test_without_limits_steps_grow_until_they_reach():
    bounded = chain(2, ("a", "b")).model_
    endless = replace(bounded, schema=Schema(("a", "b"), [0.0, 0.0], [1.0, 1.0], [-np.inf] * 2, [np.inf] * 2))
    flipped = search(endless, [0.0, 0.0], lambda rows: rows[:, 0] - 40.0)
    assert 40.0 < flipped[0] < 42.0


def test_a_column_that_does_not_vary_does_not_move():
    still = replace(
        chain(1, ("a", "b")).model_, schema=Schema(("a", "b"), [0.0, 0.0], [1.0, 1.0], [0.0] * 2, [0.0] * 2)
    )
    assert search(still, [0.0, 0.0], lambda rows: rows[:, 0]) is None


def test_levels_change_to_levels_with_a_code_of_their_own():
    estimator, frame = fitted_to_mixed("classes")
    model = estimator.model_
    row = model.encode(frame.dropna())[0]
    wanted = 1.0 if row[2] != 1.0 else 2.0
    flipped = search_flip(
        model,
        row,
        lambda rows: np.where(rows[:, 2] == wanted, 1.0, -1.0),
        np.ones(4, dtype=bool),
        np.zeros(4, dtype=bool),
        np.ones(model.tree.n_leaves, dtype=bool),
    )
    np.testing.assert_array_equal(changed_features(row, flipped), [2])
    assert flipped[2] == wanted


def test_the_size_of_a_change_is_in_standard_deviations():
    model = replace(
        chain(1, ("a", "b")).model_, schema=Schema(("a", "b"), [5.0, 0.0], [2.0, 10.0], [-99.0] * 2, [99.0] * 2)
    )
    sizes = change_size(model, np.array([0.0, 0.0]), np.array([[2.0, 0.0], [0.0, -5.0], [2.0, 10.0]]))
    np.testing.assert_allclose(sizes, [1.0, 0.5, 2.0])


def test_a_gap_is_no_change():
    np.testing.assert_array_equal(changed_features(np.array([1.0, np.nan, 2.0]), np.array([1.0, np.nan, 3.0])), [2])


def test_a_flip_is_as_small_as_one_split_allows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 2))
    clf = ReticulumClassifier(random_state=0).fit(X, X[:, 0] > 0)
    flip = explain_rows(clf, [[1.0, 0.0]])[0].flip
    assert set(flip.changes) == {"x0"}
    old, new = flip.changes["x0"]
    assert old == 1.0
    # Rounded outwards from about 0 by a hundredth of the change.
    assert -0.2 < new < 0.1
    assert new == round(new, 2)


def test_several_features_change_where_one_is_not_enough():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, size=(500, 6))
    clf = ReticulumClassifier(random_state=0).fit(X, X.sum(axis=1) > 0)
    row = np.full((1, 6), 0.9)
    flip = explain_rows(clf, row)[0].flip
    assert 2 <= len(flip.changes) < 6
    for name, (_, new) in flip.changes.items():
        row[0, int(name[1:])] = new
    assert not clf.predict(row)[0]
    assert explain_rows(clf, np.full((1, 6), 0.9), fixed_features=range(5))[0].flip is None


def test_features_beyond_a_hard_split_are_tried():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, size=(3000, 4))
    y = np.where(X[:, 0] > 0, np.where(X[:, 2] > 0, 3, 2), np.where(X[:, 1] > 0, 1, 0))
    hard = simplify(ReticulumClassifier(random_state=0).fit(X, y), X, y).estimator
    rows = X[(X[:, 0] < -0.3) & (X[:, 2] < -0.3)][:20]
    assert all(why.flip is not None for why in explain_rows(hard, rows, to=3))


def test_changes_of_several_features_are_as_small_as_will_do():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, size=(2000, 3))
    y = np.abs(X[:, :2]).max(axis=1) < 0.4
    clf = ReticulumClassifier(random_state=0).fit(X, y)
    outside = X[np.abs(X[:, :2]).min(axis=1) > 0.6][:20]
    for why in explain_rows(clf, outside):
        for _, new in why.flip.changes.values():
            assert 0.2 < abs(new) < 0.45


def test_wild_cells_are_rounded_from_the_limit():
    X = np.random.default_rng(0).normal(size=(400, 2))
    clf = ReticulumClassifier(random_state=0).fit(X, X[:, 0] > 0.5)
    flip = explain_rows(clf, [[1e15, 0.0]])[0].flip
    assert 0.3 < flip.changes["x0"][1] < 0.6
