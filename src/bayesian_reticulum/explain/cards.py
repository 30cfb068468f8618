"""Cards of splits and leaves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..arrays import Floats, frozen, refreeze
from ..families import leaf_interval
from ..model import TRANSITION, Reticulum, fitted_model, linear_terms
from .base import Card

# The split above a node, and the side on which the node lies; None for the root.
Position = tuple[int | None, str | None]


def _position(parent: int | None, side: str | None) -> str:
    return "" if parent is None else f", {side} of split {parent}"


@dataclass(frozen=True)
class Contribution(Card):
    """One column's part in the activation of a split.

    Attributes
    ----------
    name : str
        The feature, "feature=level" or "feature is missing".
    slope : float
        Rise of the activation with one unit of the column, in the units of the table.
    share : float
        Size of its standardised slope, as a share of those of all columns.
    """

    name: str
    slope: float
    share: float


@dataclass(frozen=True, eq=False)
class NodeCard(Card):
    """A split in polar form, in the units of the table.

    A row x, its cells moved to within the limits of the schema, goes left with probability
    sigmoid(stiffness * (cos(angles) · x - offset)).

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
        All columns, largest share first.
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
        used = [(column.name, column.slope, column.share) for column in self.contributions if column.share > 0]
        width = max((len(name) for name, _, _ in used), default=0)
        return "\n".join(
            [
                f"split {self.split}{_position(self.parent, self.side)}",
                f"  10-90% over {self.standardised_width:.2g} sd, {self.grey_share:.0%} of its rows between",
                f"  log Bayes factor {self.log_bayes_factor:.1f}, its price of {self.price:.1f} paid",
                *(f"  {name:<{width}}  slope {slope:10.4g}  share {share:4.0%}" for name, slope, share in used),
            ]
        )


@dataclass(frozen=True, eq=False)
class LeafCard(Card):
    """A leaf: how many rows it has, and what it predicts.

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
        Central credible interval of each of these; NaN if the family has no intervals.
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
        width = max(map(len, self.names))
        position = _position(self.parent, self.side)
        return "\n".join(
            [
                f"leaf {self.leaf}{position}: n = {self.count:.1f}, {self.share:.0%} of all rows",
                *(
                    f"  {name:<{width}}  {mean:.4g}  ({self.level:.0%} sure: {low:.4g} to {high:.4g})"
                    for name, mean, low, high in zip(self.names, self.mean, self.low, self.high, strict=True)
                ),
            ]
        )


def node_cards(estimator: Any) -> tuple[NodeCard, ...]:
    """Make a card for each split of a fitted estimator.

    Parameters
    ----------
    estimator : fitted estimator

    Returns
    -------
    tuple of NodeCard

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
    positions, _ = _positions(model)
    return tuple(_node_card(model, split, position) for split, position in enumerate(positions))


def _node_card(model: Reticulum, split: int, position: Position) -> NodeCard:
    offset, slopes = model.hyperplanes[split, 0], model.hyperplanes[split, 1:]
    stiffness = float(np.linalg.norm(slopes))
    direction = slopes / stiffness if stiffness > 0 else np.zeros(len(slopes))
    terms = linear_terms(model.schema, model.tree.hyperplanes[split])
    return NodeCard(
        split,
        *position,
        stiffness,
        float(-offset / stiffness) if stiffness > 0 else 0.0,
        np.arccos(np.clip(direction, -1, 1)),
        float(TRANSITION / stiffness) if stiffness > 0 else float("inf"),
        float(model.transition_widths[split]),
        tuple(Contribution(term.name, term.slope, term.share) for term in terms),
        float(model.grey_shares[split]),
        float(model.log_bayes_factors[split]),
        float(model.prices[split]),
    )


def leaf_cards(estimator: Any, level: float = 0.9) -> tuple[LeafCard, ...]:
    """Make a card for each leaf of a fitted estimator, with credible intervals of a level.

    Parameters
    ----------
    estimator : fitted estimator
    level : float, default=0.9
        Probability of each interval, between 0 and 1.

    Returns
    -------
    tuple of LeafCard

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
    for leaf, position in enumerate(_positions(model)[1]):
        mean, low, high = leaf_interval(model.family, model.statistics[leaf], level)
        count = float(counts[leaf])
        cards.append(LeafCard(leaf, *position, count, count / total, model.targets, mean, low, high, float(level)))
    return tuple(cards)


def _positions(model: Reticulum) -> tuple[list[Position], list[Position]]:
    """Position of each split, and of each leaf."""
    root: Position = (None, None)
    splits, leaves = [root] * model.tree.n_splits, [root] * model.tree.n_leaves
    for parent, pair in enumerate(model.tree.children.tolist()):
        for child, side in zip(pair, ("left", "right"), strict=True):
            (splits if child >= 0 else leaves)[child if child >= 0 else ~child] = parent, side
    return splits, leaves
