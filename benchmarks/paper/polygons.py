"""Which softness each bound likes best, on data whose softness is known.

The paper's bound is highest where gates are hard, whatever the data; the variational one settles at their softness.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray
from scipy.optimize import minimize

from bayesian_reticulum.datasets import Generated, make_sphere
from bayesian_reticulum.evidence import Effort, ascend, bound, converge_responsibilities
from bayesian_reticulum.gates import compute_gates
from bayesian_reticulum.paper import Polar, bound_gradient
from bayesian_reticulum.rows import ArrayRows, Pass
from bayesian_reticulum.tree import Shape
from diagrams import PROBABILITY
from experiments import ADAM, FAMILY, OKABE_ITO, STYLES, Floats, ascent, rows_of, statistics_of, stiffness_of
from markdown_table import markdown_table

TRUE_STIFFNESS = 10.0
START_PAPER = "start, leaves by membership"
START_VARIATIONAL = "start, leaves by responsibility"
PAPER = "paper's bound"
PAPER_ADAM = "paper's bound, Adam"
VARIATIONAL = "variational bound"
VARIATIONAL_PRIOR = "variational bound, gate prior"
# A precision that no slope can feel: the bounds are compared without any prior on the gates.
_NO_PRIOR = 1e-9
_WEAK_PRIOR = 0.02
# A split with fewer rows than this share on one side has been switched off, and its stiffness means nothing.
_IN_USE = 0.01
# The polygon of the profile and of the maps: on these data six sides are what the evidence asks for.
_PROFILE_SPLITS = 6
_STYLES = dict(zip((PAPER, PAPER_ADAM, VARIATIONAL, VARIATIONAL_PRIOR), STYLES, strict=True))


@dataclass(frozen=True)
class PolygonFit:
    """One polygon before or after an ascent.

    Attributes
    ----------
    splits : int
        Sides of the polygon.
    name : str
        The bound that was raised, or the start.
    in_use : int
        Splits with at least 1% of the rows on either side.
    stiffness : float
        Geometric mean over the splits in use, in the units of the table.
    paper_bound, variational_bound : float
        Both bounds at these splits, whichever was raised.
    log_loss : float
        On the test set, with the leaves that belong to the bound that was raised.
    """

    splits: int
    name: str
    in_use: int
    stiffness: float
    paper_bound: float
    variational_bound: float
    log_loss: float


@dataclass(frozen=True)
class ProfilePoint:
    """The best that each bound reaches when all splits must have one given stiffness, and the test log-loss there."""

    stiffness: float
    paper_bound: float
    paper_log_loss: float
    variational_bound: float
    variational_log_loss: float


@dataclass(frozen=True)
class Surface:
    """A fitted chain of splits: hyperplanes (m, 3) and the probability of class 1 in each of its leaves."""

    name: str
    hyperplanes: tuple[tuple[float, ...], ...]
    leaves: tuple[float, ...]


@dataclass(frozen=True)
class Polygons:
    """All measurements; `floor` is the test log-loss of the true probability."""

    n_rows: int
    n_test_rows: int
    adam_steps: int
    floor: float
    fits: tuple[PolygonFit, ...]
    profile: tuple[ProfilePoint, ...]
    surfaces: tuple[Surface, ...]

    @property
    def sizes(self) -> tuple[int, ...]:
        """Numbers of splits."""
        return tuple(dict.fromkeys(fit.splits for fit in self.fits))

    def named(self, name: str) -> list[PolygonFit]:
        """The fits of one name, one for each size."""
        return [fit for fit in self.fits if fit.name == name]


class _BoundValue(NamedTuple):
    """Value and derivative (m, d + 1) of a bound, and the leaf statistics that belong to it."""

    value: float
    gradient: Floats
    statistics: Floats


_Bound = Callable[[ArrayRows, Shape, Floats], _BoundValue]


def measure(n_rows: int = 5000, seed: int = 0, quick: bool = False) -> Polygons:
    """Raise either bound from a soft polygon around the sphere that has the softness of the data.

    Parameters
    ----------
    n_rows : int, default=5000
        Rows to fit on, at most 1000 if quick.
    seed : int, default=0
        Of the rows.
    quick : bool, default=False
        Fewer rows, polygons and steps.
    """
    n_rows = min(n_rows, 1000) if quick else n_rows
    rng = np.random.default_rng(seed)
    train, test = make_sphere(n_rows, random_state=rng), make_sphere(2000 if quick else 20000, random_state=rng)
    rows = rows_of(train.X, train.y)
    adam_steps = 200 if quick else 2000
    fits, surfaces = [], []
    for splits in (4, _PROFILE_SPLITS) if quick else (4, _PROFILE_SPLITS, 8, 12, 16):
        shape = chain(splits)
        for name, hyperplanes, bound_at in _ascents(rows, shape, soft_polygon(splits), adam_steps):
            statistics = bound_at(rows, shape, hyperplanes).statistics
            fits.append(_judged(rows, test, shape, name, hyperplanes, statistics))
            if splits == _PROFILE_SPLITS:
                leaves = FAMILY.probabilities(statistics)[:, 1]
                surfaces.append(Surface(name, tuple(map(tuple, hyperplanes.tolist())), tuple(leaves.tolist())))
    grid = (4.0, 10.0, 30.0, 300.0) if quick else (1, 2, 4, 6, 8, 10, 12, 15, 20, 30, 50, 100, 300, 1000, 10000)
    profile = _profile(rows, test, _PROFILE_SPLITS, grid)
    floor = _log_loss(np.column_stack([1 - test.probability, test.probability]), test.y)
    return Polygons(n_rows, len(test.y), adam_steps, floor, tuple(fits), profile, tuple(surfaces))


def chain(n_splits: int) -> Shape:
    """Splits in a row: the left side of each is a leaf, the right side of all but the last is the next split."""
    return Shape(np.array([[~j, j + 1 if j + 1 < n_splits else ~n_splits] for j in range(n_splits)]))


def soft_polygon(n_splits: int, stiffness: float = TRUE_STIFFNESS) -> Floats:
    """Hyperplanes (m, 3) of a regular polygon with the area of the unit disk; left of each split is outside."""
    angle = 2 * np.pi * np.arange(n_splits) / n_splits
    distance = np.sqrt(np.pi / (n_splits * np.tan(np.pi / n_splits)))
    return stiffness * np.column_stack([np.full(n_splits, -distance), np.cos(angle), np.sin(angle)])


def _ascents(rows: ArrayRows, shape: Shape, start: Floats, adam_steps: int) -> Iterable[tuple[str, Floats, _Bound]]:
    """Name, hyperplanes and the bound that was raised, before and after each ascent."""
    yield START_PAPER, start, _paper_bound
    yield PAPER, _highest(partial(_paper_bound, rows, shape), start), _paper_bound
    yield PAPER_ADAM, ascent(rows, start[None], shape, ADAM, adam_steps)[-1][0], _paper_bound
    yield START_VARIATIONAL, start, _variational_bound
    # The library's own ascent: one by L-BFGS ends at the same optimum of the hexagon, much later.
    for name, precision, rounds in ((VARIATIONAL, _NO_PRIOR, 0), (VARIATIONAL_PRIOR, _WEAK_PRIOR, 6)):
        effort = Effort(tolerance=1e-6, rounds=rounds, max_passes=2000)
        stack = ascend(rows, FAMILY, shape, start[None], np.full((1, len(start)), precision), effort=effort)
        yield name, stack.hyperplanes[0], _variational_bound


def _paper_bound(rows: ArrayRows, shape: Shape, hyperplanes: Floats) -> _BoundValue:
    statistics = statistics_of(rows, hyperplanes[None], shape)
    gradient = bound_gradient(rows.gather(), FAMILY, hyperplanes[None], shape)
    return _BoundValue(float(FAMILY.log_evidence(statistics).sum()), gradient[0], statistics[0])


def _variational_bound(rows: ArrayRows, shape: Shape, hyperplanes: Floats) -> _BoundValue:
    """The bound with responsibilities converged, where its derivative is the one with responsibilities held."""
    precisions = np.full((1, len(hyperplanes)), _NO_PRIOR)
    statistics = converge_responsibilities(
        rows, FAMILY, shape, hyperplanes[None], precisions, tolerance=1e-6
    ).statistics
    expected = FAMILY.expected_parameters(statistics)
    at = rows.reduce(Pass(hyperplanes[None], shape, expected))
    return _BoundValue(float(bound(FAMILY, statistics, expected, at)[0]), at.gradient[0], statistics[0])


def _highest(bound_at: Callable[[Floats], _BoundValue], start: Floats) -> Floats:
    """Unknowns of a local maximum of a bound, by L-BFGS from `start`."""

    def negative(flat: Floats) -> tuple[float, Floats]:
        at = bound_at(flat.reshape(start.shape))
        return -at.value, -at.gradient.ravel()

    optimum = minimize(
        negative, start.ravel(), jac=True, method="L-BFGS-B", options={"maxiter": 2000, "ftol": 1e-12, "maxcor": 20}
    )
    return np.asarray(optimum.x.reshape(start.shape))


def _judged(
    rows: ArrayRows, test: Generated, shape: Shape, name: str, hyperplanes: Floats, statistics: Floats
) -> PolygonFit:
    counts = FAMILY.counts(statistics)
    sides = np.stack([(shape.sides == side) @ counts for side in (1, -1)])
    in_use = sides.min(axis=0) >= _IN_USE * counts.sum()
    stiffness = np.exp(np.log(stiffness_of(hyperplanes[in_use])).mean())
    return PolygonFit(
        len(hyperplanes),
        name,
        int(in_use.sum()),
        float(stiffness),
        _paper_bound(rows, shape, hyperplanes).value,
        _variational_bound(rows, shape, hyperplanes).value,
        _log_loss(_predicted(shape, hyperplanes, statistics, test.X), test.y),
    )


def _profile(rows: ArrayRows, test: Generated, n_splits: int, grid: Sequence[float]) -> tuple[ProfilePoint, ...]:
    shape = chain(n_splits)
    columns = []
    for bound_at in (_paper_bound, _variational_bound):
        at = {}
        # Away from the truth in either direction, each stiffness starting from where the one before it ended.
        up, down = ([k for k in grid if k >= TRUE_STIFFNESS], [k for k in grid[::-1] if k < TRUE_STIFFNESS])
        for part in (up, down):
            coordinates = Polar().coordinates(soft_polygon(n_splits))
            for stiffness in part:
                coordinates = _placed(partial(bound_at, rows, shape), coordinates, stiffness)
                hyperplanes = Polar().hyperplanes(coordinates)
                end = bound_at(rows, shape, hyperplanes)
                at[stiffness] = (end.value, _log_loss(_predicted(shape, hyperplanes, end.statistics, test.X), test.y))
        columns.append(at)
    paper, variational = columns
    return tuple(ProfilePoint(float(k), *paper[k], *variational[k]) for k in grid)


def _placed(bound_at: Callable[[Floats], _BoundValue], coordinates: Floats, stiffness: float) -> Floats:
    """Polar coordinates (m, 3) with the best offsets and angles for one stiffness of all splits."""
    free = [0, 2]

    def full(places: Floats) -> Floats:
        return np.column_stack([places[:, 0], np.full(len(places), stiffness), places[:, 1]])

    def by_place(places: Floats) -> _BoundValue:
        polar = full(places)
        at = bound_at(Polar().hyperplanes(polar))
        return at._replace(gradient=Polar().gradient(polar, at.gradient)[:, free])

    return full(_highest(by_place, coordinates[:, free]))


def _predicted(shape: Shape, hyperplanes: Floats, statistics: Floats, X: Floats) -> Floats:
    return _mixture(shape, hyperplanes, FAMILY.probabilities(statistics), X)


def _mixture(shape: Shape, hyperplanes: Floats, leaves: Floats, X: Floats) -> Floats:
    """What leaves (m + 1, k) predict together for rows (n, 2)."""
    design = np.vstack([np.ones(len(X)), X.T])
    return np.asarray(np.exp(compute_gates(hyperplanes[None], shape, design).log_membership[0]).T @ leaves)


def _log_loss(probabilities: Floats, y: NDArray[np.int64]) -> float:
    return float(-np.log(probabilities[np.arange(len(y)), y]).mean())


def markdown(results: Polygons) -> str:
    """The tables, with text around them."""
    return "\n\n".join(_text(results)) + "\n"


def _text(results: Polygons) -> Iterable[str]:
    yield "## Which softness each bound likes best"
    yield (
        f"{results.n_rows} rows of the sphere, whose true stiffness is {TRUE_STIFFNESS:g}. Each ascent starts from a "
        "regular polygon with that stiffness and the area of the disk, as a chain of soft splits. Gates have no prior, "
        f"except in the last column, where the evidence sets its precisions. Adam makes {results.adam_steps} steps "
        f"at a learning rate of {ADAM.rate:g}; the other ascents run until they stop."
    )
    ends = (PAPER, PAPER_ADAM, VARIATIONAL, VARIATIONAL_PRIOR)
    yield _span_text(results)
    yield _by_size(results, ends, ends, lambda fit: f"{_number(fit.stiffness)} ({fit.in_use})")
    yield (
        f"**Log-loss on {results.n_test_rows} other rows.** The true probability has {results.floor:.4f}. With the "
        "right splits the leaves by membership are still wrong: each holds a share of all rows in its soft border."
    )
    all_ = (START_PAPER, PAPER, PAPER_ADAM, START_VARIATIONAL, VARIATIONAL, VARIATIONAL_PRIOR)
    yield _by_size(results, all_, all_, lambda fit: f"{fit.log_loss:.4f}")
    yield (
        "**Paper's bound / variational bound** of the same splits, whichever was climbed. The second is never lower, "
        "and with hard gates they are one number."
    )
    ascents = (PAPER, PAPER_ADAM, VARIATIONAL)
    header = ("start", *(f"after {name}" for name in ascents))
    yield _by_size(
        results, header, (START_PAPER, *ascents), lambda fit: f"{fit.paper_bound:.0f} / {fit.variational_bound:.0f}"
    )
    yield from _profile_text(results)


def _by_size(results: Polygons, header: Sequence[str], names: Sequence[str], shown: Callable[[PolygonFit], str]) -> str:
    """A table with a line for each number of splits and a column for each name."""
    columns = [[shown(fit) for fit in results.named(name)] for name in names]
    return markdown_table(
        ["splits", *header], [[str(size), *row] for size, *row in zip(results.sizes, *columns, strict=True)]
    )


def _span_text(results: Polygons) -> str:
    spans = []
    for name in (PAPER, VARIATIONAL):
        stiffnesses = [fit.stiffness for fit in results.named(name)]
        spans.append(f"{_number(min(stiffnesses))} to {_number(max(stiffnesses))}")
    return (
        f"**Stiffness at the end:** {spans[0]} by the paper's bound, {spans[1]} by the variational one. It is the "
        "geometric mean over the splits in use, those with at least 1% of the rows on either side, whose number is in "
        "brackets; the rest have been switched off."
    )


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 1000 else f"{value:.1f}"


def _profile_text(results: Polygons) -> Iterable[str]:
    paper = max(results.profile, key=lambda point: point.paper_bound).stiffness
    variational = max(results.profile, key=lambda point: point.variational_bound).stiffness
    yield (
        f"**One stiffness for all splits.** The best of each bound over offsets and angles of {_PROFILE_SPLITS} splits "
        f"when their stiffness is held. Of these the paper's bound is highest at {paper:g}, the variational one at "
        f"{variational:g}."
    )
    rows = [
        [
            f"{point.stiffness:g}",
            f"{point.paper_bound:.1f}",
            f"{point.paper_log_loss:.4f}",
            f"{point.variational_bound:.1f}",
            f"{point.variational_log_loss:.4f}",
        ]
        for point in results.profile
    ]
    yield markdown_table(["stiffness", "paper's bound", "its log-loss", "variational bound", "its log-loss"], rows)


def figure(results: Polygons) -> Figure:
    """Bounds, log-loss and final stiffness above; below, what the fitted hexagons predict."""
    figure = Figure(figsize=(13, 8.6), layout="constrained")
    halves: Any = figure.subfigures(2, 1)
    above, below = halves
    plots, maps = above.subplots(1, 3), below.subplots(1, 3)
    _draw_profile(plots[0], results, "bound", "highest bound (nats)")
    _draw_profile(plots[1], results, "log_loss", "test log-loss")
    plots[1].axhline(results.floor, color="black", linewidth=1, label="true probability")
    plots[1].legend(loc="upper right")
    _draw_stiffness(plots[2], results)
    titles = {
        START_VARIATIONAL: "Start: true softness",
        PAPER: "End of the paper's bound",
        VARIATIONAL: "End of the variational bound",
    }
    surfaces = {surface.name: surface for surface in results.surfaces}
    for axes, (name, title) in zip(maps, titles.items(), strict=True):
        image = _draw_surface(axes, surfaces[name])
        axes.set_title(title)
    below.colorbar(image, ax=list(maps), label="P(class 1)", shrink=0.85)
    return figure


def _draw_profile(axes: Axes, results: Polygons, quantity: str, label: str) -> None:
    stiffness = [point.stiffness for point in results.profile]
    for name, prefix in ((PAPER, "paper"), (VARIATIONAL, "variational")):
        values = [getattr(point, f"{prefix}_{quantity}") for point in results.profile]
        axes.plot(stiffness, values, label=name, **_STYLES[name])
    axes.axvline(TRUE_STIFFNESS, color=OKABE_ITO["grey"], linestyle=":")
    axes.set(xscale="log", xlabel="stiffness of all splits (dotted: true)", ylabel=label)
    axes.set_title(f"{_PROFILE_SPLITS} splits, stiffness held")
    axes.legend(loc="lower right")


def _draw_stiffness(axes: Axes, results: Polygons) -> None:
    for name in (PAPER, PAPER_ADAM, VARIATIONAL, VARIATIONAL_PRIOR):
        label = f"{name}, {results.adam_steps} steps" if name == PAPER_ADAM else name
        axes.plot(results.sizes, [fit.stiffness for fit in results.named(name)], label=label, **_STYLES[name])
    axes.axhline(TRUE_STIFFNESS, color=OKABE_ITO["grey"], linestyle=":", label="start and truth")
    axes.set(yscale="log", xlabel="splits", ylabel="stiffness at the end", xticks=results.sizes)
    axes.set_title("Stiffness free: where an ascent ends")
    axes.legend(loc="center right", fontsize="small")


def _draw_surface(axes: Axes, surface: Surface) -> Any:
    ticks = np.linspace(-2, 2, 241)
    grid = np.stack(np.meshgrid(ticks, ticks), axis=-1).reshape(-1, 2)
    shape = chain(len(surface.hyperplanes))
    probability = _mixture(shape, np.array(surface.hyperplanes), np.array(surface.leaves)[:, None], grid)
    image = axes.imshow(
        probability.reshape(len(ticks), -1), origin="lower", extent=(-2, 2, -2, 2), cmap=PROBABILITY, vmin=0, vmax=1
    )
    circle = np.linspace(0, 2 * np.pi, 200)
    axes.plot(np.cos(circle), np.sin(circle), color="black", linestyle="--", linewidth=1)
    axes.set(xlabel="$x_1$", ylabel="$x_2$", aspect="equal")
    return image
