"""What a family takes of a row besides its target: from the arguments of fit, through growth, to predictions."""

import pickle

import numpy as np
import pytest
from sklearn import config_context
from sklearn.base import clone
from sklearn.model_selection import cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from bayesian_reticulum import ReticulumClassifier, ReticulumRegressor, simplify
from bayesian_reticulum.data import Schema
from bayesian_reticulum.explain import explain_rows, leaf_cards
from bayesian_reticulum.families import NormalLinear, TargetsWithMetadata
from bayesian_reticulum.rows import ArrayRows, Histogram, MembershipSums, Moments, RowData, rows_in_memory
from bayesian_reticulum.tree import single_leaf, split_leaf
from chunked_rows import ChunkedRows
from exposures import ExposedAlways, ExposedCounts, claims

ROUTING = {"enable_metadata_routing": True}


def regressor(**parameters):
    return ReticulumRegressor(**{"leaf": ExposedCounts(), "random_state": 0, "patience": 1} | parameters)


@pytest.fixture(scope="module")
def fitted():
    X, y, exposure = claims()
    return regressor().fit(X, y, exposure=exposure), X, y, exposure


def test_rates_are_learned_and_predictions_scale_with_the_exposure(fitted):
    reg, X, _, exposure = fitted
    assert reg.n_splits_ >= 1
    rates = reg.predict([[-2.0, 0.0], [2.0, 0.0]])
    np.testing.assert_allclose(rates, [1.0, 4.0], rtol=0.2)
    one = reg.predict(X, exposure=np.ones(len(X)))
    np.testing.assert_allclose(reg.predict(X, exposure=exposure), exposure * one)
    mean, std = reg.predict(X, return_std=True, exposure=exposure)
    distribution = reg.predict_distribution(X, exposure=exposure)
    np.testing.assert_allclose(distribution.mean, mean)
    np.testing.assert_allclose(distribution.std, std)
    np.testing.assert_allclose(reg.predict_uncertainty(X, exposure=exposure).total, std**2)


def test_an_exposure_of_one_is_predicted_by_default(fitted):
    reg, X, *_ = fitted
    np.testing.assert_array_equal(reg.predict(X), reg.predict(X, exposure=np.ones(len(X))))


def test_exposures_are_not_left_aside(fitted):
    reg, X, y, exposure = fitted
    assert reg.log_evidence_ > regressor().fit(X, y, exposure=np.ones(len(X))).log_evidence_ + 10
    assert reg.log_evidence_ > regressor().fit(X, y, exposure=exposure[::-1]).log_evidence_ + 10


def test_a_weight_of_two_is_a_row_given_twice():
    X, y, exposure = claims(200)
    weights = np.arange(200) % 3
    kept = np.repeat(np.arange(200), weights)
    weighted = regressor().fit(X, y, weights, exposure=exposure)
    repeated = regressor().fit(X[kept], y[kept], exposure=exposure[kept])
    assert weighted.log_evidence_ == pytest.approx(repeated.log_evidence_, abs=1e-6)
    np.testing.assert_allclose(weighted.predict(X), repeated.predict(X), rtol=1e-6)


def test_trees_are_alike_without_compiled_code(fitted, monkeypatch):
    reg, X, y, exposure = fitted
    monkeypatch.setenv("BAYESIAN_RETICULUM_NATIVE", "0")
    plain = regressor().fit(X, y, exposure=exposure)
    # The ascent by the book ends elsewhere on the same slope.
    assert plain.log_evidence_ == pytest.approx(reg.log_evidence_, abs=0.1)
    np.testing.assert_allclose(plain.predict(X, exposure=exposure), reg.predict(X, exposure=exposure), rtol=0.01)


class ChunkedRegressor(ReticulumRegressor):
    """Grows on rows in chunks."""

    def rows_factory(self):
        return ChunkedRows.of_data


def test_rows_that_are_elsewhere_keep_their_exposures(fitted):
    reg, X, y, exposure = fitted
    chunked = ChunkedRegressor(**reg.get_params()).fit(X, y, exposure=exposure)
    assert chunked.log_evidence_ == pytest.approx(reg.log_evidence_, abs=1e-6)
    np.testing.assert_allclose(chunked.predict(X, exposure=exposure), reg.predict(X, exposure=exposure), rtol=1e-5)


