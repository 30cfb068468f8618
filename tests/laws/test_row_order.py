"""Neither the order of rows nor the choice between weights and repeats can be seen in a model."""

import numpy as np
import pytest

from bayesian_reticulum import ReticulumClassifier, ReticulumRegressor
from plugins import needs_compiled


@pytest.mark.parametrize("seed", [2, 4, 7, 30])
def test_the_order_of_rows_cannot_be_seen_in_a_tree_of_many_splits(seed):
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(500, 1500)), int(rng.integers(2, 6))
    X = rng.normal(size=(n, d))
    y = np.sin(2 * X[:, 0]) + X[:, 1] ** 2 - X[:, -1] + 0.5 * rng.normal(size=n)
    order = rng.permutation(n)
    regressor = ReticulumRegressor(random_state=0, leaf="constant", max_splits=12)
    one, other = (regressor.fit(X[rows], y[rows]).predict(X) for rows in (slice(None), order))
    np.testing.assert_allclose(other, one, rtol=0, atol=1e-7)


@needs_compiled
def test_weights_equal_repeats_up_to_where_samples_begin():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(5000, 4))
    y = (np.sin(2 * X[:, 0]) + X[:, 1] ** 2 - X[:, 2] + 0.5 * rng.normal(size=len(X)) > 0.5).astype(int)
    classifier = ReticulumClassifier(random_state=0, max_splits=8, patience=4)
    one = classifier.fit(X, y, sample_weight=np.full(len(X), 2.0)).predict_proba(X)
    other = classifier.fit(np.repeat(X, 2, axis=0), np.repeat(y, 2)).predict_proba(X)
    np.testing.assert_allclose(other, one, rtol=0, atol=1e-7)
