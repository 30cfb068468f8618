"""data"""

from __future__ import annotations

from .categories import Category
from .frames import (
    Frame,
    Levels,
    Numbers,
    as_numbers,
    chosen_categories,
    chosen_columns,
    column_names,
    column_types,
    frame_of_numbers,
    is_frame,
    is_from_dtype,
    is_gap,
    read_frame,
    reorder_columns,
)
from .gaps import Gaps, features_with_gaps
from .quantiles import weighted_quantiles, weights_by_code
from .rotation import Rotation
from .schema import Schema, default_names, identity_schema

__all__ = [
    "Category",
    "Frame",
    "Gaps",
    "Levels",
    "Numbers",
    "Rotation",
    "Schema",
    "as_numbers",
    "chosen_categories",
    "chosen_columns",
    "column_names",
    "column_types",
    "default_names",
    "features_with_gaps",
    "frame_of_numbers",
    "identity_schema",
    "is_frame",
    "is_from_dtype",
    "is_gap",
    "read_frame",
    "reorder_columns",
    "weighted_quantiles",
    "weights_by_code",
]
