"""Families with metadata: tried with one value for all rows, as a family without, and row by row."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..arrays import Floats
from ..families import metadata_names, taken_metadata
from .case import Case, agree, hold


@dataclass(frozen=True, eq=False)
class AtMetadata:
    """A family whose rows all have the same metadata: a family without any, for which all laws hold.

    Attributes
    ----------
    family : Family
    values : dict of str to float
    """

    family: Any
    values: Mapping[str, float]
    metadata = ()

    def __getattr__(self, name: str) -> Any:
        # A copy asks for members before it has a family.
        if name.startswith("__") or name == "family":
            raise AttributeError(name)
        return getattr(self.family, name)

    def _of_rows(self, method: str, n: int) -> dict[str, Floats]:
        return {name: np.full(n, self.values[name]) for name in taken_metadata(self.family, method)}

    def row_statistics(self, design: Floats | None, targets: Any) -> Any:
        return self.family.row_statistics(design, targets, **self._of_rows("row_statistics", len(targets)))

    def predictive_mean(self, statistics: Floats, membership: Floats, design: Floats, **spread: Any) -> Any:
        return self._predict("predictive_mean", statistics, membership, design, spread)

    def predictive(self, statistics: Floats, membership: Floats, design: Floats, **spread: Any) -> Any:
        return self._predict("predictive", statistics, membership, design, spread)

    def uncertainty(self, statistics: Floats, membership: Floats, design: Floats, **spread: Any) -> Any:
        return self._predict("uncertainty", statistics, membership, design, spread)

    def residuals(self, design: Floats, targets: Any, statistics: Floats) -> Any:
        return self.family.residuals(design, targets, statistics, **self._of_rows("residuals", len(targets)))

    def _predict(self, method: str, statistics: Floats, membership: Floats, design: Floats, spread: Any) -> Any:
        metadata = self._of_rows(method, membership.shape[1])
        return getattr(self.family, method)(statistics, membership, design, **metadata, **spread)


def at_one_value(case: Case, rng: np.random.Generator) -> Case:
    """The case with metadata of a single row for all rows; itself for a family without metadata."""
    names = metadata_names(case.family)
    if not names:
        return case
    if case.draw_metadata is None:
        raise TypeError(f"{type(case.family).__name__} takes {', '.join(names)} of each row; give draw_metadata.")
    values = {name: float(part[0]) for name, part in case.draw_metadata(rng, 1).items()}
    family: Any = AtMetadata(case.family, values)
    return Case(family, case.draw_targets, case.n_features)


def metadata_belong_to_single_rows(case: Case, rng: np.random.Generator) -> None:
    """What a row has besides its target changes its statistics and its prediction, and those of no other row."""
    if case.draw_metadata is None:
        return
    family, n = case.family, 6
    design = np.concatenate([np.ones((1, n)), rng.normal(size=(case.n_features, n))])
    targets = case.draw_targets(rng, n)
    drawn = {name: np.asarray(part, dtype=np.float64) for name, part in case.draw_metadata(rng, n).items()}
    hold(
        set(drawn) == set(metadata_names(family)),
        f"expected draws of {', '.join(metadata_names(family))}, found those of {', '.join(drawn)}",
        "draw_metadata and metadata",
    )

    def of(method: str, rows: slice) -> dict[str, Floats]:
        return {name: drawn[name][rows] for name in taken_metadata(family, method)}

    everything, singles = slice(n), [slice(row, row + 1) for row in range(n)]
    statistics = family.row_statistics(design, targets, **of("row_statistics", everything))
    alone = [family.row_statistics(design[:, row], targets[row], **of("row_statistics", row))[0] for row in singles]
    agree(statistics, alone, "statistics of rows together, against one by one", "row_statistics")
    leaves = rng.random((2, n)) @ statistics
    membership = rng.dirichlet(np.ones(2), size=n).T

    def log_probabilities(rows: slice) -> Floats:
        metadata: dict[str, Any] = of("predictive", rows)
        predictive = family.predictive(leaves, membership[:, rows], design[:, rows], **metadata)
        return np.asarray(predictive.logpdf(targets[rows]))

    together = log_probabilities(everything)
    each = np.concatenate([log_probabilities(row) for row in singles])
    agree(together, each, "log density of rows together, against one by one", "predictive")
