"""Laws that every predictive distribution keeps."""

import copy
import pickle
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import special, stats

from bayesian_reticulum.distributions.classes import ClassDistribution
from bayesian_reticulum.distributions.mixture import Mixture
from bayesian_reticulum.distributions.student import StudentT

seeds = st.integers(0, 2**32 - 1)
probabilities = st.one_of(
    st.floats(1e-6, 1 - 1e-6), st.sampled_from([1e-12, 1e-6, 0.05, 0.5, np.nextafter(0.5, 1), 0.95, 1 - 1e-6])
)


@dataclass(frozen=True)
class _Toy:
    """Components with nothing but what the protocol asks for."""

    size: np.ndarray
    is_discrete = False

    def __getitem__(self, rows):
        return self if self.size.shape[1] == 1 else type(self)(self.size[:, rows])


class Poisson(_Toy):
    is_discrete = True
    mean = variance = property(lambda self: self.size)

    def logpdf(self, y):
        return special.xlogy(y, self.size) - self.size - special.gammaln(y + 1)

    def cdf(self, y):
        return special.pdtr(y, self.size)

    def draw(self, components, rows, rng):
        return rng.poisson(self.size[components, rows]).astype(float)


class Exponential(_Toy):
    mean = property(lambda self: self.size)
    variance = property(lambda self: self.size**2)

    def logpdf(self, y):
        return np.where(y >= 0, -np.maximum(y, 0) / self.size - np.log(self.size), -np.inf)

    def cdf(self, y):
        return -np.expm1(-np.maximum(y, 0) / self.size)

    def draw(self, components, rows, rng):
        return rng.exponential(self.size[components, rows])


class Cauchy(_Toy):
    """Neither mean nor variance exists."""

    mean = property(lambda self: np.full(self.size.shape, np.nan))
    variance = property(lambda self: np.full(self.size.shape, np.inf))

    def logpdf(self, y):
        return -2 * np.log(np.hypot(1, y / self.size)) - np.log(np.pi * self.size)

    def cdf(self, y):
        return np.arctan2(1, -y / self.size) / np.pi

    def draw(self, components, rows, rng):
        return self.size[components, rows] * rng.standard_cauchy(rows.shape)


def poissons(rng, n=4, n_components=3):
    return Mixture(_weights(rng, n_components, n), Poisson(rng.uniform(0.1, 30, (n_components, n))))


def exponentials(rng, n=4, n_components=3):
    return Mixture(_weights(rng, n_components, n), Exponential(10 ** rng.uniform(-2, 2, (n_components, n))))


def cauchys(rng, n=4, n_components=3):
    return Mixture(_weights(rng, n_components, n), Cauchy(10 ** rng.uniform(-2, 2, (n_components, n))))


def students(rng, n=4, n_components=None, spread=2.0, scales=0.5, dof=None):
    n_components = rng.integers(1, 6) if n_components is None else n_components
    dof = 10 ** rng.uniform(np.log10(2.1), 6, (n_components, 1)) if dof is None else dof
    location = spread * rng.normal(size=(n_components, n))
    return Mixture(
        _weights(rng, n_components, n), StudentT(dof, location, np.exp(scales * rng.normal(size=(n_components, n))))
    )


def separated(rng, n=4):
    """Between its bells the cdf is flat."""
    return students(rng, n, n_components=4, spread=1e6)


def of_many_scales(rng, n=4):
    weights = _weights(rng, 5, n)
    return Mixture(
        weights, StudentT(10 ** rng.uniform(0.33, 6, (5, 1)), rng.normal(size=(5, n)), 10 ** rng.uniform(-3, 3, (5, n)))
    )


def alike(rng, n=4):
    """All rows have the same components, of which some have no weight."""
    weights = _weights(rng, 4, n)
    weights[rng.integers(4)] = 0.0
    return Mixture(
        weights / weights.sum(0), StudentT([[3.0], [4.0], [50.0], [2.5]], rng.normal(size=(4, 1)), [[1.0]] * 4)
    )


def _weights(rng, n_components, n):
    return rng.dirichlet(np.full(n_components, 0.5), n).T.reshape(n_components, n)


