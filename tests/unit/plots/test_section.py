"""A section runs over one or two features and holds all others."""

import numpy as np
import pandas as pd
import pytest

from bayesian_reticulum import PaperReticulumClassifier, ReticulumClassifier
from bayesian_reticulum.plots.section import (
    Section,
    checked_cells,
    chosen_features,
    class_codes,
    held_row,
    limits,
    place_of,
)
from plugins import mixed_frame
from small_models import fitted


@pytest.fixture(scope="module")
def mixed_model():
    return fitted("categories and gaps")


def test_points_of_a_section_differ_in_its_features_alone():
    model, X, _ = fitted("500 features")
    section = Section.of_numbers(model, (3, 7), X, None, 5)
    rows = np.concatenate(list(section.blocks()))
    assert section.shape == (5, 5)
    np.testing.assert_array_equal(rows[:, 3], np.tile(section.grid[0], 5))
    np.testing.assert_array_equal(rows[:, 7], np.repeat(section.grid[1], 5))
    others = np.delete(np.arange(500), [3, 7])
    np.testing.assert_array_equal(rows[:, others], np.tile(np.median(X, axis=0)[others], (25, 1)))
    assert section.held == "at their median"


def test_a_large_section_is_predicted_in_blocks():
    model, X, _ = fitted("500 features")
    section = Section.of_numbers(model, (0, 1), X, None, 100)
    sizes = [len(block) for block in section.blocks()]
    assert sum(sizes) == 100**2
    assert len(sizes) > 1
    assert section.means(model.model_).shape == (100, 100, 2)


def test_planes_and_reach_are_those_of_the_tree():
    model, X, _ = fitted("two classes")
    section = Section.of_numbers(model, (0, 1), X, None, 6)
    schema, tree = model.model_.schema, model.model_.tree
    planes, reach = section.planes(schema, tree), section.reach(schema, tree)
    rows = np.concatenate(list(section.blocks()))
    activation = model.model_.routes(rows).activation[0]
    np.testing.assert_allclose(planes[:, :1] + planes[:, 1:] @ rows.T, activation, atol=1e-9)
    expected = (tree.shape.sides != 0) @ model.membership(rows).T
    np.testing.assert_allclose(reach.reshape(len(reach), -1), expected, atol=1e-12)
    np.testing.assert_allclose(reach[0], 1.0)
    assert reach.max() <= 1


def test_trees_that_are_still_growing_have_planes_and_reach():
    model, X, _ = fitted("two classes")
    section = Section.of_numbers(model, (0, 1), X, None, 4)
    for event in model.history_:
        assert section.planes(model.model_.schema, event.tree).shape == (event.tree.n_splits, 3)
        assert section.reach(model.model_.schema, event.tree).shape == (event.tree.n_splits, 4, 4)


def test_features_are_found_by_name_and_place(mixed_model):
    model = mixed_model[0].model_
    assert place_of(model, "income") == place_of(model, 1) == place_of(model, np.int64(1)) == 1
    assert chosen_features(model, "income", 2) == (1,)
    assert chosen_features(model, ["income", 0], 2) == (1, 0)
    assert set(chosen_features(model, None, 2)) == {0, 1}


@pytest.mark.parametrize(
    ("features", "message"),
    [
        (["height"], "there is no feature 'height'; choose from 'age', 'income', 'city', 'smokes'"),
        ([7], "there is no feature 7"),
        (["age", "age"], "features must name one or two different features"),
        ([], "features must name one or two different features"),
        (["age", "city"], r"feature 'city' is a category.*Choose from the numbers \('age', 'income'\)"),
    ],
)
def test_features_without_an_axis_are_refused(mixed_model, features, message):
    with pytest.raises(ValueError, match=message):
        chosen_features(mixed_model[0].model_, features, 2)


def test_features_that_are_all_categories_have_no_section():
    frame, y = mixed_frame(60)
    model = ReticulumClassifier(max_splits=0).fit(frame[["city", "smokes"]], y)
    with pytest.raises(ValueError, match=r"all features are categories.*Draw TreeDisplay instead"):
        chosen_features(model.model_, None, 2)


