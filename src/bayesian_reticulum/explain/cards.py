"""Cards of splits and leaves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..arrays import Floats, frozen, refreeze
from ..families import DirichletCategorical, NormalLinear
from ..model import TRANSITION, Reticulum, fitted_model
from .base import Card


def _place(parent: int | None, side: str | None) -> str:
    return "" if parent is None else f", {side} of split {parent}"


@dataclass(frozen=True)
class Contribution(Card):
    """What one column adds to the activation of a split.

    Attributes
    ----------
    name : str
        The feature, "feature=level" or "feature is missing".
    slope : float
        By how much the activation rises with one unit of the column, in the units of the table.
    share : float
        Size of its standardised slope, as a share of those of all columns.
    """

    name: str
    slope: float
    share: float


@dataclass(frozen=True, eq=False)
class NodeCard(Card):
    """A split in polar form, in the units of the table.

    A row x goes left with probability sigmoid(stiffness * (cos(angles) · x - offset)), its cells read within the limits
    of the schema.

    Attributes
    ----------
    split : int
        Its place in the tree.
    parent : int or None
        The split above; None for the root.
    side : {"left", "right"} or None
        On which side of the parent it lies.
    stiffness : float
        Length of the slopes: how hard the split is.
    offset : float
        Distance of the hyperplane from the origin along its normal.
    angles : ndarray of shape (D,)
        Angle of the normal to the axis of each column, in radians.
    transition_width : float
        Distance along the normal over which the gate goes from 10% to 90%, in the units of the table.
    standardised_width : float
        The same in standard deviations.
    contributions : tuple of Contribution
        All columns, those that count most first.
    grey_share : float
        Share of the rows at the split whose gate is between 0.1 and 0.9.
    log_bayes_factor : float
        Log evidence that the tree would lose without the split.
    price : float
        Log evidence that its hyperplane costs.
    """

    split: int
    parent: int | None
    side: str | None
    stiffness: float
    offset: float
    angles: Floats
    transition_width: float
    standardised_width: float
    contributions: tuple[Contribution, ...]
    grey_share: float
    log_bayes_factor: float
    price: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "angles", frozen(self.angles))

    __setstate__ = refreeze

    def __str__(self) -> str:
        there = [own for own in self.contributions if own.share > 0]
        wide = max((len(own.name) for own in there), default=0)
        return "\n".join(
            [
                f"split {self.split}{_place(self.parent, self.side)}",
                f"  10-90% over {self.standardised_width:.2g} sd, {self.grey_share:.0%} of its rows between",
                f"  log Bayes factor {self.log_bayes_factor:.1f}, its price of {self.price:.1f} paid",
                *(f"  {own.name:<{wide}}  slope {own.slope:10.4g}  share {own.share:4.0%}" for own in there),
            ]
        )


@dataclass(frozen=True, eq=False)
class LeafCard(Card):
    """What a leaf has learned.

    Attributes
    ----------
    leaf : int
        Its place, from left to right.
    parent : int or None
        The split above; None if the tree is one leaf.
    side : {"left", "right"} or None
    count : float
        Effective number of rows in it.
    share : float
        That number as a share of all rows.
    names : tuple of str
        Classes, or the name of the target.
    mean : ndarray of shape (len(names),)
        Posterior mean of the probability of each class, or of the mean of the target at the centre of the leaf's rows.
    low, high : ndarray of shape (len(names),)
        Credible interval of what `mean` is the mean of; NaN where the family does not tell.
    level : float
        Probability of each interval.
    """

    leaf: int
    parent: int | None
    side: str | None
    count: float
    share: float
    names: tuple[str, ...]
    mean: Floats
    low: Floats
    high: Floats
    level: float

    def __post_init__(self) -> None:
        for field in ("mean", "low", "high"):
            object.__setattr__(self, field, frozen(getattr(self, field)))

    __setstate__ = refreeze

    def __str__(self) -> str:
        wide = max(map(len, self.names))
        return "\n".join(
            [
                f"leaf {self.leaf}{_place(self.parent, self.side)}: n = {self.count:.1f}, {self.share:.0%} of all rows",
                *(
                    f"  {name:<{wide}}  {mean:.4g}  ({self.level:.0%} sure: {low:.4g} to {high:.4g})"
                    for name, mean, low, high in zip(self.names, self.mean, self.low, self.high, strict=True)
                ),
            ]
        )


def node_cards(estimator: Any) -> tuple[NodeCard, ...]:
    """A card for each split of a fitted estimator.

    Examples
    --------
    >>> from bayesian_reticulum import ReticulumClassifier
    >>> from bayesian_reticulum.datasets import make_cross
    >>> from bayesian_reticulum.explain import node_cards
    >>> X, y, _ = make_cross(400, random_state=0)
    >>> cards = node_cards(ReticulumClassifier(random_state=0).fit(X, y))
    >>> len(cards), cards[1].parent, cards[1].side
    (3, 0, 'right')
    """
    model = fitted_model(estimator)
    cards = []
    for split, (own, parent) in enumerate(zip(model.hyperplanes, _parents(model)[0], strict=True)):
        slopes = own[1:]
        stiffness = float(np.linalg.norm(slopes))
        direction = slopes / stiffness if stiffness > 0 else np.zeros(len(slopes))
        cards.append(
            NodeCard(
                split,
                *parent,
                stiffness,
                float(-own[0] / stiffness) if stiffness > 0 else 0.0,
                np.arccos(np.clip(direction, -1, 1)),
                float(TRANSITION / stiffness) if stiffness > 0 else float("inf"),
                float(model.transition_widths[split]),
                contributions(model, model.tree.hyperplanes[split]),
                float(model.grey_shares[split]),
                float(model.log_bayes_factors[split]),
                float(model.prices[split]),
            )
        )
    return tuple(cards)


def leaf_cards(estimator: Any, level: float = 0.9) -> tuple[LeafCard, ...]:
    """A card for each leaf of a fitted estimator, with credible intervals of a level.

    Examples
    --------
    >>> from bayesian_reticulum import ReticulumClassifier
    >>> from bayesian_reticulum.datasets import make_cross
    >>> from bayesian_reticulum.explain import leaf_cards
    >>> X, y, _ = make_cross(400, random_state=0)
    >>> cards = leaf_cards(ReticulumClassifier(random_state=0).fit(X, y))
    >>> round(sum(card.share for card in cards), 6), bool((cards[0].low < cards[0].mean).all())
    (1.0, True)
    """
    if not 0 < level < 1:
        raise ValueError(f"level must be a number between 0 and 1; got {level!r}.")
    model = fitted_model(estimator)
    counts = model.family.counts(model.statistics)
    total = max(float(counts.sum()), np.finfo(float).tiny)
    cards = []
    for leaf, parent in enumerate(_parents(model)[1]):
        mean, low, high = _leaf_interval(model, leaf, level)
        count = float(counts[leaf])
        cards.append(LeafCard(leaf, *parent, count, count / total, model.targets, mean, low, high, float(level)))
    return tuple(cards)


def contributions(model: Reticulum, coefficients: Floats) -> tuple[Contribution, ...]:
    """What each column adds to a function that is linear in standardised columns (D + 1,); the largest first."""
    slopes = model.schema.in_original_units(coefficients[None])[0, 1:]
    sizes = np.abs(coefficients[1:])
    shares = sizes / max(sizes.sum(), np.finfo(float).tiny)
    names = model.schema.column_names
    order = np.argsort(-shares, kind="stable")
    return tuple(Contribution(names[j], float(slopes[j]), float(shares[j])) for j in order)


def _parents(model: Reticulum) -> tuple[list[tuple[int | None, str | None]], ...]:
    """For each split, and for each leaf, the split above it and the side on which it lies."""
    nobody: tuple[int | None, str | None] = (None, None)
    splits, leaves = [nobody] * model.tree.n_splits, [nobody] * model.tree.n_leaves
    for parent, pair in enumerate(model.tree.children.tolist()):
        for child, side in zip(pair, ("left", "right"), strict=True):
            (splits if child >= 0 else leaves)[child if child >= 0 else ~child] = parent, side
    return splits, leaves


def _leaf_interval(model: Reticulum, leaf: int, level: float) -> tuple[Floats, Floats, Floats]:
    """Mean and credible interval of what a leaf says of its targets."""
    family, statistics = model.family, model.statistics[leaf]
    if isinstance(family, DirichletCategorical | NormalLinear):
        return family.interval(statistics, level)
    mean = np.atleast_1d(family.predictive_mean(statistics[None], np.ones((1, 1)), np.ones((1, 1))))
    unknown = np.full(mean.shape, np.nan)
    return mean, unknown, unknown