class AboveOffsets(NormalLinear):
    """Numbers that are what is to be explained above an offset of each row."""

    metadata = ("offset",)

    def row_statistics(self, design, targets, offset):
        return super().row_statistics(design, targets - offset)

    def residuals(self, design, targets, statistics, offset):
        return super().residuals(design, targets - offset, statistics)

    @property
    def scan_family(self):
        return NormalLinear(self.n_slopes).scan_family


@pytest.mark.parametrize("n_slopes", [0, 2])
def test_rows_of_all_kinds_sum_what_a_normal_family_takes_of_a_row(n_slopes):
    rng = np.random.default_rng(0)
    X, y, offset = rng.normal(size=(300, 2)), rng.normal(size=300), rng.uniform(0.1, 2.0, size=300)
    family, schema = AboveOffsets(n_slopes), Schema.from_columns(X, np.ones(300), ("a", "b"))
    as_metadata = RowData.of(X, TargetsWithMetadata(y, {"offset": offset}), np.ones(300), schema)
    as_targets = RowData.of(X, y - offset, np.ones(300), schema)
    stump = split_leaf(single_leaf(2), 0, [0.3, 1.0, -0.5])
    direction, edges = np.array([[0.0, 1.0, 1.0]]), np.array([[-1.0, 0.0, 1.0]])

    def all_sums(rows, family):
        membership = rows.reduce(MembershipSums(stump.hyperplanes[None], stump.shape)).statistics
        leaf = membership[0].sum(axis=0)
        moments = rows.reduce(Moments(family, leaf))
        histogram = rows.reduce(Histogram(family, leaf, direction, edges, stump.hyperplanes))
        return membership, moments.second, moments.cross, histogram.statistics

    expected = all_sums(ArrayRows.of_data(as_targets, NormalLinear(n_slopes)), NormalLinear(n_slopes))
    for rows in (ArrayRows.of_data(as_metadata, family), rows_in_memory(as_metadata, family)):
        for sums, others in zip(all_sums(rows, family), expected, strict=True):
            np.testing.assert_allclose(sums, others, rtol=1e-9, atol=1e-9)


def test_samples_of_many_rows_keep_their_exposures():
    X, y, exposure = claims(20_000)
    reg = regressor(max_splits=1).fit(X, y, exposure=exposure)
    np.testing.assert_allclose(reg.predict([[-2.0, 0.0], [2.0, 0.0]]), [1.0, 4.0], rtol=0.05)


def test_models_with_metadata_are_explained_simplified_and_pickled(fitted):
    reg, X, y, exposure = fitted
    assert "for each exposure" in str(reg.model_)
    assert len(leaf_cards(reg)) == reg.n_leaves_
    assert "y" in str(explain_rows(reg, X[:1])[0])
    simpler = simplify(reg, X, y, exposure=exposure, max_features=1)
    assert simpler.estimator.predict(X, exposure=exposure).shape == y.shape
    same = pickle.loads(pickle.dumps(reg))
    np.testing.assert_array_equal(same.predict(X, exposure=exposure), reg.predict(X, exposure=exposure))


def test_a_pipeline_hands_on_what_is_asked_for():
    X, y, exposure = claims()
    with config_context(**ROUTING):
        asking = regressor().set_fit_request(exposure=True).set_predict_request(exposure=True)
        pipeline = make_pipeline(StandardScaler(), asking.set_score_request(exposure=True))
        pipeline.fit(X, y, exposure=exposure)
        predicted = pipeline.predict(X, exposure=2 * exposure)
        np.testing.assert_allclose(predicted, 2 * pipeline.predict(X, exposure=exposure))
        assert pipeline.score(X, y, exposure=exposure) > pipeline.score(X, y, exposure=np.ones(len(X)))


def test_cross_validation_cuts_metadata_with_the_rows():
    X, y, exposure = claims()
    with config_context(**ROUTING):
        asking = regressor().set_fit_request(exposure=True, sample_weight=True)
        asking.set_score_request(exposure=True, sample_weight=False)
        params = {"exposure": exposure, "sample_weight": np.ones(len(X))}
        scores = cross_validate(asking, X, y, params=params, cv=3, error_score="raise")["test_score"]
        assert (scores > 0.5).all()


