"""Bayesian Reticulum: one small tree of soft, slanted splits, with probabilities that can be trusted.

Names are imported when they are first used, so that the package itself costs no time to import.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .data import Schema as Schema
    from .distributions import ClassDistribution as ClassDistribution
    from .distributions import Components as Components
    from .distributions import Mixture as Mixture
    from .distributions import StudentT as StudentT
    from .distributions import Uncertainty as Uncertainty
    from .estimators import PaperReticulumClassifier as PaperReticulumClassifier
    from .estimators import ReticulumClassifier as ReticulumClassifier
    from .estimators import ReticulumRegressor as ReticulumRegressor
    from .families import DirichletCategorical as DirichletCategorical
    from .families import Family as Family
    from .families import LinearFamily as LinearFamily
    from .families import NormalLinear as NormalLinear
    from .history import Candidate as Candidate
    from .history import GrowthEvent as GrowthEvent
    from .history import History as History
    from .model import Reticulum as Reticulum
    from .simplification import Simplification as Simplification
    from .simplification import SimplificationStep as SimplificationStep
    from .simplification import simplify as simplify
    from .tree import Shape as Shape
    from .tree import Tree as Tree
    from .versions import show_versions as show_versions

    __version__: str

_HOMES = {
    "data": ("Schema",),
    "distributions": ("ClassDistribution", "Components", "Mixture", "StudentT", "Uncertainty"),
    "estimators": ("PaperReticulumClassifier", "ReticulumClassifier", "ReticulumRegressor"),
    "families": ("DirichletCategorical", "Family", "LinearFamily", "NormalLinear"),
    "history": ("Candidate", "GrowthEvent", "History"),
    "model": ("Reticulum",),
    "simplification": ("Simplification", "SimplificationStep", "simplify"),
    "tree": ("Shape", "Tree"),
    "versions": ("show_versions",),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}
# Folders and files that users may import from; `import bayesian_reticulum` makes them attributes of the package.
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
    if name in _HOME_OF:
        value = getattr(import_module(f".{_HOME_OF[name]}", __name__), name)
    elif name in _PUBLIC_MODULES:
        return import_module(f".{name}", __name__)
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
