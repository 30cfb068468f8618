"""Bayesian Reticulum: one small tree of soft, slanted splits, with probabilities that can be trusted."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version

from .estimators import PaperReticulumClassifier, ReticulumClassifier
from .families import DirichletCategorical
from .history import Candidate, GrowthEvent, History
from .model import Reticulum
from .schema import Schema
from .tree import Shape, Tree

try:
    __version__ = version("bayesian-reticulum")
except PackageNotFoundError:  # a source tree that is not installed
    __version__ = "0+unknown"

__all__ = [
    "Candidate",
    "DirichletCategorical",
    "GrowthEvent",
    "History",
    "PaperReticulumClassifier",
    "Reticulum",
    "ReticulumClassifier",
    "Schema",
    "Shape",
    "Tree",
    "__version__",
]
