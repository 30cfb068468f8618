"""A binary tree of soft, slanted splits as frozen arrays.

Format: ``children[j, side] >= 0`` names a split, otherwise ``~leaf``; side 0 is left, taken with probability
``sigmoid(activation)``. A parent stands before its children, and leaves are numbered from left to right.
There are no node objects: a split is a row of these arrays, and edits are functions that return a new tree.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from .arrays import Floats, Integers, frozen, frozen_integers, refreeze


@dataclass(frozen=True, eq=False)
class Shape:
    """The splits and leaves of a tree without the hyperplanes: which is below which.

    Parameters
    ----------
    children : ndarray of shape (m, 2)
        For each split its left and right child: a split if >= 0, otherwise ``~leaf``.
    """

    children: Integers

    def __post_init__(self) -> None:
        object.__setattr__(self, "children", _frozen_pairs(self.children))
        _check_children(self.children)

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
        """Each split with each of its children, parents in their order."""
        for split in range(self.n_splits):
            for child in self.children[split]:
                yield split, int(child)


def _in_reading_order(children: list[list[Any]]) -> Integers:
    """Children (m, 2) with leaves, which may be given as any negative number, numbered from left to right."""
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
    """The splits of one tree. Statistics of its leaves are kept apart, by whoever needs them.

    Parameters
    ----------
    hyperplanes : ndarray of shape (m, d + 1)
        Offset and slopes of each split; the activation of a row x is ``hyperplanes @ (1, x)``.
    shape : Shape
        Which split or leaf is below which split.
    ids : ndarray of shape (m,)
        A number for each split that it keeps while others come and go, so that it can be followed from tree to tree.

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
        _check_splits(self.hyperplanes, self.ids, self.shape.n_splits)

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


def check_tree(tree: Tree | Shape) -> None:
    """Refuse what is no tree.

    `Shape` and `Tree` make the same checks when they are made, so that there is none of them that fails this one.

    Parameters
    ----------
    tree : Tree or Shape

    Raises
    ------
    TypeError
        If it is neither.
    ValueError
        If children are no pairs of whole numbers; if a child does not exist, stands before its parent or has two
        parents, or a split has none; if leaves are not numbered 0 to m from left to right. Of a tree also if it does
        not have one hyperplane and one id for each split, if a coefficient is not a finite number, or if two splits
        have the same id. The message says where, and what to do.

    Examples
    --------
    >>> from bayesian_reticulum import Shape
    >>> from bayesian_reticulum.testing import check_tree
    >>> check_tree(Shape([[1, ~2], [~0, ~1]]))
    >>> Shape([[1, ~0], [~1, ~2]])
    Traceback (most recent call last):
        ...
    ValueError: children[1, 0] is leaf 1, where leaf 0 comes next from left to right; number leaves in that order.
    """
    if not isinstance(tree, Tree | Shape):
        raise TypeError(f"check_tree needs a Tree or a Shape; got {tree!r} of type {type(tree).__name__}.")
    shape = tree.shape if isinstance(tree, Tree) else tree
    _check_children(_frozen_pairs(shape.children))
    if isinstance(tree, Tree):
        _check_splits(tree.hyperplanes, tree.ids, shape.n_splits)


def _frozen_pairs(children: Any) -> Integers:
    """A read-only copy (m, 2) of whole numbers."""
    try:
        pairs = np.asarray(children)
    except ValueError as error:
        raise ValueError("children are no pairs; give a left and a right child for each split, (m, 2).") from error
    if pairs.size == 0:
        pairs = pairs.reshape(0, 2)
    if pairs.ndim != 2 or pairs.shape[1] != 2:
        raise ValueError(f"children have shape {pairs.shape}; give a left and a right child for each split, (m, 2).")
    if pairs.dtype.kind != "i":
        for (split, side), child in np.ndenumerate(pairs):
            if not _is_whole(child):
                raise ValueError(f"children[{split}, {side}] is {child}; give a split or ~leaf, a whole number.")
    return frozen_integers(pairs)


def _is_whole(child: Any) -> bool:
    """True for a whole number, of any type, that fits into 64 bits."""
    try:
        number = float(child)
    except (TypeError, ValueError, OverflowError):
        return False
    return number.is_integer() and abs(number) < 2.0**63


def _check_children(children: Integers) -> None:
    """Refuse children (m, 2) that are no tree.

    As long as all is well one walk in reading order is enough, of 2 microseconds for five splits: where children stand
    after their parents there is no loop, a split with two parents shows its leaves twice, and one without a parent is
    not visited.
    """
    pairs = children.tolist()
    n_splits, n_visited, next_leaf = len(pairs), 0, ~0
    stack = [0] if pairs else []
    while stack:
        node = stack.pop()
        if node < 0:
            if node != next_leaf:
                _refuse_children(pairs)
            next_leaf -= 1
            continue
        left, right = pairs[node]
        if 0 <= left <= node or 0 <= right <= node or left >= n_splits or right >= n_splits:
            _refuse_children(pairs)
        stack.append(right)
        stack.append(left)
        n_visited += 1
    if n_visited != n_splits:
        _refuse_children(pairs)


