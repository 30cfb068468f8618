"""A simpler tree costs what it is said to cost, looks at no more than it may, and leaves all else as it was."""

import json
import pickle

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_wine
from sklearn.metrics import log_loss

from asking import family_of
from bayesian_reticulum import PaperReticulumClassifier, ReticulumClassifier, ReticulumRegressor, simplify
from bayesian_reticulum.estimators import rows_of_model, training_rows
from bayesian_reticulum.evidence import evaluate, log_bayes_factors
from bayesian_reticulum.explain import evidence_ledger, node_cards
from plugins import GammaPoisson, mixed_frame


def few_that_matter(n=400, d=12, only=None):
    """Two of the features decide, and one of them twice."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, d))
    return X[:, :only], (rng.uniform(size=n) < 1 / (1 + np.exp(-4 * (X[:, 0] - X[:, 2])))).astype(int) + (X[:, 0] > 1.5)


def _mixed(target):
    frame, y = mixed_frame(300)
    return frame, target(frame, y)


TABLES = {
    "breast cancer": lambda: (ReticulumClassifier(random_state=0), *load_breast_cancer(return_X_y=True)),
    "wine": lambda: (ReticulumClassifier(random_state=0), *load_wine(return_X_y=True)),
    "three classes": lambda: (ReticulumClassifier(random_state=0, patience=3), *few_that_matter()),
    "mixed": lambda: (
        ReticulumClassifier(random_state=0, patience=2),
        *_mixed(lambda _, y: np.where(y, "ill", "well")),
    ),
    "weighted classes": lambda: (
        ReticulumClassifier(random_state=0, patience=2, class_weight="balanced"),
        *few_that_matter(200, 4),
    ),
    "numbers": lambda: (
        ReticulumRegressor(random_state=0, patience=2),
        *_mixed(lambda frame, y: y + 0.1 * frame["age"].fillna(40.0)),
    ),
    "constants": lambda: (
        ReticulumRegressor(leaf="constant", random_state=0, patience=2),
        *_mixed(lambda frame, y: y + 0.1 * frame["age"].fillna(40.0)),
    ),
    "counts": lambda: (
        ReticulumRegressor(leaf=GammaPoisson(), random_state=0, patience=2),
        *_mixed(lambda _, y: (3 * y).astype(float)),
    ),
    "one leaf": lambda: (ReticulumClassifier(max_splits=0), *few_that_matter(60, 3)),
    "one class": lambda: (ReticulumClassifier(), few_that_matter(60, 3)[0], np.ones(60)),
    "one feature": lambda: (
        ReticulumClassifier(random_state=0),
        few_that_matter(200)[0][:, :1],
        few_that_matter(200)[1],
    ),
}


@pytest.fixture(scope="module", params=TABLES)
def simplified(request):
    estimator, X, y = TABLES[request.param]()
    estimator.fit(X, y)
    before = pickle.dumps(estimator)
    simpler = simplify(estimator, X, y)
    assert pickle.dumps(estimator) == before
    return estimator, X, y, simpler


def _losses(estimator, X, y):
    distribution = estimator.predict_distribution(X)
    return -(distribution.logpdf if hasattr(distribution, "logpdf") else distribution.logpmf)(np.asarray(y))


def test_every_cost_is_one_that_was_measured(simplified):
    estimator, X, y, simpler = simplified
    data, _, _, weights, _ = training_rows(estimator, X, y)
    rows = rows_of_model(estimator, data)
    assert simpler.steps[0].log_evidence == pytest.approx(estimator.log_evidence_, abs=1e-6)
    for before, step in zip((None, *simpler.steps), simpler.steps, strict=False):
        afresh = evaluate(rows, family_of(rows), step.tree, step.precisions, sparse=True)
        # Either is a lower bound; what the ascent ended with may be a little above what is found from scratch.
        assert step.log_evidence == pytest.approx(afresh.log_evidence, abs=0.05)
        assert step.cost == (before.log_evidence - step.log_evidence if before else 0)
        assert step.log_loss_cost == (step.log_loss - before.log_loss if before else 0)
        assert step.n_splits == step.tree.n_splits == len(step.n_features)
    for model, step in ((estimator, simpler.steps[0]), (simpler.estimator, simpler.steps[-1])):
        assert step.log_loss == pytest.approx(np.average(_losses(model, X, y), weights=weights), rel=1e-6)
    assert simpler.cost == pytest.approx(sum(step.cost for step in simpler.steps), abs=1e-9)
    assert simpler.log_loss_cost == pytest.approx(sum(step.log_loss_cost for step in simpler.steps), abs=1e-12)


def test_no_more_than_the_tolerance_is_lost(simplified):
    _, _, _, simpler = simplified
    best = max(step.log_evidence for step in simpler.steps)
    assert simpler.steps[-1].log_evidence >= best - 5.0 - 0.05
    numbers = [sum(step.n_features) + step.n_splits for step in simpler.steps]
    assert numbers[-1] <= numbers[0]


def test_the_simpler_estimator_is_whole(simplified):
    estimator, X, _, simpler = simplified
    fitted, last = simpler.estimator, simpler.steps[-1]
    assert type(fitted) is type(estimator)
    assert fitted.get_params() == estimator.get_params()
    assert fitted.log_evidence_ == pytest.approx(last.log_evidence, abs=1e-6)
    assert fitted.n_splits_ == last.n_splits
    slopes = fitted.model_.tree.hyperplanes[:, 1:]
    looked_at = (fitted.model_.schema.by_feature(slopes != 0) > 0).sum(axis=1)
    assert tuple(looked_at) == last.n_features
    assert evidence_ledger(fitted).total == pytest.approx(fitted.log_evidence_, abs=1e-9)
    assert fitted.history_.replay(-1).n_splits == fitted.n_splits_
    assert not np.isnan(fitted.model_.log_bayes_factors).any()
    assert not np.isnan(fitted.model_.grey_shares).any()
    assert len(node_cards(fitted)) == fitted.n_splits_
    again = pickle.loads(pickle.dumps(simpler))
    np.testing.assert_array_equal(again.estimator.membership(X), fitted.membership(X))
    assert json.loads(json.dumps(simpler.to_dict())) == simpler.to_dict()
    assert len(str(simpler).splitlines()) == len(simpler.steps) + 1


def test_bayes_factors_of_a_sparse_tree_are_differences_of_its_evidence():
    X, y = load_breast_cancer(return_X_y=True)
    simpler = simplify(ReticulumClassifier(random_state=0).fit(X, y), X, y).estimator
    model = simpler.model_
    rows = rows_of_model(simpler, training_rows(simpler, X, y).data)
    state = evaluate(rows, family_of(rows), model.tree, model.precisions, tolerance=1e-9, sparse=True)
    np.testing.assert_allclose(model.log_bayes_factors, log_bayes_factors(rows, state), atol=1e-3)


def test_features_that_matter_are_found_among_many():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(500, 260))
    y = (X[:, 7] + X[:, 200] > 0).astype(int)
    clf = ReticulumClassifier(random_state=0, patience=1).fit(X[:350], y[:350])
    simpler = simplify(clf, X[:350], y[:350])
    assert simpler.steps[-1].n_features == (2,)
    assert set(np.flatnonzero(simpler.estimator.feature_importances_)) == {7, 200}
    before, after = (log_loss(y[350:], model.predict_proba(X[350:])) for model in (clf, simpler.estimator))
    assert after < before / 4
    again = simplify(simpler.estimator, X[:350], y[:350])
    assert again.steps[0].log_evidence == pytest.approx(simpler.steps[-1].log_evidence, abs=1e-6)
    assert again.steps[-1].n_features == (2,)


def test_breast_cancer_needs_few_features():
    X, y = load_breast_cancer(return_X_y=True)
    chosen = np.random.default_rng(0).permutation(len(X))
    train, test = chosen[:400], chosen[400:]
    clf = ReticulumClassifier(random_state=0).fit(X[train], y[train])
    simpler = simplify(clf, X[train], y[train])
    assert max(simpler.steps[-1].n_features) <= 5
    before, after = (log_loss(y[test], model.predict_proba(X[test])) for model in (clf, simpler.estimator))
    assert after < before + 0.02


def test_many_rows_are_searched_on_a_sample():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40_000, 5))
    y = (rng.uniform(size=len(X)) < 1 / (1 + np.exp(-3 * (X[:, 0] - X[:, 2])))).astype(int)
    clf = ReticulumClassifier(random_state=0, patience=1, lookahead=0).fit(X, y)
    simpler = simplify(clf, X, y)
    assert simpler.steps[-1].n_features == (2,)
    assert simpler.log_loss_cost < 1e-3


def test_wide_tables_are_measured_on_the_rows_that_are_given():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 270))
    y = (X[:, 0] > 0).astype(int)
    clf = ReticulumClassifier(random_state=0, patience=1).fit(X, y)
    assert simplify(clf, X, y).steps[0].log_evidence == pytest.approx(clf.log_evidence_, abs=1e-6)
    first, *_, last = simplify(clf, X[:150], y[:150]).steps
    # Half of the rows tell about half as much.
    assert clf.log_evidence_ + 30 < first.log_evidence < last.log_evidence
    fewer = rows_of_model(clf, training_rows(clf, X[:150], y[:150]).data)
    exact = evaluate(fewer, family_of(fewer), clf.model_.tree, clf.model_.precisions, sparse=True)
    assert first.log_evidence == pytest.approx(exact.log_evidence, abs=2.0)


def test_steps_of_many_rows_are_measured_on_all_of_them():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(35_000, 3))
    y = (rng.uniform(size=len(X)) < 1 / (1 + np.exp(-3 * X[:, 0]))).astype(int)
    clf = ReticulumClassifier(random_state=0, patience=1, lookahead=0).fit(X, y)
    rows = rows_of_model(clf, training_rows(clf, X, y).data)
    for step in simplify(clf, X, y).steps:
        measured = evaluate(rows, family_of(rows), step.tree, step.precisions, sparse=True)
        assert step.log_evidence == pytest.approx(measured.log_evidence, abs=0.05)


def test_a_tree_that_cannot_be_made_simple_stays_as_it_is():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 40))
    y = (X.sum(axis=1) > 0).astype(int)
    clf = ReticulumClassifier(random_state=0, patience=1).fit(X, y)
    simpler = simplify(clf, X, y, tolerance=0)
    assert len(simpler.steps) == 1
    np.testing.assert_array_equal(simpler.estimator.predict_proba(X), clf.predict_proba(X))


def test_weights_count_as_repeats():
    X, y = few_that_matter(150, 6)
    weights = np.random.default_rng(0).integers(0, 3, size=len(y))
    repeated = np.repeat(np.arange(len(y)), weights)
    one = ReticulumClassifier(random_state=0, patience=2).fit(X, y, weights)
    other = ReticulumClassifier(random_state=0, patience=2).fit(X[repeated], y[repeated])
    simpler = simplify(one, X, y, sample_weight=weights), simplify(other, X[repeated], y[repeated])
    assert [step.what for step in simpler[0].steps] == [step.what for step in simpler[1].steps]
    one, other = (simplification.estimator.predict_proba(X) for simplification in simpler)
    np.testing.assert_allclose(one, other, atol=1e-5)


def test_a_larger_tolerance_gives_no_larger_tree():
    X, y = load_wine(return_X_y=True)
    clf = ReticulumClassifier(random_state=0).fit(X, y)
    sizes = []
    for tolerance in (0, 20, 1000):
        last = simplify(clf, X, y, tolerance=tolerance).steps[-1]
        sizes.append(sum(last.n_features) + last.n_splits)
    assert sizes[0] >= sizes[1] >= sizes[2] == 0


def test_progress_is_printed(capsys):
    X, y = few_that_matter(150, 4)
    clf = ReticulumClassifier(random_state=0, patience=1).fit(X, y)
    simplify(clf, X, y, verbose=1)
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("[simplify] regrown with at most 1 feature a split: ")
    assert all("log evidence" in line for line in lines)
    simplify(clf, X, y)
    assert not capsys.readouterr().out


REFUSED = {
    r"max_features must be a whole number of at least 1; got 0\.": {"max_features": 0},
    r"max_features must be a whole number of at least 1; got 2\.5\.": {"max_features": 2.5},
    r"tolerance must be a finite number of nats, not negative; got -1\.": {"tolerance": -1},
    r"tolerance must be a finite number of nats, not negative; got nan\.": {"tolerance": np.nan},
    r"verbose must be a whole number, not negative; got 'no'\.": {"verbose": "no"},
    r"y has the class 7, which was not there in fit; the classes are \[0, 1, 2\]": {"y": np.full(60, 7)},
    "needs the targets y that it was fitted to; got None": {"y": None},
    "inconsistent numbers of samples": {"y": np.zeros(3, dtype=int)},
    "X has 2 features, but ReticulumClassifier is expecting 3": {"X": np.zeros((60, 2))},
    r"sample_weight\[0\] = -1": {"sample_weight": -np.ones(60)},
}


@pytest.mark.parametrize("message", REFUSED)
def test_what_makes_no_sense_is_refused(message):
    table = {"X": few_that_matter(60, 3)[0], "y": np.arange(60) % 3}
    clf = ReticulumClassifier(max_splits=0).fit(**table)
    with pytest.raises(ValueError, match=message):
        simplify(clf, **(table | REFUSED[message]))


def test_what_has_no_such_evidence_is_refused():
    X, y = few_that_matter(60, 3)
    with pytest.raises(ValueError, match="ReticulumClassifier is not a fitted reticulum"):
        simplify(ReticulumClassifier(), X, y)
    with pytest.raises(ValueError, match=r"not grown by a log evidence .* Use ReticulumClassifier"):
        simplify(PaperReticulumClassifier(random_state=0).fit(X, y), X, y)
