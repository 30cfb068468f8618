"""A simplification adds up its steps, prints them and gives them as plain data."""

import json

import numpy as np
import pytest

from bayesian_reticulum.simplification.result import Simplification, SimplificationStep
from bayesian_reticulum.tree import single_leaf, split_leaf

TREE = split_leaf(single_leaf(3), 0, [0.0, 1.0, 2.0, 3.0])


@pytest.fixture
def simplification():
    precisions = np.ones(1)
    return Simplification(
        "an estimator",
        (
            SimplificationStep("as fitted", 1, (3,), -20.0, 0.0, 0.2, 0.0, TREE, precisions),
            SimplificationStep("split 0 without a", 1, (2,), -22.5, 2.5, 0.25, 0.05, TREE, precisions),
            SimplificationStep("split 0 dropped", 0, (), -22.0, -0.5, 0.3, 0.05, single_leaf(3), np.empty(0)),
        ),
    )


def test_costs_of_all_steps_add_up(simplification):
    assert simplification.cost == sum(step.cost for step in simplification.steps) == 2.0
    assert simplification.log_loss_cost == pytest.approx(0.1)


def test_a_simplification_prints_a_line_for_each_step(simplification):
    header, *lines = str(simplification).splitlines()
    assert header.split()[:3] == ["step", "splits", "features"]
    assert lines[1].split() == ["split", "0", "without", "a", "1", "2", "-22.50", "2.50", "0.2500", "0.0500"]
    assert lines[2].split()[-6:] == ["0", "0", "-22.00", "-0.50", "0.3000", "0.0500"]
    uneven = SimplificationStep("two", 2, (1, 4), -1.0, 0.0, 0.1, 0.0, TREE, np.ones(1))
    assert "1 to 4" in str(Simplification("an estimator", (uneven,)))


def test_steps_are_plain_data(simplification):
    data = simplification.to_dict()
    assert json.loads(json.dumps(data)) == data
    assert (data["cost"], data["steps"][1]["n_features"]) == (2.0, [2])
    assert "tree" not in data["steps"][0]


def test_precisions_of_a_step_cannot_be_written(simplification):
    with pytest.raises(ValueError, match="read-only"):
        simplification.steps[0].precisions[0] = 2.0
