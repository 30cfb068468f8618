"""Compiled code answers what NumPy answers: the same sums, and with any number of threads the same bits."""

import os
import subprocess
import sys
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_digits

from bayesian_reticulum import ReticulumClassifier, compiled
from bayesian_reticulum.data.schema import Schema, identity_schema
from bayesian_reticulum.data.units import NUMBER
from bayesian_reticulum.datasets import make_cross
from bayesian_reticulum.evidence.ascent import ascend, converge_responsibilities
from bayesian_reticulum.evidence.stack import Effort
from bayesian_reticulum.families.dirichlet import DirichletCategorical
from bayesian_reticulum.families.protocol import Family
from bayesian_reticulum.gates import compute_gates, gap_softening
from bayesian_reticulum.rows import native
from bayesian_reticulum.rows.native import NativeRows
from bayesian_reticulum.rows.numpy import NumpyRows
from bayesian_reticulum.tree import Shape, Tree, single_leaf, split_leaf
from plugins import FAMILIES, TABLES, draw_table, needs_compiled, trees

if compiled.instruction_set:
    from bayesian_reticulum import _native as native_module

few = settings(max_examples=25)
BOTH = (NumpyRows, NativeRows)
SUMS = ("log_normalizer", "statistics", "gradient", "observed", "complete")
# A long and a short double agree to this part of the sums that are made of them.
TOLERANCE = 1e-10


@dataclass
class Problem:
    """A table, what is known of its rows beside it, and what is asked of them."""

    table: dict[str, Any]
    family: Family
    hyperplanes: Any
    shape: Shape
    statistics: Any
    directions: Any
    cuts: Any

    def rows(self, rows_class, **changes):
        return rows_class(**({"family": self.family} | self.table | changes))

    @property
    def edges(self):
        """Rounded numbers, away from any row."""
        return np.tile([-1.03, 0.011, 0.97], (len(self.directions), 1))

    def answers(self, rows, *, views=2):
        """What rows answer to each request that is compiled; of views from a leaf, too."""
        both = [
            rows.pass_(self.hyperplanes, self.shape, self.statistics, information=information)
            for information in (True, False)
        ]
        out = {
            "prior statistics": rows.prior_statistics(self.hyperplanes, self.shape),
            "histogram": rows.histogram(self.directions, self.edges, self.cuts, self.statistics[0, 0]),
            **rows.moments(self.statistics[0, 0])._asdict(),
            **{name: getattr(both[0], name) for name in SUMS},
            **{f"{name} alone": getattr(both[1], name) for name in SUMS[:3]},
        }
        if rows._n:
            out["quantiles"] = rows.quantiles(self.directions, np.array([0.0, 0.1, 0.5, 0.77, 1.0]))
        if views and self.shape.n_splits:
            for leaf in {0, self.shape.n_splits}:
                view = rows.within(self.hyperplanes[0], self.shape, self.statistics[0], leaf)
                out[f"rows in leaf {leaf}"] = np.array([view._n])
                for name, answer in self.answers(view, views=views - 1).items():
                    out[f"{name} in leaf {leaf}"] = answer
        return out

    @property
    def precision(self):
        """Part of a sum that rounding may change: more where exponents are large."""
        table = self.table
        schema = table["schema"]
        design, _ = schema.filled(table["X"], schema.gaps(table["X"]))
        T = self.family.row_statistics(design, table["targets"])
        terms = (
            np.abs(self.family.expected_parameters(self.statistics)) @ np.abs(T).max(axis=0),
            np.abs(self.hyperplanes) @ np.abs(design).max(axis=1),
            np.abs(table.get("_log_other", 0.0)),
        )
        return max(TOLERANCE, 64 * np.finfo(float).eps * sum(np.max(term, initial=0.0) for term in terms))


def assert_same_answers(one, other, precision=TOLERANCE):
    """Every sum differs by less than this part of the largest of its kind, or of one."""
    assert one.keys() == other.keys()
    for name, answer in one.items():
        atol = precision * np.abs(answer).max(initial=1.0)
        np.testing.assert_allclose(other[name], answer, rtol=0, atol=atol, err_msg=name)


