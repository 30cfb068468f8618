"""Leaves in compiled code: what the family in Python says of them, and what they refuse."""

import os
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayesian_reticulum.compiled import leaf_coefficients, native_leaves
from bayesian_reticulum.families import DirichletCategorical, NormalLinear
from plugins import FAMILIES, GammaPoisson, examples, needs_compiled

pytestmark = needs_compiled
EPS = np.finfo(float).eps
# On either side of the widths of vectors and tiles.
SLOPES = [0, 1, 2, 3, 4, 5, 8, 9, 16, 17, 40]


def evaluated(family, statistics):
    """Expected parameters and log evidence of leaves (leaves, k) by compiled code."""
    expected, log_evidence = np.full(statistics.shape, np.nan), np.full(len(statistics), np.nan)
    native_leaves(family).evaluate(statistics, expected, log_evidence)
    return expected, log_evidence


@st.composite
def leaves_of_numbers(draw):
    """A family, the statistics of rows (n, k), and those of three leaves: two share the rows, and one is empty."""
    d, rng = draw(st.sampled_from(SLOPES)), np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    # The prior of the noise and one factor for all precisions, as `families/noise.py` chooses them.
    noise, factor = draw(st.sampled_from([1e-8, 1e-4, 1.0, 1e4])), draw(st.sampled_from([1e-7, 1e-2, 1.0, 100.0]))
    shape = draw(st.sampled_from([1.001, 2.0, 30.0]))
    family = NormalLinear(
        n_slopes=d,
        center=rng.normal(),
        scale=draw(st.sampled_from([1e-3, 1.0, 50.0])),
        offset_precision=0.1 * factor,
        shape=shape,
        rate=noise * shape,
        slope_precisions=tuple(factor * np.logspace(-2, 3, draw(st.integers(1, 9)))),
    )
    n = draw(st.sampled_from([1, 2, 5, 30, 200]))
    columns = rng.normal(size=(d, n)) + rng.normal(size=(d, 1))
    if d > 1 and draw(st.booleans()):
        columns[-1] = columns[0]
    targets = rng.normal(size=d) @ columns + np.sqrt(noise) * rng.normal(size=n)
    design = np.concatenate([np.ones((1, n)), columns]) if d else None
    rows = family.row_statistics(design, family.center + family.scale * targets)
    return family, rows, np.concatenate([rng.dirichlet([1.0, 1.0], size=n).T @ rows, np.zeros((1, rows.shape[1]))])


def rounding_of(family, statistics):
    """Nats that rounding may change: by directions in which rows hardly vary, and by residuals that all but vanish."""
    of_slopes = np.abs(statistics).max() / min(family.slope_precisions)
    # The first of what is expected is minus half the precision of the noise.
    of_residuals = np.abs(family.expected_parameters(statistics)[:, 0] * statistics[:, 0]).max()
    return 1e-9 + 32 * EPS * (family.n_slopes * of_slopes + of_residuals)


@examples(200)
@given(problem=leaves_of_numbers())
def test_leaves_of_numbers_are_worth_what_the_family_says(problem):
    family, _, statistics = problem
    expected = family.log_evidence(statistics)
    atol = rounding_of(family, statistics)
    np.testing.assert_allclose(evaluated(family, statistics)[1], expected, rtol=1e-10, atol=atol)


@examples(200)
@given(problem=leaves_of_numbers())
def test_leaves_of_numbers_expect_of_rows_what_the_family_says(problem):
    family, rows, statistics = problem
    expected = family.expected_parameters(statistics)
    log_likelihood = rows @ expected.T
    size = (np.abs(rows) @ np.abs(expected).T).max()
    atol = rounding_of(family, statistics) * (1 + np.abs(log_likelihood).max()) + 64 * EPS * size
    np.testing.assert_allclose(rows @ evaluated(family, statistics)[0].T, log_likelihood, rtol=0, atol=atol)


@examples(100)
@given(problem=leaves_of_numbers())
def test_mean_coefficients_predict_what_those_of_the_family_do(problem):
    family, rows, statistics = problem
    if not family.n_slopes:
        return
    # The product of each row with the ones: its design.
    design = rows[:, 2 + family.n_slopes : 3 + 2 * family.n_slopes]
    for leaf in statistics:
        expected = family.mean_coefficients(leaf)
        atol = rounding_of(family, statistics) * (1 + np.abs(design @ expected).max())
        np.testing.assert_allclose(design @ leaf_coefficients(family, leaf), design @ expected, rtol=1e-9, atol=atol)


