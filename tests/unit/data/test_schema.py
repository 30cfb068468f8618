"""The schema: columns of features, the design made of cells, units of hyperplanes."""

import copy
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayesian_reticulum.data.categories import Category
from bayesian_reticulum.data.encoding import Encoder
from bayesian_reticulum.data.schema import Schema, identity_schema
from bayesian_reticulum.data.units import MISSING, NUMBER
from plugins import draw_table

CITY = Category(("Oslo", "Rome", "Wien"))


def mixed_schema():
    """Age, of which gaps tell something, and city."""
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(40, 10, size=90), np.repeat([0.0, 1.0, 2.0], [45, 30, 15])])
    X[::5, 0] = np.nan
    return X, Schema.from_columns(X, np.ones(90), ("age", "city"), 0.0, (None, CITY), [0])


def test_features_become_columns():
    _, schema = mixed_schema()
    assert (schema.n_features, schema.n_columns) == (2, 5)
    assert schema.column_names == ("age", "age is missing", "city=Oslo", "city=Rome", "city=Wien")
    assert schema.source.tolist() == [0, 0, 1, 1, 1]
    assert schema.code.tolist() == [NUMBER, MISSING, 0, 1, 2]
    assert schema.numbers == (0,)
    assert schema.column_of_number(0) == 0
    assert schema.limits(0) == (schema.low[0], schema.high[0])
    assert schema.center[1] == pytest.approx(0.2)
    assert schema.scale[1] == pytest.approx(0.4)
    assert schema.encoder == Encoder(("age", "city"), (None, CITY))


def test_the_design_has_unit_spread_and_gaps_at_zero():
    X, schema = mixed_schema()
    design = schema.design(X)
    assert design.shape == (6, 90)
    np.testing.assert_array_equal(design[0], 1)
    is_gap = np.isnan(X[:, 0])
    np.testing.assert_array_equal(design[1, is_gap], 0)
    assert design[1, ~is_gap].mean() == pytest.approx(0, abs=1e-12)
    assert design[1, ~is_gap].std() == pytest.approx(1)
    np.testing.assert_allclose(design[2], (is_gap - 0.2) / 0.4)
    np.testing.assert_allclose((design[3:] ** 2).mean(axis=1).sum(), 1)
    np.testing.assert_array_equal(schema.design([[np.nan, np.nan]])[3:], 0)


def test_wild_cells_are_read_at_the_limits():
    _, schema = mixed_schema()
    wild = schema.design([[1e9, 0.0], [-1e9, 0.0]])[1]
    np.testing.assert_allclose(wild, (np.array([schema.high[0], schema.low[0]]) - schema.center[0]) / schema.scale[0])


@given(seed=st.integers(0, 500), kind=st.sampled_from(["numbers", "all sorts"]))
def test_hyperplanes_have_the_same_activation_in_either_units(seed, kind):
    rng = np.random.default_rng(seed)
    X, schema = draw_table(rng, 5, 4, kind)
    hyperplanes = rng.normal(size=(2, 5))
    original = schema.in_original_units(hyperplanes)
    np.testing.assert_allclose(schema.in_standard_units(original), hyperplanes, rtol=1e-9, atol=1e-9)
    columns = schema.design(X)[1:] * schema.scale[:, None] + schema.center[:, None]
    np.testing.assert_allclose(original[:, :1] + original[:, 1:] @ columns, hyperplanes @ schema.design(X), atol=1e-8)


def test_columns_are_summed_by_feature():
    _, schema = mixed_schema()
    np.testing.assert_array_equal(schema.by_feature(np.array([[1.0, 2.0, 4.0, 8.0, 16.0]])), [[3.0, 28.0]])


def test_some_columns_of_a_schema_do_not_follow_from_others():
    X, schema = mixed_schema()
    whole = schema.with_regressions(X, np.ones(90))
    part = whole.restricted(np.array([0, 3]))
    assert part.column_names == ("age", "city=Rome")
    assert part.regressions is None
    assert part.n_features == 2


def test_gaps_are_filled_as_the_regressions_say():
    X, schema = mixed_schema()
    whole = schema.with_regressions(X, np.ones(90))
    assert whole.regressions.coefficients.shape == (5, 5)
    table = np.array([[np.nan, 2.0], [50.0, 2.0]])
    gaps = whole.gaps(table)
    design, left_open = whole.filled(table, gaps)
    assert design[1, 0] != 0
    np.testing.assert_array_equal(left_open[:, 1], 0)
    assert 0 < left_open[0, 0] < 1
    plain, left_open = schema.filled(table, schema.gaps(table))
    np.testing.assert_array_equal(plain, schema.design(table))
    np.testing.assert_array_equal(left_open, [[1.0, 0.0]])
    assert schema.filled(table[1:], None)[1] is None
    np.testing.assert_allclose(schema.variances[[0, 1]], 1)
    assert schema.variances[2:].sum() == pytest.approx(1)


def test_a_schema_is_immutable_also_when_it_was_copied():
    X, schema = mixed_schema()
    schema = schema.with_regressions(X, np.ones(90))
    for same in (schema, copy.deepcopy(schema), pickle.loads(pickle.dumps(schema))):
        np.testing.assert_array_equal(same.design(X), schema.design(X))
        for name in ("center", "scale", "low", "high", "source", "code"):
            with pytest.raises(ValueError, match="read-only"):
                getattr(same, name)[0] = 0
        for array in (same.regressions.coefficients, same.regressions.variances):
            with pytest.raises(ValueError, match="read-only"):
                array[0] = 0


def test_the_identity_leaves_cells_as_they_are():
    X = np.array([[1.5, -1e9, 3.0]])
    np.testing.assert_array_equal(identity_schema(3).design(X)[1:], X.T)
    np.testing.assert_array_equal(identity_schema(2, 3).design(X)[1:], X[:, :2].T)
    assert identity_schema(2, 3).names == ("x0", "x1", "x2")
