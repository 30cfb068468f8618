"""Laws of statistics and log evidence."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np

from ..data import identity_schema
from ..evidence import converge_responsibilities, free_energy
from ..exact import expected_log_likelihood, log_marginal_likelihood
from ..families import Family
from ..gates import compute_gates
from ..rows import ArrayRows, Pass
from ..tree import single_leaf, split_leaf
from .case import TOLERANCE, Case, agree, hold

_GRADIENT_TOLERANCE = 1e-6
# Step of a row's weight in differences of fourth order.
_STEP = 2.5e-4


def statistics_of_partitions_add(case: Case, rng: np.random.Generator) -> None:
    """Statistics of a row depend on this row alone, and on the design only if the family uses it."""
    n = int(rng.integers(2, 20))
    design, targets, whole = case.rows(rng, n)
    row_statistics = case.family.row_statistics
    hold(
        np.shape(whole) == (n, case.family.n_statistics),
        f"expected statistics of shape {(n, case.family.n_statistics)}, found {np.shape(whole)}",
        "row_statistics and n_statistics",
    )
    cut = int(rng.integers(n + 1))
    parts = [row_statistics(design[:, part], targets[part]).sum(axis=0) for part in (slice(cut), slice(cut, n))]
    unit = np.abs(whole).sum(axis=0)
    agree(sum(parts), whole.sum(axis=0), "sum over the rows of both parts", "row_statistics", unit=unit)
    if not case.family.uses_design:
        agree(row_statistics(None, targets), whole, "statistics without a design", "row_statistics")


def arguments_are_left_alone(case: Case, rng: np.random.Generator) -> None:
    """Callers use the arrays again that they pass."""
    family, leaves, rows = case.family, case.leaves(rng), case.rows(rng, 4)
    membership = rng.dirichlet(np.ones(3), size=4).T
    names = ["log_evidence", "expected_parameters", "are_possible", "unexplained_potential", "counts"]
    calls: list[tuple[str, tuple[Any, ...]]] = [(name, (leaves,)) for name in names]
    calls += [(name, (leaves, membership, rows.design)) for name in ("predictive_mean", "predictive", "uncertainty")]
    calls.append(("row_statistics", (rows.design, rows.targets)))
    for name, arguments in calls:
        before = copy.deepcopy(arguments)
        getattr(family, name)(*arguments)
        are_same = all(np.array_equal(old, new) for old, new in zip(before, arguments, strict=True))
        hold(are_same, f"expected {name} to leave its arguments as they are, found them changed", name)


def an_integer_weight_equals_repeated_rows(case: Case, rng: np.random.Generator) -> None:
    """A row of weight 2 is two rows."""
    design, targets, statistics = case.rows(rng, 8)
    weights = rng.integers(1, 4, size=8)
    places = np.repeat(np.arange(8), weights)
    repeated = case.family.row_statistics(design[:, places], targets[places]).sum(axis=0)
    weighted, unit = weights @ statistics, weights @ np.abs(statistics)
    agree(repeated, weighted, "statistics of repeated rows", "row_statistics", unit=unit)
    evidence = case.family.log_evidence
    agree(evidence(repeated), evidence(weighted), "log evidence of repeated rows", "row_statistics and log_evidence")


def counts_are_numbers_of_rows(case: Case, rng: np.random.Generator) -> None:
    """The count of a leaf is the sum of the weights of its rows."""
    weights = rng.random((3, 8))
    counts = case.family.counts(weights @ case.rows(rng, 8).statistics)
    agree(counts, weights.sum(axis=1), "count of weighted rows", "counts and row_statistics")


def sums_of_rows_are_possible(case: Case, rng: np.random.Generator) -> None:
    """An ascent lengthens its steps as far as statistics stay possible, and has to see where they do not."""
    rows, sums = case.rows(rng, 8).statistics, case.statistics(rng, 5)
    for possible, what in ((rows, "a single row"), (sums, "sums of rows with positive weights")):
        hold(np.all(case.family.are_possible(possible)), f"{what}: expected True, found False", "are_possible")
    hold(
        not np.any(case.family.are_possible(-sums)),
        "sums of rows with negative weights: expected False, found True",
        "are_possible",
    )


def an_empty_leaf_has_log_evidence_zero(case: Case, rng: np.random.Generator) -> None:
    """The probability of no targets at all is 1."""
    empty = np.zeros((2, case.family.n_statistics))
    agree(case.family.log_evidence(empty), np.zeros(2), "log evidence of empty leaves", "log_evidence")


def expected_parameters_are_the_gradient_of_log_evidence(case: Case, rng: np.random.Generator) -> None:
    """The derivative of log evidence by the weight of a row is its expected log-likelihood."""
    rows = case.rows(rng, case.family.n_statistics + 10).statistics
    # Weights are varied instead of statistics, which so stay possible, and whose coordinates may have different units.
    weights = 0.05 + rng.random(len(rows)) ** 3
    steps = _STEP * np.array([1.0, -1.0, 2.0, -2.0])[:, None, None] * np.eye(len(rows))
    up, down, far_up, far_down = case.family.log_evidence((weights + steps) @ rows)
    differences = (8 * (up - down) - (far_up - far_down)) / (12 * _STEP)
    expected = case.family.expected_parameters(weights @ rows)
    what = "expected_parameters @ T of a row, against the difference of log evidence by its weight"
    agree(rows @ expected, differences, what, "expected_parameters", tolerance=_GRADIENT_TOLERANCE)


def log_evidence_is_convex(case: Case, rng: np.random.Generator) -> None:
    """Without this the variational objective would be no lower bound."""
    here, there = case.statistics(rng, 2, 5)
    slopes = case.family.expected_parameters(here)
    tangent = case.family.log_evidence(here) + (slopes * (there - here)).sum(axis=-1)
    value = case.family.log_evidence(there)
    allowed = TOLERANCE * (1.0 + (np.abs(slopes) * (np.abs(there) + np.abs(here))).sum(axis=-1))
    worst = int(np.argmin(value - tangent + allowed))
    hold(
        value[worst] >= tangent[worst] - allowed[worst],
        f"expected log evidence above the tangent at {tangent[worst]:.10g}, found {value[worst]:.10g}",
        "log_evidence",
    )


def leaves_are_treated_one_by_one(case: Case, rng: np.random.Generator) -> None:
    """In leading axes of any shape, each leaf has the values that it has alone."""
    family = case.family
    statistics = case.statistics(rng, 2, 3)
    for method in (
        family.log_evidence,
        family.expected_parameters,
        family.are_possible,
        family.unexplained_potential,
        family.counts,
    ):
        alone = [[method(leaf) for leaf in some] for some in statistics]
        name = method.__name__
        agree(method(statistics), alone, f"{name} of leaves (2, 3) together, against one by one", name)


def unexplained_potential_is_finite_and_not_negative(case: Case, rng: np.random.Generator) -> None:
    """Leaves are ranked by their potential, and one that has none is not split."""
    potential = case.family.unexplained_potential(case.leaves(rng))
    is_good = np.isfinite(potential) & (potential >= 0)
    hold(np.all(is_good), f"expected finite numbers from 0 on, found {potential}", "unexplained_potential")


def bounds_are_in_order(case: Case, rng: np.random.Generator) -> None:
    """The paper's bound, the variational optimum and the log marginal likelihood, of a small tree on a few rows."""
    family, n = case.family, 5
    design, targets, statistics = case.rows(rng, n)
    tree = single_leaf(case.n_features)
    for leaf in range(2):
        tree = split_leaf(tree, leaf, rng.normal(scale=2.0, size=case.n_features + 1))
    rows = ArrayRows.of_table(design[1:].T, targets, family, np.ones(n), identity_schema(case.n_features))
    membership = np.exp(compute_gates(tree.hyperplanes[None], tree.shape, design).log_membership[0]).T
    paper = float(family.log_evidence(membership.T @ statistics).sum())
    expected = expected_log_likelihood(membership, statistics, family)
    best = log_marginal_likelihood(membership, statistics, family)
    stack = converge_responsibilities(rows, family, tree.shape, tree.hyperplanes[None], np.ones((1, 2)))
    parameters = family.expected_parameters(stack.statistics)
    at = rows.reduce(Pass(tree.hyperplanes[None], tree.shape, parameters))
    optimum = float(free_energy(family, parameters, at)[0])
    look_at = "log_evidence, which has to be convex, and expected_parameters"
    for lower, upper, what in (
        (paper, expected, "the paper's bound at most the expected log-likelihood"),
        (expected, best, "the expected log-likelihood at most the log marginal likelihood"),
        (paper, optimum, "the paper's bound at most the variational optimum"),
        (optimum, best, "the variational optimum at most the log marginal likelihood"),
    ):
        is_good = lower <= upper + TOLERANCE * (1.0 + abs(upper))
        hold(is_good, f"expected {what}, found {lower:.10g} and {upper:.10g}", look_at)


def copies_are_the_same(case: Case, rng: np.random.Generator) -> None:
    """Models are copied and sent to other processes."""
    leaves = case.leaves(rng)
    expected = np.asarray(case.family.log_evidence(leaves))

    def by_pickle(family: Family) -> Any:
        try:
            return pickle.loads(pickle.dumps(family))
        except (AttributeError, TypeError, pickle.PicklingError) as error:
            raise AssertionError(
                f"expected a family that can be pickled, found {error}. Look at where the class is defined (a module, "
                "not a function) and at attributes such as lambdas."
            ) from error

    for copied in (copy.copy, copy.deepcopy, by_pickle):
        log_evidence = np.asarray(copied(case.family).log_evidence(leaves))
        is_same = log_evidence.shape == expected.shape and log_evidence.tobytes() == expected.tobytes()
        look_at = "attributes that are set outside of __init__"
        hold(is_same, f"log evidence of a copy: expected {expected} to the bit, found {log_evidence}", look_at)
