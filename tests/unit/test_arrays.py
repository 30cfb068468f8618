"""Frozen copies cannot be changed, and symmetric matrices survive being kept as a triangle."""

import pickle
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayesian_reticulum.arrays import (
    Floats,
    frozen,
    frozen_integers,
    refreeze,
    unpack_symmetric,
    upper_triangle,
)


@dataclass(frozen=True, eq=False)
class Pair:
    left: Floats
    right: Floats

    def __post_init__(self):
        for field in ("left", "right"):
            object.__setattr__(self, field, frozen(getattr(self, field)))

    __setstate__ = refreeze


@pytest.mark.parametrize("freeze", [frozen, frozen_integers])
def test_a_frozen_copy_can_be_changed_neither_itself_nor_through_its_original(freeze):
    given = np.arange(4)
    copy = freeze(given)
    given[0] = 9
    assert copy.tolist() == [0, 1, 2, 3]
    with pytest.raises(ValueError, match="read-only"):
        copy[0] = 1
    with pytest.raises(ValueError, match="cannot set WRITEABLE flag"):
        copy.setflags(write=True)


def test_frozen_arrays_have_one_type_and_one_order():
    assert frozen([[1, 2], [3, 4]]).dtype == np.float64
    assert frozen_integers([[1.0, 2.0]]).dtype == np.int64
    assert frozen(np.asfortranarray(np.ones((3, 2)))).flags.c_contiguous


def test_a_pickle_of_frozen_data_is_frozen_again():
    pair = pickle.loads(pickle.dumps(Pair([1.0], [2.0])))
    assert (pair.left[0], pair.right[0]) == (1.0, 2.0)
    assert not pair.left.flags.writeable
    assert not pair.right.flags.writeable


@given(width=st.integers(0, 6), seed=st.integers(0, 2**32 - 1))
def test_unpacking_a_packed_symmetric_matrix_restores_it(width, seed):
    matrices = np.random.default_rng(seed).normal(size=(2, 3, width, width))
    matrices = matrices + matrices.swapaxes(-1, -2)
    packed = matrices[..., *upper_triangle(width)]
    np.testing.assert_array_equal(unpack_symmetric(packed, width), matrices)
