"""A flip changes the prediction of the model, and nothing that is fixed."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris

from bayesian_reticulum import PaperReticulumClassifier, ReticulumClassifier, ReticulumRegressor
from bayesian_reticulum.datasets import make_cross
from bayesian_reticulum.explain import Flip, explain_rows
from plugins import mixed_frame
from small_models import MIXED, fitted, fitted_to_mixed


def with_changes(frame, row, changes):
    """One row of a frame, with the changes of a flip."""
    changed = frame.iloc[[row]].copy()
    for name, (_, new) in changes.items():
        changed[name] = pd.Series([new], index=changed.index).astype(changed[name].dtype)
    return changed


@pytest.mark.parametrize("fixed", [None, ["age", "city"], [0, 3], [False, True, False, True]])
@pytest.mark.parametrize("name", MIXED)
def test_a_flip_flips_and_changes_nothing_that_is_fixed(name, fixed):
    model, frame = fitted_to_mixed(name)
    is_class = hasattr(model, "classes_")
    to = None if is_class else float(np.median(model.predict(frame)))
    unchanging = {"age", "city"} if fixed == ["age", "city"] else {"age", "smokes"} if fixed == [0, 3] else set()
    unchanging = {"income", "smokes"} if fixed and fixed[0] is False else unchanging
    predicted, n_flips = model.predict(frame), 0
    for row, why in enumerate(explain_rows(model, frame.iloc[:40], fixed_features=fixed, to=to)):
        if why.flip is None:
            continue
        n_flips += 1
        assert not unchanging & set(why.flip.changes)
        changed = with_changes(frame, row, why.flip.changes)
        now = model.predict(changed)[0]
        if is_class:
            assert now != predicted[row]
            probabilities = model.predict_proba(changed)[0]
        else:
            assert (now > to) == (predicted[row] < to)
            probabilities = [now]
        np.testing.assert_allclose(list(why.flip.prediction.values()), probabilities, rtol=1e-6, atol=1e-9)
        for feature, (old, new) in why.flip.changes.items():
            assert old == frame[feature].iloc[row]
            assert new != old
        assert why.flip.size > 0
    assert bool(n_flips) == bool(model.n_splits_ or model.model_.family.uses_design)


def test_a_flip_may_be_wanted_to_a_class():
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
    explained = explain_rows(clf, X[:10])
    for row, why in enumerate(explained):
        if why.flip is not None:
            changed = X[[row]].copy()
            for name, (_, new) in why.flip.changes.items():
                changed[0, int(name[1:])] = new
            assert clf.predict(changed)[0] != clf.predict(X[[row]])[0]
    assert any(why.flip is not None for why in explained) == (clf.n_splits_ > 0)


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
    n_flips = 0
    for row, why in enumerate(explain_rows(clf, table(X[:40]))):
        if why.flip is not None:
            changed = X[[row]].copy()
            for name, (_, new) in why.flip.changes.items():
                changed[0, names.index(name)] = new
            assert clf.predict(table(changed))[0] != clf.predict(table(X[[row]]))[0]
            n_flips += 1
    assert n_flips > 30


def test_a_flip_prints_new_and_old_values():
    flip = Flip({"age": (40.0, 31.5), "city": ("Oslo", "2 rare levels")}, {"ill": 0.75, "well": 0.25}, 1.234)
    assert str(flip) == (
        "with age 31.5 instead of 40.0, city '2 rare levels' instead of 'Oslo' (1.2 sd): ill 0.75, well 0.25"
    )


@pytest.mark.parametrize(
    ("to", "message"),
    [
        (["ill"], r"to = \['ill'\] is no class"),
        ("dead", r"to = 'dead' is no class; the classes are \['ill', 'well'\]"),
    ],
)
def test_a_class_that_the_model_does_not_know_is_refused(to, message):
    model, frame = fitted_to_mixed("classes")
    with pytest.raises(ValueError, match=message):
        explain_rows(model, frame.iloc[:1], to=to)


@pytest.mark.parametrize("to", ["up", True, np.inf])
def test_a_number_to_reach_has_to_be_finite(to):
    model, X, _ = fitted("constant")
    message = f"to must be a finite number that the prediction should come beyond; got {to!r}"
    with pytest.raises(ValueError, match=message):
        explain_rows(model, X[:1], to=to)


def test_a_number_out_of_reach_has_no_flip():
    frame, y = mixed_frame(60)
    model = ReticulumRegressor(max_splits=0, leaf="constant").fit(frame, y)
    assert explain_rows(model, frame.iloc[:1])[0].flip is None
    assert explain_rows(model, frame.iloc[:1], to=100.0)[0].flip is None
