"""Rows of classes for tests of evidence, and the bound F as it is written."""

from __future__ import annotations

import numpy as np
from scipy.special import xlogy

from bayesian_reticulum.data.schema import identity_schema
from bayesian_reticulum.families.dirichlet import DirichletCategorical
from bayesian_reticulum.gates import compute_gates
from bayesian_reticulum.rows.numpy import NumpyRows


def make_rows(rng, n, d, k, *, weights=None, prior=0.5, rows_class=NumpyRows):
    """Rows whose classes depend on the features a little."""
    X = rng.normal(size=(n, d))
    targets = np.clip(np.floor(k / 2 + X[:, 0] + rng.normal(scale=0.7, size=n)), 0, k - 1).astype(int)
    weights = np.ones(n) if weights is None else weights
    return rows_class(X, targets, DirichletCategorical((prior,) * k), weights, identity_schema(d))


def dense_parts(rows, tree):
    """Memberships (n, leaves), row statistics (n, k) and weights (n,) of rows in standard units."""
    design = np.column_stack([np.ones(len(rows._X)), rows._X]).T
    membership = np.exp(compute_gates(tree.hyperplanes[None], tree.shape, design).log_membership[0]).T
    return membership, rows.family.row_statistics(None, rows._targets), rows._weights


def naive_free_energy(family, r, membership, T, weights):
    """F(r, w) as it is written."""
    divergence = (xlogy(r, r) - xlogy(r, membership)).sum(axis=1)
    return float(family.log_evidence((weights[:, None] * r).T @ T).sum() - weights @ divergence)
