"""Predictive distributions of many rows at once, and where their uncertainty comes from.

classes holds the distribution of a class. mixture holds that of a number, mixed from components, which have to keep a
protocol (components): student holds Student's t, student_quantiles a fast way to its quantiles, and solver the one for
any components. checks are of arguments, and uncertainty splits what is uncertain into its sources.
"""

from __future__ import annotations

from .checks import random_generator
from .classes import ClassDistribution
from .components import Components
from .mixture import Mixture
from .student import StudentT
from .uncertainty import Uncertainty

__all__ = ["ClassDistribution", "Components", "Mixture", "StudentT", "Uncertainty", "random_generator"]
