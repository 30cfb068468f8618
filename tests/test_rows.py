"""Laws of the rows, for every kind of them: what a request answers equals what a plain loop over rows finds."""

import tracemalloc
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import expit, log_expit, logsumexp

from bayesian_reticulum import rows as rows_module
from bayesian_reticulum.data.schema import Schema, identity_schema
from bayesian_reticulum.data.units import MISSING, NUMBER
from bayesian_reticulum.evidence.bound import bound
from bayesian_reticulum.evidence.prices import split_tail
from bayesian_reticulum.families.dirichlet import DirichletCategorical
from bayesian_reticulum.gates import compute_gates, gap_softening
from bayesian_reticulum.tree import Shape, Tree, graft, single_leaf, split_leaf
from plugins import BACKENDS, TABLES, draw_table, trees

few = settings(max_examples=25)
some_rows, some_trees = st.integers(1, 30), st.integers(1, 3)
SUMS = ("log_normalizer", "statistics", "gradient", "observed", "complete")


@dataclass
class Problem:
    """Rows, a stack of trees of one shape and leaf statistics to make a pass at."""

    rows_class: ClassVar[Any]
    X: Any
    targets: Any
    weights: Any
    family: DirichletCategorical
    schema: Schema
    hyperplanes: Any
    shape: Shape
    statistics: Any
    rng: np.random.Generator

    @property
    def rows(self):
        return self.rows_class(self.X, self.targets, self.family, self.weights, self.schema)

    def pass_(self, *, information=True):
        return self.rows.pass_(self.hyperplanes, self.shape, self.statistics, information=information)


@pytest.fixture(params=BACKENDS, scope="module", autouse=True)
def rows_class(request):
    Problem.rows_class = request.param
    return request.param


@st.composite
def problems(draw, *, n=some_rows, min_splits=0, max_splits=5, trees_in_stack=some_trees, table=None):
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
    if schema.covariance_inverse is None:
        return design, left_open
    covariance = np.linalg.inv(schema.covariance_inverse)
    for row, gaps in enumerate(np.isnan(problem.X)):
        is_known = ~gaps[schema.source] & (schema.code != MISSING)
        known, own = np.flatnonzero(is_known), np.flatnonzero(gaps[schema.source] & (schema.code != MISSING))
        follows = covariance[np.ix_(own, known)] @ np.linalg.inv(covariance[np.ix_(known, known)])
        design[row, 1 + own] = follows @ design[row, 1 + known]
        rest = np.diag(covariance[np.ix_(own, own)] - follows @ covariance[np.ix_(known, own)])
        for gap in np.flatnonzero(gaps):
            mine = schema.source[own] == gap
            left_open[row, gap] = rest[mine].sum() / schema.variances[own[mine]].sum()
    return design, left_open


def naive_design(problem):
    return naive_filled(problem)[0]


def naive_variance(schema, feature, hyperplane):
    """How much an activation varies over what the cell of a feature may be."""
    own = np.flatnonzero((schema.source == feature) & (schema.code != MISSING))
    slopes = hyperplane[1 + own] / schema.scale[own]
    if len(own) == 1:
        return float((hyperplane[1 + own] ** 2).sum())
    mean = schema.center[own] @ slopes
    return float(schema.center[own] @ (slopes - mean) ** 2)


def naive_activations(problem, hyperplanes):
    """Activations (n, m) of the hyperplanes (m, d + 1) of one tree, softened by what is missing."""
    design, left_open = naive_filled(problem)
    mean = design @ hyperplanes.T
    variance = np.zeros(mean.shape)
    for row, feature in np.argwhere(np.isnan(problem.X)):
        variance[row] += [
            left_open[row, feature] * naive_variance(problem.schema, feature, hyperplane) for hyperplane in hyperplanes
        ]
    return mean / np.sqrt(1 + np.pi / 8 * variance)


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
    log_membership = np.array([naive_log_membership(own, problem.shape) for own in activations])
    log_membership = log_membership.reshape(len(activations), problem.shape.n_leaves)
    T = np.eye(problem.family.n_statistics)[problem.targets]
    joint = log_membership + T @ problem.family.expected_parameters(problem.statistics[tree]).T
    return log_membership, joint, np.exp(joint - logsumexp(joint, axis=1, keepdims=True))


