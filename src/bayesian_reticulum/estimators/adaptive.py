"""Growth by evidence, the same for classes and numbers."""

from __future__ import annotations

from abc import abstractmethod
from contextlib import nullcontext
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import is_regressor
from sklearn.utils.validation import (
    check_array,
    check_consistent_length,
    check_is_fitted,
    check_X_y,
    column_or_1d,
    validate_data,
)

from ..arrays import Floats
from ..data import (
    Numbers,
    Schema,
    as_numbers,
    chosen_categories,
    column_names,
    default_names,
    features_with_gaps,
    frame_of_numbers,
    is_frame,
    is_from_dtype,
    read_frame,
    reorder_columns,
)
from ..distributions import random_generator
from ..evidence import log_bayes_factors
from ..families import NormalLinear
from ..growth import Policy, grow_tree
from ..history import History
from ..model import GREY_ZONE, Reticulum
from ..rows import FULL_HESSIAN_COLUMNS, LEADING_AXES, NativeRows, NumpyRows, rows_in_memory
from ..tree import Tree
from .base import WITH_GAPS, Estimator, make_model
from .blas import single_blas
from .parameters import check_limit, check_whole_number, is_whole_number
from .slopes import linear_family
from .training import Cells, TrainingData, check_finite, is_wide, telling_gaps
from .watching import Grown, run_growth, run_side_by_side
from .weights import checked_weights, used_rows

# Standard deviations beyond the tails of a feature up to which linear leaves follow it: in the tails themselves a line
# would have a bend that is not in the data.
_LINEAR_MARGIN = 2.0
# Rows enough to learn from how what is missing is told by the rest of a row.
_CORRELATED_ROWS = 8192
# Features that may have gaps if all columns are turned to other axes: each of them would then be a gap in all columns.
_MOST_GAPS = 32


