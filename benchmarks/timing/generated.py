"""Generated tables to fit: wide ones of numbers, and ones that mix numbers and categories as tables of houses do."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .turns import Floats

if TYPE_CHECKING:
    import pandas as pd

LEVELS = (2, 3, 5, 8, 12, 28)  # of the categories of a mixed table, in turns


def wide_numbers() -> tuple[pd.DataFrame, Floats]:
    """2000 rows of 40 numbers, ten of which matter, with noise of standard deviation 0.5."""
    import pandas as pd

    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 40))
    bends = np.sin(2 * X[:, 0]) + np.abs(X[:, 1]) + X[:, 2] * (X[:, 3] > 0)
    y = bends + 0.4 * X[:, 4:10].sum(axis=1) + rng.normal(0, 0.5, 2000)
    return pd.DataFrame(X, columns=[f"x{j}" for j in range(40)]), y


def mixed_numbers() -> tuple[pd.DataFrame, Floats]:
    """2900 rows of 40 numbers and 40 categories, with a price that both decide."""
    import pandas as pd

    n, rng = 2900, np.random.default_rng(0)
    quality = rng.normal(size=n)
    area = np.exp(7.2 + 0.25 * quality + 0.33 * rng.normal(size=n))
    columns: dict[str, Any] = {"area": np.round(area)}
    columns |= {f"number {j}": number(j, quality, rng) for j in range(1, 40)}
    worth = np.zeros(n)
    for j in range(40):
        levels = category(j, quality, rng)
        if j < 12:
            worth += rng.normal(0, 0.07, LEVELS[j % len(LEVELS)])[levels]
        words = np.array([f"level {level}" for level in levels], dtype=object)
        words[rng.random(n) < (0.3 if j % 7 == 0 else 0.0)] = None
        columns[f"kind {j}"] = words
    log_price = 0.75 * np.log(area) + 0.16 * quality + worth + 0.1 * ((quality > 1) & (area > 1800))
    return pd.DataFrame(columns), np.exp(log_price + rng.normal(0, 0.11, n))


def mixed_classes() -> tuple[pd.DataFrame, NDArray[np.int64]]:
    """The rows of `mixed_numbers`, and whether the price is among the highest three tenths."""
    X, price = mixed_numbers()
    return X, (price > np.quantile(price, 0.7)).astype(np.int64)


def number(j: int, quality: Floats, rng: np.random.Generator) -> Floats:
    """A column (n,) that is skewed, a grade, mostly zero or a year; one in five has gaps."""
    n, share = len(quality), rng.uniform(0.1, 0.8)
    base = share * quality + np.sqrt(1 - share**2) * rng.normal(size=n)
    kinds = (
        lambda: np.round(np.exp(5 + 0.6 * base)),
        lambda: np.clip(np.round(5 + 1.5 * base), 0, 10),
        lambda: np.where(rng.random(n) < 0.55, 0.0, np.round(np.exp(4.5 + 0.8 * base))),
        lambda: np.round(1970 + 25 * base),
    )
    values = kinds[j % 4]()
    if j % 5 == 0:
        values[rng.random(n) < 0.12] = np.nan
    return values


def category(j: int, quality: Floats, rng: np.random.Generator) -> NDArray[np.int64]:
    """Levels (n,) of a category, some of them rare; one category in three is ordered by quality, as grades are."""
    n, n_levels = len(quality), LEVELS[j % len(LEVELS)]
    frequencies = rng.dirichlet(np.full(n_levels, 0.6)) + 3 / n
    place = rng.random(n)
    if j % 3 == 0:
        ranks = np.argsort(np.argsort(quality + 0.7 * rng.normal(size=n)))
        place = 0.5 * place + 0.5 * ranks / n
    edges = np.cumsum(frequencies / frequencies.sum())
    return np.minimum(np.searchsorted(edges, place), n_levels - 1)
