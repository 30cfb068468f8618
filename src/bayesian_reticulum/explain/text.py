"""The tree as plain text."""

from __future__ import annotations

from typing import Any

from ..model import fitted_model
from .base import check_whole_number


def export_text(estimator: Any, *, max_depth: int | None = None, max_features: int = 4, decimals: int = 3) -> str:
    """The tree of a fitted estimator as plain text; `print(model_)` shows the same with the defaults.

    Parameters
    ----------
    estimator : fitted estimator
    max_depth : int or None, default=None
        Splits further down than this are told as one leaf that has the rows of all below; None shows all.
    max_features : int, default=4
        Columns that are named in a split or a linear leaf: those that count most.
    decimals : int, default=3
        Significant digits of a coefficient. Columns far from zero for their spread get more.

    Examples
    --------
    >>> from bayesian_reticulum import ReticulumClassifier
    >>> from bayesian_reticulum.datasets import make_cross
    >>> from bayesian_reticulum.explain import export_text
    >>> X, y, _ = make_cross(400, random_state=0)
    >>> text = export_text(ReticulumClassifier(random_state=0).fit(X, y), max_depth=1, decimals=2)
    >>> [line.split(":")[0] for line in text.splitlines() if "10-90%" not in line]
    ['Reticulum', 'split 0', '├─ left  split 2 as one leaf', '└─ right split 1 as one leaf']
    """
    if max_depth is not None:
        check_whole_number("max_depth", max_depth, 0)
    check_whole_number("max_features", max_features, 0)
    check_whole_number("decimals", decimals, 1)
    return fitted_model(estimator).as_text(max_depth=max_depth, max_features=max_features, decimals=decimals)