def laid_out(X, layout):
    """The same cells in memory in another way."""
    if layout == "Fortran":
        return np.asfortranarray(X)
    if layout == "strided":
        wide = np.full((2 * X.shape[0], 3 * X.shape[1]), np.nan, dtype=X.dtype)
        wide[::2, ::3] = X
        return wide[::2, ::3]
    if layout == "backwards":
        return np.ascontiguousarray(X[::-1, ::-1])[::-1, ::-1]
    if layout == "records":
        records = np.zeros(len(X), dtype=[("mark", "i1"), ("cells", X.dtype, X.shape[1:])])
        records["cells"] = X
        return records["cells"]
    X = X.astype(X.dtype.newbyteorder()) if layout == "other byte order" else X.copy()
    X.flags.writeable = layout != "read-only"
    return X


LAYOUTS = ["C", "Fortran", "strided", "backwards", "records", "other byte order", "read-only"]


@st.composite
def problems(draw, *, case=None):
    """Random trees, tables in all layouts, some rows of them only, and some seen from a leaf."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    if case is None:
        prior = draw(st.sampled_from([1e-3, 0.05, 0.5, 2.0]))
        case = FAMILIES["two classes"]
        k = draw(st.sampled_from([1, 2, 3, 4, 9, 40]))
        family, targets = DirichletCategorical((prior,) * k), lambda n: rng.integers(k, size=n)
    else:
        family, targets = case.family, lambda n: case.draw_targets(rng, n)
    n_features = case.n_features if family.uses_design else None
    tree = draw(trees(max_splits=5, n_features=n_features))
    n, c, d = draw(st.integers(1, 60)), draw(st.integers(1, 5)), tree.n_features
    size = draw(st.sampled_from([0.1, 1.0, 1.0, 30.0, 1e3, 1e6]))
    X, schema = draw_table(rng, n, d, draw(st.sampled_from(TABLES)))
    X = X.astype(draw(st.sampled_from([np.float64, np.float32])))
    y = targets(n)
    table = {
        "X": laid_out(X, draw(st.sampled_from(LAYOUTS))),
        "targets": y,
        "weights": rng.uniform(0.2, 3, size=n),
        "schema": schema,
        "tail": rng.uniform(0.1, 1, size=draw(st.integers(0, d - 1))),
    }
    # Leaves that have seen some rows each; a few of them none, so that a small prior rules classes out.
    T = family.row_statistics(schema.filled(X, schema.gaps(X))[0], y)
    shares = rng.dirichlet(np.full(tree.n_leaves, 0.3), size=(c, n)) * (rng.uniform(size=(c, 1, tree.n_leaves)) < 0.8)
    statistics = np.einsum("cnl,nk->clk", shares, T)
    if draw(st.booleans()):
        chosen = np.flatnonzero(rng.uniform(size=n) < 0.7)
        table |= {"_chosen": chosen, "weights": table["weights"][chosen]}
    if draw(st.booleans()):
        seen = len(table["weights"])
        table["_log_reach"] = rng.choice([0.0, -1e-9, -0.5, -30.0, -800.0], size=seen)
        table["_log_other"] = rng.choice(draw(st.sampled_from([[-3.0], [-1e6, -800.0, -3.0, 0.0, 500.0]])), size=seen)
    width = d + 1
    others = size * rng.normal(size=(c - 1, tree.n_splits, width))
    directions = rng.normal(size=(draw(st.integers(1, 5)), width))
    return Problem(
        table=table,
        family=family,
        hyperplanes=np.concatenate([size * tree.hyperplanes[None], others]),
        shape=tree.shape,
        statistics=statistics,
        directions=directions,
        cuts=rng.normal(size=(draw(st.integers(1, 9)), width)),
    )


def test_the_compiled_core_is_there_where_it_is_expected_and_nowhere_else():
    expected = os.environ.get("RETICULUM_EXPECT_NATIVE")
    if not expected:
        pytest.skip("RETICULUM_EXPECT_NATIVE says neither 0 nor 1")
    assert bool(compiled.instruction_set) == (expected != "0"), f"instruction set: {compiled.instruction_set or 'none'}"


@needs_compiled
@given(problem=problems(), kept=st.sampled_from([native.KEPT_BYTES, 0]))
def test_classes_have_the_same_sums(problem, kept):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(native, "KEPT_BYTES", kept)
        found = problem.answers(problem.rows(NativeRows))
    assert_same_answers(problem.answers(problem.rows(NumpyRows)), found, problem.precision)


@needs_compiled
def test_memberships_that_all_but_vanish_count_where_nothing_else_explains_a_row():
    # The first leaf has not seen the class of the row, and the row goes right of it with a probability of exp(-242). To
    # the left of what comes there the gate is closed altogether: that must not cost the right side its digits.
    tree = split_leaf(split_leaf(single_leaf(1), 0, [0.0, 1.0]), 1, [-1000.0, 0.0])
    statistics = np.array([[[0.0, 5.0], [3.0, 1.0], [3.0, 1.0]]])
    table = np.array([[241.9]]), np.array([0]), DirichletCategorical((1e-3, 1e-3)), np.ones(1), identity_schema(1)
    one, other = (
        rows(*table).pass_(tree.hyperplanes[None], tree.shape, statistics).log_normalizer
        for rows in (NumpyRows, NativeRows)
    )
    np.testing.assert_allclose(other, one, rtol=1e-12)


@needs_compiled
def test_a_leaf_knows_what_others_say_of_a_row_however_little_that_is():
    # Products of these gates are smaller than any double, but not their logs: the branch that takes the leaf's place
    # may come to say even less of the row.
    tree = split_leaf(split_leaf(single_leaf(1), 0, [0.0, 1.0]), 1, [0.0, 0.5])
    statistics = np.array([[3.0, 1.0], [1.0, 2.0], [4.0, 1.0]])
    X, y = np.array([[2000.0], [-900.0], [0.5], [3.0]]), np.array([0, 1, 0, 1])
    table = X, y, DirichletCategorical((0.5, 0.5)), np.ones(4), identity_schema(1)
    for leaf in range(3):
        one, other = (
            rows(*table).within(tree.hyperplanes, tree.shape, statistics, leaf) for rows in (NumpyRows, NativeRows)
        )
        np.testing.assert_array_equal(other._chosen, one._chosen)
        np.testing.assert_allclose(other._log_other, one._log_other, rtol=1e-12)
        np.testing.assert_allclose(other._log_reach, one._log_reach, rtol=1e-12, atol=1e-12)


@needs_compiled
@pytest.mark.parametrize("case", FAMILIES.values(), ids=FAMILIES)
@few
@given(data=st.data())
def test_every_family_has_the_same_sums(case, data):
    problem = data.draw(problems(case=case))
    statistics_alone = 8 * len(problem.table["weights"]) * problem.family.n_statistics
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(native, "KEPT_BYTES", data.draw(st.sampled_from([native.KEPT_BYTES, statistics_alone, 0])))
        found = problem.answers(problem.rows(NativeRows))
    assert_same_answers(problem.answers(problem.rows(NumpyRows)), found, problem.precision)


@needs_compiled
@few
@given(problem=problems())
def test_thresholds_gain_the_same(problem):
    # Whoever asks rounds to six digits.
    scans = [
        problem.rows(rows_class).scan(problem.directions, problem.edges, problem.cuts, problem.statistics[0, 0])
        for rows_class in BOTH
    ]
    np.testing.assert_allclose(*scans, rtol=1e-9, atol=1e-8)


def large_problem(family, targets, n):
    """Rows enough for many threads, and a tree of seven splits."""
    rng = np.random.default_rng(0)
    tree = single_leaf(3)
    for leaf in (0, 1, 0, 3, 2, 1, 4):
        tree = split_leaf(tree, leaf, rng.normal(size=4))
    X = rng.normal(size=(n, 3))
    table = {"X": X, "targets": targets(rng, n), "weights": rng.uniform(0.2, 3, size=n), "schema": identity_schema(3)}
    T = family.row_statistics(np.concatenate([np.ones((1, n)), X.T]), table["targets"])
    statistics = np.stack([T[leaf :: tree.n_leaves].sum(axis=0) for leaf in range(tree.n_leaves)])
    stack = np.stack([tree.hyperplanes, rng.normal(size=tree.hyperplanes.shape)])
    directions, cuts = rng.normal(size=(3, 4)), rng.normal(size=(2, 4))
    return Problem(table, family, stack, tree.shape, np.stack([statistics, statistics]), directions, cuts)


@needs_compiled
@pytest.mark.parametrize("name", ["seven classes", "counts"])
def test_the_number_of_threads_does_not_change_a_bit(name, monkeypatch):
    monkeypatch.setattr(native, "_FEWEST_GATES", 0)
    case = FAMILIES[name]
    problem = large_problem(case.family, case.draw_targets, 60_000)
    alone = problem.answers(problem.rows(NativeRows), views=1)
    for threads in (2, 3, 8):
        together = problem.answers(problem.rows(NativeRows, threads=threads), views=1)
        for answer, same in zip(alone.values(), together.values(), strict=True):
            np.testing.assert_array_equal(answer, same)
    assert_same_answers(problem.answers(problem.rows(NumpyRows), views=1), alone)


FORKED = """
import os
import numpy as np
from bayesian_reticulum import ReticulumClassifier