STUDENTS = [students, separated, of_many_scales, alike]
CONTINUOUS = [*STUDENTS, exponentials, cauchys]
every_mixture = pytest.mark.parametrize("make", [*CONTINUOUS, poissons], ids=lambda make: make.__name__)
every_continuous = pytest.mark.parametrize("make", CONTINUOUS, ids=lambda make: make.__name__)
every_student = pytest.mark.parametrize("make", STUDENTS, ids=lambda make: make.__name__)


def random_classes(rng, n=5, k=4, labels=None):
    return ClassDistribution(np.array(labels if labels is not None else range(k)), rng.dirichlet(np.full(k, 0.7), n))


def assert_inverts(mixture, q):
    x = mixture.quantile(q)
    np.testing.assert_allclose(mixture.cdf(x), q, rtol=0, atol=1e-9 * min(q, 1 - q))


# Mixtures of numbers


@every_continuous
@given(seed=seeds, q=probabilities)
def test_cdf_of_a_quantile_is_its_probability(make, seed, q):
    mixture = make(np.random.default_rng(seed))
    # Where the spacing of floats is wide, the nearest of them is the answer.
    x = mixture.quantile(q)
    below, above = mixture.cdf(np.nextafter(x, -np.inf)), mixture.cdf(np.nextafter(x, np.inf))
    slack = 1e-9 * min(q, 1 - q)
    assert (below <= q + slack).all()
    assert (above >= q - slack).all()
    if make in (students, of_many_scales, alike):
        assert_inverts(mixture, q)


@every_student
def test_cdf_of_a_quantile_is_its_probability_in_large_tables(make):
    mixture = make(np.random.default_rng(0), 5000)
    for q in (1e-12, 1e-6, 0.05, 0.5, 0.8, 1 - 1e-6):
        x = mixture.quantile(q)
        assert np.isfinite(x).all()
        reach = np.spacing(np.abs(x)) * np.maximum(mixture.pdf(x), mixture.pdf(np.nextafter(x, -np.inf)))
        assert (np.abs(mixture.cdf(x) - q) <= 2 * reach + 1e-9 * min(q, 1 - q)).all()


@every_student
def test_quantiles_do_not_depend_on_how_many_rows_are_asked_for(make):
    mixture = make(np.random.default_rng(1), 3000)
    q = [0.01, 0.3, 0.9]
    few = mixture[:50]
    slack = 1e-9 / few.pdf(few.quantile(q))
    assert (np.abs(mixture.quantile(q)[:50] - few.quantile(q)) <= slack + 1e-9).all()


@every_continuous
@given(seed=seeds)
def test_quantile_of_a_cdf_is_the_number(make, seed):
    rng = np.random.default_rng(seed)
    mixture = make(rng)
    y = mixture.sample(1, rng)[:, 0]
    q = mixture.cdf(y)
    inverse = np.array([mixture[row].quantile(q[row])[0] for row in range(len(y))])
    slack = 2e-9 * np.minimum(q, 1 - q) / np.maximum(mixture.pdf(y), 1e-300) + 1e-9 * np.abs(y)
    assert (np.abs(inverse - y)[mixture.pdf(y) > 1e-12] <= slack[mixture.pdf(y) > 1e-12]).all()


@given(seed=seeds, q=st.floats(1e-9, 1 - 1e-9))
def test_quantile_of_counts_is_the_smallest_with_enough_probability(seed, q):
    mixture = poissons(np.random.default_rng(seed))
    x = mixture.quantile(q)
    np.testing.assert_array_equal(x, np.floor(x))
    assert (mixture.cdf(x) >= q - 1e-14).all()
    assert (mixture.cdf(x - 1) < q).all()


@given(seed=seeds, k=st.integers(0, 40))
def test_quantile_of_the_cdf_of_a_count_is_the_count(seed, k):
    mixture = poissons(np.random.default_rng(seed))
    for row, q in enumerate(mixture.cdf(k)):
        if mixture.pmf(k)[row] > 1e-12:
            assert mixture[row].quantile(q)[0] == k


def test_counts_may_be_large():
    mixture = Mixture([[0.5], [0.5]], Poisson(np.array([[1e-3], [1e9]])))
    assert mixture.quantile(0.25)[0] == 0
    assert mixture.quantile(0.75)[0] == pytest.approx(1e9, rel=1e-3)


