"""How well fits do: near the truth where it is known, and not worse than before on well-known tables."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris, load_wine, make_friedman1
from sklearn.metrics import log_loss
from sklearn.model_selection import KFold, StratifiedKFold, train_test_split

from bayesian_reticulum import NormalLinear, ReticulumClassifier, ReticulumRegressor
from bayesian_reticulum.datasets import make_cross, make_sphere


def folds(X, y, probability=None):
    """Mean log-loss over five folds, of the model and of the true probability, and the splits of each fit."""
    losses, floors, splits = [], [], []
    for train, test in StratifiedKFold(5, shuffle=True, random_state=42).split(X, y):
        clf = ReticulumClassifier(random_state=0).fit(X[train], y[train])
        losses.append(log_loss(y[test], clf.predict_proba(X[test])))
        splits.append(clf.n_splits_)
        if probability is not None:
            floors.append(log_loss(y[test], probability[test]))
    return np.mean(losses), np.mean(floors or [0.0]), splits


def test_the_cross_is_learned_almost_to_its_true_probability():
    loss, floor, splits = folds(*make_cross(1000, random_state=1))
    assert splits == [3] * 5
    assert loss <= floor + 0.02


def test_the_sphere_is_learned_almost_to_its_true_probability():
    loss, floor, splits = folds(*make_sphere(5000, random_state=1))
    assert max(splits) <= 8
    assert loss <= floor + 0.012


@pytest.mark.parametrize(
    ("load", "limit"),
    [(load_iris, 0.10), (load_wine, 0.10), (load_breast_cancer, 0.084)],
    ids=["iris", "wine", "cancer"],
)
def test_the_loss_on_well_known_tables_stays_low(load, limit):
    assert folds(*load(return_X_y=True))[0] <= limit


def fit(X, y, sample_weight=None, **parameters):
    return ReticulumRegressor(**{"random_state": 0, **parameters}).fit(X, y, sample_weight)


def test_noise_alone_grows_no_split():
    grown = []
    for seed in range(15):
        rng = np.random.default_rng(seed)
        model = fit(rng.standard_normal((150, 3)), rng.standard_normal(150), patience=2)
        grown.append(model.n_splits_)
    assert np.mean(np.array(grown) > 0) <= 0.07


@pytest.mark.parametrize("n", [40, 100])
def test_features_that_do_not_matter_cost_little(n):
    errors, covered = np.empty((2, 2, 8))
    for seed in range(8):
        rng = np.random.default_rng(seed)
        X = rng.standard_normal((500, 20))
        truth = X[:, :2] @ [2.0, -1.0]
        y = truth + 0.5 * rng.standard_normal(500)
        alike = NormalLinear(n_slopes=20, center=y[:n].mean(), scale=y[:n].std())
        for place, leaf in enumerate(("linear", alike)):
            model = fit(X[:n], y[:n], leaf=leaf, max_splits=0)
            errors[place, seed] = np.sqrt(((model.predict(X[n:]) - truth[n:]) ** 2).mean())
            lower, upper = model.predict_distribution(X[n:]).interval(0.9)
            covered[place, seed] = ((lower < y[n:]) & (y[n:] < upper)).mean()
    assert (errors[0] < errors[1]).all()
    assert errors[0].mean() < 0.75 * errors[1].mean()
    # That the same rows say which slopes are large and how large they are does not make intervals too narrow.
    np.testing.assert_allclose(covered.mean(axis=1), 0.9, atol=0.04)


def test_intervals_hold_what_they_say():
    X, y = make_friedman1(1500, n_features=6, noise=1.0, random_state=0)
    X, X_test, y, y_test = train_test_split(X, y, train_size=500, random_state=0)
    distribution = fit(X, y, patience=4).predict_distribution(X_test)
    for level in (0.5, 0.9):
        lower, upper = distribution.interval(level)
        assert ((lower < y_test) & (y_test < upper)).mean() == pytest.approx(level, abs=0.05)


def test_noise_that_depends_on_the_row_is_seen():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, size=(600, 1))
    y = np.where(X[:, 0] > 0, 1.0, 0.1) * rng.standard_normal(600)
    _, std = fit(X, y).predict([[-0.5], [0.5]], return_std=True)
    np.testing.assert_allclose(std, [0.1, 1.0], rtol=0.25)


@pytest.mark.parametrize("unit", [1.0, 0.1])
def test_rounded_targets_grow_no_spikes(unit):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((400, 3))
    y = unit * np.round(X[:, 0] + 0.7 * rng.standard_normal(400))
    _, std = fit(X, y).predict(X, return_std=True)
    # No less than rounding alone leaves.
    assert std.min() > 0.9 * unit / np.sqrt(12)


@pytest.mark.parametrize(
    ("table", "limit"),
    [(lambda: load_diabetes(return_X_y=True), 0.73), (lambda: make_friedman1(400, 6, noise=1.0, random_state=0), 0.36)],
    ids=["diabetes", "friedman"],
)
def test_quality_does_not_fall_unseen(table, limit):
    X, y = table()
    squares = []
    for train, test in KFold(3, shuffle=True, random_state=0).split(X):
        squares.append((fit(X[train], y[train], patience=4).predict(X[test]) - y[test]) ** 2)
    assert np.sqrt(np.concatenate(squares).mean()) / y.std() < limit


def test_fewer_rows_than_features():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((80, 200)) * np.where(np.arange(200) < 5, 3.0, 0.3)
    y = X[:, :5].sum(axis=1) + 0.1 * rng.standard_normal(80)
    model = fit(X[:60], y[:60], patience=2)
    assert np.sqrt(((model.predict(X[60:]) - y[60:]) ** 2).mean()) < 0.9 * y.std()
    assert model.feature_importances_.shape == (200,)
    assert "others" in str(model.model_)


def test_of_many_features_leaves_read_those_that_matter():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((400, 70))
    y = X[:, :6].sum(axis=1) + 0.2 * rng.standard_normal(400)
    model = fit(X[:300], y[:300], leaf="linear", patience=1, lookahead=0)
    assert model.model_.family.n_slopes == 32
    assert np.sqrt(((model.predict(X[300:]) - y[300:]) ** 2).mean()) < 0.2 * y.std()
    mean, std = model.predict(X, return_std=True)
    np.testing.assert_allclose(model.predict_distribution(X).mean, mean, atol=1e-9)
    np.testing.assert_allclose(model.predict_distribution(X).std, std, rtol=1e-9)
