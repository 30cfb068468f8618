"""Metadata: what a family takes of a row besides its target, such as an exposure, and how it travels with targets."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, cast

import numpy as np

from ..arrays import Floats
from .protocol import Family, LinearFamily

Metadata = Mapping[str, Floats]


class HasRowStatistics(Protocol):
    """A family, or its likelihood alone."""

    def row_statistics(self, design: Floats | None, targets: Any) -> Floats: ...


@dataclass(frozen=True, eq=False)
class TargetsWithMetadata:
    """Targets of n rows and what is known of each besides; they are cut together.

    As an array they are side by side, by which rows can be told apart.

    Attributes
    ----------
    values : ndarray of shape (n,) or (n, q)
        Targets as the family wants them.
    metadata : mapping of str to ndarray of shape (n,)
    """

    values: Any
    metadata: Metadata

    def __len__(self) -> int:
        return len(self.values)

    def __getitem__(self, rows: Any) -> TargetsWithMetadata:
        return TargetsWithMetadata(self.values[rows], {name: part[rows] for name, part in self.metadata.items()})

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return np.column_stack([self.values, *self.metadata.values()]).astype(dtype or np.float64)


def metadata_names(family: Family) -> tuple[str, ...]:
    """Names of what a family takes of a row besides its target: the member `metadata`; nothing without it."""
    names = getattr(family, "metadata", ())
    return (names,) if isinstance(names, str) else tuple(names)


def taken_metadata(family: Family, method: str) -> dict[str, bool]:
    """Names that a method of a family takes, and whether it needs them: those without a default in its signature."""
    parameters = inspect.signature(getattr(family, method)).parameters
    takes_all = any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters.values())
    names = [name for name in metadata_names(family) if takes_all or name in parameters]
    return {name: name not in parameters or parameters[name].default is inspect.Parameter.empty for name in names}


def metadata_for(family: Family, method: str, metadata: Metadata | None, rows: Any = slice(None)) -> dict[str, Floats]:
    """Arguments of a method of a family: of the metadata that there are what it takes, of some rows."""
    if not metadata:
        return {}
    taken = taken_metadata(family, method)
    return {name: part[rows] for name, part in metadata.items() if name in taken}


def row_statistics(family: HasRowStatistics, design: Floats | None, targets: Any) -> Floats:
    """Statistics (n, k) of rows whose targets may have metadata."""
    if isinstance(targets, TargetsWithMetadata):
        return family.row_statistics(design, targets.values, **targets.metadata)
    return family.row_statistics(design, targets)


def residuals(family: Family, design: Floats, targets: Any, statistics: Floats) -> Floats:
    """Residuals (n, 2), from a linear leaf (k,), of rows whose targets may have metadata."""
    linear = cast("LinearFamily", family)
    if isinstance(targets, TargetsWithMetadata):
        metadata = metadata_for(family, "residuals", targets.metadata)
        return cast("Any", linear).residuals(design, targets.values, statistics, **metadata)  # type: ignore[no-any-return]
    return linear.residuals(design, targets, statistics)


def target_values(targets: Any) -> Any:
    """Targets without their metadata."""
    return targets.values if isinstance(targets, TargetsWithMetadata) else targets


def joined_targets(parts: Sequence[Any]) -> Any:
    """Targets of the rows of some parts, at least one, one after the other; all of them have the same metadata."""
    values = np.concatenate([target_values(part) for part in parts])
    if not isinstance(parts[0], TargetsWithMetadata):
        return values
    names = parts[0].metadata
    return TargetsWithMetadata(
        values, {name: np.concatenate([part.metadata[name] for part in parts]) for name in names}
    )
