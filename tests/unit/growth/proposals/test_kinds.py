"""All kinds are asked in order, and each sees what the ones before it have proposed."""

import numpy as np

from asking import view_from
from bayesian_reticulum.datasets import make_cross
from bayesian_reticulum.growth.policy import Policy
from bayesian_reticulum.growth.proposals.kinds import PROPOSERS, propose
from bayesian_reticulum.growth.proposals.outlook import survey_site
from bayesian_reticulum.growth.sites import branch_site
from growing import grow, make_rows, survey


class Listener:
    """A kind that only notes what was proposed before."""

    kind, is_local = "listener", True

    def __init__(self):
        self.heard = []

    def propose(self, outlook, policy, rng, earlier):
        self.heard.append([proposal.kind for proposal in earlier])
        return iter(())


def test_kinds_see_the_proposals_before_theirs():
    first, last = Listener(), Listener()
    outlook = survey(make_rows(*make_cross(300, random_state=0)[:2]), [0.0, 4.0, 0.0])
    kinds = [p.kind for p in propose(outlook, Policy(), np.random.default_rng(0), [first, *PROPOSERS, last])]
    # All kinds of the list but those that have nothing to propose at a leaf, in its order.
    assert kinds == [proposer.kind for proposer in PROPOSERS if proposer.kind in kinds]
    assert {"cut", "look-ahead", "bend"} <= set(kinds)
    assert (first.heard, last.heard) == ([[]], [kinds])


def test_a_branch_that_is_grown_anew_is_proposed_by_all_kinds():
    rows, _, state, _ = grow(*make_cross(300, random_state=0)[:2], patience=3)
    site = branch_site(rows, state, 0, Policy())
    assert site.state.tree.n_splits == 0
    view = view_from(rows, site.state.tree.hyperplanes, site.state.tree.shape, site.state.statistics, site.leaf)
    outlook = survey_site(rows, view, site, Policy(), np.random.default_rng(0), 9)
    proposals = list(propose(outlook, Policy(), np.random.default_rng(0)))
    ids = {proposal.kind: proposal.tree.ids.tolist() for proposal in proposals}
    assert {kind: ids[kind] for kind in ("cut", "exchange", "look-ahead")} == {
        "cut": [9],
        "exchange": [9, 10, 11],
        "look-ahead": [9, 10, 11],
    }
    assert "bend" not in ids
