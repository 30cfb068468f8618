"""All kinds of proposals, in the order in which they are tried."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from ..policy import Policy
from .bend import Bend
from .cut import Cut
from .exchange import Exchange
from .look_ahead import LookAhead
from .outlook import Outlook
from .proposal import Proposal
from .proposer import Proposer

# A cut comes first: whether it pays decides how far others look.
PROPOSERS: tuple[Proposer, ...] = (Cut(), Exchange(), LookAhead(), Bend())


def propose(
    outlook: Outlook, policy: Policy, rng: np.random.Generator, proposers: Sequence[Proposer] = PROPOSERS
) -> Iterator[Proposal]:
    """What all kinds propose at a site, each with its new splits trained."""
    earlier: list[Proposal] = []
    for proposer in proposers:
        for proposal in proposer.propose(outlook, policy, rng, tuple(earlier)):
            earlier.append(proposal)
            yield proposal
