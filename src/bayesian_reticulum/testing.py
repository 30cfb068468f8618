"""What every family is held to.

Growth, the objective and the model know families by the methods of `Family` alone, and rely on these laws. Each law is
one function of a case and a random generator, which raises an AssertionError where it is broken; a new law is one
more of them in `LAWS`. `check_family` holds a family to all of them, with NumPy and SciPy alone.
"""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray
from scipy.special import entr

from .distributions import ClassDistribution, Mixture
from .exact import expected_log_likelihood, log_marginal_likelihood
from .families import Family, LinearFamily, missing_members
from .objective import free_energy, settle
from .rows import NumpyRows, gates
from .schema import identity_schema
from .tree import Floats, single_leaf, split_leaf

_TOLERANCE = 1e-8
_GRADIENT_TOLERANCE = 1e-6
# Of a weight, in differences of fourth order.
_STEP = 2.5e-4
_DRAWS = 4000
# By the Dvoretzky-Kiefer-Wolfowitz inequality right draws are further off once in a billion times.
_FURTHEST = float(np.sqrt(np.log(2e9) / (2 * _DRAWS)))
_TAILS = np.array([1e-12, 1e-9, 1e-6, 1e-4, 0.01, 0.1, 0.3])
_LEVELS = np.concatenate([_TAILS, [0.5], 1.0 - _TAILS[::-1]])
_MOST_COUNTS = 100_000
_MOST_PIECES = 4000


class Sample(NamedTuple):
    """Rows: their design (d + 1, n), targets and statistics (n, k)."""

    design: Floats
    targets: Any
    statistics: Floats


@dataclass(frozen=True)
class Case:
    """A family with what a law needs to try it out.

    Parameters
    ----------
    family : Family
    draw_targets : callable
        ``(rng, n)`` to n plausible targets.
    n_features : int
        Number d of features in the design.
    """

    family: Family
    draw_targets: Callable[[np.random.Generator, int], Any]
    n_features: int = 2

    def rows(self, rng: np.random.Generator, n: int) -> Sample:
        """Rows with random features, of which targets are independent."""
        design = np.concatenate([np.ones((1, n)), rng.normal(size=(self.n_features, n))])
        targets = self.draw_targets(rng, n)
        return Sample(design, targets, self.family.row_statistics(design, targets))

    def statistics(self, rng: np.random.Generator, *shape: int) -> Floats:
        """Statistics as leaves hold them, (*shape, k): sums of rows with fractional responsibilities."""
        rows = self.rows(rng, self.family.n_statistics + 10).statistics
        return np.asarray(rng.random((*shape, len(rows))) ** 3 @ rows)

    def leaves(self, rng: np.random.Generator) -> Floats:
        """Statistics (3, k) of a leaf without rows, one that has parts of some, and one that has many."""
        few, many = self.statistics(rng, 2)
        return np.stack([np.zeros_like(few), few, 50 * many])

    def predictive(self, statistics: Floats, membership: Floats, design: Floats) -> Mixture | ClassDistribution:
        """What the family predicts, known to be one of the two kinds."""
        predictive = self.family.predictive(statistics, membership, design)
        _hold(
            isinstance(predictive, Mixture | ClassDistribution) and len(predictive) == design.shape[1],
            f"expected a Mixture or ClassDistribution of {design.shape[1]} rows, found {predictive!r}",
            "predictive",
        )
        return predictive


def _hold(holds: Any, otherwise: str, look_at: str) -> None:
    if not holds:
        raise AssertionError(f"{otherwise}. Look at {look_at}.")


def _agree(
    found: Any, expected: Any, what: str, look_at: str, *, unit: Any = 1.0, tolerance: float = _TOLERANCE
) -> None:
    """`found` is what is expected, up to the tolerance, in the given unit and relative to it."""
    found, expected = np.asarray(found, dtype=np.float64), np.asarray(expected, dtype=np.float64)
    _hold(found.shape == expected.shape, f"{what}: expected shape {expected.shape}, found {found.shape}", look_at)
    with np.errstate(invalid="ignore"):
        good = (found == expected) | (np.abs(found - expected) <= tolerance * (unit + np.abs(expected)))
    if not good.all():
        place = tuple(int(i) for i in np.argwhere(~good)[0])
        at = f" at {list(place)}" if place else ""
        otherwise = f"{what}{at}: expected {expected[place]:.10g}, found {found[place]:.10g}"
        raise AssertionError(f"{otherwise}. Look at {look_at}.")


