"""paper"""

from __future__ import annotations

from .adam import Adam
from .construction import Construction, bound_losses, construct, initial_hyperplane
from .parametrizations import PARAMETRIZATIONS, Polar

__all__ = ["PARAMETRIZATIONS", "Adam", "Construction", "Polar", "bound_losses", "construct", "initial_hyperplane"]
