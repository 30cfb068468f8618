"""Laws of whole fits: what must not matter does not, awkward tables give sensible models, bad ones clear errors."""

import pickle
import tracemalloc

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.exceptions import NotFittedError
from sklearn.metrics import log_loss
from sklearn.model_selection import StratifiedKFold, train_test_split

from bayesian_reticulum import ReticulumClassifier, estimators
from bayesian_reticulum.datasets import make_cross, make_ripley, make_sphere

FITTED = (
    "classes_",
    "n_splits_",
    "n_leaves_",
    "depth_",
    "log_evidence_",
    "stopping_reason_",
    "feature_importances_",
    "model_",
    "history_",
)


def fit(X, y, sample_weight=None, **parameters):
    return ReticulumClassifier(**{"random_state": 0, **parameters}).fit(X, y, sample_weight)


def three_classes(n=150, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    y = (X[:, 0] + 0.3 * rng.normal(size=n) > 0).astype(int) + (X[:, 1] + 0.3 * rng.normal(size=n) > 0.5)
    return X, y


TABLES = {
    "ripley": lambda: make_ripley(200, random_state=0)[:2],
    "cross": lambda: make_cross(300, random_state=0)[:2],
    "iris": lambda: load_iris(return_X_y=True),
    "three classes": three_classes,
}
every_table = pytest.mark.parametrize("table", TABLES)


# What must not matter


@every_table
def test_the_order_of_rows_does_not_change_predictions(table):
    X, y = TABLES[table]()
    order = np.random.default_rng(1).permutation(len(X))
    one, other = fit(X, y), fit(X[order], y[order])
    assert one.n_splits_ == other.n_splits_ > 0
    np.testing.assert_allclose(other.predict_proba(X), one.predict_proba(X), rtol=0, atol=1e-7)


@every_table
def test_integer_weights_equal_repeated_rows(table):
    X, y = TABLES[table]()
    rng = np.random.default_rng(2)
    times = rng.integers(0, 4, size=len(X))
    repeats = rng.permutation(np.repeat(np.arange(len(X)), times))
    one, other = fit(X, y, times), fit(X[repeats], y[repeats])
    assert one.n_splits_ == other.n_splits_ > 0
    np.testing.assert_allclose(other.predict_proba(X), one.predict_proba(X), rtol=0, atol=1e-7)


@pytest.mark.parametrize("n_features", [20, 60, 100], ids=["between", "above", "narrowed"])
def test_integer_weights_equal_repeated_rows_with_more_features_than_distinct_rows(n_features):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(16, n_features)), np.arange(16) % 2
    X[:, :10] += y[:, None]
    times = rng.integers(1, 4, size=16)
    repeats = rng.permutation(np.repeat(np.arange(16), times))
    assert len(X) < n_features
    assert (len(repeats) < n_features) == (n_features >= 60)
    one, other = fit(X, y, times, patience=2), fit(X[repeats], y[repeats], patience=2)
    assert one.n_splits_ == other.n_splits_ > 0
    np.testing.assert_allclose(other.predict_proba(X), one.predict_proba(X), rtol=0, atol=1e-7)


@every_table
def test_a_weight_of_zero_is_a_row_left_out(table):
    X, y = TABLES[table]()
    rng = np.random.default_rng(3)
    weights = rng.uniform(0.5, 2, size=len(X)) * (rng.random(len(X)) < 0.8)
    used = weights > 0
    one, other = fit(X, y, weights), fit(X[used], y[used], weights[used])
    np.testing.assert_allclose(other.predict_proba(X), one.predict_proba(X), rtol=0, atol=1e-12)


@every_table
def test_weights_of_one_are_no_weights(table):
    X, y = TABLES[table]()
    one, other = fit(X, y, patience=2), fit(X, y, 1.0, patience=2)
    np.testing.assert_array_equal(other.predict_proba(X), one.predict_proba(X))


@pytest.mark.parametrize("table", ["ripley", "iris"])
@pytest.mark.parametrize("exponents", [(-12, 12, -12, 12), (12, 12, 12, 12), (-12, -12, -12, -12)], ids=str)
def test_the_units_of_features_do_not_change_predictions(table, exponents):
    X, y = TABLES[table]()
    scale = 10.0 ** np.array(exponents[: X.shape[1]])
    one, other = fit(X, y), fit(X * scale, y)
    assert one.n_splits_ == other.n_splits_ > 0
    np.testing.assert_allclose(other.predict_proba(X * scale), one.predict_proba(X), rtol=0, atol=1e-6)


