"""Quality of the defaults on known data sets, with peers on the same folds.

Prints Markdown tables, with means over five folds. Classification: the log-loss; then the Brier score (summed over the
classes, 0 to 2) and the expected calibration error (ECE, 15 bins), both of the held-out rows of all folds together.
Regression: the root mean squared error (RMSE) over the standard deviation of all targets; for models that predict a
distribution also the negative log-likelihood (NLL), the continuous ranked probability score (CRPS) and the share of
targets in the central 90% interval.

Data sets are prepared or raw. Prepared, rows with gaps are dropped and categories become indicator columns, for all
models. Raw, the reticulum gets each table as pandas reads it, with its gaps and with words for categories. Peers get
their usual preparation: gaps are filled by the mean, categories become indicator columns with one more for their gaps,
and columns without any cell are dropped; boosting takes gaps and categories by itself.
"""

from __future__ import annotations

import argparse
import importlib.util
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm
from sklearn.base import clone
from sklearn.compose import ColumnTransformer, make_column_selector, make_column_transformer
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.exceptions import ConvergenceWarning
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, RidgeCV
from sklearn.metrics import log_loss, root_mean_squared_error
from sklearn.model_selection import GridSearchCV, KFold, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from threadpoolctl import threadpool_limits

from bayesian_reticulum import ReticulumClassifier, ReticulumRegressor

if TYPE_CHECKING:
    import pandas as pd

Floats = NDArray[np.float64]
Models = Mapping[str, Callable[[], Any]]

OURS, LOGISTIC, TUNED_TREE = "reticulum", "logistic regression", "tuned tree"
N_BINS = 15  # of the expected calibration error
LEVELS = (np.arange(199) + 0.5) / 199  # of the quantiles that stand for a distribution in its CRPS
INTERVAL, COVERAGE = 0.9, (0.86, 0.94)
RIVAL, MIN_WINS = "NGBoost", 4  # the peer in likelihood, and the prepared sets of all six on which to beat it


class Fold(NamedTuple):
    """Rows to fit on and rows to predict."""

    X: pd.DataFrame
    y: NDArray[Any]
    X_test: pd.DataFrame
    y_test: NDArray[Any]

    def for_peers(self) -> Fold:
        """The same without empty columns, and with words as categories, whose levels both parts have in common."""
        import pandas as pd

        X = pd.concat([self.X, self.X_test]).dropna(axis="columns", how="all")
        X = X.astype(dict.fromkeys(X.select_dtypes(exclude="number"), "category"))
        return self._replace(X=X.iloc[: len(self.X)], X_test=X.iloc[len(self.X) :])


class ClassScores(NamedTuple):
    """Measures of a classifier, of one seed or of all seeds (seeds,).

    The Brier score is the mean over rows of the sum over all classes of the squared differences. The calibration error
    has bins of equal width over the probability of the predicted class.
    """

    loss: Any
    brier: Any
    calibration_error: Any


class RegressionScores(NamedTuple):
    """Measures of a regressor, of one seed or of all seeds (seeds,); NaN where it predicts no distribution."""

    error: Any
    nll: Any = np.nan
    crps: Any = np.nan
    coverage: Any = np.nan


class Votes(NamedTuple):
    """What a classifier says about the held-out rows of a fold: its log-loss, and the rest for each row (n,)."""

    loss: float
    brier: Floats
    confidence: Floats
    is_right: NDArray[np.bool_]


class Normal(NamedTuple):
    """Normal distributions (n,) with those methods of the reticulum's predictive distribution that are used here."""

    mean: Floats
    std: Floats

    def logpdf(self, y: Floats) -> Floats:
        return norm.logpdf(y, self.mean, self.std)

    def quantile(self, q: Floats) -> Floats:
        return norm.ppf(q, self.mean[:, None], self.std[:, None])

    def interval(self, level: float) -> tuple[Floats, Floats]:
        return norm.interval(level, self.mean, self.std)


class NaturalGradientBoosting:
    """NGBoost with its defaults. Its trees get a seed too: they would break ties at random."""

    def fit(self, X: pd.DataFrame, y: Floats) -> NaturalGradientBoosting:
        from ngboost import NGBRegressor
        from ngboost.learners import default_tree_learner

        tree = clone(default_tree_learner).set_params(random_state=0)
        self.numbers_ = numbers().fit(X)
        self.model_ = NGBRegressor(Base=tree, verbose=False, random_state=0).fit(self.numbers_.transform(X), y)
        return self

    def predict(self, X: pd.DataFrame) -> Floats:
        return self.model_.predict(self.numbers_.transform(X))

    def predict_distribution(self, X: pd.DataFrame) -> Normal:
        parameters = self.model_.pred_dist(self.numbers_.transform(X)).params
        return Normal(parameters["loc"], parameters["scale"])


