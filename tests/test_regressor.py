"""Laws of regression: what must not matter does not, intervals hold, awkward tables give sensible models."""

import pickle
import re
from dataclasses import replace
from itertools import product

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_diabetes, make_friedman1
from sklearn.model_selection import KFold, train_test_split

from bayesian_reticulum import DirichletCategorical, NormalLinear, ReticulumClassifier, ReticulumRegressor, estimators
from bayesian_reticulum.datasets import make_ripley

LEAVES = ("auto", "constant", "linear")


def fit(X, y, sample_weight=None, **parameters):
    return ReticulumRegressor(**{"random_state": 0, **parameters}).fit(X, y, sample_weight)


def kink(n=200, seed=0, noise=0.1):
    """A line with a kink."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-2, 2, size=(n, 2))
    return X, np.abs(X[:, 0]) + 0.3 * X[:, 1] + noise * rng.standard_normal(n)


def step(n=200, seed=0, noise=0.1):
    """A constant that jumps."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 2))
    return X, np.where(X[:, 0] > 0, 3.0, 0.0) + noise * rng.standard_normal(n)


def line(n=200, seed=0, noise=0.3):
    """A line."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 3))
    return X, X @ [1.0, 2.0, -1.0] + noise * rng.standard_normal(n)


TABLES = {"kink": kink, "step": step, "line": line}
every_table = pytest.mark.parametrize("table", TABLES)


# The tree and its leaves


@pytest.mark.parametrize(
    ("table", "leaf", "n_splits"), [("kink", "linear", 1), ("step", "constant", 1), ("line", "linear", 0)]
)
def test_the_evidence_chooses_the_kind_of_leaf_and_the_number_of_splits(table, leaf, n_splits):
    model = fit(*TABLES[table]())
    assert (model.leaf_, model.n_splits_) == (leaf, n_splits)
    other = fit(*TABLES[table](), leaf="linear" if leaf == "constant" else "constant")
    assert other.log_evidence_ < model.log_evidence_


def test_an_asked_for_kind_of_leaf_is_grown():
    X, y = kink()
    for leaf in ("constant", "linear"):
        model = fit(X, y, leaf=leaf)
        assert model.leaf_ == leaf
        assert model.model_.family.uses_design == (leaf == "linear")


def test_a_tree_without_a_split_is_bayesian_linear_regression():
    X, y = line(2000)
    model = fit(X, y, max_splits=0, leaf="linear")
    inner = np.abs(X).max(axis=1) < 2
    np.testing.assert_allclose(model.predict(X[inner]), X[inner] @ [1.0, 2.0, -1.0], atol=0.1)
    assert model.stopping_reason_ == "max_splits" or model.n_splits_ == 0


def test_noise_alone_grows_no_split():
    grown = []
    for seed in range(15):
        rng = np.random.default_rng(seed)
        model = fit(rng.standard_normal((150, 3)), rng.standard_normal(150), patience=2)
        grown.append(model.n_splits_)
    assert np.mean(np.array(grown) > 0) <= 0.07


def test_wild_rows_are_not_extrapolated():
    X, y = line()
    model = fit(X, y, leaf="linear")
    far = X[:1] + 1e6
    assert np.abs(model.predict(far)) < 2 * np.abs(y).max()


def test_the_printed_tree_names_features_and_target_in_their_own_units():
    X, y = kink(noise=0.01)
    frame = pd.DataFrame({"speed": 100 * X[:, 0], "load": X[:, 1]})
    model = fit(frame, pd.Series(1000 * y, name="cost"))
    words = str(model.model_)
    assert "cost = " in words
    assert re.search(r"cost = .* \+ (9\.\d+|10(\.\d)?) speed", words)
    assert re.search(r"cost = .* - (9\.\d+|10(\.\d)?) speed", words)
    assert "log Bayes factor" in words


def test_the_printed_equation_brings_out_the_prediction():
    rng = np.random.default_rng(0)
    year = rng.integers(1990, 2021, size=200).astype(float)
    model = fit(year[:, None], 0.03 * (year - 2000) + 0.05 * rng.standard_normal(200), max_splits=0, leaf="linear")
    sign, offset, slope = re.search(r"y = (-?)([\d.]+) \+ ([\d.]+) x0", str(model.model_)).groups()
    by_hand = float(sign + offset) + float(slope) * 2005
    assert by_hand == pytest.approx(float(model.predict([[2005.0]])[0]), abs=0.005)


def test_the_printed_equation_has_a_slope_for_each_feature_in_its_own_units():
    X, y = line(noise=0.01)
    words = str(fit(X * [1.0, 100.0, 0.01], y, max_splits=0, leaf="linear").model_)
    slopes = re.search(r"y = \S+ \+ (\S+) x1 \+ (\S+) x0 - (\S+) x2 ±", words).groups()
    np.testing.assert_allclose([float(slope) for slope in slopes], [0.02, 1.0, 100.0], rtol=0.02)


def test_importances_share_out_what_splits_and_slopes_gain():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 3))
    model = fit(X, X[:, 0] + 0.1 * rng.standard_normal(300))
    assert model.n_splits_ == 0
    assert model.feature_importances_.sum() == pytest.approx(1)
    assert model.feature_importances_[0] > 0.9
    model = fit(*step())
    assert model.feature_importances_[0] > 0.9


# What leaves believe of slopes


def test_slopes_of_features_that_matter_more_are_believed_to_be_larger():
    X, y = line(2000)
    basis = fit(np.column_stack([X, X[:, :1] ** 2]), y, leaf="linear", max_splits=0).model_.family.basis
    sizes = np.diag(basis)
    np.testing.assert_array_equal(basis, np.diag(sizes))
    assert (sizes**2).mean() == pytest.approx(1)
    # Slopes of 1, 2, 1 and 0, and a tenth of the largest for what may matter in a leaf alone.
    np.testing.assert_allclose(sizes / sizes[1], np.array([0.6, 1.1, 0.6, 0.1]) / 1.1, atol=0.03)


def test_of_many_features_all_directions_have_their_size_of_slopes():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((2000, 70))
    slopes = np.where(np.arange(70) < 10, 1.0, 0.2)
    y = X @ slopes + 0.1 * rng.standard_normal(2000)
    basis = fit(X, y, leaf="linear", max_splits=0).model_.family.basis
    sizes = np.linalg.norm(basis, axis=0)
    # The last stands for seven features.
    expected = np.concatenate([np.full(10, 1.0), np.full(53, 0.2), [0.2 * np.sqrt(7)]]) + 0.1
    np.testing.assert_allclose(sizes / sizes[0], expected / 1.1, atol=0.05)
    assert (sizes**2).mean() == pytest.approx(1)


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


def test_targets_without_a_slope_say_nothing_of_relevance():
    X = np.array(list(product([-1.0, 0.1, 0.9], repeat=3)))
    X, bumps = X - X.mean(axis=0), (X[:, 0] > 0) * (X[:, 1] > 0) + 0.1 * X[:, 2]
    line_through_bumps = np.column_stack([np.ones(27), X])
    bumps -= line_through_bumps @ np.linalg.lstsq(line_through_bumps, bumps, rcond=None)[0]
    for y in (np.ones(27), bumps):
        basis = fit(X, y, leaf="linear", max_splits=0).model_.family.basis
        np.testing.assert_allclose(basis, np.eye(3), atol=1e-9)


@pytest.mark.parametrize("n", [2, 5, 60])
@pytest.mark.parametrize("d", [10, 80])
def test_sizes_of_slopes_follow_weights_as_they_do_repeats(n, d):
    rng = np.random.default_rng(0)
    X, y, times = rng.standard_normal((n, d)), rng.standard_normal(n), rng.integers(1, 4, size=n)
    X[:, 3] = X[:, 4] = X[:, 5]
    X[:, 6] = 1.0
    settings = {"leaf": "linear", "max_splits": 0}
    weighted = fit(X, y, times, **settings).model_.family.basis
    repeated = fit(np.repeat(X, times, axis=0), np.repeat(y, times), **settings).model_.family.basis
    np.testing.assert_allclose(weighted @ weighted.T, repeated @ repeated.T, atol=1e-7)
    if d == 10:
        np.testing.assert_allclose(np.diag(weighted)[3:5], np.diag(weighted)[5])


# What must not matter


@every_table
def test_the_order_of_rows_does_not_change_predictions(table):
    X, y = TABLES[table]()
    order = np.random.default_rng(1).permutation(len(X))
    one, other = fit(X, y), fit(X[order], y[order])
    assert one.n_splits_ == other.n_splits_
    np.testing.assert_allclose(other.predict(X), one.predict(X), rtol=0, atol=1e-7 * y.std())


@every_table
@pytest.mark.parametrize(("shift", "factor"), [(1e9, 1.0), (0.0, 1e-9), (-3.0, -1e3)])
def test_the_units_of_the_targets_do_not_change_the_tree(table, shift, factor):
    X, y = TABLES[table]()
    one, other = fit(X, y), fit(X, shift + factor * y)
    assert (one.leaf_, one.n_splits_) == (other.leaf_, other.n_splits_)
    np.testing.assert_allclose(other.model_.tree.hyperplanes, one.model_.tree.hyperplanes, rtol=1e-3, atol=1e-3)
    scale = abs(factor) * y.std()
    np.testing.assert_allclose(
        other.predict(X), shift + factor * one.predict(X), rtol=0, atol=1e-5 * scale + 1e-6 * (shift > 1)
    )
    # A density is one per unit of the target.
    assert other.log_evidence_ == pytest.approx(one.log_evidence_ - len(y) * np.log(abs(factor)), abs=1e-2)


@every_table
def test_the_units_of_the_features_do_not_change_predictions(table):
    X, y = TABLES[table]()
    scale = np.array([1e-6, 1e3, 1.0])[: X.shape[1]]
    np.testing.assert_allclose(fit(7 + scale * X, y).predict(7 + scale * X), fit(X, y).predict(X), atol=1e-5)


@every_table
def test_integer_weights_equal_repeated_rows(table):
    X, y = TABLES[table](80)
    times = np.random.default_rng(0).integers(0, 4, size=len(y))
    weighted, repeated = fit(X, y, times), fit(np.repeat(X, times, axis=0), np.repeat(y, times))
    assert weighted.n_splits_ == repeated.n_splits_
    np.testing.assert_allclose(weighted.predict(X), repeated.predict(X), atol=1e-6)


def test_a_copy_predicts_the_same_to_the_last_bit():
    X, y = kink()
    model = fit(X, y)
    for same in (pickle.loads(pickle.dumps(model)), clone(model).fit(X, y)):
        np.testing.assert_array_equal(same.predict(X), model.predict(X))
        np.testing.assert_array_equal(
            same.predict_distribution(X).quantile(0.1), model.predict_distribution(X).quantile(0.1)
        )


# Distributions and uncertainty


@every_table
@pytest.mark.parametrize("leaf", LEAVES)
def test_mean_deviation_distribution_and_uncertainty_agree(table, leaf):
    X, y = TABLES[table]()
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


# Quality


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


# Awkward tables


@pytest.mark.parametrize("leaf", LEAVES)
@pytest.mark.parametrize("value", [0.0, 5.0, -1e9])
def test_constant_targets_give_a_constant_model(leaf, value):
    X, _ = line(50)
    model = fit(X, np.full(50, value), leaf=leaf)
    assert model.n_splits_ == 0
    mean, std = model.predict(X, return_std=True)
    np.testing.assert_allclose(mean, value)
    assert ((std > 0) & (std < 1)).all()


@pytest.mark.parametrize("leaf", LEAVES)
@pytest.mark.parametrize("n", [1, 2, 3, 5])
def test_a_few_rows_give_a_model_with_wide_but_finite_intervals(leaf, n):
    X, y = line(n)
    model = fit(X, y, leaf=leaf)
    lower, upper = model.predict_distribution(line(20, 1)[0]).interval(0.9)
    assert np.isfinite([lower, upper]).all()
    assert (upper > lower).all()
    assert model.n_splits_ <= 1


def test_fewer_rows_than_features():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((80, 200)) * np.where(np.arange(200) < 5, 3.0, 0.3)
    y = X[:, :5].sum(axis=1) + 0.1 * rng.standard_normal(80)
    model = fit(X[:60], y[:60], patience=2)
    assert np.sqrt(((model.predict(X[60:]) - y[60:]) ** 2).mean()) < 0.9 * y.std()
    assert model.feature_importances_.shape == (200,)
    assert "others" in str(model.model_)


def test_across_the_span_of_few_rows_intervals_are_as_wide_as_the_prior_says():
    # The same model once computed in the span of the rows and once with all slopes.
    rng = np.random.default_rng(0)
    X, X_test = rng.standard_normal((20, 64)), rng.standard_normal((50, 64))
    y = X @ rng.standard_normal(64) / 8
    narrow = fit(X, y, leaf="linear", max_splits=0)
    assert narrow.model_.family.n_slopes < 64
    family, schema = narrow.model_.family, narrow.model_.schema
    full = replace(family, n_slopes=64, basis=None, span=None)
    targets = np.column_stack([y, np.full(20, estimators._rounding_variance(y, np.ones(20), family.scale))])
    statistics = full.row_statistics(schema.design(X), targets).sum(axis=0)
    assert narrow.log_evidence_ == pytest.approx(full.log_evidence(statistics), rel=1e-9)
    expected = full.predictive(statistics[None], np.ones((1, 50)), schema.design(X_test))
    mean, std = narrow.predict(X_test, return_std=True)
    np.testing.assert_allclose(mean, expected.mean, rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(std, expected.std, rtol=1e-7)
    np.testing.assert_allclose(narrow.predict_distribution(X_test).std, expected.std, rtol=1e-7)


def test_columns_that_matter_alike_are_not_chosen_by_rounding():
    X = np.kron(np.eye(70), np.ones((3, 1)))
    y = np.random.default_rng(1).normal(size=210) + 5 * X[:, 0]
    found = []
    for seed in range(2):
        order = np.random.default_rng(seed).permutation(210)
        found.append(fit(X[order], y[order], leaf="linear", max_splits=0).predict(X))
    np.testing.assert_allclose(*found, atol=1e-9)


def test_of_many_features_leaves_read_those_that_matter():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((400, 70))
    y = X[:, :6].sum(axis=1) + 0.2 * rng.standard_normal(400)
    model = fit(X[:300], y[:300], leaf="linear", patience=1, lookahead=0)
    assert model.model_.family.n_slopes == 64
    assert np.sqrt(((model.predict(X[300:]) - y[300:]) ** 2).mean()) < 0.2 * y.std()
    mean, std = model.predict(X, return_std=True)
    np.testing.assert_allclose(model.predict_distribution(X).mean, mean, atol=1e-9)
    np.testing.assert_allclose(model.predict_distribution(X).std, std, rtol=1e-9)


def test_collinear_and_constant_features_change_nothing():
    X, y = line()
    wide = np.column_stack([X, X, X.sum(axis=1), np.ones(len(X))])
    one, other = fit(X, y), fit(wide, y)
    assert other.n_splits_ == one.n_splits_
    assert np.sqrt(np.mean((other.predict(wide) - one.predict(X)) ** 2)) < 0.15


def test_a_wild_target_is_pointed_out_and_does_not_decide_everything():
    X, y = line()
    y[7] = 1e6
    with pytest.warns(UserWarning, match=r"y\[7\] = 1e\+06 lies more than 100 standard deviations"):
        model = fit(X, y)
    error = np.delete(model.predict(X) - X @ [1.0, 2.0, -1.0], 7)
    assert np.median(np.abs(error)) < 1
    assert np.abs(error).max() < 10


def test_several_wild_targets_are_pointed_out():
    X, y = line()
    y[[3, 50, 70]] = 1e6
    with pytest.warns(UserWarning, match=r"3 targets, the first of them y\[3\] = 1e\+06, lie more than 100"):
        model = fit(X, y)
    error = np.delete(model.predict(X) - X @ [1.0, 2.0, -1.0], [3, 50, 70])
    assert np.median(np.abs(error)) < 10


def test_a_wild_cell_hardly_matters():
    X, y = line()
    X_test, _ = line(100, 1)
    clean = fit(X, y).predict(X_test)
    X[3, 0] = 1e6
    assert np.sqrt(np.mean((fit(X, y).predict(X_test) - clean) ** 2)) < 0.3


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (np.where(np.arange(200) == 3, np.nan, 1.0), "Input y contains NaN"),
        (np.where(np.arange(200) == 3, np.inf, 1.0), "Input y contains infinity"),
        (np.full(200, "a"), "could not convert string to float"),
        (np.ones(199), "inconsistent numbers of samples"),
        (np.where(np.arange(200) == 3, 1e200, 1.0), r"y has a target of size 1e\+200, beyond 1e\+150"),
        (1e-200 * np.arange(200), r"y varies by no more than .*e-199.*Multiply all targets"),
        (np.ones((200, 2)), "y should be a 1d array"),
        (None, "requires y to be passed"),
        (np.arange(200).astype("datetime64[D]"), r"y holds dates or durations \(datetime64\[D\]\); give numbers"),
    ],
)
def test_bad_targets_are_named(y, message):
    model = ReticulumRegressor()
    with pytest.raises(ValueError, match=message):
        model.fit(line()[0], y)
    assert not hasattr(model, "model_")
    assert not hasattr(model, "leaf_")


@pytest.mark.parametrize("leaf", ["lin", None, 3, NormalLinear, True, DirichletCategorical((1.0, 1.0))])
def test_bad_kinds_of_leaf_are_named(leaf):
    with pytest.raises(
        ValueError, match=r'leaf must be "auto", "constant", "linear" or a family.*(got|ReticulumClassifier)'
    ):
        ReticulumRegressor(leaf=leaf).fit(*line(20))


def test_a_family_of_ones_own_can_be_the_leaf():
    X, y = step()
    mine = NormalLinear(center=1.5, scale=1.5, rate=0.5)
    model = fit(X, y, leaf=mine)
    assert model.leaf_ is mine
    assert model.model_.family is mine
    assert model.n_splits_ == 1


def test_a_family_that_does_not_fit_the_table_is_named():
    X, y = line(20)
    with pytest.raises(ValueError, match=r"is linear in 2 columns, but X has 3"):
        fit(X, y, leaf=NormalLinear(n_slopes=2))
    with pytest.raises(ValueError, match=r"gives statistics of shape \(20, 2\) for 20 rows, and not \(20, 3\)"):
        fit(X, y, leaf=Shapeless())
    with pytest.raises(ValueError, match=r"has no finite statistics for y\[4\] = "):
        fit(X, y, leaf=Picky())


class Shapeless(NormalLinear):
    def row_statistics(self, design, targets):
        return super().row_statistics(design, targets)[:, :2]


class Picky(NormalLinear):
    def row_statistics(self, design, targets):
        statistics = super().row_statistics(design, targets)
        statistics[4] = np.nan
        return statistics


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"scale": 0.0}, "scale must be a positive number; got 0.0"),
        ({"rate": np.nan}, "rate must be a positive number; got nan"),
        ({"offset_precision": -1.0}, "offset_precision must be a positive number; got -1.0"),
        ({"shape": 1.0}, "shape must be above 1, so that variances are finite; got 1.0"),
        ({"slope_precisions": (1.0, 0.0)}, r"slope_precisions\[1\] must be a positive number; got 0.0"),
        ({"slope_precisions": ()}, "slope_precisions is empty"),
        ({"n_slopes": -1}, "n_slopes must be a whole number of at least 0; got -1"),
        ({"center": np.nan}, "center must be a finite number; got nan"),
        ({"n_slopes": 3, "basis": np.eye(2)}, r"basis has shape \(2, 2\); it needs \(features, 3\)"),
    ],
)
def test_bad_priors_are_named(parameters, message):
    with pytest.raises(ValueError, match=message):
        NormalLinear(**parameters)


def test_progress_is_shown(capsys):
    fit(*kink(), verbose=1)
    printed = capsys.readouterr().out
    assert "[ReticulumRegressor] linear leaves, attempt 1: kept" in printed
    assert "[ReticulumRegressor] constant leaves, attempt 1: " in printed
    assert re.search(r"\[ReticulumRegressor\] constant leaves, given up, \d+ nats behind", printed)
