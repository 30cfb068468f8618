"""Which ascent is made, and what ascents come to on tables whose optimum is known."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import expit
from sklearn.datasets import load_digits

from asking import family_of, membership_sums, pass_at, rows_of_data
from bayesian_reticulum.data.schema import identity_schema
from bayesian_reticulum.evidence import engine
from bayesian_reticulum.evidence.engine import ascend, converge_responsibilities
from bayesian_reticulum.evidence.stack import Effort
from bayesian_reticulum.families.dirichlet import DirichletCategorical
from bayesian_reticulum.rows.arrays import ArrayRows
from bayesian_reticulum.rows.limits import Limits
from bayesian_reticulum.rows.native import NativeRows
from bayesian_reticulum.rows.requests import Pass
from bayesian_reticulum.rows.source import RowData
from bayesian_reticulum.tree import single_leaf, split_leaf
from evidence_problems import bound_at, make_rows, make_table
from plugins import FAMILIES, examples, needs_compiled, trees

few = examples(25)
seeds = st.integers(0, 2**32 - 1)
FIELDS = ("hyperplanes", "precisions", "statistics", "log_evidence", "prices")
# The compiled ascent over a table and by callback, and the reference, which no compiled core is needed for.
each_way = pytest.mark.parametrize(
    ("rows_class", "compiled"),
    [
        pytest.param(NativeRows, "1", id="table", marks=needs_compiled),
        pytest.param(ArrayRows, "1", id="callback", marks=needs_compiled),
        pytest.param(ArrayRows, "0", id="reference"),
    ],
)


@needs_compiled
@pytest.mark.parametrize("name", ["two classes", "seven classes", "constant", "three slopes, other units"])
@pytest.mark.parametrize("fixed", [True, False], ids=["fixed", "moving"])
def test_passes_by_callback_lead_to_the_same_bits_as_those_over_the_table(name, fixed):
    case, rng = FAMILIES[name], np.random.default_rng(0)
    X = rng.normal(size=(200, case.n_features))
    targets = np.sort(case.draw_targets(rng, 200))[np.argsort(np.argsort(X[:, 0] + 0.3 * rng.normal(size=200)))]
    table = X, targets, case.family, rng.uniform(0.5, 2, size=200), identity_schema(case.n_features)
    start = 3 * rng.normal(size=(3, 2, case.n_features + 1))
    shape = split_leaf(split_leaf(single_leaf(case.n_features), 0, start[0, 0]), 1, start[0, 1]).shape

    class WithoutTable(NativeRows):
        has_table = False

    ways = NativeRows.of_table(*table), WithoutTable.of_table(*table)
    if fixed:
        stacks = [converge_responsibilities(rows, case.family, shape, start, np.ones((3, 2))) for rows in ways]
    else:
        effort = Effort(tolerance=1e-5, rounds=3, max_passes=60)
        stacks = [ascend(rows, case.family, shape, start, np.ones((3, 2)), effort=effort) for rows in ways]
    for field in FIELDS:
        np.testing.assert_array_equal(*(getattr(stack, field) for stack in stacks))


@needs_compiled
def test_rows_whose_statistics_are_too_wide_for_a_table_ascend_by_callback():
    case, rng = FAMILIES["counts"], np.random.default_rng(0)
    X = rng.normal(size=(100, 3))
    table = X, case.draw_targets(rng, 100), case.family, np.ones(100), identity_schema(3)
    streamed = NativeRows.of_table(*table, limits=Limits(kept_bytes=0))
    assert not streamed.has_table
    shape = split_leaf(single_leaf(3), 0, np.zeros(4)).shape
    start = rng.normal(size=(1, 1, 4)), np.ones((1, 1))
    one, other = (
        ascend(rows, case.family, shape, *start, effort=Effort(1e-8))
        for rows in (streamed, NativeRows.of_table(*table))
    )
    np.testing.assert_allclose(one.log_evidence, other.log_evidence, rtol=1e-8)


@needs_compiled
@pytest.mark.parametrize("name", ["constant", "three slopes, other units", "slopes along a basis"])
def test_numbers_have_a_table_whatever_its_size(name):
    case, rng = FAMILIES[name], np.random.default_rng(0)
    table = rng.normal(size=(100, 3)), case.draw_targets(rng, 100), case.family, np.ones(100), identity_schema(3)
    streamed, kept = (NativeRows.of_table(*table, limits=limits) for limits in (Limits(kept_bytes=0), Limits()))
    assert streamed.has_table
    shape = split_leaf(single_leaf(3), 0, np.zeros(4)).shape
    start = rng.normal(size=(1, 1, 4)), np.ones((1, 1))
    one, other = (ascend(rows, case.family, shape, *start, effort=Effort(1e-8)) for rows in (streamed, kept))
    for field in FIELDS:
        np.testing.assert_allclose(getattr(one, field), getattr(other, field), rtol=1e-6, atol=1e-9)


@needs_compiled
def test_errors_of_rows_and_families_come_through_compiled_code():
    table = make_table(np.random.default_rng(0), 20, 1, 2)
    shape = split_leaf(single_leaf(1), 0, [0.0, 1.0]).shape

    class Failing(ArrayRows):
        def reduce(self, request):
            if isinstance(request, Pass):
                raise RuntimeError("the file is gone")
            return super().reduce(request)

    class Short(ArrayRows):
        def reduce(self, request):
            sums = super().reduce(request)
            return replace(sums, statistics=sums.statistics[:, :1]) if isinstance(request, Pass) else sums

    with pytest.raises(RuntimeError, match="the file is gone"):
        ascend(table.rows(Failing), table.family, shape, np.ones((1, 1, 2)), np.ones((1, 1)))
    with pytest.raises(ValueError, match="statistics of a pass have another size"):
        ascend(table.rows(Short), table.family, shape, np.ones((1, 1, 2)), np.ones((1, 1)))


@pytest.mark.parametrize("compiled", ["0", pytest.param("1", marks=needs_compiled)])
def test_an_ascent_leaves_its_start_as_it_was(monkeypatch, compiled):
    monkeypatch.setenv("BAYESIAN_RETICULUM_NATIVE", compiled)
    rows = make_rows(np.random.default_rng(0), 50, 1, 2)
    shape = split_leaf(single_leaf(1), 0, [0.0, 1.0]).shape
    start = np.ones((1, 1, 2)), np.ones((1, 1)), np.array([[[10.0, 5.0], [5.0, 10.0]]])
    copies = [values.copy() for values in start]
    stack = ascend(rows, family_of(rows), shape, *start)
    assert not np.array_equal(stack.hyperplanes, start[0])
    for values, copy in zip(start, copies, strict=True):
        np.testing.assert_array_equal(values, copy)


def test_the_reference_serves_where_the_core_is_switched_off(monkeypatch):
    monkeypatch.setenv("BAYESIAN_RETICULUM_NATIVE", "0")
    calls = []
    monkeypatch.setattr(engine, "ascend_by_the_book", lambda *args: calls.append(args))
    rows = make_rows(np.random.default_rng(0), 50, 1, 2)
    shape = split_leaf(single_leaf(1), 0, [0.0, 1.0]).shape
    ascend(rows, family_of(rows), shape, np.ones((1, 1, 2)), np.ones((1, 1)))
    assert len(calls) == 1


@few
@given(tree=trees(max_splits=4), seed=seeds, n=st.integers(2, 60), k=st.integers(1, 3))
def test_converged_responsibilities_are_as_good_as_those_of_many_plain_e_steps(tree, seed, n, k):
    rng = np.random.default_rng(seed)
    rows = make_rows(rng, n, tree.n_features, k)
    start = tree.hyperplanes[None], np.ones((1, tree.n_splits))
    family, planes = family_of(rows), tree.hyperplanes[None]
    stack = converge_responsibilities(rows, family, tree.shape, *start, tolerance=1e-9)
    converged = bound_at(rows, planes, tree.shape, stack.statistics)[0]
    S = membership_sums(rows, planes, tree.shape)
    for _ in range(300):
        S = pass_at(rows, planes, tree.shape, S).statistics
    plain = bound_at(rows, planes, tree.shape, S)[0]
    assert converged >= plain - 1e-4


@each_way
@pytest.mark.parametrize("stiffness", [1.0, 20.0, 40.0, 200.0])
@pytest.mark.parametrize("precision", [0.02, 1.0])
def test_an_ascent_finds_its_way_from_a_cut_that_no_row_is_near(
    monkeypatch, rows_class, compiled, stiffness, precision
):
    monkeypatch.setenv("BAYESIAN_RETICULUM_NATIVE", compiled)
    rng = np.random.default_rng(0)
    x = np.concatenate([rng.uniform(-3, -1, size=50), rng.uniform(1, 3, size=50)])
    family, schema = DirichletCategorical((0.5, 0.5)), identity_schema(1)
    rows = rows_class.of_table(x[:, None], (x > 0).astype(np.int64), family, np.ones(100), schema)
    shape = split_leaf(single_leaf(1), 0, [0.0, 1.0]).shape
    effort = Effort(tolerance=1e-9, rounds=0, max_passes=100)
    start, other = (
        ascend(rows, family, shape, np.array([[[0.0, s]]]), np.full((1, 1), precision), None, effort)
        for s in (stiffness, 3.0)
    )
    assert start.log_evidence[0] == pytest.approx(other.log_evidence[0], abs=1e-4)


@each_way
def test_an_ascent_from_nowhere_ends(monkeypatch, rows_class, compiled):
    monkeypatch.setenv("BAYESIAN_RETICULUM_NATIVE", compiled)
    rng = np.random.default_rng(0)
    X, y, family = rng.normal(size=(20, 1)), rng.integers(2, size=20), DirichletCategorical((0.5, 0.5))
    rows = rows_class.of_table(X, y, family, np.ones(20), identity_schema(1))
    shape = split_leaf(single_leaf(1), 0, [0.0, 1.0]).shape
    with np.errstate(invalid="ignore"):
        stack = ascend(rows, family, shape, np.full((1, 1, 2), np.nan), np.ones((1, 1)), np.ones((1, 2, 2)))
    assert stack.log_evidence[0] == -np.inf


@each_way
def test_a_slope_that_is_no_part_of_a_sparse_tree_costs_as_little_as_a_column_that_is_not_there(
    monkeypatch, rows_class, compiled
):
    monkeypatch.setenv("BAYESIAN_RETICULUM_NATIVE", compiled)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 3))
    y = (X[:, 0] - X[:, 2] + 0.5 * rng.normal(size=150) > 0).astype(int)
    family, weights = DirichletCategorical((0.5, 0.5)), rng.uniform(0.5, 2, size=150)
    shape = split_leaf(single_leaf(1), 0, [0.0, 0.0]).shape
    effort = Effort(tolerance=1e-8, rounds=5, max_passes=300, sparse=True)
    precisions = np.full((1, 1), 0.02)
    whole = rows_class.of_table(X, y, family, weights, identity_schema(3))
    sparse = ascend(whole, family, shape, np.array([[[0.1, 1.0, 0.0, -1.0]]]), precisions, effort=effort)
    alone = rows_class.of_table(X[:, [0, 2]], y, family, weights, identity_schema(2))
    expected = ascend(alone, family, shape, np.array([[[0.1, 1.0, -1.0]]]), precisions, effort=effort)
    np.testing.assert_allclose(sparse.hyperplanes[..., [0, 1, 3]], expected.hyperplanes, rtol=1e-5)
    np.testing.assert_allclose(sparse.log_evidence, expected.log_evidence, rtol=1e-9)
    np.testing.assert_allclose(sparse.prices, expected.prices, rtol=1e-6)
    assert sparse.hyperplanes[0, 0, 2] == 0


@each_way
def test_an_ascent_with_a_tail_ends_near_one_without(monkeypatch, rows_class, compiled):
    monkeypatch.setenv("BAYESIAN_RETICULUM_NATIVE", compiled)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 12)) * np.linspace(2.0, 0.5, 12)
    y = (rng.uniform(size=400) < expit(X @ rng.normal(size=12))).astype(np.int64)
    family, data = DirichletCategorical((0.5, 0.5)), RowData.of(X, y, np.ones(400), identity_schema(12))
    tree = split_leaf(single_leaf(12), 0, 0.1 * np.ones(13))
    effort = Effort(tolerance=1e-6, rounds=8, max_passes=300)
    rows = rows_of_data(rows_class, data, family)
    whole = ascend(rows, family, tree.shape, tree.hyperplanes[None], np.ones((1, 1)), effort=effort)
    rotated, rotation = data.rotated(4)
    assert len(rotated.tail) == 8
    axes = rows_of_data(rows_class, rotated, family)
    hyperplanes = rotation.apply(tree.hyperplanes)[None]
    part = ascend(axes, family, tree.shape, hyperplanes, np.ones((1, 1)), effort=effort)
    # Prices differ a little, and precisions with them.
    assert part.log_evidence[0] == pytest.approx(whole.log_evidence[0], abs=3.0)
    slopes, expected = rotation.undo(part.hyperplanes)[0, 0, 1:], whole.hyperplanes[0, 0, 1:]
    cosine = slopes @ expected / np.linalg.norm(slopes) / np.linalg.norm(expected)
    assert abs(cosine) > 0.99


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
        for rows in (ArrayRows, NativeRows)
    )
    assert np.isfinite(other.log_evidence).all()
    np.testing.assert_allclose(other.log_evidence, one.log_evidence, rtol=1e-6)
    np.testing.assert_allclose(other.prices, one.prices, rtol=1e-3)
