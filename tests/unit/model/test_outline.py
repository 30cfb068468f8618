"""The outline of a tree says what each node is, in few and exact words."""

from itertools import pairwise

import numpy as np
import pytest

from bayesian_reticulum import Schema
from bayesian_reticulum.model import class_name, linear_terms, printable
from bayesian_reticulum.model.outline import describe_linear, outline, summary
from small_models import MODELS, chain, fitted

SCHEMA = Schema(("width", "year", ""), [2.0, 2000.0, 0.0], [0.5, 10.0, 1.0], [-1e9] * 3, [1e9] * 3)


@pytest.mark.parametrize("name", MODELS)
def test_parents_stand_before_their_children_and_the_left_one_comes_first(name):
    model = fitted(name)[0].model_
    nodes = list(outline(model))
    assert [node.name for node in nodes if node.is_leaf] == [f"leaf {leaf}" for leaf in range(model.tree.n_leaves)]
    assert len(nodes) == 2 * model.tree.n_splits + 1
    assert (nodes[0].level, nodes[0].side) == (0, "")
    for above, node in pairwise(nodes):
        assert node.side == ("right" if above.is_leaf else "left")
        assert node.level <= above.level + 1


@pytest.mark.parametrize("name", ["26 classes", "long names"])
def test_a_branch_shown_as_one_leaf_has_the_rows_of_all_below(name):
    model = fitted(name)[0].model_
    (node,) = outline(model, max_depth=0)
    assert node.is_leaf
    assert node.name == f"split 0 and {model.tree.n_splits - 1} below as one leaf"
    np.testing.assert_allclose(node.statistics, model.statistics.sum(axis=0))
    nodes = list(outline(model, max_depth=1))
    assert [node.level for node in nodes] == [0, 1, 1]
    np.testing.assert_allclose(nodes[1].statistics + nodes[2].statistics, nodes[0].statistics)


def test_a_split_says_how_soft_it_is_and_its_bayes_factor():
    model = chain(2, ("a", "b")).model_
    split = next(outline(model))
    assert split.description.startswith("P(left) = sigmoid(")
    assert split.detail == (
        f"10-90% over {model.transition_widths[0]:.2g} sd, 14% of its rows between; log Bayes factor 1000.0"
    )


def test_a_linear_function_is_in_the_units_of_the_table():
    # 1 + 2 (width - 2) / .5 = -7 + 4 width
    assert describe_linear(SCHEMA, np.array([1.0, 2.0, 0.0, 0.0]), 4, 3) == "-7 + 4 width"


def test_a_column_far_from_zero_gets_more_digits():
    text = describe_linear(SCHEMA, np.array([0.12345678, 0.0, 1.2345678, 0.0]), 4, 3)
    assert text == "-246.79 + 0.12346 year"


def test_terms_without_room_are_counted_with_their_share():
    coefficients = np.array([0.0, 3.0, -1.0, 1.0])
    assert describe_linear(SCHEMA, coefficients, 1, 3) == "188 + 6 width + 2 others (40%)"
    assert describe_linear(SCHEMA, coefficients, 2, 3).endswith("- 0.1 year + 1 other (20%)")
    assert describe_linear(SCHEMA, coefficients, 0, 3).endswith("+ 3 others (100%)")


def test_a_column_without_a_name_is_named_by_its_place():
    assert describe_linear(SCHEMA, np.array([0.0, 0.0, 0.0, 2.0]), 4, 3) == "0 + 2 x2"


def test_a_constant_is_a_number():
    assert describe_linear(SCHEMA, np.array([1.23456]), 4, 3) == "1.235"


def test_terms_come_with_their_slopes_and_shares_the_largest_first():
    terms = linear_terms(SCHEMA, np.array([7.0, 1.0, -3.0, 0.0]))
    assert [term.name for term in terms] == ["year", "width", ""]
    assert [term.column for term in terms] == [1, 0, 2]
    assert [term.slope for term in terms] == pytest.approx([-0.3, 2.0, 0.0])
    assert [term.share for term in terms] == pytest.approx([0.75, 0.25, 0.0])
    assert all(term.share == 0 for term in linear_terms(SCHEMA, np.zeros(4)))


@pytest.mark.parametrize(("name", "printed"), [("a\nb", "a\\nb"), ("Größe", "Größe"), ("\x00", "\\x00"), ("", "")])
def test_a_name_stays_on_its_line(name, printed):
    assert printable(name) == printed


@pytest.mark.parametrize(("name", "printed"), [("1", "class 1"), ("0.5", "class 0.5"), ("-1", "-1"), ("ill", "ill")])
def test_a_class_that_is_a_number_is_called_a_class(name, printed):
    assert class_name(name) == printed


@pytest.mark.parametrize(("n_splits", "size"), [(0, "0 splits, 1 leaf"), (1, "1 split, 2 leaves")])
def test_a_summary_counts_splits_and_leaves(n_splits, size):
    assert summary(chain(n_splits, ("a",)).model_) == f"{size}, log evidence -10000.0"
