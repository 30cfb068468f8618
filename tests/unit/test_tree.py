"""Laws of the tree's arrays, on random trees."""

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayesian_reticulum.gates import compute_gates
from bayesian_reticulum.tree import (
    Shape,
    Tree,
    branch_of,
    check_tree,
    collapse,
    graft,
    insert_split,
    kept_splits,
    single_leaf,
    splice,
    split_leaf,
    splits_below,
    with_canonical_signs,
)
from plugins import hyperplanes, trees


def assert_same(one, other):
    np.testing.assert_array_equal(one.hyperplanes, other.hyperplanes)
    np.testing.assert_array_equal(one.children, other.children)
    np.testing.assert_array_equal(one.ids, other.ids)


def leaves_left_to_right(tree, node=0):
    """The leaves below a split in reading order, by plain recursion."""
    if tree.n_splits == 0:
        return [0]
    return [
        leaf
        for child in tree.children[node]
        for leaf in (leaves_left_to_right(tree, child) if child >= 0 else [int(~child)])
    ]


def paths(tree):
    """For each leaf its {split: side} with side 0 for left, walked from the root."""
    path_to = {} if tree.n_splits else {0: {}}

    def walk(split, path):
        for side, child in enumerate(tree.children[split]):
            here = {**path, split: side}
            if child >= 0:
                walk(int(child), here)
            else:
                path_to[int(~child)] = here

    if tree.n_splits:
        walk(0, {})
    return path_to


def test_a_single_leaf_is_an_ordinary_tree():
    tree = single_leaf(3)
    assert (tree.n_splits, tree.n_leaves, tree.n_features, tree.depth) == (0, 1, 3, 0)
    assert tree.shape.sides.shape == (0, 1)
    np.testing.assert_array_equal(tree.shape.leaf_levels, [0])
    assert tree.shape.levels.shape == (0,)


@given(data=st.data(), tree=trees())
def test_splitting_then_collapsing_restores_the_tree(data, tree):
    leaf = data.draw(st.integers(0, tree.n_leaves - 1))
    grown = split_leaf(tree, leaf, data.draw(hyperplanes(tree.n_features)))
    assert_same(collapse(grown, tree.n_splits), tree)


@given(data=st.data(), tree=trees(), branch=trees(min_splits=1))
def test_grafting_then_collapsing_restores_the_tree(data, tree, branch):
    wide = np.resize(branch.hyperplanes, (branch.n_splits, tree.n_features + 1))
    branch = Tree(wide, branch.shape, 1000 + branch.ids)
    leaf = data.draw(st.integers(0, tree.n_leaves - 1))
    assert_same(collapse(graft(tree, leaf, branch), tree.n_splits), tree)


@given(data=st.data(), tree=trees(min_splits=1))
def test_a_branch_that_is_put_where_it_was_taken_from_restores_the_tree(data, tree):
    split = data.draw(st.integers(0, tree.n_splits - 1))
    branch, leaves = branch_of(tree, split), np.flatnonzero(tree.shape.sides[split])
    np.testing.assert_array_equal(branch.ids, tree.ids[splits_below(tree, split)])
    assert branch.n_leaves == len(leaves)
    again = graft(collapse(tree, split), int(leaves[0]), branch)
    # Splits of the branch have become the last ones.
    order = [again.ids.tolist().index(id_) for id_ in tree.ids]
    np.testing.assert_array_equal(again.hyperplanes[order], tree.hyperplanes)
    np.testing.assert_array_equal(again.shape.sides[order], tree.shape.sides)


@given(tree=trees())
def test_leaves_are_numbered_from_left_to_right(tree):
    assert leaves_left_to_right(tree) == list(range(tree.n_leaves))


@given(tree=trees())
def test_parents_stand_before_their_children(tree):
    split, side = np.nonzero(tree.children >= 0)
    assert (tree.children[split, side] > split).all()
    assert sorted(tree.children[split, side]) == list(range(1, tree.n_splits))


@given(tree=trees())
def test_no_two_splits_have_the_same_id(tree):
    assert len(set(tree.ids.tolist())) == tree.n_splits


@given(data=st.data(), tree=trees())
def test_a_new_split_is_last_and_halves_one_leaf(data, tree):
    leaf = data.draw(st.integers(0, tree.n_leaves - 1))
    hyperplane = data.draw(hyperplanes(tree.n_features))
    grown = split_leaf(tree, leaf, hyperplane, split_id=1000)
    np.testing.assert_array_equal(grown.hyperplanes[-1], hyperplane)
    np.testing.assert_array_equal(grown.hyperplanes[:-1], tree.hyperplanes)
    np.testing.assert_array_equal(grown.ids, [*tree.ids, 1000])
    before, after = paths(tree), paths(grown)
    for side in (0, 1):
        assert after[leaf + side] == {**before[leaf], tree.n_splits: side}
    for other in range(tree.n_leaves):
        if other != leaf:
            assert after[other + (other > leaf)] == before[other]


