"""Cases, a family with random rows and leaves to try laws on, and the errors of laws that are broken."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ..arrays import Floats
from ..distributions import ClassDistribution, Mixture
from ..families import Family

TOLERANCE = 1e-8


class Sample(NamedTuple):
    """Rows: their design (d + 1, n), targets and statistics (n, k)."""

    design: Floats
    targets: Any
    statistics: Floats


@dataclass(frozen=True)
class Case:
    """A family with random rows and leaves to try it on.

    Parameters
    ----------
    family : Family
    draw_targets : callable
        ``(rng, n)`` to n plausible targets.
    n_features : int
        Number d of features in the design.
    draw_metadata : callable, optional
        ``(rng, n)`` to n plausible numbers for each name in `metadata` of the family.
    """

    family: Family
    draw_targets: Callable[[np.random.Generator, int], Any]
    n_features: int = 2
    draw_metadata: Callable[[np.random.Generator, int], Mapping[str, Any]] | None = None

    def rows(self, rng: np.random.Generator, n: int) -> Sample:
        """Rows with random features and targets that do not depend on them."""
        design = np.concatenate([np.ones((1, n)), rng.normal(size=(self.n_features, n))])
        targets = self.draw_targets(rng, n)
        return Sample(design, targets, self.family.row_statistics(design, targets))

    def statistics(self, rng: np.random.Generator, *shape: int) -> Floats:
        """Statistics as leaves hold them, (*shape, k): sums of rows with fractional responsibilities."""
        rows = self.rows(rng, self.family.n_statistics + 10).statistics
        return np.asarray(rng.random((*shape, len(rows))) ** 3 @ rows)

    def leaves(self, rng: np.random.Generator) -> Floats:
        """Statistics (3, k) of a leaf without rows, one that has parts of some, and one that has many."""
        few, many = self.statistics(rng, 2)
        return np.stack([np.zeros_like(few), few, 50 * many])

    def predictive(self, statistics: Floats, membership: Floats, design: Floats) -> Mixture | ClassDistribution:
        """The predictive distribution of the family, checked to be one."""
        predictive = self.family.predictive(statistics, membership, design)
        hold(
            isinstance(predictive, Mixture | ClassDistribution) and len(predictive) == design.shape[1],
            f"expected a Mixture or ClassDistribution of {design.shape[1]} rows, found {predictive!r}",
            "predictive",
        )
        return predictive


def hold(holds: Any, otherwise: str, look_at: str) -> None:
    """Raise an AssertionError unless something holds, with where to look."""
    if not holds:
        raise AssertionError(f"{otherwise}. Look at {look_at}.")


def agree(
    values: Any, expected: Any, what: str, look_at: str, *, unit: Any = 1.0, tolerance: float = TOLERANCE
) -> None:
    """Raise an AssertionError unless values are as expected, up to the tolerance times the unit and expected size."""
    values, expected = np.asarray(values, dtype=np.float64), np.asarray(expected, dtype=np.float64)
    hold(values.shape == expected.shape, f"{what}: expected shape {expected.shape}, found {values.shape}", look_at)
    with np.errstate(invalid="ignore"):
        is_good = (values == expected) | (np.abs(values - expected) <= tolerance * (unit + np.abs(expected)))
    if not is_good.all():
        place = tuple(int(i) for i in np.argwhere(~is_good)[0])
        at = f" at {list(place)}" if place else ""
        otherwise = f"{what}{at}: expected {expected[place]:.10g}, found {values[place]:.10g}"
        raise AssertionError(f"{otherwise}. Look at {look_at}.")
