"""Parts that do not fit together make no model, and the error says which, where and what to do."""

from dataclasses import replace

import numpy as np
import pytest

from bayesian_reticulum import NormalLinear, Schema
from bayesian_reticulum.model import check_whole_number
from plugins import GammaPoisson
from small_models import MODELS, chain, fitted


@pytest.fixture
def model():
    return chain(3, ("a", "b")).model_


def with_cell(statistics, value):
    changed = np.array(statistics)
    changed[2, 1] = value
    return changed


REFUSED = {
    "schema": (
        lambda model: {"schema": Schema(("a",), [0.0], [1.0], [-3.0], [3.0])},
        "the tree has slopes for 2 columns, but the schema has 1; give the schema that the tree was grown with",
    ),
    "few leaves": (
        lambda model: {"statistics": model.statistics[:2]},
        r"statistics has shape \(2, 3\); it needs \(4, 3\): for each leaf of the tree the sum of family\.row",
    ),
    "another family": (lambda model: {"family": GammaPoisson(), "statistics": np.ones((4, 2))}, r"needs \(4, 3\)"),
    "gap": (
        lambda model: {"statistics": with_cell(model.statistics, np.nan)},
        r"statistics must be finite; statistics\[2, 1\] = nan\. Targets and weights that are finite",
    ),
    "infinity": (lambda model: {"statistics": with_cell(model.statistics, np.inf)}, r"statistics\[2, 1\] = inf"),
    "negative count": (
        lambda model: {"statistics": with_cell(np.ones((4, 3)), -1.0)},
        r"statistics\[2\] = \[ 1\. -1\.  1\.\] cannot be a sum over rows: DirichletCategorical\.are_possible refuses "
        r"it\. Give the sum of family\.row_statistics",
    ),
    "negative square": (
        lambda model: {"family": NormalLinear(), "statistics": [[-1.0, 0.0, 1.0]] * 4},
        r"statistics\[0\] = .* cannot be a sum over rows: NormalLinear\.are_possible",
    ),
    "log evidence": (lambda model: {"log_evidence": np.nan}, "log_evidence must be a number; got nan"),
    "no log evidence": (lambda model: {"log_evidence": None}, "log_evidence must be a number; got None"),
    "precisions": (
        lambda model: {"precisions": np.ones(2)},
        r"precisions has shape \(2,\); it needs \(3,\), one number for each split",
    ),
    "factors": (
        lambda model: {"log_bayes_factors": np.ones(4)},
        r"log_bayes_factors has shape \(4,\); it needs \(3,\)",
    ),
    "prices": (lambda model: {"prices": np.ones((3, 1))}, r"prices has shape \(3, 1\)"),
    "shares": (lambda model: {"grey_shares": 0.5}, r"grey_shares has shape \(\)"),
    "too large a share": (lambda model: {"grey_shares": [0.1, 2.0, 0.3]}, r"grey_shares\[1\] is 2\.0; give a share"),
    "negative precision": (lambda model: {"precisions": [1.0, 1.0, -1.0]}, r"precisions\[2\] is -1\.0; give a finite"),
    "unknown price": (lambda model: {"prices": [np.nan, 1.0, 1.0]}, r"prices\[0\] is nan; give a finite number"),
    "no scale": (
        lambda model: {"schema": replace(model.schema, scale=[1.0, 0.0])},
        r"schema\.scale\[1\] is 0\.0; units are finite, and no scale is 0",
    ),
    "unknown center": (
        lambda model: {"schema": replace(model.schema, center=[np.nan, 0.0])},
        r"schema\.center\[0\] is nan",
    ),
    "no such feature": (
        lambda model: {"schema": replace(model.schema, source=[0, 5])},
        "schema.source names feature 5, but the schema has 2 names",
    ),
    "too few targets": (lambda model: {"targets": model.targets[:1]}, "give a tuple of 3 names: of all classes"),
    "no targets": (lambda model: {"targets": None}, "targets are None; give a tuple of 3 names"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_parts_that_do_not_fit_are_refused(model, case):
    changes, message = REFUSED[case]
    with pytest.raises(ValueError, match=message):
        replace(model, **changes(model))


@pytest.mark.parametrize("name", MODELS)
def test_the_parts_of_every_fitted_model_fit(name):
    model = fitted(name)[0].model_
    assert replace(model).tree is model.tree


def test_bayes_factors_and_grey_shares_may_be_unknown(model):
    unknown = np.full(3, np.nan)
    assert np.isnan(replace(model, log_bayes_factors=unknown, grey_shares=unknown).grey_shares).all()


@pytest.mark.parametrize("value", [1.5, "2", None, -1])
def test_a_number_that_is_not_whole_or_too_small_is_refused(value):
    with pytest.raises(ValueError, match=f"max_depth must be a whole number of at least 0; got {value!r}"):
        check_whole_number("max_depth", value, 0)


@pytest.mark.parametrize("value", [0, 7, np.int8(3)])
def test_whole_numbers_pass(value):
    check_whole_number("max_depth", value, 0)