@every_table
def test_the_origin_of_features_does_not_change_predictions(table):
    X, y = TABLES[table]()
    X = X / X.std(axis=0)
    # Both tables hold the same digits: those that are left at a mean of a thousand million.
    moved = X + 1e9
    X = moved - 1e9
    one, other = fit(X, y), fit(moved, y)
    assert one.n_splits_ == other.n_splits_ > 0
    np.testing.assert_allclose(other.predict_proba(moved), one.predict_proba(X), rtol=0, atol=1e-6)


GENERATED = {
    "cross": lambda n, seed: make_cross(n, random_state=seed),
    "sphere": lambda n, seed: make_sphere(n, random_state=seed),
    "ripley": lambda n, seed: make_ripley(n, random_state=seed),
}


@pytest.mark.parametrize("generated", GENERATED)
def test_duplicating_or_rotating_features_hardly_moves_the_test_loss(generated):
    X, y, _ = GENERATED[generated](1000, 0)
    X_test, y_test, _ = GENERATED[generated](4000, 1)
    angle = 0.6
    rotation = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    losses = [
        log_loss(y_test, fit(change(X), y).predict_proba(change(X_test)))
        for change in (lambda Z: Z, lambda Z: np.hstack([Z, Z]), lambda Z: Z @ rotation)
    ]
    np.testing.assert_allclose(losses[1:], losses[0], rtol=0.03)


def test_single_precision_tables_give_what_the_same_values_in_double_give():
    X, y = TABLES["ripley"]()
    X = X.astype(np.float32)
    one, other = fit(X, y, patience=2), fit(X.astype(np.float64), y, patience=2)
    np.testing.assert_allclose(one.predict_proba(X), other.predict_proba(X.astype(np.float64)), atol=1e-12)


def test_wild_cells_hardly_move_the_test_loss():
    X, y = load_breast_cancer(return_X_y=True)
    X, X_test, y, y_test = train_test_split(X, y, test_size=0.3, stratify=y, random_state=0)
    wild = X.copy()
    rng = np.random.default_rng(0)
    for column in range(X.shape[1]):
        wild[rng.integers(len(X)), column] += rng.choice([-1, 1]) * 1e6 * X[:, column].std()
    loss, wild_loss = (log_loss(y_test, fit(table, y).predict_proba(X_test)) for table in (X, wild))
    assert wild_loss == pytest.approx(loss, rel=0.05)


# Awkward tables


def test_one_feature_is_enough():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 1))
    y = (np.abs(X[:, 0]) > 0.7).astype(int)
    clf = fit(X, y)
    assert clf.n_splits_ == 2
    assert clf.score(X, y) > 0.95


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


def test_constant_columns_change_nothing():
    X, y = TABLES["ripley"]()
    constant = np.column_stack([np.full(len(X), 7.0), X, np.zeros(len(X)), np.full(len(X), 1e9)])
    one, other = fit(X, y, n_directions=0), fit(constant, y, n_directions=0)
    np.testing.assert_allclose(other.predict_proba(constant), one.predict_proba(X), atol=0.02)
    assert other.feature_importances_[[0, 3, 4]].max() < 1e-9


def test_nothing_but_constant_columns_gives_class_frequencies():
    clf = fit(np.ones((40, 3)), np.arange(40) % 4 == 0)
    assert clf.n_splits_ == 0
    np.testing.assert_allclose(clf.predict_proba(np.ones((1, 3))), [[30.5 / 41, 10.5 / 41]])
    np.testing.assert_array_equal(clf.feature_importances_, 0)


def test_duplicate_rows_are_fine():
    X = np.repeat([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]], 25, axis=0)
    y = np.repeat([0, 1, 1, 0], 25)
    clf = fit(X, y)
    assert clf.score(X, y) == 1
    assert log_loss(y, clf.predict_proba(X)) < 0.1


def test_rows_that_contradict_each_other_give_even_odds():
    X = np.repeat([[0.0], [1.0]], 50, axis=0)
    clf = fit(X, np.arange(100) % 2)
    assert clf.n_splits_ == 0
    np.testing.assert_allclose(clf.predict_proba(X), 0.5)


