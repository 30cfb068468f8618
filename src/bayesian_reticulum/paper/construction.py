"""The published construction, to the letter: Nuti, Jiménez Rugama and Thommen, "Adaptive Bayesian Reticulum".

The bound c is the sum over leaves of log Z(S), with S the statistics that rows leave there in proportion to their
membership. An attempt draws a leaf in proportion to its unexplained potential, puts a random split there, lets Adam
climb c with that split alone and then with all of them, and prunes the splits that do not pay. The method works in
the units of the table.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from dataclasses import dataclass

import numpy as np

from ..arrays import Floats
from ..evidence import State
from ..families import Family
from ..history import Candidate, GrowthEvent, Phase, StoppingReason
from ..rows import Rows
from ..tree import Shape, Tree, collapse, single_leaf, split_leaf
from .adam import Adam
from .parametrizations import PARAMETRIZATIONS

_ONE_SPLIT = split_leaf(single_leaf(0), 0, [0.0]).shape
# A spread smaller than this would make slopes that overflow.
_SMALLEST_RANGE = 1e-100


@dataclass(frozen=True)
class Construction:
    """The numbers that the published method leaves to its user.

    Parameters
    ----------
    max_attempts : int
    max_depth : int or None
        Leaves with this many splits above them are not extended.
    learning_rate : float
        Adam's.
    n_gradient_steps : int
        Steps of Adam in an attempt: half of them for the new split, half for all.
    initial_stiffness : float
        Length of a new split's slopes once columns are divided by their inter-quartile range.
    pruning_factor : float
        Children must beat their parent by the log of this to the power of level + 1; the root is level 0.
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
    rows: Rows, settings: Construction, rng: np.random.Generator
) -> Generator[GrowthEvent, None, tuple[State, StoppingReason]]:
    """Construct a tree (paper, its algorithm); yields every event and returns the final tree and why it stopped.

    Parameters
    ----------
    rows : Rows
        In the units of the table.
    settings : Construction
    rng : numpy.random.Generator
        The only source of chance.
    """
    tree = single_leaf(rows.n_features)
    statistics, value = _evaluate(rows, tree)
    yield GrowthEvent(0, "start", None, tree, value)
    for attempt in range(1, settings.max_attempts + 1):
        leaf = choose_leaf(rows.family, statistics, tree.shape, settings.max_depth, rng)
        if leaf is None:
            return _state(rows.family, tree, statistics, value), _why_no_leaf(rows.family, statistics)
        before, split_id = value, attempt - 1
        values = []
        extended = tree
        for phase, extended in _extend(rows, tree, leaf, split_id, settings, rng):
            statistics, value = _evaluate(rows, extended)
            values.append(value)
            yield GrowthEvent(attempt, phase, split_id, extended, value)
        tree, statistics = prune_by_factor(rows.family, extended, statistics, settings.pruning_factor)
        value = _bound(rows.family, statistics)
        if tree.n_splits < extended.n_splits:
            yield GrowthEvent(attempt, "pruned", split_id, tree, value)
        kept = split_id in tree.ids
        reason = "its children beat it by more than the pruning factor asks" if kept else "pruned"
        candidate = Candidate("random", values[1] - before, value - before, kept, reason)
        yield GrowthEvent(attempt, "kept" if kept else "rejected", split_id, tree, value, (candidate,))
    return _state(rows.family, tree, statistics, value), "max_attempts"


def _extend(
    rows: Rows, tree: Tree, leaf: int, split_id: int, settings: Construction, rng: np.random.Generator
) -> Iterator[tuple[Phase, Tree]]:
    """The tree with a new split in the place of a leaf: as drawn, trained alone, and trained with all others."""
    hyperplane = initial_hyperplane(rows, tree, leaf, settings, rng)
    half = settings.n_gradient_steps // 2
    yield "proposed", split_leaf(tree, leaf, hyperplane, split_id)
    # A new split changes no leaf but its own two, so that it need not see more than the rows there.
    own = rows.reaching(tree.hyperplanes, tree.shape, leaf, hard=False)
    trained = ascend_by_adam(own, hyperplane[None], _ONE_SPLIT, settings, half).reshape(-1)
    local = split_leaf(tree, leaf, trained, split_id)
    yield "local", local
    steps = settings.n_gradient_steps - half
    yield "global", Tree(ascend_by_adam(rows, local.hyperplanes, local.shape, settings, steps), local.shape, local.ids)


