"""Array libraries: the namespace of an array, arrays beside another one, and what the array API standard lacks.

Sums over rows are written once, against the array API standard. NumPy is the default namespace; for the arrays of
others, such as PyTorch and CuPy, scikit-learn ships a wrapper.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from .arrays import Floats, upper_triangle


def namespace_of(array: Any) -> Any:
    """The namespace of an array's functions: `numpy`, or that of another library."""
    return np if isinstance(array, np.ndarray | np.generic) else _wrapper().array_namespace(array)


def _wrapper() -> Any:
    try:
        from sklearn.externals import array_api_compat
    except ImportError as error:
        raise ImportError(
            "arrays of other libraries than NumPy need sklearn.externals.array_api_compat, which this version of "
            "scikit-learn lacks. Update scikit-learn, or use NumPy."
        ) from error
    return array_api_compat


def beside(array: Any, values: Any) -> Any:
    """NumPy's values in the namespace and on the device of an array."""
    if isinstance(array, np.ndarray):
        return np.asarray(values)
    return namespace_of(array).asarray(np.ascontiguousarray(values), device=_wrapper().device(array))


def zeros_beside(array: Any, shape: tuple[int, ...]) -> Any:
    """Zeros (float64) in the namespace and on the device of an array."""
    if isinstance(array, np.ndarray):
        return np.zeros(shape)
    xp = namespace_of(array)
    return xp.zeros(shape, dtype=xp.float64, device=_wrapper().device(array))


def to_numpy(array: Any) -> Any:
    """An array of any namespace and device as one of NumPy."""
    if isinstance(array, np.ndarray):
        return array
    wrapper = _wrapper()
    if wrapper.is_torch_array(array) or wrapper.is_cupy_array(array):
        array = wrapper.to_device(array, "cpu")
    return np.asarray(array)


# What the standard lacks.


def permuted(array: Any, axes: tuple[int, ...]) -> Any:
    """An array with its axes in another order; NumPy has the standard's name from version 2 on."""
    return array.transpose(axes) if isinstance(array, np.ndarray) else namespace_of(array).permute_dims(array, axes)


def log_sum_exp(logs: Any) -> Any:
    """Log of the sum of exp(logs) along the first axis, (n,) of (leaves, n)."""
    xp = namespace_of(logs)
    top = xp.max(logs, axis=0)
    top = xp.where(xp.isfinite(top), top, xp.zeros_like(top))
    return xp.log(xp.sum(xp.exp(logs - top), axis=0)) + top


def unpacked_symmetric(packed: Any, width: int) -> Any:
    """Symmetric matrices (..., width, width) from their upper triangles, row by row."""
    xp = namespace_of(packed)
    rows, columns = upper_triangle(width)
    place = np.empty((width, width), dtype=np.int64)
    place[rows, columns] = place[columns, rows] = np.arange(len(rows))
    full = xp.take(packed, beside(packed, place.ravel()), axis=-1)
    return xp.reshape(full, (*packed.shape[:-1], width, width))


def sum_by_bin(index: Any, n_bins: int, values: Any) -> Any:
    """Sums (D * n_bins, q) of the values (n, q) of all rows in each bin.

    Parameters
    ----------
    index : array of shape (D, n)
        The bin of each row along each direction, from 0 to n_bins - 1.
    n_bins : int
    values : array of shape (n, q)
    """
    if isinstance(values, np.ndarray):
        return _indicators(index, n_bins).T @ values
    xp = namespace_of(values)
    bins = beside(values, np.arange(n_bins))
    one_hot = xp.astype(index[:, None, :] == bins[None, :, None], values.dtype)
    return xp.reshape(one_hot, (index.shape[0] * n_bins, values.shape[0])) @ values


def _indicators(index: Floats, n_bins: int) -> Any:
    """Sparse indicator (n, D * n_bins) of the bins (D, n) of each row: a product with it is the fastest sum by bins."""
    n_directions, n = index.shape
    places = np.ascontiguousarray((index + np.arange(n_directions)[:, None] * n_bins).T)
    starts = np.arange(n + 1) * n_directions
    return sparse.csr_array((np.ones(places.size), places.ravel(), starts), shape=(n, n_directions * n_bins))
