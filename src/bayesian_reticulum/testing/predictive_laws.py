"""Laws of predictive distributions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy.special import entr

from ..arrays import Floats
from ..distributions import ClassDistribution, Mixture
from .case import TOLERANCE, Case, agree, hold

_DRAWS = 4000
# By the Dvoretzky-Kiefer-Wolfowitz inequality, draws from the right distribution are further off once in a billion.
_FURTHEST = float(np.sqrt(np.log(2e9) / (2 * _DRAWS)))
_TAILS = np.array([1e-12, 1e-9, 1e-6, 1e-4, 0.01, 0.1, 0.3])
_LEVELS = np.concatenate([_TAILS, [0.5], 1.0 - _TAILS[::-1]])
# A density that needs more pieces, or counts, is not integrated any further.
_MOST_COUNTS = 100_000
_MOST_PIECES = 4000


def log_evidence_is_the_sum_of_sequential_predictions(case: Case, rng: np.random.Generator) -> None:
    """The chain rule: log densities of each target given those before it add up to the log evidence."""
    design, targets, statistics = case.rows(rng, 8)
    after = np.cumsum(statistics, axis=0)
    before = np.concatenate([np.zeros_like(after[:1]), after[:-1]])
    # Each row has another leaf, with the statistics of the rows before it.
    predicted = case.predictive(before, np.eye(8), design).logpdf(targets)
    look_at = "log_evidence and predictive: one of them has another prior or constant"
    agree(case.family.log_evidence(after[-1]), predicted.sum(), "log evidence", look_at)


def the_predictive_is_a_ratio_of_evidences(case: Case, rng: np.random.Generator) -> None:
    """The predictive density at a target is the evidence with this target over that without it."""
    design, targets, statistics = case.rows(rng, 6)
    for leaf in case.leaves(rng):
        density = case.predictive(leaf[None], np.ones((1, 6)), design).logpdf(targets)
        ratio = case.family.log_evidence(leaf + statistics) - case.family.log_evidence(leaf)
        # Both evidences are rounded.
        unit = 1.0 + np.abs(case.family.log_evidence(leaf))
        agree(density, ratio, "log density of the predictive", "predictive", unit=unit)


def leaves_are_mixed_by_membership(case: Case, rng: np.random.Generator) -> None:
    """The predictive of a row that belongs to several leaves is the mixture of theirs."""
    design, targets, _ = case.rows(rng, 6)
    leaves, membership = case.leaves(rng), rng.dirichlet(np.ones(3), size=6).T
    alone = [case.predictive(leaf[None], np.ones((1, 6)), design).pdf(targets) for leaf in leaves]
    mixed = (membership * np.array(alone)).sum(axis=0)
    density = case.predictive(leaves, membership, design).pdf(targets)
    agree(density, mixed, "density of the predictive", "predictive and its use of membership", unit=mixed.max())


def the_predictive_mean_is_that_of_the_predictive(case: Case, rng: np.random.Generator) -> None:
    """`predictive_mean` is the mean of `predictive`, also of no rows."""
    design = case.rows(rng, 6).design
    leaves, membership = case.leaves(rng), rng.dirichlet(np.ones(3), size=6).T
    predictive = case.predictive(leaves, membership, design)
    mean, expected = case.family.predictive_mean(leaves, membership, design), predictive.mean
    hold(
        np.shape(mean) == np.shape(expected),
        f"expected shape {np.shape(expected)}, found {np.shape(mean)}",
        "predictive_mean",
    )
    unit: Any = np.ones_like(expected)
    if isinstance(predictive, Mixture):
        lower, upper = predictive.interval(0.5)
        unit = upper - lower
    is_finite = np.isfinite(expected)
    look_at = "predictive_mean and predictive"
    agree(mean[is_finite], expected[is_finite], "predictive_mean", look_at, unit=unit[is_finite])
    of_no_rows = case.family.predictive_mean(leaves, membership[:, :0], design[:, :0])
    agree(of_no_rows, expected[:0], "predictive_mean of no rows", "predictive_mean")


def predict_each_leaf(case: Case, rng: np.random.Generator) -> Mixture | ClassDistribution:
    """Three rows, one for each of the leaves."""
    return case.predictive(case.leaves(rng), np.eye(3), case.rows(rng, 3).design)


def cdf_and_quantile_invert_each_other(case: Case, rng: np.random.Generator) -> None:
    """A quantile is the first number, or class, with a cdf of at least q."""
    predictive = predict_each_leaf(case, rng)
    q = np.array([1e-6, 0.01, 0.1, 0.5, 0.8, 0.999, 1 - 1e-6])
    quantile = predictive.quantile(q)
    cdf = predictive.cdf(quantile)
    look_at = "cdf of the components: it has to rise from 0 to 1, where the density is"
    if isinstance(predictive, Mixture) and not predictive.components.is_discrete:
        agree(cdf, np.tile(q, (3, 1)), "cdf of a quantile", look_at, unit=0.0)
        return
    before = cdf - predictive.pmf(quantile)
    for level, up_to, less in zip(np.tile(q, 3), cdf.flat, before.flat, strict=True):
        hold(
            less - TOLERANCE <= level <= up_to + TOLERANCE,
            f"expected the cdf to pass {level:g} at its quantile, found it going from {less:.10g} to {up_to:.10g}",
            look_at,
        )


class _Moments(NamedTuple):
    """Sums of a density.

    `mass` is that of pieces between quantiles, or of all counts up to each, and `probability` is the one that the cdf
    gives them. `moments` (2,) are the first and second, about `center` and in units of `unit`; `missing` is an upper
    limit of what the tails beyond would add to them.
    """

    mass: Floats
    probability: Floats
    center: float
    unit: float
    moments: Floats
    missing: Floats


def _moments(predictive: Mixture) -> _Moments:
    """Sums of the density of a predictive of one row."""
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
    """Integrals (q, pieces) of a function of (m,) to (q, m) between edges; pieces are halved until they converge."""
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
        rest &= len(rest) < _MOST_PIECES
        np.add.at(totals.T, piece[~rest], (left + right)[:, ~rest].T)
        low, high = np.append(low[rest], middle[rest]), np.append(middle[rest], high[rest])
        piece, whole = np.tile(piece[rest], 2), np.concatenate([left[:, rest], right[:, rest]], axis=1)
    return totals


def the_predictive_sums_to_one(case: Case, rng: np.random.Generator) -> None:
    """Densities integrate, and probabilities sum, to differences of the cdf."""
    predictive = predict_each_leaf(case, rng)
    if isinstance(predictive, ClassDistribution):
        total = predictive.pmf(predictive.classes[None]).sum(axis=1)
        agree(total, np.ones(3), "sum of the probabilities of all classes", "predictive")
        return
    for row in range(3):
        sums = _moments(predictive[row])
        what = "probability between two quantiles, by adding up the density"
        agree(sums.mass, sums.probability, what, "logpdf and cdf of the components", tolerance=1e-7)


def mean_and_std_are_those_of_the_density(case: Case, rng: np.random.Generator) -> None:
    """Mean and standard deviation, where they exist, are the moments of the density."""
    predictive = predict_each_leaf(case, rng)
    if isinstance(predictive, ClassDistribution):
        codes = predictive.pmf(predictive.classes[None])
        agree(predictive.mean, codes, "mean of the one-hot target", "predictive")
        return
    for row, (mean, std) in enumerate(zip(predictive.mean, predictive.std, strict=True)):
        sums = _moments(predictive[row])
        first = (mean - sums.center) / sums.unit
        second = (std / sums.unit) ** 2 + first**2
        for what, stated, moment, missing in zip(
            ("mean", "variance"), (first, second), sums.moments, sums.missing, strict=True
        ):
            hold(
                not np.isfinite(stated) or abs(moment - stated) <= 1e-6 * (1.0 + abs(stated)) + missing,
                f"{what} of the predictive, from its median and in units of its spread: expected {moment:.10g} by "
                f"adding up the density, found {stated:.10g}",
                f"{what} of the components",
            )


def samples_follow_the_cdf(case: Case, rng: np.random.Generator) -> None:
    """The cdf of draws is uniform."""
    predictive = predict_each_leaf(case, rng)
    draws = predictive.sample(_DRAWS, random_state=rng)
    hold(np.shape(draws) == (3, _DRAWS), f"expected draws of shape (3, {_DRAWS}), found {np.shape(draws)}", "draw")
    uniform = predictive.cdf(draws)
    if isinstance(predictive, ClassDistribution) or predictive.components.is_discrete:
        # A jump of the cdf is spread out evenly.
        uniform = uniform - rng.random(uniform.shape) * predictive.pmf(draws)
    steps = np.arange(_DRAWS + 1) / _DRAWS
    ordered = np.sort(uniform, axis=1)
    distance = float(np.maximum(steps[1:] - ordered, ordered - steps[:-1]).max())
    hold(
        distance <= _FURTHEST,
        f"expected the cdf of {_DRAWS} draws within {_FURTHEST:.3f} of a uniform one, found {distance:.3f}",
        "draw and cdf of the components",
    )


def uncertainty_is_the_sum_of_its_parts(case: Case, rng: np.random.Generator) -> None:
    """No part is negative, and the total is the variance, or the entropy of classes, of the predictive."""
    design = case.rows(rng, 6).design
    leaves, membership = case.leaves(rng), rng.dirichlet(np.ones(3), size=6).T
    predictive = case.predictive(leaves, membership, design)
    uncertainty = case.family.uncertainty(leaves, membership, design)
    parts = [uncertainty.aleatoric, uncertainty.leaf, uncertainty.routing]
    for name, part in zip(("aleatoric", "leaf", "routing"), parts, strict=True):
        hold(not np.any(part < 0), f"{name} part: expected numbers from 0 on, found {part}", "uncertainty")
    if isinstance(predictive, ClassDistribution):
        expected, look_at = entr(predictive.probabilities).sum(axis=1), "uncertainty, whose total is an entropy in nats"
    else:
        expected, look_at = predictive.std**2, "uncertainty, whose total is a variance, and variance of the components"
    total, is_finite = uncertainty.total, np.isfinite(expected)
    unit = 1.0 if isinstance(predictive, ClassDistribution) else expected[is_finite]
    agree(total[is_finite], expected[is_finite], "total", look_at, unit=unit)
    hold(not np.isfinite(total[~is_finite]).any(), f"expected a total that is not finite, found {total}", look_at)
    added = np.sum(parts, axis=0)[is_finite]
    agree(added, total[is_finite], "sum of the parts", "uncertainty", unit=unit)


def uncertainty_of_a_leaf_falls_with_rows(case: Case, rng: np.random.Generator) -> None:
    """A leaf with a hundred times the rows has less than half the uncertainty; the only leaf has none of routing."""
    design, _, statistics = case.rows(rng, 30 + case.family.n_statistics)
    leaf, membership = statistics.sum(axis=0)[None], np.ones((1, len(statistics)))
    few, many = (case.family.uncertainty(factor * leaf, membership, design) for factor in (1, 100))
    for uncertainty in (few, many):
        is_zero = uncertainty.routing <= TOLERANCE * uncertainty.total
        hold(
            is_zero.all(),
            f"routing to the only leaf: expected 0, found {uncertainty.routing.max():.10g}",
            "uncertainty",
        )
    # It falls to about a hundredth.
    is_good = (many.leaf < 0.5 * few.leaf) | (few.leaf <= TOLERANCE * few.total)
    hold(
        is_good.all(),
        f"leaf part: expected less than half of {few.leaf[~is_good]} after 100 times the rows, "
        f"found {many.leaf[~is_good]}",
        "uncertainty and its leaf part",
    )


def a_description_is_one_line(case: Case, rng: np.random.Generator) -> None:
    """A leaf has one line in a printed tree."""
    leaves = case.leaves(rng)
    predictive = predict_each_leaf(case, rng)
    n_classes = len(predictive.classes) if isinstance(predictive, ClassDistribution) else 1
    lengths = (1, case.n_features + 1)

    def linear(coefficients: Floats) -> str:
        shape = np.shape(coefficients)
        is_good = len(shape) == 1 and shape[0] in lengths
        hold(is_good, f"expected `linear` called with one of {lengths} numbers, found shape {shape}", "describe")
        return " ".join(f"{coefficient:.3g}" for coefficient in coefficients)

    for leaf in leaves:
        text = case.family.describe(leaf, [f"y{j}" for j in range(n_classes)], linear)
        is_good = isinstance(text, str) and text.strip() and "\n" not in text
        hold(is_good, f"expected one line of text, found {text!r}", "describe")