def numbers() -> ColumnTransformer:
    """Makes numbers of a table for peers: gaps are filled, and each level of a category becomes a column.

    Gaps in a category are a level of their own. Levels that were not there to fit on have zeros everywhere.
    """
    return make_column_transformer(
        (SimpleImputer(), make_column_selector(dtype_include="number")),
        (OneHotEncoder(handle_unknown="ignore", sparse_output=False), make_column_selector(dtype_exclude="number")),
    )


def tuned_tree() -> GridSearchCV:
    """A decision tree of the depth that is best in folds of the rows to fit on."""
    tree = DecisionTreeClassifier(random_state=0)
    # Tables are often sorted.
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    return GridSearchCV(tree, {"max_depth": range(1, 13)}, cv=folds, scoring="neg_log_loss")


@dataclass(frozen=True)
class Classification:
    """A data set with classes and what is asked of it.

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
    peers: ClassVar[Models] = {
        LOGISTIC: lambda: make_pipeline(numbers(), StandardScaler(), LogisticRegression(max_iter=2000)),
        "random forest": lambda: make_pipeline(numbers(), RandomForestClassifier(200, random_state=0)),
        "boosting": lambda: HistGradientBoostingClassifier(categorical_features="from_dtype", random_state=0),
        "decision tree": lambda: make_pipeline(numbers(), DecisionTreeClassifier(random_state=0)),
        TUNED_TREE: lambda: make_pipeline(numbers(), tuned_tree()),
    }

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
        """What a fitted model says about the other rows of its fold."""
        probabilities = model.predict_proba(fold.X_test)
        is_class = fold.y_test[:, None] == model.classes_
        return Votes(
            float(log_loss(fold.y_test, probabilities, labels=model.classes_)),
            np.sum((probabilities - is_class) ** 2, axis=1),
            probabilities.max(axis=1),
            is_class[np.arange(len(is_class)), probabilities.argmax(axis=1)],
        )

    def score(self, votes: list[Votes], parts: list[Fold]) -> ClassScores:
        """The measures of one seed, from what it says in all folds."""
        losses, brier, confidence, is_right = (np.hstack(values) for values in zip(*votes, strict=True))
        return ClassScores(losses.mean(), brier.mean(), calibration_error(confidence, is_right))

    def is_met(self, scores: Mapping[str, ClassScores], splits: NDArray[np.int64]) -> bool:
        """Whether the scores of each model by its name and the sizes of all fits (seeds, folds) keep what is asked."""
        allowed = [] if self.limit is None else [self.limit]
        if self.margin is not None:
            allowed.append(min(scores[name].loss.mean() for name in (LOGISTIC, TUNED_TREE)) + self.margin)
        good = scores[OURS].loss.max() <= min(allowed, default=np.inf)
        small = self.max_splits is None or splits.max() <= self.max_splits
        usual = self.usual_splits is None or (splits == self.usual_splits).mean() >= 0.95
        return bool(good and small and usual)

    def limits(self) -> str:
        """What is asked, in words."""
        limits = [] if self.limit is None else [f"≤ {self.limit:.3f}"]
        limits += [] if self.margin is None else [f"≤ better of {LOGISTIC} and {TUNED_TREE} + {self.margin:.3f}"]
        limits += [] if self.usual_splits is None else [f"{self.usual_splits} splits in 95%"]
        limits += [] if self.max_splits is None else [f"≤ {self.max_splits} splits"]
        return ", ".join(limits)


@dataclass(frozen=True)
class Regression:
    """A data set with numbers as targets; with a limit, the intervals of every seed are to cover their share of them.

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
    peers: ClassVar[Models] = {
        "ridge": lambda: make_pipeline(numbers(), StandardScaler(), RidgeCV()),
        "random forest": lambda: make_pipeline(numbers(), RandomForestRegressor(200, random_state=0)),
        "boosting": lambda: HistGradientBoostingRegressor(categorical_features="from_dtype", random_state=0),
        "decision tree": lambda: make_pipeline(numbers(), DecisionTreeRegressor(random_state=0)),
        RIVAL: NaturalGradientBoosting,
    }

    def folds(self, directory: Path) -> list[Fold] | None:
        """The five folds; None without its table."""
        table = load(directory, self.name, self.max_rows, self.raw)
        if table is None:
            return None
        X, y = table
        return split(X, y.astype(np.float64), KFold(5, shuffle=True, random_state=0))

    def judge(self, model: Any, fold: Fold) -> RegressionScores:
        """The measures of a fitted model on the other rows of its fold, with an error in units of the targets."""
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
        """Whether the scores of each model by its name keep what is asked."""
        if self.limit is None:
            return True
        ours = scores[OURS]
        low, high = COVERAGE
        covers = np.all((low <= ours.coverage) & (ours.coverage <= high))
        return bool(ours.error.max() <= self.limit and covers)

    def limits(self) -> str:
        """What is asked, in words."""
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


