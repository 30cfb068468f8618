"""Optional members of a family, and what stands in for them in a family without.

Plots, cards and printed trees ask these functions instead of asking which class a family is.
"""

from __future__ import annotations

from typing import Any, cast

import numpy as np

from ..arrays import Floats
from .protocol import Family

_ONE_ROW = np.ones((1, 1))


def is_categorical(family: Family) -> bool:
    """True if targets are classes: the member `is_categorical`; a family without it has numbers as targets."""
    return bool(getattr(family, "is_categorical", False))


def class_probabilities(family: Family, statistics: Floats) -> Floats:
    """Posterior mean of the probability of each class in a leaf (k,) of a categorical family, shape (classes,)."""
    return np.asarray(family.predictive_mean(statistics[None], _ONE_ROW, _ONE_ROW)[0])


def leaf_interval(family: Family, statistics: Floats, level: float) -> tuple[Floats, Floats, Floats]:
    """Posterior mean and central credible interval of the class probabilities, or of the mean, of a leaf (k,).

    Each is an array with one number for each class, or one for the mean of the target at the centre of the leaf's
    rows. The limits are NaN for a family without the member `interval`.
    """
    interval = getattr(family, "interval", None)
    if interval is not None:
        return cast("tuple[Floats, Floats, Floats]", interval(statistics, level))
    coefficients = leaf_coefficients(family, statistics)
    design = leaf_middle(family, statistics, 0 if coefficients is None else len(coefficients) - 1)
    mean = np.ravel(family.predictive_mean(statistics[None], _ONE_ROW, design))
    unknown = np.full(mean.shape, np.nan)
    return mean, unknown, unknown


def leaf_coefficients(family: Family, statistics: Floats) -> Floats | None:
    """Offset and slopes (D + 1,), for standardised columns, of a linear leaf (k,); None for constant leaves.

    A linear family without the member `coefficients` is asked for a description: it hands them to the writer of
    linear functions.
    """
    if not family.uses_design:
        return None
    coefficients = getattr(family, "coefficients", None)
    if coefficients is not None:
        return np.asarray(coefficients(statistics))
    described: list[Any] = []

    def keep(linear: Floats) -> str:
        described.append(linear)
        return ""

    family.describe(statistics, ("y",), keep)
    return np.asarray(described[0]) if described else None


def leaf_middle(family: Family, statistics: Floats, n_features: int) -> Floats:
    """Design (D + 1, 1) of the centre of the rows of a leaf (k,).

    It is the mean of all rows for constant leaves, and for a linear family without the member `middle`.
    """
    middle = getattr(family, "middle", None)
    if family.uses_design and middle is not None:
        return np.asarray(middle(statistics))
    return np.append(1.0, np.zeros(n_features))[:, None]
