"""What is told of a tree is exact: cards reproduce gates, contributions add up, ledgers total the evidence."""

import json
import pickle

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit
from scipy.stats import beta
from scipy.stats import t as student
from sklearn.datasets import load_iris

from bayesian_reticulum import (
    DirichletCategorical,
    NormalLinear,
    PaperReticulumClassifier,
    ReticulumClassifier,
    ReticulumRegressor,
    simplify,
)
from bayesian_reticulum.datasets import make_cross, make_sphere
from bayesian_reticulum.evidence.state import evaluate
from bayesian_reticulum.explain import evidence_ledger, explain_rows, leaf_cards, node_cards
from bayesian_reticulum.tree import collapse, kept_splits
from plugins import GammaPoisson, mixed_frame

FITTED = {
    "classes": lambda frame, y: ReticulumClassifier(random_state=0, patience=2).fit(frame, np.where(y, "ill", "well")),
    "numbers": lambda frame, y: ReticulumRegressor(random_state=0, patience=2).fit(frame, y + 0.1 * frame["income"]),
    "constants": lambda frame, y: ReticulumRegressor(leaf="constant", random_state=0, patience=2).fit(
        frame, y + 0.1 * frame["income"]
    ),
    "one leaf": lambda frame, y: ReticulumClassifier(max_splits=0).fit(frame, y),
    "one class": lambda frame, y: ReticulumClassifier().fit(frame, np.ones(len(y))),
}


@pytest.fixture(scope="module", params=FITTED)
def fitted(request):
    frame, y = mixed_frame(300)
    frame["income"] = frame["income"].fillna(2500.0)
    return FITTED[request.param](frame, y), frame


def test_a_node_card_reproduces_the_gate(fitted):
    model, frame = fitted
    whole = frame.dropna()
    schema = model.model_.schema
    cells = model._checked_rows(whole)
    # Columns as they come, within their limits.
    columns = schema.design(cells)[1:].T * schema.scale + schema.center
    for card, why in zip(node_cards(model), zip(*_decisions(model, whole), strict=True), strict=True):
        gate = expit(card.stiffness * (columns @ np.cos(card.angles) - card.offset))
        np.testing.assert_allclose(gate, [own.probability_left for own in why], atol=1e-9)
        assert sum(own.share for own in card.contributions) == pytest.approx(1)
        assert card.transition_width * card.stiffness == pytest.approx(2 * np.log(9))
        assert card.log_bayes_factor == model.model_.log_bayes_factors[card.split]


@pytest.mark.parametrize("make", [make_cross, make_sphere])
def test_the_bayes_factor_on_a_card_is_a_difference_of_log_evidence(make):
    X, y, _ = make(500, random_state=0)
    clf = ReticulumClassifier(random_state=0).fit(X, y)
    rows, *_ = clf._rows_like_fit(X, y, None)
    tree, precisions = clf.model_.tree, clf.model_.precisions
    for card in node_cards(clf):
        kept = kept_splits(tree.shape, card.split)
        without = evaluate(rows, collapse(tree, card.split), precisions[kept], tolerance=1e-9)
        assert card.log_bayes_factor == pytest.approx(clf.log_evidence_ - without.log_evidence, abs=1e-3)


def _decisions(model, frame):
    """Decisions of each row by split."""
    return [sorted(why.decisions, key=lambda own: own.split) for why in explain_rows(model, frame)]


def test_contributions_sum_to_the_activation_and_paths_to_the_prediction(fitted):
    model, frame = fitted
    asked = frame.iloc[:30]
    membership = model.membership(asked)
    predicted = model.predict_proba(asked) if hasattr(model, "predict_proba") else model.predict(asked)[:, None]
    uncertainty = model.predict_uncertainty(asked)
    for row, why in enumerate(explain_rows(model, asked)):
        np.testing.assert_allclose(why.leaves, membership[row], atol=1e-12)
        np.testing.assert_allclose(list(why.prediction.values()), predicted[row], rtol=1e-9)
        assert why.uncertainty["total"] == pytest.approx(uncertainty.total[row])
        for own in why.decisions:
            assert own.baseline + sum(own.contributions.values()) == pytest.approx(own.activation, abs=1e-9)
            assert expit(own.softening * own.activation) == pytest.approx(own.probability_left, abs=1e-12)
            assert list(own.contributions) == ["age", "income", "city", "smokes"]
            assert (own.softening < 1) == bool(asked.iloc[row].isna().any())
        roots = [own.reach for own in why.decisions if own.split == 0]
        assert roots == pytest.approx([1.0] * bool(why.decisions))