class Run(NamedTuple):
    """One kind of model on all folds."""

    scores: Any
    splits: list[int]
    seconds: float


class Row(NamedTuple):
    """What was measured on one data set: the scores of each model by its name, and the sizes (seeds, folds)."""

    problem: Problem
    scores: dict[str, Any]
    splits: NDArray[np.int64]
    seconds: float

    @property
    def ours(self) -> Any:
        return self.scores[OURS]

    def is_met(self) -> bool:
        return self.problem.is_met(self.scores, self.splits)


def load(
    directory: Path, name: str, max_rows: int | None, raw: bool = False
) -> tuple[pd.DataFrame, NDArray[Any]] | None:
    """Features and targets of a table, raw or prepared; None if it is not there."""
    import pandas as pd

    paths = [path for path in (directory / f"{name}.csv", directory / f"{name}.csv.gz") if path.exists()]
    if not paths:
        return None
    frame = pd.read_csv(paths[0])
    if not raw:
        frame = frame.dropna()
    if max_rows is not None and len(frame) > max_rows:
        frame = frame.sample(max_rows, random_state=0)
    X = frame.drop(columns="target")
    return X if raw else pd.get_dummies(X).astype(np.float64), frame["target"].to_numpy()


def split(X: pd.DataFrame, y: NDArray[Any], folds: Any) -> list[Fold]:
    """The folds of a table."""
    return [Fold(X.iloc[train], y[train], X.iloc[test], y[test]) for train, test in folds.split(X, y)]


def calibration_error(confidence: Floats, is_right: NDArray[np.bool_]) -> float:
    """Expected calibration error: by how much confidence and accuracy differ in a bin, weighted by its rows."""
    bins = np.minimum((confidence * N_BINS).astype(np.int64), N_BINS - 1)
    return float(np.abs(np.bincount(bins, confidence - is_right, N_BINS)).sum() / len(bins))


def crps(distribution: Any, y: Floats) -> Floats:
    """Continuous ranked probability score of each row: twice the pinball loss, averaged over the levels of quantiles.

    Of normal and Student's t distributions and of mixtures of these it is exact to about 0.1% for any one target, and
    to 0.01% in the mean over targets that come from the distribution.
    """
    errors = y[:, None] - distribution.quantile(LEVELS)
    return 2 * np.mean(np.maximum(LEVELS * errors, (LEVELS - 1) * errors), axis=1)


def fit(model: Any, fold: Fold) -> float:
    """Fit on one part of a fold; returns the seconds that it took."""
    start = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(fold.X, fold.y)
    return time.perf_counter() - start


def run(problem: Problem, parts: list[Fold], make: Callable[[], Any]) -> Run:
    """Fit and judge one kind of model on all folds."""
    judged: list[Any] = []
    splits, seconds = [], []
    for fold in parts:
        model = make()
        seconds.append(fit(model, fold))
        judged.append(problem.judge(model, fold))
        splits.append(getattr(model, "n_splits_", 0))
    return Run(problem.score(judged, parts), splits, float(np.mean(seconds)))


def measure(problem: Problem, parts: list[Fold], n_seeds: int) -> Row:
    """Fit and judge all seeds and all peers on the same folds."""
    ours = [run(problem, parts, partial(problem.model, random_state=seed)) for seed in range(n_seeds)]
    peers = {name: make for name, make in problem.peers.items() if name != RIVAL or has_rival()}
    scores = {OURS: _stacked([done.scores for done in ours])}
    theirs = [fold.for_peers() for fold in parts]
    scores |= {name: _stacked([run(problem, theirs, make).scores]) for name, make in peers.items()}
    splits = np.array([done.splits for done in ours])
    return Row(problem, scores, splits, float(np.mean([done.seconds for done in ours])))


def _stacked(scores: Sequence[Any]) -> Any:
    return type(scores[0])(*np.transpose(scores))


def has_rival() -> bool:
    """Whether NGBoost is installed."""
    return importlib.util.find_spec("ngboost") is not None


