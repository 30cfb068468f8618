"""Families of classes that are written outside of the package: what works with Dirichlet leaves works with them."""

import pickle
import re

import numpy as np
import pytest
from sklearn.model_selection import cross_val_score

from bayesian_reticulum import ReticulumClassifier, simplify
from bayesian_reticulum.explain import evidence_ledger, explain_rows, export_text, leaf_cards, node_cards
from bayesian_reticulum.testing import check_family
from class_families import ContinuationRatio, MixedDirichlet
from on_arrays import on_arrays
from plugins import GammaPoisson
from small_models import fitted, grades

FAMILIES = {"ordered classes": ContinuationRatio(4), "mixed prior": MixedDirichlet(4)}
each_family = pytest.mark.parametrize("name", FAMILIES)


@each_family
def test_a_family_of_classes_passes_the_check_of_users(name):
    check_family(FAMILIES[name], lambda rng, n: rng.integers(4, size=n))


@each_family
def test_labels_are_learned_and_predicted(name):
    clf, X, y = fitted(name)
    assert clf.model_.family is FAMILIES[name] or clf.model_.family == FAMILIES[name]
    assert clf.n_splits_ >= 1
    probabilities = clf.predict_proba(X)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1.0)
    np.testing.assert_allclose(probabilities, clf.predict_distribution(X).probabilities)
    assert clf.score(X, y) > 0.6
    uncertainty = clf.predict_uncertainty(X)
    np.testing.assert_allclose(uncertainty.total, -(probabilities * np.log(probabilities)).sum(axis=1))
    assert clf.feature_importances_.sum() == pytest.approx(1.0)
    assert clf.feature_importances_[0] > clf.feature_importances_[1]


@each_family
def test_compiled_sums_and_those_of_numpy_grow_the_same_tree(name):
    compiled, X, y = fitted(name)
    plain = on_arrays(compiled).fit(X, y)
    assert plain.log_evidence_ == pytest.approx(compiled.log_evidence_, abs=1e-6)
    np.testing.assert_allclose(plain.predict_proba(X), compiled.predict_proba(X), atol=1e-5)


@each_family
def test_trees_are_alike_without_compiled_code(name, monkeypatch):
    compiled, X, y = fitted(name)
    monkeypatch.setenv("BAYESIAN_RETICULUM_NATIVE", "0")
    plain = grades(leaf=FAMILIES[name])[0].fit(X, y)
    # The ascent by the book ends elsewhere on the same slope.
    assert plain.log_evidence_ == pytest.approx(compiled.log_evidence_, abs=0.1)
    np.testing.assert_allclose(plain.predict_proba(X), compiled.predict_proba(X), atol=0.01)


@each_family
def test_a_weight_of_two_is_a_row_given_twice(name):
    _, X, y = fitted(name)
    weights = np.where(np.arange(len(y)) % 3 == 0, 2, 1)
    weighted = grades(leaf=FAMILIES[name])[0].fit(X, y, weights)
    repeated = grades(leaf=FAMILIES[name])[0].fit(np.repeat(X, weights, axis=0), np.repeat(y, weights))
    np.testing.assert_allclose(weighted.predict_proba(X), repeated.predict_proba(X), atol=1e-6)


@each_family
def test_cards_ledger_and_text_tell_of_the_classes(name):
    clf, X, _ = fitted(name)
    for text in (str(clf.model_), export_text(clf), clf.model_._repr_html_()):
        assert "d good" in text
    assert "d good" in str(leaf_cards(clf)[0])
    assert len(node_cards(clf)) == clf.n_splits_
    assert "c fair" in str(explain_rows(clf, X[:1], to="c fair")[0])
    assert "kept" in str(evidence_ledger(clf))


@each_family
def test_the_tree_can_be_simplified(name):
    clf, X, y = fitted(name)
    simpler = simplify(clf, X, y, max_features=1)
    assert simpler.estimator.predict_proba(X).shape == (len(X), 4)
    assert simpler.estimator.model_.family == FAMILIES[name]


@each_family
def test_a_model_is_the_same_after_a_pickle(name):
    clf, X, _ = fitted(name)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(clf)).predict_proba(X), clf.predict_proba(X))


@each_family
def test_a_family_is_an_ordinary_parameter(name):
    clf, X, y = grades(leaf=FAMILIES[name], class_weight="balanced")
    scores = cross_val_score(clf.set_params(max_splits=2), X, y, cv=2, scoring="neg_log_loss")
    assert (scores > -1.0).all()


class NoFamily:
    uses_design = False
    n_statistics = 2
    is_categorical = True

    def __repr__(self):
        return "NoFamily()"


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"leaf": "constant"}, "leaf must be \"auto\" or a family; got 'constant'"),
        ({"leaf": None}, 'leaf must be "auto" or a family; got None, which as a family lacks are_possible, counts, '),
        ({"leaf": NoFamily()}, "got NoFamily(), which as a family lacks are_possible, counts, describe, "),
        ({"leaf": ContinuationRatio}, "got the class ContinuationRatio: give an instance of it"),
        ({"leaf": GammaPoisson()}, "a family of classes, whose is_categorical is True; got GammaPoisson("),
        ({"leaf": ContinuationRatio(4), "prior": 1.0}, "prior = 1.0 is for Dirichlet leaves, but leaf = Continuation"),
        ({"leaf": ContinuationRatio(3)}, "is for 3 classes, but y has 4: ['a bad', 'b poor', 'c fair', 'd good']"),
    ],
)
def test_what_is_no_family_for_these_classes_is_refused(parameters, message):
    _, X, y = grades()
    with pytest.raises(ValueError, match=re.escape(message)):
        ReticulumClassifier(**parameters).fit(X, y)


class Prudish(ContinuationRatio):
    def are_possible(self, statistics):
        return super().are_possible(statistics) & (statistics[..., 0] == 0)


def test_a_class_that_a_family_takes_for_impossible_is_named():
    _, X, y = grades()
    first = int(np.flatnonzero(y == "a bad")[0])
    with pytest.raises(ValueError, match=re.escape(f"takes y[{first}] = 'a bad' for impossible")):
        ReticulumClassifier(leaf=Prudish(4)).fit(X, y)