@pytest.mark.parametrize("y", [[0, 1], [0, 0]])
def test_two_rows_are_enough(y):
    X = np.array([[0.0, 1.0], [1.0, 0.0]])
    probability = fit(X, y).predict_proba(X)
    assert np.isfinite(probability).all()
    np.testing.assert_allclose(probability.sum(axis=1), 1)


def test_one_row_is_enough():
    np.testing.assert_array_equal(fit([[1.0]], [3]).predict([[5.0]]), [3])


def test_a_class_with_one_row_keeps_a_small_probability():
    X, y = TABLES["ripley"]()
    y = y.copy()
    y[0] = 2
    clf = fit(X, y)
    probability = clf.predict_proba(X)
    assert probability.shape == (len(X), 3)
    assert (probability[:, 2] > 0).all()
    assert probability[:, 2].mean() < 0.03
    assert clf.n_splits_ >= 1


def test_one_percent_of_positives_are_found():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 3))
    y = np.zeros(3000, dtype=int)
    y[:30] = 1
    X[:30, 0] += 4
    clf = fit(X[::2], y[::2])
    probability = clf.predict_proba(X[1::2])[:, 1]
    base = log_loss(y[1::2], np.full(1500, 0.01))
    assert log_loss(y[1::2], probability) < 0.5 * base
    assert probability.mean() == pytest.approx(0.01, abs=0.005)


def test_many_more_features_than_rows_give_a_sensible_model():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 2000))
    y = (X[:, :20].sum(axis=1) > 0).astype(int)
    X[:, :20] *= 3
    X[:, :20] += 2.0 * (2 * y[:, None] - 1)
    clf = fit(X[:200], y[:200], patience=2)
    assert clf.model_.hyperplanes.shape == (clf.n_splits_, 2001)
    assert all(event.tree.n_features == 2000 for event in clf.history_)
    assert log_loss(y[200:], clf.predict_proba(X[200:])) < 0.6


# Quality


def folds(X, y, probability=None):
    """Mean log-loss over five folds, of the model and of the true probability, and the splits of each fit."""
    losses, floors, splits = [], [], []
    for train, test in StratifiedKFold(5, shuffle=True, random_state=42).split(X, y):
        clf = fit(X[train], y[train])
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


# Bad input

X_GOOD, Y_GOOD = np.arange(12.0).reshape(6, 2), np.array([0, 1, 0, 1, 0, 1])


def changed(array, index, value):
    out = np.array(array, dtype=float)
    out[index] = value
    return out


@pytest.mark.parametrize(
    ("X", "y", "message"),
    [
        (changed(X_GOOD, (1, 1), np.inf), Y_GOOD, "contains infinity"),
        (np.empty((0, 2)), np.empty(0), "0 sample"),
        (np.empty((6, 0)), Y_GOOD, r"0 feature\(s\)"),
        (np.arange(6.0), Y_GOOD, "Expected 2D array, got 1D array"),
        (np.zeros((6, 2, 2)), Y_GOOD, "dim 3|3 dim"),
        (X_GOOD, Y_GOOD[:-1], "inconsistent numbers of samples"),
        (X_GOOD, changed(Y_GOOD, 2, np.nan), "Input y contains NaN"),
        (X_GOOD, Y_GOOD + 0.5 * np.linspace(0, 1, 6), "Unknown label type: continuous"),
        (X_GOOD, np.column_stack([Y_GOOD, Y_GOOD]), "y should be a 1d array"),
        (X_GOOD, None, "requires y to be passed"),
        (X_GOOD + 1j, Y_GOOD, "Complex data not supported"),
    ],
    ids=[
        *("inf", "no rows", "no columns", "1-d", "3-d", "lengths", "y nan"),
        *("y continuous", "y 2-d", "no y", "complex"),
    ],
)
def test_bad_tables_are_refused(X, y, message):
    clf = ReticulumClassifier()
    with pytest.raises(ValueError, match=message):
        clf.fit(X, y)
    assert not any(hasattr(clf, name) for name in FITTED)


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1, 1, -2.5, 1, 1, 1], r"finite and not negative; sample_weight\[2\] = -2.5. Use 0"),
        ([1, 1, 1, np.nan, 1, 1], r"finite and not negative; sample_weight\[3\] = nan"),
        ([np.inf, 1, 1, 1, 1, 1], r"finite and not negative; sample_weight\[0\] = inf"),
        (np.zeros(6), "all sample_weight are zero: no row is left"),
        (np.full(6, 1e17), r"sample_weight sums to 6e\+17, beyond what counts can resolve .* divide all weights"),
        (0.0, "all sample_weight are zero"),
        (-1.0, r"sample_weight\[0\] = -1.0"),
        (np.ones(5), r"sample_weight has shape \(5,\); X has 6 rows, so it must have shape \(6,\)"),
        (np.ones((6, 1)), r"sample_weight has shape \(6, 1\); X has 6 rows"),
        (["a"] * 6, "sample_weight must be numbers"),
        ("balanced", "sample_weight must be numbers"),
        ([None] * 6, "sample_weight must be numbers|sample_weight must be finite"),
    ],
    ids=["negative", "nan", "inf", "zeros", "huge", "zero", "minus", "short", "2-d", "strings", "string", "nothing"],
)
def test_bad_weights_are_refused(weights, message):
    with pytest.raises(ValueError, match=message):
        ReticulumClassifier().fit(X_GOOD, Y_GOOD, weights)


