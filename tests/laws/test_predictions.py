"""What predictions have to do with each other: means, deviations, distributions, memberships and their uncertainty."""

import numpy as np
import pytest

from bayesian_reticulum import ReticulumClassifier, ReticulumRegressor
from bayesian_reticulum.datasets import make_ripley
from example_tables import CLASSES, NUMBERS, line, step


def fit(X, y, sample_weight=None, **parameters):
    return ReticulumRegressor(**{"random_state": 0, **parameters}).fit(X, y, sample_weight)


LEAVES = ("auto", "constant", "linear")


@pytest.mark.parametrize("table", NUMBERS)
@pytest.mark.parametrize("leaf", LEAVES)
def test_mean_deviation_distribution_and_uncertainty_agree(table, leaf):
    X, y = NUMBERS[table]()
    model = fit(X, y, leaf=leaf)
    mean, std = model.predict(X, return_std=True)
    distribution, uncertainty = model.predict_distribution(X), model.predict_uncertainty(X)
    np.testing.assert_allclose(mean, model.predict(X))
    np.testing.assert_allclose(distribution.mean, mean, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(distribution.std, std, rtol=1e-9)
    np.testing.assert_allclose(uncertainty.total, std**2, rtol=1e-9)
    parts = uncertainty.aleatoric + uncertainty.leaf + uncertainty.routing
    np.testing.assert_allclose(parts, uncertainty.total, rtol=1e-12)
    assert (uncertainty.leaf >= 0).all()
    assert (uncertainty.routing >= 0).all()
    assert model.membership(X).shape == (len(X), model.n_leaves_)


@pytest.mark.parametrize("leaf", ["constant", "linear"])
def test_doubt_about_a_leaf_vanishes_as_rows_come_in_and_noise_stays(leaf):
    few, many = (fit(*line(n), leaf=leaf, max_splits=0).predict_uncertainty(line(50, 1)[0]) for n in (50, 5000))
    assert (many.leaf < 0.05 * few.leaf).all()
    np.testing.assert_allclose(many.aleatoric, few.aleatoric, rtol=0.4)
    assert (many.routing == 0).all()


def test_routing_is_uncertain_where_a_split_is():
    X, y = step(1000, noise=0.5)
    model = fit(X, y)
    routing = model.predict_uncertainty([[-2.0, 0.0], [0.0, 0.0], [2.0, 0.0]]).routing
    assert routing[1] > 10 * max(routing[0], routing[2])


def test_classes_have_distributions_and_uncertainty_too():
    X, y, _ = make_ripley(250, random_state=0)
    labels = np.array(["lo", "up"])[y]
    model = ReticulumClassifier(random_state=0).fit(X, labels)
    probabilities = model.predict_proba(X)
    distribution = model.predict_distribution(X)
    np.testing.assert_allclose(distribution.mean, probabilities)
    np.testing.assert_allclose(distribution.pmf("up"), probabilities[:, 1])
    np.testing.assert_allclose(distribution.logpdf(labels), np.log(probabilities[np.arange(250), y]))
    assert set(distribution.sample(5, 0).ravel()) == {"lo", "up"}
    uncertainty = model.predict_uncertainty(X)
    entropy = -(probabilities * np.log(probabilities)).sum(axis=1)
    np.testing.assert_allclose(uncertainty.total, entropy, rtol=1e-9)
    np.testing.assert_allclose(uncertainty.aleatoric + uncertainty.leaf + uncertainty.routing, entropy, rtol=1e-9)
    weighted = ReticulumClassifier(random_state=0, max_splits=0).fit(X, labels, np.full(250, 1e4))
    alone = ReticulumClassifier(random_state=0, max_splits=0).fit(X, labels)
    assert weighted.predict_uncertainty(X[:1]).leaf < 1e-3 * alone.predict_uncertainty(X[:1]).leaf


@pytest.mark.parametrize("table", CLASSES)
def test_memberships_mix_the_leaf_predictions_into_probabilities(table):
    X, y = CLASSES[table]()
    clf = ReticulumClassifier(random_state=0, patience=2).fit(X, y)
    membership = clf.membership(X)
    assert membership.shape == (len(X), clf.n_leaves_)
    np.testing.assert_allclose(membership.sum(axis=1), 1, rtol=1e-12)
    np.testing.assert_allclose(
        membership @ clf.model_.family.probabilities(clf.model_.statistics), clf.predict_proba(X), rtol=1e-12
    )
    np.testing.assert_allclose(clf.predict_proba(X).sum(axis=1), 1, rtol=1e-12)
    np.testing.assert_array_equal(clf.predict(X), clf.classes_[clf.predict_proba(X).argmax(axis=1)])
