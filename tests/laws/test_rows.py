"""Laws of the rows, for every kind of them: the answer to a request equals that of a plain loop over rows."""

import tracemalloc

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import expit, logsumexp

from asking import membership_sums, moments_of, pass_at, view_from
from bayesian_reticulum.data.schema import identity_schema
from bayesian_reticulum.evidence.bound import bound
from bayesian_reticulum.evidence.prices import split_tail
from bayesian_reticulum.families.dirichlet import DirichletCategorical
from bayesian_reticulum.rows.limits import Limits
from plugins import each_backend, examples
from row_problems import (
    SUMS,
    assert_same_pass,
    differences,
    full_tree,
    naive_activations,
    naive_design,
    naive_log_membership,
    naive_responsibilities,
    naive_slopes,
    problems,
    requests,
)

few = examples(25)
single = {"min_splits": 1, "max_splits": 4, "trees_in_stack": st.just(1)}


@each_backend
@given(problem=problems())
def test_a_pass_equals_a_dense_computation(rows_class, problem):
    at = problem.pass_(problem.rows(rows_class))
    sides = problem.shape.sides
    T, v = np.eye(problem.family.n_statistics)[problem.targets], problem.weights[:, None]
    for tree in range(len(problem.hyperplanes)):
        _, joint, r = naive_responsibilities(problem, tree)
        gate = expit(naive_activations(problem, problem.hyperplanes[tree]))
        # How activations (n, m) follow hyperplanes: by the columns themselves where no cell is missing.
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
            sums = getattr(at, name)[tree]
            np.testing.assert_allclose(sums, value, rtol=tolerance, atol=tolerance, err_msg=name)


@each_backend
@given(problem=problems())
def test_statistics_at_responsibility_equal_to_membership_are_sums_of_memberships(rows_class, problem):
    statistics = membership_sums(problem.rows(rows_class), problem.hyperplanes, problem.shape)
    T = np.eye(problem.family.n_statistics)[problem.targets]
    for tree in range(len(problem.hyperplanes)):
        membership = np.exp(naive_responsibilities(problem, tree)[0])
        expected = (membership * problem.weights[:, None]).T @ T
        np.testing.assert_allclose(statistics[tree], expected, rtol=1e-10, atol=1e-12)


@each_backend
@few
@given(problem=problems(**single))
def test_the_gradient_equals_differences_of_the_bound_with_leaf_statistics_held(rows_class, problem):
    rows, expected = problem.rows(rows_class), problem.family.expected_parameters(problem.statistics)

    def value(hyperplanes):
        at = pass_at(rows, hyperplanes[None], problem.shape, problem.statistics)
        return bound(problem.family, problem.statistics, expected, at)[0]

    numeric = differences(value, problem.hyperplanes[0], 1e-5)
    np.testing.assert_allclose(problem.pass_(rows).gradient[0], numeric, rtol=1e-6, atol=1e-6)


@each_backend
@few
@given(problem=problems(**single))
def test_the_gradient_equals_differences_of_the_free_energy_with_responsibilities_held(rows_class, problem):
    _, _, r = naive_responsibilities(problem, 0)

    def value(hyperplanes):
        # Of F, only the expected log membership moves when responsibilities are held.
        activations = naive_activations(problem, hyperplanes)
        log_membership = np.array([naive_log_membership(row, problem.shape) for row in activations])
        return float(problem.weights @ (r * log_membership).sum(axis=1))

    gradient = problem.pass_(problem.rows(rows_class)).gradient[0]
    np.testing.assert_allclose(gradient, differences(value, problem.hyperplanes[0], 1e-5), rtol=1e-6, atol=1e-6)


@each_backend
@examples(10)
@given(problem=problems(n=st.integers(5, 20), min_splits=1, max_splits=2, trees_in_stack=st.just(1)))
def test_the_gradient_equals_differences_of_the_bound_with_responsibilities_converged(rows_class, problem):
    rows = problem.rows(rows_class)

    def converged(hyperplanes):
        S = membership_sums(rows, hyperplanes[None], problem.shape)
        for _ in range(20_000):
            at = pass_at(rows, hyperplanes[None], problem.shape, S)
            change, S = np.abs(at.statistics - S).max(), at.statistics
            if change < 1e-11:
                break
        return S

    def value(hyperplanes):
        S = converged(hyperplanes)
        at = pass_at(rows, hyperplanes[None], problem.shape, S)
        return bound(problem.family, S, problem.family.expected_parameters(S), at)[0]

    S = converged(problem.hyperplanes[0])
    gradient = pass_at(rows, problem.hyperplanes, problem.shape, S).gradient[0]
    numeric = differences(value, problem.hyperplanes[0], 1e-5)
    np.testing.assert_allclose(gradient, numeric, rtol=1e-6, atol=1e-6)