class AdaptiveEstimator(Estimator):
    """Growth by evidence, the same for classes and numbers."""

    categorical_features: Any
    patience: int
    max_attempts: int
    max_splits: int | None
    max_depth: int | None
    n_restarts: int
    n_jobs: int | None
    n_directions: int
    lookahead: int
    random_state: Any
    verbose: int

    def _check_parameters(self) -> None:
        least = {"patience": 1, "max_attempts": 0, "n_restarts": 1, "n_directions": 0, "lookahead": 0, "verbose": 0}
        for name, minimum in least.items():
            check_whole_number(name, getattr(self, name), minimum, bool_is_number=name == "verbose")
        for name in ("max_splits", "max_depth"):
            check_limit(name, getattr(self, name))
        if self.n_jobs is not None and (not is_whole_number(self.n_jobs) or self.n_jobs == 0):
            raise ValueError(f"n_jobs must be None or a whole number other than 0; got {self.n_jobs!r}.")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags

    def _read(self, X: Any, y: Any) -> tuple[Cells, Any]:
        """A table with gaps and categories, and its targets."""
        table = read_frame(X)
        if table is None:
            X, y = validate_data(self, X, y, y_numeric=is_regressor(self), **WITH_GAPS)
            if self.categorical_features is None or is_from_dtype(self.categorical_features):
                return Cells(X, self._names(X.shape[1]), (None,) * X.shape[1]), y
            table = frame_of_numbers(X)
        else:
            validate_data(self, X, skip_check_array=True)
        is_category = chosen_categories(self.categorical_features, table)
        columns, levels = [], []
        for place, (column, chosen) in enumerate(zip(table.columns, is_category, strict=True)):
            own = (column.levels if isinstance(column, Numbers) else column) if chosen else None
            levels.append(None if own is None else own.values)
            if own is None:
                columns.append(as_numbers(column, table.place(place)))
            else:
                columns.append(np.where(own.places < 0, np.nan, own.places))
        cells = np.column_stack(columns) if columns else np.empty((table.n_rows, 0))
        check_finite(cells, table)
        cells, y = check_X_y(cells, y, y_numeric=is_regressor(self), estimator=self, **WITH_GAPS)
        return Cells(cells, self._names(cells.shape[1], table.names), tuple(levels)), y

    def _checked_rows(self, X: Any) -> Any:
        check_is_fitted(self, "model_")
        schema = self.model_.schema
        if is_frame(X):
            X = self._in_order_of_fit(X)
            # Columns that are too many or too few are told before what they hold.
            validate_data(self, X, reset=False, skip_check_array=True)
        table = read_frame(X)
        if table is None:
            X = validate_data(self, X, reset=False, **WITH_GAPS)
            if all(category is None for category in schema.categories):
                return X
            table = frame_of_numbers(X)
        elif not is_frame(X):
            validate_data(self, X, reset=False, skip_check_array=True)
        cells = schema.cells(table)
        check_finite(cells, table)
        return check_array(cells, estimator=self, **WITH_GAPS)

    def _in_order_of_fit(self, X: Any) -> Any:
        """A data frame with its columns in the order of fit, if they are the same; scikit-learn checks its names."""
        names, labels = self.model_.schema.names, list(map(str, column_names(X)))
        if len(set(labels)) == len(labels) and set(labels) == set(names):
            return reorder_columns(X, [labels.index(name) for name in names])
        were_labels = not hasattr(self, "feature_names_in_") and names != default_names(len(names))
        are_labels = not all(isinstance(label, str) for label in column_names(X))
        if were_labels and are_labels and column_names(X) != list(range(len(labels))):
            missing, extra = sorted(set(names) - set(labels)), sorted(set(labels) - set(names))
            told = f"{', '.join(missing) or 'none'} missing, {', '.join(extra) or 'none'} too many"
            raise ValueError(f"columns of X should be those of fit: {told}.")
        return X

    @abstractmethod
    def _targets_like_fit(self, y: Any, weights: Floats) -> tuple[Any, Any, Floats]:
        """Targets as the family of the fitted model wants them, as its predictions are judged by, and weights."""

    def _rows_like_fit(self, X: Any, y: Any, sample_weight: Any) -> tuple[NumpyRows, Any, Any, Floats]:
        """A table like that of fit, as rows of the fitted model, and its cells, targets and weights."""
        cells = self._checked_rows(X)
        if y is None:
            raise ValueError(f"{type(self).__name__} needs the targets y that it was fitted to; got None.")
        y = column_or_1d(y)
        check_consistent_length(cells, y)
        told, targets, weights = self._targets_like_fit(y, checked_weights(sample_weight, len(cells)))
        used = used_rows(weights)
        model = self.model_
        rows = rows_in_memory(
            cells[used], told[used], model.family, weights[used], model.schema, threads=self._threads()
        )
        return rows, cells[used], targets[used], weights[used]

    def _grown(self, table: TrainingData, kind: str = "", rival: float = -np.inf) -> tuple[Reticulum, History] | None:
        """The model of a table, and how it came about; None if its log evidence will not come near that of a rival.

        With the kind "linear" the leaves are linear versions of the table's family.
        """
        linear = kind == "linear"
        policy = Policy(
            self.patience, self.max_attempts, self.max_splits, self.max_depth, self.n_directions, self.lookahead
        )
        margin = _LINEAR_MARGIN if linear else 0.0
        schema = Schema.from_columns(table.X, table.weights, table.names, margin, table.categories, telling_gaps(table))
        is_large = schema.n_columns > FULL_HESSIAN_COLUMNS
        is_turned = (is_large or is_wide(table.X, schema.n_columns)) and not table.family.uses_design
        if is_turned and len(features_with_gaps(table.X)) > _MOST_GAPS:
            schema = replace(schema, averages_gaps=False)
        threads = self._threads()
        at_once = min(threads, self.n_restarts)
        rows = rows_in_memory(
            table.X, table.targets, table.family, table.weights, schema, threads=max(1, threads // at_once)
        )
        basis = None
        if is_turned:
            rows, basis = rows.rotated(LEADING_AXES if is_large else schema.n_columns)
        elif not is_large:
            # Threads of BLAS go on looking for work for a tenth of a second, in the way of those that growth has.
            with single_blas():
                schema = rows.sampled(_CORRELATED_ROWS).with_covariance_inverse()
            rows = rows.with_schema(schema)
        if linear:
            rows = rows.with_family(linear_family(rows, narrowed=basis is not None))

        def growth(restart: int, rng: np.random.Generator) -> Grown | None:
            label = f"[{type(self).__name__}] {f'{kind} leaves, ' if kind else ''}"
            label += f"growth {restart + 1}/{self.n_restarts}, " if self.n_restarts > 1 else ""
            return run_growth(grow_tree(rows, policy, rng), label if self.verbose else "", rival)

        children = random_generator(self.random_state).spawn(self.n_restarts)
        best: Grown | None = None
        # Where other threads work on the rows, those of BLAS would be in their way.
        are_busy = at_once > 1 or (isinstance(rows, NativeRows) and rows.can_climb)
        with single_blas() if are_busy else nullcontext():
            for grown in run_side_by_side(growth, children, at_once):
                if grown is not None and (best is None or grown.state.log_evidence > best.state.log_evidence + 1e-6):
                    best = grown
            if best is None:
                return None
            state, rows = best.state, rows.with_family(best.state.family)
            rows = rows.arranged(state.tree.hyperplanes, state.tree.shape)
            grey_shares = rows.grey_shares(state.tree.hyperplanes, state.tree.shape, *GREY_ZONE)
            factors = log_bayes_factors(rows, state)

        def widened(tree: Tree) -> Tree:
            if basis is None:
                return tree
            hyperplanes = np.column_stack([tree.hyperplanes[:, 0], tree.hyperplanes[:, 1:] @ basis.T])
            return Tree(hyperplanes, tree.shape, tree.ids)

        fitted = replace(state, tree=widened(state.tree))
        family = rows.family
        if basis is not None and isinstance(family, NormalLinear) and family.basis is not None:
            span = basis if basis.shape[1] < len(basis) else None
            family = replace(family, basis=basis @ family.basis, span=span)
        model = make_model(table._replace(family=family), schema, fitted, factors, grey_shares)
        return model, History(tuple(replace(event, tree=widened(event.tree)) for event in best.events), best.reason)
