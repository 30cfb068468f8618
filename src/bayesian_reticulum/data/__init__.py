"""Tables: how they are read, and what their columns mean.

`columns` is one column, of numbers or of levels, `frames` a table of any library that is read column by column.
`categories` holds which columns are categories, which of their levels are kept, and their codes; `encoding` the
`Encoder`, which makes cells of numbers of a table, the same way in fit and in predict. `units` are center, scale and
limits of columns, `quantiles` what these are made of, `gaps` the rule for cells that are missing, `rotation` turns
wide tables to their principal axes, and `schema` brings all of this together.
"""

from __future__ import annotations

from .categories import Category
from .columns import is_gap
from .encoding import Columns, Encoder, columns_of_numbers, default_names, read_training_columns
from .frames import Frame, chosen_columns, column_names, column_types, is_frame, read_frame, without_rows
from .gaps import Gaps, Regressions, features_with_gaps
from .quantiles import weighted_quantiles, weights_by_code
from .rotation import Rotation
from .schema import Schema, identity_schema

__all__ = [
    "Category",
    "Columns",
    "Encoder",
    "Frame",
    "Gaps",
    "Regressions",
    "Rotation",
    "Schema",
    "chosen_columns",
    "column_names",
    "column_types",
    "columns_of_numbers",
    "default_names",
    "features_with_gaps",
    "identity_schema",
    "is_frame",
    "is_gap",
    "read_frame",
    "read_training_columns",
    "weighted_quantiles",
    "weights_by_code",
    "without_rows",
]