@given(
    seed=seeds,
    exponents=st.lists(st.floats(-300, 300), min_size=3, max_size=3),
    location=st.sampled_from([0.0, 1.0, -1e9, 1e300]),
    q=st.one_of(probabilities, st.floats(0, 1), st.sampled_from([0.0, 1e-300, 5e-324, 1.0])),
)
def test_extreme_components_give_neither_nan_nor_warnings(seed, exponents, location, q):
    rng = np.random.default_rng(seed)
    dof = rng.choice([2.0001, 2.1, 30.0, 1e6, 1e15], (3, 1))
    components = StudentT(dof, location * rng.normal(size=(3, 2)), 10.0 ** np.array(exponents)[:, None])
    mixture = Mixture(_weights(rng, 3, 2), components)
    x = mixture.quantile(q)
    assert not np.isnan(x).any()
    assert (np.isfinite(x) | (min(q, 1 - q) < 1e-100)).all()
    for y in (x, 0.0, -np.inf, np.inf, 1e308, -1e308, 5e-324):
        cdf = mixture.cdf(y)
        assert ((cdf >= 0) & (cdf <= 1 + 1e-15)).all()
        assert (mixture.pdf(y) >= 0).all()
        assert not np.isnan(mixture.logpdf(y)).any()
    assert not np.isnan(mixture.mean).any()
    assert not np.isnan(mixture.std).any()
    assert not np.isnan(mixture.sample(3, 0)).any()
    if 0 < q < 1 and np.abs(x).max() < 1e308:
        # The nearest floats enclose the quantile, as far as the sum of weighted parts that a cdf is can tell.
        slack = 1e-9 * min(q, 1 - q) + 1e-15 * q
        with np.errstate(over="ignore"):
            assert (mixture.cdf(np.nextafter(x, -np.inf)) <= q + slack).all()
            assert (mixture.cdf(np.nextafter(x, np.inf)) >= q - slack).all()


@pytest.mark.parametrize("dof", [2.0001, 2.1, 3.0, 30.0, 99.0, 101.0, 1e4, 1e9, 1e15])
def test_one_component_is_student_t(dof):
    mixture = Mixture(np.ones((1, 1)), StudentT([[dof]], [[3.0]], [[0.5]]))
    expected, bell = stats.t(dof, 3.0, 0.5), stats.norm(3.0, 0.5)
    y = np.array([-20.0, 0.0, 2.9, 3.0, 3.5, 5.0])
    tolerance = {"rtol": 1e-9, "atol": 1e-300}
    np.testing.assert_allclose(mixture.cdf(y[None])[0], expected.cdf(y), **tolerance)
    log_density = (expected if dof < 1e9 else bell).logpdf(y)
    np.testing.assert_allclose(mixture.logpdf(y[None])[0], log_density, rtol=2e-6 if dof >= 1e9 else 1e-9)
    q = [1e-12, 1e-6, 0.1, 0.5, 0.75, 0.999]
    np.testing.assert_allclose(mixture.quantile(q)[0], expected.ppf(q), rtol=1e-8)
    assert mixture.mean == pytest.approx(3.0)
    assert mixture.std == pytest.approx(expected.std())


@pytest.mark.parametrize("make", [students, exponentials, alike], ids=lambda make: make.__name__)
def test_density_integrates_to_one_and_to_mean_and_variance(make):
    mixture = make(
        np.random.default_rng(5), **({"dof": np.full((3, 1), 12.0), "n_components": 3} if make is students else {})
    )
    # Steps of equal probability, finer towards the tails.
    edges = mixture.quantile(stats.logistic.cdf(np.linspace(-32, 32, 40001)))
    nodes, node_weights = np.polynomial.legendre.leggauss(3)
    half = np.diff(edges, axis=1) / 2
    moments = np.zeros((3, len(mixture)))
    for node, weight in zip(nodes, node_weights, strict=True):
        y = edges[:, :-1] + half * (1 + node)
        density = weight * half * mixture.pdf(y)
        moments += [(density * (y - mixture.mean[:, None]) ** power).sum(axis=1) for power in range(3)]
    np.testing.assert_allclose(moments[0], 1.0, rtol=1e-9)
    np.testing.assert_allclose(moments[1], 0.0, atol=1e-6)
    heavy = 1e-2 if make is alike else 1e-6
    np.testing.assert_allclose(moments[2], mixture.std**2, rtol=heavy)


