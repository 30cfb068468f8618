"""Families with metadata are held to all laws."""

import numpy as np
import pytest

from bayesian_reticulum.testing import check_family, metadata
from bayesian_reticulum.testing.case import Case
from bayesian_reticulum.testing.metadata import AtMetadata, at_one_value, metadata_belong_to_single_rows
from broken_families import breaking_laws_of, case_of
from exposures import ExposedAlways, ExposedCounts, draw_exposures
from plugins import FAMILIES


def draw_counts(rng, n):
    return rng.poisson(2.0, size=n)


@pytest.mark.parametrize("family", [ExposedCounts(), ExposedCounts(30.0, 0.2), ExposedAlways()])
def test_a_family_with_metadata_passes_the_check_of_users(family):
    if isinstance(family, ExposedAlways):
        # Each of its methods has to be asked with exposures.
        at_two = AtMetadata(family, {"exposure": 2.0})
        assert at_two.predictive_mean(np.ones((1, 4)), np.ones((1, 3)), np.ones((1, 3))) == pytest.approx([2.0] * 3)
    check_family(family, draw_counts, draw_metadata=draw_exposures, n_rounds=3)


def test_a_family_without_metadata_is_left_as_it_is():
    case = FAMILIES["counts"]
    assert at_one_value(case, np.random.default_rng(0)) is case


def test_metadata_have_to_be_drawn():
    with pytest.raises(TypeError, match="ExposedCounts takes exposure of each row; give draw_metadata"):
        check_family(ExposedCounts(), draw_counts)


def test_draws_have_the_names_of_the_family():
    case = Case(ExposedCounts(), draw_counts, draw_metadata=lambda rng, n: {"years": np.ones(n)})
    with pytest.raises(
        AssertionError, match=r"expected draws of exposure, found those of years\. Look at draw_metadata"
    ):
        metadata_belong_to_single_rows(case, np.random.default_rng(0))


class Unmindful(ExposedCounts):
    """Knows no exposures when it predicts."""

    def predictive(self, statistics, membership, design, exposure=1.0):
        return super().predictive(statistics, membership, design)


def test_a_family_that_predicts_without_metadata_is_found_out():
    with pytest.raises(AssertionError, match="breaks the law 'log evidence is the sum of sequential predictions'"):
        check_family(Unmindful(), draw_counts, draw_metadata=draw_exposures)


@pytest.mark.parametrize(("family", "law", "what"), breaking_laws_of(metadata))
def test_a_broken_law_is_named_with_what_was_found(family, law, what):
    case = case_of(family)
    with pytest.raises(AssertionError, match=rf"^{type(family).__name__} breaks the law '{law}': .*{what}"):
        check_family(family, case.draw_targets, draw_metadata=case.draw_metadata)
