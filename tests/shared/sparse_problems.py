"""A small problem of simplification: two of eight features decide."""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import numpy as np

from bayesian_reticulum import ReticulumClassifier
from bayesian_reticulum.estimators import rows_of_model
from bayesian_reticulum.evidence import State, evaluate
from bayesian_reticulum.rows import RowData
from bayesian_reticulum.simplification.bench import Bench
from bayesian_reticulum.simplification.policy import SimplificationPolicy
from bayesian_reticulum.simplification.problem import Problem


class Fitted(NamedTuple):
    """A problem, and the state of the tree that was fitted to its rows."""

    problem: Problem
    state: State


def two_of_eight(n: int = 300, policy: SimplificationPolicy | None = None, **parameters: Any) -> Fitted:
    """Classes that the features 0 and 2 of eight tell apart; keywords are those of the classifier."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 8))
    y = (rng.uniform(size=n) < 1 / (1 + np.exp(-4 * (X[:, 0] - X[:, 2])))).astype(int)
    clf = ReticulumClassifier(random_state=0, patience=1, lookahead=0, **parameters).fit(X, y)
    model = clf.model_
    bench = Bench(RowData.of(X, y, np.ones(n), model.schema), model.family, partial(rows_of_model, clf))
    problem = Problem.of(clf, bench, False, SimplificationPolicy() if policy is None else policy)
    return Fitted(problem, evaluate(bench.rows, model.family, model.tree, model.precisions, sparse=True))
