"""Rotations to principal axes, and back."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayesian_reticulum.data.rotation import Rotation
from plugins import examples

few = examples(25)
seeds = st.integers(0, 2**32 - 1)


@few
@given(seed=seeds, n=st.integers(1, 40), d=st.integers(1, 12), n_leading=st.integers(0, 12))
def test_axes_are_orthonormal_and_columns_along_them_uncorrelated(seed, n, d, n_leading):
    rng = np.random.default_rng(seed)
    columns, weights = rng.normal(size=(n, d)), rng.uniform(0.5, 2, size=n)
    rotation = Rotation.to_principal_axes(columns, weights, n_leading)
    rank = min(n, d)
    assert rotation.basis.shape == (d, rank)
    np.testing.assert_allclose(rotation.basis.T @ rotation.basis, np.eye(rank), atol=1e-9)
    along = columns @ rotation.basis
    variances = (along.T * weights) @ along / weights.sum()
    np.testing.assert_allclose(variances, np.diag(np.diag(variances)), atol=1e-7)
    assert (np.diff(np.diag(variances)) <= 1e-9).all()
    np.testing.assert_allclose(rotation.tail, np.diag(variances)[n_leading:], rtol=1e-6, atol=1e-9)


@few
@given(seed=seeds, n=st.integers(1, 6))
def test_hyperplanes_of_the_axes_have_the_same_activations_in_the_columns_of_the_table(seed, n):
    rng = np.random.default_rng(seed)
    columns = rng.normal(size=(n, 8))
    rotation = Rotation.to_principal_axes(columns, np.ones(n), 100)
    hyperplanes = rng.normal(size=(2, 3, n + 1))
    undone = rotation.undo(hyperplanes)
    assert undone.shape == (2, 3, 9)
    activations = hyperplanes[..., :1] + hyperplanes[..., 1:] @ (columns @ rotation.basis).T
    np.testing.assert_allclose(undone[..., :1] + undone[..., 1:] @ columns.T, activations, atol=1e-9)
    np.testing.assert_allclose(rotation.apply(undone), hyperplanes, atol=1e-9)
    # Off the span of the rows, a hyperplane keeps its activations alone.
    broad = rng.normal(size=(1, 9))
    spanned = rotation.undo(rotation.apply(broad))
    np.testing.assert_allclose(spanned[:, 1:] @ columns.T, broad[:, 1:] @ columns.T, atol=1e-9)
    assert np.linalg.norm(spanned[:, 1:]) <= np.linalg.norm(broad[:, 1:]) + 1e-12


@pytest.mark.parametrize("n", [5, 60])
def test_axes_do_not_depend_on_the_order_or_repetition_of_rows(n):
    rng = np.random.default_rng(0)
    columns, times = rng.normal(size=(n, 9)), rng.integers(1, 4, size=n)
    repeats = rng.permutation(np.repeat(np.arange(n), times))
    one = Rotation.to_principal_axes(columns, times.astype(float), 3)
    other = Rotation.to_principal_axes(columns[repeats], np.ones(len(repeats)), 3)
    np.testing.assert_allclose(other.basis, one.basis, atol=1e-7)
    np.testing.assert_allclose(other.tail, one.tail, atol=1e-9)


@pytest.mark.parametrize("n", [5, 60])
def test_sums_in_a_given_order_are_the_same_to_the_bit_however_rows_come(n):
    rng = np.random.default_rng(0)
    columns, order = rng.normal(size=(n, 9)), rng.permutation(n)
    one = Rotation.to_principal_axes(columns, np.ones(n), 3, np.argsort(columns[:, 0]))
    other = Rotation.to_principal_axes(columns[order], np.ones(n), 3, np.argsort(columns[order, 0]))
    np.testing.assert_array_equal(other.basis, one.basis)


def test_columns_that_repeat_others_add_no_axis():
    column = np.random.default_rng(0).normal(size=(30, 1))
    assert Rotation.to_principal_axes(np.repeat(column, 3, axis=1), np.ones(30), 9).basis.shape == (3, 1)


def test_a_rotation_cannot_be_written():
    rotation = Rotation.to_principal_axes(np.eye(3), np.ones(3), 1)
    for array in (rotation.basis, rotation.tail):
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0
