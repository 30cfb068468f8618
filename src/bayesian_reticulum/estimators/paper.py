"""`PaperReticulumClassifier` and `PaperReticulumRegressor`: the published method as estimators."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, cast

import numpy as np

from ..data import Schema, identity_schema
from ..distributions import random_generator
from ..families import Family, NormalLinear
from ..history import GrowthEvent, History
from ..model import GREY_ZONE, Reticulum
from ..paper import PARAMETRIZATIONS, Construction, bound_losses, construct
from ..rows import ArrayRows, GreyShares, LocalRows, RowData
from ..tree import Tree, with_canonical_signs
from .base import Classifier, Estimator
from .models import make_model
from .numbers import Regressor
from .parameters import LARGEST_TOTAL_WEIGHT, check_limit, check_number, check_whole_number
from .runs import Run, run_growth
from .slopes import LINEAR_MARGIN, linear_family
from .training import TrainingData
from .weights import rows_of_table

# Cells, steps and targets beyond these overflow: the first two where a method works in the units of the table.
_LARGEST_RAW_CELL = 1e100
_LARGEST_RATE = 1e100


class PaperReticulum(Estimator):
    """What the published method has in common for classes and numbers: its parameters, and its construction."""

    def __init__(
        self,
        *,
        prior: Any = 1.0,
        max_attempts: int = 20,
        max_depth: int | None = None,
        learning_rate: float = 0.1,
        n_gradient_steps: int = 100,
        initial_stiffness: float = 2.0,
        pruning_factor: float = 1.05,
        parametrization: str = "cartesian",
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.prior = prior
        self.max_attempts = max_attempts
        self.max_depth = max_depth
        self.learning_rate = learning_rate
        self.n_gradient_steps = n_gradient_steps
        self.initial_stiffness = initial_stiffness
        self.pruning_factor = pruning_factor
        self.parametrization = parametrization
        self.random_state = random_state
        self.verbose = verbose

    def _check_parameters(self) -> None:
        for name in ("max_attempts", "n_gradient_steps", "verbose"):
            check_whole_number(name, getattr(self, name), 0, bool_is_number=name == "verbose")
        check_limit("max_depth", self.max_depth)
        for name in ("learning_rate", "initial_stiffness"):
            meaning = f"a positive number of at most {_LARGEST_RATE:.0e}"
            check_number(name, getattr(self, name), lambda value: 0 < value <= _LARGEST_RATE, meaning)
        check_number("pruning_factor", self.pruning_factor, lambda value: 1 <= value <= 1.2, "a number from 1 to 1.2")
        if not (isinstance(self.parametrization, str) and self.parametrization in PARAMETRIZATIONS):
            known = " or ".join(f'"{name}"' for name in PARAMETRIZATIONS)
            raise ValueError(f"parametrization must be {known}; got {self.parametrization!r}.")

    def _construct(self, rows: LocalRows, family: Family) -> Run:
        """Run the construction on rows to its end."""
        growth = construct(rows, family, self._construction(), random_generator(self.random_state))
        run = run_growth(growth, f"[{type(self).__name__}] " if self.verbose else "")
        assert run is not None
        return run

    def _construction(self) -> Construction:
        return Construction(
            int(self.max_attempts),
            None if self.max_depth is None else int(self.max_depth),
            float(self.learning_rate),
            int(self.n_gradient_steps),
            float(self.initial_stiffness),
            float(self.pruning_factor),
            self.parametrization,
        )


class PaperReticulumClassifier(Classifier, PaperReticulum):
    """The Adaptive Bayesian Reticulum as it was published, to the letter, for comparison.

    A tree of soft, slanted splits that climbs the lower bound c of the expected log-likelihood by Adam. It starts
    from random splits and has no prior on them, so that the result depends on the seed and on six numbers, which
    the authors set by cross-validation. `ReticulumClassifier` needs neither; prefer it unless the published
    method itself is of interest. Where the paper and the code published with it differ, this follows the paper; above
    all, leaf statistics are always those of the current tree.

    Parameters
    ----------
    prior : float, array-like of shape (n_classes,) or "auto", default=1.0
        Pseudo-counts of the prior of a leaf, α and β with two classes: one for all classes, or one for each in
        the order of `classes_`. "auto" is 0.5 for each.
    max_attempts : int, default=20
        How often a leaf is extended. There is no other end but leaves that may not be extended.
    max_depth : int or None, default=None
        Largest number of splits on the way to a leaf: a reticulum of four levels has a depth of 3.
    learning_rate : float, default=0.1
        Size of Adam's first steps, in the units of the weights.
    n_gradient_steps : int, default=100
        Steps of Adam in each attempt: half of them with the new split alone, half with all splits.
    initial_stiffness : float, default=2.0
        Length of the slopes of a new split, for columns divided by their inter-quartile range.
    pruning_factor : float, default=1.05
        A split must raise the bound by the logarithm of this factor, once for the root and once more for each
        level below. From 1 to 1.2.
    parametrization : {"cartesian", "polar"}, default="cartesian"
        Whether Adam moves weights, or stiffness, offset and angles.
    random_state : int, RandomState instance or None, default=None
        Chance chooses the leaves to extend and the initial splits.
    verbose : int, default=0
        1 prints a line for each attempt.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Class labels.
    n_features_in_ : int
        Number of features seen during fit.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features; only if all column names of X were strings.
    n_splits_, n_leaves_, depth_ : int
        Size of the tree.
    log_evidence_ : float
        The bound c of the paper. It asks no price for hyperplanes: not comparable with that of `ReticulumClassifier`.
    stopping_reason_ : {"max_attempts", "max_depth", "no_gain"}
        Why construction stopped; "no_gain" if no leaf has anything left to explain, as with one class.
    feature_importances_ : ndarray of shape (n_features_in_,)
        Share of each feature in the evidence that the splits gain: the gain of each split is shared out in
        proportion to its absolute standardised slopes.
    model_ : Reticulum
        The fitted tree: immutable, without training rows. ``print(model_)`` shows it. Its splits have no price, and
        a log Bayes factor is the bound that the tree loses if the split and all below become one leaf.
    history_ : History
        Each split as proposed, after its own and after the common training, and what was pruned.

    References
    ----------
    G. Nuti, L. A. Jiménez Rugama, K. Thommen, "Adaptive Bayesian Reticulum", 2019.

    Examples
    --------
    >>> from bayesian_reticulum import PaperReticulumClassifier
    >>> from bayesian_reticulum.datasets import make_ripley
    >>> X, y, _ = make_ripley(250, random_state=0)
    >>> clf = PaperReticulumClassifier(max_attempts=5, random_state=0).fit(X, y)
    >>> clf.predict_proba(X).shape
    (250, 2)
    >>> clf.history_[1].phase
    'proposed'
    """

    def _grow(self, data: TrainingData) -> tuple[Reticulum, History]:
        _check_raw_cells(data)
        data = _in_canonical_order(data)
        raw = identity_schema(data.X.shape[1])
        rows = ArrayRows.of_table(data.X, data.targets, data.family, data.weights, raw)
        units = Schema.from_columns(data.X, data.weights, data.encoder.names)
        limit = np.full(units.n_features, _LARGEST_RAW_CELL)
        schema = replace(units, low=-limit, high=limit)
        varies = np.append(True, units.low < units.high)

        def converted(tree: Tree) -> Tree:
            # The slope of a constant column has been a second offset, and in these units it is counted as one.
            return Tree(schema.in_standard_units(tree.hyperplanes) * varies, tree.shape, tree.ids)

        return _freeze(data, rows, schema, converted, self._construct(rows, data.family))


class PaperReticulumRegressor(Regressor, PaperReticulum):
    """The construction of the published Adaptive Bayesian Reticulum for numbers, for comparison.

    The paper says that its construction serves regression as well as classification, and prints the latter. This is
    the same construction with the leaves of ``ReticulumRegressor(leaf="linear")``: a tree of soft, slanted splits that
    climbs the lower bound c by Adam, from random splits that have no prior. `ReticulumRegressor` needs no settings;
    prefer it unless the published method itself is of interest.

    Parameters
    ----------
    prior : float or "auto", default=1.0
        How strongly a leaf is believed to have the mean of all targets: as a multiple of the prior that
        `ReticulumRegressor` starts with, which is worth a tenth of a row. "auto" is 1. Unlike there, the evidence
        chooses no other prior.
    max_attempts : int, default=20
        How often a leaf is extended. There is no other end but leaves that may not be extended.
    max_depth : int or None, default=None
        Largest number of splits on the way to a leaf: a reticulum of four levels has a depth of 3.
    learning_rate : float, default=0.1
        Size of Adam's first steps, for standardised columns.
    n_gradient_steps : int, default=100
        Steps of Adam in each attempt: half of them with the new split alone, half with all splits.
    initial_stiffness : float, default=2.0
        Length of the slopes of a new split, for columns divided by their inter-quartile range.
    pruning_factor : float, default=1.05
        A split must raise the bound by the logarithm of this factor, once for the root and once more for each
        level below. From 1 to 1.2.
    parametrization : {"cartesian", "polar"}, default="cartesian"
        Whether Adam moves weights, or stiffness, offset and angles.
    random_state : int, RandomState instance or None, default=None
        Chance chooses the leaves to extend and the initial splits.
    verbose : int, default=0
        1 prints a line for each attempt.

    Attributes
    ----------
    n_features_in_ : int
        Number of features seen during fit.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features; only if all column names of X were strings.
    n_splits_, n_leaves_, depth_ : int
        Size of the tree.
    log_evidence_ : float
        The bound c of the paper. It asks no price for hyperplanes: not comparable with that of `ReticulumRegressor`.
    stopping_reason_ : {"max_attempts", "max_depth", "no_gain"}
        Why construction stopped.
    feature_importances_ : ndarray of shape (n_features_in_,)
        Share of each feature in the evidence that splits gain, and slopes of leaves over constant ones.
    model_ : Reticulum
        The fitted tree: immutable, without training rows. ``print(model_)`` shows it. Its splits have no price, and
        a log Bayes factor is the bound that the tree loses if the split and all below become one leaf.
    history_ : History
        Each split as proposed, after its own and after the common training, and what was pruned.

    References
    ----------
    G. Nuti, L. A. Jiménez Rugama, K. Thommen, "Adaptive Bayesian Reticulum", 2019.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesian_reticulum import PaperReticulumRegressor
    >>> X = np.linspace(-2, 2, 200)[:, None]
    >>> y = np.sign(X[:, 0]) + 0.1 * np.random.default_rng(0).standard_normal(200)
    >>> reg = PaperReticulumRegressor(max_attempts=5, random_state=0).fit(X, y)
    >>> reg.predict([[-1.0], [1.0]]).round()
    array([-1.,  1.])
    """

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if isinstance(self.prior, str) and self.prior == "auto":
            return
        meaning = f'"auto" or a positive number of at most {LARGEST_TOTAL_WEIGHT:.0e}'
        check_number("prior", self.prior, lambda value: 0 < value <= LARGEST_TOTAL_WEIGHT, meaning)

    def _grow(self, data: TrainingData) -> tuple[Reticulum, History]:
        data = _in_canonical_order(data)
        # The prior of slopes is one for standardised columns: unlike the classifier, this works in their units.
        schema = Schema.from_columns(data.X, data.weights, data.encoder.names, LINEAR_MARGIN)
        table = RowData.of(data.X, data.targets, data.weights, schema)
        normal = cast("NormalLinear", linear_family(ArrayRows.of_data(table, data.family), data.family, False))
        strength = 1.0 if isinstance(self.prior, str) else float(self.prior)
        family = replace(normal, is_tuned=False, offset_precision=strength * normal.offset_precision)
        rows = ArrayRows.of_data(table, family)
        return _freeze(data, rows, schema, lambda tree: tree, self._construct(rows, family))


def _freeze(
    data: TrainingData, rows: LocalRows, schema: Schema, converted: Callable[[Tree], Tree], run: Run
) -> tuple[Reticulum, History]:
    """The model and history of a construction, whose trees are converted to the units of a schema."""
    state = run.state
    family = state.family
    tree, old_leaf = with_canonical_signs(converted(state.tree))
    events = [replace(event, tree=converted(event.tree)) for event in run.events]
    events.append(GrowthEvent(events[-1].attempt, "polished", None, tree, state.log_evidence))
    grey_shares = rows.reduce(GreyShares(state.tree.hyperplanes, state.tree.shape, *GREY_ZONE)).shares
    factors = bound_losses(family, state.tree, state.statistics)
    fitted = replace(state, tree=tree, statistics=state.statistics[old_leaf])
    model = make_model(data, family, schema, fitted, factors, grey_shares)
    return model, History(tuple(events), run.reason)


def _check_raw_cells(data: TrainingData) -> None:
    largest = np.abs(data.X).max(axis=0, initial=0.0).astype(np.float64)
    column = int(largest.argmax())
    if largest[column] > _LARGEST_RAW_CELL:
        raise ValueError(
            f"PaperReticulumClassifier works in the units of the table, and column {data.encoder.names[column]} has "
            f"cells of size {largest[column]:.3g}, beyond {_LARGEST_RAW_CELL:.0e}. Scale it, or use "
            "ReticulumClassifier."
        )


def _in_canonical_order(data: TrainingData) -> TrainingData:
    """The same data with its rows sorted and repeats made one row of their summed weight.

    Adam magnifies the last bit of a gradient, so that the order of rows, or whether a row is given twice or with
    twice the weight, must not show in even that.
    """
    by_target = data.targets.reshape(len(data.weights), -1)
    order = np.lexsort([data.weights, *by_target.T, *np.asarray(data.X).T[::-1]])
    X, targets, weights = data.X[order], data.targets[order], data.weights[order]
    is_new = np.ones(len(order), dtype=bool)
    is_new[1:] = (X[1:] != X[:-1]).any(axis=1) | (by_target[order[1:]] != by_target[order[:-1]]).any(axis=1)
    first = np.flatnonzero(is_new)
    weights = np.add.reduceat(weights, first)
    return data._replace(
        X=X[first], targets=targets[first], weights=weights, used=rows_of_table(data.used, order[first])
    )
