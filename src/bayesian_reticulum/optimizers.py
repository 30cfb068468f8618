"""Numerical steps that know nothing of rows or trees: Newton's direction, Anderson's extrapolation and Adam."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .tree import Floats, Integers

# How much of the complete-data information a cautious step adds to the observed.
_CAUTION = 0.2


def newton_inverses(observed: Floats, complete: Floats, prior: Floats, cautious: NDArray[np.bool_]) -> Floats:
    """Inverse of information plus prior precision (..., p, p) that makes Newton's direction one of ascent.

    The observed information gives the longer steps but need not be positive definite far from the optimum;
    there the complete-data information, which always is, takes its place. A `cautious` step (broadcast to all
    matrices) looks at both.
    """
    diagonal = np.arange(prior.shape[-1])
    caution = np.where(cautious, _CAUTION, 0.0)
    matrices = (1.0 - caution) * observed + caution * complete
    matrices[..., diagonal, diagonal] += prior
    flat = matrices.reshape(-1, len(diagonal), len(diagonal))
    safe = complete.reshape(flat.shape)
    penalties = prior.reshape(-1, len(diagonal))
    for index in np.flatnonzero(~_positive_definite(flat)):
        flat[index] = safe[index]
        flat[index, diagonal, diagonal] += penalties[index]
    return np.asarray(np.linalg.inv(matrices))


def _positive_definite(matrices: Floats) -> np.ndarray:
    try:
        np.linalg.cholesky(matrices)
    except np.linalg.LinAlgError:
        if len(matrices) == 1:
            return np.array([False])
        half = len(matrices) // 2
        return np.concatenate([_positive_definite(matrices[:half]), _positive_definite(matrices[half:])])
    return np.ones(len(matrices), dtype=bool)


class Anderson:
    """Extrapolation of slow fixed-point iterations x -> x + f(x), for several problems side by side.

    Alternating E steps and Newton steps converge linearly, slowly where splits overlap. From the last few steps
    this finds the combination whose residual f is smallest and goes there.

    Parameters
    ----------
    n_problems, size : int
        Number of problems and of unknowns of each.
    memory : int
        How many differences of steps are combined.
    """

    def __init__(self, n_problems: int, size: int, memory: int = 6) -> None:
        self._point, self._step = np.zeros((2, n_problems, size))
        self._points, self._steps = np.zeros((2, memory, n_problems, size))
        self._started = np.zeros(n_problems, dtype=bool)
        self._turn = np.zeros(n_problems, dtype=np.int64)

    def forget(self, problems: Integers) -> None:
        """Drop what was learned of these problems: their map has changed or misled."""
        self._points[:, problems] = 0.0
        self._steps[:, problems] = 0.0
        self._started[problems] = False

    def extrapolate(self, problems: Integers, point: Floats, step: Floats, scale: Floats) -> tuple[Floats, Floats]:
        """Record steps f(x) at points x (len(problems), size); return the next points, and which are extrapolated.

        `scale` makes the unknowns comparable. Where nothing is known yet the next point is x + f(x).
        """
        known = problems[self._started[problems]]
        slot = self._turn[known] % len(self._points)
        self._turn[known] += 1
        self._points[slot, known] = (point - self._point[problems])[self._started[problems]]
        self._steps[slot, known] = (step - self._step[problems])[self._started[problems]]
        self._point[problems], self._step[problems], self._started[problems] = point, step, True

        past = self._steps[:, problems].transpose(1, 0, 2) * scale[:, None]
        gram = past @ past.transpose(0, 2, 1)
        size = np.trace(gram, axis1=1, axis2=2)
        extrapolated = size > 0
        # The tiny ridge bounds the combination where steps are parallel or a slot is empty.
        gram[:, np.arange(gram.shape[1]), np.arange(gram.shape[1])] += (1e-12 * size + 1e-300)[:, None]
        mix = np.linalg.solve(gram, past @ (step * scale)[..., None])[..., 0]
        moves = (self._points + self._steps)[:, problems].transpose(1, 0, 2)
        return point + step - np.einsum("pm,pms->ps", mix, moves), extrapolated


class Adam:
    """Steps of an ascent whose size adapts to each unknown: the optimizer of the paper (Kingma and Ba, 2014).

    Parameters
    ----------
    learning_rate : float
        Size of the first steps.
    decay_mean, decay_square : float
        How much of the running mean of the gradient, and of its square, each step keeps.

    Examples
    --------
    >>> import numpy as np
    >>> adam = Adam(0.5)
    >>> adam.step(np.array([1e-3, -100.0]))
    array([ 0.499995, -0.5     ])
    """

    def __init__(self, learning_rate: float, decay_mean: float = 0.9, decay_square: float = 0.999) -> None:
        self._learning_rate = learning_rate
        self._decays = decay_mean, decay_square
        self._mean: Floats | float = 0.0
        self._square: Floats | float = 0.0
        self._count = 0

    def step(self, gradient: Floats) -> Floats:
        """What to add to the unknowns, given the gradient there."""
        self._count += 1
        first, second = self._decays
        self._mean = first * self._mean + (1 - first) * gradient
        self._square = second * self._square + (1 - second) * gradient**2
        # Both start at zero; dividing takes out the share of that start.
        mean = self._mean / (1 - first**self._count)
        square = self._square / (1 - second**self._count)
        return np.asarray(self._learning_rate * mean / (np.sqrt(square) + 1e-8))
