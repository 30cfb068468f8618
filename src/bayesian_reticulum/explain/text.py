"""The tree as plain text."""

from __future__ import annotations

from typing import Any

from ..model import check_whole_number, fitted_model


def export_text(estimator: Any, *, max_depth: int | None = None, max_features: int = 4, decimals: int = 3) -> str:
    """Write the tree of a fitted estimator as plain text; `print(model_)` shows the same with the defaults.

    Parameters
    ----------
    estimator : fitted estimator
    max_depth : int or None, default=None
        A split at this depth is shown as one leaf that holds the rows of all leaves below it; None shows all.
    max_features : int, default=4
        Columns that a split or a linear leaf names: those with the largest shares.
    decimals : int, default=3
        Significant digits of a coefficient. Columns far from zero for their spread get more.

    Returns
    -------
    str

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
