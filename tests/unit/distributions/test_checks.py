"""Checks of arguments name the value, its place and what to do."""

import numpy as np
import pytest

from bayesian_reticulum.distributions.checks import (
    as_columns,
    check,
    checked_levels,
    checked_probabilities,
    choose,
    counted,
    cumulate,
    interval_ends,
    random_generator,
)


def test_nouns_are_in_the_plural_where_there_is_not_one():
    assert [counted(n, "row") for n in (0, 1, 2)] == ["0 rows", "1 row", "2 rows"]
    assert counted(3, "class", "classes") == "3 classes"


def test_the_first_bad_value_is_named_with_its_place():
    values = np.array([[1.0, -2.0], [-3.0, 4.0]])
    check(values > -9, values, "x", "give more")
    with pytest.raises(ValueError, match=r"^x\[0, 1\] is -2\.0; give more\.$"):
        check(values > 0, values, "x", "give more")
    with pytest.raises(ValueError, match=r"^x\[1\] is -3\.0; give more\.$"):
        check(values[:, :1] > 0, values[:, :1], "x", "give more")


def test_probabilities_that_sum_to_one_stay_to_the_bit_and_others_are_divided_by_their_sum():
    exact = np.array([[0.1, 0.2, 0.7]])
    assert checked_probabilities(exact, "weights", "classes", axis=1) is exact
    near = np.array([[0.5, 0.5 + 1e-7]])
    np.testing.assert_allclose(checked_probabilities(near, "weights", "classes", axis=1).sum(), 1.0, rtol=1e-15)
    with pytest.raises(ValueError, match=r"the weights of row 1 sum to 0\.9; divide them by their sum"):
        checked_probabilities([[0.5, 0.4], [0.5, 0.5]], "weights", "components", axis=0)
    with pytest.raises(ValueError, match=r"weights have shape \(2,\); they need \(rows, classes\)"):
        checked_probabilities([0.5, 0.5], "weights", "classes", axis=1)


def test_numbers_become_columns_of_all_rows():
    for y, shape, is_column in (
        (3.0, (4, 1), True),
        (np.zeros(4), (4, 1), True),
        (np.zeros((4, 2)), (4, 2), False),
        (np.zeros((1, 3)), (4, 3), False),
    ):
        columns, flag = as_columns(np.asarray(y), 4)
        assert (columns.shape, flag) == (shape, is_column)
    with pytest.raises(ValueError, match=r"y has shape \(3,\); for 4 rows give a scalar, \(4,\), \(4, m\) or \(1, m\)"):
        as_columns(np.zeros(3), 4)


def test_levels_are_probabilities_one_or_many():
    assert checked_levels(0.3)[1]
    levels, is_scalar = checked_levels([0.0, 1.0])
    assert not is_scalar
    np.testing.assert_array_equal(levels, [0.0, 1.0])
    with pytest.raises(ValueError, match=r"q\[1\] is nan; give probabilities between 0 and 1"):
        checked_levels([0.5, np.nan])


def test_an_interval_leaves_out_as_much_on_either_side():
    np.testing.assert_allclose(interval_ends(0.9), [0.05, 0.95])
    for level in (0, 1, "0.9"):
        with pytest.raises(ValueError, match=f"level is {level!r}; give a probability between 0 and 1, such as 0.9"):
            interval_ends(level)


def test_what_has_no_probability_is_never_drawn():
    cumulated = cumulate(np.array([[0.0, 0.5, 0.5, 0.0], [1.0, 0.0, 0.0, 0.0]]))
    np.testing.assert_array_equal(cumulated[:, -1], 1.0)
    draws = choose(cumulated, 1000, np.random.default_rng(0))
    assert set(draws[0].tolist()) == {1, 2}
    assert set(draws[1].tolist()) == {0}
    with pytest.raises(ValueError, match="n is -1; give the number of draws for each row, 0 or more"):
        choose(cumulated, -1, np.random.default_rng(0))


def test_a_generator_is_taken_as_it_is_and_seeds_are_those_of_scikit_learn():
    rng = np.random.default_rng(0)
    assert random_generator(rng) is rng
    assert random_generator(7).random() == random_generator(np.random.RandomState(7)).random()
