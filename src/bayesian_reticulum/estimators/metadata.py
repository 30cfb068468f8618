"""Metadata of rows: checked as they are given, and asked for by the methods of scikit-learn's metadata routing.

Which metadata there are depends on the family that an estimator was given, so that scikit-learn cannot read them from
the signatures of a class.
"""

from __future__ import annotations

import copy
import inspect
from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from sklearn import get_config

from ..arrays import Floats
from ..families import Family, metadata_names, taken_metadata

# Methods of estimators that take metadata and to which scikit-learn routes them.
_ROUTED = ("fit", "predict", "predict_proba", "score")
# Arguments of the methods of families and estimators, after which no metadata can be named.
_RESERVED = frozenset(
    ("self", "X", "y", "sample_weight", "return_std", "design", "targets", "statistics", "membership", "spread")
)


def check_metadata_names(family: Family) -> None:
    """Refuse names of metadata that cannot be keyword arguments, or are others."""
    for name in metadata_names(family):
        if not isinstance(name, str) or not name.isidentifier() or name in _RESERVED:
            raise ValueError(
                f"metadata of leaf = {family!r} is {metadata_names(family)!r}, but {name!r} cannot be the name of "
                f"an argument besides {', '.join(sorted(_RESERVED))}. Give a tuple of other names."
            )


def checked_metadata(caller: str, family: Family, method: str, given: Mapping[str, Any], n: int) -> dict[str, Floats]:
    """Numbers (n,) for a method of a family, of what a caller was given; those that make no sense are refused.

    Parameters
    ----------
    caller : str
        The method of users, for messages.
    family : Family
    method : str
        The method of the family that will take them.
    given : mapping
        None stands for what is not given.
    n : int
        Number of rows.
    """
    taken = taken_metadata(family, method)
    given = {name: values for name, values in given.items() if values is not None}
    unknown = [name for name in given if name not in taken]
    if unknown:
        known = f"takes {', '.join(taken)}" if taken else "takes no metadata"
        raise TypeError(
            f"{caller} got {unknown[0]}, but {method} of {type(family).__name__} {known}. "
            "What a family takes of a row is named in its member `metadata` and in the signatures of its methods."
        )
    missing = [name for name, is_needed in taken.items() if is_needed and name not in given]
    if missing:
        raise ValueError(
            f"{caller} needs {missing[0]}, which {method} of {type(family).__name__} takes of each row; give "
            f"{missing[0]} = array of shape ({n},)."
        )
    return {name: _checked_values(name, values, n) for name, values in given.items()}


def _checked_values(name: str, values: Any, n: int) -> Floats:
    try:
        numbers = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name} must be numbers: {error}") from error
    if numbers.shape != (n,):
        raise ValueError(f"{name} has shape {numbers.shape}; X has {n} rows, so it must have shape ({n},).")
    bad = np.flatnonzero(np.isnan(numbers))
    if len(bad):
        raise ValueError(f"{name}[{bad[0]}] is missing (NaN). Leave out rows whose {name} is not known.")
    return numbers


class MetadataRequests:
    """Requests for metadata that depend on the family of an estimator, in the way of scikit-learn.

    `set_fit_request(exposure=True)` says that a meta-estimator, such as a Pipeline, shall hand on `exposure` to `fit`.
    """

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        # scikit-learn puts methods in each class that know no names but those of signatures. Before version 1.9 it
        # does so even where a class has such methods itself.
        for method in _ROUTED:
            name = f"set_{method}_request"
            if name in vars(cls) and not inspect.isfunction(vars(cls)[name]):
                delattr(cls, name)

    def set_fit_request(self, **requests: bool | str | None) -> Self:
        """Say which metadata `fit` shall get from meta-estimators, as elsewhere in scikit-learn.

        Parameters
        ----------
        **requests : bool, str or None
            For `sample_weight` and each name in `metadata` of the family: True to get it, False not to, None to raise
            an error if it is given, or the name under which it is given.

        Returns
        -------
        self
        """
        return self._set_requests("fit", requests)

    def set_predict_request(self, **requests: bool | str | None) -> Self:
        """Say which metadata `predict` shall get from meta-estimators; see `set_fit_request`."""
        return self._set_requests("predict", requests)

    def set_score_request(self, **requests: bool | str | None) -> Self:
        """Say which metadata `score` shall get from meta-estimators; see `set_fit_request`."""
        return self._set_requests("score", requests)

    def _set_requests(self, method: str, requests: Mapping[str, bool | str | None]) -> Self:
        if not get_config()["enable_metadata_routing"]:
            raise RuntimeError(
                f"set_{method}_request needs metadata routing: call sklearn.set_config(enable_metadata_routing=True)."
            )
        known = getattr(self.get_metadata_routing(), method).requests
        unknown = [name for name in requests if name not in known]
        if unknown:
            raise TypeError(
                f"set_{method}_request got {unknown[0]}, but {method} of this estimator takes "
                f"{', '.join(sorted(known)) or 'no metadata'}."
            )
        self._requests = {**getattr(self, "_requests", {}), **{(method, name): requests[name] for name in requests}}
        return self

    def get_metadata_routing(self) -> Any:
        """Requests for metadata, as scikit-learn asks for them.

        Returns
        -------
        sklearn.utils.metadata_routing.MetadataRequest
        """
        routing = super().get_metadata_routing()  # type: ignore[misc]
        names = metadata_names(self._given_family()) if self._given_family() is not None else ()
        for method in _ROUTED:
            if hasattr(self, method):
                for name in names:
                    getattr(routing, method).add_request(param=name, alias=None)
        for (method, name), alias in getattr(self, "_requests", {}).items():
            getattr(routing, method).add_request(param=name, alias=alias)
        return routing

    def __sklearn_clone__(self) -> Any:
        other = super().__sklearn_clone__()  # type: ignore[misc]
        if hasattr(self, "_requests"):
            other._requests = copy.copy(self._requests)
        return other

    def _given_family(self) -> Any:
        """The family that was given as a parameter, if there is one."""
        leaf = getattr(self, "leaf", None)
        return None if isinstance(leaf, str) else leaf
