"""A model predicts what its leaves mix, whoever computes it, and cannot be changed."""

import copy
import pickle
from dataclasses import fields, replace
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.special import expit

from bayesian_reticulum import ClassDistribution, Mixture, ReticulumClassifier
from bayesian_reticulum.model import GREY_ZONE, TRANSITION, fitted_model
from small_models import MIXED, MODELS, chain, fitted, fitted_to_mixed


@pytest.fixture(params=MIXED)
def model_and_cells(request):
    estimator, frame = fitted_to_mixed(request.param)
    return estimator.model_, estimator.model_.encode(frame)


def test_a_prediction_is_the_mixture_of_the_leaves(model_and_cells):
    model, cells = model_and_cells
    membership = model.membership(cells)
    np.testing.assert_allclose(membership.sum(axis=1), 1)
    if not model.family.uses_design:
        leaves = np.eye(model.tree.n_leaves)
        of_leaves = model.family.predictive_mean(model.statistics, leaves, np.ones((1, len(leaves))))
        np.testing.assert_allclose(model.predict_mean(cells), membership @ of_leaves, rtol=1e-9)


def test_the_mean_is_that_of_the_distribution(model_and_cells):
    model, cells = model_and_cells
    distribution = model.predict_distribution(cells)
    if model.has_classes:
        assert isinstance(distribution, ClassDistribution)
        np.testing.assert_allclose(model.predict_mean(cells), distribution.probabilities)
    else:
        assert isinstance(distribution, Mixture)
        np.testing.assert_allclose(model.predict_mean(cells), distribution.mean, rtol=1e-9)
        assert model.predict_uncertainty(cells).total == pytest.approx(distribution.std**2, rel=1e-6)


def test_without_the_compiled_core_predictions_are_the_same(model_and_cells, monkeypatch):
    model, cells = model_and_cells
    mean, membership = model.predict_mean(cells), model.membership(cells)
    monkeypatch.setenv("BAYESIAN_RETICULUM_NATIVE", "0")
    np.testing.assert_allclose(model.predict_mean(cells), mean, rtol=1e-9)
    np.testing.assert_allclose(model.membership(cells), membership, atol=1e-12)


def test_routes_are_gates_of_activations(model_and_cells):
    model, cells = model_and_cells
    gates = model.routes(cells[:20])
    np.testing.assert_allclose(gates.gate, expit(gates.activation), atol=1e-12)
    np.testing.assert_allclose(np.exp(gates.log_membership[0]).T, model.membership(cells[:20]), atol=1e-12)


def test_an_empty_table_has_empty_predictions(monkeypatch):
    model = fitted("two classes")[0].model_
    assert model.predict_mean(np.empty((0, 2))).shape == (0, 2)
    monkeypatch.setenv("BAYESIAN_RETICULUM_NATIVE", "0")
    assert model.predict_mean(np.empty((0, 2))).shape == (0, 2)
    assert model.membership(np.empty((0, 2))).shape == (0, model.tree.n_leaves)


def test_hyperplanes_are_in_the_units_of_the_table():
    estimator, X, _ = fitted("two classes")
    model = estimator.model_
    # Rows within the limits of the schema.
    X = np.clip(X, model.schema.low, model.schema.high)
    np.testing.assert_allclose(
        model.routes(X).activation[0].T, np.column_stack([np.ones(len(X)), X]) @ model.hyperplanes.T
    )


def test_a_gate_goes_from_10_to_90_percent_over_its_transition_width():
    model = chain(4, ("a", "b")).model_
    slopes = model.tree.hyperplanes[:, 1:]
    for split, width in enumerate(model.transition_widths):
        length = np.linalg.norm(slopes[split])
        assert expit(width * length / 2) == pytest.approx(GREY_ZONE[1])
        assert expit(-width * length / 2) == pytest.approx(GREY_ZONE[0])
    assert expit(-TRANSITION / 2) == pytest.approx(0.1)


def test_importances_and_shares_add_up_to_one(model_and_cells):
    model, _ = model_and_cells
    np.testing.assert_allclose(model.shares.sum(axis=1), 1)
    has_gain = model.tree.n_splits > 0 or model.family.uses_design
    assert model.feature_importances.sum() == pytest.approx(float(has_gain))
    assert (model.feature_importances >= 0).all()


@pytest.mark.parametrize("name", MODELS)
def test_classes_are_those_of_a_categorical_family(name):
    estimator, *_ = fitted(name)
    assert estimator.model_.has_classes == hasattr(estimator, "classes_")


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda model: pickle.loads(pickle.dumps(model))])
def test_a_model_stays_as_it_is(copied):
    model = copied(fitted("two classes")[0].model_)
    for field in fields(model):
        with pytest.raises(AttributeError):
            setattr(model, field.name, None)
        if isinstance(value := getattr(model, field.name), np.ndarray):
            with pytest.raises(ValueError, match="read-only"):
                value[...] = 0.0
    assert str(model) == str(fitted("two classes")[0].model_)


def test_a_broken_copy_is_refused():
    model = fitted("two classes")[0].model_
    with pytest.raises(ValueError, match="statistics must be finite"):
        replace(model, statistics=np.full_like(model.statistics, np.nan))
    broken = copy.copy(model)
    state = {field.name: getattr(model, field.name) for field in fields(model)} | {"prices": np.ones(99)}
    with pytest.raises(ValueError, match="prices has shape"):
        broken.__setstate__(state)


def test_a_model_shows_its_size():
    model = chain(1, ("a",)).model_
    assert repr(model) == "<Reticulum: 1 split, 2 leaves, log evidence -10000.0>"
    assert str(model) == model.as_text()
    assert str(model).splitlines()[0] == "Reticulum: 1 split, 2 leaves, log evidence -10000.0"
    assert model._repr_html_().startswith("<div")


def test_an_estimator_without_a_model_is_refused():
    with pytest.raises(ValueError, match=r"ReticulumClassifier is not a fitted reticulum\. Call fit first"):
        fitted_model(ReticulumClassifier())
    with pytest.raises(ValueError, match="SimpleNamespace is not a fitted reticulum"):
        fitted_model(SimpleNamespace(model_="a model"))
    estimator, *_ = fitted("two classes")
    assert fitted_model(estimator) is estimator.model_
