"""Parts of tables and of blocks: what is in view, how it is read, and what is kept."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayesian_reticulum.data.schema import identity_schema
from bayesian_reticulum.families.dirichlet import DirichletCategorical
from bayesian_reticulum.rows.limits import Limits
from bayesian_reticulum.rows.part import BlockPart, Reader, TablePart, mass_of, sample_of
from bayesian_reticulum.rows.source import RowData

family = DirichletCategorical((0.5, 0.5))


def table_part(n=50, **limits):
    rng = np.random.default_rng(0)
    X, y, weights = rng.normal(size=(n, 2)), rng.integers(2, size=n), rng.uniform(0.5, 2, size=n)
    return TablePart.whole(RowData.of(X, y, weights, identity_schema(2)), family, Limits(**limits))


def block_part(n=50):
    part = table_part(n)
    return BlockPart(part.read(0, n), part.axes, part.keys)


@pytest.mark.parametrize("part", [table_part(), block_part()], ids=["table", "block"])
@given(seed=st.integers(0, 2**32 - 1))
def test_rows_taken_twice_are_those_taken_at_once(part, seed):
    rng = np.random.default_rng(seed)
    first, second = rng.permutation(50)[:30], rng.permutation(30)[:10]
    log_reach = rng.normal(size=30)
    twice = part.take(first, log_reach=log_reach).take(second)
    once = part.take(first[second])
    np.testing.assert_array_equal(twice.weights, once.weights)
    np.testing.assert_array_equal(twice.keys, once.keys)
    np.testing.assert_array_equal(twice.read(0, 10).design, once.read(0, 10).design)
    np.testing.assert_array_equal(twice.log_reach, log_reach[second])
    np.testing.assert_allclose(mass_of(twice), once.weights * np.exp(log_reach[second]))
    assert twice.log_other is None


@pytest.mark.parametrize("part", [table_part(2000), block_part(2000)], ids=["table", "block"])
def test_a_sample_of_a_sample_is_one_of_the_whole(part):
    once = sample_of(part, 100)
    assert 60 < len(once.weights) < 150
    assert sample_of(part, 1000) is part
    twice = sample_of(sample_of(part, 400), 100)
    assert 60 < len(twice.weights) < 150
    shared = set(once.keys.tolist()) & set(twice.keys.tolist())
    assert len(shared) >= 0.8 * min(len(once.keys), len(twice.keys))


@pytest.mark.parametrize("kept_bytes", [0, 1 << 20])
def test_blocks_hold_all_rows_in_order_whether_they_are_kept_or_not(kept_bytes):
    part = table_part(50, kept_bytes=kept_bytes, block_floats=20, fewest_block_rows=7)
    blocks = list(Reader(part, np.empty(0)).blocks(1))
    assert [start for start, _ in blocks] == [0, 20, 40]
    np.testing.assert_array_equal(
        np.concatenate([block.design for _, block in blocks], axis=1), part.read(0, 50).design
    )
    np.testing.assert_array_equal(np.concatenate([block.weights for _, block in blocks]), part.weights)
