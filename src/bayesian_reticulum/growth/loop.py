"""How a tree grows: propose where rows are unexplained, fit the new splits, fit all, prune, keep what pays.

One number decides everything: the log evidence of the tree. Growth sees the rows only through `Rows`, and
everything that happens is yielded as an event.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import replace

import numpy as np

from ..evidence import State, evaluate
from ..history import GrowthEvent, StoppingReason
from ..rows import Rows
from ..tree import single_leaf
from .policy import _MINIMAL_PROGRESS, Policy, is_too_large_for_single_leaves
from .polish import polish, reestimate_prior
from .rounds import expand_leaves
from .samples import carry_over, nested_samples
from .sites import Place, limit_reached, next_site
from .trial import try_site

# Attempts in a row without gain after which a sample gives way to the next.
_SAMPLE_PATIENCE = 4
# Rounds go on while they gain this many nats for each row.
_GAIN_OF_ROUND = 2e-2


def grow_tree(
    rows: Rows, policy: Policy, rng: np.random.Generator
) -> Generator[GrowthEvent, None, tuple[State, StoppingReason]]:
    """Grow a tree; yields every event and returns the final state and why growth stopped.

    Parameters
    ----------
    rows : Rows
    policy : Policy
    rng : numpy.random.Generator
        The only source of chance.
    """
    incumbent = evaluate(rows, single_leaf(rows.n_features), np.empty(0))
    yield GrowthEvent(0, "start", None, incumbent.tree, incumbent.log_evidence)
    reason: StoppingReason = "no_gain"
    attempt = 0
    next_id = 0
    for level, part in enumerate(nested_samples(rows)):
        is_sample = part is not rows
        part = part.with_family(incumbent.family)
        patience = min(policy.patience, _SAMPLE_PATIENCE) if is_sample else policy.patience
        # The first of them is grown leaf by leaf; what is found there is soon expanded on more rows.
        expanding = level > 0
        if is_sample or level > 0:
            part, incumbent = reestimate_prior(part, carry_over(part, incumbent))
            yield GrowthEvent(attempt, "start", None, incumbent.tree, incumbent.log_evidence)
        without_gain = 0
        fruitless: frozenset[Place] = frozenset()
        # When a place was last tried.
        tried: dict[Place, int] = {}
        while without_gain < patience:
            if attempt == policy.max_attempts:
                reason = "max_attempts"
                break
            split_id = None
            if expanding:
                challenger, candidates, events, next_id, fruitless = expand_leaves(
                    part, incumbent, policy, rng, next_id, fruitless
                )
                gain = 0.0 if challenger is None else challenger.log_evidence - incumbent.log_evidence
                expanding = gain > _GAIN_OF_ROUND * part.n_rows
            elif level > 0 and is_too_large_for_single_leaves(part):
                break
            else:
                site = next_site(part, incumbent, policy, tried)
                if site is None:
                    break
                challenger, candidates, events = try_site(part, incumbent, site, policy, rng, next_id)
                next_id += 3
                split_id = events[0].split_id if events else None
                tried[site.place] = attempt
            attempt += 1
            yield from (replace(event, attempt=attempt) for event in events)
            if challenger is None:
                without_gain += 1
                yield GrowthEvent(attempt, "rejected", split_id, incumbent.tree, incumbent.log_evidence, candidates)
                continue
            gain = challenger.log_evidence - incumbent.log_evidence
            without_gain = 0 if gain > _MINIMAL_PROGRESS * part.weight else without_gain + 1
            yield GrowthEvent(attempt, "kept", split_id, challenger.tree, challenger.log_evidence, candidates)
            part, incumbent = reestimate_prior(part, challenger)
            if incumbent is not challenger:
                yield GrowthEvent(attempt, "tuned", None, incumbent.tree, incumbent.log_evidence)
            part = part.arranged(incumbent.tree.hyperplanes, incumbent.tree.shape)
    if reason == "no_gain":
        reason = limit_reached(part, incumbent, policy)
    polished = polish(part, incumbent)
    yield GrowthEvent(attempt, "polished", None, polished.tree, polished.log_evidence)
    return polished, reason