@each_backend
@few
@given(problem=problems(**single))
def test_the_observed_information_equals_second_differences_split_by_split(rows_class, problem):
    rows = problem.rows(rows_class)

    def gradient(hyperplanes):
        return pass_at(rows, hyperplanes[None], problem.shape, problem.statistics).gradient[0]

    full = -differences(gradient, problem.hyperplanes[0], 1e-5)
    observed = problem.pass_(rows).observed[0]
    for split in range(problem.shape.n_splits):
        np.testing.assert_allclose(observed[split], full[split, :, split], rtol=1e-6, atol=1e-6)


@each_backend
@few
@given(problem=problems(min_splits=1), share=st.floats(0, 1))
def test_the_information_of_a_wide_table_is_a_matrix_for_its_leading_columns_and_one_number(rows_class, problem, share):
    # The offset is never one of the tail's columns.
    whole = problem.pass_(problem.rows(rows_class))
    n_tail = int(share * (problem.hyperplanes.shape[-1] - 1))
    tail = problem.rng.uniform(size=n_tail)
    at = problem.pass_(problem.rows(rows_class, tail=tail))
    lead = problem.hyperplanes.shape[-1] - n_tail
    for name in ("observed", "complete"):
        block, along_tail = split_tail(getattr(at, name), tail)
        np.testing.assert_allclose(block, getattr(whole, name)[..., :lead, :lead], atol=1e-9)
        if not np.isnan(problem.X).any():
            # The information of the offset is the same sum.
            np.testing.assert_allclose(along_tail, getattr(whole, name)[..., :1, 0] * tail, atol=1e-9)


@each_backend
@few
@given(problem=problems(n=st.integers(150, 400)))
def test_the_size_of_blocks_does_not_change_a_pass(rows_class, problem):
    at = problem.pass_(problem.rows(rows_class))
    for floats, kept, widest in ((1, 0, 0), (1, 1 << 30, 64), (1 << 30, 0, 0)):
        limits = Limits(block_floats=floats, kept_bytes=kept, product_floats=floats, widest_products=widest)
        assert_same_pass(at, problem.pass_(problem.rows(rows_class, limits=limits)))


@each_backend
@few
@given(problem=problems(n=st.integers(1, 300)))
def test_the_order_of_rows_does_not_change_a_pass(rows_class, problem):
    at = problem.pass_(problem.rows(rows_class))
    order = problem.rng.permutation(len(problem.X))
    problem.X, problem.targets, problem.weights = problem.X[order], problem.targets[order], problem.weights[order]
    assert_same_pass(at, problem.pass_(problem.rows(rows_class)))


@each_backend
@few
@given(problem=problems(n=st.integers(1, 60)), seen_from_a_leaf=st.booleans())
def test_integer_weights_equal_repeated_rows_in_every_request(rows_class, problem, seen_from_a_leaf):
    times = problem.rng.integers(1, 5, size=len(problem.X))
    repeats = problem.rng.permutation(np.repeat(np.arange(len(times)), times))
    weighted = rows_class.of_table(problem.X, problem.targets, problem.family, times.astype(float), problem.schema)
    repeated = rows_class.of_table(
        problem.X[repeats], problem.targets[repeats], problem.family, np.ones(len(repeats)), problem.schema
    )
    if seen_from_a_leaf:
        leaf = problem.hyperplanes[0], problem.shape, problem.statistics[0], 0
        weighted, repeated = view_from(weighted, *leaf), view_from(repeated, *leaf)
        if moments_of(weighted, problem.statistics[0, 0]).second[0, 0] == 0:
            return
    assert_same_pass(problem.pass_(weighted), problem.pass_(repeated))
    answers = requests(problem, weighted)
    for name, answer in requests(problem, repeated).items():
        np.testing.assert_allclose(answer, answers[name], rtol=1e-9, atol=1e-9, err_msg=name)


@each_backend
@few
@given(problem=problems(n=st.integers(1, 60)))
def test_histogram_moments_and_grey_shares_equal_loops_over_rows(rows_class, problem):
    design = naive_design(problem)
    T = np.eye(problem.family.n_statistics)[problem.targets] * problem.weights[:, None]
    answers = requests(problem, problem.rows(rows_class))
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


@each_backend
@few
@given(problem=problems(n=st.integers(1, 60)))
def test_single_precision_tables_give_what_the_same_values_in_double_give(rows_class, problem):
    problem.X = problem.X.astype(np.float32)
    at = problem.pass_(problem.rows(rows_class))
    problem.X = problem.X.astype(np.float64)
    in_double = problem.pass_(problem.rows(rows_class))
    for name in SUMS:
        np.testing.assert_array_equal(getattr(at, name), getattr(in_double, name))


@each_backend
def test_a_pass_over_a_million_rows_needs_less_than_64_megabytes_beyond_the_table(rows_class):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((1_000_000, 20))
    targets = rng.integers(2, size=len(X))
    tree = full_tree(5, 20, rng)
    assert tree.n_splits == 31
    tracemalloc.start()
    try:
        rows = rows_class.of_table(X, targets, DirichletCategorical((0.5, 0.5)), np.ones(len(X)), identity_schema(20))
        pass_at(rows, tree.hyperplanes[None], tree.shape, np.ones((1, 32, 2)))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 64e6
