"""Shared by the two experiments on the bounds: rows, ways up a bound, and colours."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesian_reticulum import DirichletCategorical
from bayesian_reticulum.data import identity_schema
from bayesian_reticulum.paper import PARAMETRIZATIONS, Adam, bound_gradient
from bayesian_reticulum.rows import ArrayRows, MembershipSums, Moments
from bayesian_reticulum.tree import Shape

Floats = NDArray[np.float64]

# Uniform, as in the paper, and the same for both bounds.
FAMILY = DirichletCategorical((1.0, 1.0))
# Okabe and Ito's colours, which can be told apart with any colour vision; line styles and markers say the same again.
OKABE_ITO = {"blue": "#0072B2", "orange": "#D55E00", "green": "#009E73", "purple": "#CC79A7", "grey": "#666666"}
STYLES: tuple[dict[str, Any], ...] = (
    {"color": OKABE_ITO["orange"], "marker": "s", "linestyle": "-"},
    {"color": OKABE_ITO["purple"], "marker": "D", "linestyle": "--"},
    {"color": OKABE_ITO["blue"], "marker": "o", "linestyle": "-"},
    {"color": OKABE_ITO["green"], "marker": "^", "linestyle": "--"},
)


@dataclass(frozen=True)
class Way:
    """A way up the paper's bound.

    Parameters
    ----------
    name : str
    parametrization : str
        Whether weights are moved, or offset, stiffness and angle.
    rate : float
        Adam's learning rate, or what a plain step multiplies the gradient of the bound per row with.
    is_adam : bool
    """

    name: str
    parametrization: str
    rate: float
    is_adam: bool


# In polar coordinates a plain step ten times as long overshoots.
WAYS = (
    Way("plain, weights", "cartesian", 10.0, is_adam=False),
    Way("Adam, weights", "cartesian", 0.1, is_adam=True),
    Way("plain, polar", "polar", 1.0, is_adam=False),
    Way("Adam, polar", "polar", 0.1, is_adam=True),
)
PLAIN, ADAM = WAYS[:2]


def ascent(rows: ArrayRows, hyperplanes: Floats, shape: Shape, way: Way, steps: int) -> Floats:
    """Hyperplanes (steps + 1, c, m, d + 1) of a stack of trees on its way up the paper's bound, from the start on."""
    parametrization = PARAMETRIZATIONS[way.parametrization]
    coordinates = parametrization.coordinates(hyperplanes)
    adam, plain = Adam(way.rate), way.rate / size_of(rows)
    path, block = [hyperplanes], rows.gather()
    for _ in range(steps):
        slope = parametrization.gradient(coordinates, bound_gradient(block, FAMILY, path[-1], shape))
        coordinates = coordinates + (adam.step(slope) if way.is_adam else plain * slope)
        path.append(parametrization.hyperplanes(coordinates))
    return np.array(path)


def stiffness_of(hyperplanes: Floats) -> Floats:
    return np.asarray(np.linalg.norm(hyperplanes[..., 1:], axis=-1))


def rows_of(X: Floats, y: NDArray[np.int64]) -> ArrayRows:
    return ArrayRows.of_table(X, y, FAMILY, np.ones(len(y)), identity_schema(X.shape[1]))


def statistics_of(rows: ArrayRows, hyperplanes: Floats, shape: Shape) -> Floats:
    """Leaf statistics (c, leaves, k) of a stack of trees with responsibility = membership."""
    return rows.reduce(MembershipSums(hyperplanes, shape)).statistics


def size_of(rows: ArrayRows) -> float:
    return float(rows.reduce(Moments(FAMILY, np.zeros(FAMILY.n_statistics))).second[0, 0])