def statistics_of_partitions_add(case: Case, rng: np.random.Generator) -> None:
    """Statistics are those of one row alone, of the right shape, with or without a design that is not used."""
    n = int(rng.integers(2, 20))
    design, targets, whole = case.rows(rng, n)
    row_statistics = case.family.row_statistics
    _hold(
        np.shape(whole) == (n, case.family.n_statistics),
        f"expected statistics of shape {(n, case.family.n_statistics)}, found {np.shape(whole)}",
        "row_statistics and n_statistics",
    )
    cut = int(rng.integers(n + 1))
    parts = [row_statistics(design[:, part], targets[part]).sum(axis=0) for part in (slice(cut), slice(cut, n))]
    unit = np.abs(whole).sum(axis=0)
    _agree(sum(parts), whole.sum(axis=0), "sum over the rows of both parts", "row_statistics", unit=unit)
    if not case.family.uses_design:
        _agree(row_statistics(None, targets), whole, "statistics without a design", "row_statistics")


def arguments_are_left_alone(case: Case, rng: np.random.Generator) -> None:
    """Whoever asks goes on with the arrays that were handed over."""
    family, leaves, rows = case.family, case.leaves(rng), case.rows(rng, 4)
    membership = rng.dirichlet(np.ones(3), size=4).T
    names = ["log_evidence", "expected_parameters", "are_possible", "unexplained_potential", "counts"]
    calls: list[tuple[str, tuple[Any, ...]]] = [(name, (leaves,)) for name in names]
    calls += [(name, (leaves, membership, rows.design)) for name in ("predictive_mean", "predictive", "uncertainty")]
    calls.append(("row_statistics", (rows.design, rows.targets)))
    for name, arguments in calls:
        before = copy.deepcopy(arguments)
        getattr(family, name)(*arguments)
        same = all(np.array_equal(old, new) for old, new in zip(before, arguments, strict=True))
        _hold(same, f"expected {name} to leave its arguments as they are, found them changed", name)


def an_integer_weight_equals_repeated_rows(case: Case, rng: np.random.Generator) -> None:
    """A row of weight 2 is two rows."""
    design, targets, statistics = case.rows(rng, 8)
    weights = rng.integers(1, 4, size=8)
    places = np.repeat(np.arange(8), weights)
    repeated = case.family.row_statistics(design[:, places], targets[places]).sum(axis=0)
    weighted, unit = weights @ statistics, weights @ np.abs(statistics)
    _agree(repeated, weighted, "statistics of repeated rows", "row_statistics", unit=unit)
    evidence = case.family.log_evidence
    _agree(evidence(repeated), evidence(weighted), "log evidence of repeated rows", "row_statistics and log_evidence")


def counts_are_numbers_of_rows(case: Case, rng: np.random.Generator) -> None:
    """The count of a leaf is the sum of the weights of its rows."""
    weights = rng.random((3, 8))
    counts = case.family.counts(weights @ case.rows(rng, 8).statistics)
    _agree(counts, weights.sum(axis=1), "count of weighted rows", "counts and row_statistics")


def sums_of_rows_are_possible(case: Case, rng: np.random.Generator) -> None:
    """Steps are lengthened as far as statistics stay possible, so that these must be told from all others."""
    rows, sums = case.rows(rng, 8).statistics, case.statistics(rng, 5)
    for possible, what in ((rows, "a single row"), (sums, "sums of rows with positive weights")):
        _hold(np.all(case.family.are_possible(possible)), f"{what}: expected True, found False", "are_possible")
    _hold(
        not np.any(case.family.are_possible(-sums)),
        "sums of rows with negative weights: expected False, found True",
        "are_possible",
    )


def an_empty_leaf_has_log_evidence_zero(case: Case, rng: np.random.Generator) -> None:
    """The probability of no targets at all is 1."""
    empty = np.zeros((2, case.family.n_statistics))
    _agree(case.family.log_evidence(empty), np.zeros(2), "log evidence of empty leaves", "log_evidence")


