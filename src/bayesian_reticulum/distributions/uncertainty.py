"""How uncertain a prediction is, taken apart by where the uncertainty comes from."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields
from typing import Self

import numpy as np

from ..arrays import Floats, frozen, refreeze


@dataclass(frozen=True, eq=False)
class Uncertainty:
    """Uncertainty of the target of each row: entropy in nats for classes, variance for numbers.

    Attributes
    ----------
    total : ndarray of shape (n,)
        That of the predictive distribution; the sum of the other three.
    aleatoric : ndarray of shape (n,)
        Noise that would remain if leaves and the way to them were known.
    leaf : ndarray of shape (n,)
        Because leaves have seen few rows; vanishes as they see more.
    routing : ndarray of shape (n,)
        Because it is not certain which leaf the row belongs to, and leaves disagree; or at what place in a linear leaf
        it lies, as some of its features are missing.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesian_reticulum import Uncertainty
    >>> parts = Uncertainty.of_parts(np.array([0.3]), np.array([0.1]), np.array([0.2]))
    >>> parts.total.round(3)
    array([0.6])
    """

    total: Floats
    aleatoric: Floats
    leaf: Floats
    routing: Floats

    def __post_init__(self) -> None:
        for field in fields(self):
            object.__setattr__(self, field.name, frozen(getattr(self, field.name)))

    __setstate__ = refreeze

    @classmethod
    def of_parts(cls, aleatoric: Floats, leaf: Floats, routing: Floats) -> Self:
        """From the three parts; those that come from too few rows and from the routing are never negative."""
        # As differences of entropies they can be negative by a rounding error.
        leaf, routing = np.maximum(leaf, 0.0), np.maximum(routing, 0.0)
        return cls(aleatoric + leaf + routing, aleatoric, leaf, routing)

    @classmethod
    def of_numbers(
        cls, membership: Floats, mean: Floats, noise: Floats, doubt: Floats, place: Floats | float = 0.0
    ) -> Self:
        """Of leaves, mixed by membership (leaves, n), that predict numbers.

        Parameters
        ----------
        membership : ndarray of shape (leaves, n)
        mean, noise, doubt : ndarray of shape (leaves, n) or (leaves, 1)
            For each leaf its predictive mean, the expectation of the variance of a target given the leaf's parameters,
            and the variance of the mean of a target over what the parameters may be.
        place : ndarray of shape (leaves, n) or (leaves, 1), optional
            For each leaf the variance of its mean over what the missing features of a row may be.
        """
        own, noise, doubt = (np.where(membership > 0, part, 0.0) for part in (mean, noise, doubt))
        with np.errstate(invalid="ignore"):
            routing = (membership * (own - (membership * own).sum(axis=0)) ** 2).sum(axis=0)
        # Without a finite mean there is no end to the spread.
        routing = np.where(np.isnan(routing), np.inf, routing) + (membership * place).sum(axis=0)
        return cls.of_parts((membership * noise).sum(axis=0), (membership * doubt).sum(axis=0), routing)

    @classmethod
    def joined(cls, parts: Iterable[Uncertainty]) -> Self:
        """That of all rows, from that of consecutive blocks."""
        blocks = list(parts)
        return cls(*(np.concatenate([getattr(block, field.name) for block in blocks]) for field in fields(cls)))