WHOLE = {"patience": 1, "max_attempts": 0, "n_restarts": 1, "n_directions": 0, "lookahead": 0, "verbose": 0}


BAD_WHOLE = [
    (name, value)
    for name in WHOLE
    for value in ("below", 1.5, 2.0, "many", None, True, np.nan, [3])
    # Whether to print is a question that may be answered with yes.
    if not (name == "verbose" and value is True)
]


def test_verbose_may_be_true(capsys):
    ReticulumClassifier(verbose=True, patience=1).fit(X_GOOD, Y_GOOD)
    assert "[ReticulumClassifier] attempt 1: " in capsys.readouterr().out


@pytest.mark.parametrize(("name", "value"), BAD_WHOLE, ids=repr)
def test_bad_whole_numbers_are_refused(name, value):
    value = WHOLE[name] - 1 if value == "below" else value
    with pytest.raises(ValueError, match=rf"{name} must be a whole number of at least {WHOLE[name]}; got "):
        ReticulumClassifier(**{name: value}).fit(X_GOOD, Y_GOOD)


@pytest.mark.parametrize("name", ["max_splits", "max_depth"])
@pytest.mark.parametrize("value", [-1, 1.5, "many", True], ids=repr)
def test_bad_limits_are_refused(name, value):
    with pytest.raises(ValueError, match=rf"{name} must be None for no limit or a whole number of at least 0; got "):
        ReticulumClassifier(**{name: value}).fit(X_GOOD, Y_GOOD)


def test_the_prior_is_set_by_evidence_where_classes_are_many_and_none_was_given():
    X, y = load_iris(return_X_y=True)
    assert fit(X, y).model_.family.prior[0] < 0.1
    assert fit(X, y, prior=0.5).model_.family.prior == (0.5,) * 3
    assert fit(X[50:], y[50:]).model_.family.prior == (0.5,) * 2
    noise = np.random.default_rng(0).normal(size=X.shape)
    alone = fit(noise, y)
    assert alone.n_splits_ == 0
    assert alone.model_.family.prior == (0.5,) * 3


def test_the_prior_does_not_depend_on_the_order_or_repetition_of_rows():
    X, y = load_wine(return_X_y=True)
    rng = np.random.default_rng(0)
    order, weights = rng.permutation(len(X)), rng.integers(1, 4, len(X))
    one, shuffled = fit(X, y), fit(X[order], y[order])
    np.testing.assert_allclose(shuffled.predict_proba(X), one.predict_proba(X), rtol=0, atol=1e-7)
    weighted = fit(X, y, sample_weight=weights)
    repeated = fit(np.repeat(X, weights, axis=0), np.repeat(y, weights))
    assert weighted.model_.family == repeated.model_.family
    np.testing.assert_allclose(weighted.predict_proba(X), repeated.predict_proba(X), rtol=0, atol=1e-7)