LARGEST_DIFFERENCE = """
import numpy as np
from bayesian_reticulum import NormalLinear
from bayesian_reticulum.compiled import native_leaves

rng, largest = np.random.default_rng(0), 0.0
for slopes in range(12):
    for precisions in range(1, 10):
        family = NormalLinear(n_slopes=slopes, slope_precisions=tuple(np.logspace(-2, 3, precisions)))
        design = np.concatenate([np.ones((1, 60)), rng.normal(size=(slopes, 60))])
        statistics = family.row_statistics(design if slopes else None, rng.normal(size=60)).sum(axis=0)[None]
        expected, log_evidence = np.empty(statistics.shape), np.empty(1)
        native_leaves(family).evaluate(statistics, expected, log_evidence)
        for one, other in (
            (expected, family.expected_parameters(statistics)), (log_evidence, family.log_evidence(statistics))
        ):
            largest = max(largest, np.abs(one - other).max())
print(largest)
"""


@pytest.mark.parametrize("level", ["baseline", "v3", "v4"])
def test_every_instruction_set_has_the_same_leaves(level):
    environment = os.environ | {"BAYESIAN_RETICULUM_INSTRUCTIONS": level}
    command = [sys.executable, "-c", LARGEST_DIFFERENCE]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert float(done.stdout) < 1e-8


def test_constant_leaves_have_no_coefficients():
    assert leaf_coefficients(NormalLinear(), np.zeros(3)) is None


def test_an_empty_leaf_is_worth_nothing_more_or_less():
    for name in ("constant", "three slopes, other units", "two classes"):
        family = FAMILIES[name].family
        _, log_evidence = evaluated(family, np.zeros((2, family.n_statistics)))
        np.testing.assert_allclose(log_evidence, 0.0, atol=1e-12)


@pytest.mark.parametrize("name", ["two classes, uneven prior", "seven classes", "one class"])
def test_leaves_of_classes_are_what_the_family_says(name):
    family, rng = FAMILIES[name].family, np.random.default_rng(0)
    statistics = rng.gamma(0.5, 50.0, size=(40, family.n_statistics)) * (rng.uniform(size=(40, 1)) < 0.8)
    expected, log_evidence = evaluated(family, statistics)
    np.testing.assert_allclose(expected, family.expected_parameters(statistics), rtol=1e-11)
    np.testing.assert_allclose(log_evidence, family.log_evidence(statistics), rtol=1e-11, atol=1e-10)


def test_either_answer_may_be_left_out():
    leaves, statistics = native_leaves(FAMILIES["one slope"].family), np.ones((2, 6))
    expected, log_evidence = np.zeros((2, 6)), np.zeros(2)
    leaves.evaluate(statistics, None, log_evidence)
    leaves.evaluate(statistics, expected, None)
    for answer, same in zip((expected, log_evidence), evaluated(FAMILIES["one slope"].family, statistics), strict=True):
        np.testing.assert_array_equal(answer, same)


def test_families_that_compiled_code_does_not_know_have_no_leaves_there():
    assert native_leaves(GammaPoisson()) is None


@pytest.mark.parametrize(
    ("message", "sizes"),
    [
        ("statistics have another size", [(2, 5), (2, 5), (2,)]),
        ("expected parameters have another size", [(2, 6), (1, 6), (2,)]),
        ("expected parameters have another size", [(2, 6), (2, 5), (2,)]),
        ("the log evidence has another size", [(2, 6), (2, 6), (3,)]),
    ],
)
def test_arrays_of_other_sizes_are_refused(message, sizes):
    with pytest.raises(ValueError, match=message):
        native_leaves(FAMILIES["one slope"].family).evaluate(*map(np.ones, sizes))


@pytest.mark.parametrize("sizes", [(5, 2), (6, 3)])
def test_mean_coefficients_of_another_size_are_refused(sizes):
    with pytest.raises(ValueError, match="have another size"):
        native_leaves(FAMILIES["one slope"].family).average(*map(np.ones, sizes))


@pytest.mark.parametrize(("n_slopes", "precisions"), [(-1, [1.0]), (2, [])])
def test_leaves_without_a_prior_of_their_slopes_are_refused(n_slopes, precisions):
    kind = type(native_leaves(NormalLinear()))
    with pytest.raises(ValueError, match="need a precision of their slopes"):
        kind(n_slopes, 1.0, 0.1, 2.0, 0.1, np.array(precisions))


def test_equal_families_share_leaves():
    assert native_leaves(DirichletCategorical((0.5, 0.5))) is native_leaves(DirichletCategorical((0.5, 0.5)))
