"""Metadata as they are given to estimators: checks, and requests of metadata routing."""

import inspect

import numpy as np
import pytest
from sklearn import config_context

from bayesian_reticulum import PaperReticulumClassifier, ReticulumClassifier, ReticulumRegressor
from bayesian_reticulum.estimators.metadata import check_metadata_names, checked_metadata
from exposures import ExposedCounts


def test_numbers_come_back_as_floats():
    checked = checked_metadata("fit", ExposedCounts(), "row_statistics", {"exposure": [1, 2]}, 2)
    assert checked["exposure"].dtype == np.float64
    np.testing.assert_array_equal(checked["exposure"], [1.0, 2.0])


def test_what_is_not_given_is_left_to_the_default_of_the_family():
    assert checked_metadata("predict", ExposedCounts(), "predictive_mean", {"exposure": None}, 2) == {}


@pytest.mark.parametrize("name", ["X", "sample_weight", "two words", 3])
def test_names_that_cannot_be_arguments_are_refused(name):
    class Misnamed(ExposedCounts):
        metadata = (name,)

    with pytest.raises(ValueError, match=r"cannot be the name of an argument"):
        check_metadata_names(Misnamed())
    check_metadata_names(ExposedCounts())


@pytest.mark.parametrize("kind", [PaperReticulumClassifier, ReticulumClassifier, ReticulumRegressor])
def test_requests_are_asked_for_by_methods_that_know_the_family(kind):
    for method in ("fit", "predict", "score"):
        assert inspect.isfunction(getattr(kind, f"set_{method}_request"))
    with config_context(enable_metadata_routing=True):
        asking = kind().set_fit_request(sample_weight=True)
        assert asking.get_metadata_routing().fit.requests == {"sample_weight": True}


class WithGroups(ReticulumRegressor):
    """A subclass of users, with an argument of its own."""

    def fit(self, X, y, sample_weight=None, groups=None):
        return super().fit(X, y, sample_weight)


def test_arguments_of_subclasses_can_be_requested():
    with config_context(enable_metadata_routing=True):
        asking = WithGroups().set_fit_request(groups=True)
        assert asking.get_metadata_routing().fit.requests == {"groups": True, "sample_weight": None}
