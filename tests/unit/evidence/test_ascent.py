"""Ascents that only ascend, and converge: those of NumPy, and those of compiled code, which make the same steps."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import expit
from sklearn.datasets import load_digits

from asking import family_of, membership_sums, pass_at, rows_of_data
from bayesian_reticulum.data.schema import identity_schema
from bayesian_reticulum.evidence.ascent import _Ascent, ascend, converge_responsibilities
from bayesian_reticulum.evidence.prices import penalty, prior_diagonal
from bayesian_reticulum.evidence.stack import Effort
from bayesian_reticulum.families.dirichlet import DirichletCategorical
from bayesian_reticulum.rows.arrays import ArrayRows
from bayesian_reticulum.rows.native import NativeRows
from bayesian_reticulum.rows.source import RowData
from bayesian_reticulum.tree import single_leaf, split_leaf
from evidence_problems import bound_at, make_rows
from plugins import FAMILIES, each_backend, examples, needs_compiled, trees

BOTH = (ArrayRows, NativeRows)
few = examples(25)
seeds = st.integers(0, 2**32 - 1)


@few
@given(tree=trees(max_splits=4), seed=seeds, n=st.integers(2, 60), k=st.integers(1, 3))
def test_converged_responsibilities_are_as_good_as_those_of_many_plain_e_steps(tree, seed, n, k):
    rng = np.random.default_rng(seed)
    rows = make_rows(rng, n, tree.n_features, k)
    stack = converge_responsibilities(
        rows, family_of(rows), tree.shape, tree.hyperplanes[None], np.ones((1, tree.n_splits)), tolerance=1e-9
    )
    converged = bound_at(rows, tree.hyperplanes[None], tree.shape, stack.statistics)[0]
    S = membership_sums(rows, tree.hyperplanes[None], tree.shape)
    for _ in range(300):
        S = pass_at(rows, tree.hyperplanes[None], tree.shape, S).statistics
    plain = bound_at(rows, tree.hyperplanes[None], tree.shape, S)[0]
    assert converged >= plain - 1e-4


class Recorder(_Ascent):
    """An ascent that works out the penalised bound anew at every tree it accepts."""

    def _accept(self, trees, *args):
        super()._accept(trees, *args)
        self.values = getattr(self, "values", {tree: [] for tree in range(len(self.value))})
        value = bound_at(self.rows, self.hyperplanes[trees], self.shape, self.statistics[trees])
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
    statistics = membership_sums(rows, start, tree.shape)
    ascent = Recorder(rows, family_of(rows), tree.shape, start, precisions, statistics, fixed=False)
    stack = ascent.run(Effort(tolerance=1e-8, rounds=0, max_passes=100))
    np.testing.assert_array_equal(stack.precisions, precisions)
    for values in ascent.values.values():
        fall = -np.diff(values).min(initial=0.0)
        assert fall <= 1e-9 * np.abs(values).max()


@each_backend
@pytest.mark.parametrize("stiffness", [1.0, 20.0, 40.0, 200.0])
@pytest.mark.parametrize("precision", [0.02, 1.0])
def test_an_ascent_finds_its_way_from_a_cut_that_no_row_is_near(rows_class, stiffness, precision):
    rng = np.random.default_rng(0)
    x = np.concatenate([rng.uniform(-3, -1, size=50), rng.uniform(1, 3, size=50)])
    family, schema = DirichletCategorical((0.5, 0.5)), identity_schema(1)
    rows = rows_class.of_table(x[:, None], (x > 0).astype(np.int64), family, np.ones(100), schema)
    shape = split_leaf(single_leaf(1), 0, [0.0, 1.0]).shape
    effort = Effort(tolerance=1e-9, rounds=0, max_passes=100)
    start, other = (
        ascend(rows, family_of(rows), shape, np.array([[[0.0, s]]]), np.full((1, 1), precision), None, effort)
        for s in (stiffness, 3.0)
    )
    assert start.log_evidence[0] == pytest.approx(other.log_evidence[0], abs=1e-4)


@each_backend
def test_an_ascent_from_nowhere_ends(rows_class):
    rng = np.random.default_rng(0)
    rows = rows_class.of_table(
        rng.normal(size=(20, 1)),
        rng.integers(2, size=20),
        DirichletCategorical((0.5, 0.5)),
        np.ones(20),
        identity_schema(1),
    )
    shape = split_leaf(single_leaf(1), 0, [0.0, 1.0]).shape
    with np.errstate(invalid="ignore"):
        stack = ascend(rows, family_of(rows), shape, np.full((1, 1, 2), np.nan), np.ones((1, 1)), np.ones((1, 2, 2)))
    assert stack.log_evidence[0] == -np.inf


@few
@given(tree=trees(min_splits=1, max_splits=3), seed=seeds, n=st.integers(5, 60))
def test_an_ascent_ends_where_the_penalised_gradient_vanishes(tree, seed, n):
    rng = np.random.default_rng(seed)
    rows = make_rows(rng, n, tree.n_features, 2)
    precisions = np.full((1, tree.n_splits), 0.1)
    effort = Effort(tolerance=1e-12, rounds=0, max_passes=500)
    stack = ascend(rows, family_of(rows), tree.shape, tree.hyperplanes[None], precisions, effort=effort)
    at = pass_at(rows, stack.hyperplanes, tree.shape, stack.statistics)
    slope = at.gradient - prior_diagonal(precisions, tree.n_features + 1) * stack.hyperplanes
    np.testing.assert_allclose(slope, 0, atol=1e-4)
    np.testing.assert_allclose(at.statistics, stack.statistics, atol=1e-4)


@few
@given(tree=trees(min_splits=1, max_splits=3), seed=seeds, n=st.integers(5, 60))
def test_updates_of_precisions_never_lower_the_log_evidence(tree, seed, n):
    rng = np.random.default_rng(seed)
    rows = make_rows(rng, n, tree.n_features, 2)
    start = tree.hyperplanes[None], np.full((1, tree.n_splits), 0.02)
    held, tuned = (
        ascend(rows, family_of(rows), tree.shape, *start, effort=Effort(1e-6, rounds, 500)) for rounds in (0, 6)
    )
    assert tuned.log_evidence[0] >= held.log_evidence[0]


def test_an_ascent_cut_short_still_gives_a_log_evidence():
    rng = np.random.default_rng(0)
    rows = make_rows(rng, 50, 2, 2)
    tree = split_leaf(single_leaf(2), 0, [3.0, -2.0, 5.0])
    stack = ascend(
        rows, family_of(rows), tree.shape, tree.hyperplanes[None], np.full((1, 1), 0.02), effort=Effort(1e-9, 3, 2)
    )
    assert np.isfinite(stack.log_evidence).all()


@each_backend
def test_a_slope_that_is_no_part_of_a_sparse_tree_costs_as_little_as_a_column_that_is_not_there(rows_class):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 3))
    y = (X[:, 0] - X[:, 2] + 0.5 * rng.normal(size=150) > 0).astype(int)
    family, weights = DirichletCategorical((0.5, 0.5)), rng.uniform(0.5, 2, size=150)
    shape = split_leaf(single_leaf(1), 0, [0.0, 0.0]).shape
    effort = Effort(tolerance=1e-8, rounds=5, max_passes=300, sparse=True)
    precisions = np.full((1, 1), 0.02)
    whole = rows_class.of_table(X, y, family, weights, identity_schema(3))
    sparse = ascend(whole, family_of(whole), shape, np.array([[[0.1, 1.0, 0.0, -1.0]]]), precisions, effort=effort)
    alone = rows_class.of_table(X[:, [0, 2]], y, family, weights, identity_schema(2))
    expected = ascend(alone, family_of(alone), shape, np.array([[[0.1, 1.0, -1.0]]]), precisions, effort=effort)
    np.testing.assert_allclose(sparse.hyperplanes[..., [0, 1, 3]], expected.hyperplanes, rtol=1e-5)
    np.testing.assert_allclose(sparse.log_evidence, expected.log_evidence, rtol=1e-9)
    np.testing.assert_allclose(sparse.prices, expected.prices, rtol=1e-6)
    assert sparse.hyperplanes[0, 0, 2] == 0


@each_backend
def test_an_ascent_with_a_tail_ends_near_one_without(rows_class):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 12)) * np.linspace(2.0, 0.5, 12)
    y = (rng.uniform(size=400) < expit(X @ rng.normal(size=12))).astype(np.int64)
    family, data = DirichletCategorical((0.5, 0.5)), RowData.of(X, y, np.ones(400), identity_schema(12))
    rows = rows_of_data(rows_class, data, family)
    tree = split_leaf(single_leaf(12), 0, 0.1 * np.ones(13))
    effort = Effort(tolerance=1e-6, rounds=8, max_passes=300)
    whole = ascend(rows, family_of(rows), tree.shape, tree.hyperplanes[None], np.ones((1, 1)), effort=effort)
    rotated, rotation = data.rotated(4)
    axes, basis = rows_of_data(rows_class, rotated, family), rotation.basis
    assert len(axes.tail) == 8
    hyperplanes = np.column_stack([tree.hyperplanes[:, :1], tree.hyperplanes[:, 1:] @ basis])
    part = ascend(axes, family_of(axes), tree.shape, hyperplanes[None], np.ones((1, 1)), effort=effort)
    # Prices differ a little, and precisions with them.
    assert part.log_evidence[0] == pytest.approx(whole.log_evidence[0], abs=3.0)
    slopes, expected = basis @ part.hyperplanes[0, 0, 1:], whole.hyperplanes[0, 0, 1:]
    cosine = slopes @ expected / np.linalg.norm(slopes) / np.linalg.norm(expected)
    assert abs(cosine) > 0.99


@needs_compiled
@pytest.mark.parametrize("case", FAMILIES.values(), ids=FAMILIES)
@pytest.mark.parametrize("fixed", [True, False], ids=["fixed", "moving"])
@pytest.mark.parametrize("sparse", [True, False], ids=["sparse", "dense"])
def test_ascents_end_at_the_same_height(case, fixed, sparse):
    rng = np.random.default_rng(0)
    d, n = case.n_features, 120
    X = rng.normal(size=(n, d))
    targets = np.sort(case.draw_targets(rng, n))[np.argsort(np.argsort(X[:, 0] + 0.3 * rng.normal(size=n)))]
    table = X, targets, case.family, rng.uniform(0.5, 2, size=n), identity_schema(d)
    tree = split_leaf(split_leaf(single_leaf(d), 0, rng.normal(size=d + 1)), 1, rng.normal(size=d + 1))
    start = np.stack([tree.hyperplanes, rng.normal(size=tree.hyperplanes.shape)])
    if sparse:
        start[:, 1, -1] = 0.0
    if fixed:
        stacks = [
            converge_responsibilities(
                rows.of_table(*table), case.family, tree.shape, start, np.ones((2, 2)), tolerance=1e-9, sparse=sparse
            )
            for rows in BOTH
        ]
    else:
        effort = Effort(tolerance=1e-7, rounds=4, max_passes=300, sparse=sparse)
        stacks = [
            ascend(rows.of_table(*table), case.family, tree.shape, start, np.ones((2, 2)), effort=effort)
            for rows in BOTH
        ]
    one, other = stacks
    np.testing.assert_allclose(other.log_evidence, one.log_evidence, rtol=1e-7, atol=1e-5)
    np.testing.assert_allclose(other.prices, one.prices, atol=1e-3)
    if sparse:
        assert all((stack.hyperplanes[:, 1, -1] == 0).all() for stack in stacks)


@needs_compiled
@pytest.mark.parametrize("name", ["two classes", "three classes, small prior", "counts", "constant"])
@pytest.mark.parametrize("n_tail", [0, 1])
@pytest.mark.parametrize("max_passes", [1, 2, 5, 9, 14, 20])
def test_ascents_make_the_same_steps(name, n_tail, max_passes):
    case, rng = FAMILIES[name], np.random.default_rng(0)
    X = rng.normal(size=(120, case.n_features))
    targets = np.sort(case.draw_targets(rng, 120))[np.argsort(np.argsort(X[:, 0] + 0.3 * rng.normal(size=120)))]
    table = X, targets, case.family, rng.uniform(0.5, 2, size=120), identity_schema(case.n_features)
    start = 3 * rng.normal(size=(2, 2, case.n_features + 1))
    shape = split_leaf(split_leaf(single_leaf(case.n_features), 0, start[0, 0]), 1, start[0, 1]).shape
    effort = Effort(tolerance=1e-2, rounds=4, max_passes=max_passes)
    one, other = (
        ascend(
            rows.of_table(*table, tail=np.ones(n_tail)),
            case.family,
            shape,
            start,
            np.ones((2, 2)),
            effort=effort,
        )
        for rows in BOTH
    )
    np.testing.assert_allclose(other.hyperplanes, one.hyperplanes, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(other.statistics, one.statistics, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(other.precisions, one.precisions, rtol=1e-6)


@needs_compiled
def test_trees_with_a_few_of_many_slopes_have_the_same_log_evidence():
    X, y = load_digits(return_X_y=True)
    X, y = X[:300] / 16, y[:300]
    rng = np.random.default_rng(0)
    tree = split_leaf(split_leaf(single_leaf(64), 0, rng.normal(size=65)), 1, rng.normal(size=65))
    start = tree.hyperplanes[None] * (rng.uniform(size=(1, 2, 65)) < 0.25)
    table = X, y, DirichletCategorical((0.5,) * 10), np.ones(300), identity_schema(64)
    effort = Effort(tolerance=1e-6, rounds=2, max_passes=100, sparse=True)
    one, other = (
        ascend(rows.of_table(*table), table[2], tree.shape, start, np.full((1, 2), 0.02), effort=effort)
        for rows in BOTH
    )
    assert np.isfinite(other.log_evidence).all()
    np.testing.assert_allclose(other.log_evidence, one.log_evidence, rtol=1e-6)
    np.testing.assert_allclose(other.prices, one.prices, rtol=1e-3)
