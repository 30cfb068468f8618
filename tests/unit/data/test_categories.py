"""Categories: which columns they are, which levels are kept and in which order, and their codes."""

import numpy as np
import pandas as pd
import pytest

from bayesian_reticulum.data.categories import Category, category_rule, is_from_dtype, learn_categories
from bayesian_reticulum.data.columns import Levels, Numbers
from bayesian_reticulum.data.frames import read_frame


def learned(column, weights=None, signs=None):
    n = len(column.places)
    signs = np.zeros(n) if signs is None else signs
    return Category.learn(column, np.ones(n) if weights is None else weights, lambda rows: signs[rows, None])


def test_rare_levels_are_pooled():
    places = np.repeat([0, 1, 2, 3, 4, -1], [400, 30, 8, 5, 1, 3])
    category = learned(Levels(list("abcde"), places))
    assert category.levels == ("a", "b")
    assert category.pooled == {"c", "d", "e"}
    assert category.labels == ("a", "b", "3 rare levels")
    assert category.n_codes == 3
    # One rare level alone keeps its name.
    assert learned(Levels(["a", "b"], np.repeat([0, 1], [400, 8]))).levels == ("a", "b")
    many = learned(Levels(list(range(100)), np.arange(100).repeat(90)))
    assert (len(many.levels), len(many.pooled)) == (0, 100)
    few_large = learned(Levels(list(range(70)), np.arange(70).repeat(90)))
    assert (len(few_large.levels), len(few_large.pooled)) == (63, 7)


def test_weights_decide_which_level_is_the_most_frequent():
    places = np.repeat([0, 1], [30, 20])
    assert learned(Levels(["a", "b"], places)).levels == ("a", "b")
    assert learned(Levels(["a", "b"], places), np.where(places == 1, 3.0, 1.0)).levels == ("b", "a")
    assert learned(Levels(["a", "b"], places), np.where(places == 1, 0.0, 1.0)).levels == ("a",)


@pytest.mark.parametrize("values", [["a", "b", "c"], ["c", "a", "b"], ["b", "c", "a"]])
def test_levels_of_the_same_size_come_in_the_order_of_their_signs(values):
    places = np.tile([0, 1, 2], 20)
    category = learned(Levels(values, places), signs=np.where(places == 1, 5.0, places - 3.0))
    assert category.levels == (values[1], values[2], values[0])


def test_of_two_numbers_of_the_same_size_the_larger_comes_last():
    places = np.tile([0, 1], 20)
    for values in ([3, 7], [7, 3]):
        assert learned(Levels(values, places), signs=places.astype(float)).levels == (3, 7)
    assert learned(Levels([True, False], places)).levels == (False, True)


def test_levels_have_codes_and_unseen_ones_are_gaps():
    category = Category(("a", "b"), frozenset({"c", "d", "e"}))
    column = Levels(["e", "b", "new"], np.array([0, 1, 2, -1]))
    np.testing.assert_array_equal(category.encode(column), [2, 1, np.nan, np.nan])
    assert category.encode(Levels([], np.array([-1]))).tolist() == pytest.approx([np.nan], nan_ok=True)


def test_levels_of_another_kind_than_in_fit_are_refused():
    Category(("a",)).check_kind(Levels(["z"], np.array([0])), "column 'x'")
    Category(()).check_kind(Levels([1], np.array([0])), "column 'x'")
    with pytest.raises(ValueError, match="column 'x' holds numbers, such as 7, but its levels were text in fit"):
        Category(("a",)).check_kind(Levels([7], np.array([0])), "column 'x'")
    with pytest.raises(ValueError, match="column 'x' holds text, such as 'a', but its levels were numbers in fit"):
        Category((), frozenset({1, 2})).check_kind(Levels(["a"], np.array([0])), "column 'x'")


def test_categories_of_a_table_do_not_depend_on_names_of_levels():
    rng = np.random.default_rng(0)
    cells = np.column_stack([rng.normal(size=120), np.full((120, 2), np.nan)])
    one, two = np.tile(np.arange(4), 30), rng.integers(3, size=120)
    targets = rng.integers(2, size=120)

    def kept(names):
        levels = (None, Levels([names[place] for place in range(4)], one), Levels(["u", "v", "w"], two))
        categories = learn_categories(cells, levels, np.ones(120), targets)
        assert categories[0] is None
        return [names.index(level) for level in categories[1].levels], categories[2].levels

    assert kept("abcd") == kept("dbca") == kept("cdab")
    assert learn_categories(cells, (None,) * 3, np.ones(120), targets) == (None,) * 3


FRAME = read_frame(pd.DataFrame({"a": [1.0, 2.0], "b": [True, False], "c": ["x", "y"]}))
COLUMNS = [FRAME.read(place) for place in range(3)]


@pytest.mark.parametrize(
    ("choice", "expected"),
    [("from_dtype", [False, True, True]), (["c"], [False, False, True]), ([True, False, True], [True, False, True])],
    ids=repr,
)
def test_columns_of_levels_or_chosen_ones_are_categories(choice, expected):
    is_category = category_rule(choice, FRAME)
    assert [is_category(place, column) for place, column in enumerate(COLUMNS)] == expected
    assert is_from_dtype("from_dtype")
    assert not is_from_dtype(["from_dtype"])


def test_text_that_would_be_no_category_is_refused():
    with pytest.raises(ValueError, match="column 'c' holds text, such as 'x', and categorical_features is None"):
        category_rule(None, FRAME)(2, COLUMNS[2])
    with pytest.raises(ValueError, match="column 'c' holds text, such as 'x', and is not among categorical_features"):
        category_rule(["a"], FRAME)(2, COLUMNS[2])
    assert not category_rule(None, FRAME)(1, COLUMNS[1])
    assert not category_rule(None, FRAME)(0, Numbers(np.zeros(2)))
    text = read_frame(np.array([["1.5"], ["2"]]))
    with pytest.raises(ValueError, match=r"column 0 holds numbers that are written as text, such as '1.5'"):
        category_rule("from_dtype", text)(0, text.read(0))
    assert category_rule([0], text)(0, text.read(0))
