"""Checks of the arguments of distributions and of their methods, and draws that both kinds make."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from ..arrays import Floats, Integers
from .solver import ROUNDING


def counted(n: int, one: str, many: str = "") -> str:
    """A number with its noun, in the plural where there is not one."""
    return f"{n} {one if n == 1 else many or one + 's'}"


def check(is_good: NDArray[np.bool_], values: NDArray[Any], name: str, remedy: str) -> None:
    """Raise a ValueError that names the first value that is not good, with its place."""
    if not is_good.all():
        place = tuple(int(i) for i in np.argwhere(~is_good)[0])
        value = values[place].item() if isinstance(values[place], np.generic) else values[place]
        shown = place[:1] if values.shape[1:] == (1,) else place
        raise ValueError(f"{name}[{', '.join(map(str, shown))}] is {value!r}; {remedy}.")


def checked_probabilities(values: Any, name: str, of: str, axis: int) -> Floats:
    """Probabilities whose sums along the axis are one up to 1e-6, divided by these sums."""
    probabilities: Floats = np.asarray(values, dtype=np.float64)
    if probabilities.ndim != 2 or probabilities.shape[axis] == 0:
        shape = f"({of}, rows)" if axis == 0 else f"(rows, {of})"
        raise ValueError(f"{name} have shape {probabilities.shape}; they need {shape}.")
    is_good = (probabilities >= 0) & (probabilities <= 1 + 1e-6)
    check(is_good, probabilities, name, "give probabilities between 0 and 1")
    sums = probabilities.sum(axis=axis, keepdims=True)
    off = np.abs(sums - 1).reshape(-1)
    if np.any(off > 1e-6):
        row = int(np.argmax(off > 1e-6))
        raise ValueError(f"the {name} of row {row} sum to {sums.flat[row]}; divide them by their sum.")
    # Sums that are one but for rounding stay, so that some rows of a distribution keep their probabilities to the bit.
    return probabilities if np.all(off <= ROUNDING) else np.asarray(probabilities / sums)


def as_columns(y: NDArray[Any], n: int) -> tuple[NDArray[Any], bool]:
    """`y` as a table (n, m), and whether results have shape (n,) instead of (n, m)."""
    if y.ndim == 0 or y.shape == (n,):
        return np.broadcast_to(y.reshape(-1, 1), (n, 1)), True
    if y.ndim == 2 and len(y) in (1, n):
        return np.broadcast_to(y, (n, y.shape[1])), False
    raise ValueError(f"y has shape {y.shape}; for {n} rows give a scalar, ({n},), ({n}, m) or (1, m).")


def checked_levels(q: Any) -> tuple[Floats, bool]:
    """Probabilities (m,), and whether a single one was given."""
    levels = np.asarray(q, dtype=np.float64)
    if levels.ndim > 1:
        raise ValueError(f"q has shape {levels.shape}; give one probability or a list of them.")
    flat = levels.reshape(-1)
    check((flat >= 0) & (flat <= 1), flat, "q", "give probabilities between 0 and 1")
    return flat, levels.ndim == 0


def interval_ends(level: float) -> Floats:
    """Probabilities below the lower and the upper end of the central interval with the probability `level`."""
    if not isinstance(level, Real) or not 0 < level < 1:
        raise ValueError(f"level is {level!r}; give a probability between 0 and 1, such as 0.9.")
    return np.array([(1.0 - level) / 2, (1.0 + level) / 2])


def cumulate(probabilities: Floats) -> Floats:
    """Cumulative probabilities (n, k) that end in exactly one, so that every number up to one is reached."""
    cumulated = np.cumsum(probabilities, axis=1)
    return np.asarray(cumulated / cumulated[:, -1:])


def choose(cumulated: Floats, n: int, rng: np.random.Generator) -> Integers:
    """Draw `n` indices for each row of cumulative probabilities; those without probability are never drawn."""
    if not isinstance(n, Integral) or n < 0:
        raise ValueError(f"n is {n!r}; give the number of draws for each row, 0 or more.")
    uniform = rng.random((len(cumulated), n))
    indices = np.zeros(uniform.shape, dtype=np.int64)
    for column in cumulated.T[:-1]:
        indices += uniform >= column[:, None]
    return indices


def random_generator(random_state: Any) -> np.random.Generator:
    """Make a Generator from anything that scikit-learn takes as a random state."""
    if isinstance(random_state, np.random.Generator):
        return random_state
    return np.random.default_rng(check_random_state(random_state).randint(2**31 - 1, size=4))