@given(seed=seeds)
def test_probabilities_of_counts_add_up_to_the_cdf(seed):
    mixture = poissons(np.random.default_rng(seed))
    counts = np.arange(150)[None]
    np.testing.assert_allclose(np.cumsum(mixture.pmf(counts), axis=1), mixture.cdf(counts), rtol=1e-10)
    np.testing.assert_allclose(mixture.pmf(counts) @ counts[0], mixture.mean, rtol=1e-9)
    np.testing.assert_allclose((mixture.pmf(counts) @ counts[0] ** 2 - mixture.mean**2) ** 0.5, mixture.std, rtol=1e-8)


def test_counts_are_whole_and_not_negative():
    mixture = poissons(np.random.default_rng(0))
    np.testing.assert_array_equal(mixture.pmf(1.5), 0.0)
    np.testing.assert_array_equal(mixture.logpmf(-1.0), -np.inf)
    np.testing.assert_array_equal(mixture.pmf(np.inf), 0.0)
    np.testing.assert_array_equal(mixture.cdf(-0.5), 0.0)
    np.testing.assert_array_equal(mixture.cdf(np.array([[-np.inf, np.inf]])), [[0.0, 1.0]] * 4)
    np.testing.assert_array_equal(mixture.cdf(2.7), mixture.cdf(2))
    np.testing.assert_array_equal(mixture.pdf(3), mixture.pmf(3))


@every_continuous
@given(seed=seeds, u=st.floats(0.02, 0.98))
def test_density_is_the_derivative_of_the_cdf(make, seed, u):
    rng = np.random.default_rng(seed)
    mixture = make(rng)
    y = mixture.quantile(u)
    density = mixture.pdf(y)
    # Short enough for the narrowest component, whose density might else bend within a step.
    narrowest = np.min(getattr(mixture.components, "size", getattr(mixture.components, "scale", None)))
    step = 1e-4 * np.minimum(1 / np.maximum(density, 1e-12), 0.01 * narrowest)
    slope = (mixture.cdf(y + step) - mixture.cdf(y - step)) / (2 * step)
    noise = 1e-15 / step + 4 * np.spacing(np.abs(y)) / step * density
    assert (np.abs(slope - density) <= 1e-3 * density + noise).all()


@every_mixture
@given(seed=seeds)
def test_cdf_increases_from_zero_to_one(make, seed):
    rng = np.random.default_rng(seed)
    mixture = make(rng)
    y = np.sort(mixture.sample(20, rng), axis=1)
    y = np.concatenate([np.full((len(y), 1), -np.inf), y, np.full((len(y), 1), np.inf)], axis=1)
    cdf = mixture.cdf(y)
    assert (np.diff(cdf, axis=1) >= -1e-15).all()
    np.testing.assert_allclose(cdf[:, [0, -1]], [[0.0, 1.0]] * len(y), atol=1e-15)


@every_mixture
@given(seed=seeds)
def test_quantiles_increase_with_their_probability(make, seed):
    x = make(np.random.default_rng(seed)).quantile([0.0, 0.01, 0.3, 0.5, 0.50001, 0.99, 1.0])
    assert (np.diff(x, axis=1) >= 0).all()


@every_mixture
def test_samples_follow_the_cdf(make):
    mixture = make(np.random.default_rng(3))
    draws = mixture.sample(4000, random_state=4)
    assert draws.shape == (len(mixture), 4000)
    for row in range(len(mixture)):
        if make is poissons:
            counts = np.bincount(draws[row].astype(int), minlength=8)[:8]
            np.testing.assert_allclose(counts / 4000, mixture[row].pmf(np.arange(8)[None])[0], atol=0.03)
        else:
            assert stats.kstest(mixture[row].cdf(draws[row][None])[0], "uniform").pvalue > 1e-3


def test_components_without_weight_are_never_drawn_and_do_not_count():
    weights = np.array([[0.0], [1.0], [0.0]])
    mixture = Mixture(weights, StudentT([[1.5], [5.0], [2.0]], [[1e300], [0.0], [-1e300]], [[1e300], [1.0], [1e300]]))
    assert np.abs(mixture.sample(1000, 0)).max() < 1e3
    assert mixture.mean == 0
    assert mixture.std == pytest.approx((5 / 3) ** 0.5)
    assert mixture.quantile(0.05) == pytest.approx(stats.t.ppf(0.05, 5))


