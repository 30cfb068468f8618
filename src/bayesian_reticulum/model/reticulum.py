"""A fitted reticulum: plain, immutable data with no training rows in it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, cast

import numpy as np

from ..arrays import Floats, frozen, refreeze
from ..compiled import is_available, mix_leaves
from ..data import Gaps, Schema
from ..distributions import ClassDistribution, Mixture, Uncertainty
from ..families import Family, LinearFamily, Metadata, is_categorical, metadata_for, metadata_names
from ..gates import Gates
from ..tree import Tree
from .checks import check_model
from .notebook import as_html
from .outline import DECIMALS, NAMED_COLUMNS, summary
from .routing import compute_membership, compute_routes, row_blocks
from .text import as_text

# A gate goes from 10% to 90% over this much activation: log odds from -log 9 to log 9.
TRANSITION = 2 * np.log(9.0)
# Rows whose gate lies between these belong to both sides.
GREY_ZONE = (0.1, 0.9)


@dataclass(frozen=True, eq=False, repr=False)
class Reticulum:
    """A tree of soft, slanted splits, and the statistics of its leaves.

    A model is checked when it is made: parts that do not fit together raise ValueError.

    Attributes
    ----------
    tree : Tree
        Splits in the units of the schema: columns centred and of unit spread.
    statistics : ndarray of shape (leaves, k)
        Sufficient statistics of each leaf; for classes the effective counts.
    family : Family
        Likelihood and prior of the leaves: turns their statistics into predictions.
    schema : Schema
        Names and units of the features, and the columns that stand for them. `encode` makes cells of a table, which
        all other methods work on: numbers, codes of levels, and NaN for missing cells.
    targets : tuple of str
        Names of the classes, or of the number that is predicted.
    precisions : ndarray of shape (m,)
        Prior precision of each split's slopes, as set by the evidence.
    log_evidence : float
        Log evidence of the whole tree.
    log_bayes_factors : ndarray of shape (m,)
        For each split the log evidence that the tree would lose without it; of a model of more than 65 536 rows,
        those above 20 are upper limits.
    prices : ndarray of shape (m,)
        Log evidence that each split's hyperplane costs.
    grey_shares : ndarray of shape (m,)
        Share of the rows reaching each split whose gate is between 0.1 and 0.9.
    """

    tree: Tree
    statistics: Floats
    family: Family
    schema: Schema
    targets: tuple[str, ...]
    precisions: Floats
    log_evidence: float
    log_bayes_factors: Floats
    prices: Floats
    grey_shares: Floats

    def __post_init__(self) -> None:
        for field in ("statistics", "precisions", "log_bayes_factors", "prices", "grey_shares"):
            object.__setattr__(self, field, frozen(getattr(self, field)))
        check_model(self)

    __setstate__ = refreeze

    def encode(self, X: Any) -> Any:
        """Cells of a table like that of fit: the numbers that all other methods work on.

        Columns of a data frame are matched by name and taken in the order of fit; categories become codes. A table with
        missing or too many columns, without rows or with infinite cells is refused.

        Parameters
        ----------
        X : array-like or data frame of shape (n, d)
            A data frame of pandas, polars or pyarrow, an array or a list.

        Returns
        -------
        ndarray of shape (n, d)
            Numbers, codes of levels, and NaN for gaps and for levels that were not there in fit. An array of floats
            is returned as it is where there are no categories.

        Examples
        --------
        >>> import pandas as pd
        >>> from bayesian_reticulum import ReticulumClassifier
        >>> frame = pd.DataFrame({"age": [31.0, 45.0, 62.0] * 20, "city": ["Oslo", "Rome", "Oslo"] * 20})
        >>> model = ReticulumClassifier(random_state=0).fit(frame, [0, 1, 0] * 20).model_
        >>> model.encode(pd.DataFrame({"city": ["Oslo", "Rome", "Paris"], "age": [50.0, None, 70.0]}))
        array([[50.,  0.],
               [nan,  1.],
               [70., nan]])
        """
        return self.schema.encoder.encode(X)

    @cached_property
    def hyperplanes(self) -> Floats:
        """Offset and slopes of each split in the units of the table, shape (m, D + 1).

        Slopes are those of the columns `schema.column_names`: one for each feature that is a number, several for a
        category. They hold between the schema's limits `low` and `high`; cells beyond are moved to the limit.
        """
        return frozen(self.schema.in_original_units(self.tree.hyperplanes))

    @cached_property
    def transition_widths(self) -> Floats:
        """Distance over which each gate goes from 10% to 90%, in standard deviations along its normal."""
        return frozen(TRANSITION / np.linalg.norm(self.tree.hyperplanes[:, 1:], axis=1))

    @cached_property
    def feature_importances(self) -> Floats:
        """Gain in log evidence, shared out among features by the size of their standardised slopes; sums to 1.

        A split gains the log evidence of its two sides less that of both as one leaf; a linear leaf gains its log
        evidence less that of a constant leaf.
        """
        sides = self.tree.shape.sides
        log_evidence = self.family.log_evidence
        left, right = ((sides == side).astype(np.float64) @ self.statistics for side in (1, -1))
        gains = np.maximum(log_evidence(left) + log_evidence(right) - log_evidence(left + right), 0.0)
        importances = gains @ self.shares
        if self.family.uses_design:
            importances = importances + cast("LinearFamily", self.family).slope_gains(self.statistics).sum(axis=0)
        importances = self.schema.by_feature(importances)
        total = importances.sum()
        return frozen(importances / total if total > 0 else importances)

    @cached_property
    def shares(self) -> Floats:
        """Size of each standardised slope as a share of all slopes of its split, shape (m, D)."""
        slopes = np.abs(self.tree.hyperplanes[:, 1:])
        return frozen(slopes / np.maximum(slopes.sum(axis=1, keepdims=True), np.finfo(float).tiny))

    @property
    def has_classes(self) -> bool:
        """Whether the target is a class, not a number."""
        return is_categorical(self.family)

    @cached_property
    def _leaf_means(self) -> Floats:
        """Mean of the target in each leaf of a family without design, (leaves, q)."""
        leaves = self.tree.n_leaves
        means = self.family.predictive_mean(self.statistics, np.eye(leaves), np.ones((1, leaves)))
        return frozen(means.reshape(leaves, -1))

    def routes(self, X: Any) -> Gates:
        """Activations and gates (1, m, n) and log memberships (1, leaves, n) of a few rows (n, d)."""
        return compute_routes(self.schema, self.tree, X)

    def membership(self, X: Any, threads: int = 1) -> Floats:
        """Probability of each row (n, d) to belong to each leaf, shape (n, leaves)."""
        return compute_membership(self.schema, self.tree, X, threads)

    def predict_mean(self, X: Any, threads: int = 1, metadata: Metadata | None = None) -> Floats:
        """Mean of the target of each row (n, d): for classes their probabilities (n, classes), for numbers (n,).

        Metadata are arrays (n,) of what the family takes of each row.
        """
        if is_available() and not self.family.uses_design and not metadata_names(self.family):
            means = mix_leaves(self.schema, self.tree, self._leaf_means, X, threads)
            return means if self.has_classes else means[:, 0]
        return np.concatenate(
            [
                self.family.predictive_mean(
                    self.statistics,
                    block.membership,
                    block.design,
                    **metadata_for(self.family, "predictive_mean", metadata, block.rows),
                )
                for block in row_blocks(self.schema, self.tree, X, self.schema.gaps(X))
            ]
        )

    def predict_distribution(self, X: Any, metadata: Metadata | None = None) -> Mixture | ClassDistribution:
        """Distribution of the target of each row (n, d); for classes, that of class codes."""
        gaps = self.schema.gaps(X)
        _, memberships, designs, shares = zip(*row_blocks(self.schema, self.tree, X, gaps), strict=True)
        left_open = None if gaps is None else np.concatenate(shares, axis=1)
        return self.family.predictive(
            self.statistics,
            np.concatenate(memberships, axis=1),
            np.concatenate(designs, axis=1),
            **self._spread(gaps, left_open),
            **metadata_for(self.family, "predictive", metadata),
        )

    def predict_uncertainty(self, X: Any, metadata: Metadata | None = None) -> Uncertainty:
        """Uncertainty of the target of each row (n, d), by its source."""
        gaps = self.schema.gaps(X)
        return Uncertainty.joined(
            self.family.uncertainty(
                self.statistics,
                block.membership,
                block.design,
                **self._spread(gaps, block.left_open),
                **metadata_for(self.family, "uncertainty", metadata, block.rows),
            )
            for block in row_blocks(self.schema, self.tree, X, gaps)
        )

    def _spread(self, gaps: Gaps | None, left_open: Floats | None) -> dict[str, Any]:
        """Argument `spread` of a linear family for rows with gaps that leave shares of variance (q, n) open."""
        if gaps is None or left_open is None or not self.family.uses_design:
            return {}
        return {"spread": lambda slopes: np.asarray(gaps.variances(slopes) @ left_open)}

    def __repr__(self) -> str:
        return f"<Reticulum: {summary(self)}>"

    def __str__(self) -> str:
        return self.as_text()

    def as_text(
        self, *, max_depth: int | None = None, max_features: int = NAMED_COLUMNS, decimals: int = DECIMALS
    ) -> str:
        """Write the tree as plain text.

        Parameters
        ----------
        max_depth : int or None, default=None
            A split at this depth is shown as one leaf that holds the rows of all leaves below it; None shows all.
        max_features : int, default=4
            Columns that a split or a linear leaf names: those with the largest shares.
        decimals : int, default=3
            Significant digits of a coefficient. Columns far from zero for their spread get more.

        Returns
        -------
        str
        """
        return as_text(self, max_depth, max_features, decimals)

    def _repr_html_(self) -> str:
        """Write the tree as HTML, which notebooks show."""
        return as_html(self)


def fitted_model(estimator: Any) -> Reticulum:
    """Return the model of a fitted estimator, or raise ValueError."""
    model = getattr(estimator, "model_", None)
    if not isinstance(model, Reticulum):
        raise ValueError(f"{type(estimator).__name__} is not a fitted reticulum. Call fit first.")
    return model