def expected_parameters_are_the_gradient_of_log_evidence(case: Case, rng: np.random.Generator) -> None:
    """By the weight of each row, log evidence rises as its expected parameters say."""
    rows = case.rows(rng, case.family.n_statistics + 10).statistics
    # Weights are what varies, not statistics: these stay possible then, and no coordinate needs a step of its own.
    weights = 0.05 + rng.random(len(rows)) ** 3
    steps = _STEP * np.array([1.0, -1.0, 2.0, -2.0])[:, None, None] * np.eye(len(rows))
    up, down, far_up, far_down = case.family.log_evidence((weights + steps) @ rows)
    differences = (8 * (up - down) - (far_up - far_down)) / (12 * _STEP)
    expected = case.family.expected_parameters(weights @ rows)
    what = "expected_parameters @ T of a row, against the difference of log evidence by its weight"
    _agree(rows @ expected, differences, what, "expected_parameters", tolerance=_GRADIENT_TOLERANCE)


def log_evidence_is_convex(case: Case, rng: np.random.Generator) -> None:
    """This makes the variational objective a lower bound."""
    here, there = case.statistics(rng, 2, 5)
    slopes = case.family.expected_parameters(here)
    tangent = case.family.log_evidence(here) + (slopes * (there - here)).sum(axis=-1)
    value = case.family.log_evidence(there)
    allowed = _TOLERANCE * (1.0 + (np.abs(slopes) * (np.abs(there) + np.abs(here))).sum(axis=-1))
    worst = int(np.argmin(value - tangent + allowed))
    _hold(
        value[worst] >= tangent[worst] - allowed[worst],
        f"expected log evidence above the tangent at {tangent[worst]:.10g}, found {value[worst]:.10g}",
        "log_evidence",
    )


def leaves_are_treated_one_by_one(case: Case, rng: np.random.Generator) -> None:
    """Whatever stands in leading axes, each leaf gets the answer that it gets alone."""
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
        _agree(method(statistics), alone, f"{name} of leaves (2, 3) together, against one by one", name)


def unexplained_potential_is_finite_and_not_negative(case: Case, rng: np.random.Generator) -> None:
    """Leaves are ranked by it, and one without any is left alone."""
    potential = case.family.unexplained_potential(case.leaves(rng))
    good = np.isfinite(potential) & (potential >= 0)
    _hold(np.all(good), f"expected finite numbers from 0 on, found {potential}", "unexplained_potential")


def log_evidence_is_the_sum_of_sequential_predictions(case: Case, rng: np.random.Generator) -> None:
    """The chain rule: what a leaf says about each target after those before it adds up to its log evidence."""
    design, targets, statistics = case.rows(rng, 8)
    after = np.cumsum(statistics, axis=0)
    before = np.concatenate([np.zeros_like(after[:1]), after[:-1]])
    # Each row has a leaf of its own, which has seen the rows before it.
    predicted = case.predictive(before, np.eye(8), design).logpdf(targets)
    look_at = "log_evidence and predictive: one of them has another prior or constant"
    _agree(case.family.log_evidence(after[-1]), predicted.sum(), "log evidence", look_at)


def the_predictive_is_a_ratio_of_evidences(case: Case, rng: np.random.Generator) -> None:
    """A leaf's density at a target is the evidence with it over that without it."""
    design, targets, statistics = case.rows(rng, 6)
    for leaf in case.leaves(rng):
        density = case.predictive(leaf[None], np.ones((1, 6)), design).logpdf(targets)
        ratio = case.family.log_evidence(leaf + statistics) - case.family.log_evidence(leaf)
        # Both evidences are rounded.
        unit = 1.0 + np.abs(case.family.log_evidence(leaf))
        _agree(density, ratio, "log density of the predictive", "predictive", unit=unit)


def leaves_are_mixed_by_membership(case: Case, rng: np.random.Generator) -> None:
    """A row that belongs to several leaves has the mixture of what they predict."""
    design, targets, _ = case.rows(rng, 6)
    leaves, membership = case.leaves(rng), rng.dirichlet(np.ones(3), size=6).T
    alone = [case.predictive(leaf[None], np.ones((1, 6)), design).pdf(targets) for leaf in leaves]
    mixed = (membership * np.array(alone)).sum(axis=0)
    found = case.predictive(leaves, membership, design).pdf(targets)
    _agree(found, mixed, "density of the predictive", "predictive and its use of membership", unit=mixed.max())