@pytest.mark.parametrize(
    ("prior", "message"),
    [
        ("jeffreys", "prior = 'jeffreys' is not understood. Give one positive number"),
        (1e16, "at most 1e\\+15; that of class .* is 1e\\+16"),
        (10**400, "prior = 1000.* is not a number"),
        (0.0, "prior pseudo-counts must be positive and at most 1e\\+15; that of class .*0.* is 0.0"),
        (-1, "must be positive and at most 1e\\+15; that of class .* is -1.0"),
        (np.nan, "must be positive and at most 1e\\+15; that of class .* is nan"),
        (np.inf, "must be positive and at most 1e\\+15; that of class .* is inf"),
        ([0.5, 0.0], "must be positive and at most 1e\\+15; that of class .*1.* is 0.0"),
        ([0.5, 0.5, 0.5], r"prior has shape \(3,\) but y has 2 classes"),
        ([[0.5, 0.5]], r"prior has shape \(1, 2\) but y has 2 classes"),
        ([], r"prior has shape \(0,\) but y has 2 classes"),
        (["a", "b"], "is not a number. Give one positive number"),
        ({"a": 1}, "is not a number. Give one positive number"),
        (None, "prior = None|must be positive"),
    ],
    ids=repr,
)
def test_bad_priors_are_refused(prior, message):
    with pytest.raises(ValueError, match=message):
        ReticulumClassifier(prior=prior).fit(X_GOOD, Y_GOOD)


def test_bad_random_states_are_refused():
    with pytest.raises(ValueError, match="cannot be used to seed"):
        ReticulumClassifier(random_state="chance").fit(X_GOOD, Y_GOOD)


@pytest.mark.parametrize("method", ["predict", "predict_proba", "membership"])
def test_predicting_before_fitting_is_refused(method):
    with pytest.raises(NotFittedError, match="is not fitted yet"):
        getattr(ReticulumClassifier(), method)(X_GOOD)


@pytest.mark.parametrize("method", ["predict", "predict_proba", "membership"])
def test_predicting_with_another_number_of_features_is_refused(method):
    clf = fit(X_GOOD, Y_GOOD, patience=1)
    with pytest.raises(ValueError, match="X has 3 features, but ReticulumClassifier is expecting 2 features"):
        getattr(clf, method)(np.zeros((4, 3)))
    with pytest.raises(ValueError, match="contains infinity"):
        getattr(clf, method)(changed(X_GOOD, (0, 0), np.inf))


# An estimator like any other


def test_an_interrupted_fit_leaves_nothing_behind(monkeypatch):
    whole = estimators.iterate_growth

    def interrupted(*args):
        growth = whole(*args)
        for _ in range(3):
            yield next(growth)
        raise KeyboardInterrupt

    monkeypatch.setattr(estimators, "iterate_growth", interrupted)
    clf = ReticulumClassifier(random_state=0)
    with pytest.raises(KeyboardInterrupt, match=r"^$"):
        clf.fit(*TABLES["ripley"]())
    assert not any(hasattr(clf, name) for name in FITTED)
    with pytest.raises(NotFittedError, match="is not fitted yet"):
        clf.predict(np.zeros((1, 2)))


def test_an_interrupted_second_fit_is_not_half_of_each(monkeypatch):
    X, y = TABLES["ripley"]()
    clf = fit(X, y, patience=1)
    before = clf.predict_proba(X)

    def interrupted(*args):
        raise KeyboardInterrupt
        yield

    monkeypatch.setattr(estimators, "iterate_growth", interrupted)
    with pytest.raises(KeyboardInterrupt, match=r"^$"):
        clf.fit(np.hstack([X, X]), 1 - y)
    if hasattr(clf, "model_"):
        np.testing.assert_array_equal(clf.predict_proba(X), before)
    else:
        with pytest.raises(NotFittedError, match="is not fitted yet"):
            clf.predict_proba(X)


@pytest.fixture(scope="module")
def ripley_fit():
    X, y = TABLES["ripley"]()
    return fit(X, y), X, y


def test_pickling_keeps_everything(ripley_fit):
    clf, X, _ = ripley_fit
    again = pickle.loads(pickle.dumps(clf))
    np.testing.assert_array_equal(again.predict_proba(X), clf.predict_proba(X))
    assert str(again.model_) == str(clf.model_)
    assert len(again.history_) == len(clf.history_)
    assert again.log_evidence_ == clf.log_evidence_


def test_an_unpickled_model_is_still_immutable(ripley_fit):
    again = pickle.loads(pickle.dumps(ripley_fit[0]))
    for name, array in arrays_of(again.model_):
        assert not array.flags.writeable, name


def test_a_clone_has_the_parameters_and_no_model():
    clf = ReticulumClassifier(prior=[1.0, 2.0], patience=1, max_splits=4, random_state=3)
    clf.fit(X_GOOD, Y_GOOD)
    copy = clone(clf)
    assert copy.get_params() == clf.get_params()
    assert not hasattr(copy, "model_")


