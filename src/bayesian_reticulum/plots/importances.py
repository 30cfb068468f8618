"""Features by their share in the evidence that the tree gains."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np

from ..arrays import Floats
from ..model import check_whole_number, fitted_model, printable
from .style import BLUE, FAINT, GREY, INK, Display, counted, shortened, write


@dataclass(eq=False, repr=False)
class ImportancesDisplay(Display):
    """Features by their share in the evidence that the tree gains.

    Parameters
    ----------
    names : tuple of str
        Features, those that matter most first.
    shares : ndarray of shape (len(names),)
    n_others : int
        Number of features that are not shown.
    others : float
        Their share, added up.

    Attributes
    ----------
    ax_, figure_
        Axes and figure of the drawing.
    bars_ : matplotlib BarContainer

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from bayesian_reticulum import ReticulumClassifier
    >>> from bayesian_reticulum.plots import ImportancesDisplay
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> display = ImportancesDisplay.from_estimator(ReticulumClassifier(random_state=0).fit(X, y), max_features=2)
    >>> display.names, display.n_others
    (('petal length (cm)', 'petal width (cm)'), 2)
    """

    names: tuple[str, ...]
    shares: Floats
    n_others: int = 0
    others: float = 0.0
    bars_: Any = field(default=None, init=False, repr=False)

    @classmethod
    def from_estimator(cls, estimator: Any, *, max_features: int = 12, ax: Any = None) -> Self:
        """Draw the importances of a fitted estimator.

        Parameters
        ----------
        estimator : fitted estimator
        max_features : int, default=12
            Most features to show; the others are added up.
        ax : matplotlib Axes, optional

        Returns
        -------
        ImportancesDisplay
        """
        model = fitted_model(estimator)
        check_whole_number("max_features", max_features, 1)
        shares = model.feature_importances
        ranked = np.argsort(-shares, kind="stable")
        shown, rest = ranked[:max_features], ranked[max_features:]
        names = tuple(model.schema.names[feature] for feature in shown)
        return cls(names, shares[shown], len(rest), float(shares[rest].sum())).plot(ax=ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw the bars.

        Parameters
        ----------
        ax : matplotlib Axes, optional

        Returns
        -------
        self
        """
        names = [shortened(printable(name), 210.0, 10.0) for name in self.names]
        shares = [*self.shares]
        if self.n_others:
            names.append(counted(self.n_others, "other feature"))
            shares.append(self.others)
        ax = self._open(ax, (6.4, 0.9 + 0.3 * len(names)))
        places = np.arange(len(names))
        colours = [BLUE] * len(self.names) + [FAINT] * bool(self.n_others)
        self.bars_ = ax.barh(places, shares, height=0.66, color=colours)
        for place, share in zip(places.tolist(), shares, strict=True):
            write(ax, share, place, f" {share:.1%}", 9, color=GREY)
        ax.set_yticks(places, names, parse_math=False)
        ax.set(ylim=(len(names) - 0.4, -0.6), xlim=(0, 1.14 * max(*shares, 1e-9, 0.0)), xticks=[])
        ax.spines[:].set_visible(False)
        ax.tick_params(length=0, labelcolor=INK, labelsize=10)
        title = "share in the evidence gained" if any(shares) else "nothing was gained: the tree is one leaf"
        ax.set_title(title, loc="left", fontsize=10, color=GREY)
        return self