def the_predictive_mean_is_that_of_the_predictive(case: Case, rng: np.random.Generator) -> None:
    """The shortcut says the same as the whole distribution; where there are no rows it says nothing."""
    design = case.rows(rng, 6).design
    leaves, membership = case.leaves(rng), rng.dirichlet(np.ones(3), size=6).T
    predictive = case.predictive(leaves, membership, design)
    found, expected = case.family.predictive_mean(leaves, membership, design), predictive.mean
    _hold(
        np.shape(found) == np.shape(expected),
        f"expected shape {np.shape(expected)}, found {np.shape(found)}",
        "predictive_mean",
    )
    unit: Any = np.ones_like(expected)
    if isinstance(predictive, Mixture):
        lower, upper = predictive.interval(0.5)
        unit = upper - lower
    is_there = np.isfinite(expected)
    look_at = "predictive_mean and predictive"
    _agree(found[is_there], expected[is_there], "predictive_mean", look_at, unit=unit[is_there])
    nothing = case.family.predictive_mean(leaves, membership[:, :0], design[:, :0])
    _agree(nothing, expected[:0], "predictive_mean of no rows", "predictive_mean")


def _from_each_leaf(case: Case, rng: np.random.Generator) -> Mixture | ClassDistribution:
    """Three rows, one for each of the leaves."""
    return case.predictive(case.leaves(rng), np.eye(3), case.rows(rng, 3).design)


def cdf_and_quantile_invert_each_other(case: Case, rng: np.random.Generator) -> None:
    """A quantile is the first number, or class, with a cdf of at least q."""
    predictive = _from_each_leaf(case, rng)
    q = np.array([1e-6, 0.01, 0.1, 0.5, 0.8, 0.999, 1 - 1e-6])
    quantile = predictive.quantile(q)
    cdf = predictive.cdf(quantile)
    look_at = "cdf of the components: it has to rise from 0 to 1, where the density is"
    if isinstance(predictive, Mixture) and not predictive.components.is_discrete:
        _agree(cdf, np.tile(q, (3, 1)), "cdf of a quantile", look_at, unit=0.0)
        return
    before = cdf - predictive.pmf(quantile)
    for level, up_to, less in zip(np.tile(q, 3), cdf.flat, before.flat, strict=True):
        _hold(
            less - _TOLERANCE <= level <= up_to + _TOLERANCE,
            f"expected the cdf to pass {level:g} at its quantile, found it going from {less:.10g} to {up_to:.10g}",
            look_at,
        )


class _Moments(NamedTuple):
    """What adding up a density gives.

    Masses are those of pieces between quantiles, or of all counts up to each, and `probability` is what they should
    be. Moments (2,) are the first and second of all pieces, about `center` and in units of `unit`; `missing` is at
    least what the tails beyond would add to them.
    """

    mass: Floats
    probability: Floats
    center: float
    unit: float
    moments: Floats
    missing: Floats


def _moments(predictive: Mixture) -> _Moments:
    """Moments of a predictive of one row."""
    edges = predictive.quantile(_LEVELS)[0]
    low, center, high = predictive.quantile([0.16, 0.5, 0.84])[0]
    unit = float(high - low) or 1.0

    def terms(y: Floats) -> Floats:
        z = (y - center) / unit
        return np.asarray(predictive.pdf(y[None])[0] * z ** np.arange(3)[:, None])

    if predictive.components.is_discrete:
        numbers = np.arange(min(edges[-1], _MOST_COUNTS) + 1)
        pieces, probability = terms(numbers), predictive.cdf(numbers[None])[0]
        mass, is_tail = np.cumsum(pieces[0]), numbers > edges[-2]
    else:
        pieces, probability = _integrals(terms, edges), np.diff(_LEVELS)
        mass, is_tail = pieces[0], np.isin(np.arange(len(probability)), (0, len(probability) - 1))
    # A tail that falls as slowly as a finite variance lets it holds a few times what the piece before it does.
    missing = 10 * np.abs(pieces[1:, is_tail]).sum(axis=1)
    return _Moments(mass, probability, float(center), unit, pieces[1:].sum(axis=1), missing)


