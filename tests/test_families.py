"""Every family keeps every law, and a family that breaks one is told so."""

from dataclasses import dataclass, replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bayesian_reticulum.distributions.classes import ClassDistribution
from bayesian_reticulum.distributions.mixture import Mixture
from bayesian_reticulum.distributions.student import StudentT
from bayesian_reticulum.distributions.uncertainty import Uncertainty
from bayesian_reticulum.families.dirichlet import DirichletCategorical
from bayesian_reticulum.families.normal import NormalLinear
from bayesian_reticulum.testing.case import Case
from bayesian_reticulum.testing.families import LAWS, check_family, name_of
from bayesian_reticulum.testing.statistics_laws import bounds_are_in_order
from plugins import FAMILIES, GammaPoisson, NegativeBinomial

seeds = st.integers(0, 2**32 - 1)
every_family = pytest.mark.parametrize("case", FAMILIES.values(), ids=FAMILIES)


@every_family
@pytest.mark.parametrize("law", LAWS, ids=name_of)
@settings(max_examples=10)
@given(seed=seeds)
def test_every_family_keeps_every_law(law, case, seed):
    law(case, np.random.default_rng(seed))


def test_probabilities_are_shares_of_counts_with_pseudo_counts():
    family = DirichletCategorical((1.0, 1.0, 2.0))
    np.testing.assert_allclose(family.probabilities(np.array([3.0, 0.0, 1.0])), [4 / 8, 1 / 8, 3 / 8], rtol=1e-14)


@given(seed=seeds, n_leaves=st.integers(1, 8), k=st.integers(2, 8), concentration=st.floats(0.01, 5.0))
def test_a_tuned_prior_has_the_highest_evidence_of_all_halvings_each_half_as_likely(seed, n_leaves, k, concentration):
    rng = np.random.default_rng(seed)
    statistics = rng.gamma(concentration, 20.0, size=(n_leaves, k))
    tuned = DirichletCategorical((0.5,) * k, is_tuned=True).with_estimated_prior(statistics)
    values = {}
    for halving in range(7):
        rival = DirichletCategorical((0.5 / 2**halving,) * k, is_tuned=True)
        values[rival] = rival.log_evidence(statistics).sum() - halving * np.log(2)
    assert values[tuned] == pytest.approx(max(values.values()), abs=1e-5)
    assert tuned.with_estimated_prior(statistics) is tuned


def test_a_prior_that_was_given_is_not_tuned():
    family = DirichletCategorical((0.5, 0.5, 0.5))
    assert family.with_estimated_prior(np.diag([50.0, 60.0, 70.0])) is family
    assert replace(family, is_tuned=True).with_estimated_prior(np.diag([50.0, 60.0, 70.0])).prior < family.prior


def test_a_constant_leaf_is_the_textbook_posterior():
    # Two targets, -1 and 2, under Normal(offset, variance) with offset ~ Normal(0, variance / 0.5) and variance ~
    # InverseGamma(2, 1): posterior precision 2.5, mean 0.4, shape 3 and rate 1 + (5 - 0.4) / 2.
    family = NormalLinear(offset_precision=0.5, shape=2.0, rate=1.0)
    statistics = family.row_statistics(None, np.array([-1.0, 2.0])).sum(axis=0)[None]
    prediction = family.predictive(statistics, np.ones((1, 1)), np.ones((2, 1)))
    components = prediction.components
    assert components.dof.item() == pytest.approx(6.0, rel=1e-12)
    assert components.location.item() == pytest.approx(0.4, rel=1e-12)
    assert components.scale.item() == pytest.approx(np.sqrt(3.3 / 3.0 * (1 + 1 / 2.5)), rel=1e-12)


