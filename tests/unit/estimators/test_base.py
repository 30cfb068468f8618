"""What all estimators have in common: fits that fail, copies, immutable models, attributes."""

import contextlib
import io
import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from bayesian_reticulum import ReticulumClassifier
from example_tables import CLASSES as TABLES
from example_tables import arrays_of, three_classes

every_table = pytest.mark.parametrize("table", TABLES)


def fit(X, y, sample_weight=None, **parameters):
    return ReticulumClassifier(**{"random_state": 0, **parameters}).fit(X, y, sample_weight)


FITTED = (
    "classes_",
    "n_splits_",
    "n_leaves_",
    "depth_",
    "log_evidence_",
    "stopping_reason_",
    "feature_importances_",
    "model_",
    "history_",
)


X_GOOD, Y_GOOD = np.arange(12.0).reshape(6, 2), np.array([0, 1, 0, 1, 0, 1])


def changed(array, index, value):
    out = np.array(array, dtype=float)
    out[index] = value
    return out


@pytest.fixture(scope="module")
def ripley_fit():
    X, y = TABLES["ripley"]()
    return fit(X, y), X, y


class Interrupting(io.StringIO):
    """A stream whose reader presses Ctrl-C when the third line is written."""

    def write(self, text):
        super().write(text)
        if self.getvalue().count("\n") == 3:
            raise KeyboardInterrupt
        return len(text)


def test_an_interrupted_fit_leaves_nothing_behind():
    clf = ReticulumClassifier(random_state=0, verbose=1)
    with contextlib.redirect_stdout(Interrupting()), pytest.raises(KeyboardInterrupt, match=r"^$"):
        clf.fit(*TABLES["ripley"]())
    assert not any(hasattr(clf, name) for name in FITTED)
    with pytest.raises(NotFittedError, match="is not fitted yet"):
        clf.predict(np.zeros((1, 2)))


def test_an_interrupted_second_fit_is_not_half_of_each():
    X, y = TABLES["ripley"]()
    clf = fit(X, y, patience=1)
    before, model = clf.predict_proba(X), clf.model_
    clf.set_params(verbose=1, patience=8)
    with contextlib.redirect_stdout(Interrupting()), pytest.raises(KeyboardInterrupt, match=r"^$"):
        clf.fit(np.hstack([X, X]), 1 - y)
    assert clf.model_ is model
    np.testing.assert_array_equal(clf.predict_proba(X), before)


@pytest.mark.parametrize(
    ("X", "y", "message"),
    [
        (changed(X_GOOD, (1, 1), np.inf), Y_GOOD, "contains infinity"),
        (np.empty((0, 2)), np.empty(0), "0 sample"),
        (np.empty((6, 0)), Y_GOOD, r"0 feature\(s\)"),
        (np.arange(6.0), Y_GOOD, "Expected 2D array, got 1D array"),
        (np.zeros((6, 2, 2)), Y_GOOD, "dim 3|3 dim"),
        (X_GOOD, Y_GOOD[:-1], "inconsistent numbers of samples"),
        (X_GOOD, changed(Y_GOOD, 2, np.nan), "Input y contains NaN"),
        (X_GOOD, Y_GOOD + 0.5 * np.linspace(0, 1, 6), "Unknown label type: continuous"),
        (X_GOOD, np.column_stack([Y_GOOD, Y_GOOD]), "y should be a 1d array"),
        (X_GOOD, None, "requires y to be passed"),
        (X_GOOD + 1j, Y_GOOD, "Complex data not supported"),
    ],
    ids=[
        *("inf", "no rows", "no columns", "1-d", "3-d", "lengths", "y nan"),
        *("y continuous", "y 2-d", "no y", "complex"),
    ],
)
def test_bad_tables_are_refused(X, y, message):
    clf = ReticulumClassifier()
    with pytest.raises(ValueError, match=message):
        clf.fit(X, y)
    assert not any(hasattr(clf, name) for name in FITTED)


@pytest.mark.parametrize("method", ["predict", "predict_proba", "membership"])
def test_predicting_before_fitting_is_refused(method):
    with pytest.raises(NotFittedError, match="is not fitted yet"):
        getattr(ReticulumClassifier(), method)(X_GOOD)


@pytest.mark.parametrize("method", ["predict", "predict_proba", "membership"])
def test_predicting_with_another_number_of_features_is_refused(method):
    clf = fit(X_GOOD, Y_GOOD, patience=1)
    with pytest.raises(ValueError, match="X has 3 features, but ReticulumClassifier is expecting 2 features"):
        getattr(clf, method)(np.zeros((4, 3)))
    with pytest.raises(ValueError, match="contains infinity"):
        getattr(clf, method)(changed(X_GOOD, (0, 0), np.inf))


def test_pickling_keeps_everything(ripley_fit):
    clf, X, _ = ripley_fit
    again = pickle.loads(pickle.dumps(clf))
    np.testing.assert_array_equal(again.predict_proba(X), clf.predict_proba(X))
    assert str(again.model_) == str(clf.model_)
    assert len(again.history_) == len(clf.history_)
    assert again.log_evidence_ == clf.log_evidence_


