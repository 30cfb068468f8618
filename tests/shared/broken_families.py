"""Families that break one law each, all at the top of a module, so that they can be pickled."""

from dataclasses import dataclass, replace

import numpy as np
import pytest

from bayesian_reticulum.distributions import ClassDistribution, Mixture, StudentT, Uncertainty
from bayesian_reticulum.families import DirichletCategorical, NormalLinear
from bayesian_reticulum.testing.case import Case
from bayesian_reticulum.testing.families import LAWS, name_of
from exposures import ExposedCounts, draw_exposures
from plugins import FAMILIES, GammaPoisson, NegativeBinomial


class Transposed(DirichletCategorical):
    def row_statistics(self, design, targets):
        return super().row_statistics(design, targets).T


class Centred(NormalLinear):
    def row_statistics(self, design, targets):
        return super().row_statistics(design, targets - targets.mean() if len(targets) else targets)


class InPlace(NormalLinear):
    def log_evidence(self, statistics):
        value = super().log_evidence(statistics)
        statistics += 1.0
        return value


class DropsRepeats(NormalLinear):
    def row_statistics(self, design, targets):
        statistics = super().row_statistics(design, targets).copy()
        # Rows that are there twice are dropped.
        statistics[1:][np.diff(targets) == 0] = 0
        return statistics


class Sweeping(ExposedCounts):
    """Takes the largest exposure for that of all rows."""

    def row_statistics(self, design, targets, exposure):
        return super().row_statistics(design, targets, np.full(len(targets), np.max(exposure, initial=0.0)))


class Doubled(DirichletCategorical):
    def counts(self, statistics):
        return 2 * super().counts(statistics)


class Impossible(NormalLinear):
    def are_possible(self, statistics):
        return np.zeros(statistics.shape[:-1], dtype=bool)


class AllPossible(NormalLinear):
    def are_possible(self, statistics):
        return np.ones(statistics.shape[:-1], dtype=bool)


class Shifted(DirichletCategorical):
    def log_evidence(self, statistics):
        return super().log_evidence(statistics) + 0.1


class WrongSlope(NormalLinear):
    def expected_parameters(self, statistics):
        return super().expected_parameters(statistics) * np.where(np.arange(self.n_statistics) == 1, 1.001, 1.0)


class Concave(DirichletCategorical):
    def log_evidence(self, statistics):
        return super().log_evidence(statistics) - self.counts(statistics) ** 2

    def expected_parameters(self, statistics):
        return super().expected_parameters(statistics) - 2 * self.counts(statistics)[..., None]


class Relative(DirichletCategorical):
    def unexplained_potential(self, statistics):
        potential = super().unexplained_potential(statistics)
        return potential / max(potential.max(), 1e-300)


class Pessimist(NormalLinear):
    def unexplained_potential(self, statistics):
        return super().unexplained_potential(statistics) - 1e3


class Unnormalised(NormalLinear):
    """Without the constant of the density, as is often done."""

    def log_evidence(self, statistics):
        return super().log_evidence(statistics) + 0.5 * np.log(2 * np.pi) * self.counts(statistics)

    def expected_parameters(self, statistics):
        expected = super().expected_parameters(statistics)
        expected[..., self.n_slopes + 2] += 0.5 * np.log(2 * np.pi)
        return expected


class Forgetful(DirichletCategorical):
    """Right for a leaf that has seen few rows, and so along the chain of them."""

    def predictive(self, statistics, membership, design):
        return super().predictive(np.minimum(statistics, 8.0), membership, design)


class Sharpened(NormalLinear):
    def predictive(self, statistics, membership, design):
        sharp = membership**2
        return super().predictive(statistics, sharp / sharp.sum(axis=0), design)


class Biased(NormalLinear):
    def predictive_mean(self, statistics, membership, design):
        return super().predictive_mean(statistics, membership, design) + 1e-3


