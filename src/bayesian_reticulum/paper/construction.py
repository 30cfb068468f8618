"""Algorithm 1 of the paper, to the letter.

The bound c is the sum over leaves of log Z(S), with S the sums of the rows' statistics times their membership. An
attempt draws a leaf in proportion to its unexplained potential, puts a random split in its place, ascends c by Adam
with that split alone and then with all of them, and prunes splits that gain too little. Hyperplanes are in the units of
the table.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from dataclasses import dataclass

import numpy as np

from ..arrays import Floats
from ..data import weighted_quantiles
from ..evidence import State
from ..families import Family
from ..history import Candidate, GrowthEvent, Phase, StoppingReason
from ..rows import Block, LocalRows, MembershipSums
from ..tree import Shape, Tree, collapse, single_leaf, split_leaf
from .adam import Adam
from .parametrizations import PARAMETRIZATIONS
from .requests import bound_gradient, reduce_block, rows_of_leaf

_ONE_SPLIT = split_leaf(single_leaf(0), 0, [0.0]).shape
# Divided by a smaller range, slopes would overflow.
_SMALLEST_RANGE = 1e-100


@dataclass(frozen=True)
class Construction:
    """The parameters of the published method.

    Parameters
    ----------
    max_attempts : int
    max_depth : int or None
        Leaves with this many splits above them are not extended.
    learning_rate : float
        Learning rate of Adam.
    n_gradient_steps : int
        Steps of Adam in an attempt: half of them with the new split alone, half with all splits.
    initial_stiffness : float
        Length of the slopes of a new split once columns are divided by their inter-quartile range.
    pruning_factor : float
        The bound c of two leaves has to exceed that of their union by the log of this to the power of level + 1, with
        level 0 for the root.
    parametrization : str
        A key of `PARAMETRIZATIONS`.
    """

    max_attempts: int
    max_depth: int | None
    learning_rate: float
    n_gradient_steps: int
    initial_stiffness: float
    pruning_factor: float
    parametrization: str


def construct(
    rows: LocalRows, family: Family, settings: Construction, rng: np.random.Generator
) -> Generator[GrowthEvent, None, tuple[State, StoppingReason]]:
    """Construct a tree (paper, Algorithm 1); yields every event and returns the final tree and why it stopped.

    Parameters
    ----------
    rows : LocalRows
        In the units of the table.
    family : Family
        Of the leaves.
    settings : Construction
    rng : numpy.random.Generator
        The only source of random numbers.
    """
    block = rows.gather()
    tree = single_leaf(rows.n_columns)
    statistics, value = _evaluate(block, family, tree)
    yield GrowthEvent(0, "start", None, tree, value)
    for attempt in range(1, settings.max_attempts + 1):
        leaf = choose_leaf(family, statistics, tree.shape, settings.max_depth, rng)
        if leaf is None:
            return _state(family, tree, statistics, value), _why_no_leaf(family, statistics)
        value_before, split_id = value, attempt - 1
        phase_values = []
        extended = tree
        for phase, extended in _extend(block, family, tree, leaf, split_id, settings, rng):
            statistics, value = _evaluate(block, family, extended)
            phase_values.append(value)
            yield GrowthEvent(attempt, phase, split_id, extended, value)
        tree, statistics = prune_by_factor(family, extended, statistics, settings.pruning_factor)
        value = _bound(family, statistics)
        if tree.n_splits < extended.n_splits:
            yield GrowthEvent(attempt, "pruned", split_id, tree, value)
        is_kept = split_id in tree.ids
        reason = "its children beat it by more than the pruning factor asks" if is_kept else "pruned"
        candidate = Candidate("random", phase_values[1] - value_before, value - value_before, is_kept, reason)
        yield GrowthEvent(attempt, "kept" if is_kept else "rejected", split_id, tree, value, (candidate,))
    return _state(family, tree, statistics, value), "max_attempts"


def _extend(
    block: Block,
    family: Family,
    tree: Tree,
    leaf: int,
    split_id: int,
    settings: Construction,
    rng: np.random.Generator,
) -> Iterator[tuple[Phase, Tree]]:
    """Put a new split in the place of a leaf: as drawn, trained alone, and trained with all others."""
    hyperplane = initial_hyperplane(block, tree, leaf, settings, rng)
    half = settings.n_gradient_steps // 2
    yield "proposed", split_leaf(tree, leaf, hyperplane, split_id)
    # The new split changes no other leaf, so that rows that do not reach it need not be seen.
    of_leaf = rows_of_leaf(block, tree.hyperplanes, tree.shape, leaf, hard=False)
    trained = ascend_by_adam(of_leaf, family, hyperplane[None], _ONE_SPLIT, settings, half).reshape(-1)
    local = split_leaf(tree, leaf, trained, split_id)
    yield "local", local
    steps = settings.n_gradient_steps - half
    hyperplanes = ascend_by_adam(block, family, local.hyperplanes, local.shape, settings, steps)
    yield "global", Tree(hyperplanes, local.shape, local.ids)


def choose_leaf(
    family: Family, statistics: Floats, shape: Shape, max_depth: int | None, rng: np.random.Generator
) -> int | None:
    """Draw a leaf with probability c_l / sum c among those that may be extended; None if there is none."""
    potential = family.unexplained_potential(statistics)
    if max_depth is not None:
        potential = np.where(shape.leaf_levels < max_depth, potential, 0.0)
    total = potential.sum()
    return int(rng.choice(len(potential), p=potential / total)) if total > 0 else None


def initial_hyperplane(block: Block, tree: Tree, leaf: int, settings: Construction, rng: np.random.Generator) -> Floats:
    """Draw a split through the middle of a leaf's rows (paper, appendix on the implementation).

    The normal is uniform on the unit sphere once columns are divided by their pseudo-range, the difference of the
    quartiles, and the split goes through the medians. Rows with a membership of at most one half do not count, as
    if the splits above were hard. Where quartiles are equal, the range of these rows, or else of all rows, is the
    pseudo-range; that of a constant column is 1.
    """
    of_leaf = rows_of_leaf(block, tree.hyperplanes, tree.shape, leaf, hard=True)
    low, first, median, third, high = _quantiles(of_leaf, (0.0, 0.25, 0.5, 0.75, 1.0))
    pseudo_range = np.where(third - first > _SMALLEST_RANGE, third - first, high - low)
    if (pseudo_range <= _SMALLEST_RANGE).any():
        lowest, highest = _quantiles(block, (0.0, 1.0))
        pseudo_range = np.where(pseudo_range > _SMALLEST_RANGE, pseudo_range, highest - lowest)
        pseudo_range = np.where(pseudo_range > _SMALLEST_RANGE, pseudo_range, 1.0)
    direction = rng.standard_normal(len(block.design) - 1)
    slopes = settings.initial_stiffness * direction / np.linalg.norm(direction) / pseudo_range
    return np.append(-slopes @ median, slopes)


def ascend_by_adam(
    block: Block, family: Family, hyperplanes: Floats, shape: Shape, settings: Construction, steps: int
) -> Floats:
    """Hyperplanes (m, d + 1) after some steps of Adam up the bound; leaf statistics are summed anew in each."""
    parametrization = PARAMETRIZATIONS[settings.parametrization]
    coordinates = parametrization.coordinates(hyperplanes)
    adam = Adam(settings.learning_rate)
    for _ in range(steps):
        gradient = bound_gradient(block, family, parametrization.hyperplanes(coordinates)[None], shape)
        coordinates = coordinates + adam.step(parametrization.gradient(coordinates, gradient[0]))
    return parametrization.hyperplanes(coordinates)


def _quantiles(block: Block, probabilities: tuple[float, ...]) -> Floats:
    """Quantiles of each column, (probabilities, d); the mean of two rows if a quantile lies between them."""
    columns = block.design[1:].T
    lower = weighted_quantiles(columns, block.weights, np.array(probabilities))
    upper = -weighted_quantiles(-columns, block.weights, 1 - np.array(probabilities))
    return 0.5 * (lower + upper).T


def prune_by_factor(family: Family, tree: Tree, statistics: Floats, pruning_factor: float) -> tuple[Tree, Floats]:
    """Collapse splits into leaves while two leaves gain too little over one; returns the tree and its statistics.

    A split with two leaves stays if their c together exceed that of one leaf by ln(pruning_factor^(level + 1)). An
    empty leaf gains nothing, so that its parent is collapsed, too.
    """
    split = tree.n_splits - 1
    while split >= 0:
        pair = tree.children[split]
        if (pair < 0).all():
            two = statistics[~pair]
            gain = family.log_evidence(two).sum() - family.log_evidence(two.sum(axis=0))
            if not gain > (tree.shape.levels[split] + 1) * np.log(pruning_factor):
                left, right = ~pair
                statistics = np.delete(statistics, right, axis=0)
                statistics[left] = two.sum(axis=0)
                tree = collapse(tree, split)
        # Children stand after their parent, so that all splits below have been decided on before.
        split -= 1
    return tree, statistics


def bound_losses(family: Family, tree: Tree, statistics: Floats) -> Floats:
    """What the bound would lose if a split and all below it were one leaf, for each: in place of log Bayes factors."""
    below = (tree.shape.sides != 0).astype(np.float64)
    return np.asarray(below @ family.log_evidence(statistics) - family.log_evidence(below @ statistics))


def _evaluate(block: Block, family: Family, tree: Tree) -> tuple[Floats, float]:
    """Leaf statistics, sums over rows weighed by membership, and their bound."""
    statistics = reduce_block(MembershipSums(tree.hyperplanes[None], tree.shape), block).statistics[0]
    return statistics, _bound(family, statistics)


def _bound(family: Family, statistics: Floats) -> float:
    """The bound c of the paper."""
    return float(family.log_evidence(statistics).sum())


def _state(family: Family, tree: Tree, statistics: Floats, value: float) -> State:
    """The state of a tree without a prior on hyperplanes, and so without prices, as in the published method."""
    no_precisions = no_prices = np.zeros(tree.n_splits)
    return State(tree, family, no_precisions, statistics, value, no_prices)


def _why_no_leaf(family: Family, statistics: Floats) -> StoppingReason:
    return "max_depth" if family.unexplained_potential(statistics).sum() > 0 else "no_gain"
