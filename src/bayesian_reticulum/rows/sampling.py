"""Which rows are in a sample: those whose key, a number mixed from their content alone, is small enough.

So the order of rows cannot be seen in a sample, repeats of a row are taken or left together, and a smaller sample is
part of a larger one.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..arrays import Integers

Keys = NDArray[np.uint64]


def row_keys(X: Any, targets: Any) -> Keys:
    """Mix the cells (n, d) and the target of each row into a number, so that these are spread evenly over 64 bits."""
    of_targets = np.asarray(targets, dtype=np.float64)
    of_targets = of_targets if of_targets.ndim == 2 else of_targets[:, None]
    keys = np.zeros(len(X), dtype=np.uint64)
    for columns in (of_targets, X):
        for column in range(columns.shape[1]):
            # Adding 0 makes one number of 0 and -0; gaps may be written in many ways.
            cells = np.asarray(columns[:, column], dtype=np.float64) + 0.0
            cells[np.isnan(cells)] = np.nan
            keys ^= cells.view(np.uint64)
            keys *= np.uint64(0x9E3779B97F4A7C15)
            keys ^= keys >> np.uint64(29)
    keys *= np.uint64(0xBF58476D1CE4E5B9)
    keys ^= keys >> np.uint64(32)
    return keys


def sampled_places(keys: Keys, size: int, share: float) -> Integers | None:
    """Places of the rows in a sample of about `size` rows that takes this share of all keys that there could be.

    None if rows are mostly repeats: these come in lumps, so that a sample may have a very different size.
    """
    places = np.flatnonzero(keys < np.uint64(share * 2.0**64))
    return places if size / 2 <= len(places) <= 2 * size else None
