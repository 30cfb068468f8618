"""The fitted model: how it is made of a grown tree, and given to an estimator."""

from __future__ import annotations

import copy
from typing import Any

from ..arrays import Floats
from ..data import Schema
from ..evidence import State
from ..families import Family
from ..history import History
from ..model import Reticulum
from .training import TrainingData


def make_model(
    data: TrainingData, family: Family, schema: Schema, state: State, log_bayes_factors: Floats, grey_shares: Floats
) -> Reticulum:
    """The immutable model of a tree in the units of a schema."""
    return Reticulum(
        tree=state.tree,
        statistics=state.statistics,
        family=family,
        schema=schema,
        targets=data.target_names,
        precisions=state.precisions,
        log_evidence=state.log_evidence,
        log_bayes_factors=log_bayes_factors,
        prices=state.prices,
        grey_shares=grey_shares,
    )


def set_model(estimator: Any, model: Reticulum, history: History) -> None:
    """Set all attributes of an estimator that follow from its fitted model."""
    estimator.model_ = model
    estimator.history_ = history
    estimator.n_splits_ = model.tree.n_splits
    estimator.n_leaves_ = model.tree.n_leaves
    estimator.depth_ = model.tree.depth
    estimator.log_evidence_ = model.log_evidence
    estimator.stopping_reason_ = history.stopping_reason
    estimator.feature_importances_ = model.feature_importances.copy()


def with_model(estimator: Any, model: Reticulum, history: History) -> Any:
    """A copy of a fitted estimator that has another model.

    Parameters
    ----------
    estimator : fitted estimator
        It is not changed.
    model : Reticulum
        For the same table and targets.
    history : History
        How the model came about.
    """
    other = copy.copy(estimator)
    set_model(other, model, history)
    return other
