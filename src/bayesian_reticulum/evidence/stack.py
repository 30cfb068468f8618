"""Trees of one shape that are fitted side by side, and how far an ascent goes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..arrays import Floats


@dataclass(frozen=True)
class Stack:
    """Fitted trees of one shape.

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
        """Some trees of the stack."""
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
        A tree has settled when the next step promises less than this many nats.
    rounds : int
        How often precisions are tuned after settling.
    max_passes : int
        Passes over the rows, at most.
    least : float
        A tree is given up once its log evidence is not even hoped to reach this.
    exact : bool
        Whether information is summed over all rows, however many there are, and not over a sample of them: steps
        are as good with either, but prices are off by a percent.
    sparse : bool
        Whether slopes that are zero at the start are no part of the model: they stay zero and cost nothing.
    """

    tolerance: float = 1e-4
    rounds: int = 6
    max_passes: int = 200
    least: float = -np.inf
    exact: bool = False
    sparse: bool = False
