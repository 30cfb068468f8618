"""Training data: cells, targets and weights of the rows that have a weight, in fit and afterwards."""

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError

from asking import membership_sums
from bayesian_reticulum import PaperReticulumClassifier, ReticulumClassifier, ReticulumRegressor
from bayesian_reticulum.data import Columns, columns_of_numbers
from bayesian_reticulum.data.columns import Levels
from bayesian_reticulum.estimators.targets import Targets
from bayesian_reticulum.estimators.training import encode_like_fit, encode_training_data, rows_of_model, training_rows
from bayesian_reticulum.estimators.weights import used_rows
from bayesian_reticulum.families import DirichletCategorical
from example_tables import CLASSES, kink
from plugins import mixed_frame


def targets_of(codes, weights):
    used = used_rows(weights)
    codes = codes[used]
    return Targets(codes, codes, weights[used], used, DirichletCategorical((0.5, 0.5)), ("no", "yes"))


def test_numbers_whose_rows_all_have_a_weight_are_not_copied():
    X = np.random.default_rng(0).normal(size=(20, 2)).astype(np.float32)
    data = encode_training_data(columns_of_numbers(X), ("a", "b"), targets_of(np.arange(20) % 2, np.ones(20)))
    assert np.shares_memory(data.X, X)
    assert data.encoder.names == ("a", "b")
    assert data.encoder.categories == (None, None)


def test_levels_are_learned_from_rows_with_a_weight():
    places = np.array([0, 1, 2] * 20)
    columns = Columns(np.full((60, 1), np.nan), (Levels(["u", "v", "w"], places),))
    weights = np.where(places == 1, 0.0, 1.0)
    data = encode_training_data(columns, ("a",), targets_of(np.arange(60) % 2, weights))
    assert set(data.encoder.categories[0].levels) == {"u", "w"}
    assert data.X.shape == (40, 1)
    assert set(data.X.ravel()) == {0.0, 1.0}
    np.testing.assert_array_equal(data.used, np.flatnonzero(weights))


def test_a_category_of_rare_levels_alone_is_warned_of():
    columns = Columns(np.full((12, 1), np.nan), (Levels(list("abcdefghijkl"), np.arange(12)),))
    with pytest.warns(UserWarning, match=r"column 'id' has 12 levels, all of them rare: nothing can be learned"):
        encode_training_data(columns, ("id",), targets_of(np.arange(12) % 2, np.ones(12)))


def test_training_rows_are_those_of_the_fit():
    frame, y = mixed_frame()
    labels = np.array(["no", "yes"])[y]
    weights = np.where(np.arange(len(y)) % 5 == 0, 0.0, 2.0)
    clf = ReticulumClassifier(random_state=0, patience=1, class_weight={"yes": 3.0}).fit(frame, labels, weights)
    data, cells, targets, used_weights, _ = training_rows(clf, frame, labels, weights)
    used = weights > 0
    np.testing.assert_array_equal(cells, clf.model_.encode(frame)[used])
    np.testing.assert_array_equal(targets, y[used])
    np.testing.assert_array_equal(used_weights, np.where(y[used], 6.0, 2.0))
    rows = rows_of_model(clf, data)
    assert rows.n_rows == used.sum()
    tree = clf.model_.tree
    statistics = membership_sums(rows, tree.hyperplanes[None], tree.shape)[0]
    assert statistics.sum() == pytest.approx(used_weights.sum())


def test_training_rows_of_numbers_keep_targets_as_they_are_given():
    X, y = kink(80)
    reg = ReticulumRegressor(random_state=0, max_attempts=0).fit(X, y)
    data, cells, targets, weights, _ = training_rows(reg, X, y)
    assert np.shares_memory(cells, X)
    np.testing.assert_array_equal(targets, y)
    np.testing.assert_array_equal(weights, 1.0)
    assert rows_of_model(reg, data).weight == 80


def test_targets_that_do_not_belong_to_the_fit_are_refused():
    X, y = CLASSES["ripley"]()
    clf = ReticulumClassifier(random_state=0, max_attempts=0).fit(X, y)
    with pytest.raises(ValueError, match="needs the targets y that it was fitted to; got None"):
        training_rows(clf, X, None)
    with pytest.raises(ValueError, match=r"y has the class 7, which was not there in fit; the classes are \[0, 1\]"):
        training_rows(clf, X, np.where(np.arange(len(y)) == 3, 7, y))
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        training_rows(clf, X, y[:-1])
    with pytest.raises(ValueError, match="X has 1 features, but ReticulumClassifier is expecting 2 features"):
        training_rows(clf, X[:, :1], y)


def test_a_family_that_was_given_gets_targets_as_they_are():
    X, y = kink(60)
    reg = ReticulumRegressor(random_state=0, max_attempts=0).fit(pd.DataFrame(X), y)
    own = ReticulumRegressor(random_state=0, max_attempts=0, leaf=reg.model_.family).fit(X, y)
    np.testing.assert_array_equal(training_rows(own, X, y).targets, y)


def test_a_table_is_encoded_with_the_checks_of_a_prediction():
    X, y = CLASSES["ripley"]()
    paper = PaperReticulumClassifier(max_attempts=1, random_state=0).fit(X, y)
    np.testing.assert_array_equal(encode_like_fit(paper, X), X)
    with pytest.raises(ValueError, match="PaperReticulumClassifier does not accept missing values"):
        encode_like_fit(paper, [[np.nan, 1.0]])
    with pytest.raises(NotFittedError):
        encode_like_fit(ReticulumClassifier(), X)
