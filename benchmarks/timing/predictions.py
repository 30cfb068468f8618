"""Predictions from a given tree: many rows at once, and one row."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression

from bayesian_reticulum import ReticulumClassifier

from .peers import BOOSTED, OURS, PEERS, xgboost
from .random_models import random_model
from .results import Line
from .turns import Floats, in_turns, middle, ratios

DEEP_BOOSTED = "XGBoost, 100 × depth 6"


def predictions(repeats: int, threads: int) -> Iterator[Line]:
    """Probabilities of a million rows from a random tree of 15 splits, and from common models."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((1_000_000, 20))
    ours = ReticulumClassifier(n_jobs=threads)
    ours.model_ = random_model(15, X[:10_000], rng)
    ours.classes_, ours.n_features_in_ = np.array([0, 1]), X.shape[1]
    sample = X[:10_000]
    y = (sample[:, 0] * sample[:, 1] > 0).astype(np.int64)
    models: dict[str, Any] = {
        "HistGradientBoosting, 100 trees": HistGradientBoostingClassifier(max_iter=100, early_stopping=False),
        "LogisticRegression": LogisticRegression(),
    }
    if PEERS[BOOSTED].is_installed():
        models = {DEEP_BOOSTED: xgboost(0, threads, 100, 6)} | models
    for model in models.values():
        model.fit(sample, y)
    every = {OURS: ours} | models
    seconds = in_turns({name: lambda _, model=model: model.predict_proba(X) for name, model in every.items()}, repeats)
    for name in models:
        ratio = ratios(seconds[OURS], seconds[name])
        limit = (float(np.median(ratio)), 1.0, "×") if name == DEEP_BOOSTED else None
        yield Line("predict_proba, 1 000 000 × 20", f"to {name}", seconds[OURS], "s", ratio, limit)
    yield from one_row(ours, models.get(DEEP_BOOSTED), X[:1])


def one_row(ours: ReticulumClassifier, boosted: Any, row: Floats, calls: int = 300) -> Iterator[Line]:
    """Microseconds for one row: by the light path, by predict_proba, and by boosting."""
    tasks = {"model_.predict_mean": ours.model_.predict_mean, "predict_proba": ours.predict_proba}
    if boosted is not None:
        tasks[DEEP_BOOSTED] = boosted.predict_proba
    seconds = in_turns({name: lambda _, task=task: task(row) for name, task in tasks.items()}, calls)
    light = seconds["model_.predict_mean"]
    for name, values in seconds.items():
        limit = (1e6 * float(np.median(values)), 60.0, "µs") if values is light else None
        yield Line("one row of 20 cells", name, middle(1e6 * values), "µs", middle(ratios(light, values)), limit)
