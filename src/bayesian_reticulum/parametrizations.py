"""The numbers by which a hyperplane is moved: its weights as they are, or the paper's polar coordinates.

In polar coordinates a hyperplane is r (q + n · x) with stiffness r, offset q and a unit normal n given by angles
(paper, last appendix), so that turning, shifting and stiffening a split are separate directions of an ascent.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np

from .tree import Floats


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
        tails = np.sqrt(np.cumsum(slopes[..., ::-1] ** 2, axis=-1))[..., ::-1]
        stiffness = tails[..., 0] if slopes.shape[-1] > 1 else slopes[..., 0]
        polar = np.empty_like(hyperplanes)
        polar[..., 0] = hyperplanes[..., 0] / np.where(stiffness == 0, 1.0, stiffness)
        polar[..., 1] = stiffness
        rest = tails[..., 1:].copy()
        if slopes.shape[-1] > 1:
            # The last slope itself, not its length: its sign is what the last angle turns full circle for.
            rest[..., -1] = slopes[..., -1]
        polar[..., 2:] = np.arctan2(rest, slopes[..., :-1])
        return polar

    def hyperplanes(self, coordinates: Floats) -> Floats:
        normal, _ = _normal(coordinates[..., 2:])
        stiffness = coordinates[..., 1:2]
        return np.concatenate([stiffness * coordinates[..., :1], stiffness * normal], axis=-1)

    def gradient(self, coordinates: Floats, gradient: Floats) -> Floats:
        return np.asarray(np.einsum("...wp,...w->...p", self.jacobian(coordinates), gradient))

    def jacobian(self, coordinates: Floats) -> Floats:
        """Derivative of each weight (axis -2) by each coordinate (axis -1)."""
        normal, turned = _normal(coordinates[..., 2:])
        offset, stiffness = coordinates[..., 0], coordinates[..., 1]
        jacobian = np.zeros((*coordinates.shape, coordinates.shape[-1]))
        jacobian[..., 0, 0] = stiffness
        jacobian[..., 0, 1] = offset
        jacobian[..., 1:, 1] = normal
        jacobian[..., 1:, 2:] = stiffness[..., None, None] * turned
        return jacobian


def _normal(angles: Floats) -> tuple[Floats, Floats]:
    """Unit normal (..., d) with these d - 1 angles, and its derivative by each of them (..., d, d - 1)."""
    d = angles.shape[-1] + 1
    one = np.ones((*angles.shape[:-1], 1))
    # Component k is the product of the sines before it and its own cosine; the last one has no cosine.
    factors = np.broadcast_to(np.concatenate([np.sin(angles), one], axis=-1)[..., None, :], (*one.shape[:-1], d, d))
    lower = np.tri(d, k=-1, dtype=bool)
    factors = np.where(lower, factors, 1.0)
    last = np.arange(d)
    factors[..., last, last] = np.concatenate([np.cos(angles), one], axis=-1)
    slopes = np.where(lower, np.concatenate([np.cos(angles), one], axis=-1)[..., None, :], 0.0)
    slopes[..., last, last] = np.concatenate([-np.sin(angles), 0 * one], axis=-1)
    # Products with one factor left out, without dividing by it: a sine may be zero.
    before = np.cumprod(np.concatenate([np.ones_like(factors[..., :1]), factors[..., :-1]], axis=-1), axis=-1)
    behind = np.cumprod(np.concatenate([np.ones_like(factors[..., :1]), factors[..., :0:-1]], axis=-1), axis=-1)
    turned = (slopes * before * behind[..., ::-1])[..., :-1]
    return np.asarray(factors.prod(axis=-1)), turned


PARAMETRIZATIONS: dict[str, Parametrization] = {"cartesian": Cartesian(), "polar": Polar()}