def assert_same_pass(one, other, rtol=1e-10):
    """Every sum of two passes differs by less than rtol of its largest entry."""
    for name in SUMS:
        first, second = getattr(one, name), getattr(other, name)
        assert (first is None) == (second is None)
        if first is not None:
            atol = rtol * max(1.0, np.abs(first).max(initial=0.0))
            np.testing.assert_allclose(second, first, rtol=0, atol=atol, err_msg=name)


def softened_gates(problem, hyperplanes):
    gaps = problem.schema.gaps(problem.X)
    design, left_open = problem.schema.filled(problem.X, gaps)
    soft = gap_softening(gaps, hyperplanes, left_open)
    return compute_gates(hyperplanes, problem.shape, design, soft)


@given(problem=problems())
def test_memberships_sum_to_one(problem):
    found = softened_gates(problem, problem.hyperplanes)
    np.testing.assert_allclose(np.exp(found.log_membership).sum(axis=1), 1, rtol=1e-12)


@given(problem=problems(), size=st.sampled_from([1.0, 30.0, 1e4]))
def test_gates_equal_a_computation_row_by_row(problem, size):
    hyperplanes = size * problem.hyperplanes
    found = softened_gates(problem, hyperplanes)
    np.testing.assert_allclose(found.gate, expit(found.activation), rtol=1e-12, atol=1e-300)
    for tree in range(len(hyperplanes)):
        activations = naive_activations(problem, hyperplanes[tree])
        np.testing.assert_allclose(found.activation[tree].T, activations, rtol=1e-12, atol=1e-12 * size)
        naive = [naive_log_membership(own, problem.shape) for own in activations]
        np.testing.assert_allclose(found.log_membership[tree].T, naive, rtol=1e-12, atol=1e-11 * size)


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


@given(problem=problems())
def test_a_pass_equals_a_dense_computation(problem):
    at = problem.pass_()
    sides = problem.shape.sides
    T, v = np.eye(problem.family.n_statistics)[problem.targets], problem.weights[:, None]
    for tree in range(len(problem.hyperplanes)):
        _, joint, r = naive_responsibilities(problem, tree)
        gate = expit(naive_activations(problem, problem.hyperplanes[tree]))
        # How activations (n, m) follow hyperplanes: by the columns themselves where nothing is missing.
        design = naive_slopes(problem, problem.hyperplanes[tree])
        left, reached = r @ (sides == 1).T, r @ (sides != 0).T
        g = left - reached * gate
        complete = reached * gate * (1 - gate)
        observed = complete - left * (1 - gate) + left * g + gate * g * (1 - reached)
        expected = {
            "log_normalizer": problem.weights @ logsumexp(joint, axis=1),
            "statistics": (v * r).T @ T,
            "gradient": np.einsum("nj,njp->jp", v * g, design),
            "complete": np.einsum("nj,njp,njq->jpq", v * complete, design, design),
        }
        has_gaps = np.isnan(problem.X).any()
        if not has_gaps:
            expected["observed"] = np.einsum("nj,njp,njq->jpq", v * observed, design, design)
        for name, value in expected.items():
            tolerance = 1e-6 if has_gaps and name in ("gradient", "complete") else 1e-9
            found = getattr(at, name)[tree]
            np.testing.assert_allclose(found, value, rtol=tolerance, atol=tolerance, err_msg=name)


@given(problem=problems())
def test_statistics_at_responsibility_equal_to_membership_are_sums_of_memberships(problem):
    found = problem.rows.prior_statistics(problem.hyperplanes, problem.shape)
    T = np.eye(problem.family.n_statistics)[problem.targets]
    for tree in range(len(problem.hyperplanes)):
        membership = np.exp(naive_responsibilities(problem, tree)[0])
        np.testing.assert_allclose(found[tree], (membership * problem.weights[:, None]).T @ T, rtol=1e-10, atol=1e-12)


def differences(function, hyperplanes, step):
    """Central differences of a function of one tree's hyperplanes (m, d + 1)."""
    out = []
    for index in np.ndindex(hyperplanes.shape):
        change = np.zeros(hyperplanes.shape)
        change[index] = step
        out.append((function(hyperplanes + change) - function(hyperplanes - change)) / (2 * step))
    return np.array(out).reshape(*hyperplanes.shape, *np.shape(out[0]))


single = {"min_splits": 1, "max_splits": 4, "trees_in_stack": st.just(1)}


