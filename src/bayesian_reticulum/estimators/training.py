"""The data that a tree is grown on: cells, targets and weights, all of them numbers."""

from __future__ import annotations

from typing import Any, NamedTuple

from sklearn.utils.validation import check_consistent_length, column_or_1d

from ..arrays import Floats
from ..data import Columns, Encoder
from ..families import Family, Metadata, TargetsWithMetadata
from ..rows import RowData, Rows
from .callers import warn_caller
from .targets import Targets
from .weights import checked_weights, used_rows


class TrainingData(NamedTuple):
    """A checked and encoded table: cells (n, d), targets as the family wants them, and positive weights.

    Cells are numbers, the codes of a category's levels, or NaN where they are missing. They are
    those of the `used` rows of the table that was given to fit, a slice or places (n,).
    """

    X: Any
    targets: Any
    weights: Floats
    family: Family
    encoder: Encoder
    target_names: tuple[str, ...]
    used: Any


def encode_training_data(columns: Columns, names: tuple[str, ...], targets: Targets) -> TrainingData:
    """Learn an encoder and encode the rows that have a weight; a category without a level to learn from is warned of.

    Parameters
    ----------
    columns : Columns
        All rows of the table.
    names : tuple of str
        What its columns are called.
    targets : Targets
        Of the rows that have a weight.
    """
    columns = columns.take(targets.used)
    encoder = Encoder.learn(columns, names, targets.weights, targets.numbers)
    for name, category in zip(names, encoder.categories, strict=True):
        if category is not None and not category.levels and len(category.pooled) > 1:
            warn_caller(
                f"column {name!r} has {len(category.pooled)} levels, all of them rare: nothing can be learned from "
                "it. Leave it out, or join levels that belong together."
            )
    X = encoder.fill(columns)
    return TrainingData(X, targets.values, targets.weights, targets.family, encoder, targets.names, targets.used)


def encode_like_fit(estimator: Any, X: Any) -> Any:
    """Cells (n, d) of a table like that of fit, after the same checks and warnings as for a prediction.

    Parameters
    ----------
    estimator : fitted estimator
    X : array-like or data frame of shape (n_samples, n_features)
    """
    return estimator._encode(X)


class TrainingRows(NamedTuple):
    """What rows of a fitted model are made of, and their cells (n, d), targets, weights and metadata (n,).

    Rows of weight 0 are left out. Targets are as predictions are judged by them: codes of classes, or the numbers that
    were given.
    """

    data: RowData
    cells: Any
    targets: Any
    weights: Floats
    metadata: Metadata


def training_rows(
    estimator: Any, X: Any, y: Any, sample_weight: Any = None, metadata: Metadata | None = None
) -> TrainingRows:
    """A table like that of fit, in the columns of the fitted model.

    Parameters
    ----------
    estimator : ReticulumClassifier or ReticulumRegressor
        Fitted.
    X : array-like or data frame of shape (n_samples, n_features)
    y : array-like of shape (n_samples,)
    sample_weight : array-like of shape (n_samples,), optional
    metadata : mapping of str to array-like of shape (n_samples,), optional

    Returns
    -------
    TrainingRows
    """
    cells = encode_like_fit(estimator, X)
    if y is None:
        raise ValueError(f"{type(estimator).__name__} needs the targets y that it was fitted to; got None.")
    y = column_or_1d(y)
    check_consistent_length(cells, y)
    values, targets, weights = estimator._targets_like_fit(y, checked_weights(sample_weight, len(cells)))
    used, model = used_rows(weights), estimator.model_
    known = estimator._checked_metadata("fit", metadata or {}, len(cells))
    values = TargetsWithMetadata(values, known)[used] if known else values[used]
    cells, weights = cells[used], weights[used]
    data = RowData.of(cells, values, weights, model.schema)
    return TrainingRows(data, cells, targets[used], weights, {name: part[used] for name, part in known.items()})


def rows_of_model(estimator: Any, data: RowData) -> Rows:
    """Rows for the leaves of a fitted model, made as in fit.

    Parameters
    ----------
    estimator : ReticulumClassifier or ReticulumRegressor
        Fitted.
    data : RowData
    """
    rows: Rows = estimator._rows(data, estimator.model_.family)
    return rows
