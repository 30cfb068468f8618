"""growth"""

from __future__ import annotations

from .loop import grow_tree
from .policy import GLOBAL, MINIMAL_GAIN, Policy, effort_for, grows_on_samples
from .polish import polish
from .proposals.branches import CUT
from .proposals.proposer import LARGEST_LOCAL_LOSS, bound_of_leaf
from .proposals.scan import best_axis_cuts
from .sites import leaf_places, unexplained_leaves

__all__ = [
    "CUT",
    "GLOBAL",
    "LARGEST_LOCAL_LOSS",
    "MINIMAL_GAIN",
    "Policy",
    "best_axis_cuts",
    "bound_of_leaf",
    "effort_for",
    "grow_tree",
    "grows_on_samples",
    "leaf_places",
    "polish",
    "unexplained_leaves",
]
