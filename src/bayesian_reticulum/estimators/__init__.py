"""The scikit-learn estimators: they check a table, encode it, grow a tree on it and keep the model.

`base` holds what a fit does, step by step, and what all estimators have in common; `numbers` what all regressors do;
`evidence_grown` growth by evidence, which `classifier` and `regressor` share; `paper` the published method. Of their
steps, `parameters` checks parameters, `targets` and `weights` make numbers of targets and weights, `metadata` of what
else is known of rows, `training` makes the data that a tree is grown on, `coordinates` the columns that it is grown in,
`slopes` what linear leaves are linear in; `runs` runs growths to their end, with `threads`; `models` makes the fitted
model and gives it to an estimator. `callers` warns at the user's line.
"""

from __future__ import annotations

from .classifier import ReticulumClassifier
from .models import with_model
from .paper import PaperReticulumClassifier, PaperReticulumRegressor
from .regressor import ReticulumRegressor
from .threads import default_threads
from .training import TrainingRows, encode_like_fit, rows_of_model, training_rows

__all__ = [
    "PaperReticulumClassifier",
    "PaperReticulumRegressor",
    "ReticulumClassifier",
    "ReticulumRegressor",
    "TrainingRows",
    "default_threads",
    "encode_like_fit",
    "rows_of_model",
    "training_rows",
    "with_model",
]