@dataclass(frozen=True, eq=False, repr=False)
class Odd:
    """Components that differ from Student's t in one method."""

    student: StudentT
    is_discrete = False

    @property
    def mean(self):
        return self.student.mean

    @property
    def variance(self):
        return self.student.variance

    def logpdf(self, y):
        return self.student.logpdf(y)

    def cdf(self, y):
        return self.student.cdf(y)

    def draw(self, components, rows, rng):
        return self.student.draw(components, rows, rng)

    def __getitem__(self, rows):
        return type(self)(self.student[rows])


class WithoutTail(Odd):
    def cdf(self, y):
        return np.minimum(super().cdf(y), 0.9)


class Wide(Odd):
    def cdf(self, y):
        return self.student.cdf(0.9 * np.asarray(y))


class Tame(Odd):
    @property
    def variance(self):
        return 0.99 * self.student.variance


class Uneven(Odd):
    def draw(self, components, rows, rng):
        return np.abs(super().draw(components, rows, rng))


@dataclass(frozen=True)
class OddNormal(NormalLinear):
    odd: type = Odd

    def predictive(self, statistics, membership, design):
        prediction = super().predictive(statistics, membership, design)
        return Mixture(prediction.weights, self.odd(prediction.components))


class TooSure(NormalLinear):
    def predictive(self, statistics, membership, design):
        prediction = super().predictive(statistics, membership, design)
        student = prediction.components
        return Mixture(prediction.weights, StudentT(student.dof, student.location, 0.9 * student.scale))


class Lopsided(DirichletCategorical):
    """Classes in another order, where only the cdf and draws can tell."""

    def predictive(self, statistics, membership, design):
        prediction = super().predictive(statistics, membership, design)
        return _Shuffled(prediction.classes, prediction.probabilities)


@dataclass(frozen=True, eq=False, repr=False)
class OffByOne(NegativeBinomial):
    def cdf(self, y):
        return super().cdf(np.asarray(y) - 1) * (np.asarray(y) > 0)


class Late(GammaPoisson):
    def predictive(self, statistics, membership, design):
        components = super().predictive(statistics, membership, design).components
        return Mixture(membership, OffByOne(components.shape, components.rate))


class _Shuffled(ClassDistribution):
    def sample(self, n, random_state=None):
        return self.classes[::-1][super().sample(n, random_state)]


class Indebted(NormalLinear):
    def uncertainty(self, statistics, membership, design):
        parts = super().uncertainty(statistics, membership, design)
        return Uncertainty(parts.total, parts.aleatoric + 2 * parts.leaf, -parts.leaf, parts.routing)


class Careless(DirichletCategorical):
    def uncertainty(self, statistics, membership, design):
        parts = super().uncertainty(statistics, membership, design)
        return Uncertainty.of_parts(1.01 * parts.aleatoric, parts.leaf, parts.routing)


class Stubborn(NormalLinear):
    """Always takes half of the noise for doubt about the leaf."""

    def uncertainty(self, statistics, membership, design):
        parts = super().uncertainty(statistics, membership, design)
        return Uncertainty.of_parts(parts.aleatoric / 2, parts.leaf + parts.aleatoric / 2, parts.routing)


class Poetic(DirichletCategorical):
    def describe(self, statistics, names, linear):
        return "\n".join(names)


class OneColumn(NormalLinear):
    def residuals(self, design, targets, statistics):
        return super().residuals(design, targets, statistics)[:, :1]


class Undaunted(NormalLinear):
    def predictive(self, statistics, membership, design, spread=None):
        return super().predictive(statistics, membership, design)


class Losing(NormalLinear):
    def slope_gains(self, statistics):
        return super().slope_gains(statistics) - 1.0


class BadScan(NormalLinear):
    @property
    def scan_family(self):
        return WrongSlope(1)


class ChangedByCopying(DirichletCategorical):
    def __reduce__(self):
        return ChangedByCopying, (tuple(2 * count for count in self.prior),)


class NotToBePickled(DirichletCategorical):
    def __reduce__(self):
        return (lambda: self), ()


