"""The generated data follow their formulas."""

import numpy as np
import pytest
from scipy.special import expit
from scipy.stats import multivariate_normal

from bayesian_reticulum.datasets import Generated, make_cross, make_ripley, make_sphere

every_maker = pytest.mark.parametrize("make", [make_sphere, make_cross, make_ripley])
MANY = 20_000


@every_maker
def test_shapes_types_and_ranges(make):
    data = make(101, random_state=0)
    assert isinstance(data, Generated)
    assert data.X.shape == (101, 2)
    assert data.y.shape == data.probability.shape == (101,)
    assert set(data.y.tolist()) <= {0, 1}
    assert data.y.dtype == np.int64
    assert ((data.probability >= 0) & (data.probability <= 1)).all()


@pytest.mark.parametrize(("make", "n_samples"), [(make_sphere, 5000), (make_cross, 1000), (make_ripley, 250)])
def test_default_size_is_that_of_the_paper(make, n_samples):
    assert len(make(random_state=0).X) == n_samples


@every_maker
def test_the_same_seed_gives_the_same_data(make):
    for one, same, other in zip(
        make(50, random_state=3), make(50, random_state=np.random.default_rng(3)), make(50, random_state=4), strict=True
    ):
        np.testing.assert_array_equal(one, same)
        assert not np.array_equal(one, other)


@every_maker
def test_one_row_is_enough(make):
    assert len(make(1, random_state=0).y) == 1


@every_maker
def test_classes_come_with_the_stated_probability(make):
    _, y, probability = make(MANY, random_state=0)
    for low in np.arange(0, 1, 0.1):
        rows = (probability >= low) & (probability < low + 0.1)
        if rows.sum() > 100:
            error = np.sqrt((probability * (1 - probability))[rows].sum()) / rows.sum()
            assert abs(y[rows].mean() - probability[rows].mean()) < 4 * error + 1e-3


def test_sphere_is_even_odds_on_the_unit_circle_and_stiff_by_ten():
    X, _, probability = make_sphere(MANY, random_state=0)
    radius = np.linalg.norm(X, axis=1)
    np.testing.assert_allclose(probability, expit(10 * (radius - 1)), rtol=1e-9)
    assert radius.mean() == pytest.approx(1, abs=0.01)
    assert radius.std() == pytest.approx(0.3, abs=0.01)
    np.testing.assert_allclose(X.mean(axis=0), 0, atol=0.03)


def test_cross_is_constant_on_each_quadrant():
    X, _, probability = make_cross(MANY, random_state=0)
    np.testing.assert_array_equal(probability, np.where(X[:, 0] * X[:, 1] > 0, 0.9, 0.1))
    assert np.abs(X).max() <= 2
    np.testing.assert_allclose(X.mean(axis=0), 0, atol=0.04)
    np.testing.assert_allclose(X.var(axis=0), 16 / 12, atol=0.04)


def test_ripley_probability_is_bayes_rule_on_the_mixtures():
    X, y, probability = make_ripley(MANY, random_state=0)
    means = [[(-0.7, 0.3), (0.3, 0.3)], [(-0.3, 0.7), (0.4, 0.7)]]
    densities = [sum(multivariate_normal(mean, 0.03 * np.eye(2)).pdf(X) for mean in pair) / 2 for pair in means]
    np.testing.assert_allclose(probability, densities[1] / (densities[0] + densities[1]), rtol=1e-9, atol=1e-12)
    for label, pair in enumerate(means):
        np.testing.assert_allclose(X[y == label].mean(axis=0), np.mean(pair, axis=0), atol=0.02)
        variance = 0.03 + np.var(pair, axis=0)
        np.testing.assert_allclose(X[y == label].var(axis=0), variance, rtol=0.05)


@pytest.mark.parametrize(("n_samples", "positives"), [(250, 125), (7, 3), (1, 0)])
def test_ripley_classes_are_half_and_half(n_samples, positives):
    assert make_ripley(n_samples, random_state=0).y.sum() == positives


@every_maker
@pytest.mark.parametrize("n_samples", [0, -3, 2.5, "many", None, True])
def test_a_bad_number_of_rows_is_named(make, n_samples):
    with pytest.raises(ValueError, match=f"n_samples must be an integer of at least 1; got {n_samples!r}"):
        make(n_samples)


@every_maker
@pytest.mark.parametrize("random_state", [-1, 0.5, "seed", False])
def test_a_bad_seed_is_named(make, random_state):
    with pytest.raises(ValueError, match=f"random_state must be None, .* got {random_state!r}"):
        make(10, random_state=random_state)
