"""Checks of the parts of a model, and of parameters that are whole numbers."""

from __future__ import annotations

from numbers import Integral, Real
from typing import TYPE_CHECKING, Any

import numpy as np

from ..data import Schema
from ..families import class_probabilities, is_categorical

if TYPE_CHECKING:
    from .reticulum import Reticulum

_ONE_FOR_EACH_SPLIT = ("precisions", "log_bayes_factors", "prices", "grey_shares")


def check_model(model: Reticulum) -> None:
    """Raise ValueError if the parts of a model do not fit together, or no rows could have left such statistics."""
    tree, schema = model.tree, model.schema
    if tree.n_features != schema.n_columns:
        raise ValueError(
            f"the tree has slopes for {tree.n_features} columns, but the schema has {schema.n_columns}; "
            "give the schema that the tree was grown with."
        )
    for name in _ONE_FOR_EACH_SPLIT:
        shape = getattr(model, name).shape
        if shape != (tree.n_splits,):
            raise ValueError(f"{name} has shape {shape}; it needs ({tree.n_splits},), one number for each split.")
    if not isinstance(model.log_evidence, Real) or np.isnan(float(model.log_evidence)):
        raise ValueError(f"log_evidence must be a number; got {model.log_evidence!r}.")
    _check_numbers_of_splits(model)
    _check_schema(model.schema)
    _check_statistics(model)
    _check_targets(model)


def _check_numbers_of_splits(model: Reticulum) -> None:
    for name in ("precisions", "prices"):
        values = getattr(model, name)
        # The published method has neither priors nor prices: there they are 0.
        bad = np.flatnonzero(~((values >= 0) & (values < np.inf)))
        if len(bad):
            raise ValueError(f"{name}[{bad[0]}] is {values[bad[0]]}; give a finite number, not negative.")
    shares = model.grey_shares
    bad = np.flatnonzero(~((shares >= 0) & (shares <= 1 + 1e-9) | np.isnan(shares)))
    if len(bad):
        raise ValueError(f"grey_shares[{bad[0]}] is {shares[bad[0]]}; give a share from 0 to 1, or NaN.")


def _check_schema(schema: Schema) -> None:
    for name, good in (
        ("center", np.isfinite(schema.center)),
        ("scale", np.isfinite(schema.scale) & (schema.scale != 0)),
    ):
        bad = np.flatnonzero(~good)
        if len(bad):
            values = getattr(schema, name)
            raise ValueError(f"schema.{name}[{bad[0]}] is {values[bad[0]]}; units are finite, and no scale is 0.")
    if len(schema.source) and not 0 <= schema.source.min() <= schema.source.max() < len(schema.names):
        raise ValueError(
            f"schema.source names feature {schema.source.max()}, but the schema has {len(schema.names)} names."
        )


def _check_targets(model: Reticulum) -> None:
    targets = model.targets
    n_targets = len(class_probabilities(model.family, model.statistics[0])) if is_categorical(model.family) else 1
    if (
        not isinstance(targets, tuple)
        or len(targets) != n_targets
        or not all(isinstance(name, str) for name in targets)
    ):
        raise ValueError(
            f"targets are {targets!r}; give a tuple of {n_targets} names: of all classes, or of the number."
        )


def _check_statistics(model: Reticulum) -> None:
    statistics, family = model.statistics, model.family
    needed = model.tree.n_leaves, family.n_statistics
    if statistics.shape != needed:
        raise ValueError(
            f"statistics has shape {statistics.shape}; it needs {needed}: for each leaf of the tree the sum of "
            "family.row_statistics over its rows."
        )
    is_finite = np.isfinite(statistics)
    if not is_finite.all():
        leaf, place = np.argwhere(~is_finite)[0].tolist()
        raise ValueError(
            f"statistics must be finite; statistics[{leaf}, {place}] = {float(statistics[leaf, place])}. "
            "Targets and weights that are finite, and not too large to be squared, have finite statistics."
        )
    impossible = np.flatnonzero(~np.asarray(family.are_possible(statistics), dtype=bool))
    if len(impossible):
        leaf = int(impossible[0])
        raise ValueError(
            f"statistics[{leaf}] = {np.array2string(statistics[leaf], threshold=8)} cannot be a sum over rows: "
            f"{type(family).__name__}.are_possible refuses it. Give the sum of family.row_statistics over rows with "
            "positive weights."
        )


def check_whole_number(name: str, value: Any, minimum: int) -> None:
    """Raise ValueError if a parameter is no whole number, or below a minimum."""
    if not isinstance(value, Integral) or int(value) < minimum:
        raise ValueError(f"{name} must be a whole number of at least {minimum}; got {value!r}.")
