"""Checks of what a distribution is asked, and of what it is made of."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from ..arrays import Floats, Integers
from .solver import ROUNDING


def counted(n: int, one: str, many: str = "") -> str:
    return f"{n} {one if n == 1 else many or one + 's'}"


def check(good: NDArray[np.bool_], values: NDArray[Any], name: str, remedy: str) -> None:
    if not good.all():
        place = tuple(int(i) for i in np.argwhere(~good)[0])
        value = values[place].item() if isinstance(values[place], np.generic) else values[place]
        shown = place[:1] if values.shape[1:] == (1,) else place
        raise ValueError(f"{name}[{', '.join(map(str, shown))}] is {value!r}; {remedy}.")


def checked_probabilities(values: Any, name: str, of: str, axis: int) -> Floats:
    """Probabilities that sum to one along the axis, and do so to the last digits."""
    given: Floats = np.asarray(values, dtype=np.float64)
    if given.ndim != 2 or given.shape[axis] == 0:
        shape = f"({of}, rows)" if axis == 0 else f"(rows, {of})"
        raise ValueError(f"{name} have shape {given.shape}; they need {shape}.")
    check((given >= 0) & (given <= 1 + 1e-6), given, name, "give probabilities between 0 and 1")
    sums = given.sum(axis=axis, keepdims=True)
    off = np.abs(sums - 1).reshape(-1)
    if np.any(off > 1e-6):
        row = int(np.argmax(off > 1e-6))
        raise ValueError(f"the {name} of row {row} sum to {sums.flat[row]}; divide them by their sum.")
    # Those of some rows of another distribution are left as they are.
    return given if np.all(off <= ROUNDING) else np.asarray(given / sums)


def as_columns(y: NDArray[Any], n: int) -> tuple[NDArray[Any], bool]:
    """`y` as a table (n, m), and whether answers are to be of shape (n,)."""
    if y.ndim == 0 or y.shape == (n,):
        return np.broadcast_to(y.reshape(-1, 1), (n, 1)), True
    if y.ndim == 2 and len(y) in (1, n):
        return np.broadcast_to(y, (n, y.shape[1])), False
    raise ValueError(f"y has shape {y.shape}; for {n} rows give a scalar, ({n},), ({n}, m) or (1, m).")


def checked_levels(q: Any) -> tuple[Floats, bool]:
    levels = np.asarray(q, dtype=np.float64)
    if levels.ndim > 1:
        raise ValueError(f"q has shape {levels.shape}; give one probability or a list of them.")
    flat = levels.reshape(-1)
    check((flat >= 0) & (flat <= 1), flat, "q", "give probabilities between 0 and 1")
    return flat, levels.ndim == 0


def interval_ends(level: float) -> Floats:
    if not isinstance(level, Real) or not 0 < level < 1:
        raise ValueError(f"level is {level!r}; give a probability between 0 and 1, such as 0.9.")
    return np.array([(1.0 - level) / 2, (1.0 + level) / 2])


def cumulate(probabilities: Floats) -> Floats:
    """Cumulative probabilities that end in one exactly, so that none of them is missed."""
    cumulated = np.cumsum(probabilities, axis=1)
    return np.asarray(cumulated / cumulated[:, -1:])


def choose(cumulated: Floats, n: int, rng: np.random.Generator) -> Integers:
    """`n` indices for each row of cumulative probabilities; one without probability is never chosen."""
    if not isinstance(n, Integral) or n < 0:
        raise ValueError(f"n is {n!r}; give the number of draws for each row, 0 or more.")
    uniform = rng.random((len(cumulated), n))
    chosen = np.zeros(uniform.shape, dtype=np.int64)
    for column in cumulated.T[:-1]:
        chosen += uniform >= column[:, None]
    return chosen


def random_generator(random_state: Any) -> np.random.Generator:
    """A Generator from anything that scikit-learn takes as a random state."""
    if isinstance(random_state, np.random.Generator):
        return random_state
    return np.random.default_rng(check_random_state(random_state).randint(2**31 - 1, size=4))
