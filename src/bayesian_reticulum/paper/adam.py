"""Adam, the optimizer of the paper."""

from __future__ import annotations

import numpy as np

from ..arrays import Floats


class Adam:
    """Gradient ascent with a step size for each unknown: the optimizer of the paper (Kingma and Ba, 2014).

    Parameters
    ----------
    learning_rate : float
        Size of the first steps.
    decay_mean, decay_square : float
        Share of the running mean of the gradient, and of its square, that each step keeps.

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
        """Return the step to add to the unknowns, given the gradient there."""
        self._count += 1
        first, second = self._decays
        self._mean = first * self._mean + (1 - first) * gradient
        self._square = second * self._square + (1 - second) * gradient**2
        # Running means start at zero; the divisions remove the share that this start has in them.
        mean = self._mean / (1 - first**self._count)
        square = self._square / (1 - second**self._count)
        return np.asarray(self._learning_rate * mean / (np.sqrt(square) + 1e-8))