def _integrals(function: Callable[[Floats], Floats], edges: Floats) -> Floats:
    """Integrals (q, pieces) of a function of (m,) to (q, m) between edges; pieces are halved until they are right."""
    nodes, weights = np.polynomial.legendre.leggauss(16)

    def rule(low: Floats, high: Floats) -> Floats:
        half = 0.5 * (high - low)
        y = 0.5 * (low + high) + half * nodes[:, None]
        values = function(y.reshape(-1))
        return np.asarray(np.tensordot(values.reshape(-1, *y.shape), weights, axes=(1, 0)) * half)

    low, high, piece = edges[:-1], edges[1:], np.arange(len(edges) - 1)
    whole = rule(low, high)
    totals = np.zeros_like(whole)
    while len(low):
        middle = 0.5 * (low + high)
        left, right = rule(low, middle), rule(middle, high)
        error = np.abs(left + right - whole)
        rest = (error > 1e-10 * (1.0 + np.abs(whole))).any(axis=0) & (low < middle) & (middle < high)
        # A density that is nowhere smooth is not worth more.
        rest &= len(rest) < _MOST_PIECES
        np.add.at(totals.T, piece[~rest], (left + right)[:, ~rest].T)
        low, high = np.append(low[rest], middle[rest]), np.append(middle[rest], high[rest])
        piece, whole = np.tile(piece[rest], 2), np.concatenate([left[:, rest], right[:, rest]], axis=1)
    return totals


def the_predictive_sums_to_one(case: Case, rng: np.random.Generator) -> None:
    """Densities integrate, and probabilities sum, to what the cdf says."""
    predictive = _from_each_leaf(case, rng)
    if isinstance(predictive, ClassDistribution):
        total = predictive.pmf(predictive.classes[None]).sum(axis=1)
        _agree(total, np.ones(3), "sum of the probabilities of all classes", "predictive")
        return
    for row in range(3):
        found = _moments(predictive[row])
        what = "probability between two quantiles, by adding up the density"
        _agree(found.mass, found.probability, what, "logpdf and cdf of the components", tolerance=1e-7)


def mean_and_std_are_those_of_the_density(case: Case, rng: np.random.Generator) -> None:
    """Mean and standard deviation, where there are any, are the moments of the density."""
    predictive = _from_each_leaf(case, rng)
    if isinstance(predictive, ClassDistribution):
        codes = predictive.pmf(predictive.classes[None])
        _agree(predictive.mean, codes, "mean of the one-hot target", "predictive")
        return
    for row, (mean, std) in enumerate(zip(predictive.mean, predictive.std, strict=True)):
        found = _moments(predictive[row])
        first = (mean - found.center) / found.unit
        second = (std / found.unit) ** 2 + first**2
        for what, stated, moment, missing in zip(
            ("mean", "variance"), (first, second), found.moments, found.missing, strict=True
        ):
            _hold(
                not np.isfinite(stated) or abs(moment - stated) <= 1e-6 * (1.0 + abs(stated)) + missing,
                f"{what} of the predictive, from its median and in units of its spread: expected {moment:.10g} by "
                f"adding up the density, found {stated:.10g}",
                f"{what} of the components",
            )


def samples_follow_the_cdf(case: Case, rng: np.random.Generator) -> None:
    """The cdf of draws is uniform."""
    predictive = _from_each_leaf(case, rng)
    draws = predictive.sample(_DRAWS, random_state=rng)
    _hold(np.shape(draws) == (3, _DRAWS), f"expected draws of shape (3, {_DRAWS}), found {np.shape(draws)}", "draw")
    uniform = predictive.cdf(draws)
    if isinstance(predictive, ClassDistribution) or predictive.components.is_discrete:
        # A jump of the cdf is spread out evenly.
        uniform = uniform - rng.random(uniform.shape) * predictive.pmf(draws)
    steps = np.arange(_DRAWS + 1) / _DRAWS
    ordered = np.sort(uniform, axis=1)
    distance = float(np.maximum(steps[1:] - ordered, ordered - steps[:-1]).max())
    _hold(
        distance <= _FURTHEST,
        f"expected the cdf of {_DRAWS} draws within {_FURTHEST:.3f} of a uniform one, found {distance:.3f}",
        "draw and cdf of the components",
    )


