"""What distributions of numbers and of classes have in common."""

import copy
import pickle

import numpy as np
import pytest

from mixtures import poissons, random_classes, students


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