def test_leaf_cards_share_out_all_rows(fitted):
    model, _ = fitted
    cards = leaf_cards(model)
    assert sum(card.share for card in cards) == pytest.approx(1)
    assert [card.leaf for card in cards] == list(range(model.n_leaves_))
    for card in cards:
        assert (card.low <= card.mean).all()
        assert (card.mean <= card.high).all()
        wider = leaf_cards(model, level=0.99)[card.leaf]
        assert (wider.low <= card.low).all()
        assert (card.high <= wider.high).all()


def test_the_ledger_totals_the_log_evidence(fitted):
    model, _ = fitted
    ledger = evidence_ledger(model)
    assert ledger.total == pytest.approx(model.log_evidence_, abs=1e-9)
    assert ledger.entries[-1].n_splits == model.n_splits_
    assert ledger.stopping_reason == model.stopping_reason_
    for entry in ledger.entries:
        assert (entry.gain > 0) == (entry.what == "kept") or entry.what in ("start", "polished")
    assert str(ledger).endswith(f"stopped: {model.stopping_reason_}")
    assert len(str(ledger).splitlines()) == len(ledger.entries) + 2


def _changed(frame, row, changes):
    """One row of a frame, with the changes of a flip."""
    asked = frame.iloc[[row]].copy()
    for name, (_, new) in changes.items():
        asked[name] = pd.Series([new], index=asked.index).astype(asked[name].dtype)
    return asked


@pytest.mark.parametrize("fixed", [None, ["age", "city"], [0, 3], [False, True, False, True]])
def test_a_flip_flips_and_changes_nothing_that_is_fixed(fitted, fixed):
    model, frame = fitted
    is_class = hasattr(model, "classes_")
    to = None if is_class else float(np.median(model.predict(frame)))
    unchanging = {"age", "city"} if fixed == ["age", "city"] else {"age", "smokes"} if fixed == [0, 3] else set()
    unchanging = {"income", "smokes"} if fixed and fixed[0] is False else unchanging
    predicted, found = model.predict(frame), 0
    for row, why in enumerate(explain_rows(model, frame.iloc[:40], fixed_features=fixed, to=to)):
        if why.flip is None:
            continue
        found += 1
        assert not unchanging & set(why.flip.changes)
        asked = _changed(frame, row, why.flip.changes)
        now = model.predict(asked)[0]
        if is_class:
            assert now != predicted[row]
            probabilities = model.predict_proba(asked)[0]
        else:
            assert (now > to) == (predicted[row] < to)
            probabilities = [now]
        np.testing.assert_allclose(list(why.flip.prediction.values()), probabilities, rtol=1e-6, atol=1e-9)
        for name, (old, new) in why.flip.changes.items():
            assert old == frame[name].iloc[row]
            assert new != old
        assert why.flip.size > 0
    assert bool(found) == bool(model.n_splits_ or model.model_.family.uses_design)


def test_a_flip_is_as_small_as_one_split_allows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 2))
    clf = ReticulumClassifier(random_state=0).fit(X, X[:, 0] > 0)
    flip = explain_rows(clf, [[1.0, 0.0]])[0].flip
    assert set(flip.changes) == {"x0"}
    old, new = flip.changes["x0"]
    assert old == 1.0
    # Rounded outwards from about 0 by a hundredth of the change.
    assert -0.2 < new < 0.1
    assert new == round(new, 2)


def test_several_features_change_where_one_is_not_enough():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, size=(500, 6))
    clf = ReticulumClassifier(random_state=0).fit(X, X.sum(axis=1) > 0)
    row = np.full((1, 6), 0.9)
    flip = explain_rows(clf, row)[0].flip
    assert 2 <= len(flip.changes) < 6
    for name, (_, new) in flip.changes.items():
        row[0, int(name[1:])] = new
    assert not clf.predict(row)[0]
    assert explain_rows(clf, np.full((1, 6), 0.9), fixed_features=range(5))[0].flip is None


def test_a_flip_may_be_asked_for_a_class():
    X, y = load_iris(return_X_y=True)
    names = np.array(["setosa", "versicolor", "virginica"])[y]
    clf = ReticulumClassifier(random_state=0).fit(X, names)
    for to in clf.classes_:
        flip = explain_rows(clf, X[[75]], to=to)[0].flip
        if to == clf.predict(X[[75]])[0]:
            assert flip is None
        else:
            assert max(flip.prediction, key=flip.prediction.get) == to


