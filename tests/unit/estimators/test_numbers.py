"""What all regressors have in common: targets in their units, and predictions of numbers."""

import numpy as np
import pytest

from bayesian_reticulum import PaperReticulumRegressor, ReticulumRegressor
from example_tables import line

REGRESSORS = [PaperReticulumRegressor(max_attempts=2, random_state=0), ReticulumRegressor(max_splits=1, random_state=0)]
each_regressor = pytest.mark.parametrize("regressor", REGRESSORS, ids=lambda regressor: type(regressor).__name__)


@each_regressor
def test_predictions_are_means_and_the_score_is_r2(regressor):
    X, y = line()
    regressor.fit(X, y)
    mean, std = regressor.predict(X, return_std=True)
    np.testing.assert_array_equal(mean, regressor.predict(X))
    np.testing.assert_allclose(std**2, regressor.predict_uncertainty(X).total)
    np.testing.assert_allclose(mean, regressor.predict_distribution(X).mean)
    assert regressor.score(X, y) == pytest.approx(1 - ((y - mean) ** 2).mean() / y.var())


@each_regressor
def test_wild_targets_are_pointed_out_and_dates_refused(regressor):
    X, y = line()
    y[7] = 1e6
    with pytest.warns(UserWarning, match=r"y\[7\] = 1e\+06 lies more than 100 standard deviations"):
        regressor.fit(X, y)
    with pytest.raises(ValueError, match=r"y holds dates or durations"):
        regressor.fit(X, np.arange(len(X)).astype("datetime64[D]"))
