"""Wide tables along their principal axes: a rotation of columns, applied to hyperplanes and undone.

The prior on slopes is the same in all directions, so that it does not notice a rotation, and the best hyperplane lies
in the span of the rows.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..arrays import Floats, Integers, refreeze


@dataclass(frozen=True, eq=False)
class Rotation:
    """Orthonormal axes that the rows of a table span, the longest first.

    Parameters
    ----------
    basis : ndarray of shape (D, r)
        Each axis in the columns of the table.
    tail : ndarray of shape (at most r,)
        Variances along the last axes: those beyond the leading ones, whose information is a matrix.
    """

    basis: Floats
    tail: Floats

    def __post_init__(self) -> None:
        for field in ("basis", "tail"):
            # Not in the order of C: how a matrix lies in memory can be seen in the last digits of its products.
            array = np.array(getattr(self, field), dtype=np.float64)
            array.setflags(write=False)
            object.__setattr__(self, field, array.view())

    __setstate__ = refreeze

    @classmethod
    def to_principal_axes(
        cls, columns: Floats, weights: Floats, n_leading: int, order: Integers | None = None
    ) -> Rotation:
        """Find the axes of weighted, centred columns (n, D), of which all beyond the first `n_leading` are the tail.

        Sums are made in the given order of rows. Weights and signs are such that the axes are the same for repeats of
        rows as for weights, and in any order.
        """
        weighted = np.sqrt(weights)[:, None] * columns
        if order is not None:
            weighted = weighted[order]
        if len(weighted) > 2 * weighted.shape[1]:
            squares, axes = np.linalg.eigh(weighted.T @ weighted)
            # Squares keep half of the digits.
            sizes, axes, least = np.sqrt(np.maximum(squares[::-1], 0.0)), axes.T[::-1].copy(), 1e-7
        else:
            _, sizes, axes = np.linalg.svd(weighted, full_matrices=False)
            least = 1e-10
        is_spanned = sizes > least * max(sizes[0], 1e-300)
        sizes, axes = sizes[is_spanned], axes[is_spanned]
        axes *= np.sign(axes[np.arange(len(axes)), np.abs(axes).argmax(axis=1)])[:, None]
        return cls(axes.T, sizes[n_leading:] ** 2 / weights.sum())

    def apply(self, hyperplanes: Floats) -> Floats:
        """Rewrite hyperplanes (..., D + 1) of the table for its axes, (..., r + 1); off the span they lose a part."""
        return np.concatenate([hyperplanes[..., :1], hyperplanes[..., 1:] @ self.basis], axis=-1)

    def undo(self, hyperplanes: Floats) -> Floats:
        """Rewrite hyperplanes (..., r + 1) of the axes for the columns of the table, (..., D + 1)."""
        return np.concatenate([hyperplanes[..., :1], hyperplanes[..., 1:] @ self.basis.T], axis=-1)
