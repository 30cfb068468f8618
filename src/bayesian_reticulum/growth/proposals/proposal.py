"""A proposal: a changed tree, on its way into the ascent of all splits."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...arrays import Floats
from ...tree import Tree


@dataclass(frozen=True, eq=False)
class Proposal:
    """A changed tree with its new splits trained, the rest of the tree held.

    Attributes
    ----------
    kind : str
        The kind of change, as the history shows it.
    started : Tree
        The changed tree before its new splits were trained.
    tree : Tree
        The changed tree.
    precisions : ndarray of shape (splits,)
        Prior precision of the slopes of each split of `tree`.
    statistics : ndarray of shape (leaves, k)
        Statistics of each leaf of `tree`.
    split_id : int
        The id of the first new split, by which the history names the attempt.
    local_gain : float or None
        Log evidence gained with the rest of the tree held, prices paid; None where it is not known, as for a change of
        old splits.
    worth_without : float
        Log evidence that the tree has again if the new splits are pruned, if that is known: the proposal is given up
        once it is not hoped to reach this.
    outrun : tuple of float
        Local gains of candidates of the same kind that this one was chosen from.
    """

    kind: str
    started: Tree
    tree: Tree
    precisions: Floats
    statistics: Floats
    split_id: int
    local_gain: float | None = None
    worth_without: float = -np.inf
    outrun: tuple[float, ...] = ()