def test_an_unpickled_model_is_still_immutable(ripley_fit):
    again = pickle.loads(pickle.dumps(ripley_fit[0]))
    for name, array in arrays_of(again.model_):
        assert not array.flags.writeable, name


def test_a_clone_has_the_parameters_and_no_model():
    clf = ReticulumClassifier(prior=[1.0, 2.0], patience=1, max_splits=4, random_state=3)
    clf.fit(X_GOOD, Y_GOOD)
    copy = clone(clf)
    assert copy.get_params() == clf.get_params()
    assert not hasattr(copy, "model_")


def test_fitting_leaves_parameters_and_table_alone():
    X, y = TABLES["ripley"]()
    weights, prior = np.ones(len(X)), np.array([0.5, 0.5])
    kept = [array.copy() for array in (X, y, weights, prior)]
    for array in (X, y, weights, prior):
        array.setflags(write=False)
    clf = ReticulumClassifier(prior=prior, patience=1, random_state=0).fit(X, y, weights)
    assert clf.prior is prior
    for array, copy in zip((X, y, weights, prior), kept, strict=True):
        np.testing.assert_array_equal(array, copy)


def test_a_model_is_immutable_and_holds_no_training_rows(ripley_fit):
    clf, X, _ = ripley_fit
    clf.predict_proba(X)
    str(clf.model_)
    # Nothing computed on the way is exempt.
    assert clf.model_.hyperplanes.shape == (clf.n_splits_, 3)
    found = dict(arrays_of(clf.model_))
    assert {"model_.statistics", "model_.tree.hyperplanes", "model_.schema.center"} <= set(found)
    for name, array in found.items():
        assert not array.flags.writeable, name
        assert array.size < len(X), name
        assert array.base is None or array.base.size < len(X), name


def test_a_model_holds_no_training_rows_with_more_features_than_rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 60))
    clf = fit(X, (X[:, :30].sum(axis=1) > 0).astype(int), patience=2)
    clf.predict_proba(X)
    for name, array in arrays_of(clf.model_):
        assert len(array) != 40, name
        assert array.size <= 61 * max(clf.n_splits_, 60 if name.endswith("coefficients") else 1), name


def test_attributes_agree_with_the_model(ripley_fit):
    clf, X, _ = ripley_fit
    model = clf.model_
    assert (clf.n_splits_, clf.n_leaves_, clf.depth_) == (model.tree.n_splits, model.tree.n_leaves, model.tree.depth)
    assert clf.n_leaves_ == clf.n_splits_ + 1
    assert clf.log_evidence_ == model.log_evidence
    assert clf.stopping_reason_ == clf.history_.stopping_reason == "no_gain"
    for values in (model.log_bayes_factors, model.prices, model.grey_shares, model.precisions):
        assert values.shape == (clf.n_splits_,)
    assert (model.log_bayes_factors > 0).all()
    assert (model.prices > 0).all()
    assert ((model.grey_shares >= 0) & (model.grey_shares <= 1)).all()
    assert clf.history_.replay(-1).n_splits == clf.n_splits_
    assert model.statistics.sum() == pytest.approx(len(X))


def test_hyperplanes_in_original_units_give_the_memberships(ripley_fit):
    clf, X, _ = ripley_fit
    schema, shape = clf.model_.schema, clf.model_.tree.shape
    inside = np.clip(X, schema.low, schema.high)
    activation = clf.model_.hyperplanes[:, 0] + inside @ clf.model_.hyperplanes[:, 1:].T
    log_membership = np.zeros((len(X), clf.n_leaves_))
    for side in (1, -1):
        log_membership += -np.logaddexp(0, -side * activation) @ (shape.sides == side)
    np.testing.assert_allclose(np.exp(log_membership), clf.membership(X), rtol=1e-8, atol=1e-12)


@every_table
def test_feature_importances_sum_to_one(table):
    X, y = TABLES[table]()
    importances = fit(X, y, patience=2).feature_importances_
    assert importances.shape == (X.shape[1],)
    assert (importances >= 0).all()
    assert importances.sum() == pytest.approx(1)


def test_features_that_matter_are_the_important_ones():
    X, y = three_classes(300)
    assert fit(X, y, patience=2).feature_importances_[2] < 0.1


def test_columns_without_names_are_numbered(ripley_fit):
    clf, _, _ = ripley_fit
    assert "x0" in str(clf.model_)
    assert not hasattr(clf, "feature_names_in_")


def test_names_of_data_frames_are_kept():
    X, y = TABLES["ripley"]()
    frame = pd.DataFrame(X, columns=["width", "height"])
    clf = fit(frame, y, patience=2)
    np.testing.assert_array_equal(clf.feature_names_in_, ["width", "height"])
    assert clf.model_.schema.names == ("width", "height")
    assert "width" in str(clf.model_)
    plain = fit(X, y, patience=2)
    np.testing.assert_array_equal(clf.predict_proba(frame), plain.predict_proba(X))
    np.testing.assert_array_equal(clf.predict_proba(frame[["height", "width"]]), clf.predict_proba(frame))
    with pytest.raises(ValueError, match=r"(?s)unseen at fit time:\n- depth\n.*yet now missing:\n- height"):
        clf.predict(frame.rename(columns={"height": "depth"}))
