"""What all cards can do."""

from __future__ import annotations

from dataclasses import asdict
from numbers import Integral
from typing import Any

import numpy as np

from ..model import Reticulum


def _plain(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, dict):
        return {key: _plain(own) for key, own in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(own) for own in value]
    return value


class Card:
    """What all cards can do."""

    def to_dict(self) -> dict[str, Any]:
        """The same as plain Python data, ready for JSON."""
        out: dict[str, Any] = _plain(asdict(self))  # type: ignore[call-overload]
        return out


def join_predictions(prediction: dict[str, float]) -> str:
    return ", ".join(f"{name} {value:.4g}" for name, value in prediction.items())


def by_target(model: Reticulum, mean: Any) -> dict[str, float]:
    return dict(zip(model.targets, np.atleast_1d(mean).tolist(), strict=True))


def check_whole_number(name: str, value: Any, minimum: int) -> None:
    """ValueError if a parameter is no whole number, or too small."""
    if not isinstance(value, Integral) or int(value) < minimum:
        raise ValueError(f"{name} must be a whole number of at least {minimum}; got {value!r}.")