def test_trees_of_the_paper_have_flips_too():
    X, y, _ = make_cross(300, random_state=0)
    clf = PaperReticulumClassifier(random_state=0).fit(X, y)
    why = explain_rows(clf, X[:10])
    for row, own in enumerate(why):
        if own.flip is not None:
            changed = X[[row]].copy()
            for name, (_, new) in own.flip.changes.items():
                changed[0, int(name[1:])] = new
            assert clf.predict(changed)[0] != clf.predict(X[[row]])[0]
    assert any(own.flip is not None for own in why) == (clf.n_splits_ > 0)


def test_features_beyond_a_hard_split_are_tried():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, size=(3000, 4))
    y = np.where(X[:, 0] > 0, np.where(X[:, 2] > 0, 3, 2), np.where(X[:, 1] > 0, 1, 0))
    hard = simplify(ReticulumClassifier(random_state=0).fit(X, y), X, y).estimator
    rows = X[(X[:, 0] < -0.3) & (X[:, 2] < -0.3)][:20]
    assert all(why.flip is not None for why in explain_rows(hard, rows, to=3))


@pytest.mark.parametrize("offset", [0.0, 1e9])
def test_numbers_far_from_zero_have_flips_as_well(offset):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    y = np.where(X[:, 0] > 0, 1.0, -1.0) + 0.1 * rng.normal(size=200) + offset
    reg = ReticulumRegressor(leaf="constant", random_state=0).fit(X, y)
    for why in explain_rows(reg, X[:10], to=offset):
        assert set(why.flip.changes) == {"x0"}


def test_where_nothing_can_change_there_is_no_flip():
    X, y = np.ones((50, 1)), np.random.default_rng(0).normal(size=50)
    reg = ReticulumRegressor(leaf="linear", random_state=0).fit(X, y)
    assert explain_rows(reg, X[:1], to=10.0)[0].flip is None
    still = ReticulumRegressor(leaf="linear", random_state=0).fit(np.arange(50.0)[:, None], np.zeros(50))
    assert explain_rows(still, [[3.0]], to=0.0)[0].flip is None


@pytest.mark.parametrize("dtype", [int, "Int64", np.float32, np.int8])
@pytest.mark.parametrize("library", ["array", "pandas", "polars", "pyarrow"])
def test_a_flip_holds_in_the_type_of_the_table(dtype, library):
    if library != "pandas" and dtype == "Int64":
        return
    rng = np.random.default_rng(0)
    X = np.round(rng.normal(size=(300, 3)) * 3)
    y = X @ [1, -1, 0.5] + rng.normal(size=300) > 0
    if dtype == np.float32:
        X = X / 3 + 1e4

    def table(rows):
        rows = rows.astype(np.int64 if dtype == "Int64" else dtype)
        if library == "array":
            return rows
        frame = pd.DataFrame(rows, columns=["a", "b", "c"]).astype(dtype)
        if library == "pandas":
            return frame
        return (
            pytest.importorskip("polars").DataFrame({name: frame[name].to_numpy() for name in frame})
            if library == "polars"
            else pytest.importorskip("pyarrow").table({name: frame[name].to_numpy() for name in frame})
        )

    clf = ReticulumClassifier(random_state=0, patience=1).fit(table(X), y)
    names = list(clf.model_.schema.names)
    found = 0
    for row, why in enumerate(explain_rows(clf, table(X[:40]))):
        if why.flip is not None:
            changed = X[[row]].copy()
            for name, (_, new) in why.flip.changes.items():
                changed[0, names.index(name)] = new
            assert clf.predict(table(changed))[0] != clf.predict(table(X[[row]]))[0]
            found += 1
    assert found > 30


def test_changes_of_several_features_are_as_small_as_will_do():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, size=(2000, 3))
    y = np.abs(X[:, :2]).max(axis=1) < 0.4
    clf = ReticulumClassifier(random_state=0).fit(X, y)
    outside = X[np.abs(X[:, :2]).min(axis=1) > 0.6][:20]
    for why in explain_rows(clf, outside):
        for _, new in why.flip.changes.values():
            assert 0.2 < abs(new) < 0.45


def test_wild_cells_are_rounded_from_where_they_are_read():
    X = np.random.default_rng(0).normal(size=(400, 2))
    clf = ReticulumClassifier(random_state=0).fit(X, X[:, 0] > 0.5)
    flip = explain_rows(clf, [[1e15, 0.0]])[0].flip
    assert 0.3 < flip.changes["x0"][1] < 0.6


def test_flips_need_not_be_looked_for():
    X, y, _ = make_cross(200, random_state=0)
    clf = ReticulumClassifier(random_state=0).fit(X, y)
    (why,) = explain_rows(clf, X[:1], flips=False)
    assert why.flip is None
    assert str(why).endswith("flip: none was found")


