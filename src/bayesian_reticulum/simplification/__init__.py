"""simplification"""

from __future__ import annotations

from .result import Simplification, SimplificationStep
from .simplify import simplify

__all__ = ["Simplification", "SimplificationStep", "simplify"]
