"""distributions"""

from __future__ import annotations

from .checks import random_generator
from .classes import ClassDistribution
from .components import Components
from .mixture import Mixture
from .student import StudentT
from .uncertainty import Uncertainty

__all__ = ["ClassDistribution", "Components", "Mixture", "StudentT", "Uncertainty", "random_generator"]
