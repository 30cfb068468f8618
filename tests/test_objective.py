"""Laws of the objective: the order of bounds, ascents that only ascend, prices, and what a split is worth."""

from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import xlogy

from bayesian_reticulum.data.schema import identity_schema
from bayesian_reticulum.evidence.ascent import _Ascent, ascend, converge_responsibilities
from bayesian_reticulum.evidence.bayes_factors import collapse_splits, log_bayes_factors
from bayesian_reticulum.evidence.bound import bound, free_energy
from bayesian_reticulum.evidence.newton import newton_inverses
from bayesian_reticulum.evidence.precisions import update_precisions
from bayesian_reticulum.evidence.prices import penalty, prices, prior_diagonal
from bayesian_reticulum.evidence.quasi_newton import QuasiNewton
from bayesian_reticulum.evidence.stack import Effort
from bayesian_reticulum.evidence.state import ascend_and_evaluate, evaluate
from bayesian_reticulum.exact import expected_log_likelihood, log_marginal_likelihood
from bayesian_reticulum.families.dirichlet import DirichletCategorical
from bayesian_reticulum.gates import compute_gates
from bayesian_reticulum.rows.numpy import NumpyRows
from bayesian_reticulum.tree import Tree, collapse, single_leaf, split_leaf, with_canonical_signs
from plugins import BACKENDS, trees

few = settings(max_examples=25)
seeds = st.integers(0, 2**32 - 1)


def make_rows(rng, n, d, k, *, weights=None, prior=0.5):
    """Rows whose classes depend on the features a little."""
    X = rng.normal(size=(n, d))
    targets = np.clip(np.floor(k / 2 + X[:, 0] + rng.normal(scale=0.7, size=n)), 0, k - 1).astype(int)
    weights = np.ones(n) if weights is None else weights
    return NumpyRows(X, targets, DirichletCategorical((prior,) * k), weights, identity_schema(d))


def parts(rows, tree):
    """Memberships (n, leaves), row statistics (n, k) and weights (n,) of rows in standard units."""
    design = np.column_stack([np.ones(len(rows._X)), rows._X]).T
    membership = np.exp(compute_gates(tree.hyperplanes[None], tree.shape, design).log_membership[0]).T
    return membership, rows.family.row_statistics(None, rows._targets), rows._weights


def naive_free_energy(family, r, membership, T, weights):
    """F(r, w) as it is written."""
    divergence = (xlogy(r, r) - xlogy(r, membership)).sum(axis=1)
    return float(family.log_evidence((weights[:, None] * r).T @ T).sum() - weights @ divergence)


@few
@given(tree=trees(max_splits=5), seed=seeds, n=st.integers(1, 40), k=st.integers(1, 3))
def test_the_bound_at_responsibility_equal_to_membership_is_the_bound_of_the_paper(tree, seed, n, k):
    rng = np.random.default_rng(seed)
    rows = make_rows(rng, n, tree.n_features, k, weights=rng.uniform(0.2, 3, size=n))
    membership, T, weights = parts(rows, tree)
    paper = float(rows.family.log_evidence((weights[:, None] * membership).T @ T).sum())
    # Leaves that believe the same do not move a row, so that responsibility is membership.
    alike = np.tile(rng.gamma(1.0, 3.0, size=k), (1, tree.n_leaves, 1))
    at = rows.pass_(tree.hyperplanes[None], tree.shape, alike)
    assert free_energy(rows.family, alike, at)[0] == pytest.approx(paper, rel=1e-10, abs=1e-10)
    assert naive_free_energy(rows.family, membership, membership, T, weights) == pytest.approx(paper, rel=1e-12)
    prior = rows.prior_statistics(tree.hyperplanes[None], tree.shape)
    assert rows.family.log_evidence(prior).sum() == pytest.approx(paper, rel=1e-10, abs=1e-10)