def test_fitting_leaves_parameters_and_table_alone():
    X, y = TABLES["ripley"]()
    weights, prior = np.ones(len(X)), np.array([0.5, 0.5])
    kept = [array.copy() for array in (X, y, weights, prior)]
    for array in (X, y, weights, prior):
        array.setflags(write=False)
    clf = ReticulumClassifier(prior=prior, patience=1, random_state=0).fit(X, y, weights)
    assert clf.prior is prior
    for array, copy in zip((X, y, weights, prior), kept, strict=True):
        np.testing.assert_array_equal(array, copy)


def arrays_of(thing, name="model_"):
    """Every array reachable from a model, with its name."""
    if isinstance(thing, np.ndarray):
        yield name, thing
    elif isinstance(thing, tuple | list):
        for index, item in enumerate(thing):
            yield from arrays_of(item, f"{name}[{index}]")
    elif hasattr(thing, "__dict__"):
        for key, item in vars(thing).items():
            yield from arrays_of(item, f"{name}.{key}")


def test_a_model_is_immutable_and_holds_no_training_rows(ripley_fit):
    clf, X, _ = ripley_fit
    clf.predict_proba(X)
    str(clf.model_)
    # Nothing computed on the way is exempt.
    assert clf.model_.hyperplanes.shape == (clf.n_splits_, 3)
    found = dict(arrays_of(clf.model_))
    assert {"model_.statistics", "model_.tree.hyperplanes", "model_.schema.center"} <= set(found)
    for name, array in found.items():
        assert not array.flags.writeable, name
        assert array.size < len(X), name
        assert array.base is None or array.base.size < len(X), name


def test_a_model_holds_no_training_rows_with_more_features_than_rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 60))
    clf = fit(X, (X[:, :30].sum(axis=1) > 0).astype(int), patience=2)
    clf.predict_proba(X)
    for name, array in arrays_of(clf.model_):
        assert len(array) != 40, name
        assert array.size <= 61 * max(clf.n_splits_, 60 if name.endswith("precision") else 1), name


@pytest.mark.parametrize("make", [int, np.random.RandomState, np.random.default_rng], ids=lambda make: make.__name__)
def test_the_same_random_state_gives_the_same_model(make):
    X, y = TABLES["ripley"]()
    one, other = (fit(X, y, patience=2, random_state=make(5)) for _ in range(2))
    np.testing.assert_array_equal(one.predict_proba(X), other.predict_proba(X))


def test_no_random_state_is_a_random_state_too():
    assert fit(*TABLES["ripley"](), patience=1, random_state=None).n_splits_ >= 1


def test_restarts_keep_the_highest_log_evidence():
    X, y = TABLES["ripley"]()
    many = fit(X, y, patience=1, n_restarts=3, random_state=0)
    one = fit(X, y, patience=1, n_restarts=1, random_state=0)
    assert many.log_evidence_ >= one.log_evidence_ - 1e-6


def test_a_prior_for_each_class_shows_in_the_leaves():
    X = np.ones((10, 1))
    y = np.repeat([0, 1], [7, 3])
    np.testing.assert_allclose(fit(X, y, prior=[3.0, 1.0]).predict_proba(X[:1]), [[10 / 14, 4 / 14]])
    np.testing.assert_allclose(fit(X, y, prior=1).predict_proba(X[:1]), [[8 / 12, 4 / 12]])


def test_verbose_prints_one_line_for_each_attempt(capsys):
    X, y = TABLES["ripley"]()
    clf = fit(X, y, patience=2, verbose=1)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == clf.history_.n_attempts
    assert all(line.startswith("[ReticulumClassifier] attempt ") for line in lines)
    fit(X, y, patience=1)
    assert capsys.readouterr().out == ""


def test_attributes_agree_with_the_model(ripley_fit):
    clf, X, _ = ripley_fit
    model = clf.model_
    assert (clf.n_splits_, clf.n_leaves_, clf.depth_) == (model.tree.n_splits, model.tree.n_leaves, model.tree.depth)
    assert clf.n_leaves_ == clf.n_splits_ + 1
    assert clf.log_evidence_ == model.log_evidence
    assert clf.stopping_reason_ == clf.history_.stopping_reason == "no_gain"
    for values in (model.log_bayes_factors, model.prices, model.grey_shares, model.precisions):
        assert values.shape == (clf.n_splits_,)
    assert (model.log_bayes_factors > 0).all()
    assert (model.prices > 0).all()
    assert ((model.grey_shares >= 0) & (model.grey_shares <= 1)).all()
    assert clf.history_.replay(-1).n_splits == clf.n_splits_
    assert model.statistics.sum() == pytest.approx(len(X))