def measured(directory: Path, problems: list[Problem], n_seeds: int) -> Iterator[Row]:
    """One row after the other, with progress on standard error."""
    for number, problem in enumerate(problems, start=1):
        print(f"[{number}/{len(problems)}] {problem.name} ...", end=" ", file=sys.stderr, flush=True)
        parts = problem.folds(directory)
        if parts is None:
            print("skipped: its table is not there", file=sys.stderr)
            continue
        row = measure(problem, parts, n_seeds)
        print(f"{row.ours[0].mean():.4f}, {row.seconds:.1f} s a fit", file=sys.stderr, flush=True)
        yield row


def report(rows: list[Row]) -> str:
    """All tables, each below its heading."""
    tables = []
    for kind, raw in (("prepared", False), ("raw", True)):
        group = [row for row in rows if row.problem.raw == raw]
        classes = [row for row in group if isinstance(row.problem, Classification)]
        regressions = [row for row in group if isinstance(row.problem, Regression)]
        if classes:
            tables += [f"## Classification, {kind}: log-loss", loss_table(classes)]
            tables += [f"## Classification, {kind}: calibration", calibration_table(classes)]
        if regressions:
            title = f"## Regression, {kind}: RMSE / standard deviation, NLL, CRPS and coverage"
            tables += [title, regression_table(regressions)]
    return "\n\n".join(tables)


def loss_table(rows: list[Row]) -> str:
    """Log-loss; the last line has the geometric means of the ratios to each peer."""
    peers = list(Classification.peers)
    names = ["data", "log-loss", "worst seed", "splits", "s a fit", "limit", "met", *peers]
    lines = [
        [
            row.problem.name,
            _cell(row, OURS, "loss"),
            f"{row.ours.loss.max():.4f}",
            *_size_and_limits(row),
            *(_cell(row, name, "loss") for name in peers),
        ]
        for row in rows
    ]
    means = {name: _mean_ratio(rows, name, "loss") for name in peers}
    return markdown(names, [*lines, _footer(names, "geometric mean of log-loss / peer's", means)])


def calibration_table(rows: list[Row]) -> str:
    """Brier score and expected calibration error (ECE) of every model; the last line has their means."""
    columns = {
        f"{name} {title}": (name, measure)
        for title, measure in (("Brier", "brier"), ("ECE", "calibration_error"))
        for name in (OURS, *Classification.peers)
    }
    lines = [[row.problem.name, *(_cell(row, *column) for column in columns.values())] for row in rows]
    means = {
        title: f"{np.mean([_value(row, name, measure) for row in rows]):.4f}"
        for title, (name, measure) in columns.items()
    }
    names = ["data", *columns]
    return markdown(names, [*lines, _footer(names, "mean", means)])


def regression_table(rows: list[Row]) -> str:
    """All measures of the reticulum and of NGBoost, errors of the other peers; the last lines compare with each."""
    peers = list(Regression.peers)
    rival_nll, rival_crps, rival_coverage = (f"{RIVAL} {measure}" for measure in ("NLL", "CRPS", "90% covered"))
    names = ["data", "RMSE/sd", "worst seed", "NLL", "CRPS", "90% covered", "splits", "s a fit", "limit", "met"]
    names += [*peers, rival_nll, rival_crps, rival_coverage]
    lines = [
        [
            row.problem.name,
            _cell(row, OURS, "error"),
            f"{row.ours.error.max():.4f}",
            _cell(row, OURS, "nll"),
            _cell(row, OURS, "crps"),
            _range(row.ours.coverage, "{:.1%}"),
            *_size_and_limits(row),
            *(_cell(row, name, "error") for name in peers),
            _cell(row, RIVAL, "nll"),
            _cell(row, RIVAL, "crps"),
            _cell(row, RIVAL, "coverage", "{:.1%}"),
        ]
        for row in rows
    ]
    ratios = {name: _mean_ratio(rows, name, "error") for name in peers}
    ratios[rival_crps] = _mean_ratio(rows, RIVAL, "crps")
    lines.append(_footer(names, "geometric mean of RMSE or CRPS / peer's", ratios))
    differences = nll_differences(rows)
    if len(differences) > 0:
        lines.append(_footer(names, "mean of NLL - peer's", {rival_nll: f"{differences.mean():+.4f}"}))
        wins = {rival_nll: f"{np.sum(differences < 0)} of {len(differences)}"}
        enough = wins_enough(differences)
        if enough is not None:
            wins |= {"limit": f"≥ {MIN_WINS}", "met": _met(enough)}
        lines.append(_footer(names, "data sets with a lower NLL", wins))
    return markdown(names, lines)