def choose_leaf(
    family: Family, statistics: Floats, shape: Shape, max_depth: int | None, rng: np.random.Generator
) -> int | None:
    """A leaf drawn with probability c_l / sum c among those that may be extended; None if there is none."""
    potential = family.unexplained_potential(statistics)
    if max_depth is not None:
        potential = np.where(shape.leaf_levels < max_depth, potential, 0.0)
    total = potential.sum()
    return int(rng.choice(len(potential), p=potential / total)) if total > 0 else None


def initial_hyperplane(rows: Rows, tree: Tree, leaf: int, settings: Construction, rng: np.random.Generator) -> Floats:
    """A random split through the middle of a leaf's rows (paper, appendix on the implementation).

    The normal is uniform on the unit sphere once columns are divided by their pseudo-range, the difference of the
    quartiles, and the split goes through the medians. Rows with a membership of at most one half do not count, as
    if the splits above were hard. Where quartiles coincide, the whole range takes their place, of these rows or
    else of all; a constant column has range 1.
    """
    own = rows.reaching(tree.hyperplanes, tree.shape, leaf, hard=True)
    low, first, median, third, high = _quantiles(own, (0.0, 0.25, 0.5, 0.75, 1.0))
    pseudo_range = np.where(third - first > _SMALLEST_RANGE, third - first, high - low)
    if (pseudo_range <= _SMALLEST_RANGE).any():
        lowest, highest = _quantiles(rows, (0.0, 1.0))
        pseudo_range = np.where(pseudo_range > _SMALLEST_RANGE, pseudo_range, highest - lowest)
        pseudo_range = np.where(pseudo_range > _SMALLEST_RANGE, pseudo_range, 1.0)
    direction = rng.standard_normal(rows.n_features)
    slopes = settings.initial_stiffness * direction / np.linalg.norm(direction) / pseudo_range
    return np.append(-slopes @ median, slopes)


def ascend_by_adam(rows: Rows, hyperplanes: Floats, shape: Shape, settings: Construction, steps: int) -> Floats:
    """Hyperplanes (m, d + 1) after some steps of Adam up the bound, leaf statistics fresh at each."""
    parametrization = PARAMETRIZATIONS[settings.parametrization]
    coordinates = parametrization.coordinates(hyperplanes)
    adam = Adam(settings.learning_rate)
    for _ in range(steps):
        _, gradient = rows.bound_pass(parametrization.hyperplanes(coordinates)[None], shape)
        coordinates = coordinates + adam.step(parametrization.gradient(coordinates, gradient[0]))
    return parametrization.hyperplanes(coordinates)


def _quantiles(rows: Rows, probabilities: tuple[float, ...]) -> Floats:
    """Quantiles of each column, the mean of two rows where one ends right between them: (probabilities, d)."""
    columns = np.column_stack([np.zeros(rows.n_features), np.eye(rows.n_features)])
    lower = rows.quantiles(columns, np.array(probabilities))
    upper = -rows.quantiles(-columns, 1 - np.array(probabilities))
    return 0.5 * (lower + upper).T


def prune_by_factor(family: Family, tree: Tree, statistics: Floats, pruning_factor: float) -> tuple[Tree, Floats]:
    """The tree without the splits whose two leaves do not beat one, and its leaf statistics.

    A split with two leaves stays if their c together exceed that of the one leaf by ln(pruning_factor^(level + 1)).
    From the bottom up, until nothing changes; an empty leaf gains nothing, so that its parent goes too.
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
        # Children stand behind their parent: once a split is passed, all below it are settled.
        split -= 1
    return tree, statistics


def bound_losses(family: Family, tree: Tree, statistics: Floats) -> Floats:
    """For each split what the bound would lose if it and all below it became one leaf."""
    below = (tree.shape.sides != 0).astype(np.float64)
    return np.asarray(below @ family.log_evidence(statistics) - family.log_evidence(below @ statistics))


def _evaluate(rows: Rows, tree: Tree) -> tuple[Floats, float]:
    """Leaf statistics by membership, and the bound that they give."""
    statistics = rows.prior_statistics(tree.hyperplanes[None], tree.shape)[0]
    return statistics, _bound(rows.family, statistics)


def _bound(family: Family, statistics: Floats) -> float:
    """The bound c of the paper."""
    return float(family.log_evidence(statistics).sum())


def _state(family: Family, tree: Tree, statistics: Floats, value: float) -> State:
    """The published method has no prior on hyperplanes and asks no price for them."""
    nothing = np.zeros(tree.n_splits)
    return State(tree, family, nothing, statistics, value, nothing)


def _why_no_leaf(family: Family, statistics: Floats) -> StoppingReason:
    return "max_depth" if family.unexplained_potential(statistics).sum() > 0 else "no_gain"
