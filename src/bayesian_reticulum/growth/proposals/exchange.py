"""Exchanging the levels of a branch."""

from __future__ import annotations

import numpy as np

from ...arrays import Floats
from ...tree import Tree


def exchange_levels(tree: Tree, split: int) -> Floats:
    """A root like the two splits below this one, and this one on either side: (1, 3, d + 1), or none.

    Where two splits cross, either may come first, but one order can be better by several nats.
    """
    none = np.empty((0, 3, tree.n_features + 1))
    pair = tree.children[split]
    if (pair < 0).any():
        return none
    hyperplanes = tree.hyperplanes[[split, *pair]]
    sizes = np.linalg.norm(hyperplanes[:, 1:], axis=1, keepdims=True)
    # A split that its prior has pulled to nothing has no direction.
    if not sizes.all():
        return none
    own, left, right = hyperplanes / sizes
    root = left + right if left[1:] @ right[1:] >= 0 else left - right
    root = root / np.linalg.norm(root[1:])
    return np.stack([root, own, own])[None]
