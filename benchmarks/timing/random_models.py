"""Trees, models and rows as large as they are asked for, without the time that a fit of their size takes."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayesian_reticulum import DirichletCategorical, Reticulum, Schema, Tree
from bayesian_reticulum.rows import LocalRows, Pass, PassSums, RowData, Rows, rows_in_memory
from bayesian_reticulum.tree import single_leaf, split_leaf

from .turns import Floats

FAMILY = DirichletCategorical((0.5, 0.5))


class RandomRows(NamedTuple):
    """Cells (n, d) and targets (n,) of noise, the rows made of them, and a tree with its leaf statistics."""

    X: Floats
    y: NDArray[np.int64]
    rows: LocalRows
    tree: Tree
    statistics: Floats

    def make_pass(self, rows: Rows | None = None, information: bool = False) -> PassSums:
        """One pass of the tree over the rows, or over others with the same number of columns."""
        rows = self.rows if rows is None else rows
        expected = FAMILY.expected_parameters(self.statistics)
        return rows.reduce(Pass(self.tree.hyperplanes[None], self.tree.shape, expected, information))


def random_tree(n_splits: int, n_features: int, rng: np.random.Generator) -> Tree:
    """A tree of random shape with hyperplanes of ordinary stiffness."""
    tree = single_leaf(n_features)
    for _ in range(n_splits):
        hyperplane = rng.standard_normal(n_features + 1) * 3 / np.sqrt(n_features)
        tree = split_leaf(tree, int(rng.integers(tree.n_leaves)), hyperplane)
    return tree


def random_model(n_splits: int, X: Floats, rng: np.random.Generator) -> Reticulum:
    """A model as a fit would leave it."""
    return Reticulum(
        tree=random_tree(n_splits, X.shape[1], rng),
        statistics=rng.gamma(2.0, 10.0, size=(n_splits + 1, FAMILY.n_statistics)),
        family=FAMILY,
        schema=schema_of(X),
        targets=("0", "1"),
        precisions=np.ones(n_splits),
        log_evidence=0.0,
        log_bayes_factors=np.ones(n_splits),
        prices=np.ones(n_splits),
        grey_shares=np.ones(n_splits),
    )


def random_rows(n: int, d: int) -> RandomRows:
    """Rows (n, d) of noise, with a tree of 31 splits; the same each time."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, d))
    y = rng.integers(2, size=n)
    rows = rows_in_memory(RowData.of(X, y, np.ones(n), schema_of(X[:10_000])), FAMILY)
    tree = random_tree(31, d, rng)
    return RandomRows(X, y, rows, tree, rng.gamma(2.0, n / 200, size=(1, tree.n_leaves, FAMILY.n_statistics)))


def schema_of(X: Floats) -> Schema:
    return Schema.from_columns(X, np.ones(len(X)), tuple(f"x{j}" for j in range(X.shape[1])))
