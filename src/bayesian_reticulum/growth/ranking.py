"""Orders that do not depend on the last digits of sums."""

from __future__ import annotations

import numpy as np

from ..arrays import Floats, Integers

# Gains that are no farther apart than this, in nats, are equal: rounding must not choose.
TIE = 1e-6


def best_first(gains: Floats) -> Integers:
    """Places of the gains from the largest to the smallest.

    They are compared to a millionth of a nat; equal ones keep their order, so that rounding does not choose.
    """
    return np.argsort(-np.round(gains, 6), kind="stable")