@given(data=st.data(), tree=trees())
def test_grafting_one_split_is_splitting_a_leaf(data, tree):
    leaf = data.draw(st.integers(0, tree.n_leaves - 1))
    hyperplane = data.draw(hyperplanes(tree.n_features))
    branch = split_leaf(single_leaf(tree.n_features), 0, hyperplane, split_id=1000)
    assert_same(graft(tree, leaf, branch), split_leaf(tree, leaf, hyperplane, split_id=1000))


@given(data=st.data(), tree=trees())
def test_grafting_a_leaf_changes_nothing(data, tree):
    leaf = data.draw(st.integers(0, tree.n_leaves - 1))
    assert_same(graft(tree, leaf, single_leaf(tree.n_features)), tree)


@given(tree=trees())
def test_grafting_onto_a_single_leaf_gives_the_branch(tree):
    assert_same(graft(single_leaf(tree.n_features), 0, tree), tree)


@given(tree=trees())
def test_sides_and_levels_follow_from_the_paths(tree):
    shape = tree.shape
    sides = np.zeros((tree.n_splits, tree.n_leaves))
    for leaf, path in paths(tree).items():
        assert shape.leaf_levels[leaf] == len(path)
        for level, (split, side) in enumerate(path.items()):
            sides[split, leaf] = 1 - 2 * side
            assert shape.levels[split] == level
    np.testing.assert_array_equal(shape.sides, sides)
    assert tree.depth == shape.leaf_levels.max()


@given(data=st.data(), tree=trees(min_splits=1))
def test_collapsing_removes_a_split_with_all_below_and_nothing_else(data, tree):
    split = data.draw(st.integers(0, tree.n_splits - 1))
    below = {split}
    for parent in range(split, tree.n_splits):
        if parent in below:
            below |= {int(child) for child in tree.children[parent] if child >= 0}
    kept = [s for s in range(tree.n_splits) if s not in below]
    np.testing.assert_array_equal(kept_splits(tree.shape, split), kept)
    collapsed = collapse(tree, split)
    np.testing.assert_array_equal(collapsed.ids, tree.ids[kept])
    np.testing.assert_array_equal(collapsed.hyperplanes, tree.hyperplanes[kept])
    assert leaves_left_to_right(collapsed) == list(range(collapsed.n_leaves))


@given(data=st.data(), tree=trees(min_splits=2))
def test_splicing_puts_all_rows_of_a_split_on_one_side(data, tree):
    split, side = data.draw(st.sampled_from(np.argwhere(tree.children >= 0).tolist()))
    rng = np.random.default_rng(0)
    design = np.vstack([np.ones(20), rng.normal(size=(tree.n_features, 20))])
    sure = tree.hyperplanes.copy()
    sure[split] = 0.0
    sure[split, 0] = [1000.0, -1000.0][side]
    membership = np.exp(compute_gates(sure[None], tree.shape, design).log_membership[0])
    spliced = splice(tree, split, side)
    stays = tree.shape.sides[split] != [-1, 1][side]
    of_spliced = np.exp(compute_gates(spliced.hyperplanes[None], spliced.shape, design).log_membership[0])
    np.testing.assert_allclose(of_spliced, membership[stays], atol=1e-12)
    assert set(spliced.ids) < set(tree.ids)
    assert leaves_left_to_right(spliced) == list(range(spliced.n_leaves))


@given(tree=trees(min_splits=1))
def test_collapsing_the_root_leaves_a_single_leaf(tree):
    assert_same(collapse(tree, 0), single_leaf(tree.n_features))


@pytest.mark.parametrize(
    "array",
    [
        lambda tree: tree.hyperplanes,
        lambda tree: tree.ids,
        lambda tree: tree.children,
        lambda tree: tree.shape.sides,
        lambda tree: tree.shape.levels,
        lambda tree: tree.shape.leaf_levels,
    ],
    ids=["hyperplanes", "ids", "children", "sides", "levels", "leaf_levels"],
)
def test_arrays_cannot_be_written(array):
    tree = split_leaf(single_leaf(2), 0, [0.0, 1.0, 2.0])
    with pytest.raises(ValueError, match="read-only"):
        array(tree)[...] = 0


