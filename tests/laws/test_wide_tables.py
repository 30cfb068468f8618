"""Tables of hundreds of columns are fitted as others are."""

import numpy as np
import pytest
from scipy.special import expit

from bayesian_reticulum import ReticulumClassifier, ReticulumRegressor


@pytest.mark.parametrize("make", [ReticulumClassifier, ReticulumRegressor])
@pytest.mark.parametrize("gaps", [0.0, 0.05])
def test_hundreds_of_columns(make, gaps):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(900, 1)) * 0.5 + rng.normal(size=(900, 270))
    activation = 2 * X[:, :4].sum(axis=1)
    y = (rng.uniform(size=900) < expit(activation)).astype(int)
    X[rng.uniform(size=X.shape) < gaps] = np.nan
    model = make(random_state=0, patience=1, max_splits=2).fit(X[:600], y[:600])
    assert np.corrcoef(model.predict(X[600:]), activation[600:])[0, 1] > 0.5
    assert model.model_.tree.n_features == 270
    weights = rng.integers(1, 3, size=600)
    one, other = (make(random_state=0, max_splits=0 if make is ReticulumRegressor else 1) for _ in range(2))
    one.fit(X[:600], y[:600], sample_weight=weights)
    rows = np.repeat(np.arange(600), weights)
    other.fit(X[rows], y[rows])
    np.testing.assert_allclose(one.predict(X), other.predict(X), atol=1e-4)
