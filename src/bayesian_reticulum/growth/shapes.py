"""Shapes of the branches that take the place of a leaf."""

from __future__ import annotations

from ..tree import single_leaf, split_leaf

CUT = split_leaf(single_leaf(0), 0, [0.0]).shape
# A root with a split on either side.
THREE_SPLITS = split_leaf(split_leaf(split_leaf(single_leaf(0), 0, [0.0]), 0, [0.0]), 2, [0.0]).shape
# Ids are set aside for so many splits at each site.
MOST_NEW_SPLITS = THREE_SPLITS.n_splits
