"""Coordinates of hyperplanes in which Adam makes its steps: offset and slopes, or the paper's polar coordinates.

In polar coordinates a hyperplane is r (q + n · x) with stiffness r, offset q and a unit normal n given by angles
(paper, last appendix), so that turning, shifting and stiffening a split are separate directions of an ascent.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np

from ..arrays import Floats


class Parametrization(Protocol):
    """Coordinates (..., d + 1) of hyperplanes (..., d + 1)."""

    def coordinates(self, hyperplanes: Floats) -> Floats:
        """Coordinates of hyperplanes."""
        ...

    def hyperplanes(self, coordinates: Floats) -> Floats:
        """Hyperplanes with these coordinates."""
        ...

    def gradient(self, coordinates: Floats, gradient: Floats) -> Floats:
        """Derivatives by the coordinates, from those by the hyperplanes."""
        ...


class Cartesian:
    """Offset and slopes themselves."""

    def coordinates(self, hyperplanes: Floats) -> Floats:
        return hyperplanes

    def hyperplanes(self, coordinates: Floats) -> Floats:
        return coordinates

    def gradient(self, coordinates: Floats, gradient: Floats) -> Floats:
        return gradient


class Polar:
    """Offset q, stiffness r and the d - 1 angles of the normal, in this order.

    The first d - 2 angles lie in [0, pi], the last one in (-pi, pi]. With one feature there is no angle, and the
    stiffness carries the sign of the slope.

    Examples
    --------
    >>> import numpy as np
    >>> polar = Polar().coordinates(np.array([6.0, 0.0, 2.0]))
    >>> polar.round(4)
    array([3.    , 2.    , 1.5708])
    >>> Polar().hyperplanes(polar).round(4)
    array([6., 0., 2.])
    """

    def coordinates(self, hyperplanes: Floats) -> Floats:
        slopes = hyperplanes[..., 1:]
        # tails[k] is the length of the slopes from k on.
        tails = np.hypot.accumulate(slopes[..., ::-1], axis=-1)[..., ::-1]
        stiffness = tails[..., 0] if slopes.shape[-1] > 1 else slopes[..., 0]
        polar = np.empty_like(hyperplanes)
        polar[..., 0] = hyperplanes[..., 0] / np.where(stiffness == 0, 1.0, stiffness)
        polar[..., 1] = stiffness
        rest = tails[..., 1:].copy()
        if slopes.shape[-1] > 1:
            # The last slope itself, not its length: with its sign the last angle covers the full circle.
            rest[..., -1] = slopes[..., -1]
        polar[..., 2:] = np.arctan2(rest, slopes[..., :-1])
        return polar

    def hyperplanes(self, coordinates: Floats) -> Floats:
        offset, stiffness, angles = coordinates[..., :1], coordinates[..., 1:2], coordinates[..., 2:]
        one = np.ones_like(offset)
        # Component k of the normal is the product of the sines before it and of its cosine; the last has no cosine.
        normal = _products_before(np.sin(angles)) * np.concatenate([np.cos(angles), one], axis=-1)
        return np.concatenate([stiffness * offset, stiffness * normal], axis=-1)

    def gradient(self, coordinates: Floats, gradient: Floats) -> Floats:
        """The transposed Jacobian of `hyperplanes` times a gradient, from the last angle back to the first."""
        offset, stiffness, angles = coordinates[..., 0], coordinates[..., 1], coordinates[..., 2:]
        sines, cosines, before = np.sin(angles), np.cos(angles), _products_before(np.sin(angles))
        slopes = gradient[..., 1:]
        out = np.empty_like(gradient)
        # The derivative along the components of the normal after an angle, without the sines before it.
        behind = slopes[..., -1]
        for k in range(angles.shape[-1] - 1, -1, -1):
            sine, cosine, slope = sines[..., k], cosines[..., k], slopes[..., k]
            out[..., 2 + k] = stiffness * before[..., k] * (cosine * behind - sine * slope)
            behind = cosine * slope + sine * behind
        out[..., 0] = stiffness * gradient[..., 0]
        out[..., 1] = offset * gradient[..., 0] + behind
        return out


def _products_before(factors: Floats) -> Floats:
    """Products of the first 0, 1, ... and all of n factors (..., n), shape (..., n + 1)."""
    one = np.ones_like(factors[..., :0].sum(axis=-1, keepdims=True))
    return np.asarray(np.cumprod(np.concatenate([one, factors], axis=-1), axis=-1))


PARAMETRIZATIONS: dict[str, Parametrization] = {"cartesian": Cartesian(), "polar": Polar()}
