"""families"""

from __future__ import annotations

from .dirichlet import JEFFREYS, DirichletCategorical, named_classes
from .normal import NormalLinear
from .optional import class_probabilities, is_categorical, leaf_coefficients, leaf_interval, leaf_middle
from .protocol import CodedFamily, EmpiricalPriorFamily, Family, LinearFamily, Spread, missing_members

__all__ = [
    "JEFFREYS",
    "CodedFamily",
    "DirichletCategorical",
    "EmpiricalPriorFamily",
    "Family",
    "LinearFamily",
    "NormalLinear",
    "Spread",
    "class_probabilities",
    "is_categorical",
    "leaf_coefficients",
    "leaf_interval",
    "leaf_middle",
    "missing_members",
    "named_classes",
]
