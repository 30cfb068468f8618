"""The passes that ascents ask the rows for."""

import numpy as np

from asking import family_of, membership_sums, pass_at
from bayesian_reticulum.evidence.passes import pass_maker
from bayesian_reticulum.rows import HESSIAN_ROWS
from bayesian_reticulum.tree import single_leaf, split_leaf
from evidence_problems import make_rows


def test_passes_are_those_of_the_rows_at_the_expected_parameters():
    rng = np.random.default_rng(0)
    rows, tree = make_rows(rng, 50, 2, 2), split_leaf(single_leaf(2), 0, [0.3, 1.0, -1.0])
    statistics = membership_sums(rows, tree.hyperplanes[None], tree.shape)
    expected = family_of(rows).expected_parameters(statistics)
    at = pass_maker(rows, tree.shape, True)(tree.hyperplanes[None], expected, True)
    direct = pass_at(rows, tree.hyperplanes[None], tree.shape, statistics, information=True)
    for name, values in vars(direct).items():
        np.testing.assert_array_equal(getattr(at, name), values)


def test_information_comes_from_a_sample_unless_it_is_to_be_exact():
    rng = np.random.default_rng(0)
    n = 3 * HESSIAN_ROWS
    rows, tree = make_rows(rng, n, 1, 2), split_leaf(single_leaf(1), 0, [0.3, 1.0])
    statistics = membership_sums(rows, tree.hyperplanes[None], tree.shape)
    expected = family_of(rows).expected_parameters(statistics)
    exact, sampled = (
        pass_maker(rows, tree.shape, exact)(tree.hyperplanes[None], expected, True) for exact in (True, False)
    )
    for name in ("log_normalizer", "statistics", "gradient"):
        np.testing.assert_allclose(getattr(sampled, name), getattr(exact, name), rtol=1e-12)
    assert not np.array_equal(sampled.observed, exact.observed)
    for name in ("observed", "complete"):
        size = np.abs(getattr(exact, name)).max()
        np.testing.assert_allclose(getattr(sampled, name), getattr(exact, name), atol=0.05 * size)
