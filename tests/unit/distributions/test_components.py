"""The protocol that a mixture asks of its components."""

import numpy as np
import pytest

from bayesian_reticulum.distributions.components import Components
from mixtures import CONTINUOUS, poissons


@pytest.mark.parametrize("make", [*CONTINUOUS, poissons], ids=lambda make: make.__name__)
def test_components_have_the_members_of_the_protocol(make):
    mixture = make(np.random.default_rng(0))
    members = {name for name in vars(Components) if not name.startswith("_")} | {"__getitem__"}
    assert members == {"is_discrete", "mean", "variance", "logpdf", "cdf", "draw", "__getitem__"}
    assert all(hasattr(mixture.components, name) for name in members)
    assert mixture.components.mean.shape in (mixture.weights.shape, (len(mixture.weights), 1))
