"""Limits: values that rows are made with, and that all rows of a table share."""

from dataclasses import FrozenInstanceError, fields

import numpy as np
import pytest

from asking import view_from
from bayesian_reticulum.data.schema import identity_schema
from bayesian_reticulum.families.dirichlet import DirichletCategorical
from bayesian_reticulum.rows.limits import FULL_HESSIAN_COLUMNS, LEADING_AXES, Limits
from bayesian_reticulum.tree import single_leaf, split_leaf
from plugins import each_backend


@each_backend
def test_views_and_samples_have_the_limits_of_their_table(rows_class):
    rng, limits = np.random.default_rng(0), Limits(fewest_gates=7)
    family = DirichletCategorical((0.5, 0.5))
    table = rng.normal(size=(500, 2)), rng.integers(2, size=500), family, np.ones(500), identity_schema(2)
    rows, tree = rows_class.of_table(*table, limits=limits), split_leaf(single_leaf(2), 0, [0.0, 1.0, 0.0])
    view = view_from(rows, tree.hyperplanes, tree.shape, np.ones((2, 2)), 0)
    for some in (view, rows.sample(50), view.sample(50)):
        assert some is not rows
        assert some.part.facts.limits is limits
    assert rows_class.of_table(*table).part.facts.limits == Limits()


def test_limits_are_positive_and_cannot_be_written():
    limits = Limits()
    assert all(np.min(getattr(limits, field.name)) > 0 for field in fields(limits))
    assert limits.fewest_block_rows <= limits.most_block_rows
    assert limits.float_weights[0] < 1 < limits.float_weights[1]
    with pytest.raises(FrozenInstanceError, match="block_floats"):
        limits.block_floats = 1


def test_leading_axes_are_columns_whose_information_can_be_a_whole_matrix():
    assert LEADING_AXES < FULL_HESSIAN_COLUMNS
