"""Sparse trees are fitted as growth fits all splits, with slopes that are zero held."""

import dataclasses

import numpy as np

from bayesian_reticulum.growth import Policy
from bayesian_reticulum.simplification.policy import SimplificationPolicy
from growing import make_rows


def test_all_splits_of_sparse_trees_are_fitted_as_in_growth():
    rows = make_rows(np.random.default_rng(0).normal(size=(100, 2)), np.arange(100) % 2)
    few, many = SimplificationPolicy(), SimplificationPolicy(growth=Policy(sample_rows=40))
    assert few.whole_effort(rows) == dataclasses.replace(Policy().global_effort, sparse=True)
    limited = many.growth.effort_for(rows, Policy().global_effort)
    assert many.whole_effort(rows) == dataclasses.replace(limited, sparse=True)
    assert many.whole_effort(rows).max_passes < few.whole_effort(rows).max_passes


def test_candidates_for_sparse_splits_are_sparse():
    assert SimplificationPolicy().effort.sparse