@few
@given(problem=problems(**single))
def test_the_gradient_equals_differences_of_the_bound_with_leaf_statistics_held(problem):
    def value(hyperplanes):
        at = problem.rows.pass_(hyperplanes[None], problem.shape, problem.statistics)
        return bound(problem.family, problem.statistics, at)[0]

    gradient = problem.pass_().gradient[0]
    numeric = differences(value, problem.hyperplanes[0], 1e-5)
    np.testing.assert_allclose(gradient, numeric, rtol=1e-6, atol=1e-6)


@few
@given(problem=problems(**single))
def test_the_gradient_equals_differences_of_the_free_energy_with_responsibilities_held(problem):
    _, _, r = naive_responsibilities(problem, 0)

    def value(hyperplanes):
        # Of F, only the expected log membership moves when responsibilities are held.
        activations = naive_activations(problem, hyperplanes)
        log_membership = np.array([naive_log_membership(own, problem.shape) for own in activations])
        return float(problem.weights @ (r * log_membership).sum(axis=1))

    gradient = problem.pass_().gradient[0]
    np.testing.assert_allclose(gradient, differences(value, problem.hyperplanes[0], 1e-5), rtol=1e-6, atol=1e-6)


@settings(max_examples=10)
@given(problem=problems(n=st.integers(5, 20), min_splits=1, max_splits=2, trees_in_stack=st.just(1)))
def test_the_gradient_equals_differences_of_the_bound_with_responsibilities_converged(problem):
    rows = problem.rows

    def converged(hyperplanes):
        S = rows.prior_statistics(hyperplanes[None], problem.shape)
        for _ in range(20_000):
            at = rows.pass_(hyperplanes[None], problem.shape, S)
            change, S = np.abs(at.statistics - S).max(), at.statistics
            if change < 1e-11:
                break
        return S

    def value(hyperplanes):
        S = converged(hyperplanes)
        return bound(problem.family, S, rows.pass_(hyperplanes[None], problem.shape, S))[0]

    S = converged(problem.hyperplanes[0])
    gradient = rows.pass_(problem.hyperplanes, problem.shape, S).gradient[0]
    numeric = differences(value, problem.hyperplanes[0], 1e-5)
    np.testing.assert_allclose(gradient, numeric, rtol=1e-6, atol=1e-6)


@few
@given(problem=problems(**single))
def test_the_observed_information_equals_second_differences_split_by_split(problem):
    def gradient(hyperplanes):
        return problem.rows.pass_(hyperplanes[None], problem.shape, problem.statistics).gradient[0]

    full = -differences(gradient, problem.hyperplanes[0], 1e-5)
    observed = problem.pass_().observed[0]
    for split in range(problem.shape.n_splits):
        np.testing.assert_allclose(observed[split], full[split, :, split], rtol=1e-6, atol=1e-6)


@few
@given(problem=problems(min_splits=1), share=st.floats(0, 1))
def test_the_information_of_a_wide_table_is_a_matrix_for_its_leading_columns_and_one_number(problem, share):
    # The offset is never one of the tail's columns.
    whole, n_tail = problem.pass_(), int(share * (problem.hyperplanes.shape[-1] - 1))
    tail = problem.rng.uniform(size=n_tail)
    rows = problem.rows_class(problem.X, problem.targets, problem.family, problem.weights, problem.schema, tail=tail)
    at = rows.pass_(problem.hyperplanes, problem.shape, problem.statistics, information=True)
    lead = problem.hyperplanes.shape[-1] - n_tail
    for name in ("observed", "complete"):
        block, along_tail = split_tail(getattr(at, name), tail)
        np.testing.assert_allclose(block, getattr(whole, name)[..., :lead, :lead], atol=1e-9)
        if not np.isnan(problem.X).any():
            # What an offset tells is the same sum.
            np.testing.assert_allclose(along_tail, getattr(whole, name)[..., :1, 0] * tail, atol=1e-9)


