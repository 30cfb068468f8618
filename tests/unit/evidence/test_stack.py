"""Stacks of trees."""

import numpy as np

from bayesian_reticulum.evidence.stack import Effort, Stack


def test_some_trees_of_a_stack_keep_all_that_is_theirs():
    rng = np.random.default_rng(0)
    sizes = (3, 2, 4), (3, 2), (3, 3, 2), (3,), (3, 2)
    stack = Stack(*(rng.normal(size=size) for size in sizes))
    assert len(stack) == 3
    for trees in ([2, 0], np.array([True, False, True]), slice(1, 3)):
        some = stack.take(trees)
        assert len(some) == 2
        for name, array in vars(stack).items():
            np.testing.assert_array_equal(getattr(some, name), array[trees], err_msg=name)


def test_an_ascent_without_further_words_gives_no_tree_up():
    assert Effort().least == -np.inf