@given(seed=seeds)
def test_units_of_the_targets_do_not_matter(seed):
    rng = np.random.default_rng(seed)
    design = np.vstack([np.ones(9), rng.normal(size=(2, 9))])
    targets = rng.normal(size=9)
    standard, other = NormalLinear(2), NormalLinear(2, center=7.0, scale=0.01)
    one, two = (
        family.row_statistics(design, family.center + family.scale * targets).sum(axis=0)
        for family in (standard, other)
    )
    np.testing.assert_allclose(two, one, rtol=1e-9, atol=1e-9)
    # A density is a density per unit.
    assert other.log_evidence(two) == pytest.approx(standard.log_evidence(one) - 9 * np.log(0.01), rel=1e-9)


@given(seed=seeds)
def test_targets_of_unknown_rounding_have_expected_statistics(seed):
    rng = np.random.default_rng(seed)
    family = NormalLinear(1, center=1.0, scale=3.0)
    design = np.vstack([np.ones(5), rng.normal(size=5)])
    mean, variance = rng.normal(size=5), rng.uniform(0.1, 2.0, size=5)
    ends = [family.row_statistics(design, mean + sign * np.sqrt(variance)) for sign in (-1, 1)]
    found = family.row_statistics(design, np.column_stack([mean, variance]))
    np.testing.assert_allclose(found, sum(ends) / 2, rtol=1e-9, atol=1e-9)


def test_many_classes_are_described_by_the_most_probable():
    told = DirichletCategorical((1.0,) * 6).describe(np.array([5.0, 0, 0, 9, 1, 0]), list("abcdef"), str)
    assert told == "a 0.286, b 0.048, d 0.476, e 0.095, 2 others 0.095"


# Families that break one law each. All are at the top of the module, so that they can be pickled.


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
MUTANTS = [
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
    if isinstance(family, GammaPoisson):
        return replace(FAMILIES["counts"], family=family)
    if isinstance(family, NormalLinear):
        return replace(LINEAR if family.uses_design else CONSTANT, family=family)
    return Case(family, lambda rng, n: rng.integers(len(family.prior), size=n))


@pytest.mark.parametrize(
    ("family", "law", "what"), MUTANTS, ids=lambda value: "" if isinstance(value, str) else type(value).__name__
)
def test_a_broken_law_is_named_with_what_was_found(family, law, what):
    case = case_of(family)
    with pytest.raises(AssertionError, match=rf"^{type(family).__name__} breaks the law '{law}': .*{what}"):
        check_family(family, case.draw_targets, n_features=case.n_features)


def test_bounds_out_of_order_are_noticed():
    case = case_of(Concave(CLASSES))
    with pytest.raises(AssertionError, match="expected the paper's bound at most the expected log-likelihood, found"):
        bounds_are_in_order(case, np.random.default_rng(0))


def test_every_law_is_one_that_some_family_breaks():
    assert {law for _, law, _ in MUTANTS} | {name_of(bounds_are_in_order)} == {name_of(law) for law in LAWS}


class Lonely:
    uses_design = True
    n_statistics = 2

    def row_statistics(self, design, targets):
        return np.ones((len(targets), 2))


class WithMethods(DirichletCategorical):
    def n_statistics(self):
        return len(self.prior)


def test_what_is_no_family_is_refused_with_what_it_lacks():
    draw_targets = CONSTANT.draw_targets
    with pytest.raises(TypeError, match=r"family is no family: Lonely lacks are_possible, .*, slope_gains, .*\.$"):
        check_family(Lonely(), draw_targets)
    with pytest.raises(TypeError, match=r"family is the class NormalLinear; give an instance, such as NormalLinear\("):
        check_family(NormalLinear, draw_targets)
    with pytest.raises(TypeError, match=r"n_statistics of WithMethods is .*; make it a property that gives a int"):
        check_family(WithMethods(CLASSES), draw_targets)


def test_other_errors_say_which_law_they_come_from():
    with pytest.raises(ValueError, match=r"broadcast|shape|mismatch") as caught:
        check_family(NormalLinear(1), CONSTANT.draw_targets, n_features=3)
    assert caught.value.__notes__ == [
        "This happened on the way to the law 'statistics of partitions add' of NormalLinear, with 3 features."
    ]
