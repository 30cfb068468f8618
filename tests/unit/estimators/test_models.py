"""A fitted estimator can be given another model."""

from dataclasses import replace

import numpy as np

from bayesian_reticulum import History, ReticulumClassifier
from bayesian_reticulum.estimators.models import with_model
from example_tables import CLASSES


def test_a_copy_with_another_model_leaves_the_estimator_as_it_is():
    X, y = CLASSES["ripley"]()
    clf = ReticulumClassifier(random_state=0, patience=1).fit(X, y)
    model = replace(clf.model_, log_evidence=-1.0)
    history = History(clf.history_.events[:1], "max_attempts")
    other = with_model(clf, model, history)
    assert type(other) is ReticulumClassifier
    assert other.get_params() == clf.get_params()
    assert (other.model_, other.history_) == (model, history)
    assert (other.log_evidence_, other.stopping_reason_, other.n_splits_) == (-1.0, "max_attempts", clf.n_splits_)
    assert clf.log_evidence_ != -1.0
    np.testing.assert_array_equal(other.feature_importances_, clf.feature_importances_)
    np.testing.assert_array_equal(other.predict_proba(X), clf.predict_proba(X))
