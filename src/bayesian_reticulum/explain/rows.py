"""Why a row is predicted as it is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..arrays import Floats
from ..data import chosen_columns, column_types
from ..gates import compute_gates, gap_softening
from ..model import Reticulum, fitted_model
from .base import Card, by_target, join_predictions
from .flips import Flip, Wish, checked_target, find_flip

# Terms of an activation that are named where it is told in words.
_NAMED = 4


@dataclass(frozen=True)
class Decision(Card):
    """What one split makes of one row.

    Attributes
    ----------
    split : int
    reach : float
        Probability that the row comes to the split.
    probability_left : float
        Its gate, averaged over what is missing.
    activation : float
        The sum of `baseline` and all contributions.
    softening : float
        Factor of the activation, below 1 where features are missing: the gate is sigmoid(softening * activation).
    baseline : float
        Activation of the average row.
    contributions : dict of str to float
        What each feature adds to it; a category with all its columns, a missing feature at its mean given the others.
    """

    split: int
    reach: float
    probability_left: float
    activation: float
    softening: float
    baseline: float
    contributions: dict[str, float]

    def __str__(self) -> str:
        ranked = sorted(self.contributions.items(), key=lambda own: -abs(own[1]))
        terms = [f"{'-' if added < 0 else '+'} {abs(added):.2f} {name}" for name, added in ranked if added][:_NAMED]
        rest = sum(added for _, added in ranked[_NAMED:])
        if any(added for _, added in ranked[_NAMED:]):
            terms.append(f"{'-' if rest < 0 else '+'} {abs(rest):.2f} others")
        lead = f"split {self.split}, reached with {self.reach:.1%}: left with {self.probability_left:.1%}"
        soft = "" if self.softening == 1 else f", softened by {self.softening:.2f}"
        return f"{lead}, activation {self.activation:.2f} = {self.baseline:.2f} {' '.join(terms)}".rstrip() + soft


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
        One for each split, those that matter most for this row first: by how far the prediction would move, times its
        reach, if the row went left for certain instead of right.
    uncertainty : dict of str to float
        Total, aleatoric, leaf and routing uncertainty.
    flip : Flip or None
        A change after which something else is predicted; None if none was found, or asked for.
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
    """Why each row of a table is predicted as it is, and what would have to be different for another prediction.

    Parameters
    ----------
    estimator : fitted estimator
    X : array-like or data frame of shape (n_samples, n_features)
        A table like that of `fit`.
    flips : bool, default=True
        Whether flips are looked for, which takes most of the time.
    fixed_features : array-like, optional
        Features that cannot change, by a mask, by name or by place.
    to : class or float, optional
        What should be predicted after a flip. For classes it is by default any other one; for numbers the mean has to
        come to the other side of it, and without it no flip is looked for.

    Notes
    -----
    Flips are found by search: there may be smaller ones. One feature alone is changed if that suffices, otherwise up to
    twelve. Numbers stay within the tails of the training rows, or just beyond by rounding; those of columns of whole
    numbers stay whole, and levels change to ones that are not rare. What is missing or was not seen in fit does not
    change. Each flip is verified: the model predicts something else for the changed row. It says what the model makes
    of such a row, not what would happen to someone who changes.

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
    cells = model.encode(X)
    tree, schema = model.tree, model.schema
    gaps, hyperplanes = schema.gaps(cells), tree.hyperplanes[None]
    design, left_open = schema.filled(cells, gaps)
    soft = gap_softening(gaps, hyperplanes, left_open)
    found = compute_gates(hyperplanes, tree.shape, design, soft)
    membership = np.exp(found.log_membership[0])
    reach = (tree.shape.sides != 0).astype(np.float64) @ membership
    means = model.family.predictive_mean(model.statistics, membership, design)
    parts = model.predict_uncertainty(cells)
    is_free = ~np.array(chosen_columns("fixed_features", fixed_features, schema.n_features, schema.names), dtype=bool)
    target = checked_target(estimator, to)
    types = column_types(X, schema.names)
    is_whole, is_single = (np.array([own == kind for own in types]) for kind in ("whole", "single"))
    out = []
    for row in range(len(cells)):
        decisions = []
        for split, hyperplane in enumerate(tree.hyperplanes):
            added = schema.by_feature(hyperplane[1:] * design[1:, row])
            factor = 1.0 if soft is None else float(soft[0, split, row])
            decisions.append(
                Decision(
                    split,
                    float(reach[split, row]),
                    float(found.gate[0, split, row]),
                    float(found.activation[0, split, row]) / factor,
                    factor,
                    float(hyperplane[0]),
                    dict(zip(schema.names, added.tolist(), strict=True)),
                )
            )
        moves = _moves(model, membership[:, row], design[:, row : row + 1])
        order = np.argsort(-np.round(reach[:, row] * moves, 12), kind="stable")
        uncertainty = {name: float(getattr(parts, name)[row]) for name in ("total", "aleatoric", "leaf", "routing")}
        wish = Wish(means[row], uncertainty["total"], target, is_free, is_whole, is_single)
        out.append(
            RowExplanation(
                by_target(model, means[row]),
                tuple(membership[:, row].tolist()),
                tuple(decisions[split] for split in order),
                uncertainty,
                find_flip(model, np.asarray(cells[row], dtype=np.float64), wish) if flips else None,
            )
        )
    return tuple(out)


def _moves(model: Reticulum, membership: Floats, design: Floats) -> Floats:
    """How far a prediction differs between the two sides of each split, (m,), mixed by memberships (leaves,) there."""
    sides = model.tree.shape.sides
    out = np.zeros(model.tree.n_splits)
    for split, own in enumerate(sides):
        ends = []
        for side in (1, -1):
            below = np.where(own == side, membership, 0.0)
            total = below.sum()
            below = below / total if total > 0 else (own == side) / max((own == side).sum(), 1)
            ends.append(np.atleast_1d(model.family.predictive_mean(model.statistics, below[:, None], design)[0]))
        out[split] = np.abs(ends[0] - ends[1]).max()
    return out