def uncertainty_is_the_sum_of_its_parts(case: Case, rng: np.random.Generator) -> None:
    """None of them is negative, and the total is the variance, or the entropy of classes, of the predictive."""
    design = case.rows(rng, 6).design
    leaves, membership = case.leaves(rng), rng.dirichlet(np.ones(3), size=6).T
    predictive = case.predictive(leaves, membership, design)
    uncertainty = case.family.uncertainty(leaves, membership, design)
    parts = [uncertainty.aleatoric, uncertainty.leaf, uncertainty.routing]
    for name, part in zip(("aleatoric", "leaf", "routing"), parts, strict=True):
        _hold(not np.any(part < 0), f"{name} part: expected numbers from 0 on, found {part}", "uncertainty")
    if isinstance(predictive, ClassDistribution):
        expected, look_at = entr(predictive.probabilities).sum(axis=1), "uncertainty, whose total is an entropy in nats"
    else:
        expected, look_at = predictive.std**2, "uncertainty, whose total is a variance, and variance of the components"
    total, is_there = uncertainty.total, np.isfinite(expected)
    unit = 1.0 if isinstance(predictive, ClassDistribution) else expected[is_there]
    _agree(total[is_there], expected[is_there], "total", look_at, unit=unit)
    _hold(not np.isfinite(total[~is_there]).any(), f"expected a total that is not finite, found {total}", look_at)
    added = np.sum(parts, axis=0)[is_there]
    _agree(added, total[is_there], "sum of the parts", "uncertainty", unit=unit)


def uncertainty_of_a_leaf_falls_with_rows(case: Case, rng: np.random.Generator) -> None:
    """A leaf that has seen a hundred times as much knows more; where it is the only one, there is no routing."""
    design, _, statistics = case.rows(rng, 30 + case.family.n_statistics)
    leaf, membership = statistics.sum(axis=0)[None], np.ones((1, len(statistics)))
    few, many = (case.family.uncertainty(factor * leaf, membership, design) for factor in (1, 100))
    for uncertainty in (few, many):
        none = uncertainty.routing <= _TOLERANCE * uncertainty.total
        _hold(
            none.all(), f"routing to the only leaf: expected 0, found {uncertainty.routing.max():.10g}", "uncertainty"
        )
    # In fact to about a hundredth.
    good = (many.leaf < 0.5 * few.leaf) | (few.leaf <= _TOLERANCE * few.total)
    _hold(
        good.all(),
        f"leaf part: expected less than half of {few.leaf[~good]} after 100 times the rows, found {many.leaf[~good]}",
        "uncertainty and its leaf part",
    )


def bounds_are_in_order(case: Case, rng: np.random.Generator) -> None:
    """The paper's bound, the variational optimum and the log marginal likelihood, of a small tree on a few rows."""
    family, n = case.family, 5
    design, targets, statistics = case.rows(rng, n)
    tree = single_leaf(case.n_features)
    for leaf in range(2):
        tree = split_leaf(tree, leaf, rng.normal(scale=2.0, size=case.n_features + 1))
    rows = NumpyRows(design[1:].T, targets, family, np.ones(n), identity_schema(case.n_features))
    membership = np.exp(gates(tree.hyperplanes[None], tree.shape, design).log_membership[0]).T
    paper = float(family.log_evidence(membership.T @ statistics).sum())
    expected = expected_log_likelihood(membership, statistics, family)
    best = log_marginal_likelihood(membership, statistics, family)
    stack = settle(rows, tree.shape, tree.hyperplanes[None], np.ones((1, 2)))
    at = rows.pass_(tree.hyperplanes[None], tree.shape, stack.statistics)
    optimum = float(free_energy(family, stack.statistics, at)[0])
    look_at = "log_evidence, which has to be convex, and expected_parameters"
    for lower, upper, what in (
        (paper, expected, "the paper's bound at most the expected log-likelihood"),
        (expected, best, "the expected log-likelihood at most the log marginal likelihood"),
        (paper, optimum, "the paper's bound at most the variational optimum"),
        (optimum, best, "the variational optimum at most the log marginal likelihood"),
    ):
        good = lower <= upper + _TOLERANCE * (1.0 + abs(upper))
        _hold(good, f"expected {what}, found {lower:.10g} and {upper:.10g}", look_at)


