"""The problem of a simplification: rows on which sparse trees are judged, and what trees cost to read."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from ..arrays import Integers
from ..data import Schema
from ..evidence import State, ascend_tree, reconverge
from ..model import Reticulum
from ..rows import FULL_HESSIAN_COLUMNS, Rows
from ..tree import Tree
from .bench import Bench
from .policy import SimplificationPolicy


@dataclass(frozen=True, eq=False)
class Problem:
    """Rows on which trees are judged, and what their columns are.

    Attributes
    ----------
    bench : Bench
        The rows; of a wide table, with the columns of its most important features alone.
    schema : Schema
        Of the whole table.
    columns : ndarray of int
        The places of the rows' columns among those of the schema.
    n_features : int
        Features of the table that vary.
    groups : tuple of ndarray of int
        The rows' columns of each feature that a split may look at.
    names : tuple of str
        The names of these features.
    max_splits, max_depth : float
        Limits of the tree; infinite for none.
    verbose : bool
        Whether a line is printed for each tree that is tried.
    policy : SimplificationPolicy
    """

    bench: Bench
    schema: Schema
    columns: Integers
    n_features: int
    groups: tuple[Integers, ...]
    names: tuple[str, ...]
    max_splits: float = np.inf
    max_depth: float = np.inf
    verbose: bool = False
    policy: SimplificationPolicy = field(default_factory=SimplificationPolicy)

    @classmethod
    def of(cls, estimator: Any, bench: Bench, verbose: bool, policy: SimplificationPolicy) -> Problem:
        """The problem of simplifying a fitted estimator on these rows."""
        model: Reticulum = estimator.model_
        schema, max_splits, max_depth = model.schema, estimator.max_splits, estimator.max_depth
        columns = np.arange(schema.n_columns)
        if schema.n_columns > FULL_HESSIAN_COLUMNS:
            important = np.argsort(-model.feature_importances, kind="stable")[: policy.most_candidates]
            some = np.flatnonzero(np.isin(schema.source, important))
            few = bench.restricted(some)
            if few is not None:
                bench, columns = few, some
        varying = np.where(schema.low < schema.high, schema.source, -1)
        source = varying[columns]
        features = np.unique(source[source >= 0]).tolist()
        return cls(
            bench,
            schema,
            columns,
            len(np.unique(varying[varying >= 0])),
            tuple(np.flatnonzero(source == feature) for feature in features),
            tuple(schema.names[feature] for feature in features),
            np.inf if max_splits is None else max_splits,
            np.inf if max_depth is None else max_depth,
            verbose,
            policy,
        )

    @property
    def rows(self) -> Rows:
        """The rows on which trees are judged."""
        return self.bench.rows

    @property
    def lacks_columns(self) -> bool:
        """Whether the rows lack columns of the table."""
        return len(self.columns) < self.schema.n_columns

    def restricted(self, state: State) -> State:
        """A tree on all columns as one on the rows' columns, fitted again if it has lost some."""
        if not self.lacks_columns:
            return state
        return self.refit(replace(state, tree=extract_columns(state.tree, self.columns)))

    def restored(self, tree: Tree) -> Tree:
        """A tree on the rows' columns as one on all columns."""
        if tree.n_features == self.schema.n_columns:
            return tree
        return embed_columns(tree, self.columns, self.schema.n_columns)

    def model(self, like: Reticulum, state: State) -> Reticulum:
        """The model of a tree, without Bayes factors and grey zones."""
        unknown = np.full(state.tree.n_splits, np.nan)
        return replace(
            like,
            tree=self.restored(state.tree),
            statistics=state.statistics,
            precisions=state.precisions,
            log_evidence=float(state.log_evidence),
            log_bayes_factors=unknown,
            prices=state.prices,
            grey_shares=unknown,
        )

    def uses(self, tree: Tree) -> NDArray[np.bool_]:
        """Which features each split looks at, (m, groups)."""
        slopes = tree.hyperplanes[:, 1:] != 0
        looks = [slopes[:, columns].any(axis=1) for columns in self.groups]
        return np.stack(looks, axis=1) if looks else np.zeros((tree.n_splits, 0), dtype=bool)

    def price_of_choice(self, tree: Tree) -> float:
        """Nats for the choice of the features of each split: log C(d, k) for k of d."""
        whole, chosen = self.n_features, self.uses(tree).sum(axis=1)
        return float((gammaln(whole + 1) - gammaln(chosen + 1) - gammaln(whole - chosen + 1)).sum())

    def n_numbers(self, tree: Tree) -> int:
        """Numbers to read: the features of all splits, and their offsets."""
        return int(self.uses(tree).sum()) + tree.n_splits

    def most_features(self, tree: Tree) -> int:
        """Features of the split that looks at most."""
        return int(self.uses(tree).sum(axis=1).max(initial=0))

    def refit(self, state: State) -> State:
        """A tree after an ascent of all its splits; slopes that are zero stay zero."""
        return refit_sparse(self.bench, state, self.policy)

    def report(self, what: str, state: State) -> None:
        """Print a line on a tree that was tried, if that is wanted."""
        if self.verbose:
            splits, numbers = state.tree.n_splits, self.n_numbers(state.tree)
            result = f"{splits} split{'s' * (splits != 1)}, {numbers} numbers, log evidence {state.log_evidence:.2f}"
            print(f"[simplify] {what}: {result}", file=sys.stdout, flush=True)


def features_of_splits(schema: Schema, tree: Tree) -> tuple[int, ...]:
    """How many features each split of a tree on all columns looks at."""
    return tuple((schema.by_feature(tree.hyperplanes[:, 1:] != 0) > 0).sum(axis=1).tolist())


def columns_of(tree: Tree) -> Integers:
    """Columns that any split looks at."""
    return np.flatnonzero((tree.hyperplanes[:, 1:] != 0).any(axis=0))


def embed_columns(tree: Tree, columns: Integers, n_columns: int) -> Tree:
    """A tree on some columns as one on all, with slopes of zero for the others."""
    hyperplanes = np.zeros((tree.n_splits, n_columns + 1))
    hyperplanes[:, np.append(0, 1 + columns)] = tree.hyperplanes
    return Tree(hyperplanes, tree.shape, tree.ids)


def extract_columns(tree: Tree, columns: Integers) -> Tree:
    """A tree on all columns as one on some of them; slopes for the others are lost."""
    return Tree(tree.hyperplanes[:, np.append(0, 1 + columns)], tree.shape, tree.ids)


def refit_sparse(bench: Bench, state: State, policy: SimplificationPolicy) -> State:
    """The tree after an ascent of all its splits; slopes that are zero stay zero."""
    tree, effort = state.tree, policy.whole_effort(bench.rows)
    if not tree.n_splits:
        return reconverge(bench.rows, state)
    # Columns that no split looks at would be summed over for nothing.
    columns = columns_of(tree)
    few = bench.restricted(columns) if len(columns) < policy.few_columns * tree.n_features else None
    judge = bench.rows if few is None else few.rows
    start = tree if few is None else extract_columns(tree, columns)
    refitted = ascend_tree(judge, state.family, start, state.precisions, state.statistics, effort)
    if policy.growth.grows_on_samples(bench.rows):
        # Information was summed over a sample; trees are compared by the prices of all rows.
        refitted = reconverge(judge, refitted, tolerance=policy.reconverge_tolerance)
    return refitted if few is None else replace(refitted, tree=embed_columns(refitted.tree, columns, tree.n_features))
