"""Branches that take the place of a leaf have one split, or three on two levels."""

from bayesian_reticulum.growth.shapes import CUT, MOST_NEW_SPLITS, THREE_SPLITS


def test_a_cut_has_one_split():
    assert (CUT.n_splits, CUT.depth) == (1, 1)


def test_three_splits_are_a_root_with_a_split_on_either_side():
    assert THREE_SPLITS.children.tolist() == [[1, 2], [~0, ~1], [~2, ~3]]
    assert MOST_NEW_SPLITS == 3
