"""families"""

from __future__ import annotations

from .dirichlet import JEFFREYS, DirichletCategorical
from .normal import NormalLinear
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
    "missing_members",
]
