"""Metadata of rows travel with targets, and methods of families take them by name."""

import numpy as np
import pytest

from bayesian_reticulum.families import (
    NormalLinear,
    TargetsWithMetadata,
    joined_targets,
    metadata_for,
    metadata_names,
    residuals,
    row_statistics,
    taken_metadata,
    target_values,
)
from exposures import ExposedAlways, ExposedCounts

COUNTS = ExposedCounts()
TARGETS = TargetsWithMetadata(np.array([1.0, 2.0, 3.0]), {"exposure": np.array([0.5, 1.0, 2.0])})


def test_targets_and_metadata_are_cut_together():
    cut = TARGETS[np.array([2, 0])]
    assert len(cut) == 2
    np.testing.assert_array_equal(cut.values, [3.0, 1.0])
    np.testing.assert_array_equal(cut.metadata["exposure"], [2.0, 0.5])


def test_as_an_array_they_are_side_by_side():
    np.testing.assert_array_equal(np.asarray(TARGETS, dtype=np.float64), [[1.0, 0.5], [2.0, 1.0], [3.0, 2.0]])


def test_parts_are_joined_with_their_metadata():
    joined = joined_targets([TARGETS[:1], TARGETS[1:]])
    np.testing.assert_array_equal(np.asarray(joined), np.asarray(TARGETS))
    np.testing.assert_array_equal(joined_targets([np.array([0, 1]), np.array([2])]), [0, 1, 2])


def test_statistics_are_asked_for_with_the_metadata():
    expected = COUNTS.row_statistics(None, TARGETS.values, TARGETS.metadata["exposure"])
    np.testing.assert_array_equal(row_statistics(COUNTS, None, TARGETS), expected)
    np.testing.assert_array_equal(target_values(TARGETS), [1.0, 2.0, 3.0])
    assert target_values(TARGETS.values) is TARGETS.values


def test_a_family_without_metadata_takes_none():
    assert metadata_names(NormalLinear()) == ()
    assert taken_metadata(NormalLinear(), "row_statistics") == {}
    assert metadata_for(NormalLinear(), "predictive", {"exposure": np.ones(3)}) == {}


def test_what_has_a_default_is_not_needed():
    assert metadata_names(COUNTS) == ("exposure",)
    assert taken_metadata(COUNTS, "row_statistics") == {"exposure": True}
    assert taken_metadata(COUNTS, "predictive_mean") == {"exposure": False}
    assert taken_metadata(ExposedAlways(), "predictive_mean") == {"exposure": True}


class Collecting(ExposedCounts):
    metadata = "exposure"

    def row_statistics(self, design, targets, **metadata):
        return super().row_statistics(design, targets, metadata["exposure"])

    def describe(self, statistics, names, linear):
        return "counts"


def test_a_method_that_takes_all_keywords_needs_all_names():
    assert metadata_names(Collecting()) == ("exposure",)
    assert taken_metadata(Collecting(), "row_statistics") == {"exposure": True}
    assert taken_metadata(Collecting(), "describe") == {}


def test_a_block_of_rows_gets_its_part():
    part = metadata_for(COUNTS, "uncertainty", TARGETS.metadata, slice(1, 3))
    np.testing.assert_array_equal(part["exposure"], [1.0, 2.0])
    assert metadata_for(COUNTS, "uncertainty", None) == {}


@pytest.mark.parametrize("targets", [TARGETS.values, TargetsWithMetadata(TARGETS.values, {})])
def test_residuals_are_those_of_the_linear_family(targets):
    family, design = NormalLinear(n_slopes=1), np.array([[1.0, 1.0, 1.0], [-1.0, 0.0, 1.0]])
    statistics = family.row_statistics(design, TARGETS.values).sum(axis=0)
    expected = family.residuals(design, TARGETS.values, statistics)
    np.testing.assert_array_equal(residuals(family, design, targets, statistics), expected)
