"""A changed tree, on its way into the ascent of all splits."""

from __future__ import annotations

from typing import NamedTuple

from ...arrays import Floats
from ...tree import Tree


class Proposal(NamedTuple):
    """A changed tree, as started and as it enters the ascent of all splits."""

    started: Tree
    tree: Tree
    precisions: Floats
    statistics: Floats
    worth_without: float
    split_id: int