def nll_differences(rows: list[Row]) -> Floats:
    """The mean NLL over all seeds less that of NGBoost, of the data sets on which both were measured (sets,)."""
    both = [row for row in rows if RIVAL in row.scores]
    return np.array([_value(row, OURS, "nll") - _value(row, RIVAL, "nll") for row in both])


def wins_enough(differences: Floats) -> bool | None:
    """Whether the NLL is lower than NGBoost's on enough prepared data sets; None where not all were measured."""
    if len(differences) < sum(isinstance(problem, Regression) and not problem.raw for problem in PROBLEMS):
        return None
    return bool(np.sum(differences < 0) >= MIN_WINS)


def markdown(names: list[str], lines: list[list[str]]) -> str:
    """A Markdown table with names to the left and numbers to the right."""
    rule = "|---" + "|---:" * (len(names) - 1) + "|"
    header, *body = ("| " + " | ".join(cells) + " |" for cells in [names, *lines])
    return "\n".join([header, rule, *body])


def _footer(names: list[str], title: str, cells: dict[str, str]) -> list[str]:
    return [title, *(cells.get(name, "") for name in names[1:])]


def _value(row: Row, name: str, measure: str) -> float:
    return float(getattr(row.scores[name], measure).mean())


def _cell(row: Row, name: str, measure: str, style: str = "{:.4f}") -> str:
    return style.format(_value(row, name, measure)) if name in row.scores else ""


def _mean_ratio(rows: list[Row], name: str, measure: str) -> str:
    ratios = [_value(row, OURS, measure) / _value(row, name, measure) for row in rows if name in row.scores]
    return f"{np.exp(np.mean(np.log(ratios))):.3f}" if ratios else ""


def _size_and_limits(row: Row) -> list[str]:
    limits = row.problem.limits()
    met = _met(row.is_met()) if limits else ""
    return [_range(row.splits, "{}"), f"{row.seconds:.1f}", limits or "none", met]


def _range(values: NDArray[Any], style: str) -> str:
    low, high = style.format(values.min()), style.format(values.max())
    return low if low == high else f"{low} to {high}"


def _met(is_met: bool) -> str:
    return "yes" if is_met else "**no**"


def _chosen(names: str | None, raw: bool | None) -> list[Problem]:
    problems = [problem for problem in PROBLEMS if raw in (None, problem.raw)]
    if names is None:
        return problems
    known = list(dict.fromkeys(problem.name for problem in problems))
    wanted = [name.strip() for name in names.split(",")]
    unknown = [name for name in wanted if name not in known]
    if unknown:
        raise SystemExit(f"--only: {unknown[0]!r} is not a data set of this benchmark. Choose from {', '.join(known)}.")
    return [problem for name in wanted for problem in problems if problem.name == name]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, metavar="DIR", help="folder with the tables, as CSV")
    parser.add_argument("--seeds", type=int, default=1, metavar="K", help="fits with random_state below K (default: 1)")
    parser.add_argument("--only", metavar="NAME,NAME", help="some data sets alone, of any kind")
    parser.add_argument("--raw", action=argparse.BooleanOptionalAction, help="raw data sets alone, or prepared ones")
    parser.add_argument("--limits", action="store_true", help="exit with 1 if a limit is not met")
    arguments = parser.parse_args()
    problems = _chosen(arguments.only, arguments.raw)
    if arguments.seeds < 1:
        parser.error(f"--seeds must be at least 1; got {arguments.seeds}.")
    if not arguments.data.is_dir():
        print(f"Skipped: there is no folder {arguments.data}. Give the folder that holds cross.csv and the others.")
        return 0
    try:
        import pandas  # noqa: F401
    except ImportError as error:
        raise ImportError(
            "reading the tables needs pandas, which is not installed. "
            "Install the extra 'benchmarks': pip install 'bayesian-reticulum[benchmarks]'"
        ) from error
    if not has_rival() and any(isinstance(problem, Regression) for problem in problems):
        print(
            f"{RIVAL} is not installed: its columns stay empty, and the limit on data sets with a lower NLL is not "
            "checked. Install the extra 'benchmarks': pip install 'bayesian-reticulum[benchmarks]'",
            file=sys.stderr,
        )
    with threadpool_limits(1):
        rows = list(measured(arguments.data, problems, arguments.seeds))
    if not rows:
        print(f"Skipped: {arguments.data} holds none of the tables {', '.join(problem.name for problem in problems)}.")
        return 0
    print(report(rows))
    prepared = [row for row in rows if not row.problem.raw]
    missed = any(not row.is_met() for row in rows) or wins_enough(nll_differences(prepared)) is False
    return int(arguments.limits and missed)


if __name__ == "__main__":
    sys.exit(main())
