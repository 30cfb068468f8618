"""The models that are timed: how each is made, and from which package."""

from __future__ import annotations

import importlib.util
import warnings
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.tree import DecisionTreeClassifier

from bayesian_reticulum import ReticulumClassifier

OURS = "reticulum"
BOOSTED, NETWORK, HISTOGRAMS = "XGBoost, 200 × depth 3", "neural network (32)", "HistGradientBoosting"


class Peer(NamedTuple):
    """A kind of model: how it is made from a seed and a number of threads, and the package that it comes from.

    Tables with more than `most_rows` rows are not given to it: it would take most of the time of the whole run.
    """

    make: Callable[[int, int], Any]
    package: str = "sklearn"
    most_rows: int | None = None

    def is_installed(self) -> bool:
        return importlib.util.find_spec(self.package) is not None


def xgboost(seed: int, threads: int, n_trees: int = 200, depth: int = 3) -> Any:
    from xgboost import XGBClassifier

    return XGBClassifier(n_estimators=n_trees, max_depth=depth, n_jobs=threads, random_state=seed)


def lightgbm(seed: int, threads: int) -> Any:
    from lightgbm import LGBMClassifier

    return LGBMClassifier(n_jobs=threads, random_state=seed, verbosity=-1)


def catboost(seed: int, threads: int) -> Any:
    from catboost import CatBoostClassifier

    return CatBoostClassifier(thread_count=threads, random_seed=seed, verbose=0, allow_writing_files=False)


def explainable_boosting(seed: int, threads: int) -> Any:
    from interpret.glassbox import ExplainableBoostingClassifier

    return ExplainableBoostingClassifier(n_jobs=threads, random_state=seed)


def soft_tree(seed: int, threads: int) -> Any:
    import torch
    from neural_trees import SoftDecisionTree

    # Its batches are so small that a second thread makes it slower.
    torch.set_num_threads(1)
    return SoftDecisionTree(random_state=seed)


PEERS: Mapping[str, Peer] = {
    OURS: Peer(lambda seed, threads: ReticulumClassifier(n_jobs=threads, random_state=seed), "bayesian_reticulum"),
    "decision tree (CART)": Peer(lambda seed, threads: DecisionTreeClassifier(random_state=seed)),
    "random forest": Peer(lambda seed, threads: RandomForestClassifier(n_jobs=threads, random_state=seed)),
    HISTOGRAMS: Peer(lambda seed, threads: HistGradientBoostingClassifier(random_state=seed)),
    NETWORK: Peer(lambda seed, threads: MLPClassifier((32,), learning_rate_init=1e-3, max_iter=500, random_state=seed)),
    BOOSTED: Peer(xgboost, "xgboost"),
    "LightGBM": Peer(lightgbm, "lightgbm"),
    "CatBoost": Peer(catboost, "catboost"),
    "EBM": Peer(explainable_boosting, "interpret"),
    "soft tree (neural-trees), 1 thread": Peer(soft_tree, "neural_trees", most_rows=10_000),
}


def missing_peers(peers: Mapping[str, Peer] = PEERS) -> str:
    """A line that says which peers are not installed; empty if all are."""
    missing = [name for name, peer in peers.items() if not peer.is_installed()]
    if not missing:
        return ""
    return (
        f"Not installed, and left out with the limits that need them: {', '.join(missing)}. "
        "Install the extra 'benchmarks': pip install 'bayesian-reticulum[benchmarks]'"
    )


def warm_up(name: str, X: NDArray[np.float64], y: Any, threads: int) -> None:
    """Fit a few rows of each class, so that imports and the start of threads are not measured."""
    few = np.concatenate([np.flatnonzero(y == label)[:50] for label in np.unique(y)])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        PEERS[name].make(0, threads).fit(X[few], y[few])
