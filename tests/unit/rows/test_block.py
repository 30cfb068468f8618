"""Blocks can be cut, taken apart and joined, and tell how far each row is in view."""

from dataclasses import replace

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from bayesian_reticulum.data.schema import identity_schema
from bayesian_reticulum.families.dirichlet import DirichletCategorical
from bayesian_reticulum.rows.arrays import ArrayRows
from bayesian_reticulum.rows.block import block_size, join_blocks
from bayesian_reticulum.rows.limits import Limits
from plugins import examples, strict_arrays
from row_problems import problems

ARRAYS = ("design", "statistics", "weights", "targets", "missing", "log_reach", "log_other")


def assert_same_block(one, other):
    for name in ARRAYS:
        first, second = getattr(one, name), getattr(other, name)
        assert (first is None) == (second is None)
        if first is not None:
            np.testing.assert_array_equal(first, second, err_msg=name)


@examples(25)
@given(problem=problems(n=st.integers(1, 40)), size=st.integers(1, 20))
def test_a_block_in_parts_is_the_block_when_it_is_joined(problem, size):
    block = problem.rows(ArrayRows).gather()
    block = replace(block, log_reach=problem.rng.normal(size=block.n_rows))
    parts = list(block.parts(size))
    assert all(part.n_rows <= size for part in parts)
    assert_same_block(join_blocks(parts), block)
    assert_same_block(block.take(np.arange(block.n_rows)), block)


def test_the_mass_of_a_row_is_its_weight_as_far_as_it_is_in_view():
    rng = np.random.default_rng(0)
    block = example_block(rng)
    np.testing.assert_array_equal(block.mass, block.weights)
    seen = replace(block, log_reach=np.log(np.full(block.n_rows, 0.5)))
    np.testing.assert_allclose(seen.mass, block.weights / 2)


def example_block(rng):
    family = DirichletCategorical((0.5, 0.5))
    table = rng.normal(size=(20, 2)), rng.integers(2, size=20), family, rng.uniform(1, 2, size=20), identity_schema(2)
    return ArrayRows.of_table(*table).gather()


def test_blocks_go_to_other_arrays_and_come_back():
    strict = strict_arrays()
    block = example_block(np.random.default_rng(0))
    there = block.beside(strict.zeros(0))
    assert isinstance(there.design, type(strict.zeros(0)))
    assert_same_block(there.in_numpy(), block)
    assert block.beside(np.zeros(0)) is block


def test_blocks_are_as_large_as_limits_allow():
    limits = Limits(block_floats=1000, fewest_block_rows=10, most_block_rows=100)
    assert [block_size(floats, limits) for floats in (0, 20, 1000)] == [100, 50, 10]
