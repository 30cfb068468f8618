"""Rows of classes for tests of evidence, and the bound F as it is written."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import xlogy

from asking import family_of, pass_at
from bayesian_reticulum.data.schema import identity_schema
from bayesian_reticulum.evidence.bound import bound, free_energy
from bayesian_reticulum.families.dirichlet import DirichletCategorical
from bayesian_reticulum.gates import compute_gates
from bayesian_reticulum.rows.arrays import ArrayRows


@dataclass
class ClassTable:
    """Features in standard units, classes that depend on them a little, and weights of rows."""

    X: Any
    targets: Any
    weights: Any
    family: DirichletCategorical

    def rows(self, rows_class=ArrayRows):
        return rows_class.of_table(self.X, self.targets, self.family, self.weights, identity_schema(self.X.shape[1]))

    def dense_parts(self, tree):
        """Memberships (n, leaves), row statistics (n, k) and weights (n,)."""
        design = np.column_stack([np.ones(len(self.X)), self.X]).T
        membership = np.exp(compute_gates(tree.hyperplanes[None], tree.shape, design).log_membership[0]).T
        return membership, self.family.row_statistics(None, self.targets), self.weights


def make_table(rng, n, d, k, *, weights=None, prior=0.5):
    X = rng.normal(size=(n, d))
    targets = np.clip(np.floor(k / 2 + X[:, 0] + rng.normal(scale=0.7, size=n)), 0, k - 1).astype(int)
    return ClassTable(X, targets, np.ones(n) if weights is None else weights, DirichletCategorical((prior,) * k))


def make_rows(*args, rows_class=ArrayRows, **kwargs):
    """The rows of such a table."""
    return make_table(*args, **kwargs).rows(rows_class)


def bound_at(rows, hyperplanes, shape, statistics):
    """J(w, S) of each tree of a stack, (c,)."""
    family = family_of(rows)
    expected = family.expected_parameters(statistics)
    return bound(family, statistics, expected, pass_at(rows, hyperplanes, shape, statistics))


def free_energy_at(rows, hyperplanes, shape, statistics):
    """F(r, w) of each tree of a stack, (c,), at the responsibilities that statistics imply."""
    family = family_of(rows)
    return free_energy(family, family.expected_parameters(statistics), pass_at(rows, hyperplanes, shape, statistics))


def naive_free_energy(family, r, membership, T, weights):
    """F(r, w) as it is written."""
    divergence = (xlogy(r, r) - xlogy(r, membership)).sum(axis=1)
    return float(family.log_evidence((weights[:, None] * r).T @ T).sum() - weights @ divergence)
