"""What a tree is worth: the variational bound F, the prices of its hyperplanes, and the ascent that fits it.

    F(r, w)       = sum_leaves log Z(S(r)) - sum_rows KL(r || membership(w))
    log evidence  = F - 1/2 sum_splits w' P w - sum_splits price

With r = membership, F is the paper's bound c. The responsibilities r are never stored: they follow from the
hyperplanes and leaf statistics S. As a function of those two the bound is

    J(w, S) = sum_rows log sum_leaves membership * exp(E_q[log p(y | leaf)]) - sum_leaves KL(q(S) || prior)

with q(S) the leaf posterior that S implies. Its maximum over S is the maximum of F over r, where both agree.
"""

from __future__ import annotations

import numpy as np

from ..arrays import Floats
from ..families import Family
from ..rows import Pass


def bound(family: Family, statistics: Floats, at: Pass) -> Floats:
    """J(w, S) of each tree of a stack, from the pass made at w and S = `statistics`."""
    divergence = (at.expected * statistics).sum(axis=-1) - family.log_evidence(statistics)
    return np.asarray(at.log_normalizer - divergence.sum(axis=-1))


def free_energy(family: Family, statistics: Floats, at: Pass) -> Floats:
    """F(r, w) of each tree of a stack, with r the responsibilities of the pass made at w and S = `statistics`."""
    divergence = (at.expected * at.statistics).sum(axis=(-1, -2)) - at.log_normalizer
    return np.asarray(family.log_evidence(at.statistics).sum(axis=-1) - divergence)