@few
@given(tree=trees(max_splits=5), seed=seeds, n=st.integers(1, 40), k=st.integers(1, 3))
def test_the_free_energy_of_a_pass_is_that_of_its_responsibilities(tree, seed, n, k):
    rng = np.random.default_rng(seed)
    rows = make_rows(rng, n, tree.n_features, k, weights=rng.uniform(0.2, 3, size=n))
    membership, T, weights = parts(rows, tree)
    S = rng.gamma(1.0, 3.0, size=(1, tree.n_leaves, k))
    joint = membership * np.exp(T @ rows.family.expected_parameters(S[0]).T)
    r = joint / joint.sum(axis=1, keepdims=True)
    at = rows.pass_(tree.hyperplanes[None], tree.shape, S)
    expected = naive_free_energy(rows.family, r, membership, T, weights)
    assert free_energy(rows.family, S, at)[0] == pytest.approx(expected, rel=1e-9, abs=1e-9)


@few
@given(tree=trees(min_splits=1, max_splits=3), seed=seeds, k=st.integers(1, 3), prior=st.sampled_from([0.5, 1.0, 2.0]))
def test_bounds_are_in_order_of_the_exact_values(tree, seed, k, prior):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, int(np.log(2e4) / np.log(tree.n_leaves)) + 1))
    rows = make_rows(rng, n, tree.n_features, k, prior=prior)
    membership, T, _ = parts(rows, tree)
    paper = float(rows.family.log_evidence(membership.T @ T).sum())
    stack = converge_responsibilities(
        rows, tree.shape, tree.hyperplanes[None], np.ones((1, tree.n_splits)), tolerance=1e-9
    )
    best = bound(rows.family, stack.statistics, rows.pass_(tree.hyperplanes[None], tree.shape, stack.statistics))[0]
    exact = log_marginal_likelihood(membership, T, rows.family)
    assert paper <= best + 1e-9
    assert best <= exact + 1e-9
    assert paper <= expected_log_likelihood(membership, T, rows.family) + 1e-9


@few
@given(tree=trees(max_splits=5), seed=seeds, n=st.integers(1, 60), k=st.integers(1, 3))
def test_an_e_step_never_lowers_the_bound(tree, seed, n, k):
    rng = np.random.default_rng(seed)
    rows = make_rows(rng, n, tree.n_features, k, weights=rng.uniform(0.2, 3, size=n))
    S = rng.gamma(1.0, 3.0, size=(1, tree.n_leaves, k))
    reached = -np.inf
    for _ in range(10):
        at = rows.pass_(tree.hyperplanes[None], tree.shape, S)
        # What S promises, what its responsibilities are worth, what the next S promises: each at least the last.
        for value in (bound(rows.family, S, at)[0], free_energy(rows.family, S, at)[0]):
            assert value >= reached - 1e-10 * abs(value)
            reached = value
        S = at.statistics


@few
@given(tree=trees(max_splits=4), seed=seeds, n=st.integers(2, 60), k=st.integers(1, 3))
def test_settling_finds_what_many_plain_e_steps_find(tree, seed, n, k):
    rng = np.random.default_rng(seed)
    rows = make_rows(rng, n, tree.n_features, k)
    stack = converge_responsibilities(
        rows, tree.shape, tree.hyperplanes[None], np.ones((1, tree.n_splits)), tolerance=1e-9
    )
    found = bound(rows.family, stack.statistics, rows.pass_(tree.hyperplanes[None], tree.shape, stack.statistics))[0]
    S = rows.prior_statistics(tree.hyperplanes[None], tree.shape)
    for _ in range(300):
        S = rows.pass_(tree.hyperplanes[None], tree.shape, S).statistics
    plain = bound(rows.family, S, rows.pass_(tree.hyperplanes[None], tree.shape, S))[0]
    assert found >= plain - 1e-4


class Recorder(_Ascent):
    """An ascent that works out the penalised bound anew at every tree it accepts."""

    def _accept(self, trees, *args):
        super()._accept(trees, *args)
        self.values = getattr(self, "values", {tree: [] for tree in range(len(self.value))})
        at = self.rows.pass_(self.hyperplanes[trees], self.shape, self.statistics[trees])
        value = bound(self.rows.family, self.statistics[trees], at)
        value -= penalty(self.hyperplanes[trees], self.precisions[trees])
        for tree, reached in zip(trees, value, strict=True):
            self.values[tree].append(reached)


