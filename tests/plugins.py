"""What the same laws are tested on: every family, and random trees.

A new family joins `FAMILIES` and is held to every law in `test_families.py`.
"""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from bayesian_reticulum.families import DirichletCategorical, NormalLinear
from bayesian_reticulum.testing import Case
from bayesian_reticulum.tree import Tree, single_leaf, split_leaf


def _categorical(*prior: float) -> Case:
    return Case(DirichletCategorical(prior), lambda rng, n: rng.integers(len(prior), size=n))


def _normal(n_features: int = 2, *, spread: float = 1.0, **parameters: object) -> Case:
    family = NormalLinear(**parameters)
    return Case(family, lambda rng, n: family.center + spread * family.scale * rng.normal(size=n), n_features)


FAMILIES = {
    "two classes": _categorical(0.5, 0.5),
    "two classes, uneven prior": _categorical(1.0, 3.0),
    "three classes, small prior": _categorical(0.5, 0.05, 0.5),
    "seven classes": _categorical(*7 * [0.5]),
    "one class": _categorical(2.0),
    "constant": _normal(),
    "constant, other prior": _normal(center=1e3, scale=1e-2, offset_precision=2.0, shape=1.5, rate=3.0),
    "constant, targets far from the prior": _normal(spread=30.0, rate=1e-3),
    "one slope": _normal(1, n_slopes=1),
    "three slopes, other units": _normal(3, n_slopes=3, center=-20.0, scale=50.0),
    "two slopes, one precision": _normal(2, n_slopes=2, slope_precisions=(0.5,)),
    "slopes along a basis": _normal(3, n_slopes=2, basis=[[0.6, 0.0], [0.8, 0.0], [0.0, 1.0]]),
}


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
