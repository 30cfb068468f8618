"""Cuts: one split in the place of a leaf."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from ..policy import Policy
from ..shapes import CUT
from .branches import fit_branches
from .outlook import Outlook
from .proposal import Proposal


class Cut:
    """The best hard cuts of the scan, made soft."""

    kind = "cut"
    is_local = True

    def propose(
        self, outlook: Outlook, policy: Policy, rng: np.random.Generator, earlier: Sequence[Proposal]
    ) -> Iterator[Proposal]:
        """Propose the best split along the directions whose cuts gain most."""
        if outlook.scan is None:
            return
        best = outlook.scan.cuts[: policy.n_branches(outlook.scan.cuts.shape[1])]
        yield fit_branches(outlook, self.kind, CUT, policy.stiffness * best[:, None], policy)