@few
@given(tree=trees(min_splits=1, max_splits=3), seed=seeds, n=st.integers(2, 80), stiffness=st.sampled_from([1.0, 10.0]))
def test_no_accepted_step_lowers_the_penalised_bound_at_fixed_precisions(tree, seed, n, stiffness):
    rng = np.random.default_rng(seed)
    rows = make_rows(rng, n, tree.n_features, 2, weights=rng.uniform(0.2, 3, size=n))
    start = stiffness * np.stack([tree.hyperplanes, rng.normal(size=tree.hyperplanes.shape)])
    precisions = rng.choice([0.01, 0.1, 1.0], size=(2, tree.n_splits))
    statistics = rows.prior_statistics(start, tree.shape)
    ascent = Recorder(rows, tree.shape, start, precisions, statistics, fixed=False)
    stack = ascent.run(Effort(tolerance=1e-8, rounds=0, max_passes=100))
    np.testing.assert_array_equal(stack.precisions, precisions)
    for values in ascent.values.values():
        fall = -np.diff(values).min(initial=0.0)
        assert fall <= 1e-9 * np.abs(values).max()


@pytest.mark.parametrize("rows_class", BACKENDS)
@pytest.mark.parametrize("stiffness", [1.0, 20.0, 40.0, 200.0])
@pytest.mark.parametrize("precision", [0.02, 1.0])
def test_an_ascent_finds_its_way_from_a_cut_that_no_row_is_near(rows_class, stiffness, precision):
    rng = np.random.default_rng(0)
    x = np.concatenate([rng.uniform(-3, -1, size=50), rng.uniform(1, 3, size=50)])
    family, schema = DirichletCategorical((0.5, 0.5)), identity_schema(1)
    rows = rows_class(x[:, None], (x > 0).astype(np.int64), family, np.ones(100), schema)
    shape = split_leaf(single_leaf(1), 0, [0.0, 1.0]).shape
    effort = Effort(tolerance=1e-9, rounds=0, max_passes=100)
    start, other = (
        ascend(rows, shape, np.array([[[0.0, s]]]), np.full((1, 1), precision), None, effort) for s in (stiffness, 3.0)
    )
    assert start.log_evidence[0] == pytest.approx(other.log_evidence[0], abs=1e-4)


@pytest.mark.parametrize("rows_class", BACKENDS)
def test_an_ascent_from_nowhere_ends(rows_class):
    rng = np.random.default_rng(0)
    rows = rows_class(
        rng.normal(size=(20, 1)),
        rng.integers(2, size=20),
        DirichletCategorical((0.5, 0.5)),
        np.ones(20),
        identity_schema(1),
    )
    shape = split_leaf(single_leaf(1), 0, [0.0, 1.0]).shape
    with np.errstate(invalid="ignore"):
        stack = ascend(rows, shape, np.full((1, 1, 2), np.nan), np.ones((1, 1)), np.ones((1, 2, 2)))
    assert stack.log_evidence[0] == -np.inf


@few
@given(tree=trees(min_splits=1, max_splits=3), seed=seeds, n=st.integers(5, 60))
def test_an_ascent_ends_where_the_penalised_gradient_vanishes(tree, seed, n):
    rng = np.random.default_rng(seed)
    rows = make_rows(rng, n, tree.n_features, 2)
    precisions = np.full((1, tree.n_splits), 0.1)
    effort = Effort(tolerance=1e-12, rounds=0, max_passes=500)
    stack = ascend(rows, tree.shape, tree.hyperplanes[None], precisions, effort=effort)
    at = rows.pass_(stack.hyperplanes, tree.shape, stack.statistics)
    slope = at.gradient - prior_diagonal(precisions, tree.n_features + 1) * stack.hyperplanes
    np.testing.assert_allclose(slope, 0, atol=1e-4)
    np.testing.assert_allclose(at.statistics, stack.statistics, atol=1e-4)


@few
@given(tree=trees(min_splits=1, max_splits=3), seed=seeds, n=st.integers(5, 60))
def test_tuning_precisions_never_lowers_the_log_evidence(tree, seed, n):
    rng = np.random.default_rng(seed)
    rows = make_rows(rng, n, tree.n_features, 2)
    start = tree.hyperplanes[None], np.full((1, tree.n_splits), 0.02)
    held, tuned = (ascend(rows, tree.shape, *start, effort=Effort(1e-6, rounds, 500)) for rounds in (0, 6))
    assert tuned.log_evidence[0] >= held.log_evidence[0]


