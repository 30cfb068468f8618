"""Growth in tests: small tables as rows, and growth run to its end."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from asking import family_of, rows_of_data, view_from
from bayesian_reticulum.data import Schema
from bayesian_reticulum.evidence import State, evaluate
from bayesian_reticulum.families import DirichletCategorical
from bayesian_reticulum.growth import Policy, grow_tree, leaf_places
from bayesian_reticulum.growth.proposals import Outlook, survey_site
from bayesian_reticulum.growth.sites import LeafSite
from bayesian_reticulum.history import GrowthEvent
from bayesian_reticulum.rows import ArrayRows, RowData
from bayesian_reticulum.tree import Tree, single_leaf, split_leaf


class Grown(NamedTuple):
    """What a growth was made on, all its events, and what it came to."""

    rows: Any
    events: list[GrowthEvent]
    state: State
    reason: str


def make_rows(X: Any, y: Any, weights: Any = None) -> Any:
    """A table of numbers with classes as rows; the pseudo-counts of more than two classes are set by evidence."""
    weights = np.ones(len(X)) if weights is None else weights
    schema = Schema.from_columns(X, weights, tuple(f"x{j}" for j in range(X.shape[1])))
    family = DirichletCategorical((0.5,) * (int(y.max()) + 1), is_tuned=y.max() > 1)
    data = RowData.of(X, y, weights, schema)
    return rows_of_data(ArrayRows, data.rotated(1000)[0] if X.shape[1] > len(X) else data, family)


def run(growth: Any) -> tuple[list[GrowthEvent], State, str]:
    """All events of a growth, its final state and why it stopped."""
    events = []
    while True:
        try:
            events.append(next(growth))
        except StopIteration as end:
            return events, *end.value


def grow(X: Any, y: Any, seed: int = 0, **policy: Any) -> Grown:
    """Grow a tree on a table; keywords are those of the policy."""
    rows = make_rows(X, y)
    return Grown(rows, *run(grow_tree(rows, family_of(rows), Policy(**policy), np.random.default_rng(seed))))


def stump(rows: Any, hyperplane: Any, precision: float = 0.1) -> State:
    """A tree of one split, evaluated as it is."""
    return evaluate(
        rows, family_of(rows), split_leaf(single_leaf(rows.n_columns), 0, hyperplane), np.full(1, precision)
    )


def leaf_site(state: State, leaf: int) -> LeafSite:
    """A leaf of a tree as a site."""
    return LeafSite(leaf_places(state.tree)[leaf], state, leaf)


def three_classes(n: int, seed: int) -> tuple[Any, Any]:
    """Three classes that two of three features tell apart."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    y = (X[:, 0] + 0.3 * rng.normal(size=n) > 0).astype(int) + (X[:, 1] + 0.3 * rng.normal(size=n) > 0.5)
    return X, y


def seven_splits() -> Tree:
    """A tree whose root has three splits on either side."""
    tree = split_leaf(single_leaf(2), 0, [0.0, 2.0, 0.5])
    for leaf, hyperplane in (
        (0, [-1.0, 2.0, 0.0]),
        (2, [1.0, 2.0, 0.0]),
        *((k, [0.0, 0.3, 3.0]) for k in (6, 4, 2, 0)),
    ):
        tree = split_leaf(tree, leaf if leaf < tree.n_leaves else tree.n_leaves - 1, hyperplane)
    return tree


def survey(rows: Any, hyperplane: Any, leaf: int = 0, policy: Policy | None = None, **keywords: Any) -> Outlook:
    """What proposers see of a leaf of a tree of one split; keywords are those of `survey_site`."""
    policy = Policy() if policy is None else policy
    site = leaf_site(stump(rows, hyperplane), leaf)
    tree, statistics = site.state.tree, site.state.statistics
    view = view_from(rows, tree.hyperplanes, tree.shape, statistics, leaf)
    return survey_site(rows, view, site, policy, np.random.default_rng(0), 7, **keywords)
