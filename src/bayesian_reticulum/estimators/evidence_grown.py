"""Growth by evidence, the same for classes and numbers."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import is_regressor
from sklearn.utils.validation import check_is_fitted, check_X_y, validate_data

from ..arrays import Floats
from ..data import Columns, Frame, Schema, is_frame, read_frame, read_training_columns, without_rows
from ..distributions import random_generator
from ..evidence import log_bayes_factors
from ..families import Family
from ..growth import Policy, grow_tree
from ..history import History
from ..model import GREY_ZONE, Reticulum
from ..rows import GreyShares, Limits, RowData, Rows, RowsFactory, arranged, has_table, rows_in_memory
from .base import FLOATS, Estimator
from .coordinates import Coordinates
from .models import make_model
from .parameters import check_limit, check_whole_number, is_whole_number
from .runs import Run, run_growth, run_side_by_side
from .slopes import LINEAR_MARGIN, linear_family
from .targets import check_row_statistics
from .threads import n_threads, single_blas
from .training import TrainingData

# A restart has to be better than another by more nats than this to take its place, so that rounding does not choose.
_TIE = 1e-6
# What scikit-learn checks of a table that may have gaps.
_WITH_GAPS: dict[str, Any] = {"dtype": FLOATS, "ensure_all_finite": "allow-nan"}


class EvidenceGrownEstimator(Estimator):
    """Growth by evidence on tables with gaps and categories, the same for classes and numbers."""

    def __init__(
        self,
        *,
        categorical_features: Any,
        patience: int,
        max_attempts: int,
        max_splits: int | None,
        max_depth: int | None,
        n_restarts: int,
        n_directions: int,
        lookahead: int,
        n_jobs: int | None,
        random_state: Any,
        verbose: int,
    ) -> None:
        self.categorical_features = categorical_features
        self.patience = patience
        self.max_attempts = max_attempts
        self.max_splits = max_splits
        self.max_depth = max_depth
        self.n_restarts = n_restarts
        self.n_directions = n_directions
        self.lookahead = lookahead
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def growth_policy(self) -> Policy:
        """All numbers of growth: the parameters of this estimator, and defaults for everything else.

        A subclass may return another policy, as to study growth itself.

        Returns
        -------
        Policy
        """
        return Policy(
            patience=self.patience,
            max_attempts=self.max_attempts,
            max_splits=self.max_splits,
            max_depth=self.max_depth,
            n_directions=self.n_directions,
            lookahead=self.lookahead,
        )

    def row_limits(self) -> Limits:
        """Sizes at which rows change how their sums are made; results hardly depend on them.

        A subclass may return other limits, as for a machine with less memory.

        Returns
        -------
        Limits
        """
        return Limits()

    def rows_factory(self) -> RowsFactory:
        """What makes the rows that trees are grown on: those in memory, with the limits of `row_limits`.

        A subclass may return another factory, so that sums over rows are made elsewhere.

        Returns
        -------
        RowsFactory
            Called with the data, the family of the leaves, and the threads that a request may use.
        """
        return partial(rows_in_memory, limits=self.row_limits())

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

    def _validate(self, X: Any, y: Any) -> tuple[Columns, tuple[str, ...], Any]:
        """Read and check a table with gaps and categories; also names of its columns, and targets."""
        frame = read_frame(X)
        if frame is None:
            X, y = validate_data(self, X, y, y_numeric=is_regressor(self), **_WITH_GAPS)
            columns = read_training_columns(None, X, self.categorical_features)
            return columns, self._feature_names(X.shape[1]), y
        validate_data(self, X, skip_check_array=True)
        columns = read_training_columns(frame, X, self.categorical_features)
        _, y = check_X_y(columns.cells, y, y_numeric=is_regressor(self), estimator=self, **_WITH_GAPS)
        return columns, self._feature_names(frame.n_columns, frame.names), y

    def _encode(self, X: Any) -> Any:
        """Cells of a table like that of fit, after scikit-learn's own checks."""
        check_is_fitted(self, "model_")
        frame = read_frame(X)
        if frame is None:
            return self.model_.encode(validate_data(self, X, reset=False, **_WITH_GAPS))
        if not is_frame(X):
            validate_data(self, X, reset=False, skip_check_array=True)
            return self.model_.encode(frame)
        return self.model_.encode(self._check_names(X, frame))

    def _check_names(self, X: Any, frame: Frame) -> Frame:
        """Let scikit-learn check the names of a data frame, whose columns may come in another order than in fit."""
        assert frame.names is not None
        places = self.model_.schema.encoder.places_of(frame.names)
        validate_data(self, without_rows(X, places or range(frame.n_columns)), reset=False, skip_check_array=True)
        has_text_names = all(isinstance(name, str) for name in frame.names)
        if places is None and has_text_names != hasattr(self, "feature_names_in_"):
            # scikit-learn has warned: only one of the tables has names, as it sees it, and columns are taken in order.
            return frame._replace(is_positional=True)
        return frame

    @abstractmethod
    def _targets_like_fit(self, y: Any, weights: Floats) -> tuple[Any, Any, Floats]:
        """Targets as the family of the fitted model wants them, as its predictions are judged by, and weights."""

    def _rows(self, data: RowData, family: Family, n_growths: int = 1) -> Rows:
        """Rows for growths that share the threads of this estimator."""
        return self.rows_factory()(data, family, threads=max(1, n_threads(self) // n_growths))

    def _grow_given_family(self, data: TrainingData, classes: Any = None) -> tuple[Reticulum, History]:
        """Grow with the family that was given as the leaf, after its check; targets may be codes of classes."""
        encoder = data.encoder
        schema = Schema.from_columns(data.X, data.weights, encoder.names, categories=encoder.categories)
        check_row_statistics(data.family, schema.design(data.X), data.targets, data.used, classes)
        grown = self._grow_model(data)
        assert grown is not None
        return grown

    def _grow_model(
        self, data: TrainingData, kind: str = "", rival: Sequence[float] = ()
    ) -> tuple[Reticulum, History] | None:
        """Grow the model of a table; None if its log evidence will not come near that of a rival.

        With the kind "linear" the leaves are linear versions of the family.
        """
        is_linear = kind == "linear"
        policy = self.growth_policy()
        at_once = min(n_threads(self), self.n_restarts)
        coordinates = Coordinates.choose(data, LINEAR_MARGIN if is_linear else 0.0)
        family = data.family
        rows = self._rows(coordinates.data, family, at_once)
        if is_linear:
            family = linear_family(rows, family, coordinates.is_rotated)
            rows = self._rows(coordinates.data, family, at_once)
        # Where other threads work on the rows, those of BLAS would be in their way.
        are_busy = at_once > 1 or has_table(rows)
        with single_blas() if are_busy else nullcontext():
            best = self._best_run(rows, family, policy, kind, rival, at_once)
            return None if best is None else _freeze(data, coordinates, rows, best, policy)

    def _best_run(
        self, rows: Rows, family: Family, policy: Policy, kind: str, rival: Sequence[float], at_once: int
    ) -> Run | None:
        """Grow a tree as often as there are restarts, and take the one with the highest log evidence."""

        def run(restart: int, rng: np.random.Generator) -> Run | None:
            label = f"[{type(self).__name__}] {f'{kind} leaves, ' if kind else ''}"
            label += f"growth {restart + 1}/{self.n_restarts}, " if self.n_restarts > 1 else ""
            return run_growth(grow_tree(rows, family, policy, rng), label if self.verbose else "", rival)

        best: Run | None = None
        for finished in run_side_by_side(run, random_generator(self.random_state).spawn(self.n_restarts), at_once):
            if finished is None:
                continue
            if best is None or finished.state.log_evidence > best.state.log_evidence + _TIE:
                best = finished
        return best


def _freeze(
    data: TrainingData, coordinates: Coordinates, rows: Rows, run: Run, policy: Policy
) -> tuple[Reticulum, History]:
    """The model and history of a growth, in the units of the schema."""
    state = run.state
    tree = state.tree
    rows = arranged(rows, tree.hyperplanes, tree.shape)
    grey_shares = rows.reduce(GreyShares(tree.hyperplanes, tree.shape, *GREY_ZONE)).shares
    factors = log_bayes_factors(rows, state, many_rows=policy.leaf_by_leaf_rows, beyond_doubt=policy.beyond_doubt)
    family = coordinates.family_of_table(state.family)
    fitted = replace(state, tree=coordinates.tree_of_table(tree))
    model = make_model(data, family, coordinates.schema, fitted, factors, grey_shares)
    events = (replace(event, tree=coordinates.tree_of_table(event.tree)) for event in run.events)
    return model, History(tuple(events), run.reason)
