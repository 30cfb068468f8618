"""The measures of the quality benchmark are what they are called, and its tables are read as it says."""

import re

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm

import quality
from scoring.folds import Fold, load
from scoring.peers import numbers
from scoring.problems import Classification, Regression
from scoring.report import report, wins_enough
from scoring.runs import measure
from scoring.scores import ClassScores, Normal, calibration_error, crps

N_ROWS = 60


def write_table(path, empty=True):
    """A table with gaps, words, truth values and one level that is there once; it may have an empty column, too."""
    rng = np.random.default_rng(0)
    colour = rng.choice(["red", "blue", "green"], N_ROWS)
    colour[0] = "once"
    table = pd.DataFrame({"weight": rng.normal(size=N_ROWS), "colour": colour, "flag": rng.random(N_ROWS) < 0.5})
    table["target"] = ((table["weight"] > 0) ^ (rng.random(N_ROWS) < 0.2)).astype(int)
    table.loc[3:9, "weight"] = np.nan
    table.loc[7:12, "colour"] = np.nan
    if empty:
        table.insert(0, "empty", np.nan)
    table.to_csv(path, index=False)


def test_the_ranked_probability_score_of_a_normal_is_that_of_the_closed_form():
    mean, std, y = np.array([0.0, 1.0, -2.0]), np.array([1.0, 2.0, 0.1]), np.array([0.3, -4.0, -2.2])
    z = (y - mean) / std
    closed = std * (z * (2 * norm.cdf(z) - 1) + 2 * norm.pdf(z) - 1 / np.sqrt(np.pi))
    np.testing.assert_allclose(crps(Normal(mean, std), y), closed, rtol=1e-3)


def test_the_calibration_error_weighs_bins_by_their_rows():
    # Three rows at 90% of which two are right, one at 50% that is wrong.
    confidence, is_right = np.array([0.9, 0.9, 0.9, 0.5]), np.array([True, True, False, False])
    assert calibration_error(confidence, is_right) == pytest.approx(0.75 * (0.9 - 2 / 3) + 0.25 * 0.5)


def test_likelihoods_are_compared_on_all_data_sets_or_not_at_all():
    assert wins_enough(np.array([-1.0, -1.0, -1.0, -1.0, 1.0, 1.0])) is True
    assert wins_enough(np.array([-1.0, -1.0, -1.0, 1.0, 1.0, 1.0])) is False
    assert wins_enough(np.array([-1.0] * 5)) is None


def test_raw_tables_are_as_they_were_read_and_prepared_ones_are_numbers(tmp_path):
    write_table(tmp_path / "small.csv")
    X, y = load(tmp_path, "small", None, raw=True)
    pd.testing.assert_frame_equal(X, pd.read_csv(tmp_path / "small.csv").drop(columns="target"))
    assert len(X) == len(y) == N_ROWS
    assert X["weight"].isna().any()
    X, y = load(tmp_path, "small", 10, raw=True)
    assert len(X) == len(y) == 10

    write_table(tmp_path / "small.csv", empty=False)
    X, y = load(tmp_path, "small", None, raw=False)
    assert 0 < len(X) == len(y) < N_ROWS
    assert set(X.dtypes) == {np.dtype(np.float64)}
    assert not X.isna().any(axis=None)
    assert {"colour_blue", "colour_red"} <= set(X)


def test_peers_get_categories_with_the_same_levels_in_both_parts():
    X = pd.DataFrame({"a": [1.0, np.nan], "word": ["x", None], "flag": [True, True], "empty": [np.nan, np.nan]})
    X_test = pd.DataFrame({"a": [2.0], "word": ["new"], "flag": [False], "empty": [np.nan]})
    before = X.copy()
    fold = Fold(X, np.array([0, 1]), X_test, np.array([0])).for_peers()
    assert list(fold.X) == ["a", "word", "flag"]
    assert (fold.X.dtypes == fold.X_test.dtypes).all()
    assert list(fold.X["word"].cat.categories) == ["new", "x"]
    assert list(fold.X["flag"].cat.categories) == [False, True]
    assert (len(fold.X), len(fold.X_test)) == (2, 1)
    pd.testing.assert_frame_equal(X, before)


def test_numbers_for_peers_fill_gaps_and_have_a_column_for_each_level():
    X = pd.DataFrame({"word": ["x", np.nan, "y"], "a": [1.0, np.nan, 3.0]}).astype({"word": "category"})
    X_test = pd.DataFrame({"word": ["new", np.nan], "a": [np.nan, 5.0]}).astype({"word": "category"})
    prepared = numbers().fit(X)
    np.testing.assert_array_equal(prepared.transform(X), [[1, 1, 0, 0], [2, 0, 0, 1], [3, 0, 1, 0]])
    np.testing.assert_array_equal(prepared.transform(X_test), [[2, 0, 0, 0], [5, 0, 0, 1]])


def test_all_models_take_raw_tables(tmp_path):
    write_table(tmp_path / "small.csv")
    problems = [Classification("small", margin=0.005, raw=True), Regression("small", raw=True)]
    rows = [measure(problem, problem.folds(tmp_path)[:1], n_seeds=1) for problem in problems]
    for row in rows:
        assert set(row.scores) >= {"reticulum", *row.problem.peers} - {"NGBoost"}
        assert all(np.isfinite(scores[0]).all() for scores in row.scores.values())
    # The second has no limit.
    assert rows[1].is_met()
    printed = report(rows)
    assert re.findall("^## (.*?):", printed, flags=re.MULTILINE) == ["Classification, raw"] * 2 + ["Regression, raw"]
    assert "| ≤ better of logistic regression and tuned tree + 0.005 | " in printed


def test_a_margin_is_kept_by_every_seed_over_the_better_of_two_peers():
    def scores(*losses):
        return ClassScores(np.array(losses), 0.0, 0.0)

    peers = {"logistic regression": scores(0.50), "tuned tree": scores(0.45), "boosting": scores(0.30)}
    splits = np.array([[1], [1]])
    problem = Classification("small", margin=0.01)
    assert problem.is_met({"reticulum": scores(0.44, 0.459)} | peers, splits)
    assert not problem.is_met({"reticulum": scores(0.44, 0.461)} | peers, splits)
    assert not Classification("small", 0.45, margin=0.01).is_met({"reticulum": scores(0.455)} | peers, splits)


def test_a_name_stands_for_its_raw_and_its_prepared_form():
    both = quality.choose_problems("iris, heart_cleveland", None)
    assert [(problem.name, problem.raw) for problem in both] == [
        ("iris", False),
        ("heart_cleveland", False),
        ("heart_cleveland", True),
    ]
    assert [problem.raw for problem in quality.choose_problems("heart_cleveland", True)] == [True]
    assert not any(problem.raw for problem in quality.choose_problems(None, False))
