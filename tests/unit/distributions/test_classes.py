"""Laws of the distribution of a class."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayesian_reticulum.distributions import ClassDistribution
from mixtures import random_classes

seeds = st.integers(0, 2**32 - 1)


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


def test_some_rows_of_classes_are_a_distribution_too():
    prediction = random_classes(np.random.default_rng(0))
    np.testing.assert_array_equal(prediction[[3, 1]].mean, prediction.mean[[3, 1]])
    assert len(prediction[2]) == 1


def test_unknown_labels_are_named_with_those_known():
    prediction = random_classes(np.random.default_rng(0), k=2, labels=["no", "yes"])
    with pytest.raises(ValueError, match=r"y\[0\] is 'maybe'; the known labels are 'no', 'yes'"):
        prediction.pmf("maybe")
    with pytest.raises(ValueError, match=r"y\[1\] is 3; the known"):
        prediction.cdf(np.array(["no", 3, "yes", "no", "no"], dtype=object))
    with pytest.raises(ValueError, match=r"for 5 rows give a scalar, \(5,\)"):
        prediction.pmf(["no", "yes"])


def test_a_distribution_of_classes_says_what_it_is():
    assert repr(random_classes(np.random.default_rng(0))) == "<ClassDistribution: 5 rows, 4 classes>"


def test_what_is_no_distribution_of_classes_is_refused():
    with pytest.raises(ValueError, match=r"probabilities have shape \(1, 2\); they need one column for each of"):
        ClassDistribution([1, 2, 3], [[0.5, 0.5]])
    with pytest.raises(ValueError, match=r"probabilities\[0, 1\] is nan"):
        ClassDistribution([1, 2], [[0.5, np.nan]])
    with pytest.raises(ValueError, match=r"classes are \[1 1\]; give each label once"):
        ClassDistribution([1, 1], [[0.5, 0.5]])
