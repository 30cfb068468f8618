"""Growth: how a tree comes to have its splits.

`loop.py` is the algorithm, and `policy.py` holds every number of it. Its steps are in `sites.py` (where to try:
unexplained potential), `proposals/` (what to try), `surroundings.py` (the splits around a change), `trial.py` (all
splits), `pruning.py` and `polish.py` (the prior of the leaves, the last ascent). Many rows are grown on samples
(`samples.py`), and in rounds on all leaves at once (`rounds.py`). `rejection.py` lists why a change is not kept,
`shapes.py` the shapes of branches, and `ranking.py` orders gains so that rounding does not choose.
"""

from __future__ import annotations

from .loop import grow_tree
from .policy import Policy
from .polish import polish
from .proposals import best_axis_cuts, bound_of_leaf
from .shapes import CUT
from .sites import LeafPlace, leaf_places, unexplained_leaves

__all__ = [
    "CUT",
    "LeafPlace",
    "Policy",
    "best_axis_cuts",
    "bound_of_leaf",
    "grow_tree",
    "leaf_places",
    "polish",
    "unexplained_leaves",
]
