"""Proposals: the kinds of changes that growth tries at a site.

`proposer.py` says what a kind is and how to add one, `kinds.py` lists them all, and each has a file: `cut.py`,
`exchange.py`, `look_ahead.py`, `bend.py`. Each yields a `Proposal` (`proposal.py`). They share a scan of hard
thresholds (`scan.py`), made once for each site (`outlook.py`), and the training of branches with the rest of the tree
held (`branches.py`).
"""

from __future__ import annotations

from .branches import fit_branches
from .kinds import PROPOSERS, propose
from .outlook import Outlook, bound_of_leaf, survey_site
from .proposal import Proposal
from .proposer import Proposer
from .scan import best_axis_cuts

__all__ = [
    "PROPOSERS",
    "Outlook",
    "Proposal",
    "Proposer",
    "best_axis_cuts",
    "bound_of_leaf",
    "fit_branches",
    "propose",
    "survey_site",
]