@every_mixture
@given(seed=seeds, level=st.floats(0.01, 0.99))
def test_interval_is_two_quantiles(make, seed, level):
    mixture = make(np.random.default_rng(seed))
    lower, upper = mixture.interval(level)
    np.testing.assert_array_equal(lower, mixture.quantile((1 - level) / 2))
    np.testing.assert_array_equal(upper, mixture.quantile((1 + level) / 2))
    if make is not poissons:
        np.testing.assert_allclose(mixture.cdf(upper) - mixture.cdf(lower), level, atol=1e-6)


@every_mixture
def test_all_probability_lies_between_the_quantiles_of_zero_and_one(make):
    ends = make(np.random.default_rng(0)).quantile([0.0, 1.0])
    np.testing.assert_array_equal(ends[:, 0], 0.0 if make is poissons else -np.inf)
    np.testing.assert_array_equal(ends[:, 1], np.inf)


@every_mixture
@given(seed=seeds)
def test_rows_are_treated_one_by_one(make, seed):
    rng = np.random.default_rng(seed)
    mixture = make(rng)
    y = mixture.sample(3, rng)
    table, picked = mixture.cdf(y), np.array([2, 0])
    for column in range(3):
        np.testing.assert_allclose(mixture.cdf(y[:, column]), table[:, column], rtol=1e-13)
    np.testing.assert_allclose(mixture.logpdf(y[:1])[1:], mixture[1:].logpdf(y[:1]), rtol=1e-13)
    np.testing.assert_allclose(mixture[picked].pdf(y[picked]), mixture.pdf(y)[picked], rtol=1e-12)
    np.testing.assert_allclose(mixture[np.arange(4) > 1].mean, mixture.mean[2:], rtol=1e-13)
    np.testing.assert_allclose([part.std[0] for part in mixture], mixture.std, rtol=1e-13)
    assert mixture.quantile(0.3).shape == (4,)
    assert mixture.quantile([0.3]).shape == (4, 1)
    assert mixture.quantile([]).shape == (4, 0)


@every_mixture
def test_no_rows_are_no_trouble(make):
    mixture = make(np.random.default_rng(0))[:0]
    assert len(mixture) == 0
    assert mixture.mean.shape == mixture.std.shape == mixture.cdf(1.0).shape == mixture.pdf([]).shape == (0,)
    assert mixture.quantile(0.5).shape == (0,)
    assert mixture.quantile([0.1, 0.5]).shape == (0, 2)
    assert mixture.cdf(np.zeros((1, 3))).shape == (0, 3)
    assert [end.shape for end in mixture.interval(0.9)] == [(0,), (0,)]
    assert mixture.sample(7).shape == (0, 7)


@pytest.mark.parametrize("make", [students, random_classes], ids=["numbers", "classes"])
def test_random_states_mean_what_scikit_learn_means(make):
    distribution = make(np.random.default_rng(0))
    first = distribution.sample(5, 7)
    np.testing.assert_array_equal(first, distribution.sample(5, 7))
    np.testing.assert_array_equal(first, distribution.sample(5, np.random.RandomState(7)))
    rng = np.random.default_rng(7)
    assert (distribution.sample(50, rng) != distribution.sample(50, rng)).any()
    assert distribution.sample(5, None).shape == first.shape
    with pytest.raises(ValueError, match="'seven' cannot be used to seed"):
        distribution.sample(5, "seven")


@pytest.mark.parametrize("make", [students, random_classes], ids=["numbers", "classes"])
def test_distributions_cannot_be_changed_and_survive_copies(make):
    distribution = make(np.random.default_rng(0))
    for twin in (copy.deepcopy(distribution), pickle.loads(pickle.dumps(distribution))):
        np.testing.assert_array_equal(twin.mean, distribution.mean)
        for field in vars(twin).values():
            if isinstance(field, np.ndarray):
                with pytest.raises(ValueError, match="read-only"):
                    field[0] = 0


def test_distributions_say_what_they_are():
    rng = np.random.default_rng(0)
    assert repr(alike(rng)) == "<Mixture: 4 rows, 4 components>"
    assert repr(alike(rng).components) == "<StudentT: 4 components>"
    assert repr(random_classes(rng)) == "<ClassDistribution: 5 rows, 4 classes>"


