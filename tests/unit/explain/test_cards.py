"""Cards of splits and leaves are exact: they reproduce gates, contributions add up, and leaves share out all rows."""

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit

from asking import family_of
from bayesian_reticulum import ReticulumClassifier
from bayesian_reticulum.datasets import make_cross, make_sphere
from bayesian_reticulum.estimators import rows_of_model, training_rows
from bayesian_reticulum.evidence import evaluate
from bayesian_reticulum.explain import leaf_cards, node_cards
from bayesian_reticulum.tree import collapse, kept_splits
from small_models import MIXED, chain, fitted, fitted_to_mixed


@pytest.fixture(params=MIXED)
def mixed_model(request):
    return fitted_to_mixed(request.param)


def test_a_node_card_reproduces_the_gate(mixed_model):
    estimator, frame = mixed_model
    model = estimator.model_
    cells = model.encode(frame.dropna())
    # Columns in the units of the table, within their limits.
    columns = model.schema.design(cells)[1:].T * model.schema.scale + model.schema.center
    for card, gate in zip(node_cards(estimator), model.routes(cells).gate[0], strict=True):
        activation = card.stiffness * (columns @ np.cos(card.angles) - card.offset)
        np.testing.assert_allclose(expit(activation), gate, atol=1e-9)
        assert sum(column.share for column in card.contributions) == pytest.approx(1)
        assert card.transition_width * card.stiffness == pytest.approx(2 * np.log(9))
        assert card.log_bayes_factor == model.log_bayes_factors[card.split]
        assert card.grey_share == model.grey_shares[card.split]
        assert card.price == model.prices[card.split]


@pytest.mark.parametrize("make", [make_cross, make_sphere])
def test_the_bayes_factor_on_a_card_is_a_difference_of_log_evidence(make):
    X, y, _ = make(500, random_state=0)
    clf = ReticulumClassifier(random_state=0).fit(X, y)
    data, *_ = training_rows(clf, X, y)
    rows = rows_of_model(clf, data)
    tree, precisions = clf.model_.tree, clf.model_.precisions
    for card in node_cards(clf):
        kept = kept_splits(tree.shape, card.split)
        without = evaluate(rows, family_of(rows), collapse(tree, card.split), precisions[kept], tolerance=1e-9)
        assert card.log_bayes_factor == pytest.approx(clf.log_evidence_ - without.log_evidence, abs=1e-3)


def test_contributions_are_the_slopes_of_the_hyperplane_the_largest_share_first():
    model = chain(2, ("a", "b", "c")).model_
    for card in node_cards(chain(2, ("a", "b", "c"))):
        shares = [column.share for column in card.contributions]
        assert shares == sorted(shares, reverse=True)
        slopes = {column.name: column.slope for column in card.contributions}
        np.testing.assert_allclose([slopes[name] for name in "abc"], model.hyperplanes[card.split, 1:])


def test_leaf_cards_share_out_all_rows(mixed_model):
    model, _ = mixed_model
    cards = leaf_cards(model)
    assert sum(card.share for card in cards) == pytest.approx(1)
    assert [card.leaf for card in cards] == list(range(model.n_leaves_))
    for card in cards:
        assert (card.low <= card.mean).all()
        assert (card.mean <= card.high).all()
        wider = leaf_cards(model, level=0.99)[card.leaf]
        assert (wider.low <= card.low).all()
        assert (card.high <= wider.high).all()


@pytest.mark.parametrize("name", ["26 classes", "categories and gaps", "constant"])
def test_parents_are_those_of_the_tree(name):
    model, *_ = fitted(name)
    cards = {("split", card.split): card for card in node_cards(model)}
    cards |= {("leaf", card.leaf): card for card in leaf_cards(model)}
    assert cards["split", 0].parent is None
    for parent, pair in enumerate(model.model_.tree.children.tolist()):
        for child, side in zip(pair, ("left", "right"), strict=True):
            card = cards[("split", child) if child >= 0 else ("leaf", ~child)]
            assert (card.parent, card.side) == (parent, side)


def test_a_family_without_intervals_has_the_mean_alone():
    for card in leaf_cards(fitted("counts")[0]):
        assert np.isfinite(card.mean).all()
        assert np.isnan(card.low).all()
        assert np.isnan(card.high).all()


def test_a_node_card_prints_the_columns_with_a_slope():
    card = node_cards(chain(2, ("a", "b")))[1]
    lines = str(card).splitlines()
    assert lines[0] == "split 1, right of split 0"
    assert lines[1] == f"  10-90% over {card.standardised_width:.2g} sd, 14% of its rows between"
    assert lines[2] == "  log Bayes factor 1000.0, its price of 1.0 paid"
    first = card.contributions[0]
    assert lines[3] == f"  {first.name}  slope {first.slope:10.4g}  share {first.share:4.0%}"
    assert len(lines) == 3 + 2


def test_a_leaf_card_prints_each_class_with_its_interval():
    card = leaf_cards(chain(2, ("a", "b")), level=0.8)[1]
    lines = str(card).splitlines()
    assert lines[0] == f"leaf 1, left of split 1: n = {card.count:.1f}, {card.share:.0%} of all rows"
    assert lines[2] == f"  2nd    {card.mean[1]:.4g}  (80% sure: {card.low[1]:.4g} to {card.high[1]:.4g})"


def test_the_only_leaf_has_no_place_below_a_split():
    (card,) = leaf_cards(fitted("no split")[0])
    assert str(card).startswith("leaf 0: n = 300.0, 100% of all rows")


def test_cards_are_made_of_fitted_estimators_and_levels_are_probabilities():
    with pytest.raises(ValueError, match=r"ReticulumClassifier is not a fitted reticulum\. Call fit first"):
        node_cards(ReticulumClassifier())
    clf = ReticulumClassifier(max_splits=0).fit(pd.DataFrame({"a": [1.0, 2.0]}), [0, 1])
    with pytest.raises(ValueError, match="level must be a number between 0 and 1; got 90"):
        leaf_cards(clf, level=90)
