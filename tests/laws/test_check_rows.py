"""All rows keep the laws of rows: NumPy, compiled code, arrays of the standard, PyTorch, and chunks never joined."""

from functools import partial

import numpy as np
import pytest

from bayesian_reticulum import ReticulumClassifier, ReticulumRegressor, simplify
from bayesian_reticulum.data.schema import Schema
from bayesian_reticulum.datasets import make_cross
from bayesian_reticulum.families.dirichlet import DirichletCategorical
from bayesian_reticulum.growth import Policy, grow_tree
from bayesian_reticulum.rows import ArrayRows, NativeRows, RowData
from bayesian_reticulum.rows.limits import DEFAULT_LIMITS, Limits
from bayesian_reticulum.rows.part import TablePart
from bayesian_reticulum.testing import check_rows
from chunked_rows import ChunkedRows
from example_tables import kink
from growing import run
from plugins import needs_compiled, strict_arrays


def compiled_rows(data, likelihood, limits=DEFAULT_LIMITS):
    return NativeRows(TablePart.whole(data, likelihood, limits), threads=2)


def standard_rows(data, likelihood):
    strict = strict_arrays()
    return ArrayRows.of_data(data, likelihood, like=strict.zeros(0, dtype=strict.float64))


def torch_rows(data, likelihood):
    pytest.importorskip("sklearn.externals.array_api_compat")
    torch = pytest.importorskip("torch")
    return ArrayRows.of_data(data, likelihood, like=torch.zeros(0, dtype=torch.float64))


IN_BLOCKS = Limits(block_floats=1, fewest_block_rows=40, kept_bytes=0, fewest_gates=0)


@pytest.mark.parametrize(
    "make_rows",
    [
        pytest.param(ArrayRows.of_data, id="NumPy"),
        pytest.param(partial(ArrayRows.of_data, limits=IN_BLOCKS), id="NumPy in blocks"),
        pytest.param(compiled_rows, id="compiled", marks=needs_compiled),
        pytest.param(partial(compiled_rows, limits=IN_BLOCKS), id="compiled in blocks", marks=needs_compiled),
        pytest.param(standard_rows, id="array API standard"),
        pytest.param(torch_rows, id="PyTorch"),
        pytest.param(ChunkedRows.of_data, id="chunks"),
    ],
)
def test_rows_keep_the_laws(make_rows):
    check_rows(make_rows)


def test_rows_in_chunks_grow_the_tree_of_arrays():
    X, y, _ = make_cross(400, random_state=0)
    family, weights = DirichletCategorical((0.5, 0.5)), np.ones(len(y))
    data = RowData.of(X, y, weights, Schema.from_columns(X, weights, ("a", "b")))
    states = []
    for rows in (ArrayRows.of_data(data, family), ChunkedRows.of_data(data, family)):
        _, state, _ = run(grow_tree(rows, family, Policy(patience=1), np.random.default_rng(0)))
        states.append(state)
    one, other = states
    assert one.tree.n_splits >= 3
    np.testing.assert_array_equal(other.tree.children, one.tree.children)
    np.testing.assert_allclose(other.tree.hyperplanes, one.tree.hyperplanes, rtol=1e-5, atol=1e-5)
    assert other.log_evidence == pytest.approx(one.log_evidence, abs=1e-6)


def of_arrays(data, likelihood, *, threads=1):
    return ArrayRows.of_data(data, likelihood)


def grown_on(factory, estimator, **parameters):
    class Injected(estimator):
        def rows_factory(self):
            return factory

    return Injected(random_state=0, patience=1, **parameters)


def test_an_estimator_grows_on_the_rows_of_its_factory():
    X, y, _ = make_cross(300, random_state=0)
    plain, chunked = (grown_on(make, ReticulumClassifier).fit(X, y) for make in (of_arrays, ChunkedRows.of_data))
    assert chunked.log_evidence_ == pytest.approx(plain.log_evidence_, abs=1e-5)
    np.testing.assert_allclose(chunked.predict_proba(X), plain.predict_proba(X), atol=1e-5)
    simpler = simplify(chunked, X, y, tolerance=1.0)
    assert simpler.steps[0].log_evidence == pytest.approx(chunked.log_evidence_, abs=1e-3)


def test_linear_leaves_grow_on_the_rows_of_a_factory():
    X, y = kink(120)
    plain, chunked = (
        grown_on(make, ReticulumRegressor, leaf="linear").fit(X, y) for make in (of_arrays, ChunkedRows.of_data)
    )
    assert chunked.log_evidence_ == pytest.approx(plain.log_evidence_, abs=1e-5)