def test_an_ascent_cut_short_still_gives_a_log_evidence():
    rng = np.random.default_rng(0)
    rows = make_rows(rng, 50, 2, 2)
    tree = split_leaf(single_leaf(2), 0, [3.0, -2.0, 5.0])
    stack = ascend(rows, tree.shape, tree.hyperplanes[None], np.full((1, 1), 0.02), effort=Effort(1e-9, 3, 2))
    assert np.isfinite(stack.log_evidence).all()


@given(seed=seeds, width=st.integers(2, 5))
def test_a_price_is_the_log_determinant_of_the_laplace_approximation(seed, width):
    rng = np.random.default_rng(seed)
    factors = rng.normal(size=(3, width, width + 2))
    information = factors @ factors.transpose(0, 2, 1)
    precisions = rng.uniform(1e-3, 2, size=3)
    found = prices(information, precisions)
    for H, precision, price in zip(information, precisions, found, strict=True):
        P = np.diag(prior_diagonal(np.array(precision), width))
        exact = 0.5 * (np.linalg.slogdet(P + H)[1] - np.linalg.slogdet(P)[1])
        assert price == pytest.approx(exact, rel=1e-8)
        assert price > 0


@given(seed=seeds, width=st.integers(2, 4), n_tail=st.integers(1, 4))
def test_a_tail_counts_as_a_diagonal_matrix(seed, width, n_tail):
    rng = np.random.default_rng(seed)
    factor, tail, along = rng.normal(size=(width, width + 2)), rng.uniform(size=n_tail), rng.uniform(0.1, 5)
    whole = np.diag(np.append(np.zeros(width), along * tail))
    whole[:width, :width] = factor @ factor.T
    short = np.zeros((width + 1, width + 1))
    short[:width, :width], short[-1, -1] = whole[:width, :width], along
    precisions, w = rng.uniform(1e-2, 2, size=1), rng.normal(size=(1, width + n_tail))
    np.testing.assert_allclose(prices(short[None], precisions, tail), prices(whole[None], precisions))
    tuned = update_precisions(w, precisions, short[None], tail)
    np.testing.assert_allclose(tuned, update_precisions(w, precisions, whole[None]))


def test_a_price_counts_negative_curvature_as_none():
    assert prices(np.diag([-3.0, 2.0])[None], np.array([0.5]))[0] == pytest.approx(0.5 * np.log(1 + 2.0 / 0.5))
    assert prices(-np.eye(2)[None], np.array([0.5]))[0] == 0


@given(precision=st.floats(1e-6, 1e3))
def test_an_offset_is_bound_no_more_than_the_slopes_and_no_more_than_a_hundredth(precision):
    diagonal = prior_diagonal(np.array([[precision]]), 4)
    assert diagonal.shape == (1, 1, 4)
    np.testing.assert_array_equal(diagonal[0, 0], [min(0.01, precision), precision, precision, precision])


@given(seed=seeds, width=st.integers(2, 5))
def test_a_tuned_precision_is_determined_slopes_over_their_squared_length(seed, width):
    rng = np.random.default_rng(seed)
    factor = rng.normal(size=(width, width + 2))
    H, w, precision = factor @ factor.T, rng.normal(size=width), float(rng.uniform(1e-2, 2))
    uncertain = np.diag(np.linalg.inv(H + np.diag(prior_diagonal(np.array(precision), width))))[1:].sum()
    expected = (width - 1 - precision * uncertain + 0.02) / (w[1:] @ w[1:] + 0.02)
    found = update_precisions(w[None, None], np.array([[precision]]), H[None, None])[0, 0]
    assert found == pytest.approx(np.clip(expected, 1e-6, 1e3), rel=1e-6)