def a_description_is_one_line(case: Case, rng: np.random.Generator) -> None:
    """What a leaf says is shown in one line of a printed tree."""
    leaves = case.leaves(rng)
    predictive = _from_each_leaf(case, rng)
    n_classes = len(predictive.classes) if isinstance(predictive, ClassDistribution) else 1
    lengths = (1, case.n_features + 1)

    def linear(coefficients: Floats) -> str:
        found = np.shape(coefficients)
        good = len(found) == 1 and found[0] in lengths
        _hold(good, f"expected `linear` called with one of {lengths} numbers, found shape {found}", "describe")
        return " ".join(f"{coefficient:.3g}" for coefficient in coefficients)

    for leaf in leaves:
        told = case.family.describe(leaf, [f"y{j}" for j in range(n_classes)], linear)
        good = isinstance(told, str) and told.strip() and "\n" not in told
        _hold(good, f"expected one line of text, found {told!r}", "describe")


def residuals_are_means_and_variances(case: Case, rng: np.random.Generator) -> None:
    """What a leaf leaves unexplained is what its scan family takes as targets (linear families)."""
    if not case.family.uses_design:
        return
    family = cast("LinearFamily", case.family)
    design, targets, _ = case.rows(rng, 6)
    for leaf in case.leaves(rng):
        residuals = family.residuals(design, targets, leaf)
        _hold(np.shape(residuals) == (6, 2), f"expected shape (6, 2), found {np.shape(residuals)}", "residuals")
        _hold(np.all(residuals[:, 1] >= 0), f"expected variances from 0 on, found {residuals[:, 1]}", "residuals")
        certain = np.column_stack([residuals[:, 0], np.zeros(6)])
        with_variance, alone = (family.scan_family.row_statistics(design[:2], y) for y in (certain, residuals[:, 0]))
        _agree(with_variance, alone, "statistics of residuals without variance", "row_statistics of scan_family")


def what_is_missing_adds_to_the_spread(case: Case, rng: np.random.Generator) -> None:
    """Predictions of rows in which features are missing are wider, by what slopes make of these (linear families)."""
    if not case.family.uses_design:
        return
    family, leaves = cast("LinearFamily", case.family), case.leaves(rng)
    design, _, _ = case.rows(rng, 6)
    membership = rng.dirichlet(np.ones(len(leaves)), size=6).T
    whole = family.uncertainty(leaves, membership, design)
    for share in (0.0, 0.5):

        def spread(slopes: Floats, share: float = share) -> Floats:
            return np.asarray((share * slopes**2).sum(axis=-1)[..., None] * np.ones(6))

        parts = family.uncertainty(leaves, membership, design, spread)
        for name in ("aleatoric", "leaf") if share else ("aleatoric", "leaf", "routing"):
            _agree(getattr(parts, name), getattr(whole, name), f"{name} uncertainty", "uncertainty with spread")
        _hold(np.all(parts.routing >= whole.routing), "expected more routing uncertainty", "uncertainty with spread")
        deviation = cast("Mixture", family.predictive(leaves, membership, design, spread)).std
        _agree(deviation**2, parts.total, "variance of the predictive", "predictive with spread")


def slope_gains_are_not_negative(case: Case, rng: np.random.Generator) -> None:
    """Importances are shares of them (linear families)."""
    if not case.family.uses_design:
        return
    gains = cast("LinearFamily", case.family).slope_gains(case.leaves(rng))
    expected = (3, case.n_features)
    _hold(np.shape(gains) == expected, f"expected shape {expected}, found {np.shape(gains)}", "slope_gains")
    good = np.isfinite(gains) & (gains >= 0)
    _hold(good.all(), f"expected finite numbers from 0 on, found {gains[~good]}", "slope_gains")


def the_scan_family_keeps_the_laws(case: Case, rng: np.random.Generator) -> None:
    """A scan works with residuals and one feature as a tree does with targets and all (linear families)."""
    if not case.family.uses_design:
        return
    family = cast("LinearFamily", case.family)

    def draw_residuals(rng: np.random.Generator, n: int) -> Floats:
        rows = case.rows(rng, n)
        return family.residuals(rows.design, rows.targets, case.statistics(rng))[:, 0]

    scanned = Case(family.scan_family, draw_residuals, 1)
    _check_members(scanned.family, "scan_family")
    for law in LAWS:
        if law is not the_scan_family_keeps_the_laws:
            try:
                law(scanned, rng)
            except AssertionError as error:
                raise AssertionError(f"scan_family breaks the law '{name_of(law)}': {error}") from error


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
        found = np.asarray(copied(case.family).log_evidence(leaves))
        same = found.shape == expected.shape and found.tobytes() == expected.tobytes()
        look_at = "attributes that are set outside of __init__"
        _hold(same, f"log evidence of a copy: expected {expected} to the bit, found {found}", look_at)


