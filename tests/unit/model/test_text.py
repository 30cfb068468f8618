"""Plain text shows the outline of a tree with its branches drawn as lines."""

import pytest

from bayesian_reticulum.model.outline import outline
from bayesian_reticulum.model.text import as_text
from small_models import MODELS, chain, fitted


@pytest.mark.parametrize("name", MODELS)
def test_text_has_the_words_of_the_outline_in_its_order(name):
    model = fitted(name)[0].model_
    text = as_text(model, None, 4, 3)
    place = 0
    for node in outline(model):
        for part in (node.name, node.description, node.detail):
            place = text.index(part, place)
    assert len(text.splitlines()) == 1 + model.tree.n_leaves + 2 * model.tree.n_splits


def test_lines_join_a_split_with_its_children():
    lines = as_text(chain(2, ("a",)).model_, None, 4, 3).splitlines()
    assert [line.split(":")[0].split("10-90%")[0] for line in lines] == [
        "Reticulum",
        "split 0",
        "│    ",
        "├─ left  leaf 0",
        "└─ right split 1",
        "   │    ",
        "   ├─ left  leaf 1",
        "   └─ right leaf 2",
    ]


def test_a_line_goes_on_beside_a_branch_while_its_right_side_is_to_come():
    model = fitted("long names")[0].model_
    lines = as_text(model, None, 4, 3).splitlines()
    assert any(line.startswith("│  ") for line in lines)
    # Below the last right child there is no line on the left.
    last = max(place for place, line in enumerate(lines) if line.startswith("└─ right"))
    assert all(line.startswith("   ") for line in lines[last + 1 :])


def test_depth_features_and_digits_are_those_asked_for():
    model = fitted("long names")[0].model_
    assert len(as_text(model, 0, 4, 3).splitlines()) == 2
    assert "others (100%)" in as_text(model, None, 0, 3)
    assert len(as_text(model, None, 4, 9)) > len(as_text(model, None, 4, 3))
