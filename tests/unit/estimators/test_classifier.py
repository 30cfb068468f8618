"""The classifier: labels, priors and weights of classes, and how a model is printed."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer, load_iris

from bayesian_reticulum import ReticulumClassifier
from example_tables import CLASSES as TABLES
from plugins import mixed_frame


def fit(X, y, sample_weight=None, **parameters):
    return ReticulumClassifier(**{"random_state": 0, **parameters}).fit(X, y, sample_weight)


@pytest.mark.parametrize(
    "labels",
    [np.array(["no", "yes"]), np.array([False, True]), np.array([-1, 7]), np.array([2.0, 5.0])],
    ids=lambda labels: str(labels.dtype),
)
def test_labels_of_any_kind_come_back(labels):
    X, y = TABLES["ripley"]()
    clf = fit(X, labels[y], patience=2)
    np.testing.assert_array_equal(clf.classes_, labels)
    assert clf.predict(X).dtype == labels.dtype
    plain = fit(X, y, patience=2)
    np.testing.assert_array_equal(clf.predict_proba(X), plain.predict_proba(X))
    np.testing.assert_array_equal(clf.predict(X), labels[plain.predict(X)])


def test_one_class_gives_a_constant_model():
    X = np.random.default_rng(0).normal(size=(30, 2))
    clf = fit(X, np.full(30, "only"))
    assert (clf.n_splits_, clf.n_leaves_, clf.depth_) == (0, 1, 0)
    np.testing.assert_array_equal(clf.predict_proba(X), np.ones((30, 1)))
    np.testing.assert_array_equal(clf.predict(X), np.full(30, "only"))
    np.testing.assert_array_equal(clf.membership(X), np.ones((30, 1)))
    assert "leaf 0: only 1.000" in str(clf.model_)


def test_the_prior_is_set_by_evidence_where_classes_are_many_and_none_was_given():
    X, y = load_iris(return_X_y=True)
    assert fit(X, y).model_.family.prior[0] < 0.1
    assert fit(X, y, prior=0.5).model_.family.prior == (0.5,) * 3
    assert fit(X[50:], y[50:]).model_.family.prior == (0.5,) * 2
    noise = np.random.default_rng(0).normal(size=X.shape)
    alone = fit(noise, y)
    assert alone.n_splits_ == 0
    assert alone.model_.family.prior == (0.5,) * 3


def test_a_prior_for_each_class_shows_in_the_leaves():
    X = np.ones((10, 1))
    y = np.repeat([0, 1], [7, 3])
    np.testing.assert_allclose(fit(X, y, prior=[3.0, 1.0]).predict_proba(X[:1]), [[10 / 14, 4 / 14]])
    np.testing.assert_allclose(fit(X, y, prior=1).predict_proba(X[:1]), [[8 / 12, 4 / 12]])


def test_printing_a_model_shows_features_others_and_classes():
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    names = np.array(["malignant", "benign"])
    clf = fit(X, names[y], patience=1)
    text = str(clf.model_)
    assert text.startswith(f"Reticulum: {clf.n_splits_} split")
    assert "log Bayes factor" in text
    assert "10-90% over" in text
    assert "+ 26 others (" in text
    for leaf in range(clf.n_leaves_):
        assert f"leaf {leaf}: benign 0." in text or f"leaf {leaf}: benign 1." in text
    assert "malignant" in text
    slopes = np.abs(clf.model_.tree.hyperplanes[0, 1:])
    for column in np.argsort(-slopes)[:4]:
        assert X.columns[column] in text
    assert repr(clf.model_).startswith("<Reticulum: ")


def test_names_with_line_breaks_stay_on_their_line():
    X, y = TABLES["ripley"]()
    frame = pd.DataFrame(X, columns=["a\nb", "c"])
    model = fit(frame, np.where(y == 1, "yes\n", "no"), max_attempts=1).model_
    assert len(str(model).splitlines()) == 1 + 2 * model.tree.n_splits + model.tree.n_leaves
    assert r"a\nb" in str(model)
    assert r"yes\n" in str(model)


def test_class_weights_are_row_weights():
    frame, y = mixed_frame()
    labels = np.where(y, "yes", "no")
    by_class = fit(frame, labels, patience=2, class_weight={"yes": 3.0})
    by_row = ReticulumClassifier(random_state=0, patience=2).fit(frame, labels, sample_weight=np.where(y, 3.0, 1.0))
    np.testing.assert_array_equal(by_class.predict_proba(frame), by_row.predict_proba(frame))


def test_balanced_classes_weigh_the_same():
    X = np.random.default_rng(0).normal(size=(200, 1))
    y = (np.arange(200) < 20).astype(int)
    clf = fit(X, y, class_weight="balanced", max_splits=0)
    np.testing.assert_allclose(clf.predict_proba(X)[0], [0.5, 0.5], atol=1e-12)
    np.testing.assert_allclose(clf.model_.statistics, [[100, 100]])
    halves = ReticulumClassifier(class_weight="balanced", max_splits=0).fit(X, y, sample_weight=np.where(y, 0.5, 2.0))
    np.testing.assert_allclose(halves.predict_proba(X)[0], [0.5, 0.5], atol=1e-12)


def test_a_class_without_weight_stays_known():
    X = np.random.default_rng(0).normal(size=(60, 1))
    clf = fit(X, np.arange(60) % 3, class_weight={2: 0}, patience=2)
    np.testing.assert_array_equal(clf.classes_, [0, 1, 2])
    assert clf.predict_proba(X)[:, 2].max() < 0.05