REFUSED_FLIPS = {
    r"to = \['ill'\] is no class": {"to": ["ill"]},
    r"fixed_features names 'shoe', but the columns are 'age', 'income'": {"fixed_features": ["shoe"]},
    r"fixed_features = 'age' is not understood\. Give None, a mask, or names or places": {"fixed_features": "age"},
    "fixed_features holds 9, but X has 4 columns": {"fixed_features": [9]},
    "fixed_features is a mask of 1 columns, but X has 4": {"fixed_features": [True]},
    r"to = 'dead' is no class; the classes are \['ill', 'well'\]": {"to": "dead"},
}


@pytest.mark.parametrize("message", REFUSED_FLIPS)
def test_flips_that_make_no_sense_are_refused(message):
    frame, y = mixed_frame(60)
    model = ReticulumClassifier(max_splits=0).fit(frame, np.where(y, "ill", "well"))
    with pytest.raises(ValueError, match=message):
        explain_rows(model, frame.iloc[:1], **REFUSED_FLIPS[message])


def test_a_number_to_come_to_has_to_be_one():
    frame, y = mixed_frame(60)
    model = ReticulumRegressor(max_splits=0, leaf="constant").fit(frame, y)
    assert explain_rows(model, frame.iloc[:1])[0].flip is None
    assert explain_rows(model, frame.iloc[:1], to=100.0)[0].flip is None
    with pytest.raises(ValueError, match="to must be a finite number that the prediction should come beyond; got 'up'"):
        explain_rows(model, frame.iloc[:1], to="up")


def test_all_of_it_is_plain_data(fitted):
    model, frame = fitted
    cards = [*node_cards(model), *leaf_cards(model), *explain_rows(model, frame.iloc[:2]), evidence_ledger(model)]
    for card in cards:
        assert json.loads(json.dumps(card.to_dict())) == card.to_dict()
        assert pickle.loads(pickle.dumps(card)).to_dict() == card.to_dict()
        with pytest.raises(AttributeError):
            card.extra = 1


def test_parents_are_those_of_the_tree():
    frame, y = mixed_frame(300)
    model = FITTED["classes"](frame, y)
    cards = {("split", card.split): card for card in node_cards(model)}
    cards |= {("leaf", card.leaf): card for card in leaf_cards(model)}
    assert cards["split", 0].parent is None
    for parent, pair in enumerate(model.model_.tree.children.tolist()):
        for child, side in zip(pair, ("left", "right"), strict=True):
            card = cards[("split", child) if child >= 0 else ("leaf", ~child)]
            assert (card.parent, card.side) == (parent, side)


def test_intervals_of_classes_are_those_of_beta_distributions():
    mean, low, high = DirichletCategorical((0.5, 1.0, 2.0)).interval(np.array([3.0, 0.0, 7.0]), 0.8)
    np.testing.assert_allclose(mean, np.array([3.5, 1.0, 9.0]) / 13.5)
    expected = [beta(counts, 13.5 - counts).interval(0.8) for counts in (3.5, 1.0, 9.0)]
    np.testing.assert_allclose(np.column_stack([low, high]), expected)


def test_the_interval_of_a_constant_leaf_is_students():
    family, y = NormalLinear(), np.array([0.3, 0.5, 1.2, -0.4])
    mean, low, high = family.interval(family.row_statistics(None, y).sum(axis=0), 0.9)
    total, shape = 0.1 + 4, 2.0 + 2
    center = y.sum() / total
    rate = 0.1 + 0.5 * (y @ y - total * center**2)
    expected = student(2 * shape, center, np.sqrt(rate / shape / total)).interval(0.9)
    assert mean[0] == pytest.approx(center)
    np.testing.assert_allclose([low[0], high[0]], expected, rtol=1e-6)


def test_a_family_that_does_not_tell_intervals_has_none():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 1))
    model = ReticulumRegressor(leaf=GammaPoisson(), random_state=0, patience=1).fit(
        X, rng.poisson(2 + 3 * (X[:, 0] > 0))
    )
    for card in leaf_cards(model):
        assert np.isfinite(card.mean).all()
        assert np.isnan(card.low).all()


def test_what_is_not_fitted_is_refused():
    with pytest.raises(ValueError, match=r"ReticulumClassifier is not a fitted reticulum\. Call fit first"):
        node_cards(ReticulumClassifier())
    clf = ReticulumClassifier(max_splits=0).fit(pd.DataFrame({"a": [1.0, 2.0]}), [0, 1])
    with pytest.raises(ValueError, match="level must be a number between 0 and 1; got 90"):
        leaf_cards(clf, level=90)
