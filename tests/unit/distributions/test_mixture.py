"""Laws that every mixture of numbers keeps."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from bayesian_reticulum.distributions import Mixture, StudentT
from mixtures import CONTINUOUS, Poisson, alike, exponentials, of_many_scales, poissons, random_weights, students

seeds = st.integers(0, 2**32 - 1)
probabilities = st.one_of(
    st.floats(1e-6, 1 - 1e-6), st.sampled_from([1e-12, 1e-6, 0.05, 0.5, np.nextafter(0.5, 1), 0.95, 1 - 1e-6])
)
every_mixture = pytest.mark.parametrize("make", [*CONTINUOUS, poissons], ids=lambda make: make.__name__)
every_continuous = pytest.mark.parametrize("make", CONTINUOUS, ids=lambda make: make.__name__)


def assert_inverts(mixture, q):
    x = mixture.quantile(q)
    np.testing.assert_allclose(mixture.cdf(x), q, rtol=0, atol=1e-9 * min(q, 1 - q))


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
    mixture = Mixture(random_weights(rng, 3, 2), components)
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


def test_a_mixture_says_what_it_is():
    assert repr(alike(np.random.default_rng(0))) == "<Mixture: 4 rows, 4 components>"


def test_what_is_no_mixture_is_refused():
    one = StudentT([[3.0]], [[0.0]], [[1.0]])
    with pytest.raises(ValueError, match=r"weights have shape \(2, 1\) and components \(1, 1\)"):
        Mixture([[0.5], [0.5]], one)
    with pytest.raises(ValueError, match=r"weights have shape \(1,\); they need \(components, rows\)"):
        Mixture([1.0], one)
    with pytest.raises(ValueError, match=r"the weights of row 1 sum to 0.5; divide them by their sum"):
        Mixture([[1.0, 0.5]], one)
    with pytest.raises(ValueError, match=r"weights\[0\] is -1.0; give probabilities between 0 and 1"):
        Mixture([[-1.0], [2.0]], StudentT([[3.0]] * 2, [[0.0]] * 2, [[1.0]] * 2))