@few
@given(tree=trees(max_splits=4), seed=seeds, n=st.integers(2, 60), k=st.integers(1, 3))
def test_log_evidence_is_the_bound_less_penalties_and_prices(tree, seed, n, k):
    rng = np.random.default_rng(seed)
    rows = make_rows(rng, n, tree.n_features, k, weights=rng.uniform(0.2, 3, size=n))
    precisions = rng.uniform(0.01, 1, size=tree.n_splits)
    state = evaluate(rows, tree, precisions, tolerance=1e-9)
    membership, T, weights = parts(rows, tree)
    joint = membership * np.exp(T @ rows.family.expected_parameters(state.statistics).T)
    r = joint / joint.sum(axis=1, keepdims=True)
    F = naive_free_energy(rows.family, r, membership, T, weights)
    P = prior_diagonal(precisions, tree.n_features + 1)
    observed = rows.pass_(tree.hyperplanes[None], tree.shape, state.statistics[None], information=True).observed[0]
    expected = F - 0.5 * (P * tree.hyperplanes**2).sum() - prices(observed, precisions).sum()
    assert state.log_evidence == pytest.approx(expected, rel=1e-7, abs=1e-6)
    np.testing.assert_allclose(state.prices, prices(observed, precisions), rtol=1e-9, atol=1e-12)
    assert (state.prices >= 0).all()


@few
@given(seed=seeds, n=st.integers(1, 60), d=st.integers(1, 4), k=st.integers(1, 4))
def test_a_tree_with_no_split_is_an_ordinary_model(seed, n, d, k):
    rng = np.random.default_rng(seed)
    weights = rng.uniform(0.2, 3, size=n)
    rows = make_rows(rng, n, d, k, weights=weights)
    counts = np.bincount(rows._targets, weights, minlength=k)
    for state in (
        evaluate(rows, single_leaf(d), np.empty(0)),
        ascend_and_evaluate(rows, single_leaf(d), np.empty(0), counts[None] / 2, Effort()),
    ):
        assert state.tree.n_splits == 0
        assert state.prices.shape == (0,)
        np.testing.assert_allclose(state.statistics, counts[None], rtol=1e-12)
        assert state.log_evidence == pytest.approx(float(rows.family.log_evidence(counts)), rel=1e-10, abs=1e-10)
    assert log_bayes_factors(rows, state).shape == (0,)


@few
@given(tree=trees(min_splits=1, max_splits=4), seed=seeds, n=st.integers(5, 60))
def test_a_log_bayes_factor_is_what_collapsing_the_split_loses(tree, seed, n):
    rng = np.random.default_rng(seed)
    rows = make_rows(rng, n, tree.n_features, 2)
    precisions = rng.uniform(0.01, 1, size=tree.n_splits)
    state = evaluate(rows, tree, precisions, tolerance=1e-9)
    factors = log_bayes_factors(rows, state)
    for split in range(tree.n_splits):
        smaller = collapse(tree, split)
        kept = np.isin(tree.ids, smaller.ids)
        without = collapse_splits(rows, state, [split], tolerance=1e-9)
        assert factors[split] == pytest.approx(state.log_evidence - without.log_evidence, abs=1e-9)
        np.testing.assert_array_equal(without.tree.hyperplanes, smaller.hyperplanes)
        # Its leaves hold what those that became one held together, and have learned from there.
        first, *others = np.flatnonzero(tree.shape.sides[split])
        merged = np.delete(state.statistics, others, axis=0)
        merged[first] += state.statistics[others].sum(axis=0)
        at = rows.pass_(smaller.hyperplanes[None], smaller.shape, merged[None])
        least = bound(rows.family, merged[None], at)[0] - penalty(smaller.hyperplanes, precisions[kept])
        assert without.log_evidence + without.prices.sum() >= least - 1e-9
    alone = float(rows.family.log_evidence(np.bincount(rows._targets, minlength=2)))
    assert factors[0] == pytest.approx(state.log_evidence - alone, rel=1e-9, abs=1e-9)


@few
@given(tree=trees(min_splits=1, max_splits=4), seed=seeds)
def test_a_split_and_its_mirror_image_have_the_same_log_evidence(tree, seed):
    rng = np.random.default_rng(seed)
    rows = make_rows(rng, 40, tree.n_features, 2)
    precisions = rng.uniform(0.01, 1, size=tree.n_splits)
    canonical, old_leaf = with_canonical_signs(tree)
    one, other = (evaluate(rows, either, precisions, tolerance=1e-9) for either in (tree, canonical))
    assert other.log_evidence == pytest.approx(one.log_evidence, abs=1e-6)
    np.testing.assert_allclose(parts(rows, canonical)[0], parts(rows, tree)[0][:, old_leaf], atol=1e-12)


