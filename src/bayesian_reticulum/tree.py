"""A binary tree of soft, slanted splits as frozen arrays.

Format: ``children[j, side] >= 0`` names a split, otherwise ``~leaf``; side 0 is left, taken with probability
``sigmoid(activation)``. A parent stands before its children and leaves are numbered from left to right.
There are no node objects: what a node is, is a row of these arrays.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .arrays import Floats, Integers, frozen, frozen_integers, refreeze


@dataclass(frozen=True, eq=False)
class Shape:
    """How splits and leaves hang together, without the hyperplanes.

    Parameters
    ----------
    children : ndarray of shape (m, 2)
        For each split its left and right child: a split if >= 0, otherwise ``~leaf``.
    """

    children: Integers

    def __post_init__(self) -> None:
        object.__setattr__(self, "children", frozen_integers(self.children).reshape(-1, 2))

    __setstate__ = refreeze

    @property
    def n_splits(self) -> int:
        return len(self.children)

    @property
    def n_leaves(self) -> int:
        return len(self.children) + 1

    @cached_property
    def sides(self) -> NDArray[np.int8]:
        """Array (m, leaves): 1 where the leaf is left below the split, -1 where right, 0 where not below."""
        sides = np.zeros((self.n_splits, self.n_leaves), dtype=np.int8)
        for split in range(self.n_splits - 1, -1, -1):
            for child, sign in zip(self.children[split], (1, -1), strict=True):
                below = sides[child] != 0 if child >= 0 else np.arange(self.n_leaves) == ~child
                sides[split, below] = sign
        sides.setflags(write=False)
        return sides

    @cached_property
    def levels(self) -> Integers:
        """Level of each split; the root is level 0."""
        levels = np.zeros(self.n_splits, dtype=np.int64)
        for split, child in self._links():
            if child >= 0:
                levels[child] = levels[split] + 1
        levels.setflags(write=False)
        return levels

    @cached_property
    def leaf_levels(self) -> Integers:
        """Number of splits on the path to each leaf."""
        levels: Integers = frozen_integers((self.sides != 0).sum(axis=0))
        return levels

    @property
    def depth(self) -> int:
        return int(self.leaf_levels.max())

    def _links(self) -> Iterator[tuple[int, int]]:
        for split in range(self.n_splits):
            for child in self.children[split]:
                yield split, int(child)


def _in_reading_order(children: list[list[Any]]) -> Integers:
    """Number the leaves, given as any negative marks, from left to right."""
    numbered = [list(pair) for pair in children]
    count = 0

    stack: list[tuple[int, int]] = [(0, 1), (0, 0)] if children else []
    while stack:
        split, side = stack.pop()
        child = children[split][side]
        if child >= 0:
            stack += [(child, 1), (child, 0)]
        else:
            numbered[split][side] = ~count
            count += 1
    return np.array(numbered, dtype=np.int64).reshape(-1, 2)


@dataclass(frozen=True, eq=False)
class Tree:
    """Splits of one tree; what its leaves hold is kept elsewhere.

    Parameters
    ----------
    hyperplanes : ndarray of shape (m, d + 1)
        Offset and slopes of each split; the activation of a row x is ``hyperplanes @ (1, x)``.
    shape : Shape
        How the splits hang together.
    ids : ndarray of shape (m,)
        A name for each split that survives growth, so that a split can be followed from tree to tree.

    Examples
    --------
    >>> tree = split_leaf(single_leaf(2), 0, [0.5, 1.0, -1.0])
    >>> tree.n_splits, tree.n_leaves, tree.depth
    (1, 2, 1)
    >>> collapse(tree, 0).n_splits
    0
    """

    hyperplanes: Floats
    shape: Shape
    ids: Integers

    def __post_init__(self) -> None:
        object.__setattr__(self, "hyperplanes", frozen(self.hyperplanes))
        object.__setattr__(self, "ids", frozen_integers(self.ids))
        if self.hyperplanes.ndim != 2 or not len(self.hyperplanes) == self.shape.n_splits == len(self.ids):
            raise ValueError(
                f"a tree of {self.shape.n_splits} splits needs as many hyperplanes and ids; "
                f"got shapes {self.hyperplanes.shape} and {self.ids.shape}."
            )

    __setstate__ = refreeze

    @property
    def children(self) -> Integers:
        return self.shape.children

    @property
    def n_splits(self) -> int:
        return self.shape.n_splits

    @property
    def n_leaves(self) -> int:
        return self.shape.n_leaves

    @property
    def n_features(self) -> int:
        return int(self.hyperplanes.shape[1]) - 1

    @property
    def depth(self) -> int:
        return self.shape.depth


def single_leaf(n_features: int) -> Tree:
    """The tree with no split: one leaf for everything."""
    return Tree(np.empty((0, n_features + 1)), Shape(np.empty((0, 2), dtype=np.int64)), np.empty(0, dtype=np.int64))


def _check_leaf(tree: Tree, leaf: int) -> None:
    if not 0 <= leaf < tree.n_leaves:
        raise IndexError(f"leaf {leaf} does not exist; the tree has leaves 0 to {tree.n_leaves - 1}.")


def split_leaf(tree: Tree, leaf: int, hyperplane: Any, split_id: int | None = None) -> Tree:
    """Put a split in the place of a leaf; the new split is the last one."""
    _check_leaf(tree, leaf)
    new = tree.n_splits
    children = [[new if child == ~leaf else int(child) for child in pair] for pair in tree.children]
    if split_id is None:
        split_id = int(tree.ids.max(initial=-1)) + 1
    return Tree(
        np.vstack([tree.hyperplanes, np.asarray(hyperplane, dtype=np.float64)[None]]),
        Shape(_in_reading_order([*children, [-1, -1]])),
        np.append(tree.ids, split_id),
    )


def graft(tree: Tree, leaf: int, branch: Tree) -> Tree:
    """Put a whole branch in the place of a leaf; its splits become the last ones and keep their order."""
    _check_leaf(tree, leaf)
    first = tree.n_splits
    children = [
        [first if child == ~leaf and branch.n_splits else int(child) for child in pair] for pair in tree.children
    ]
    children += [[int(child) + first if child >= 0 else -1 for child in pair] for pair in branch.children]
    return Tree(
        np.vstack([tree.hyperplanes, branch.hyperplanes]),
        Shape(_in_reading_order(children)),
        np.concatenate([tree.ids, branch.ids]),
    )


def insert_split(tree: Tree, split: int, side: int, hyperplane: Any, split_id: int) -> Tree:
    """Put a new split between a split and its child on one side; on its own other side it has a new leaf.

    The new split is the next one after `split`, and takes the child on the same side as `split` had it.
    """
    new = split + 1
    children = [[int(child) + (child >= new) for child in pair] for pair in tree.children]
    pair = [-1, -1]
    pair[side] = children[split][side]
    children[split][side] = new
    children.insert(new, pair)
    return Tree(
        np.insert(tree.hyperplanes, new, hyperplane, axis=0),
        Shape(_in_reading_order(children)),
        np.insert(tree.ids, new, split_id),
    )


def kept_splits(shape: Shape, split: int) -> Integers:
    """The splits that remain when one is collapsed into a leaf: all that are not below it."""
    reached = shape.sides != 0
    return np.flatnonzero((reached & ~reached[split]).any(axis=1))


def collapse(tree: Tree, split: int) -> Tree:
    """Put a leaf in the place of a split and of all that is below it; the others keep their order."""
    kept = kept_splits(tree.shape, split)
    new_index = {int(old): new for new, old in enumerate(kept)}
    children = [[new_index.get(int(child), -1) if child >= 0 else -1 for child in tree.children[old]] for old in kept]
    return Tree(tree.hyperplanes[kept], Shape(_in_reading_order(children)), tree.ids[kept])


def branch_of(tree: Tree, split: int) -> Tree:
    """A split and all below it as a tree of their own; its splits keep their order and ids, its leaves their order."""
    own = splits_below(tree, split)
    new_index = {old: new for new, old in enumerate(own)}
    children = [[new_index[int(child)] if child >= 0 else -1 for child in tree.children[old]] for old in own]
    return Tree(tree.hyperplanes[own], Shape(_in_reading_order(children)), tree.ids[own])


def splits_below(tree: Tree, split: int) -> list[int]:
    """A split and all splits below it, in their order."""
    return sorted(_below(tree, split))


def splice(tree: Tree, split: int, side: int) -> Tree:
    """Put the child of a split on one side, itself a split, in its place; what is on the other side goes."""
    gone = {split, *_below(tree, int(tree.children[split, 1 - side]))}
    kept = [own for own in range(tree.n_splits) if own not in gone]
    new_index = {old: new for new, old in enumerate(kept)}
    new_index[split] = new_index[int(tree.children[split, side])]
    children = [[new_index[int(child)] if child >= 0 else -1 for child in tree.children[old]] for old in kept]
    return Tree(tree.hyperplanes[kept], Shape(_in_reading_order(children)), tree.ids[kept])


def _below(tree: Tree, node: int) -> Iterator[int]:
    """A node, if it is a split, and all splits below it."""
    if node >= 0:
        yield node
        for child in tree.children[node]:
            yield from _below(tree, int(child))


def with_canonical_signs(tree: Tree) -> tuple[Tree, Integers]:
    """The same tree with the largest slope of each split positive, and for each of its leaves the old number.

    A split and its mirror image, sides exchanged, are the same model; this picks one of the two.
    """
    largest = np.abs(tree.hyperplanes[:, 1:]).argmax(axis=1) + 1 if tree.n_splits else np.empty(0, dtype=np.int64)
    flipped = tree.hyperplanes[np.arange(tree.n_splits), largest] < 0
    children = [list(pair[::-1]) if flip else list(pair) for pair, flip in zip(tree.children, flipped, strict=True)]
    shape = Shape(_in_reading_order(children))
    old_leaf = np.zeros(tree.n_leaves, dtype=np.int64)
    for split, pair in enumerate(children):
        for side, child in enumerate(pair):
            if child < 0:
                old_leaf[~shape.children[split, side]] = ~child
    return Tree(np.where(flipped[:, None], -tree.hyperplanes, tree.hyperplanes), shape, tree.ids), old_leaf
