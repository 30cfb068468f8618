"""Explanations of rows are exact: contributions sum to activations, memberships mix to predictions."""

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit

from bayesian_reticulum import PaperReticulumClassifier, ReticulumClassifier
from bayesian_reticulum.datasets import make_cross
from bayesian_reticulum.explain import explain_rows
from bayesian_reticulum.explain.rows import Decision
from small_models import MIXED, fitted, fitted_to_mixed


@pytest.mark.parametrize("name", MIXED)
def test_contributions_sum_to_the_activation_and_paths_to_the_prediction(name):
    model, frame = fitted_to_mixed(name)
    rows = frame.iloc[:30]
    membership = model.membership(rows)
    predicted = model.predict_proba(rows) if hasattr(model, "predict_proba") else model.predict(rows)[:, None]
    uncertainty = model.predict_uncertainty(rows)
    for row, why in enumerate(explain_rows(model, rows)):
        np.testing.assert_allclose(why.leaves, membership[row], atol=1e-12)
        np.testing.assert_allclose(list(why.prediction.values()), predicted[row], rtol=1e-9)
        for part in ("total", "aleatoric", "leaf", "routing"):
            assert why.uncertainty[part] == pytest.approx(getattr(uncertainty, part)[row])
        for decision in why.decisions:
            total = decision.baseline + sum(decision.contributions.values())
            assert total == pytest.approx(decision.activation, abs=1e-9)
            gate = expit(decision.softening * decision.activation)
            assert gate == pytest.approx(decision.probability_left, abs=1e-12)
            assert list(decision.contributions) == ["age", "income", "city", "smokes"]
            assert (decision.softening < 1) == bool(rows.iloc[row].isna().any())
        roots = [decision.reach for decision in why.decisions if decision.split == 0]
        assert roots == pytest.approx([1.0] * bool(why.decisions))


def test_splits_come_in_the_order_of_their_influence():
    model, X, _ = fitted("26 classes")
    family, statistics, sides = model.model_.family, model.model_.statistics, model.model_.tree.shape.sides
    for why in explain_rows(model, X[::40], flips=False):
        influences = []
        for decision in why.decisions:
            means = []
            for side in (1, -1):
                below = np.where(sides[decision.split] == side, why.leaves, 0)
                if below.sum() > 0:
                    share = below[:, None] / below.sum()
                    means.append(family.predictive_mean(statistics, share, np.ones((3, 1)))[0])
            if len(means) == 2:
                influences.append(decision.reach * np.abs(means[0] - means[1]).max())
        assert (np.diff(influences) < 1e-9).all()


def test_flips_need_not_be_searched_for():
    X, y, _ = make_cross(200, random_state=0)
    clf = ReticulumClassifier(random_state=0).fit(X, y)
    (why,) = explain_rows(clf, X[:1], flips=False)
    assert why.flip is None
    assert str(why).endswith("flip: none was found")


def test_a_decision_prints_its_largest_contributions_and_the_rest_as_one():
    parts = dict(zip("abcdef", (0.1, -3.0, 2.0, -1.0, 0.5, 0.0), strict=True))
    decision = Decision(2, 0.25, 0.3, -0.4, 0.5, 1.0, parts)
    assert str(decision) == (
        "split 2, reached with 25.0%: left with 30.0%, "
        "activation -0.40 = 1.00 - 3.00 b + 2.00 c - 1.00 d + 0.50 e + 0.10 others, softened by 0.50"
    )
    assert str(Decision(0, 1.0, 0.5, 0.0, 1.0, 0.0, {"a": 0.0})) == (
        "split 0, reached with 100.0%: left with 50.0%, activation 0.00 = 0.00"
    )


def test_an_explanation_prints_prediction_decisions_and_uncertainty():
    model, X, _ = fitted("two classes")
    (why,) = explain_rows(model, X[:1])
    lines = str(why).splitlines()
    assert lines[0].startswith("prediction: 0 ")
    assert [line.strip() for line in lines[1:-2]] == [str(decision) for decision in why.decisions]
    assert lines[-2].startswith(f"uncertainty: {why.uncertainty['total']:.3g} = aleatoric ")
    assert lines[-1] == f"flip: {why.flip}"


REFUSED = {
    r"fixed_features names 'shoe', but the columns are 'age', 'income'": {"fixed_features": ["shoe"]},
    r"fixed_features = 'age' is not understood\. Give None, a mask, or names or places": {"fixed_features": "age"},
    "fixed_features holds 9, but X has 4 columns": {"fixed_features": [9]},
    "fixed_features is a mask of 1 columns, but X has 4": {"fixed_features": [True]},
}


@pytest.mark.parametrize("message", REFUSED)
def test_features_that_are_not_there_cannot_be_fixed(message):
    model, frame = fitted_to_mixed("one leaf")
    with pytest.raises(ValueError, match=message):
        explain_rows(model, frame.iloc[:1], **REFUSED[message])


def test_tables_are_taken_and_refused_as_by_predictions():
    X, y, _ = make_cross(100, random_state=0)
    named = ReticulumClassifier(random_state=0, patience=1).fit(pd.DataFrame(X, columns=["a", "b"]), y)
    with pytest.warns(UserWarning, match="X does not have valid feature names, but ReticulumClassifier was fitted"):
        whys = explain_rows(named, pd.DataFrame(X[:2], columns=[5, 6]), flips=False)
    assert whys == explain_rows(named, pd.DataFrame(X[:2], columns=["a", "b"]), flips=False)
    with pytest.raises(ValueError, match="X has 1 features, but ReticulumClassifier is expecting 2"):
        explain_rows(ReticulumClassifier(random_state=0, patience=1).fit(X, y), X[:2, :1])
    paper = PaperReticulumClassifier(max_attempts=1, random_state=0).fit(X, y)
    with pytest.raises(ValueError, match="PaperReticulumClassifier does not accept missing values"):
        explain_rows(paper, [[np.nan, 1.0]])