Law = Callable[[Case, np.random.Generator], None]

# The simpler ones first: a family that breaks one often breaks those that follow from it.
LAWS: tuple[Law, ...] = (
    statistics_of_partitions_add,
    arguments_are_left_alone,
    an_integer_weight_equals_repeated_rows,
    counts_are_numbers_of_rows,
    sums_of_rows_are_possible,
    an_empty_leaf_has_log_evidence_zero,
    expected_parameters_are_the_gradient_of_log_evidence,
    log_evidence_is_convex,
    leaves_are_treated_one_by_one,
    unexplained_potential_is_finite_and_not_negative,
    log_evidence_is_the_sum_of_sequential_predictions,
    the_predictive_is_a_ratio_of_evidences,
    leaves_are_mixed_by_membership,
    the_predictive_mean_is_that_of_the_predictive,
    cdf_and_quantile_invert_each_other,
    the_predictive_sums_to_one,
    mean_and_std_are_those_of_the_density,
    samples_follow_the_cdf,
    uncertainty_is_the_sum_of_its_parts,
    uncertainty_of_a_leaf_falls_with_rows,
    bounds_are_in_order,
    a_description_is_one_line,
    residuals_are_means_and_variances,
    what_is_missing_adds_to_the_spread,
    slope_gains_are_not_negative,
    the_scan_family_keeps_the_laws,
    copies_are_the_same,
)


def name_of(law: Law) -> str:
    """A law in words."""
    return law.__name__.replace("_", " ")


def _check_members(family: Any, what: str) -> None:
    name = family.__name__ if isinstance(family, type) else type(family).__name__
    if isinstance(family, type):
        raise TypeError(f"{what} is the class {name}; give an instance, such as {name}(...).")
    missing = missing_members(family)
    if missing:
        raise TypeError(f"{what} is no family: {name} lacks {', '.join(missing)}.")
    for member, kind in (("uses_design", bool), ("n_statistics", int)):
        value = getattr(family, member)
        if not isinstance(value, kind):
            raise TypeError(f"{member} of {name} is {value!r}; make it a property that gives a {kind.__name__}.")


def check_family(
    family: Family,
    draw_targets: Callable[[np.random.Generator, int], NDArray[Any]],
    *,
    n_features: int = 2,
    n_rounds: int = 10,
    random_state: int = 0,
) -> None:
    """Hold a family to the laws that the rest of the package relies on.

    Parameters
    ----------
    family : Family
        The family with its prior.
    draw_targets : callable
        ``draw_targets(rng, n)`` gives n plausible targets, as an array; `rng` is a `numpy.random.Generator`.
    n_features : int, default=2
        Number of features to draw at random. Those of a family with linear leaves have to fit it.
    n_rounds : int, default=10
        How often each law is tried, each time with other targets and leaves.
    random_state : int, default=0
        Seed; the same one tries the same targets and leaves.

    Raises
    ------
    AssertionError
        If a law is broken. The message names the law, what was expected and found, and what to look at.
    TypeError
        If methods of `Family`, or of `LinearFamily` where leaves use the design, are missing.

    Examples
    --------
    >>> from bayesian_reticulum import DirichletCategorical
    >>> check_family(DirichletCategorical((1.0, 2.0)), lambda rng, n: rng.integers(2, size=n))

    >>> class Overconfident(DirichletCategorical):
    ...     def log_evidence(self, statistics):
    ...         return 0.5 * super().log_evidence(statistics)
    >>> check_family(Overconfident((1.0, 2.0)), lambda rng, n: rng.integers(2, size=n))
    Traceback (most recent call last):
        ...
    AssertionError: Overconfident breaks the law 'expected parameters are the gradient of log evidence': ...
    """
    _check_members(family, "family")
    case = Case(family, draw_targets, n_features)
    for law in LAWS:
        for round_ in range(n_rounds):
            try:
                law(case, np.random.default_rng([random_state, round_]))
            except AssertionError as error:
                message = f"{type(family).__name__} breaks the law '{name_of(law)}': {error}"
                raise AssertionError(message) from error
            except Exception as error:
                error.add_note(
                    f"This happened on the way to the law '{name_of(law)}' of {type(family).__name__}, with "
                    f"{n_features} features."
                )
                raise
