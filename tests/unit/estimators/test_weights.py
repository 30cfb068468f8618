"""Weights of rows and classes, and which rows have one."""

import numpy as np
import pytest

from bayesian_reticulum import ReticulumClassifier
from bayesian_reticulum.estimators.weights import checked_weights, class_weights, rows_of_table, used_rows

X_GOOD, Y_GOOD = np.arange(12.0).reshape(6, 2), np.array([0, 1, 0, 1, 0, 1])


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1, 1, -2.5, 1, 1, 1], r"finite and not negative; sample_weight\[2\] = -2.5. Use 0"),
        ([1, 1, 1, np.nan, 1, 1], r"finite and not negative; sample_weight\[3\] = nan"),
        ([np.inf, 1, 1, 1, 1, 1], r"finite and not negative; sample_weight\[0\] = inf"),
        (np.zeros(6), "all sample_weight are zero: no row is left"),
        (np.full(6, 1e17), r"sample_weight sums to 6e\+17, beyond what counts can resolve .* divide all weights"),
        (0.0, "all sample_weight are zero"),
        (-1.0, r"sample_weight\[0\] = -1.0"),
        (np.ones(5), r"sample_weight has shape \(5,\); X has 6 rows, so it must have shape \(6,\)"),
        (np.ones((6, 1)), r"sample_weight has shape \(6, 1\); X has 6 rows"),
        (["a"] * 6, "sample_weight must be numbers"),
        ("balanced", "sample_weight must be numbers"),
        ([None] * 6, "sample_weight must be numbers|sample_weight must be finite"),
    ],
    ids=["negative", "nan", "inf", "zeros", "huge", "zero", "minus", "short", "2-d", "strings", "string", "nothing"],
)
def test_bad_weights_are_refused(weights, message):
    with pytest.raises(ValueError, match=message):
        ReticulumClassifier().fit(X_GOOD, Y_GOOD, weights)


def test_weights_are_ones_where_none_are_given_and_one_number_stands_for_all():
    np.testing.assert_array_equal(checked_weights(None, 3), [1, 1, 1])
    np.testing.assert_array_equal(checked_weights(2, 3), [2, 2, 2])
    with pytest.raises(ValueError, match=r"sample_weight times class_weight must be finite and not negative"):
        checked_weights([1.0, np.inf], 2, "sample_weight times class_weight")


def test_rows_without_a_weight_are_left_out_and_the_others_keep_their_number():
    all_rows, some = used_rows(np.ones(4)), used_rows(np.array([0.0, 1.0, 0.0, 2.0]))
    assert all_rows == slice(None)
    np.testing.assert_array_equal(some, [1, 3])
    assert [rows_of_table(used, 1) for used in (all_rows, some)] == [1, 3]


def test_balanced_classes_weigh_the_same_and_a_class_without_rows_nothing():
    codes, weights = np.array([0, 0, 0, 1, 1]), np.array([1.0, 1.0, 2.0, 1.0, 1.0])
    by_class = class_weights("balanced", np.array(["a", "b", "c"]), codes, weights)
    np.testing.assert_allclose(by_class, [0.75, 1.5, 0.0])
    np.testing.assert_allclose(np.bincount(codes, weights * by_class[codes]), [3.0, 3.0])


def test_classes_that_are_not_named_weigh_one():
    codes = np.array([0, 1])
    np.testing.assert_array_equal(class_weights({"b": 3}, np.array(["a", "b"]), codes, np.ones(2)), [1.0, 3.0])
    for given, message in {
        "fair": 'class_weight must be None, "balanced" or a dict',
        7: 'class_weight must be None, "balanced" or a dict',
    }.items():
        with pytest.raises(ValueError, match=message):
            class_weights(given, np.array(["a", "b"]), codes, np.ones(2))
    with pytest.raises(ValueError, match=r"class_weight has a weight for 'z', but the classes are \['a', 'b'\]"):
        class_weights({"z": 1}, np.array(["a", "b"]), codes, np.ones(2))
    with pytest.raises(ValueError, match="class_weight is zero for all classes"):
        class_weights({"a": 0, "b": 0}, np.array(["a", "b"]), codes, np.ones(2))