# Classes


@given(seed=seeds)
def test_probabilities_of_classes_are_their_mean_and_spread(seed):
    rng = np.random.default_rng(seed)
    prediction = random_classes(rng)
    np.testing.assert_array_equal(prediction.mean, prediction.probabilities)
    np.testing.assert_allclose(prediction.std**2, prediction.mean * (1 - prediction.mean), rtol=1e-12)
    table = prediction.pmf(prediction.classes[None])
    np.testing.assert_array_equal(table, prediction.probabilities)
    np.testing.assert_allclose(np.cumsum(table, axis=1), prediction.cdf(prediction.classes[None]), rtol=1e-12)
    labels = rng.choice(prediction.classes, len(prediction))
    np.testing.assert_array_equal(prediction.pmf(labels), table[np.arange(len(prediction)), labels])
    np.testing.assert_array_equal(prediction.pdf(labels), prediction.pmf(labels))
    np.testing.assert_allclose(np.exp(prediction.logpdf(labels)), prediction.pmf(labels), rtol=1e-12)


@given(seed=seeds, q=st.one_of(st.floats(0, 1), st.sampled_from([0.0, 1.0])))
def test_quantile_of_classes_is_the_first_with_enough_probability(seed, q):
    prediction = random_classes(np.random.default_rng(seed))
    codes = prediction.quantile(q)
    assert (prediction.cdf(codes) >= q - 1e-15).all()
    assert ((prediction.cdf(np.maximum(codes - 1, 0)) < q) | (codes == 0)).all()
    np.testing.assert_array_equal(prediction.quantile([q, 1.0])[:, 0], codes)


@given(k=st.integers(1, 12))
def test_quantile_of_the_cdf_of_a_class_is_the_class(k):
    prediction = ClassDistribution(np.arange(k), np.full((1, k), 1 / k))
    cumulated = prediction.cdf(np.arange(k)[None])[0]
    np.testing.assert_array_equal(prediction.quantile(cumulated)[0], np.arange(k))
    np.testing.assert_array_equal(prediction.quantile(np.arange(1, k + 1) / k)[0], np.arange(k))


def test_last_quantile_is_the_last_class_that_is_possible():
    prediction = ClassDistribution(["a", "b", "c", "d"], [[0.1, 0.2, 0.7, 0.0], [0.3, 0.3, 0.1, 0.3]])
    assert prediction.quantile(1.0).tolist() == ["c", "d"]
    assert prediction.quantile(0.0).tolist() == ["a", "a"]
    assert set(prediction.sample(2000, 0)[0]) == {"a", "b", "c"}
    np.testing.assert_array_equal(prediction.logpmf("d"), [-np.inf, np.log(0.3)])


@pytest.mark.parametrize("labels", [["a", "b", "c"], [10, 20, 30], [0.5, 1.5, 2.5], [True, False, "maybe"]])
def test_labels_may_be_anything(labels):
    labels = np.array(labels, dtype=object if "maybe" in labels else None)
    prediction = ClassDistribution(labels, [[0.2, 0.3, 0.5], [0.6, 0.3, 0.1]])
    np.testing.assert_allclose(prediction.pmf(labels[2]), [0.5, 0.1])
    np.testing.assert_allclose(prediction.cdf(labels[[1, 0]]), [0.5, 0.6])
    lower, upper = prediction.interval(0.5)
    assert lower.tolist() == [labels[1], labels[0]]
    assert upper.tolist() == [labels[2], labels[1]]
    assert prediction.sample(6, 0).shape == (2, 6)


def test_samples_of_classes_follow_their_probabilities():
    prediction = random_classes(np.random.default_rng(0))
    draws = prediction.sample(20000, 0)
    shares = np.stack([(draws == label).mean(axis=1) for label in prediction.classes], axis=1)
    np.testing.assert_allclose(shares, prediction.probabilities, atol=0.015)


def test_no_rows_of_classes_are_no_trouble():
    prediction = random_classes(np.random.default_rng(0), labels=list("wxyz"))[:0]
    assert len(prediction) == 0
    assert prediction.std.shape == (0, 4)
    assert prediction.pmf("x").shape == prediction.cdf(np.array([], dtype=str)).shape == prediction.quantile(0.5).shape
    assert prediction.quantile([0.1, 0.5]).shape == (0, 2)
    assert prediction.sample(3).shape == (0, 3)


