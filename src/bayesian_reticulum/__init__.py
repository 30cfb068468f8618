"""Bayesian Reticulum: one small tree of soft, slanted splits, with probabilities that can be trusted.

Names are imported when they are first used, so that `import bayesian_reticulum` imports neither NumPy, SciPy nor
scikit-learn.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    # Type checkers and editors read these imports instead of the table below; a test holds that both are the same.
    from .data import Schema
    from .distributions import ClassDistribution, Components, Mixture, StudentT, Uncertainty
    from .estimators import (
        PaperReticulumClassifier,
        PaperReticulumRegressor,
        ReticulumClassifier,
        ReticulumRegressor,
    )
    from .families import DirichletCategorical, Family, LinearFamily, NormalLinear
    from .history import Candidate, GrowthEvent, History
    from .model import Reticulum
    from .simplification import Simplification, SimplificationStep, simplify
    from .tree import Shape, Tree
    from .versions import show_versions

    __version__: str

_NAMES_BY_HOME = {
    "data": ["Schema"],
    "distributions": ["ClassDistribution", "Components", "Mixture", "StudentT", "Uncertainty"],
    "estimators": ["PaperReticulumClassifier", "PaperReticulumRegressor", "ReticulumClassifier", "ReticulumRegressor"],
    "families": ["DirichletCategorical", "Family", "LinearFamily", "NormalLinear"],
    "history": ["Candidate", "GrowthEvent", "History"],
    "model": ["Reticulum"],
    "simplification": ["Simplification", "SimplificationStep", "simplify"],
    "tree": ["Shape", "Tree"],
    "versions": ["show_versions"],
}
_HOMES = {name: home for home, names in _NAMES_BY_HOME.items() for name in names}
# Folders and files that are public themselves, as `bayesian_reticulum.plots`.
_PUBLIC_MODULES = ("datasets", "exact", "explain", "plots", "testing")

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
    "PaperReticulumRegressor",
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


def __getattr__(name: str) -> Any:
    if name in _PUBLIC_MODULES or name in _NAMES_BY_HOME:
        return import_module(f".{name}", __name__)
    if name in _HOMES:
        value = getattr(import_module(f".{_HOMES[name]}", __name__), name)
    elif name == "__version__":
        value = _installed_version()
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, *_PUBLIC_MODULES})


def _installed_version() -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("bayesian-reticulum")
    except PackageNotFoundError:  # a source tree that is not installed
        return "0+unknown"