def test_the_other_features_are_held_at_typical_values_or_at_a_given_row(mixed_model):
    model, frame, _ = mixed_model
    cells, _ = checked_cells(model, frame, None)
    base, held = held_row(model, (1,), cells, None)
    assert held == "at their median"
    assert base[0] == frame["age"].median()
    assert base[2] == 0.0
    whole = frame.dropna().iloc[[3]]
    for row in (whole, whole.iloc[0]):
        given, held = held_row(model, (1,), cells, row)
        assert held == "as in the given row"
        np.testing.assert_array_equal(given, model.model_.encode(whole)[0])
    centre, held = held_row(model, (1,), None, None)
    assert held == "at their centre"
    assert centre[0] == model.model_.schema.center[0]
    assert held_row(model, (0, 1, 2, 3), cells, None)[1] == ""


def test_a_row_of_numbers_may_be_a_list():
    model, *_ = fitted("two classes")
    np.testing.assert_array_equal(held_row(model, (0,), None, [0.5, -0.5])[0], [0.5, -0.5])


def test_a_table_of_several_rows_is_no_row(mixed_model):
    with pytest.raises(ValueError, match=r"row must be a single row, such as X\[:1\]; got 5 rows"):
        held_row(mixed_model[0], (1,), None, mixed_frame(5)[0])


def test_an_axis_ends_with_the_rows_but_within_the_limits():
    model, X, _ = fitted("two classes")
    schema = model.model_.schema
    few = X[:30]
    low, high = limits(model.model_, 0, few)
    assert low == max(few[:, 0].min(), schema.low[0])
    assert high == min(few[:, 0].max(), schema.high[0])
    far = np.array([[-1e9, 0.0], [1e9, 0.0]])
    assert limits(model.model_, 0, far) == (schema.low[0], schema.high[0])
    low, high = limits(model.model_, 0, None)
    assert low < schema.center[0] < high
    # A single place becomes an interval.
    low, high = limits(model.model_, 0, np.zeros((1, 2)))
    assert high - low == 2


def test_rows_and_targets_are_checked(mixed_model):
    model, frame, y = mixed_model
    assert checked_cells(model, None, None) == (None, None)
    cells, targets = checked_cells(model, frame, y)
    assert cells.shape == frame.shape
    np.testing.assert_array_equal(targets, y)
    assert checked_cells(model, frame, None)[1] is None
    with pytest.raises(ValueError, match="y was given without X; give both, or neither"):
        checked_cells(model, None, [0])
    with pytest.raises(ValueError, match=r"y must have one target for each of the 5 rows; got shape \(1,\)"):
        checked_cells(model, mixed_frame(5)[0], [0])


def test_classes_that_fit_did_not_see_have_no_code(mixed_model):
    codes = class_codes(mixed_model[0], np.array(["well", "ill", "dead"]))
    np.testing.assert_array_equal(codes, [1, 0, -1])
    np.testing.assert_array_equal(class_codes(fitted("linear")[0], np.array([1, 2])), [1.0, 2.0])
    assert class_codes(mixed_model[0], None) is None


def test_a_row_with_gaps_keeps_them(mixed_model):
    model, frame, _ = mixed_model
    row = frame.iloc[[0]].assign(city=None, age=np.nan)
    base, _ = held_row(model, (1,), None, row)
    assert np.isnan(base[[0, 2]]).all()


def test_tables_are_taken_and_refused_as_by_predictions():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    y = (X[:, 0] > 0).astype(int)
    named = ReticulumClassifier(random_state=0, patience=1).fit(pd.DataFrame(X, columns=["a", "b"]), y)
    with pytest.warns(UserWarning, match="X does not have valid feature names, but ReticulumClassifier was fitted"):
        cells, _ = checked_cells(named, pd.DataFrame(X, columns=[5, 6]), y)
    np.testing.assert_array_equal(cells, X)
    paper = PaperReticulumClassifier(max_attempts=1, random_state=0).fit(X, y)
    message = "PaperReticulumClassifier does not accept missing values"
    with pytest.raises(ValueError, match=message):
        checked_cells(paper, [[np.nan, 1.0]], None)
    with pytest.raises(ValueError, match=message):
        held_row(paper, (0,), None, [np.nan, 1.0])
