"""What a kind of proposals is, and how to add one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol

import numpy as np

from ..policy import Policy
from .outlook import Outlook
from .proposal import Proposal


class Proposer(Protocol):
    """One kind of change of the tree at a site.

    To add a kind, write a file in this folder with a class like the one below, and put an instance of it into the list
    `PROPOSERS` in `kinds.py`. Each attempt tries all kinds of the list in their order; the best of their proposals are
    trained with the whole tree and pruned, and the tree with the highest log evidence is kept if it pays. Nothing else
    knows of kinds.

    A kind that puts a branch in the place of the leaf needs only hyperplanes to start from: `fit_branches` trains them
    side by side with the rest of the tree held, and returns the best as a `Proposal`. This one splits each column at
    its mean::

        from ...rows import Moments, mean_and_covariance
        from ..shapes import CUT
        from .branches import fit_branches

        class MeanCut:
            kind = "mean"
            is_local = True

            def propose(self, outlook, policy, rng, earlier):
                if outlook.scan is None:
                    return
                sums = outlook.sample.reduce(Moments(outlook.family, outlook.statistics))
                mean, _ = mean_and_covariance(sums.second)
                slopes = policy.stiffness * np.eye(len(mean))
                starts = np.column_stack([-slopes @ mean, slopes])[:, None]
                yield fit_branches(outlook, self.kind, CUT, starts, policy)

    A kind that changes the tree elsewhere, as `Bend` does, makes the `Proposal` itself.

    Attributes
    ----------
    kind : str
        The name of the kind in the history.
    is_local : bool
        Whether proposals only put a branch in the place of the leaf, with a local gain. Rounds, which change several
        leaves at once, try no other kinds.
    """

    @property
    def kind(self) -> str: ...

    @property
    def is_local(self) -> bool: ...

    def propose(
        self, outlook: Outlook, policy: Policy, rng: np.random.Generator, earlier: Sequence[Proposal]
    ) -> Iterator[Proposal]:
        """Propose changes at a site, each with its new splits trained; none where this kind has nothing to propose.

        New splits have ids from `outlook.first_id` on, and there are `MOST_NEW_SPLITS` of them at most. The changed
        tree has to be within the limits of the policy: one split in the place of the leaf always is, for a branch of
        another shape ask `fits_limits(outlook.site, shape, policy)`.

        Parameters
        ----------
        outlook : Outlook
            The site, its rows and their scan.
        policy : Policy
        rng : numpy.random.Generator
            The only source of chance.
        earlier : sequence of Proposal
            What the kinds before this one in the list have proposed at this site.
        """
        ...