@every_table
def test_memberships_mix_the_leaf_predictions_into_probabilities(table):
    X, y = TABLES[table]()
    clf = fit(X, y, patience=2)
    membership = clf.membership(X)
    assert membership.shape == (len(X), clf.n_leaves_)
    np.testing.assert_allclose(membership.sum(axis=1), 1, rtol=1e-12)
    np.testing.assert_allclose(
        membership @ clf.model_.family.probabilities(clf.model_.statistics), clf.predict_proba(X), rtol=1e-12
    )
    np.testing.assert_allclose(clf.predict_proba(X).sum(axis=1), 1, rtol=1e-12)
    np.testing.assert_array_equal(clf.predict(X), clf.classes_[clf.predict_proba(X).argmax(axis=1)])


def test_hyperplanes_in_original_units_give_the_memberships(ripley_fit):
    clf, X, _ = ripley_fit
    schema, shape = clf.model_.schema, clf.model_.tree.shape
    inside = np.clip(X, schema.low, schema.high)
    activation = clf.model_.hyperplanes[:, 0] + inside @ clf.model_.hyperplanes[:, 1:].T
    log_membership = np.zeros((len(X), clf.n_leaves_))
    for side in (1, -1):
        log_membership += -np.logaddexp(0, -side * activation) @ (shape.sides == side)
    np.testing.assert_allclose(np.exp(log_membership), clf.membership(X), rtol=1e-8, atol=1e-12)


@every_table
def test_feature_importances_sum_to_one(table):
    X, y = TABLES[table]()
    importances = fit(X, y, patience=2).feature_importances_
    assert importances.shape == (X.shape[1],)
    assert (importances >= 0).all()
    assert importances.sum() == pytest.approx(1)


def test_features_that_matter_are_the_important_ones():
    X, y = three_classes(300)
    assert fit(X, y, patience=2).feature_importances_[2] < 0.1


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


def test_columns_without_names_are_numbered(ripley_fit):
    clf, _, _ = ripley_fit
    assert "x0" in str(clf.model_)
    assert not hasattr(clf, "feature_names_in_")


def test_names_of_data_frames_are_kept():
    X, y = TABLES["ripley"]()
    frame = pd.DataFrame(X, columns=["width", "height"])
    clf = fit(frame, y, patience=2)
    np.testing.assert_array_equal(clf.feature_names_in_, ["width", "height"])
    assert clf.model_.schema.names == ("width", "height")
    assert "width" in str(clf.model_)
    plain = fit(X, y, patience=2)
    np.testing.assert_array_equal(clf.predict_proba(frame), plain.predict_proba(X))
    np.testing.assert_array_equal(clf.predict_proba(frame[["height", "width"]]), clf.predict_proba(frame))
    with pytest.raises(ValueError, match=r"(?s)unseen at fit time:\n- depth\n.*yet now missing:\n- height"):
        clf.predict(frame.rename(columns={"height": "depth"}))


def test_names_with_line_breaks_stay_on_their_line():
    X, y = TABLES["ripley"]()
    frame = pd.DataFrame(X, columns=["a\nb", "c"])
    model = fit(frame, np.where(y == 1, "yes\n", "no"), max_attempts=1).model_
    assert len(str(model).splitlines()) == 1 + 2 * model.tree.n_splits + model.tree.n_leaves
    assert r"a\nb" in str(model)
    assert r"yes\n" in str(model)


@pytest.mark.parametrize("max_depth", [1, 2, 3])
def test_no_way_of_changing_a_tree_passes_the_largest_depth(max_depth):
    X, y, _ = make_sphere(600, random_state=0)
    clf = fit(X, y, max_depth=max_depth)
    assert all(event.tree.depth <= max_depth for event in clf.history_)
    assert clf.stopping_reason_ in ("max_depth", "no_gain")


def test_many_classes_need_little_memory():
    rng = np.random.default_rng(0)
    y = np.arange(1000) % 26
    X = rng.normal(size=(1000, 8)) + 2 * rng.normal(size=(26, 8))[y]
    tracemalloc.start()
    try:
        fit(X, y, max_attempts=1)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 64e6
