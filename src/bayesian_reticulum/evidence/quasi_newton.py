"""Quasi-Newton steps (L-BFGS), which know how the splits of a tree depend on each other, for a stack of trees."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from ..arrays import Floats, Integers

# The share, at least, of its products with the fall of the gradient that a move must not lose when they are added up,
# for the pair to be learned from: it is the same in any units.
_LEAST_FALL = 1e-10


class QuasiNewton:
    """Steps that know how the gradient changed along the last few (L-BFGS), for several problems side by side.

    Plain steps, which are gradients seen through a metric, converge slowly where the metric leaves out how unknowns
    depend on each other. Pairs of moves and falls of the gradient tell. The metric of the first unknowns is given each
    time and may change; that of the others is only seen in their plain steps.

    Parameters
    ----------
    n_problems, size : int
        Number of problems and of unknowns of each.
    n_seen : int
        How many of the unknowns, the last, have a metric that is only seen in plain steps.
    memory : int
        How many moves are known, at most.
    """

    def __init__(self, n_problems: int, size: int, n_seen: int, memory: int = 12) -> None:
        # The last moves come first; those that are zero tell nothing.
        self._moves, self._falls = np.zeros((2, memory, n_problems, size))
        self._shifts = np.zeros((memory, n_problems, n_seen))
        self._lead = size - n_seen

    def forget(self, problems: Integers) -> None:
        """Drop what was learned of these problems: it has misled."""
        for memory in (self._moves, self._falls, self._shifts):
            memory[:, problems] = 0.0

    def learn(self, problems: Integers, move: Floats, fall: Floats, shift: Floats) -> None:
        """Note moves (len(problems), size), and by how much gradient and plain steps of the last unknowns fell.

        Where the gradient did not fall along the move, the move tells nothing of a maximum, and is left out.
        """
        products = move * fall
        told = products.sum(axis=-1) > _LEAST_FALL * np.abs(products).sum(axis=-1)
        known = problems[told]
        for memory, last in ((self._moves, move), (self._falls, fall), (self._shifts, shift)):
            memory[1:, known] = memory[:-1, known]
            memory[0, known] = last[told]

    def bend(self, problems: Integers, curvature: Floats) -> None:
        """Add curvature (len(problems), first unknowns) to the functions: gradients fall by that much more."""
        self._falls[:, problems, : self._lead] += curvature * self._moves[:, problems, : self._lead]

    def steps(
        self, problems: Integers, gradient: Floats, plain: Floats, metric: Callable[[Floats], Floats]
    ) -> tuple[Floats, NDArray[np.bool_]]:
        """Next steps (len(problems), size), and which of them know more than a plain step does.

        Parameters
        ----------
        problems : ndarray of shape (p,)
        gradient : ndarray of shape (p, size)
        plain : ndarray of shape (p, n_seen)
            Plain steps of the last unknowns.
        metric : callable
            Makes plain steps of gradients, both of shape (p, size - n_seen), of the first unknowns.
        """
        moves, falls, shifts = (memory[:, problems] for memory in (self._moves, self._falls, self._shifts))
        curvature = (moves * falls).sum(axis=-1, keepdims=True)
        told = curvature > 0
        inverse = np.divide(1.0, curvature, out=np.zeros_like(curvature), where=told)
        shares = np.zeros_like(curvature)
        for i in range(len(moves)):
            shares[i] = inverse[i] * (moves[i] * gradient).sum(axis=-1, keepdims=True)
            gradient = gradient - shares[i] * falls[i]
            plain = plain - shares[i] * shifts[i]
        step = np.concatenate([metric(gradient[:, : self._lead]), plain], axis=1)
        for i in reversed(range(len(moves))):
            step += (shares[i] - inverse[i] * (falls[i] * step).sum(axis=-1, keepdims=True)) * moves[i]
        return step, told.any(axis=(0, 2))
