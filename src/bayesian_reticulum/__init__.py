"""Bayesian Reticulum: one small tree of soft, slanted splits, with probabilities that can be trusted."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version

from .distributions import ClassDistribution, Components, Mixture, StudentT
from .estimators import PaperReticulumClassifier, ReticulumClassifier, ReticulumRegressor
from .families import DirichletCategorical, Family, LinearFamily, NormalLinear
from .history import Candidate, GrowthEvent, History
from .model import Reticulum
from .schema import Schema
from .simplification import Simplification, SimplificationStep, simplify
from .tree import Shape, Tree
from .uncertainty import Uncertainty
from .versions import show_versions

try:
    __version__ = version("bayesian-reticulum")
except PackageNotFoundError:  # a source tree that is not installed
    __version__ = "0+unknown"

__all__ = [
    "Candidate",
    "ClassDistribution",
    "Components",
    "DirichletCategorical",
    "Family",
    "GrowthEvent",
    "History",
    "LinearFamily",
    "Mixture",
    "NormalLinear",
    "PaperReticulumClassifier",
    "Reticulum",
    "ReticulumClassifier",
    "ReticulumRegressor",
    "Schema",
    "Shape",
    "Simplification",
    "SimplificationStep",
    "StudentT",
    "Tree",
    "Uncertainty",
    "__version__",
    "show_versions",
    "simplify",
]
