"""The variational bound F of the log marginal likelihood.

    F(r, w)       = sum_leaves log Z(S(r)) - sum_rows KL(r || membership(w))
    log evidence  = F - 1/2 sum_splits w' P w - sum_splits price

with hyperplanes w, responsibilities r, and leaf statistics S(r), the sums of row statistics by responsibility; log Z is
the log evidence of a leaf, and `prices` has the last two sums. With r = membership, F is the paper's bound c.

Responsibilities are never stored: they follow from hyperplanes and leaf statistics, r being proportional to membership
times exp(E_q[log p(y | leaf)]) with q the posterior of a leaf that holds S. As a function of those two the bound is

    J(w, S) = sum_rows log sum_leaves membership * exp(E_q[log p(y | leaf)]) - sum_leaves KL(q(S) || prior)

Its maximum over S is the maximum of F over r, where both agree.
"""

from __future__ import annotations

import numpy as np

from ..arrays import Floats
from ..compiled import log_evidence
from ..families import Family
from ..rows import PassSums


def bound(family: Family, statistics: Floats, expected: Floats, at: PassSums) -> Floats:
    """Return J(w, S) of each tree of a stack, (c,), from the pass made at w and S = `statistics` (c, leaves, k).

    `expected` are the `expected_parameters` of the family at S, which the pass was made with.
    """
    divergence = (expected * statistics).sum(axis=-1) - log_evidence(family, statistics)
    return np.asarray(at.log_normalizer - divergence.sum(axis=-1))


def free_energy(family: Family, expected: Floats, at: PassSums) -> Floats:
    """Return F(r, w) of each tree of a stack, (c,), with r the responsibilities of a pass made with `expected`."""
    divergence = (expected * at.statistics).sum(axis=(-1, -2)) - at.log_normalizer
    return np.asarray(family.log_evidence(at.statistics).sum(axis=-1) - divergence)