rng = np.random.default_rng(0)
X = rng.normal(size=(20000, 3))
y = (X[:, 0] * X[:, 1] + 0.3 * rng.normal(size=len(X)) > 0).astype(int)

def fitted():
    return ReticulumClassifier(n_jobs=3, max_splits=3, patience=1, random_state=0).fit(X, y).log_evidence_

before = fitted()
child = os.fork()
assert fitted() == before
if child:
    assert os.waitpid(child, 0)[1] == 0
    print("both have ended")
"""


@needs_compiled
@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes cannot be forked here")
def test_a_process_that_is_forked_has_threads_of_its_own_and_comes_to_an_end():
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", FORKED], capture_output=True, text=True, timeout=120, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "both have ended\n", "")


@needs_compiled
def test_threads_serve_views_as_well():
    problem = large_problem(FAMILIES["seven classes"].family, FAMILIES["seven classes"].draw_targets, 50)
    rows = problem.rows(NativeRows, threads=3)
    assert rows.within(problem.hyperplanes[0], problem.shape, problem.statistics[0], 0)._threads == 3


@needs_compiled
@pytest.mark.parametrize("layout", ["C", "Fortran", "strided", "backwards"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_cells_are_read_where_they_are(layout, dtype, monkeypatch):
    monkeypatch.setattr(native, "KEPT_BYTES", 0)
    problem = large_problem(FAMILIES["seven classes"].family, FAMILIES["seven classes"].draw_targets, 100)
    X = laid_out(problem.table["X"].astype(dtype), layout)
    rows = problem.rows(NativeRows, X=X)
    rows.prior_statistics(problem.hyperplanes, problem.shape)
    # A copy would not know of this.
    X[:] = -X
    found = rows.prior_statistics(problem.hyperplanes, problem.shape)
    expected = problem.rows(NumpyRows, X=X).prior_statistics(problem.hyperplanes, problem.shape)
    np.testing.assert_allclose(found, expected, rtol=1e-12)


@needs_compiled
@pytest.mark.parametrize("values", [[0.0, 1e-310], [0.0, 5e-324, 1.0], [-1e308, 1e308], [3.0, 3.0], [1.0]])
def test_values_may_lie_as_near_or_as_far_as_they_like(values):
    X, direction = np.array(values)[:, None], np.array([[0.0, 1.0]])
    probabilities = np.array([0.0, 0.3, 0.5, 0.9, 1.0])
    table = X, np.zeros(len(X), dtype=int), DirichletCategorical((0.5,)), np.ones(len(X)), identity_schema(1)
    expected, found = (rows(*table).quantiles(direction, probabilities) for rows in BOTH)
    np.testing.assert_array_equal(found, expected)


@needs_compiled
def test_no_rows_have_no_quantiles():
    problem = large_problem(FAMILIES["two classes"].family, FAMILIES["two classes"].draw_targets, 20)
    rows = problem.rows(NativeRows, _chosen=np.arange(0), weights=np.ones(0))
    with pytest.raises(ValueError, match="no rows"):
        rows.quantiles(problem.directions, np.array([0.5]))


@needs_compiled
def test_columns_may_have_the_smallest_units():
    X = np.array([[0.0], [1e-310], [1e-310]])
    schema = Schema.from_columns(X, np.ones(3), ("a",))
    table = X, np.array([0, 1, 1]), DirichletCategorical((0.5, 0.5)), np.ones(3), schema
    shape = split_leaf(single_leaf(1), 0, [0.0, 1.0]).shape
    expected, found = (rows(*table).prior_statistics(np.array([[[0.0, 1.0]]]), shape) for rows in BOTH)
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def passed(rows, problem, in_floats):
    """The sums of a pass in doubles or in floats."""
    c, m, width = problem.hyperplanes.shape
    packed = width - max(len(rows.tail) - 1, 0)
    expected = rows.family.expected_parameters(problem.statistics)
    information = np.zeros((2, c, m, packed * (packed + 1) // 2))
    sums = (np.zeros(c), np.zeros(problem.statistics.shape), np.zeros((c, m, width)), *information)
    table, children = rows._table, problem.shape.children
    table.pass_(np.ascontiguousarray(problem.hyperplanes), children, expected, 1, *sums, in_floats=in_floats)
    return dict(zip(SUMS, sums, strict=True))


@needs_compiled
@few
@given(problem=problems(), kept=st.booleans())
def test_floats_have_the_same_sums_but_for_their_rounding(problem, kept):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(native, "KEPT_BYTES", native.KEPT_BYTES if kept else 0)
        rows = problem.rows(NativeRows)
        in_doubles, in_floats = (passed(rows, problem, in_floats) for in_floats in (False, True))
    rounding = problem.precision * np.finfo(np.float32).eps / np.finfo(np.float64).eps
    assert_same_answers(in_doubles, in_floats, max(1e-5, rounding))


@needs_compiled
@pytest.mark.parametrize("name", ["two classes", "seven classes", "three classes, small prior"])
@pytest.mark.parametrize("rounds", [0, 3])
def test_ascents_in_floats_rise_to_what_doubles_confirm(name, rounds, monkeypatch):
    case = FAMILIES[name]
    problem = large_problem(case.family, case.draw_targets, 3000)

    def rows(fewest):
        monkeypatch.setattr(native, "_FEWEST_IN_FLOATS", fewest)
        return problem.rows(NativeRows)

    in_floats, in_doubles = rows(0), rows(3000)
    assert (in_floats._in_floats, in_doubles._in_floats) == (True, False)
    start = problem.hyperplanes, np.ones((2, 7)), problem.statistics
    effort = Effort(tolerance=1e-3, rounds=rounds, max_passes=100)
    found = ascend(in_floats, problem.shape, *start, effort=effort)
    before, after = (
        converge_responsibilities(in_doubles, problem.shape, *at, tolerance=1e-3, max_passes=1)
        for at in (start, (found.hyperplanes, found.precisions, found.statistics))
    )
    assert (after.log_evidence > before.log_evidence + 1).all()
    np.testing.assert_allclose(found.log_evidence, after.log_evidence, rtol=1e-6)
    np.testing.assert_allclose(found.prices, after.prices, rtol=0, atol=1e-3)


@needs_compiled
def test_targets_without_codes_are_not_passed_over_in_floats():
    case = FAMILIES["counts"]
    problem = large_problem(case.family, case.draw_targets, 50)
    with pytest.raises(ValueError, match="only targets with codes"):
        passed(problem.rows(NativeRows), problem, in_floats=True)


@needs_compiled
def test_what_floats_cannot_hold_is_unlikely_but_not_impossible(monkeypatch):
    monkeypatch.setattr(native, "_FEWEST_IN_FLOATS", 0)
    X = np.repeat([-1.0, 1.0], 40)[:, None]
    y = np.repeat([0, 1], 40)
    tree = split_leaf(single_leaf(1), 0, [0.0, 300.0])
    worth = []
    for pseudo_count in (1e-2, 1e-3):
        table = X, y, DirichletCategorical((pseudo_count,) * 2), np.ones(80), identity_schema(1)
        # Each leaf is sure of the wrong class, by more than floats can tell; they find out.
        start = tree.hyperplanes[None], np.ones((1, 1)), np.array([[[40.0, 0.0], [0.0, 40.0]]])
        in_floats, in_doubles = (rows(*table) for rows in (NativeRows, NumpyRows))
        assert in_floats._in_floats
        one, other = (
            converge_responsibilities(rows, tree.shape, *start, tolerance=1e-3, exact=False)
            for rows in (in_floats, in_doubles)
        )
        np.testing.assert_allclose(one.log_evidence, other.log_evidence, rtol=1e-6, atol=1e-3)
        worth.append(one.log_evidence[0])
    assert np.isfinite(worth).all()


@needs_compiled
@pytest.mark.parametrize("weight", [1e-13, 1e7])
def test_weights_that_floats_cannot_divide_are_left_to_doubles(weight, monkeypatch):
    monkeypatch.setattr(native, "_FEWEST_IN_FLOATS", 0)
    table = np.zeros((3, 1)), np.zeros(3, dtype=int), DirichletCategorical((0.5, 0.5))
    assert NativeRows(*table, np.ones(3), identity_schema(1))._in_floats
    assert not NativeRows(*table, np.array([1.0, weight, 1.0]), identity_schema(1))._in_floats


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
            converge_responsibilities(rows(*table), tree.shape, start, np.ones((2, 2)), tolerance=1e-9, sparse=sparse)
            for rows in BOTH
        ]
    else:
        effort = Effort(tolerance=1e-7, rounds=4, max_passes=300, sparse=sparse)
        stacks = [ascend(rows(*table), tree.shape, start, np.ones((2, 2)), effort=effort) for rows in BOTH]
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
        ascend(rows(*table, tail=np.ones(n_tail)), shape, start, np.ones((2, 2)), effort=effort) for rows in BOTH
    )
    np.testing.assert_allclose(other.hyperplanes, one.hyperplanes, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(other.statistics, one.statistics, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(other.precisions, one.precisions, rtol=1e-6)


@needs_compiled
def test_trees_with_a_few_of_many_slopes_are_worth_the_same():
    X, y = load_digits(return_X_y=True)
    X, y = X[:300] / 16, y[:300]
    rng = np.random.default_rng(0)
    tree = split_leaf(split_leaf(single_leaf(64), 0, rng.normal(size=65)), 1, rng.normal(size=65))
    start = tree.hyperplanes[None] * (rng.uniform(size=(1, 2, 65)) < 0.25)
    table = X, y, DirichletCategorical((0.5,) * 10), np.ones(300), identity_schema(64)
    effort = Effort(tolerance=1e-6, rounds=2, max_passes=100, sparse=True)
    one, other = (ascend(rows(*table), tree.shape, start, np.full((1, 2), 0.02), effort=effort) for rows in BOTH)
    assert np.isfinite(other.log_evidence).all()
    np.testing.assert_allclose(other.log_evidence, one.log_evidence, rtol=1e-6)
    np.testing.assert_allclose(other.prices, one.prices, rtol=1e-3)


@needs_compiled
@few
@given(problem=problems(), q=st.integers(0, 4), threads=st.integers(1, 3))
def test_predictions_are_means_by_membership(problem, q, threads):
    X, schema = problem.table["X"], problem.table["schema"]
    tree = Tree(problem.hyperplanes[0], problem.shape, np.arange(problem.shape.n_splits))
    gaps = schema.gaps(X)
    design, left_open = schema.filled(X, gaps)
    soft = gap_softening(gaps, problem.hyperplanes[:1], left_open)
    expected = np.exp(compute_gates(problem.hyperplanes[:1], problem.shape, design, soft).log_membership[0]).T
    values = np.random.default_rng(0).normal(size=(problem.shape.n_leaves, q)) if q else None
    out = compiled.mix_leaves(schema, tree, values, X, threads)
    np.testing.assert_allclose(out, expected if values is None else expected @ values, atol=10 * problem.precision)


def units_of(*, scale=(1.0,), source=(0,)):
    """Center, scale, low, high, source and code of one column."""
    return np.zeros(1), np.array(scale), np.zeros(1), np.ones(1), np.array(source), np.array([NUMBER])


def wrong(message, **changes):
    return pytest.param(message, changes, id=next(iter(changes)))


@needs_compiled
@pytest.mark.parametrize(
    ("message", "changes"),
    [
        wrong("float32 or float64", X=np.zeros((16, 1), dtype=int)),
        wrong("outside of X", index=np.arange(16) + 1),
        wrong("must be padded", index=np.arange(15)),
        wrong("hold all rows", segments=np.array([0, 0])),
        wrong("out of range", codes=np.array([2], dtype=np.int32)),
        wrong("a weight", weights=np.ones(15)),
        wrong("a reach", log_reach=np.ones(15), log_other=np.ones(16)),
        wrong("belong together", log_other=np.ones(16)),
        wrong("statistics", statistics=np.ones((2, 15))),
        wrong("differ in their columns", units=units_of(source=[1])),
        wrong("outside of X", gaps=([1], [0], [0, 1], [0], [1.0])),
        wrong("outside of the columns", gaps=([0], [0], [0, 1], [1], [1.0])),
        wrong("another size than the columns", precision=np.eye(2)),
        wrong("tail is longer", tail=np.ones(2)),
        wrong("gaps start", gap_starts=np.array([16, 16])),
        wrong("outside of the whole table", places=np.arange(16) + 1, whole="as it is"),
        wrong("a place in the whole table", whole="as it is"),
        wrong("the whole table is another", keep=True, whole="not kept", places=np.arange(16)),
    ],
)
def test_tables_that_would_be_read_beyond_their_ends_are_refused(message, changes):
    table = {
        "X": np.zeros((16, 1)),
        "index": np.arange(16),
        "segments": np.array([0, 16]),
        "gap_starts": np.array([16]),
        "codes": np.array([0], dtype=np.int32),
        "k": 2,
        "statistics": None,
        "weights": np.ones(16),
        "mass": np.ones(16),
        "log_reach": None,
        "log_other": None,
        "units": units_of(),
        "gaps": ([], [], [0], [], []),
        "tail": np.empty(0),
        "keep": True,
        "whole": None,
        "places": None,
    }

    def built(table):
        units = native_module.Units(*table["units"])
        *places, value = table["gaps"]
        places = (np.array(part, dtype=np.int64) for part in places)
        gaps = native_module.Gaps(*places, np.array(value, dtype=float), table.pop("precision", None))
        whole = table["whole"]
        if whole is not None:
            whole = built(table | {"whole": None, "keep": whole != "not kept"})
        return native_module.Table(*(table | {"units": units, "gaps": gaps, "whole": whole}).values())

    built(table)
    with pytest.raises(ValueError, match=message):
        built(table | changes)


@needs_compiled
@pytest.mark.parametrize(
    "gaps", [([0], [1], [0, 1], [0], [1.0]), ([0], [0], [0, 2], [0], [1.0]), ([0], [0], [0, 1], [0, 0], [1.0])]
)
def test_gaps_that_do_not_fit_together_are_refused(gaps):
    *places, value = gaps
    with pytest.raises(ValueError, match=r"fit together|belongs to no gap"):
        native_module.Gaps(*(np.array(part, dtype=np.int64) for part in places), np.array(value), None)


@needs_compiled
def test_units_of_different_lengths_are_refused():
    with pytest.raises(ValueError, match="equally long"):
        native_module.Units(*units_of(scale=[1.0, 1.0]))


@needs_compiled
@pytest.mark.parametrize("children", [[[0, -1]], [[1, -1]], [[-1, -3]]])
def test_children_that_form_no_tree_are_refused(children):
    problem = large_problem(FAMILIES["two classes"].family, FAMILIES["two classes"].draw_targets, 20)
    with pytest.raises(ValueError, match="do not form a tree"):
        problem.rows(NativeRows).prior_statistics(problem.hyperplanes[:, :1], Shape(np.array(children)))


def test_the_environment_switches_compiled_code_off(monkeypatch):
    monkeypatch.setenv("BAYESIAN_RETICULUM_NATIVE", "0")
    assert not compiled.is_available()
    monkeypatch.delenv("BAYESIAN_RETICULUM_NATIVE")
    assert compiled.is_available() == bool(compiled.instruction_set)


@needs_compiled
def test_the_same_tree_grows_on_either_rows(monkeypatch):
    X, y, _ = make_cross(400, random_state=0)
    one = ReticulumClassifier(random_state=0).fit(X, y)
    monkeypatch.setenv("BAYESIAN_RETICULUM_NATIVE", "0")
    other = ReticulumClassifier(random_state=0).fit(X, y)
    assert one.model_.tree.n_leaves == other.model_.tree.n_leaves
    np.testing.assert_allclose(one.predict_proba(X), other.predict_proba(X), atol=1e-3)


@needs_compiled
@pytest.mark.parametrize("level", ["baseline", "v3", "v4"])
def test_every_instruction_set_grows_the_same_tree(level):
    code = (
        "from bayesian_reticulum import ReticulumClassifier, compiled\n"
        "from bayesian_reticulum.datasets import make_cross\n"
        "X, y, _ = make_cross(300, random_state=0)\n"
        "print(compiled.instruction_set, ReticulumClassifier(random_state=0, patience=2).fit(X, y).log_evidence_)\n"
    )
    environment = os.environ | {"BAYESIAN_RETICULUM_INSTRUCTIONS": level}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    used, log_evidence = done.stdout.split()
    # A processor without the level runs the best that it has below it.
    levels = ["baseline", "v3", "v4"]
    assert levels.index(used) <= levels.index(level)
    X, y, _ = make_cross(300, random_state=0)
    here = ReticulumClassifier(random_state=0, patience=2).fit(X, y)
    assert float(log_evidence) == pytest.approx(here.log_evidence_, abs=1e-3)
