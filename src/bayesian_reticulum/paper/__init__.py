"""The published method: Nuti, Jiménez Rugama and Thommen, "Adaptive Bayesian Reticulum".

construction grows a tree as the paper's Algorithm 1 does, with the optimizer of adam, in one of the coordinates of
hyperplanes of parametrizations. requests holds what it sums over rows.
"""

from __future__ import annotations

from .adam import Adam
from .construction import Construction, bound_losses, construct, initial_hyperplane
from .parametrizations import PARAMETRIZATIONS, Polar
from .requests import bound_gradient

__all__ = [
    "PARAMETRIZATIONS",
    "Adam",
    "Construction",
    "Polar",
    "bound_gradient",
    "bound_losses",
    "construct",
    "initial_hyperplane",
]
