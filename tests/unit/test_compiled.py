"""The compiled core: when it is in use, its predictions, and tables that it refuses to read."""

import os
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from asking import rows_of_data
from bayesian_reticulum import ReticulumClassifier, compiled
from bayesian_reticulum.data.units import NUMBER
from bayesian_reticulum.datasets import make_cross
from bayesian_reticulum.gates import compute_gates, gap_softening
from bayesian_reticulum.rows.arrays import ArrayRows
from bayesian_reticulum.tree import Tree
from plugins import examples, needs_compiled
from table_problems import LAYOUTS, laid_out, table_problems

if compiled.instruction_set:
    from bayesian_reticulum import _native as native_module

few = examples(25)


def test_the_compiled_core_is_there_where_it_is_expected_and_nowhere_else():
    expected = os.environ.get("RETICULUM_EXPECT_NATIVE")
    if not expected:
        pytest.skip("RETICULUM_EXPECT_NATIVE says neither 0 nor 1")
    assert bool(compiled.instruction_set) == (expected != "0"), f"instruction set: {compiled.instruction_set or 'none'}"


def test_the_environment_switches_compiled_code_off(monkeypatch):
    monkeypatch.setenv("BAYESIAN_RETICULUM_NATIVE", "0")
    assert not compiled.is_available()
    monkeypatch.delenv("BAYESIAN_RETICULUM_NATIVE")
    assert compiled.is_available() == bool(compiled.instruction_set)


@needs_compiled
@few
@given(problem=table_problems(), q=st.integers(0, 4), threads=st.integers(1, 3))
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


class OnArrays(ReticulumClassifier):
    """Grows on rows of arrays."""

    def rows_factory(self):
        return lambda data, family, threads=1: rows_of_data(ArrayRows, data, family)


@needs_compiled
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_the_same_tree_grows_on_either_rows(seed):
    X, y, _ = make_cross(400, random_state=seed)
    one, other = (kind(random_state=0).fit(X, y) for kind in (ReticulumClassifier, OnArrays))
    assert one.model_.tree.n_leaves == other.model_.tree.n_leaves
    np.testing.assert_allclose(one.predict_proba(X), other.predict_proba(X), atol=1e-6)


@needs_compiled
def test_a_tree_as_good_grows_without_compiled_code(monkeypatch):
    # The two ascents may end at different optima near each other.
    X, y, _ = make_cross(400, random_state=0)
    one = ReticulumClassifier(random_state=0).fit(X, y)
    monkeypatch.setenv("BAYESIAN_RETICULUM_NATIVE", "0")
    other = ReticulumClassifier(random_state=0).fit(X, y)
    assert one.model_.tree.n_leaves == other.model_.tree.n_leaves
    assert other.log_evidence_ == pytest.approx(one.log_evidence_, abs=0.1)


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


@needs_compiled
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_cells_are_copied_only_where_compiled_code_cannot_read_them(layout, dtype):
    X = laid_out(np.arange(12).reshape(4, 3).astype(dtype), layout)
    cells = compiled.readable_cells(X)
    np.testing.assert_array_equal(cells, X)
    assert np.shares_memory(cells, X) == (layout not in ("records", "other byte order"))
    assert compiled.readable_cells(np.arange(12)).dtype == np.float64


def units_of(*, scale=(1.0,), source=(0,)):
    """Center, scale, low, high, source and code of one column."""
    return np.zeros(1), np.array(scale), np.zeros(1), np.ones(1), np.array(source), np.array([NUMBER])


def wrong(message, **changes):
    return pytest.param(message, changes, id=", ".join(changes))


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
        wrong("a target and its variance", targets=np.ones((2, 15)), k=3),
        wrong("a target and its variance", targets=np.ones((1, 16)), k=3),
        wrong("a target and its variance", targets=np.ones((2, 16)), statistics=np.ones((3, 16)), k=3),
        wrong("products of pairs", targets=np.ones((2, 16)), k=6),
        wrong("products of pairs", targets=np.ones((2, 16)), basis=np.ones((1, 1)), k=3),
        wrong("a row for each column", targets=np.ones((2, 16)), basis=np.ones((2, 1)), k=6),
        wrong("a basis belongs to targets", basis=np.ones((1, 1))),
        wrong("differ in their columns", units=units_of(source=[1])),
        wrong("outside of X", gaps=([1], [0], [0, 1], [0], [1.0])),
        wrong("outside of the columns", gaps=([0], [0], [0, 1], [1], [1.0])),
        wrong("another size than the columns", coefficients=np.eye(2)),
        wrong("another size than the columns", left_open=np.ones(2)),
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
        "targets": None,
        "basis": None,
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
        regressions = table.pop("coefficients", np.zeros((1, 1))), table.pop("left_open", np.ones(1))
        gaps = native_module.Gaps(*places, np.array(value, dtype=float), *regressions)
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
        native_module.Gaps(*(np.array(part, dtype=np.int64) for part in places), np.array(value), None, None)


@needs_compiled
def test_coefficients_without_variances_are_refused():
    nowhere = [np.array(part, dtype=np.int64) for part in ([], [], [0], [])]
    with pytest.raises(ValueError, match="coefficients and left_open belong together"):
        native_module.Gaps(*nowhere, np.empty(0), np.eye(1), None)


@needs_compiled
def test_units_of_different_lengths_are_refused():
    with pytest.raises(ValueError, match="equally long"):
        native_module.Units(*units_of(scale=[1.0, 1.0]))