class Hill:
    """A concave quadratic; its metric is the curvature of each half of the unknowns by itself."""

    def __init__(self, rng, size=6, n_seen=3):
        basis = np.linalg.qr(rng.normal(size=(size, size)))[0]
        self.curvature = basis @ np.diag(rng.uniform(0.05, 5, size=size)) @ basis.T
        self.top = rng.normal(size=size)
        self.lead = size - n_seen

    def gradient(self, point):
        return self.curvature @ (self.top - point)

    def metric(self, gradient):
        return np.linalg.solve(self.curvature[: self.lead, : self.lead], gradient)

    def plain(self, gradient):
        return np.linalg.solve(self.curvature[self.lead :, self.lead :], gradient[self.lead :])


def climb(hills, quasi_newton, n_steps, points):
    """Points (hills, size) after steps whose lengths are the best along them."""
    problems = np.arange(len(hills))
    gradient, plain = known(hills, points)
    for _ in range(n_steps):
        step, _ = quasi_newton.steps(problems, gradient, plain, lambda g: together(hills, Hill.metric, g))
        bend = np.einsum("ps,pst,pt->p", step, np.stack([hill.curvature for hill in hills]), step)
        rise = (step * gradient).sum(axis=1)
        length = np.divide(rise, bend, out=np.zeros_like(bend), where=bend > 0)
        last = points, gradient, plain
        points = points + length[:, None] * step
        gradient, plain = known(hills, points)
        quasi_newton.learn(problems, points - last[0], last[1] - gradient, last[2] - plain)
    return points


def together(hills, of_hill, rows):
    return np.stack([of_hill(hill, row) for hill, row in zip(hills, rows, strict=True)])


def known(hills, points):
    gradient = together(hills, Hill.gradient, points)
    return gradient, together(hills, Hill.plain, gradient)


def tops(hills):
    return np.stack([hill.top for hill in hills])


@few
@given(seed=seeds)
def test_quasi_newton_steps_reach_the_top_of_a_quadratic_in_as_many_steps_as_it_has_unknowns(seed):
    hills = [Hill(np.random.default_rng(seed))]
    found = climb(hills, QuasiNewton(1, 6, 3), 6, np.zeros((1, 6)))
    np.testing.assert_allclose(found, tops(hills), atol=1e-6)


@few
@given(seed=seeds, memory=st.integers(1, 3))
def test_quasi_newton_steps_need_few_moves_in_memory(seed, memory):
    hills = [Hill(np.random.default_rng(seed))]
    found = climb(hills, QuasiNewton(1, 6, 3, memory), 100, np.zeros((1, 6)))
    np.testing.assert_allclose(found, tops(hills), atol=1e-4)


@few
@given(seed=seeds)
def test_problems_side_by_side_learn_nothing_from_each_other(seed):
    rng = np.random.default_rng(seed)
    hills, points = [Hill(rng) for _ in range(3)], rng.normal(size=(3, 6))
    together = climb(hills, QuasiNewton(3, 6, 3), 3, points)
    for hill, point, found in zip(hills, points, together, strict=True):
        np.testing.assert_allclose(climb([hill], QuasiNewton(1, 6, 3), 3, point[None])[0], found, atol=1e-9)


def test_quasi_newton_steps_are_plain_where_nothing_is_known_or_all_is_forgotten():
    rng = np.random.default_rng(0)
    hills, problems = [Hill(rng) for _ in range(2)], np.arange(2)
    quasi_newton = QuasiNewton(2, 6, 3)
    gradient, plain = known(hills, np.zeros((2, 6)))
    metric = partial(together, hills, Hill.metric)
    expected = np.concatenate([metric(gradient[:, :3]), plain], axis=1)
    for knowing in ([], [0, 1], [1]):
        if knowing == [0, 1]:
            climb(hills, quasi_newton, 3, np.zeros((2, 6)))
        if knowing == [1]:
            quasi_newton.forget(np.array([0]))
        step, informed = quasi_newton.steps(problems, gradient, plain, metric)
        np.testing.assert_array_equal(np.flatnonzero(informed), knowing)
        np.testing.assert_array_equal(step[~informed], expected[~informed])


