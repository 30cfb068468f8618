"""Rows on which sparse trees are judged."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from ..arrays import Integers
from ..data import Schema
from ..evidence import State, ascend_tree, reconverge
from ..growth import GLOBAL, effort_for, grows_on_samples
from ..model import Reticulum
from ..rows import FULL_HESSIAN_COLUMNS
from ..tree import Tree

# Share of columns below which it pays to fit a tree to those columns alone.
_FEW_COLUMNS = 0.7
# Of a wide table, features that sparse splits may look at.
_MOST_CANDIDATES = 128
_SPARSE = replace(GLOBAL, sparse=True)


class Problem(NamedTuple):
    """Rows on which trees are judged, and what their columns are.

    `columns` are the places of the rows' columns among those of the schema, and `groups` those of each feature that a
    split may look at, by `names`.
    """

    rows: Any
    schema: Schema
    columns: Integers
    n_features: int
    groups: tuple[Integers, ...]
    names: tuple[str, ...]
    max_splits: float
    max_depth: float
    verbose: bool

    @classmethod
    def of(cls, estimator: Any, rows: Any, verbose: bool) -> Problem:
        model: Reticulum = estimator.model_
        schema, max_splits, max_depth = model.schema, estimator.max_splits, estimator.max_depth
        columns = np.arange(schema.n_columns)
        if schema.n_columns > FULL_HESSIAN_COLUMNS and rows.restricted(columns) is not None:
            ranked = np.argsort(-model.feature_importances, kind="stable")[:_MOST_CANDIDATES]
            columns = np.flatnonzero(np.isin(schema.source, ranked))
            rows = rows.restricted(columns)
        varying = np.where(schema.low < schema.high, schema.source, -1)
        source = varying[columns]
        features = np.unique(source[source >= 0]).tolist()
        return cls(
            rows,
            schema,
            columns,
            len(np.unique(varying[varying >= 0])),
            tuple(np.flatnonzero(source == feature) for feature in features),
            tuple(schema.names[feature] for feature in features),
            np.inf if max_splits is None else max_splits,
            np.inf if max_depth is None else max_depth,
            verbose,
        )

    @property
    def lacks_columns(self) -> bool:
        """Whether the rows lack columns of the table."""
        return len(self.columns) < self.schema.n_columns

    def widened(self, tree: Tree) -> Tree:
        """A tree on the rows' columns, as one on all columns."""
        if tree.n_features == self.schema.n_columns:
            return tree
        return embed_columns(tree, self.columns, self.schema.n_columns)

    def rotated(self, state: State) -> State:
        """A tree on all columns as one on those of the rows, fitted anew if it has lost some."""
        if not self.lacks_columns:
            return state
        return refit_sparse(self.rows, replace(state, tree=extract_columns(state.tree, self.columns)))

    def model(self, like: Reticulum, state: State) -> Reticulum:
        """The model of a tree, but for Bayes factors and grey zones."""
        unknown = np.full(state.tree.n_splits, np.nan)
        return replace(
            like,
            tree=self.widened(state.tree),
            statistics=state.statistics,
            precisions=state.precisions,
            log_evidence=float(state.log_evidence),
            log_bayes_factors=unknown,
            prices=state.prices,
            grey_shares=unknown,
        )

    def used(self, tree: Tree) -> NDArray[np.bool_]:
        """Which features each split looks at, (m, groups)."""
        slopes = tree.hyperplanes[:, 1:] != 0
        looks = [slopes[:, own].any(axis=1) for own in self.groups]
        return np.stack(looks, axis=1) if looks else np.zeros((tree.n_splits, 0), dtype=bool)

    def price_of_choice(self, tree: Tree) -> float:
        """Nats that it takes to say which features each split looks at, all choices of so many being alike."""
        whole, chosen = self.n_features, self.used(tree).sum(axis=1)
        return float((gammaln(whole + 1) - gammaln(chosen + 1) - gammaln(whole - chosen + 1)).sum())

    def n_numbers(self, tree: Tree) -> int:
        """How many features and offsets there are to read."""
        return int(self.used(tree).sum()) + tree.n_splits

    def most_features(self, tree: Tree) -> int:
        return int(self.used(tree).sum(axis=1).max(initial=0))

    def tell(self, what: str, state: State) -> None:
        """Print a line on a tree that was tried, if that is wanted."""
        if self.verbose:
            splits, numbers = state.tree.n_splits, self.n_numbers(state.tree)
            told = f"{splits} split{'s' * (splits != 1)}, {numbers} numbers, log evidence {state.log_evidence:.2f}"
            print(f"[simplify] {what}: {told}", file=sys.stdout, flush=True)


def features_of_splits(schema: Schema, tree: Tree) -> tuple[int, ...]:
    """How many features each split of a tree on all columns looks at."""
    return tuple((schema.by_feature(tree.hyperplanes[:, 1:] != 0) > 0).sum(axis=1).tolist())


def columns_of(tree: Tree) -> Integers:
    """Columns that any split looks at."""
    return np.flatnonzero((tree.hyperplanes[:, 1:] != 0).any(axis=0))


def embed_columns(tree: Tree, columns: Integers, n_columns: int) -> Tree:
    """A tree on some columns as one on all, which has no slopes for the others."""
    hyperplanes = np.zeros((tree.n_splits, n_columns + 1))
    hyperplanes[:, np.append(0, 1 + columns)] = tree.hyperplanes
    return Tree(hyperplanes, tree.shape, tree.ids)


def extract_columns(tree: Tree, columns: Integers) -> Tree:
    """A tree with its slopes for some columns alone."""
    return Tree(tree.hyperplanes[:, np.append(0, 1 + columns)], tree.shape, tree.ids)


def refit_sparse(rows: Any, state: State) -> State:
    """The tree after an ascent in which slopes that are zero stay zero."""
    tree, effort = state.tree, effort_for(rows, _SPARSE)
    if not tree.n_splits:
        return reconverge(rows, state)
    # Columns that no split looks at would be summed over for nothing.
    columns = columns_of(tree)
    few = rows.restricted(columns) if len(columns) < _FEW_COLUMNS * tree.n_features else None
    if few is None:
        found = ascend_tree(rows, tree, state.precisions, state.statistics, effort)
    else:
        found = ascend_tree(few, extract_columns(tree, columns), state.precisions, state.statistics, effort)
    if grows_on_samples(rows):
        # Trees are compared by the prices of all rows, not of a sample.
        found = reconverge(rows if few is None else few, found, tolerance=_SETTLED)
    return found if few is None else replace(found, tree=embed_columns(found.tree, columns, tree.n_features))


# Nats that are left to gain where responsibilities have converged, and where they have of many rows.
_CONVERGED, _SETTLED = 1e-9, 1e-2
