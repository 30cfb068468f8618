"""The contract between rows and those who ask."""

import numpy as np
import pytest

from asking import context_of
from bayesian_reticulum.data.schema import identity_schema
from bayesian_reticulum.families import DirichletCategorical, NormalLinear
from bayesian_reticulum.rows.protocol import Likelihood, LocalRows, Rows, view_of_leaf
from bayesian_reticulum.tree import single_leaf, split_leaf
from plugins import each_backend


def members(protocol):
    return {name for name in dir(protocol) if not name.startswith("_")}


def test_the_contract_is_small():
    assert members(Rows) == {"axes", "n_columns", "n_rows", "reduce", "sample", "tail", "views", "weight"}
    assert members(LocalRows) - members(Rows) == {"gather", "quantiles"}


@pytest.mark.parametrize("family", [DirichletCategorical((0.5, 0.5)), NormalLinear()])
def test_rows_know_the_likelihood_of_a_family_and_not_its_prior(family):
    assert members(Likelihood) == {"n_statistics", "row_statistics", "uses_design"}
    assert all(hasattr(family, name) for name in members(Likelihood))


@each_backend
def test_rows_have_the_members_of_the_contract(rows_class):
    assert all(hasattr(rows_class, name) for name in members(LocalRows))


@each_backend
def test_the_view_of_one_leaf_is_the_first_of_its_views(rows_class):
    X, y = np.linspace(-1, 1, 20)[:, None], np.arange(20) % 2
    rows = rows_class.of_table(X, y, DirichletCategorical((0.5, 0.5)), np.ones(20), identity_schema(1))
    tree = split_leaf(single_leaf(1), 0, [0.0, 3.0])
    context = context_of(rows, tree.hyperplanes, tree.shape, np.ones((2, 2)))
    view, again = view_of_leaf(rows, context, 1), next(rows.views(context, [1]))
    np.testing.assert_array_equal(view.gather().log_reach, again.gather().log_reach)
