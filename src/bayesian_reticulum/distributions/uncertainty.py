"""The uncertainty of a prediction by its sources: noise, few rows in leaves, and the way to the leaves."""

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
        Uncertainty of the predictive distribution; the sum of the other three.
    aleatoric : ndarray of shape (n,)
        Noise that would remain if the parameters of leaves, and the leaf of each row, were known.
    leaf : ndarray of shape (n,)
        Uncertainty of the parameters of leaves; it vanishes as they have more rows.
    routing : ndarray of shape (n,)
        Uncertainty of the leaf to which the row belongs, as far as leaves differ, and of its place in a linear leaf if
        features are missing.

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
        """From the three parts, with those of leaves and routing at least zero."""
        # As differences of entropies they can be negative by a rounding error.
        leaf, routing = np.maximum(leaf, 0.0), np.maximum(routing, 0.0)
        return cls(aleatoric + leaf + routing, aleatoric, leaf, routing)

    @classmethod
    def of_numbers(
        cls, membership: Floats, mean: Floats, noise: Floats, doubt: Floats, place: Floats | float = 0.0
    ) -> Self:
        """From leaves that predict numbers, mixed by membership.

        Parameters
        ----------
        membership : ndarray of shape (leaves, n)
        mean, noise, doubt : ndarray of shape (leaves, n) or (leaves, 1)
            For each leaf its predictive mean, the expectation of the variance of a target given the leaf's parameters,
            and the variance of the mean of a target over what the parameters may be.
        place : ndarray of shape (leaves, n) or (leaves, 1), optional
            For each leaf the variance of its mean over what the missing features of a row may be.
        """
        # Leaves that a row does not reach may have infinite moments.
        mean, noise, doubt = (np.where(membership > 0, part, 0.0) for part in (mean, noise, doubt))
        with np.errstate(invalid="ignore"):
            routing = (membership * (mean - (membership * mean).sum(axis=0)) ** 2).sum(axis=0)
        # The variance about a mean that is infinite or does not exist is infinite.
        routing = np.where(np.isnan(routing), np.inf, routing) + (membership * place).sum(axis=0)
        return cls.of_parts((membership * noise).sum(axis=0), (membership * doubt).sum(axis=0), routing)

    @classmethod
    def joined(cls, parts: Iterable[Uncertainty]) -> Self:
        """Put together the uncertainties of consecutive blocks of rows."""
        blocks = list(parts)
        return cls(*(np.concatenate([getattr(block, field.name) for block in blocks]) for field in fields(cls)))
