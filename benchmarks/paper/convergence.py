"""The claims of the paper on a global ascent, in numbers.

Lower splits barely move, stiff splits do not move, and soft splits have to stiffen before they can turn: each is true
of some ways up its bound and not of others.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from bayesian_reticulum.datasets import Generated, make_cross, make_ripley, make_sphere
from bayesian_reticulum.paper import Construction, Polar, bound_gradient, initial_hyperplane
from bayesian_reticulum.rows import ArrayRows
from bayesian_reticulum.tree import Shape, single_leaf, split_leaf
from experiments import (
    ADAM,
    FAMILY,
    OKABE_ITO,
    PLAIN,
    STYLES,
    WAYS,
    Floats,
    Way,
    ascent,
    rows_of,
    size_of,
    statistics_of,
    stiffness_of,
)
from markdown_table import markdown_table

_STEPS = 50
_MANY_STEPS = 500
_SOFT_STEPS = 2000
_N_LEVELS = 3
_LEVEL_STIFFNESS = 2.0
_STUMP = Shape(np.array([[~0, ~1]]))
_SOFT = 0.01
_STIFF_ENOUGH = 1.0
# Of a draw that starts nearer than this to the best direction it cannot be said when it has turned.
_LEAST_TURN = 20.0
_STYLES = {way.name: style for way, style in zip(WAYS, STYLES, strict=True)}


@dataclass(frozen=True)
class LevelMove:
    """What happens at one level of full trees with random splits; medians over splits and trees.

    Attributes
    ----------
    data : str
    level : int
        0 is the root.
    gradient : float
        Length of the bound's derivative by a split's weights, per row.
    moves : tuple of float
        Change of a split's weights relative to their length: after few and after many plain steps, and with Adam.
    turns : tuple of float
        Degrees that a split has turned, likewise.
    """

    data: str
    level: int
    gradient: float
    moves: tuple[float, float, float]
    turns: tuple[float, float, float]


@dataclass(frozen=True)
class StiffnessSlope:
    """Median size of the derivatives of the bound per row at a single split of one stiffness.

    Attributes
    ----------
    stiffness : float
        Per inter-quartile range.
    by_weights : float
        Length of the derivative by offset and slopes.
    by_stiffness, by_angle, by_offset : float
        Derivatives by the polar coordinates.
    """

    stiffness: float
    by_weights: float
    by_stiffness: float
    by_angle: float
    by_offset: float


@dataclass(frozen=True)
class StiffnessTurn:
    """Median degrees that a single split of one stiffness turns, and how far it then is from the best direction."""

    stiffness: float
    way: str
    turned: float
    left: float


@dataclass(frozen=True)
class SoftAscent:
    """How very soft splits go up; medians over the draws that turn.

    Attributes
    ----------
    way : str
    stuck : float
        Share of the draws that have not turned by half of the angle to the best direction when the steps are over.
    steps_to_stiffen, steps_to_turn : float
        Until the stiffness is 1 per inter-quartile range, and until half of that angle is left.
    stiffness_at_turn : tuple of float
        Stiffness when half of that angle is left: lower quartile, median, upper quartile.
    stiffness_at_gain : float
        Stiffness when a tenth of all that the bound gains is gained.
    """

    way: str
    stuck: float
    steps_to_stiffen: float
    steps_to_turn: float
    stiffness_at_turn: tuple[float, float, float]
    stiffness_at_gain: float


@dataclass(frozen=True)
class PathPoint:
    """Median share of the angle to the best direction that is left when a split first has this stiffness."""

    way: str
    stiffness: float
    share_left: float


@dataclass(frozen=True)
class Convergence:
    """What `convergence` measured.

    Attributes
    ----------
    n_rows, n_draws : int
    n_turning : int
        Draws of a very soft split that start far enough from the best direction to be counted.
    root_ahead : tuple of (str, float)
        For each data set the share of trees whose root has a larger gradient than the median of the lowest splits.
    levels, slopes, turns, soft, paths : tuple
    """

    n_rows: int
    n_draws: int
    n_turning: int
    root_ahead: tuple[tuple[str, float], ...]
    levels: tuple[LevelMove, ...]
    slopes: tuple[StiffnessSlope, ...]
    turns: tuple[StiffnessTurn, ...]
    soft: tuple[SoftAscent, ...]
    paths: tuple[PathPoint, ...]


def measure(n_rows: int = 1000, seed: int = 0, quick: bool = False) -> Convergence:
    """Measure gradients and movements on the paper's bound from random splits.

    Full trees of three levels stand on the sphere and the cross; single splits on Ripley's data, where one split
    alone has a best direction. Columns are centred at their medians and divided by their inter-quartile ranges, so
    that one stiffness and one rate mean the same everywhere.

    Parameters
    ----------
    n_rows : int, default=1000
        Of each data set, at most 300 if quick.
    seed : int, default=0
        Of the rows and of the random splits.
    quick : bool, default=False
        Fewer rows, draws and steps.
    """
    n_rows = min(n_rows, 300) if quick else n_rows
    n_draws = 12 if quick else 60
    rng = np.random.default_rng(seed)
    levels: list[LevelMove] = []
    root_ahead = []
    for data, make in (("sphere", make_sphere), ("cross", make_cross)):
        rows = in_ranges(make(n_rows, random_state=rng))
        hyperplanes, shape = random_trees(rows, n_draws, rng)
        sizes = np.linalg.norm(_gradient(rows, hyperplanes, shape), axis=-1)
        lowest = np.median(sizes[:, shape.levels == _N_LEVELS - 1], axis=1)
        root_ahead.append((data, float((sizes[:, 0] > lowest).mean())))
        levels += _level_moves(rows, hyperplanes, shape, data, sizes)

    rows = in_ranges(make_ripley(n_rows, random_state=rng))
    angles = rng.uniform(0, 2 * np.pi, n_draws)
    best = _best_axis(rows)
    stiffnesses = (0.01, 0.1, 1.0, 3.0, 10.0, 100.0, 1000.0)
    slopes = tuple(_slope(rows, angles, stiffness) for stiffness in (*stiffnesses, 1e4, 1e5))
    turns = tuple(_turn(rows, angles, stiffness, way, best) for way in WAYS for stiffness in stiffnesses)

    turning = angles[_degrees_apart(_splits(angles, _SOFT)[:, 0], best) > _LEAST_TURN]
    soft, paths = [], []
    for way in WAYS:
        path = ascent(rows, _splits(turning, _SOFT), _STUMP, way, 500 if quick else _SOFT_STEPS)[:, :, 0]
        soft.append(_soft_ascent(rows, path, way.name, best))
        paths += _path(path, way.name, best)
    ahead = tuple(root_ahead)
    return Convergence(n_rows, n_draws, len(turning), ahead, tuple(levels), slopes, turns, tuple(soft), tuple(paths))


def random_trees(rows: ArrayRows, n_draws: int, rng: np.random.Generator) -> tuple[Floats, Shape]:
    """Full trees (c, m, d + 1) whose splits are all drawn as the paper draws a new one."""
    settings = Construction(1, None, ADAM.rate, _STEPS, _LEVEL_STIFFNESS, 1.0, "cartesian")
    drawn, block = [], rows.gather()
    for _ in range(n_draws):
        tree = single_leaf(rows.n_columns)
        for level in range(_N_LEVELS):
            # Each extension moves the leaves that are still to come by one.
            for leaf in range(0, 2 ** (level + 1), 2):
                tree = split_leaf(tree, leaf, initial_hyperplane(block, tree, leaf, settings, rng))
        drawn.append(tree.hyperplanes)
    return np.array(drawn), tree.shape


def _level_moves(rows: ArrayRows, hyperplanes: Floats, shape: Shape, data: str, sizes: Floats) -> list[LevelMove]:
    plain = ascent(rows, hyperplanes, shape, PLAIN, _MANY_STEPS)
    ends = (plain[_STEPS], plain[-1], ascent(rows, hyperplanes, shape, ADAM, _STEPS)[-1])
    length = np.linalg.norm(hyperplanes, axis=-1)
    moved = [np.linalg.norm(end - hyperplanes, axis=-1) / length for end in ends]
    turned = [_turned(hyperplanes, end) for end in ends]

    def medians(values: list[Floats], level: int) -> Any:
        return tuple(float(np.median(value[:, shape.levels == level])) for value in values)

    return [
        LevelMove(data, level, medians([sizes], level)[0], medians(moved, level), medians(turned, level))
        for level in range(_N_LEVELS)
    ]


def _slope(rows: ArrayRows, angles: Floats, stiffness: float) -> StiffnessSlope:
    splits = _splits(angles, stiffness)
    by_weights = _gradient(rows, splits, _STUMP)[:, 0]
    polar = np.abs(Polar().gradient(Polar().coordinates(splits[:, 0]), by_weights))
    by_offset, by_stiffness, by_angle = np.median(polar, axis=0).tolist()
    length = float(np.median(np.linalg.norm(by_weights, axis=-1)))
    return StiffnessSlope(stiffness, length, by_stiffness, by_angle, by_offset)


def _turn(rows: ArrayRows, angles: Floats, stiffness: float, way: Way, best: Floats) -> StiffnessTurn:
    start = _splits(angles, stiffness)
    end = ascent(rows, start, _STUMP, way, _STEPS)[-1]
    turned, left = np.median(_turned(start, end)), np.median(_degrees_apart(end[:, 0], best))
    return StiffnessTurn(stiffness, way.name, float(turned), float(left))


def _soft_ascent(rows: ArrayRows, path: Floats, way: str, best: Floats) -> SoftAscent:
    has_turned = _degrees_apart(path, best) <= _degrees_apart(path[0], best) / 2
    turning = has_turned.any(axis=0)
    path, has_turned = path[:, turning], has_turned[:, turning]
    stiffness, draws = stiffness_of(path), np.arange(path.shape[1])
    value = np.array([FAMILY.log_evidence(statistics_of(rows, at[:, None], _STUMP)).sum(axis=-1) for at in path])
    stiffened, turned = _first(stiffness >= _STIFF_ENOUGH), _first(has_turned)
    gained = _first(value - value[0] >= 0.1 * (value[-1] - value[0]))
    low, middle, high = np.quantile(stiffness[turned, draws], [0.25, 0.5, 0.75]).tolist()
    return SoftAscent(
        way,
        float(1 - turning.mean()),
        float(np.median(stiffened)),
        float(np.median(turned)),
        (low, middle, high),
        float(np.median(stiffness[gained, draws])),
    )


def _path(path: Floats, way: str, best: Floats) -> list[PathPoint]:
    stiffness, left = stiffness_of(path), _degrees_apart(path, best)
    share, draws = left / left[0], np.arange(path.shape[1])
    points = []
    for reached in np.geomspace(_SOFT, 10.0, 31):
        first = _first(stiffness >= reached)
        points.append(PathPoint(way, float(reached), float(np.median(share[first, draws]))))
    return points


def _best_axis(rows: ArrayRows) -> Floats:
    """Unit normal of the split through the medians that has the highest bound, at a stiffness of 3."""
    angles = np.pi * np.arange(360) / 360
    statistics = statistics_of(rows, _splits(angles, 3.0), _STUMP)
    angle = angles[FAMILY.log_evidence(statistics).sum(axis=-1).argmax()]
    return np.array([np.cos(angle), np.sin(angle)])


def _splits(angles: Floats, stiffness: float) -> Floats:
    """Single splits (c, 1, 3) through the medians."""
    return stiffness * np.column_stack([0 * angles, np.cos(angles), np.sin(angles)])[:, None]


def _gradient(rows: ArrayRows, hyperplanes: Floats, shape: Shape) -> Floats:
    """Derivative of the bound per row."""
    return np.asarray(bound_gradient(rows.gather(), FAMILY, hyperplanes, shape) / size_of(rows))


def _first(condition: NDArray[np.bool_]) -> NDArray[np.int64]:
    """First step at which a condition (steps, c) holds; the last step where it never does."""
    return np.asarray(np.where(condition.any(axis=0), condition.argmax(axis=0), len(condition) - 1))


def _turned(start: Floats, end: Floats) -> Floats:
    """Degrees between the normals of two stacks of hyperplanes."""
    cosine = (start[..., 1:] * end[..., 1:]).sum(axis=-1) / (stiffness_of(start) * stiffness_of(end))
    return np.asarray(np.degrees(np.arccos(np.clip(cosine, -1, 1))))


def _degrees_apart(hyperplanes: Floats, axis: Floats) -> Floats:
    """Degrees between normals and an axis; a split and its mirror image are the same."""
    cosine = np.abs(hyperplanes[..., 1:] @ axis) / stiffness_of(hyperplanes)
    return np.asarray(np.degrees(np.arccos(np.minimum(cosine, 1))))


def in_ranges(data: Generated) -> ArrayRows:
    """Rows with each column less its median and over its inter-quartile range."""
    first, median, third = np.quantile(data.X, [0.25, 0.5, 0.75], axis=0)
    return rows_of((data.X - median) / (third - first), data.y)


def markdown(results: Convergence) -> str:
    """The tables, with text around them."""
    return "\n\n".join(_text(results)) + "\n"


def _text(results: Convergence) -> Iterable[str]:
    yield "## What a global ascent of the paper's bound moves"
    yield (
        f"{results.n_rows} rows of each data set, columns centred at their medians and divided by their inter-quartile "
        f"ranges; medians over {results.n_draws} random draws. A plain step is the gradient of the bound per row times "
        f"{WAYS[0].rate:g} for weights and {WAYS[2].rate:g} in polar coordinates; Adam's learning rate is "
        f"{ADAM.rate:g}."
    )
    yield "### Lower splits barely move"
    yield from _levels_text(results)
    yield "### Stiff splits do not move"
    yield from _stiff_text(results)
    yield "### Soft splits stiffen before they turn"
    yield from _soft_text(results)


def _levels_text(results: Convergence) -> Iterable[str]:
    for data, share in results.root_ahead:
        top, *_, low = (level for level in results.levels if level.data == data)
        yield (
            f"On the {data} the root's gradient is {top.gradient / low.gradient:.1f} times that of the lowest splits, "
            f"each of which is reached by a quarter of the rows; it is larger in {share:.0%} of the trees. After "
            f"{_STEPS} plain steps the root has moved {top.moves[0] / low.moves[0]:.0f} times as far and turned "
            f"{top.turns[0] / low.turns[0]:.1f} times as much, after {_MANY_STEPS} {top.moves[1] / low.moves[1]:.0f} "
            f"and {top.turns[1] / low.turns[1]:.1f} times; with Adam {top.moves[2] / low.moves[2]:.1f} and "
            f"{top.turns[2] / low.turns[2]:.1f} times."
        )
    rows = [
        [
            level.data,
            str(level.level),
            f"{level.gradient:.5f}",
            *(f"{move:.2f}, {turn:.0f}°" for move, turn in zip(level.moves, level.turns, strict=True)),
        ]
        for level in results.levels
    ]
    ways = [f"{_STEPS} plain steps", f"{_MANY_STEPS} plain steps", f"{_STEPS} steps of Adam"]
    yield markdown_table(["data", "level", "gradient", *ways], rows)
    yield (
        "Full trees of three levels, drawn as the paper draws new splits with an initial stiffness of "
        f"{_LEVEL_STIFFNESS:g}: change of a split's weights relative to their length, and degrees turned."
    )


def _stiff_text(results: Convergence) -> Iterable[str]:
    yield (
        "A single split on Ripley's data through the medians. By weights the gradient of a stiff split falls about as "
        "its stiffness grows, and the same step turns a longer normal less. By angle it does not fall until hardly a "
        "row is left in the transition: that stiff splits stand still is a property of weights."
    )
    rows = [
        [f"{at.stiffness:,g}", *(f"{size:.1e}" for size in (at.by_weights, at.by_stiffness, at.by_angle, at.by_offset))]
        for at in results.slopes
    ]
    yield markdown_table(["stiffness", "by weights", "by stiffness", "by angle", "by offset"], rows)
    yield (
        f"Degrees turned in {_STEPS} steps, and degrees that are then left to the best direction. With weights stiff "
        "splits do not turn, not with Adam either; in polar coordinates they do, though with plain steps not always to "
        "the best direction where single rows decide."
    )
    columns = [[at for at in results.turns if at.way == way.name] for way in WAYS]
    rows = [
        [f"{line[0].stiffness:,g}", *(f"{at.turned:.2f}, left {at.left:.0f}" for at in line)]
        for line in zip(*columns, strict=True)
    ]
    yield markdown_table(["stiffness", *(way.name for way in WAYS)], rows)


def _soft_text(results: Convergence) -> Iterable[str]:
    soft = results.slopes[0]
    yield (
        f"At a stiffness of {soft.stiffness:g} the gradient by stiffness is {soft.by_stiffness / soft.by_angle:.0f} "
        f"times that by angle and {soft.by_stiffness / soft.by_offset:,.0f} times that by offset. Near 0 the bound is "
        "quadratic in the weights, so that the gradient by stiffness grows with the stiffness and that by angle with "
        "its square. With plain steps in polar coordinates a split has to stiffen first; with plain steps in weights "
        "it turns while it is still soft. Adam's first steps have one size in all coordinates: in weights, the "
        "published way, they throw a soft split onto a diagonal, and the rest of the turn follows once it is stiff. "
        "Whatever the way, most of what the bound gains comes once the split is stiff."
    )
    rows = [
        [
            at.way,
            f"{at.stuck:.0%}",
            f"{at.steps_to_stiffen:.0f}",
            f"{at.steps_to_turn:.0f}",
            f"{at.stiffness_at_turn[1]:.3f} ({at.stiffness_at_turn[0]:.3f} to {at.stiffness_at_turn[2]:.3f})",
            f"{at.stiffness_at_gain:.2f}",
        ]
        for at in results.soft
    ]
    header = [
        "way",
        "never turn",
        f"steps to stiffness {_STIFF_ENOUGH:g}",
        "steps to half of the turn",
        "stiffness there (quartiles)",
        "stiffness at a tenth of the gain",
    ]
    yield markdown_table(header, rows)
    yield (
        f"Single splits that start at a stiffness of {_SOFT:g} and more than {_LEAST_TURN:g}° from the best direction, "
        f"{results.n_turning} of the draws."
    )


def figure(results: Convergence) -> Figure:
    """The three claims: movement by level, gradients and turns by stiffness, and the way of very soft splits."""
    figure = Figure(figsize=(12, 9), layout="constrained")
    axes = figure.subplots(2, 2)
    _draw_levels(axes[0, 0], results)
    _draw_slopes(axes[0, 1], results)
    _draw_turns(axes[1, 0], results)
    _draw_paths(axes[1, 1], results)
    return figure


def _draw_levels(axes: Axes, results: Convergence) -> None:
    ways = ((0, f"{_STEPS} plain steps", "s", "-"), (2, f"{_STEPS} steps of Adam", "D", "--"))
    for data, color in zip(
        dict.fromkeys(level.data for level in results.levels), (OKABE_ITO["blue"], OKABE_ITO["orange"]), strict=True
    ):
        levels = [level for level in results.levels if level.data == data]
        for index, name, marker, line in ways:
            moves = [level.moves[index] for level in levels]
            axes.plot(range(len(moves)), moves, color=color, marker=marker, linestyle=line, label=f"{data}, {name}")
    axes.set(yscale="log", xticks=range(_N_LEVELS), xlabel="level (0: root)", ylabel="|change of weights| / |weights|")
    axes.set_title("Lower splits move less")
    axes.legend()


def _draw_slopes(axes: Axes, results: Convergence) -> None:
    stiffness = [at.stiffness for at in results.slopes]
    for field, color, marker in (
        ("by_weights", OKABE_ITO["orange"], "s"),
        ("by_stiffness", OKABE_ITO["green"], "^"),
        ("by_angle", OKABE_ITO["blue"], "o"),
        ("by_offset", OKABE_ITO["purple"], "D"),
    ):
        sizes = [getattr(at, field) for at in results.slopes]
        axes.plot(stiffness, sizes, color=color, marker=marker, label=field.replace("_", " "))
    # Beyond this nothing moves, and the last points would squeeze all others.
    axes.set(xscale="log", yscale="log", ylim=(1e-10, 2), xlabel="stiffness per inter-quartile range")
    axes.set_ylabel("|derivative of the bound per row|")
    axes.set_title("A single split: gradients")
    axes.legend(loc="lower center")


def _draw_turns(axes: Axes, results: Convergence) -> None:
    for way in WAYS:
        turns = [at for at in results.turns if at.way == way.name]
        left = [at.left for at in turns]
        axes.plot([at.stiffness for at in turns], left, label=way.name, **_STYLES[way.name])
    axes.set(xscale="log", ylim=(0, None), xlabel="stiffness at the start, per inter-quartile range")
    axes.set_ylabel("degrees left to the best direction")
    axes.set_title(f"A single split: after {_STEPS} steps")
    axes.legend(loc="upper center")


def _draw_paths(axes: Axes, results: Convergence) -> None:
    for way in WAYS:
        points = [point for point in results.paths if point.way == way.name]
        style = {**_STYLES[way.name], "markevery": 3}
        axes.plot(
            [point.stiffness for point in points], [point.share_left for point in points], label=way.name, **style
        )
    axes.set(xscale="log", ylim=(0, 1.05), xlabel="stiffness reached, per inter-quartile range")
    axes.set_ylabel("share of the turn that is left")
    axes.set_title(f"A single split that starts at stiffness {_SOFT:g}")
    axes.legend(loc="upper right")