CLASSES, CONSTANT, LINEAR = (0.5, 0.5), FAMILIES["constant"], FAMILIES["one slope"]
BROKEN = [
    (Sweeping(), "metadata belong to single rows", "statistics of rows together, against one by one at"),
    (
        Transposed((0.5, 0.5, 0.5)),
        "statistics of partitions add",
        r"expected statistics of shape \(\d+, 3\), found \(3, ",
    ),
    (Centred(), "statistics of partitions add", "sum over the rows of both parts at"),
    (InPlace(), "arguments are left alone", "expected log_evidence to leave its arguments as they are"),
    (DropsRepeats(), "an integer weight equals repeated rows", "Look at row_statistics"),
    (Doubled(CLASSES), "counts are numbers of rows", "count of weighted rows"),
    (Impossible(), "sums of rows are possible", "a single row: expected True, found False"),
    (AllPossible(), "sums of rows are possible", "negative weights: expected False, found True"),
    (Shifted(CLASSES), "an empty leaf has log evidence zero", r"at \[0\]: expected 0, found 0\.1"),
    (WrongSlope(), "expected parameters are the gradient of log evidence", "Look at expected_parameters"),
    (Concave(CLASSES), "log evidence is convex", "expected log evidence above the tangent"),
    (Relative(CLASSES), "leaves are treated one by one", r"unexplained_potential of leaves \(2, 3\) together"),
    (Pessimist(), "unexplained potential is finite and not negative", "expected finite numbers from 0 on"),
    (Unnormalised(), "log evidence is the sum of sequential predictions", "another prior or constant"),
    (TooSure(), "log evidence is the sum of sequential predictions", "Look at log_evidence and predictive"),
    (Forgetful(CLASSES), "the predictive is a ratio of evidences", "log density of the predictive at"),
    (Sharpened(), "leaves are mixed by membership", "density of the predictive at"),
    (Biased(), "the predictive mean is that of the predictive", "predictive_mean at"),
    (OddNormal(odd=WithoutTail), "cdf and quantile invert each other", "it has to rise from 0 to 1"),
    (Late(), "cdf and quantile invert each other", r"expected the cdf to pass 1e-06 at its quantile, found it going"),
    (OddNormal(odd=Wide), "the predictive sums to one", "by adding up the density"),
    (OddNormal(odd=Tame), "mean and std are those of the density", "variance of the predictive"),
    (OddNormal(odd=Uneven), "samples follow the cdf", "expected the cdf of 4000 draws within"),
    (Lopsided((0.1, 5.0)), "samples follow the cdf", "Look at draw and cdf of the components"),
    (Indebted(), "uncertainty is the sum of its parts", "leaf part: expected numbers from 0 on"),
    (Careless(CLASSES), "uncertainty is the sum of its parts", "whose total is an entropy in nats"),
    (Stubborn(), "uncertainty of a leaf falls with rows", "leaf part: expected less than half of"),
    (Poetic(CLASSES), "a description is one line", r"found 'y0\\ny1'"),
    (OneColumn(1), "residuals are means and variances", r"expected shape \(6, 2\), found \(6, 1\)"),
    (Undaunted(1), "what is missing adds to the spread", "variance of the predictive"),
    (Losing(1), "slope gains are not negative", "expected finite numbers from 0 on"),
    (BadScan(1), "the scan family keeps the laws", "scan_family breaks the law 'expected parameters are the gradient"),
    (ChangedByCopying(CLASSES), "copies are the same", "log evidence of a copy"),
    (NotToBePickled(CLASSES), "copies are the same", "expected a family that can be pickled"),
]


def case_of(family):
    """A case to try the family on: that of the family of `plugins` that it differs from."""
    if isinstance(family, ExposedCounts):
        return replace(FAMILIES["counts"], family=family, draw_metadata=draw_exposures)
    if isinstance(family, GammaPoisson):
        return replace(FAMILIES["counts"], family=family)
    if isinstance(family, NormalLinear):
        return replace(LINEAR if family.uses_design else CONSTANT, family=family)
    return Case(family, lambda rng, n: rng.integers(len(family.prior), size=n))


def breaking_laws_of(module):
    """The families, with the laws they break and the messages, for the laws that a module defines."""
    names = {name_of(law) for law in LAWS if law.__module__ == module.__name__}
    return [pytest.param(family, law, what, id=type(family).__name__) for family, law, what in BROKEN if law in names]