@few
@given(seed=seeds)
def test_what_was_learned_stays_true_when_curvature_is_added_that_is_known(seed):
    rng = np.random.default_rng(seed)
    before, after = Hill(rng), Hill(rng)
    added = rng.uniform(0.1, 2, size=3)
    after.curvature = before.curvature + np.diag(np.append(added, np.zeros(3)))
    move = rng.normal(size=(2, 1, 6))
    one, other = QuasiNewton(1, 6, 3), QuasiNewton(1, 6, 3)
    alone = np.array([0])
    for quasi_newton, hill in ((one, before), (other, after)):
        for step in move:
            fall = step @ hill.curvature
            quasi_newton.learn(alone, step, fall, hill.plain(fall[0])[None])
    one.bend(alone, added[None])
    gradient, plain = known([after], rng.normal(size=(1, 6)))
    metric = partial(together, [after], Hill.metric)
    found, expected = (quasi_newton.steps(alone, gradient, plain, metric)[0] for quasi_newton in (one, other))
    np.testing.assert_allclose(found, expected, rtol=1e-9)


def test_a_move_along_which_the_gradient_rises_tells_nothing():
    quasi_newton, alone = QuasiNewton(1, 2, 1), np.array([0])
    rising = np.array([[1.0, 0.0]])
    quasi_newton.learn(alone, rising, -rising, np.zeros((1, 1)))
    assert not quasi_newton.steps(alone, rising, np.zeros((1, 1)), lambda gradient: gradient)[1].any()


@given(seed=seeds, width=st.integers(1, 4), count=st.integers(1, 5))
def test_newton_uses_the_complete_information_where_the_observed_is_indefinite(seed, width, count):
    rng = np.random.default_rng(seed)
    factors = rng.normal(size=(2, count, width, width + 1))
    observed, complete = factors @ factors.swapaxes(-1, -2)
    prior = rng.uniform(0.1, 1, size=(count, width))
    indefinite = rng.random(count) < 0.5
    observed[indefinite] -= 100 * np.eye(width)
    cautious = rng.random(count) < 0.5
    found, of_use = newton_inverses(observed[:, None], complete[:, None], prior[:, None], cautious[:, None, None, None])
    found = found[:, 0]
    for index in range(count):
        both = 0.8 * observed[index] + 0.2 * complete[index] if cautious[index] else observed[index]
        usable = np.linalg.eigvalsh(both + np.diag(prior[index])).min() > 0
        assert of_use[index, 0] == (cautious[index] or not usable)
        information = both if usable else complete[index]
        np.testing.assert_allclose(found[index] @ (information + np.diag(prior[index])), np.eye(width), atol=1e-6)
        assert np.linalg.eigvalsh(found[index]).min() > 0


def test_states_cannot_be_written():
    rng = np.random.default_rng(0)
    rows = make_rows(rng, 30, 2, 2)
    state = evaluate(rows, Tree(np.ones((1, 3)), split_leaf(single_leaf(2), 0, np.ones(3)).shape, [0]), np.ones(1))
    for array in (state.precisions, state.statistics, state.prices):
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0


@pytest.mark.parametrize("rows_class", BACKENDS)
def test_a_slope_that_is_no_part_of_a_sparse_tree_costs_as_little_as_a_column_that_is_not_there(rows_class):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 3))
    y = (X[:, 0] - X[:, 2] + 0.5 * rng.normal(size=150) > 0).astype(int)
    family, weights = DirichletCategorical((0.5, 0.5)), rng.uniform(0.5, 2, size=150)
    shape = split_leaf(single_leaf(1), 0, [0.0, 0.0]).shape
    effort = Effort(tolerance=1e-8, rounds=5, max_passes=300, sparse=True)
    precisions = np.full((1, 1), 0.02)
    whole = rows_class(X, y, family, weights, identity_schema(3))
    found = ascend(whole, shape, np.array([[[0.1, 1.0, 0.0, -1.0]]]), precisions, effort=effort)
    alone = rows_class(X[:, [0, 2]], y, family, weights, identity_schema(2))
    expected = ascend(alone, shape, np.array([[[0.1, 1.0, -1.0]]]), precisions, effort=effort)
    np.testing.assert_allclose(found.hyperplanes[..., [0, 1, 3]], expected.hyperplanes, rtol=1e-5)
    np.testing.assert_allclose(found.log_evidence, expected.log_evidence, rtol=1e-9)
    np.testing.assert_allclose(found.prices, expected.prices, rtol=1e-6)
    assert found.hyperplanes[0, 0, 2] == 0