def _refuse_children(pairs: list[list[int]]) -> NoReturn:
    """Say what is wrong with children that are no tree."""
    last = len(pairs) - 1
    parents = {0: -1}
    for split, pair in enumerate(pairs):
        for side, child in enumerate(pair):
            at = f"children[{split}, {side}] is {child}"
            if child > last:
                raise ValueError(f"{at}, but splits are 0 to {last}; give one of them, or ~leaf.")
            if 0 <= child <= split:
                raise ValueError(f"{at}, which does not stand after its parent; number splits so that it does.")
            if child in parents:
                raise ValueError(f"{at}, but split {child} is below split {parents[child]}; give it one parent.")
            if child >= 0:
                parents[child] = split
    for split in range(last + 1):
        if split not in parents:
            raise ValueError(f"split {split} is below none; let children name it once, or take it out.")
    n_leaves = 0
    stack = [(0, 1), (0, 0)]
    while True:
        split, side = stack.pop()
        child = pairs[split][side]
        if child >= 0:
            stack += [(child, 1), (child, 0)]
        elif ~child == n_leaves:
            n_leaves += 1
        else:
            raise ValueError(
                f"children[{split}, {side}] is leaf {~child}, where leaf {n_leaves} comes next from left to right; "
                "number leaves in that order."
            )


def _check_splits(hyperplanes: Floats, ids: Integers, n_splits: int) -> None:
    """Refuse hyperplanes and ids that do not fit a tree with so many splits."""
    if hyperplanes.ndim != 2 or len(hyperplanes) != n_splits or ids.shape != (n_splits,):
        raise ValueError(
            f"a tree of {n_splits} splits needs as many hyperplanes and ids; "
            f"got shapes {hyperplanes.shape} and {ids.shape}."
        )
    if not hyperplanes.shape[1]:
        raise ValueError(f"hyperplanes have shape {hyperplanes.shape}; give an offset and one slope for each column.")
    is_finite = np.isfinite(hyperplanes)
    if not is_finite.all():
        split, column = np.argwhere(~is_finite)[0]
        raise ValueError(f"hyperplanes[{split}, {column}] is {hyperplanes[split, column]}; give a finite number.")
    names = ids.tolist()
    if len(set(names)) != n_splits:
        split = next(split for split, name in enumerate(names) if name in names[:split])
        raise ValueError(
            f"ids[{split}] and ids[{names.index(names[split])}] are both {names[split]}; give each split another id."
        )


def single_leaf(n_features: int) -> Tree:
    """The tree without splits: one leaf for all rows."""
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
    """Put a new split between a split and its child on one side.

    The new split stands right after `split`. It has that child on the same side, and a new leaf on the other.
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
    """The splits that remain when one is collapsed into a leaf: all but this one and those below it."""
    is_below = shape.sides != 0
    return np.flatnonzero((is_below & ~is_below[split]).any(axis=1))


def collapse(tree: Tree, split: int) -> Tree:
    """Put a leaf in the place of a split and of all that is below it; the other splits keep their order."""
    return _of_splits(tree, kept_splits(tree.shape, split).tolist())


def branch_of(tree: Tree, split: int) -> Tree:
    """A split and all below it as a tree; splits keep their order and ids, leaves their order."""
    return _of_splits(tree, splits_below(tree, split))


def splits_below(tree: Tree, split: int) -> list[int]:
    """A split and all splits below it, in their order."""
    return sorted(_below(tree, split))


def splice(tree: Tree, split: int, side: int) -> Tree:
    """Put the child of a split on one side, itself a split, in its place; all on the other side is removed."""
    removed = {split, *_below(tree, int(tree.children[split, 1 - side]))}
    kept = [other for other in range(tree.n_splits) if other not in removed]
    return _of_splits(tree, kept, {split: int(tree.children[split, side])})


def _of_splits(tree: Tree, kept: list[int], heirs: dict[int, int] | None = None) -> Tree:
    """The tree of some splits, in their order: a split that is not kept becomes a leaf, or its heir takes its place."""
    new_index = {old: new for new, old in enumerate(kept)}
    new_index |= {old: new_index[heir] for old, heir in (heirs or {}).items()}
    children = [[new_index.get(int(child), -1) for child in tree.children[old]] for old in kept]
    return Tree(tree.hyperplanes[kept], Shape(_in_reading_order(children)), tree.ids[kept])


def _below(tree: Tree, node: int) -> Iterator[int]:
    """All splits below a node, and the node if it is a split."""
    if node >= 0:
        yield node
        for child in tree.children[node]:
            yield from _below(tree, int(child))


def with_canonical_signs(tree: Tree) -> tuple[Tree, Integers]:
    """Mirror splits so that the largest slope of each is positive; returns the tree and each leaf's old number.

    A split and its mirror image, with sides exchanged, are the same model.
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
