"""What the same laws are tested on: every family, and random trees.

A new family joins `FAMILIES` and is held to every law in `test_families.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from hypothesis import strategies as st

from bayesian_reticulum.families import DirichletCategorical, Family
from bayesian_reticulum.tree import Tree, single_leaf, split_leaf


@dataclass(frozen=True)
class FamilyCase:
    """A family with what a law needs to know about it.

    Parameters
    ----------
    name : str
        Shown in the test's id.
    family : Family
        The family with a prior.
    draw_targets : callable
        ``(rng, n)`` to n targets.
    log_predictive : callable
        ``(family, statistics, target)`` to the log posterior predictive, not computed from the log evidence.
    support : ndarray or None
        All targets, where they can be listed.
    """

    name: str
    family: Family
    draw_targets: Callable[[np.random.Generator, int], Any]
    log_predictive: Callable[[Any, Any, Any], float]
    support: Any = None

    def draw_statistics(self, rng: np.random.Generator, *shape: int) -> Any:
        """Statistics as leaves hold them, (*shape, k): sums of a few rows with fractional responsibilities."""
        rows = self.family.row_statistics(None, self.draw_targets(rng, 12))
        return rng.random((*shape, 12)) ** 3 @ rows


def _categorical(*prior: float) -> FamilyCase:
    classes = len(prior)
    return FamilyCase(
        name=f"categorical{prior}",
        family=DirichletCategorical(prior),
        draw_targets=lambda rng, n: rng.integers(classes, size=n),
        log_predictive=lambda family, statistics, target: float(np.log(family.predictive_mean(statistics)[target])),
        support=np.arange(classes),
    )


FAMILIES = [_categorical(0.5, 0.5), _categorical(1.0, 3.0), _categorical(0.5, 0.5, 0.5), _categorical(2.0)]


@st.composite
def trees(draw: st.DrawFn, *, min_splits: int = 0, max_splits: int = 8) -> Tree:
    """Random trees of random shape, grown leaf by leaf."""
    n_features = draw(st.integers(1, 3))
    tree = single_leaf(n_features)
    for _ in range(draw(st.integers(min_splits, max_splits))):
        tree = split_leaf(tree, draw(st.integers(0, tree.n_leaves - 1)), draw(hyperplanes(n_features)))
    return tree


def hyperplanes(n_features: int) -> st.SearchStrategy[list[float]]:
    """Offset and slopes of one split."""
    return st.lists(st.floats(-5, 5), min_size=n_features + 1, max_size=n_features + 1)
