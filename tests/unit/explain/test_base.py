"""Cards are plain data, and predictions have the names of the targets."""

import json
import pickle
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from bayesian_reticulum.explain import evidence_ledger, explain_rows, leaf_cards, node_cards
from bayesian_reticulum.explain.base import Card, by_target, join_predictions
from small_models import MIXED, fitted, fitted_to_mixed


@dataclass(frozen=True)
class Sample(Card):
    values: Any


@pytest.mark.parametrize(
    ("values", "plain"),
    [
        (np.arange(3), [0, 1, 2]),
        (np.float64(0.5), 0.5),
        ((np.bool_(True), None, "text"), [True, None, "text"]),
        ({"a": (np.int64(1), [np.zeros((1, 2))])}, {"a": [1, [[[0.0, 0.0]]]]}),
    ],
)
def test_arrays_become_lists_at_any_depth(values, plain):
    out = Sample(values).to_dict()
    assert out == {"values": plain}
    assert json.loads(json.dumps(out)) == out


@pytest.mark.parametrize("name", MIXED)
def test_all_cards_are_plain_data_that_do_not_change(name):
    model, frame = fitted_to_mixed(name)
    cards = [*node_cards(model), *leaf_cards(model), *explain_rows(model, frame.iloc[:2]), evidence_ledger(model)]
    for card in cards:
        assert json.loads(json.dumps(card.to_dict())) == card.to_dict()
        assert pickle.loads(pickle.dumps(card)).to_dict() == card.to_dict()
        with pytest.raises(AttributeError):
            card.extra = 1


def test_a_prediction_is_named_by_the_targets():
    assert by_target(fitted("categories and gaps")[0].model_, [0.25, 0.75]) == {"ill": 0.25, "well": 0.75}
    assert by_target(fitted("linear")[0].model_, 1.5) == {"y": 1.5}
    assert join_predictions({"ill": 0.123456, "well": 0.876544}) == "ill 0.1235, well 0.8765"
