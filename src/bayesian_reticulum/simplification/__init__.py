"""Simplification: a sparser and smaller tree in the place of a fitted one, with its costs.

`simplify.py` is the function for users and `result.py` what it returns. `bench.py` holds the rows on which trees are
judged, `problem.py` what a tree costs to read, `search.py` the steps to simpler trees, `regrowth.py` trees of sparse
splits grown anew, and `policy.py` every number of this.
"""

from __future__ import annotations

from .result import Simplification, SimplificationStep
from .simplify import simplify

__all__ = ["Simplification", "SimplificationStep", "simplify"]