@few
@given(problem=problems(min_splits=0, max_splits=4), branch=trees(min_splits=1, max_splits=3), data=st.data())
def test_a_branch_seen_from_its_leaf_has_the_sums_it_has_in_the_whole_tree(problem, branch, data):
    tree = Tree(problem.hyperplanes[0], problem.shape, np.arange(problem.shape.n_splits))
    width, k = tree.hyperplanes.shape[1], problem.family.n_statistics
    leaf = data.draw(st.integers(0, tree.n_leaves - 1))
    branch = Tree(problem.rng.normal(size=(branch.n_splits, width)), branch.shape, 100 + branch.ids)
    S = problem.statistics[0]
    below = problem.rng.gamma(1.0, 2.0, size=(branch.n_leaves, k))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rows_module, "_NEGLIGIBLE_SHARE", 1e-300)
        view = problem.rows.within(tree.hyperplanes, tree.shape, S, leaf)
    local = view.pass_(branch.hyperplanes[None], branch.shape, below[None], information=True)
    whole_tree = graft(tree, leaf, branch)
    whole_statistics = np.concatenate([S[:leaf], below, S[leaf + 1 :]])
    whole = problem.rows.pass_(whole_tree.hyperplanes[None], whole_tree.shape, whole_statistics[None], information=True)
    near = {"rtol": 1e-9, "atol": 1e-9}
    np.testing.assert_allclose(local.log_normalizer, whole.log_normalizer, **near)
    np.testing.assert_allclose(local.statistics[0], whole.statistics[0, leaf : leaf + branch.n_leaves], **near)
    for name in ("gradient", "observed", "complete"):
        np.testing.assert_allclose(
            getattr(local, name)[0], getattr(whole, name)[0, tree.n_splits :], err_msg=name, **near
        )
    np.testing.assert_allclose(
        view.prior_statistics(branch.hyperplanes[None], branch.shape)[0],
        problem.rows.prior_statistics(whole_tree.hyperplanes[None], whole_tree.shape)[0, leaf : leaf + branch.n_leaves],
        **near,
    )
    # A view from a leaf of the branch is the view from the same leaf of the whole tree.
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rows_module, "_NEGLIGIBLE_SHARE", 1e-300)
        nested = view.within(branch.hyperplanes, branch.shape, below, 0)
        direct = problem.rows.within(whole_tree.hyperplanes, whole_tree.shape, whole_statistics, leaf)
    one, other = (
        rows.pass_(branch.hyperplanes[None], branch.shape, below[None], information=True) for rows in (nested, direct)
    )
    np.testing.assert_allclose(one.log_normalizer, other.log_normalizer, **near)
    np.testing.assert_allclose(one.statistics, other.statistics, **near)


@few
@given(problem=problems(min_splits=1, max_splits=4), data=st.data())
def test_views_of_rows_that_believe_another_prior_are_those_of_rows_that_did_from_the_start(problem, data):
    if not isinstance(problem.family, DirichletCategorical):
        return
    tree, S = (problem.hyperplanes[0], problem.shape), problem.statistics[0]
    leaf = data.draw(st.integers(0, problem.shape.n_splits))
    other = DirichletCategorical((0.1,) * problem.family.n_statistics)
    fresh = problem.rows.with_family(other)
    at = fresh.pass_(problem.hyperplanes, problem.shape, problem.statistics, information=True)
    problem.pass_()
    late = problem.rows.with_family(other)
    again = late.pass_(problem.hyperplanes, problem.shape, problem.statistics, information=True)
    for name in ("log_normalizer", "statistics", "gradient", "observed", "complete"):
        np.testing.assert_array_equal(getattr(at, name), getattr(again, name), err_msg=name)
    seen = problem.rows.within(*tree, S, leaf)
    seen.moments(S[leaf])
    of_view = seen.with_family(other)
    assert of_view.n_rows == seen.n_rows
    assert of_view.weight == seen.weight
    for one, two in zip(of_view.moments(S[leaf]), seen.moments(S[leaf]), strict=True):
        np.testing.assert_array_equal(one, two)


@few
@given(problem=problems(n=st.integers(20, 40), min_splits=1), data=st.data())
def test_rows_left_out_of_a_view_hardly_matter(problem, data):
    leaf = data.draw(st.integers(0, problem.shape.n_splits))
    tree = problem.hyperplanes[0], problem.shape, problem.statistics[0], leaf
    view = problem.rows.within(*tree)
    seen = view.moments(problem.statistics[0, leaf])[0][0, 0]
    whole = np.exp(softened_gates(problem, problem.hyperplanes[:1]).log_membership[0, leaf])
    assert seen == pytest.approx(whole @ problem.weights, abs=1e-3 * problem.weights.sum())


