"""A stack: trees of one shape side by side. And the effort of an ascent: how far it goes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..arrays import Floats


@dataclass(frozen=True)
class Stack:
    """Trees of one shape after an ascent.

    Attributes
    ----------
    hyperplanes : ndarray of shape (c, m, d + 1)
    precisions : ndarray of shape (c, m)
    statistics : ndarray of shape (c, leaves, k)
    log_evidence : ndarray of shape (c,)
    prices : ndarray of shape (c, m)
    """

    hyperplanes: Floats
    precisions: Floats
    statistics: Floats
    log_evidence: Floats
    prices: Floats

    def __len__(self) -> int:
        return len(self.log_evidence)

    def take(self, trees: Any) -> Stack:
        """Return some trees of the stack, by index or mask."""
        return Stack(
            self.hyperplanes[trees],
            self.precisions[trees],
            self.statistics[trees],
            self.log_evidence[trees],
            self.prices[trees],
        )


@dataclass(frozen=True)
class Effort:
    """How far an ascent goes.

    Parameters
    ----------
    tolerance : float
        Nats: a tree has converged when its next step promises less.
    rounds : int
        How often precisions are updated after convergence.
    max_passes : int
        Passes over the rows, at most.
    least : float
        Log evidence: a tree is given up once its next steps do not promise to reach it.
    exact : bool
        True if information is summed over all rows, however many there are, and not over a sample of them: steps
        are as good with either, but prices of the sample are off by a percent.
    sparse : bool
        True if slopes that are zero at the start are no part of the model: they stay zero and cost nothing.
    """

    tolerance: float = 1e-4
    rounds: int = 6
    max_passes: int = 200
    least: float = -np.inf
    exact: bool = False
    sparse: bool = False
