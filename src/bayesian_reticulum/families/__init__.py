"""Families of leaves: a likelihood of the targets with its conjugate prior, and the predictions that follow.

protocol says what a family is, and optional which members it may have besides. dirichlet holds the family of classes,
normal that of numbers, whose leaves are constant or linear, linear_posterior the regression behind it, and noise how
its prior is chosen. metadata is what a family takes of a row besides its target, and compiled says how compiled code
computes a family.
"""

from __future__ import annotations

from .compiled import CompiledForm, FactoredFamily, compiled_form
from .dirichlet import JEFFREYS, DirichletCategorical, named_classes
from .metadata import (
    Metadata,
    TargetsWithMetadata,
    joined_targets,
    metadata_for,
    metadata_names,
    residuals,
    row_statistics,
    taken_metadata,
    target_values,
)
from .normal import NormalLinear
from .optional import class_probabilities, is_categorical, leaf_coefficients, leaf_interval, leaf_middle
from .protocol import (
    CodedFamily,
    EmpiricalPriorFamily,
    Family,
    LinearFamily,
    LinearizableFamily,
    Spread,
    missing_members,
)

__all__ = [
    "JEFFREYS",
    "CodedFamily",
    "CompiledForm",
    "DirichletCategorical",
    "EmpiricalPriorFamily",
    "FactoredFamily",
    "Family",
    "LinearFamily",
    "LinearizableFamily",
    "Metadata",
    "NormalLinear",
    "Spread",
    "TargetsWithMetadata",
    "class_probabilities",
    "compiled_form",
    "is_categorical",
    "joined_targets",
    "leaf_coefficients",
    "leaf_interval",
    "leaf_middle",
    "metadata_for",
    "metadata_names",
    "missing_members",
    "named_classes",
    "residuals",
    "row_statistics",
    "taken_metadata",
    "target_values",
]