def test_some_rows_of_classes_are_a_distribution_of_their_own():
    prediction = random_classes(np.random.default_rng(0))
    np.testing.assert_array_equal(prediction[[3, 1]].mean, prediction.mean[[3, 1]])
    assert len(prediction[2]) == 1


# Mistakes


@pytest.mark.parametrize("make", [students, poissons, random_classes], ids=["numbers", "counts", "classes"])
def test_wrong_probabilities_are_named(make):
    distribution = make(np.random.default_rng(0))
    for q in (-0.1, 1.5, np.nan):
        with pytest.raises(ValueError, match=rf"q\[0\] is {q}; give probabilities between 0 and 1"):
            distribution.quantile(q)
    with pytest.raises(ValueError, match=r"q\[1\] is 2.0"):
        distribution.quantile([0.5, 2.0])
    with pytest.raises(ValueError, match=r"q has shape \(1, 2\); give one probability or a list"):
        distribution.quantile([[0.5, 0.6]])
    for level in (0, 1, -0.5, 90, np.nan):
        with pytest.raises(ValueError, match=rf"level is {level}; give a probability between 0 and 1"):
            distribution.interval(level)


def test_wrong_numbers_are_named():
    mixture = students(np.random.default_rng(0))
    with pytest.raises(ValueError, match=r"y\[2\] is nan; give a number for each row"):
        mixture.cdf([0.0, 1.0, np.nan, 2.0])
    for y in (np.zeros(3), np.zeros((3, 2)), np.zeros((4, 1, 1))):
        for method in (mixture.pdf, mixture.logpdf, mixture.cdf):
            with pytest.raises(ValueError, match=r"for 4 rows give a scalar, \(4,\), \(4, m\) or \(1, m\)"):
                method(y)
    with pytest.raises(ValueError, match="continuous and gives no number a probability; take pdf"):
        mixture.pmf(1.0)


def test_unknown_labels_are_named_with_those_known():
    prediction = random_classes(np.random.default_rng(0), k=2, labels=["no", "yes"])
    with pytest.raises(ValueError, match=r"y\[0\] is 'maybe'; the known labels are 'no', 'yes'"):
        prediction.pmf("maybe")
    with pytest.raises(ValueError, match=r"y\[1\] is 3; the known"):
        prediction.cdf(np.array(["no", 3, "yes", "no", "no"], dtype=object))
    with pytest.raises(ValueError, match=r"for 5 rows give a scalar, \(5,\)"):
        prediction.pmf(["no", "yes"])


def test_what_is_no_distribution_is_refused():
    one = StudentT([[3.0]], [[0.0]], [[1.0]])
    with pytest.raises(ValueError, match=r"weights have shape \(2, 1\) and components \(1, 1\)"):
        Mixture([[0.5], [0.5]], one)
    with pytest.raises(ValueError, match=r"weights have shape \(1,\); they need \(components, rows\)"):
        Mixture([1.0], one)
    with pytest.raises(ValueError, match=r"the weights of row 1 sum to 0.5; divide them by their sum"):
        Mixture([[1.0, 0.5]], one)
    with pytest.raises(ValueError, match=r"weights\[0\] is -1.0; give probabilities between 0 and 1"):
        Mixture([[-1.0], [2.0]], StudentT([[3.0]] * 2, [[0.0]] * 2, [[1.0]] * 2))
    with pytest.raises(ValueError, match=r"probabilities have shape \(1, 2\); they need one column for each of"):
        ClassDistribution([1, 2, 3], [[0.5, 0.5]])
    with pytest.raises(ValueError, match=r"probabilities\[0, 1\] is nan"):
        ClassDistribution([1, 2], [[0.5, np.nan]])
    with pytest.raises(ValueError, match=r"scale\[0\] is 0.0; give a finite number above 0"):
        StudentT([[3.0]], [[0.0]], [[0.0]])
    with pytest.raises(ValueError, match=r"location\[0\] is inf; give a finite number"):
        StudentT([[3.0]], [[np.inf]], [[1.0]])
    with pytest.raises(ValueError, match=r"dof has shape \(2,\); it needs \(2 components, 1\)"):
        StudentT([3.0, 4.0], [[0.0]], [[1.0]])
