"""Bayesian Reticulum: one small tree of soft, slanted splits, with probabilities that can be trusted."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version

from .distributions import ClassDistribution, Mixture
from .estimators import PaperReticulumClassifier, ReticulumClassifier, ReticulumRegressor
from .families import DirichletCategorical, NormalLinear
from .history import Candidate, GrowthEvent, History
from .model import Reticulum
from .schema import Schema
from .tree import Shape, Tree
from .uncertainty import Uncertainty

try:
    __version__ = version("bayesian-reticulum")
except PackageNotFoundError:  # a source tree that is not installed
    __version__ = "0+unknown"

__all__ = [
    "Candidate",
    "ClassDistribution",
    "DirichletCategorical",
    "GrowthEvent",
    "History",
    "Mixture",
    "NormalLinear",
    "PaperReticulumClassifier",
    "Reticulum",
    "ReticulumClassifier",
    "ReticulumRegressor",
    "Schema",
    "Shape",
    "Tree",
    "Uncertainty",
    "__version__",
]
