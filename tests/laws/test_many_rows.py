"""To the last bit: neither threads nor the order of rows change a model, whichever way sums over rows are made."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from bayesian_reticulum import ReticulumClassifier, ReticulumRegressor
from bayesian_reticulum.datasets import make_cross
from bayesian_reticulum.rows import Limits
from plugins import needs_compiled


def grown_by(estimator_class, policy=None, **limits):
    """An estimator class with other numbers of growth and other limits of rows."""

    class Changed(estimator_class):
        def growth_policy(self):
            return replace(super().growth_policy(), **(policy or {}))

        def row_limits(self):
            return replace(super().row_limits(), **limits)

    return Changed


@pytest.mark.parametrize(("base", "leaf"), [(ReticulumClassifier, {}), (ReticulumRegressor, {"leaf": "constant"})])
@pytest.mark.parametrize("fewest_in_floats", [100, Limits().fewest_in_floats])
def test_threads_do_not_change_a_bit(base, leaf, fewest_in_floats):
    X, y, _ = make_cross(500, random_state=0)
    estimator = grown_by(base, fewest_gates=1, fewest_in_floats=fewest_in_floats)(
        random_state=0, n_restarts=2, patience=2, **leaf
    )
    one, two = (estimator.set_params(n_jobs=n_jobs).fit(X, y).model_ for n_jobs in (1, 2))
    np.testing.assert_array_equal(one.tree.hyperplanes, two.tree.hyperplanes)
    np.testing.assert_array_equal(one.statistics, two.statistics)
    assert one.log_evidence == two.log_evidence
    np.testing.assert_array_equal(one.predict_mean(X), two.predict_mean(X, threads=2))


@needs_compiled
@pytest.mark.parametrize("gaps", [0.0, 0.03])
@pytest.mark.parametrize("first_sample", [500, 1 << 14])
@pytest.mark.parametrize("heaviest", [2.0, 1e7])
def test_the_order_of_many_rows_does_not_change_a_bit(gaps, first_sample, heaviest):
    rng = np.random.default_rng(0)
    X, weights, order = rng.normal(size=(3000, 4)), rng.uniform(0.5, 2, size=3000), rng.permutation(3000)
    y = np.sin(2 * X[:, 0]) + X[:, 1] ** 2 - X[:, 2] + 0.3 * rng.normal(size=3000) > 0.5
    X[rng.uniform(size=X.shape) < gaps] = np.nan
    X = pd.DataFrame(X, columns=list("abcd")).assign(
        level=pd.Categorical(rng.choice(list("abc"), 3000)), pair=np.where(y, "u", "v")
    )
    X.loc[rng.uniform(size=3000) < 0.4, "pair"] = "u"
    weights[0] = heaviest
    policy = {"sample_rows": first_sample}
    changed = grown_by(ReticulumClassifier, policy, fewest_in_floats=1000, fewest_arranged=1000)
    classifier = changed(random_state=0, max_splits=9, class_weight="balanced")
    one = classifier.fit(X, y, sample_weight=weights).model_
    other = classifier.fit(X.iloc[order], y[order], sample_weight=weights[order]).model_
    assert one.tree.n_splits > 1
    for name in ("statistics", "precisions", "prices", "log_bayes_factors", "grey_shares"):
        np.testing.assert_array_equal(getattr(other, name), getattr(one, name), err_msg=name)
    np.testing.assert_array_equal(other.tree.hyperplanes, one.tree.hyperplanes)
