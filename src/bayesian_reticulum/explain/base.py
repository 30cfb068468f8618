"""What all cards can do, and how a prediction is named and printed."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import numpy as np

from ..model import Reticulum


def _plain(value: Any) -> Any:
    """Turn arrays and NumPy scalars, at any depth, into lists and Python numbers."""
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, dict):
        return {key: _plain(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(part) for part in value]
    return value


class Card:
    """Data that can be turned into plain Python."""

    def to_dict(self) -> dict[str, Any]:
        """The same as plain Python data, ready for JSON."""
        out: dict[str, Any] = _plain(asdict(self))  # type: ignore[call-overload]
        return out


def join_predictions(prediction: dict[str, float]) -> str:
    """Write a prediction on one line."""
    return ", ".join(f"{name} {value:.4g}" for name, value in prediction.items())


def by_target(model: Reticulum, mean: Any) -> dict[str, float]:
    """Name the class probabilities (classes,), or the mean, that a model predicts for a row."""
    return dict(zip(model.targets, np.atleast_1d(mean).tolist(), strict=True))
