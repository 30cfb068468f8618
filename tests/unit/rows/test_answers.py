"""Compiled code answers what its table says, and blocks all else."""

from dataclasses import dataclass

import numpy as np
import pytest

from asking import family_of
from bayesian_reticulum.data.schema import identity_schema
from bayesian_reticulum.families import DirichletCategorical, NormalLinear
from bayesian_reticulum.rows.answers import ANSWERS
from bayesian_reticulum.rows.arrays import ArrayRows
from bayesian_reticulum.rows.limits import Limits
from bayesian_reticulum.rows.native import NativeRows
from bayesian_reticulum.rows.requests import Histogram, LeafSums, Moments, Pass
from bayesian_reticulum.tree import single_leaf
from plugins import GammaPoisson, needs_compiled

pytestmark = needs_compiled


@dataclass(frozen=True)
class Targets:
    """A request that compiled code does not know: the statistics of all rows, as those of one leaf."""

    def floats_per_row(self, facts):
        return 1

    def zero(self, facts):
        return LeafSums(np.zeros((1, 1, facts.n_statistics)))

    def compute(self, xp, block):
        return LeafSums((block.mass @ block.statistics)[None, None])


class OtherLinear(NormalLinear):
    """Linear leaves that do not say of which factors their statistics are products."""

    target_moments = None
    compiled_form = None


def rows_of(family, rows_class=NativeRows, n=60, **limits):
    rng = np.random.default_rng(0)
    targets = rng.normal(size=n) if isinstance(family, NormalLinear) else rng.integers(2, size=n)
    table = rng.normal(size=(n, 2)), targets, family, rng.uniform(0.5, 2, size=n), identity_schema(2)
    return rows_class.of_table(*table, limits=Limits(**limits))


@pytest.mark.parametrize("family", [DirichletCategorical((0.5, 0.5)), NormalLinear(), GammaPoisson()])
def test_a_request_that_is_not_in_the_table_is_computed_on_blocks(family):
    assert Targets not in ANSWERS
    one, other = (rows_of(family, rows_class).reduce(Targets()) for rows_class in (NativeRows, ArrayRows))
    np.testing.assert_allclose(one.statistics, other.statistics)


@pytest.mark.parametrize("family", [DirichletCategorical((0.5, 0.5)), NormalLinear(), GammaPoisson()])
def test_rows_are_summed_in_the_order_of_their_content_on_blocks_as_well(family):
    order = np.random.default_rng(1).permutation(60)
    rows = rows_of(family)
    data = rows.part.data
    other = NativeRows.of_table(data.X[order], data.targets[order], family, data.weights[order], data.schema)
    np.testing.assert_array_equal(rows.reduce(Targets()).statistics, other.reduce(Targets()).statistics)


@pytest.mark.parametrize(
    ("family", "limits", "unanswered"),
    [
        (DirichletCategorical((0.5, 0.5)), {}, set()),
        (DirichletCategorical((0.5, 0.5)), {"most_multiplied": 2}, {Moments}),
        (NormalLinear(), {}, set()),
        (NormalLinear(n_slopes=2), {}, set()),
        (NormalLinear(n_slopes=2), {"kept_bytes": 0}, set()),
        (NormalLinear(n_slopes=2), {"most_multiplied": 2}, {Moments}),
        (GammaPoisson(), {}, {Moments}),
        (GammaPoisson(), {"kept_bytes": 0}, set(ANSWERS)),
        (OtherLinear(n_slopes=2), {}, {Moments, Histogram}),
    ],
)
def test_the_table_says_which_requests_of_which_rows_are_answered(family, limits, unanswered):
    rows = rows_of(family, **limits)
    statistics = np.zeros(family.n_statistics)
    request = Histogram(family_of(rows), statistics, np.zeros((1, 3)), np.zeros((1, 1)), np.zeros((1, 3)))
    assert {kind for kind, answer in ANSWERS.items() if not answer.serves(rows, request)} == unanswered
    assert all(answer.unless for answer in ANSWERS.values())
    leaf = single_leaf(2)
    expected = family.expected_parameters(np.ones((1, 1, family.n_statistics)))
    at = rows.reduce(Pass(leaf.hyperplanes[None], leaf.shape, expected))
    np.testing.assert_allclose(at.statistics, rows.reduce(Targets()).statistics, rtol=1e-9)
