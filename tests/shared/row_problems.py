"""Random rows with a stack of trees, and what plain loops over the rows make of them: the judge of laws of rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from hypothesis import strategies as st
from scipy.special import log_expit, logsumexp

from asking import grey_shares, histogram_of, membership_sums, moments_of, pass_at
from bayesian_reticulum.data.schema import Schema
from bayesian_reticulum.data.units import MISSING, NUMBER
from bayesian_reticulum.families.dirichlet import DirichletCategorical
from bayesian_reticulum.gates import compute_gates, gap_softening
from bayesian_reticulum.tree import Shape, Tree, single_leaf, split_leaf
from plugins import TABLES, draw_table, trees

few_rows, few_trees = st.integers(1, 30), st.integers(1, 3)
SUMS = ("log_normalizer", "statistics", "gradient", "observed", "complete")


@dataclass
class Problem:
    """Rows, a stack of trees of one shape and leaf statistics to make a pass at."""

    X: Any
    targets: Any
    weights: Any
    family: DirichletCategorical
    schema: Schema
    hyperplanes: Any
    shape: Shape
    statistics: Any
    rng: np.random.Generator

    def rows(self, rows_class, **changes):
        return rows_class.of_table(self.X, self.targets, self.family, self.weights, self.schema, **changes)

    def pass_(self, rows, *, information=True):
        return pass_at(rows, self.hyperplanes, self.shape, self.statistics, information=information)

    @property
    def first_tree(self):
        return Tree(self.hyperplanes[0], self.shape, np.arange(self.shape.n_splits))


@st.composite
def problems(draw, *, n=few_rows, min_splits=0, max_splits=5, trees_in_stack=few_trees, table=None) -> Problem:
    tree = draw(trees(min_splits=min_splits, max_splits=max_splits))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, c, k, d = draw(n), draw(trees_in_stack), draw(st.integers(1, 3)), tree.n_features
    others = rng.normal(scale=2, size=(c - 1, tree.n_splits, d + 1))
    X, schema = draw_table(rng, n, d, table or draw(st.sampled_from(TABLES)))
    return Problem(
        X=X,
        targets=rng.integers(k, size=n),
        weights=rng.uniform(0.2, 3, size=n),
        family=DirichletCategorical(tuple(rng.uniform(0.3, 2, size=k))),
        schema=schema,
        hyperplanes=np.concatenate([tree.hyperplanes[None], others]),
        shape=tree.shape,
        statistics=rng.gamma(1.0, 4.0, size=(c, tree.n_leaves, k)),
        rng=rng,
    )


def naive_columns(schema, feature, cell):
    """Standardised columns (columns of the feature,) of one cell."""
    out = []
    for column in np.flatnonzero(schema.source == feature):
        code = schema.code[column]
        if code == MISSING:
            value = float(np.isnan(cell))
        elif code == NUMBER:
            value = min(max(cell, schema.low[column]), schema.high[column])
        else:
            value = np.nan if np.isnan(cell) else float(cell == code)
        out.append(0.0 if np.isnan(value) else (value - schema.center[column]) / schema.scale[column])
    return out


def naive_filled(problem):
    """Design (n, D + 1), and the share of variance (n, d) that each gap leaves open."""
    schema = problem.schema
    rows = [
        [1.0, *(column for feature, cell in enumerate(row) for column in naive_columns(schema, feature, cell))]
        for row in problem.X
    ]
    design, left_open = np.array(rows), np.isnan(problem.X).astype(float)
    if schema.regressions is None:
        return design, left_open
    coefficients, variances = schema.regressions.coefficients, schema.regressions.variances
    for row, gaps in enumerate(np.isnan(problem.X)):
        unknown = [int(j) for j in np.flatnonzero(gaps[schema.source] & (schema.code != MISSING))]
        # The others at their means, and then at what followed from these.
        for _ in range(2):
            filled = [coefficients[j] @ design[row, 1:] for j in unknown]
            for j, value in zip(unknown, filled, strict=True):
                design[row, 1 + j] = value
        for gap in np.flatnonzero(gaps):
            columns = [j for j in unknown if schema.source[j] == gap]
            more = [sum(coefficients[j, k] ** 2 * schema.variances[k] for k in unknown) for j in columns]
            rest = np.minimum(variances[columns] + more, schema.variances[columns])
            left_open[row, gap] = rest.sum() / schema.variances[columns].sum()
    return design, left_open


def naive_design(problem):
    return naive_filled(problem)[0]


def naive_variance(schema, feature, hyperplane):
    """How much an activation varies over what the cell of a feature may be."""
    columns = np.flatnonzero((schema.source == feature) & (schema.code != MISSING))
    slopes = hyperplane[1 + columns] / schema.scale[columns]
    if len(columns) == 1:
        return float((hyperplane[1 + columns] ** 2).sum())
    mean = schema.center[columns] @ slopes
    return float(schema.center[columns] @ (slopes - mean) ** 2)


def naive_activations(problem, hyperplanes):
    """Activations (n, m) of the hyperplanes (m, d + 1) of one tree, softened where cells are missing."""
    design, left_open = naive_filled(problem)
    mean = design @ hyperplanes.T
    variance = np.zeros(mean.shape)
    for row, feature in np.argwhere(np.isnan(problem.X)):
        variance[row] += [
            left_open[row, feature] * naive_variance(problem.schema, feature, hyperplane) for hyperplane in hyperplanes
        ]
    return mean / np.sqrt(1 + 0.5 * np.pi / 8 * variance)


def naive_log_membership(activations, shape):
    """Log membership of one row, with these activations (m,), in each leaf of one tree, walked from the root."""
    out = np.zeros(shape.n_leaves)

    def walk(split, log_reach):
        for child, sign in zip(shape.children[split], (1, -1), strict=True):
            reached = log_reach + log_expit(sign * float(activations[split]))
            if child >= 0:
                walk(child, reached)
            else:
                out[~child] = reached

    if shape.n_splits:
        walk(0, 0.0)
    return out


def naive_responsibilities(problem, tree):
    """Log membership, log joint and responsibilities (n, leaves) of one tree of the stack."""
    activations = naive_activations(problem, problem.hyperplanes[tree])
    log_membership = np.array([naive_log_membership(row, problem.shape) for row in activations])
    log_membership = log_membership.reshape(len(activations), problem.shape.n_leaves)
    T = np.eye(problem.family.n_statistics)[problem.targets]
    joint = log_membership + T @ problem.family.expected_parameters(problem.statistics[tree]).T
    return log_membership, joint, np.exp(joint - logsumexp(joint, axis=1, keepdims=True))


def naive_slopes(problem, hyperplanes):
    """Derivative (n, m, d + 1) of each activation by its hyperplane."""
    design = naive_design(problem)
    if not np.isnan(problem.X).any():
        return np.repeat(design[:, None], len(hyperplanes), axis=1)
    out = np.empty((len(design), *hyperplanes.shape))
    for j in range(hyperplanes.shape[1]):
        step = np.zeros(hyperplanes.shape[1])
        step[j] = 1e-5
        ends = [naive_activations(problem, hyperplanes + sign * step) for sign in (1, -1)]
        out[:, :, j] = (ends[0] - ends[1]) / 2e-5
    return out


def softened_gates(problem, hyperplanes):
    """Gates as `gates` computes them, missing cells filled and softened."""
    gaps = problem.schema.gaps(problem.X)
    design, left_open = problem.schema.filled(problem.X, gaps)
    return compute_gates(hyperplanes, problem.shape, design, gap_softening(gaps, hyperplanes, left_open))


def requests(problem, rows):
    """The answers of rows to each additive request but passes."""
    width = problem.hyperplanes.shape[-1]
    rng = np.random.default_rng(0)
    directions, cuts = rng.normal(size=(4, width)), rng.normal(size=(2, width))
    probabilities = np.array([0.0, 0.1, 0.5, 0.77, 1.0])
    # Edges at rounded numbers, away from any row.
    edges = np.tile([-1.03, 0.011, 0.97], (4, 1))
    statistics = problem.statistics[0, 0]
    return {
        "prior_statistics": membership_sums(rows, problem.hyperplanes, problem.shape),
        "second_moments": moments_of(rows, statistics).second,
        "cross_moments": moments_of(rows, statistics).cross,
        "quantiles": rows.quantiles(directions, probabilities),
        "histogram": histogram_of(rows, directions, edges, cuts, statistics),
        "grey_shares": grey_shares(rows, problem.hyperplanes[0], problem.shape, 0.1, 0.9),
    }


def assert_same_pass(one, other, rtol=1e-10):
    """Every sum of two passes differs by less than rtol of its largest entry."""
    for name in SUMS:
        first, second = getattr(one, name), getattr(other, name)
        assert (first is None) == (second is None)
        if first is not None:
            atol = rtol * max(1.0, np.abs(first).max(initial=0.0))
            np.testing.assert_allclose(second, first, rtol=0, atol=atol, err_msg=name)


def differences(function, hyperplanes, step):
    """Central differences of a function of one tree's hyperplanes (m, d + 1)."""
    out = []
    for index in np.ndindex(hyperplanes.shape):
        change = np.zeros(hyperplanes.shape)
        change[index] = step
        out.append((function(hyperplanes + change) - function(hyperplanes - change)) / (2 * step))
    return np.array(out).reshape(*hyperplanes.shape, *np.shape(out[0]))


def full_tree(levels, n_features, rng):
    """A tree in which each leaf is so many splits below the root."""
    tree = single_leaf(n_features)
    for _ in range(levels):
        for leaf in range(0, 2 * tree.n_leaves, 2):
            tree = split_leaf(tree, leaf, rng.normal(size=n_features + 1))
    return tree