def test_a_tree_does_not_share_memory_with_what_it_was_made_from():
    hyperplanes = np.ones((1, 3))
    tree = Tree(hyperplanes, Shape(np.array([[~0, ~1]])), np.array([0]))
    hyperplanes[:] = 7
    assert (tree.hyperplanes == 1).all()


@pytest.mark.parametrize("leaf", [-1, 2])
def test_splitting_a_leaf_that_does_not_exist_is_refused(leaf):
    tree = split_leaf(single_leaf(1), 0, [0.0, 1.0])
    with pytest.raises(IndexError, match=f"leaf {leaf} does not exist; the tree has leaves 0 to 1"):
        split_leaf(tree, leaf, [0.0, 1.0])


@pytest.mark.parametrize("leaf", [-1, 2])
def test_grafting_onto_a_leaf_that_does_not_exist_is_refused(leaf):
    tree = split_leaf(single_leaf(1), 0, [0.0, 1.0])
    with pytest.raises(IndexError, match=f"leaf {leaf} does not exist; the tree has leaves 0 to 1"):
        graft(tree, leaf, tree)


@pytest.mark.parametrize(
    ("hyperplanes", "ids"),
    [(np.ones((2, 3)), [0]), (np.ones((1, 3)), [0, 1]), (np.ones((2, 3)), [0, 1]), (np.ones(3), [0])],
    ids=["hyperplanes", "ids", "both", "one-dimensional"],
)
def test_a_tree_needs_one_hyperplane_and_one_id_for_each_split(hyperplanes, ids):
    with pytest.raises(ValueError, match="a tree of 1 splits needs as many hyperplanes and ids; got shapes"):
        Tree(hyperplanes, Shape(np.array([[~0, ~1]])), np.array(ids))


@pytest.mark.parametrize(
    ("children", "message"),
    [
        ([~0, ~1], r"children have shape \(2,\); give a left and a right child for each split, \(m, 2\)"),
        ([[~0, ~1, ~2]], r"children have shape \(1, 3\); give a left and a right child"),
        ([[1, ~0], [~1]], "children are no pairs; give a left and a right child"),
        ([[~0, 0.5]], r"children\[0, 1\] is 0.5; give a split or ~leaf, a whole number"),
        ([[~0, np.nan]], r"children\[0, 1\] is nan; give a split or ~leaf, a whole number"),
        ([[0, ~0]], r"children\[0, 0\] is 0, which does not stand after its parent; number splits so that it does"),
        ([[~0, 1], [~1, 0]], r"children\[1, 1\] is 0, which does not stand after its parent"),
        ([[2, ~2], [~0, ~1], [1, ~3]], r"children\[2, 0\] is 1, which does not stand after its parent"),
        ([[1, 1], [~0, ~1]], r"children\[0, 1\] is 1, but split 1 is below split 0; give it one parent"),
        ([[1, 2], [~0, 2], [~1, ~2]], r"children\[1, 1\] is 2, but split 2 is below split 0; give it one parent"),
        ([[~0, ~1], [~2, ~3]], "split 1 is below none; let children name it once, or take it out"),
        ([[~0, 2], [~1, ~2], [~1, ~2]], "split 1 is below none"),
        ([[~0, 1]], r"children\[0, 1\] is 1, but splits are 0 to 0; give one of them, or ~leaf"),
        ([[~1, ~0]], r"children\[0, 0\] is leaf 1, where leaf 0 comes next from left to right; number leaves in that"),
        ([[~0, ~0]], r"children\[0, 1\] is leaf 0, where leaf 1 comes next"),
        ([[1, ~2], [~0, ~5]], r"children\[1, 1\] is leaf 5, where leaf 1 comes next"),
    ],
)
def test_what_is_no_tree_is_refused(children, message):
    with pytest.raises(ValueError, match=message):
        Shape(children)


@given(tree=trees(min_splits=1), data=st.data())
def test_one_wrong_child_is_noticed(tree, data):
    split = data.draw(st.integers(0, tree.n_splits - 1))
    side = data.draw(st.integers(0, 1))
    wrong = data.draw(
        st.integers(-tree.n_leaves - 2, tree.n_splits + 1).filter(lambda c: c != tree.children[split, side])
    )
    children = tree.children.copy()
    children[split, side] = wrong
    with pytest.raises(ValueError, match=r"children\[|split "):
        Shape(children)


@given(tree=trees())
def test_trees_pass_the_check(tree):
    check_tree(tree)
    check_tree(tree.shape)
    check_tree(pickle.loads(pickle.dumps(tree)))


