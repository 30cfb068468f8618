"""The other models, with the preparation that each of them needs."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from sklearn.base import clone
from sklearn.compose import ColumnTransformer, make_column_selector, make_column_transformer
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, RidgeCV
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from .scores import Floats, Normal

if TYPE_CHECKING:
    import pandas as pd

Models = Mapping[str, Callable[[], Any]]

OURS, LOGISTIC, TUNED_TREE = "reticulum", "logistic regression", "tuned tree"
RIVAL = "NGBoost"  # the peer in likelihood


class NaturalGradientBoosting:
    """NGBoost with its defaults. Its trees get a seed too: without one they break ties at random."""

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
    """Make numbers of a table for peers: gaps are filled, and each level of a category becomes a column.

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


def has_rival() -> bool:
    """Whether NGBoost is installed."""
    return importlib.util.find_spec("ngboost") is not None


CLASSIFIERS: Models = {
    LOGISTIC: lambda: make_pipeline(numbers(), StandardScaler(), LogisticRegression(max_iter=2000)),
    "random forest": lambda: make_pipeline(numbers(), RandomForestClassifier(200, random_state=0)),
    "boosting": lambda: HistGradientBoostingClassifier(categorical_features="from_dtype", random_state=0),
    "decision tree": lambda: make_pipeline(numbers(), DecisionTreeClassifier(random_state=0)),
    TUNED_TREE: lambda: make_pipeline(numbers(), tuned_tree()),
}
REGRESSORS: Models = {
    "ridge": lambda: make_pipeline(numbers(), StandardScaler(), RidgeCV()),
    "random forest": lambda: make_pipeline(numbers(), RandomForestRegressor(200, random_state=0)),
    "boosting": lambda: HistGradientBoostingRegressor(categorical_features="from_dtype", random_state=0),
    "decision tree": lambda: make_pipeline(numbers(), DecisionTreeRegressor(random_state=0)),
    RIVAL: NaturalGradientBoosting,
}
