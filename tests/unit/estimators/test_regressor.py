"""The regressor: kinds of leaves, printed equations, wild and bad targets, families as leaves."""

import re

import numpy as np
import pandas as pd
import pytest

from bayesian_reticulum import DirichletCategorical, NormalLinear, ReticulumRegressor
from example_tables import NUMBERS as TABLES
from example_tables import kink, line, step


def fit(X, y, sample_weight=None, **parameters):
    return ReticulumRegressor(**{"random_state": 0, **parameters}).fit(X, y, sample_weight)


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


class Shapeless(NormalLinear):
    def row_statistics(self, design, targets):
        return super().row_statistics(design, targets)[:, :2]


class Picky(NormalLinear):
    def row_statistics(self, design, targets):
        statistics = super().row_statistics(design, targets)
        statistics[4] = np.nan
        return statistics


def test_a_family_that_does_not_fit_the_table_is_named():
    X, y = line(20)
    with pytest.raises(ValueError, match=r"is linear in 2 columns, but X has 3"):
        fit(X, y, leaf=NormalLinear(n_slopes=2))
    with pytest.raises(ValueError, match=r"gives statistics of shape \(20, 2\) for 20 rows, and not \(20, 3\)"):
        fit(X, y, leaf=Shapeless())
    with pytest.raises(ValueError, match=r"has no finite statistics for y\[4\] = "):
        fit(X, y, leaf=Picky())


def test_progress_is_shown(capsys):
    fit(*kink(), verbose=1)
    printed = capsys.readouterr().out
    assert "[ReticulumRegressor] linear leaves, attempt 1: kept" in printed
    assert "[ReticulumRegressor] constant leaves, attempt 1: " in printed
    assert re.search(r"\[ReticulumRegressor\] constant leaves, given up, \d+ nats behind", printed)
