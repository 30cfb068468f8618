"""The data sets, with the limits that the library is held to on them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import log_loss, root_mean_squared_error
from sklearn.model_selection import KFold, StratifiedKFold

from bayesian_reticulum import ReticulumClassifier, ReticulumRegressor

from .folds import Fold, load, split
from .peers import CLASSIFIERS, LOGISTIC, OURS, REGRESSORS, TUNED_TREE, Models
from .scores import ClassScores, RegressionScores, Votes, calibration_error, crps

INTERVAL, COVERAGE = 0.9, (0.86, 0.94)


@dataclass(frozen=True)
class Classification:
    """A data set with classes, and its limits.

    Parameters
    ----------
    name : str
        The table `name.csv` or `name.csv.gz`; its column `target` holds the classes.
    limit : float or None
        Largest mean log-loss that any seed may have.
    max_rows : int or None
        Rows are sampled down to this number.
    train : str or None
        The table to fit on instead; then the whole of `name` is the one fold to predict.
    usual_splits : int or None
        Number of splits that at least 95% of the fits must have.
    max_splits : int or None
        Number of splits that no fit may exceed.
    margin : float or None
        How far the mean log-loss of any seed may be above the better of logistic regression and the tuned tree.
    raw : bool
        Whether the table is used with its gaps and categories.
    """

    name: str
    limit: float | None = None
    max_rows: int | None = None
    train: str | None = None
    usual_splits: int | None = None
    max_splits: int | None = None
    margin: float | None = None
    raw: bool = False

    model: ClassVar[Callable[..., Any]] = ReticulumClassifier
    peers: ClassVar[Models] = CLASSIFIERS

    def folds(self, directory: Path) -> list[Fold] | None:
        """The five folds, or the one fold of a data set that comes with rows to fit on; None without its table."""
        table = load(directory, self.name, self.max_rows, self.raw)
        if table is None:
            return None
        if self.train is not None:
            train = load(directory, self.train, None, self.raw)
            return None if train is None else [Fold(*train, *table)]
        return split(*table, StratifiedKFold(5, shuffle=True, random_state=42))

    def judge(self, model: Any, fold: Fold) -> Votes:
        """The votes of a fitted model on the held-out rows of its fold."""
        probabilities = model.predict_proba(fold.X_test)
        is_class = fold.y_test[:, None] == model.classes_
        return Votes(
            float(log_loss(fold.y_test, probabilities, labels=model.classes_)),
            np.sum((probabilities - is_class) ** 2, axis=1),
            probabilities.max(axis=1),
            is_class[np.arange(len(is_class)), probabilities.argmax(axis=1)],
        )

    def score(self, votes: list[Votes], parts: list[Fold]) -> ClassScores:
        """The measures of one seed, from its votes in all folds."""
        losses, brier, confidence, is_right = (np.hstack(values) for values in zip(*votes, strict=True))
        return ClassScores(losses.mean(), brier.mean(), calibration_error(confidence, is_right))

    def is_met(self, scores: Mapping[str, ClassScores], splits: NDArray[np.int64]) -> bool:
        """Whether the scores of each model by its name and the sizes of all fits (seeds, folds) keep the limits."""
        allowed = [] if self.limit is None else [self.limit]
        if self.margin is not None:
            allowed.append(min(scores[name].loss.mean() for name in (LOGISTIC, TUNED_TREE)) + self.margin)
        good = scores[OURS].loss.max() <= min(allowed, default=np.inf)
        small = self.max_splits is None or splits.max() <= self.max_splits
        usual = self.usual_splits is None or (splits == self.usual_splits).mean() >= 0.95
        return bool(good and small and usual)

    def limits(self) -> str:
        """The limits, in words."""
        limits = [] if self.limit is None else [f"≤ {self.limit:.3f}"]
        limits += [] if self.margin is None else [f"≤ better of {LOGISTIC} and {TUNED_TREE} + {self.margin:.3f}"]
        limits += [] if self.usual_splits is None else [f"{self.usual_splits} splits in 95%"]
        limits += [] if self.max_splits is None else [f"≤ {self.max_splits} splits"]
        return ", ".join(limits)


@dataclass(frozen=True)
class Regression:
    """A data set with numbers as targets; with a limit, the intervals of every seed must cover their share of them.

    Parameters
    ----------
    name : str
        The table `name.csv` or `name.csv.gz`; its column `target` holds the numbers.
    limit : float or None
        Largest RMSE over standard deviation that any seed may have.
    max_rows : int or None
        Rows are sampled down to this number.
    raw : bool
        Whether the table is used with its gaps and categories.
    """

    name: str
    limit: float | None = None
    max_rows: int | None = None
    raw: bool = False

    model: ClassVar[Callable[..., Any]] = ReticulumRegressor
    peers: ClassVar[Models] = REGRESSORS

    def folds(self, directory: Path) -> list[Fold] | None:
        """The five folds; None without its table."""
        table = load(directory, self.name, self.max_rows, self.raw)
        if table is None:
            return None
        X, y = table
        return split(X, y.astype(np.float64), KFold(5, shuffle=True, random_state=0))

    def judge(self, model: Any, fold: Fold) -> RegressionScores:
        """The measures of a fitted model on the held-out rows of its fold, with an error in units of the targets."""
        y = fold.y_test
        error = root_mean_squared_error(y, model.predict(fold.X_test))
        if not hasattr(model, "predict_distribution"):
            return RegressionScores(error)
        distribution = model.predict_distribution(fold.X_test)
        lower, upper = distribution.interval(INTERVAL)
        covered = (lower <= y) & (y <= upper)
        return RegressionScores(error, -distribution.logpdf(y).mean(), crps(distribution, y).mean(), covered.mean())

    def score(self, judged: list[RegressionScores], parts: list[Fold]) -> RegressionScores:
        """The measures of one seed, from those in each fold."""
        means = RegressionScores(*np.mean(judged, axis=0))
        # Every row is held out once, so that these are all targets of the table.
        targets = np.concatenate([fold.y_test for fold in parts])
        return means._replace(error=means.error / targets.std())

    def is_met(self, scores: Mapping[str, RegressionScores], splits: NDArray[np.int64]) -> bool:
        """Whether the scores of each model by its name keep the limits."""
        if self.limit is None:
            return True
        ours = scores[OURS]
        low, high = COVERAGE
        covers = np.all((low <= ours.coverage) & (ours.coverage <= high))
        return bool(ours.error.max() <= self.limit and covers)

    def limits(self) -> str:
        """The limits, in words."""
        if self.limit is None:
            return ""
        return f"≤ {self.limit:.3f}, {COVERAGE[0]:.0%} to {COVERAGE[1]:.0%} covered"


Problem = Classification | Regression

PROBLEMS: tuple[Problem, ...] = (
    Classification("cross", 0.331, usual_splits=3),
    Classification("sphere", 0.360, max_splits=8),
    Classification("ripley_train", 0.31),
    Classification("ripley_test", 0.24, train="ripley_train"),
    Classification("wdbc", 0.084),
    Classification("wine", 0.10),
    Classification("iris", 0.10),
    Classification("pima_diabetes", 0.486),
    Classification("banknote", 0.015),
    Classification("ionosphere", 0.28),
    Classification("heart_cleveland", 0.40),
    Classification("vowel", 0.62),
    Classification("glass", 1.0),
    Classification("magic_telescope", 0.355, max_rows=3000),
    Classification("satimage", 0.315, max_rows=3000),
    Classification("spambase", max_rows=3000),
    Regression("auto_mpg", 0.355),
    Regression("concrete", 0.365),
    Regression("airfoil", 0.345),
    Regression("power_plant_ccpp", 0.24, max_rows=5000),
    Regression("wine_quality", 0.80, max_rows=5000),
    Regression("california_housing", 0.51, max_rows=5000),
    Classification("titanic", margin=0.005, raw=True),
    Classification("german_credit", margin=0.005, raw=True),
    Classification("credit_scoring", margin=0.005, raw=True),
    Classification("contraceptive", margin=0.005, raw=True),
    Classification("car_evaluation", 0.11, raw=True),
    Classification("adult_income", 0.32, raw=True),
    Classification("sick_thyroid", raw=True),
    Classification("heart_cleveland", raw=True),
    Classification("penguins", raw=True),
    Classification("tic_tac_toe", raw=True),
    Classification("mammography", raw=True),
    Regression("diamonds", max_rows=5000, raw=True),
    Regression("auto_mpg", raw=True),
)
