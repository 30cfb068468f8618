"""The techniques that are compared: how each is built, what of it is tuned, and how its size is counted."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from optuna.distributions import BaseDistribution, CategoricalDistribution, FloatDistribution, IntDistribution
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier
from xgboost import XGBClassifier

from bayesian_reticulum import PaperReticulumClassifier, ReticulumClassifier

Settings = dict[str, Any]

OURS = "ReticulumClassifier"
PAPER = "PaperReticulumClassifier, tuned"
PUBLISHED = "PaperReticulumClassifier, published settings"
XGBOOST = "XGBoost"

# Best settings of the authors' tuning.
_NAMES = ("prior", "max_attempts", "learning_rate", "n_gradient_steps", "initial_stiffness", "pruning_factor")
_VALUES = {
    "sphere": (1.567512774761449, 86, 0.5459049825557916, 100, 9.787487528997882, 1.0633657210992458),
    "cross": (1.000329117076533, 10, 0.42573632846161397, 172, 1.1614575976863115, 1.0895876478584843),
    "ripley": (1.1982176593167126, 35, 0.06823423186986995, 93, 1.8960788813445533, 1.0237544874453033),
}


@dataclass(frozen=True)
class Technique:
    """One way to fit a data set.

    Parameters
    ----------
    name : str
        As the tables show it.
    build : callable
        Settings and `random_state` to an estimator.
    n_nodes : callable
        Number of nodes with weights of a fitted estimator: splits, or hidden units and output.
    space : dict of str to BaseDistribution
        What is tuned; nothing if empty.
    starts : dict of str to dict
        Settings of the first trial by data set; without a space they are all there is.
    """

    name: str
    build: Callable[..., Any]
    n_nodes: Callable[[Any], int]
    space: dict[str, BaseDistribution] = field(default_factory=dict)
    starts: dict[str, Settings] = field(default_factory=dict)


def _network(*, hidden_units: int, **settings: Any) -> Any:
    # L-BFGS: on tables this small it ends lower than Adam, and sooner.
    return make_pipeline(StandardScaler(), MLPClassifier((hidden_units,), solver="lbfgs", **settings))


def _logistic(*, random_state: int, **settings: Any) -> Any:
    return make_pipeline(StandardScaler(), LogisticRegression(**settings))


def _tree_splits(model: Any) -> int:
    return int(model.tree_.node_count - model.tree_.n_leaves)


def _reticulum_splits(model: Any) -> int:
    return int(model.n_splits_)


def techniques(*, quick: bool) -> dict[str, Technique]:
    """All techniques by name, in the order of the tables; in a quick run all of them stay small."""

    def most(usual: int, small: int) -> int:
        return small if quick else usual

    real, whole = FloatDistribution, IntDistribution
    log_real, log_whole = partial(FloatDistribution, log=True), partial(IntDistribution, log=True)
    attempts, steps = whole(most(10, 1), most(100, 3)), whole(most(20, 10), most(200, 20))
    published = {name: dict(zip(_NAMES, values, strict=True)) for name, values in _VALUES.items()}
    for settings in published.values():
        settings["max_attempts"] = min(settings["max_attempts"], attempts.high)
        settings["n_gradient_steps"] = min(settings["n_gradient_steps"], steps.high)
    listed = (
        Technique(
            "decision tree",
            DecisionTreeClassifier,
            _tree_splits,
            {
                "max_depth": whole(1, 20),
                "min_samples_leaf": log_whole(1, 200),
                "ccp_alpha": log_real(1e-6, 1e-2),
            },
        ),
        Technique(
            "neural network",
            _network,
            lambda pipeline: pipeline[-1].hidden_layer_sizes[0] + 1,
            {
                "hidden_units": whole(2, 50),
                "activation": CategoricalDistribution(["relu", "tanh", "logistic"]),
                "alpha": log_real(1e-4, 10.0),
                "max_iter": whole(most(50, 10), most(500, 20)),
            },
        ),
        # The published scripts gave XGBoost its learning rate under a name that it does not know, so that it ran at
        # its default. Here the rate is tuned.
        Technique(
            XGBOOST,
            partial(XGBClassifier, tree_method="hist", n_jobs=1),
            lambda model: sum(tree.count("[") for tree in model.get_booster().get_dump()),
            {
                "n_estimators": whole(most(20, 5), most(500, 20)),
                "learning_rate": log_real(0.01, 0.3),
                "max_depth": whole(2, 8),
                "subsample": real(0.3, 1.0),
                "reg_lambda": log_real(0.01, 100.0),
                "min_child_weight": log_real(1.0, 50.0),
                "gamma": real(0.0, 5.0),
            },
        ),
        Technique("logistic regression", _logistic, lambda _: 1, {"C": log_real(1e-4, 1e4)}),
        Technique(
            "random forest",
            RandomForestClassifier,
            lambda forest: sum(map(_tree_splits, forest.estimators_)),
            {
                "n_estimators": whole(most(50, 5), most(300, 10)),
                "max_depth": whole(2, 20),
                "min_samples_leaf": log_whole(1, 50),
                "max_features": CategoricalDistribution(["sqrt", None]),
            },
        ),
        Technique(
            PAPER,
            PaperReticulumClassifier,
            _reticulum_splits,
            {
                "prior": log_real(0.5, 5.0),
                "max_attempts": attempts,
                "learning_rate": log_real(0.01, 1.0),
                "n_gradient_steps": steps,
                "initial_stiffness": log_real(0.5, 20.0),
                "pruning_factor": real(1.0, 1.2),
            },
            published,
        ),
        Technique(PUBLISHED, PaperReticulumClassifier, _reticulum_splits, starts=published),
        Technique(
            OURS,
            ReticulumClassifier,
            _reticulum_splits,
            starts={name: {"max_attempts": 2} if quick else {} for name in published},
        ),
    )
    return {technique.name: technique for technique in listed}