@few
@given(problem=problems(n=st.integers(150, 400)))
def test_the_size_of_blocks_does_not_change_a_pass(problem):
    at = problem.pass_()
    for floats, kept in ((1, 0), (1, 1 << 30), (1 << 30, 0)):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(rows_module, "_BLOCK_FLOATS", floats)
            patch.setattr(rows_module, "KEPT_BYTES", kept)
            patch.setattr(rows_module, "_PRODUCT_FLOATS", floats)
            patch.setattr(rows_module, "_WIDEST_PRODUCTS", 64 if kept else 0)
            assert_same_pass(at, problem.pass_())


@few
@given(problem=problems(n=st.integers(1, 300)))
def test_the_order_of_rows_does_not_change_a_pass(problem):
    at = problem.pass_()
    order = problem.rng.permutation(len(problem.X))
    problem.X, problem.targets, problem.weights = problem.X[order], problem.targets[order], problem.weights[order]
    assert_same_pass(at, problem.pass_())


def requests(problem, rows):
    """What rows answer to each additive request."""
    width = problem.hyperplanes.shape[-1]
    rng = np.random.default_rng(0)
    directions, cuts = rng.normal(size=(4, width)), rng.normal(size=(2, width))
    probabilities = np.array([0.0, 0.1, 0.5, 0.77, 1.0])
    # Edges at rounded numbers, away from any row.
    edges = np.tile([-1.03, 0.011, 0.97], (4, 1))
    return {
        "prior_statistics": rows.prior_statistics(problem.hyperplanes, problem.shape),
        "second_moments": rows.moments(problem.statistics[0, 0])[0],
        "cross_moments": rows.moments(problem.statistics[0, 0])[1],
        "quantiles": rows.quantiles(directions, probabilities),
        "histogram": rows.histogram(directions, edges, cuts, problem.statistics[0, 0]),
        "grey_shares": rows.grey_shares(problem.hyperplanes[0], problem.shape, 0.1, 0.9),
    }


@few
@given(problem=problems(n=st.integers(1, 60)), seen_from_a_leaf=st.booleans())
def test_integer_weights_equal_repeated_rows_in_every_request(rows_class, problem, seen_from_a_leaf):
    times = problem.rng.integers(1, 5, size=len(problem.X))
    repeats = problem.rng.permutation(np.repeat(np.arange(len(times)), times))
    weighted = rows_class(problem.X, problem.targets, problem.family, times.astype(float), problem.schema)
    repeated = rows_class(
        problem.X[repeats], problem.targets[repeats], problem.family, np.ones(len(repeats)), problem.schema
    )
    if seen_from_a_leaf:
        leaf = problem.hyperplanes[0], problem.shape, problem.statistics[0], 0
        weighted, repeated = weighted.within(*leaf), repeated.within(*leaf)
        if weighted.moments(problem.statistics[0, 0])[0][0, 0] == 0:
            return
    passes = [
        rows.pass_(problem.hyperplanes, problem.shape, problem.statistics, information=True)
        for rows in (weighted, repeated)
    ]
    assert_same_pass(*passes)
    answers = requests(problem, weighted)
    for name, answer in requests(problem, repeated).items():
        np.testing.assert_allclose(answer, answers[name], rtol=1e-9, atol=1e-9, err_msg=name)


@few
@given(problem=problems(n=st.integers(1, 60)))
def test_histogram_moments_and_grey_shares_equal_loops_over_rows(problem):
    design = naive_design(problem)
    T = np.eye(problem.family.n_statistics)[problem.targets] * problem.weights[:, None]
    answers = requests(problem, problem.rows)
    np.testing.assert_allclose(answers["second_moments"], (design.T * problem.weights) @ design, atol=1e-10)
    np.testing.assert_allclose(answers["cross_moments"], T.T @ design, atol=1e-10)
    rng = np.random.default_rng(0)
    directions = rng.normal(size=(4, design.shape[1]))
    cuts = rng.normal(size=(2, design.shape[1]))
    histogram = np.zeros((2, 2, 4, 4, T.shape[1]))
    for row, statistics in zip(design, T, strict=True):
        for cut in range(2):
            side = 0 if cuts[cut] @ row > 0 else 1
            for direction in range(4):
                value = directions[direction] @ row
                histogram[cut, side, direction, sum(value > edge for edge in (-1.03, 0.011, 0.97))] += statistics
    np.testing.assert_allclose(answers["histogram"], histogram, atol=1e-10)
    gate = expit(naive_activations(problem, problem.hyperplanes[0]))
    reach = np.exp(naive_responsibilities(problem, 0)[0]) @ (problem.shape.sides != 0).T * problem.weights[:, None]
    grey = (reach * ((gate > 0.1) & (gate < 0.9))).sum(axis=0) / np.maximum(reach.sum(axis=0), 1e-300)
    np.testing.assert_allclose(answers["grey_shares"], grey, rtol=1e-8, atol=1e-12)


