"""model"""

from __future__ import annotations

from .outline import class_name, printable
from .reticulum import GREY_ZONE, TRANSITION, Reticulum, fitted_model

__all__ = ["GREY_ZONE", "TRANSITION", "Reticulum", "class_name", "fitted_model", "printable"]
