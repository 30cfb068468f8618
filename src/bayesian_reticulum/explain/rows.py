"""Why a row is predicted as it is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ..arrays import Floats
from ..data import chosen_columns, column_types
from ..estimators import encode_like_fit
from ..gates import Gates, compute_gates, gap_softening
from ..model import Reticulum, fitted_model
from .base import Card, by_target, join_predictions
from .flips import Alterable, Flip, Prediction, checked_target, find_flip

# Terms of an activation that are printed one by one.
_NAMED = 4


@dataclass(frozen=True)
class Decision(Card):
    """How one split decides for one row.

    Attributes
    ----------
    split : int
    reach : float
        Probability that the row comes to the split.
    probability_left : float
        Its gate, softened by what missing cells leave open.
    activation : float
        The sum of `baseline` and all contributions.
    softening : float
        Factor of the activation, below 1 where features are missing: the gate is sigmoid(softening * activation).
    baseline : float
        Activation of the average row.
    contributions : dict of str to float
        Part of each feature in the activation: of a category the sum over its columns, of a missing feature that of
        its mean given the others.
    """

    split: int
    reach: float
    probability_left: float
    activation: float
    softening: float
    baseline: float
    contributions: dict[str, float]

    def __str__(self) -> str:
        ranked = sorted(self.contributions.items(), key=lambda item: -abs(item[1]))
        parts = [_signed(part, name) for name, part in ranked if part][:_NAMED]
        others = [part for _, part in ranked[_NAMED:]]
        if any(others):
            parts.append(_signed(sum(others), "others"))
        lead = f"split {self.split}, reached with {self.reach:.1%}: left with {self.probability_left:.1%}"
        softened = "" if self.softening == 1 else f", softened by {self.softening:.2f}"
        formula = f"activation {self.activation:.2f} = {self.baseline:.2f} {' '.join(parts)}"
        return f"{lead}, {formula}".rstrip() + softened


def _signed(part: float, name: str) -> str:
    return f"{'-' if part < 0 else '+'} {abs(part):.2f} {name}"


@dataclass(frozen=True)
class RowExplanation(Card):
    """Why a row is predicted as it is.

    Attributes
    ----------
    prediction : dict of str to float
        Probability of each class, or the mean of the target.
    leaves : tuple of float
        Probability of the row to belong to each leaf, from left to right.
    decisions : tuple of Decision
        One for each split, the most influential for this row first. The influence of a split is its reach times the
        difference between the predictions for a row that goes left and for one that goes right.
    uncertainty : dict of str to float
        Total, aleatoric, leaf and routing uncertainty.
    flip : Flip or None
        A small change of the row after which the model predicts something else; None if none was found or none was
        searched for.
    """

    prediction: dict[str, float]
    leaves: tuple[float, ...]
    decisions: tuple[Decision, ...]
    uncertainty: dict[str, float]
    flip: Flip | None

    def __str__(self) -> str:
        parts = ", ".join(f"{name} {self.uncertainty[name]:.3g}" for name in ("aleatoric", "leaf", "routing"))
        return "\n".join(
            [
                f"prediction: {join_predictions(self.prediction)}",
                *(f"  {decision}" for decision in self.decisions),
                f"uncertainty: {self.uncertainty['total']:.3g} = {parts}",
                f"flip: {self.flip or 'none was found'}",
            ]
        )


def explain_rows(
    estimator: Any, X: Any, *, flips: bool = True, fixed_features: Any = None, to: Any = None
) -> tuple[RowExplanation, ...]:
    """Explain the prediction of each row of a table, and find a small change of the row with another prediction.

    Parameters
    ----------
    estimator : fitted estimator
    X : array-like or data frame of shape (n_samples, n_features)
        A table like that of `fit`.
    flips : bool, default=True
        Whether to search for flips, which takes most of the time.
    fixed_features : array-like, optional
        Features that cannot change, by a mask, by name or by place.
    to : class or float, optional
        The prediction that a flip should reach. For classes it is by default any other one; for numbers the mean has to
        cross it, and without it there is no search for flips.

    Returns
    -------
    tuple of RowExplanation
        One for each row.

    Notes
    -----
    Flips are found by search: there may be smaller ones. One feature alone is changed if that suffices, otherwise up to
    twelve. Numbers stay within the tails of the training rows, or just beyond by rounding; those of columns of whole
    numbers stay whole, and levels change to ones that are not rare. Cells that are missing, or hold a level that fit
    did not see, do not change. Each flip is verified: the model predicts something else for the changed row. A flip
    tells what the model predicts for such a row, not what would happen to someone who changes.

    Examples
    --------
    >>> from bayesian_reticulum import ReticulumClassifier
    >>> from bayesian_reticulum.datasets import make_cross
    >>> from bayesian_reticulum.explain import explain_rows
    >>> X, y, _ = make_cross(400, random_state=0)
    >>> why = explain_rows(ReticulumClassifier(random_state=0).fit(X, y), [[1.0, -1.0]])[0]
    >>> decision = why.decisions[0]
    >>> bool(abs(decision.baseline + sum(decision.contributions.values()) - decision.activation) < 1e-9)
    True
    >>> len(why.flip.changes)
    1
    """
    model = fitted_model(estimator)
    cells = encode_like_fit(estimator, X)
    routed = _route(model, cells)
    means = model.family.predictive_mean(model.statistics, routed.membership, routed.design)
    uncertainty = model.predict_uncertainty(cells)
    alterable = _alterable(model, X, fixed_features)
    target = checked_target(estimator, to)
    explanations = []
    for row in range(len(cells)):
        parts = {name: float(getattr(uncertainty, name)[row]) for name in ("total", "aleatoric", "leaf", "routing")}
        flip = None
        if flips:
            prediction = Prediction(np.asarray(cells[row], dtype=np.float64), means[row], parts["total"])
            flip = find_flip(model, prediction, target, alterable)
        explanations.append(
            RowExplanation(
                by_target(model, means[row]),
                tuple(routed.membership[:, row].tolist()),
                tuple(_decision(model, routed, split, row) for split in _by_influence(model, routed, row)),
                parts,
                flip,
            )
        )
    return tuple(explanations)


class _Routed(NamedTuple):
    """Rows of a table on their way through a tree.

    The design is (D + 1, n), softening (1, m, n) or None without gaps, gates as `compute_gates` makes them, memberships
    (leaves, n), and reach (m, n) the probability of each row to come to each split.
    """

    design: Floats
    softening: Floats | None
    gates: Gates
    membership: Floats
    reach: Floats


def _route(model: Reticulum, cells: Any) -> _Routed:
    tree, schema = model.tree, model.schema
    gaps, hyperplanes = schema.gaps(cells), tree.hyperplanes[None]
    design, left_open = schema.filled(cells, gaps)
    softening = gap_softening(gaps, hyperplanes, left_open)
    gates = compute_gates(hyperplanes, tree.shape, design, softening)
    membership = np.exp(gates.log_membership[0])
    reach = (tree.shape.sides != 0).astype(np.float64) @ membership
    return _Routed(design, softening, gates, membership, reach)


def _alterable(model: Reticulum, X: Any, fixed_features: Any) -> Alterable:
    """Read off a table, and off the features that the user fixes, how each feature may change."""
    schema = model.schema
    is_fixed = chosen_columns("fixed_features", fixed_features, schema.n_features, schema.names)
    types = column_types(X, schema.names)
    is_whole, is_single = (np.array([kind == wanted for kind in types]) for wanted in ("whole", "single"))
    return Alterable(~np.array(is_fixed, dtype=bool), is_whole, is_single)


def _decision(model: Reticulum, routed: _Routed, split: int, row: int) -> Decision:
    schema, hyperplane = model.schema, model.tree.hyperplanes[split]
    parts = schema.by_feature(hyperplane[1:] * routed.design[1:, row])
    softening = 1.0 if routed.softening is None else float(routed.softening[0, split, row])
    return Decision(
        split,
        float(routed.reach[split, row]),
        float(routed.gates.gate[0, split, row]),
        float(routed.gates.activation[0, split, row]) / softening,
        softening,
        float(hyperplane[0]),
        dict(zip(schema.names, parts.tolist(), strict=True)),
    )


def _by_influence(model: Reticulum, routed: _Routed, row: int) -> list[int]:
    """Splits in the order of their influence on the prediction of a row; equal ones in their order in the tree."""
    differences = _side_differences(model, routed.membership[:, row], routed.design[:, row : row + 1])
    # Rounded, so that equal influences stay equal on every machine.
    influence = np.round(routed.reach[:, row] * differences, 12)
    order: list[int] = np.argsort(-influence, kind="stable").tolist()
    return order


def _side_differences(model: Reticulum, membership: Floats, design: Floats) -> Floats:
    """Difference between the predictions on the two sides of each split, (m,), for a row of memberships (leaves,)."""
    sides = model.tree.shape.sides
    differences = np.zeros(model.tree.n_splits)
    for split, leaf_sides in enumerate(sides):
        predictions = []
        for side in (1, -1):
            below = np.where(leaf_sides == side, membership, 0.0)
            total = below.sum()
            # Leaves that a row cannot reach count alike.
            below = below / total if total > 0 else (leaf_sides == side) / max((leaf_sides == side).sum(), 1)
            mean = model.family.predictive_mean(model.statistics, below[:, None], design)[0]
            predictions.append(np.atleast_1d(mean))
        differences[split] = np.abs(predictions[0] - predictions[1]).max()
    return differences