def test_requests_are_kept_by_clones_and_may_be_renamed():
    X, y, exposure = claims(100)
    with config_context(**ROUTING):
        asking = clone(regressor().set_fit_request(exposure="years"))
        make_pipeline(asking).fit(X, y, years=exposure)
        assert asking.get_metadata_routing().fit.requests == {"exposure": "years", "sample_weight": None}
        assert regressor().get_metadata_routing().fit.requests == {"exposure": None, "sample_weight": None}


def test_metadata_without_a_request_are_refused_by_scikit_learn():
    X, y, exposure = claims(100)
    with config_context(**ROUTING), pytest.raises(ValueError, match=r"\[exposure\] are passed but are not explicitly"):
        make_pipeline(regressor()).fit(X, y, exposure=exposure)


def test_requests_that_make_no_sense_are_refused():
    with pytest.raises(RuntimeError, match=r"enable_metadata_routing=True"):
        regressor().set_fit_request(exposure=True)
    with config_context(**ROUTING):
        with pytest.raises(TypeError, match=r"set_fit_request got years, but fit of .* takes exposure, sample_weight"):
            regressor().set_fit_request(years=True)
        with pytest.raises(TypeError, match=r"set_predict_proba_request got exposure, but .* takes no metadata"):
            ReticulumClassifier().set_predict_proba_request(exposure=True)
        ReticulumClassifier().set_score_request(sample_weight=True)


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        ({}, ValueError, r"ReticulumRegressor.fit needs exposure, which row_statistics of ExposedCounts takes of each"),
        ({"exposure": None}, ValueError, r"fit needs exposure"),
        ({"years": np.ones(50)}, TypeError, r"fit got years, but row_statistics of ExposedCounts takes exposure"),
        ({"exposure": np.ones(49)}, ValueError, r"exposure has shape \(49,\); X has 50 rows"),
        ({"exposure": 1.0}, ValueError, r"exposure has shape \(\); X has 50 rows"),
        ({"exposure": [np.nan] * 50}, ValueError, r"exposure\[0\] is missing \(NaN\)"),
        ({"exposure": ["long"] * 50}, ValueError, r"exposure must be numbers"),
        ({"exposure": -np.ones(50)}, ValueError, r"no finite statistics for y\[\d+\] = .* with exposure = -1"),
    ],
)
def test_metadata_that_make_no_sense_are_refused(given, error, message):
    X, y, _ = claims(50)
    with pytest.raises(error, match=message):
        regressor().fit(X, y, **given)


def test_predictions_ask_for_what_they_need(fitted):
    reg, X, y, exposure = fitted
    with pytest.raises(TypeError, match=r"ReticulumRegressor.predict got years, but predictive_mean of ExposedCounts"):
        reg.predict(X, years=exposure)
    with pytest.raises(ValueError, match=r"exposure has shape \(299,\); X has 300 rows"):
        reg.predict_distribution(X, exposure=exposure[1:])
    always = regressor(leaf=ExposedAlways(), max_splits=0).fit(X, y, exposure=exposure)
    with pytest.raises(ValueError, match=r"ReticulumRegressor.predict needs exposure"):
        always.predict(X)


def test_estimators_without_such_a_family_take_no_metadata():
    X, y, exposure = claims(50)
    with pytest.raises(TypeError, match=r"fit got exposure, but row_statistics of NormalLinear takes no metadata"):
        ReticulumRegressor().fit(X, y, exposure=exposure)
    clf = ReticulumClassifier(max_splits=0).fit(X, y > 1)
    with pytest.raises(TypeError, match=r"predict_proba got exposure"):
        clf.predict_proba(X, exposure=exposure)


class Misnamed(ExposedCounts):
    metadata = ("sample_weight",)


def test_names_that_are_those_of_other_arguments_are_refused():
    X, y, _ = claims(50)
    with pytest.raises(ValueError, match=r"'sample_weight' cannot be the name of an argument"):
        regressor(leaf=Misnamed()).fit(X, y)