@few
@given(problem=problems(n=st.integers(1, 60)))
def test_single_precision_tables_give_what_the_same_values_in_double_give(problem):
    problem.X = problem.X.astype(np.float32)
    at = problem.pass_()
    problem.X = problem.X.astype(np.float64)
    for name in SUMS:
        np.testing.assert_array_equal(getattr(at, name), getattr(problem.pass_(), name))


@few
@given(seed=st.integers(0, 2**32 - 1), n=st.integers(2, 12), extra=st.integers(1, 30))
def test_narrowed_rows_give_the_same_pass_for_hyperplanes_in_their_span(rows_class, seed, n, extra):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, n + extra)) * rng.uniform(0.1, 10, size=n + extra)
    family = DirichletCategorical((0.5, 0.5, 0.5))
    targets, weights = rng.integers(3, size=n), rng.uniform(0.5, 2, size=n)
    schema = Schema.from_columns(X, weights, tuple(f"x{j}" for j in range(n + extra)))
    wide = rows_class(X, targets, family, weights, schema)
    narrow, basis = wide.rotated(1000)
    assert narrow.n_features == basis.shape[1] <= n
    np.testing.assert_allclose(basis.T @ basis, np.eye(basis.shape[1]), atol=1e-10)
    shape = split_leaf(split_leaf(single_leaf(1), 0, [0.0, 1.0]), 1, [0.0, 1.0]).shape
    slim = rng.normal(size=(2, 2, basis.shape[1] + 1))
    broad = np.concatenate([slim[..., :1], slim[..., 1:] @ basis.T], axis=-1)
    S = rng.gamma(1.0, 2.0, size=(2, 3, 3))
    found, expected = narrow.pass_(slim, shape, S), wide.pass_(broad, shape, S)
    np.testing.assert_allclose(found.log_normalizer, expected.log_normalizer, rtol=1e-9)
    np.testing.assert_allclose(found.statistics, expected.statistics, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(found.gradient[..., 1:], expected.gradient[..., 1:] @ basis, rtol=1e-7, atol=1e-8)


@few
@given(seed=st.integers(0, 2**32 - 1), n=st.integers(2, 8))
def test_narrowed_columns_do_not_depend_on_the_order_or_repetition_of_rows(rows_class, seed, n):
    rng = np.random.default_rng(seed)
    X, times = rng.normal(size=(n, 40)), rng.integers(1, 4, size=n)
    family, targets, schema = DirichletCategorical((0.5, 0.5)), rng.integers(2, size=n), identity_schema(40)
    repeats = rng.permutation(np.repeat(np.arange(n), times))
    weighted, basis = rows_class(X, targets, family, times.astype(float), schema).rotated(1000)
    repeated, same = rows_class(X[repeats], targets[repeats], family, np.ones(len(repeats)), schema).rotated(1000)
    np.testing.assert_allclose(same, basis, atol=1e-8)
    np.testing.assert_allclose(repeated.moments(np.zeros(2))[0], weighted.moments(np.zeros(2))[0], atol=1e-8)


def full_tree(levels, n_features, rng):
    tree = single_leaf(n_features)
    for _ in range(levels):
        for leaf in range(0, 2 * tree.n_leaves, 2):
            tree = split_leaf(tree, leaf, rng.normal(size=n_features + 1))
    return tree


def test_a_pass_over_a_million_rows_needs_less_than_64_megabytes_beyond_the_table(rows_class):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((1_000_000, 20))
    targets = rng.integers(2, size=len(X))
    tree = full_tree(5, 20, rng)
    assert tree.n_splits == 31
    tracemalloc.start()
    try:
        rows = rows_class(X, targets, DirichletCategorical((0.5, 0.5)), np.ones(len(X)), identity_schema(20))
        rows.pass_(tree.hyperplanes[None], tree.shape, np.ones((1, 32, 2)))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 64e6