def test_whole_numbers_may_be_given_as_floats():
    np.testing.assert_array_equal(Shape([[1.0, -3.0], [-1.0, -2.0]]).children, [[1, ~2], [~0, ~1]])


@pytest.mark.parametrize("wrong", [np.nan, np.inf, -np.inf])
def test_coefficients_that_are_no_finite_numbers_are_refused(wrong):
    hyperplanes = np.ones((1, 3))
    hyperplanes[0, 2] = wrong
    with pytest.raises(ValueError, match=rf"hyperplanes\[0, 2\] is {wrong}; give a finite number"):
        Tree(hyperplanes, Shape([[~0, ~1]]), [0])


def test_two_splits_with_the_same_id_are_refused():
    with pytest.raises(ValueError, match=r"ids\[2\] and ids\[0\] are both 7; give each split another id"):
        Tree(np.ones((3, 2)), Shape([[1, ~3], [2, ~2], [~0, ~1]]), [7, 1, 7])


def test_a_tree_that_was_changed_by_force_fails_the_check():
    tree = split_leaf(single_leaf(1), 0, [0.0, 1.0])
    object.__setattr__(tree, "hyperplanes", np.ones((2, 2)))
    with pytest.raises(ValueError, match="a tree of 1 splits needs as many hyperplanes and ids"):
        check_tree(tree)
    object.__setattr__(tree.shape, "children", np.array([[0, ~0]]))
    with pytest.raises(ValueError, match="does not stand after its parent"):
        check_tree(tree)


@given(trees(min_splits=1), st.data())
def test_an_inserted_split_stands_between_a_split_and_its_child(tree, data):
    split = data.draw(st.integers(0, tree.n_splits - 1))
    side = data.draw(st.integers(0, 1))
    plane = np.arange(tree.n_features + 1.0)
    grown = insert_split(tree, split, side, plane, 77)
    new = split + 1
    assert grown.children[split, side] == new
    assert leaves_left_to_right(grown) == list(range(grown.n_leaves))
    assert (grown.ids[new], grown.n_splits) == (77, tree.n_splits + 1)
    np.testing.assert_array_equal(grown.hyperplanes[new], plane)
    assert all(child > parent for parent, pair in enumerate(grown.children) for child in pair if child >= 0)
    (leaf,) = (~child for child in grown.children[new, [1 - side]])
    before = [{int(tree.ids[j]): s for j, s in path.items()} for _, path in sorted(paths(tree).items())]
    after = [{int(grown.ids[j]): s for j, s in path.items()} for _, path in sorted(paths(grown).items())]
    added = after.pop(leaf)
    assert added[77] == 1 - side
    for old, path in zip(before, after, strict=True):
        assert path.pop(77, side) == side
        assert path == old


@given(trees(min_splits=1))
def test_canonical_signs_rename_sides_and_leaves_alone(tree):
    other, old_leaf = with_canonical_signs(tree)
    assert (np.take_along_axis(other.hyperplanes, largest_slopes(other), axis=1) >= 0).all()
    design = np.vstack([np.ones(5), np.linspace(-1, 1, 5 * tree.n_features).reshape(tree.n_features, 5)])
    one, two = (compute_gates(t.hyperplanes[None], t.shape, design).log_membership[0] for t in (tree, other))
    np.testing.assert_allclose(two, one[old_leaf], rtol=1e-12, atol=1e-12)
    assert leaves_left_to_right(other) == list(range(tree.n_leaves))


def largest_slopes(tree):
    return np.abs(tree.hyperplanes[:, 1:]).argmax(axis=1)[:, None] + 1


@pytest.mark.parametrize("child", [None, -(10**30), np.uint64(2**64 - 1), 0.5, "left"])
def test_children_that_are_no_whole_numbers_of_64_bits_are_refused(child):
    children = np.array([[-1, child]], dtype=None if isinstance(child, np.uint64) else object)
    with pytest.raises(ValueError, match=r"children\[0, \d\] is .*; give a split or ~leaf, a whole number\."):
        Shape(children)


def test_hyperplanes_without_an_offset_are_refused():
    with pytest.raises(ValueError, match=r"hyperplanes have shape \(0, 0\); give an offset and one slope"):
        Tree(np.empty((0, 0)), Shape(np.empty((0, 2))), np.empty(0))


@pytest.mark.parametrize("tree", [None, [[-1, -2]]])
def test_only_trees_and_shapes_are_checked(tree):
    with pytest.raises(TypeError, match="check_tree needs a Tree or a Shape; got"):
        check_tree(tree)
