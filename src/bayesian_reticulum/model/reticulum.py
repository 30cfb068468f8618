"""A fitted reticulum: plain, immutable data with no training rows in it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from html import escape
from typing import Any, cast

import numpy as np

from ..arrays import Floats, frozen, refreeze
from ..compiled import is_available, mix_leaves
from ..data import Gaps, Schema
from ..distributions import ClassDistribution, Mixture, Uncertainty
from ..families import DirichletCategorical, Family, LinearFamily, Spread
from ..gates import Gates, compute_gates, gap_softening
from ..tree import Tree
from .notebook import _HTML_BRANCH, _HTML_DETAIL, _HTML_HANGING, _HTML_SIDE, _html_bars
from .outline import NAMED_FEATURES, Line, class_name, printable

# A gate goes from 10% to 90% over this much activation.
TRANSITION = 2 * np.log(9.0)
GREY_ZONE = (0.1, 0.9)
_BLOCK_FLOATS = 1 << 18


@dataclass(frozen=True, eq=False, repr=False)
class Reticulum:
    """A tree of soft, slanted splits with what its leaves have learned.

    Attributes
    ----------
    tree : Tree
        Splits in the units of the schema: columns centred and of unit spread.
    statistics : ndarray of shape (leaves, k)
        Sufficient statistics of each leaf; for classes the effective counts.
    family : Family
        What a leaf makes of its statistics.
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
        category. They hold between the schema's limits `low` and `high`; cells beyond are read as being there.
        """
        return frozen(self.schema.in_original_units(self.tree.hyperplanes))

    @cached_property
    def transition_widths(self) -> Floats:
        """Distance over which each gate goes from 10% to 90%, in standard deviations along its normal."""
        return frozen(TRANSITION / np.linalg.norm(self.tree.hyperplanes[:, 1:], axis=1))

    @cached_property
    def feature_importances(self) -> Floats:
        """Evidence gained, shared out among features by the size of their standardised slopes; sums to 1.

        A split gains what its two sides are worth more than what they are worth together; a linear leaf, what it is
        worth more than a constant one.
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
        """Share of each column in each split, shape (m, D)."""
        slopes = np.abs(self.tree.hyperplanes[:, 1:])
        return frozen(slopes / np.maximum(slopes.sum(axis=1, keepdims=True), np.finfo(float).tiny))

    def _blocks(self, X: Any, gaps: Gaps | None) -> Iterator[tuple[slice, Floats, Floats, Floats | None]]:
        """Blocks (rows, membership (leaves, n), design (D + 1, n), left open (q, n)) of a table (n, d); at least one.

        The last is what gaps leave open; None if the table has no gaps.
        """
        size = max(64, min(4096, _BLOCK_FLOATS // (4 * self.tree.n_leaves + self.tree.n_features)))
        hyperplanes = self.tree.hyperplanes[None]
        for start in range(0, max(len(X), 1), size):
            part = slice(start, min(start + size, len(X)))
            design, missing = self.schema.filled(X[part], gaps)
            block = compute_gates(hyperplanes, self.tree.shape, design, gap_softening(gaps, hyperplanes, missing))
            yield part, np.exp(block.log_membership[0]), design, missing

    def _spread(self, gaps: Gaps | None, missing: Floats | None) -> dict[str, Spread]:
        """What linear leaves have to know of the missing cells (q, n) of a table with gaps, as keywords."""
        if gaps is None or missing is None or not self.family.uses_design:
            return {}
        return {"spread": lambda slopes: np.asarray(gaps.variances(slopes) @ missing)}

    @property
    def has_classes(self) -> bool:
        """Whether the target is a class, not a number."""
        return isinstance(self.family, DirichletCategorical)

    @cached_property
    def _leaf_means(self) -> Floats:
        """Mean of the target in each leaf, (leaves, q), where it does not depend on the features."""
        leaves = self.tree.n_leaves
        means = self.family.predictive_mean(self.statistics, np.eye(leaves), np.ones((1, leaves)))
        return frozen(means.reshape(leaves, -1))

    def routes(self, X: Any) -> Gates:
        """Activations and gates (1, m, n) and log memberships (1, leaves, n) of a few rows (n, d)."""
        gaps, hyperplanes = self.schema.gaps(X), self.tree.hyperplanes[None]
        design, left_open = self.schema.filled(X, gaps)
        return compute_gates(hyperplanes, self.tree.shape, design, gap_softening(gaps, hyperplanes, left_open))

    def membership(self, X: Any, threads: int = 1) -> Floats:
        """Probability of each row (n, d) to belong to each leaf, shape (n, leaves)."""
        if is_available():
            return mix_leaves(self.schema, self.tree, None, X, threads)
        out = np.empty((len(X), self.tree.n_leaves))
        for part, membership, *_ in self._blocks(X, self.schema.gaps(X)):
            out[part] = membership.T
        return out

    def predict_mean(self, X: Any, threads: int = 1) -> Floats:
        """Mean of the target of each row (n, d): for classes their probabilities (n, classes), for numbers (n,)."""
        if is_available() and not self.family.uses_design:
            means = mix_leaves(self.schema, self.tree, self._leaf_means, X, threads)
            return means if self.has_classes else means[:, 0]
        return np.concatenate(
            [
                self.family.predictive_mean(self.statistics, membership, design)
                for _, membership, design, _ in self._blocks(X, self.schema.gaps(X))
            ]
        )

    def predict_distribution(self, X: Any) -> Mixture | ClassDistribution:
        """Distribution of the target of each row (n, d); that of class codes where the target is a class."""
        gaps = self.schema.gaps(X)
        _, memberships, designs, masks = zip(*self._blocks(X, gaps), strict=True)
        missing = None if gaps is None else np.concatenate(masks, axis=1)
        return self.family.predictive(
            self.statistics,
            np.concatenate(memberships, axis=1),
            np.concatenate(designs, axis=1),
            **self._spread(gaps, missing),
        )

    def predict_uncertainty(self, X: Any) -> Uncertainty:
        """Uncertainty of the target of each row (n, d), by where it comes from."""
        gaps = self.schema.gaps(X)
        return Uncertainty.joined(
            self.family.uncertainty(self.statistics, membership, design, **self._spread(gaps, missing))
            for _, membership, design, missing in self._blocks(X, gaps)
        )

    def __repr__(self) -> str:
        return f"<Reticulum: {self._size()}, log evidence {self.log_evidence:.1f}>"

    def __str__(self) -> str:
        return self.as_text()

    def as_text(self, *, max_depth: int | None = None, max_features: int = NAMED_FEATURES, decimals: int = 3) -> str:
        """The tree as plain text.

        Parameters
        ----------
        max_depth : int or None, default=None
            Splits further down than this are told as one leaf that has the rows of all below; None shows all.
        max_features : int, default=4
            Columns that are named in a split or a linear leaf: those that count most.
        decimals : int, default=3
            Significant digits of a coefficient. Columns far from zero for their spread get more.
        """
        title = f"Reticulum: {self._size()}, log evidence {self.log_evidence:.1f}"
        return "\n".join([title, *self._lines(max_depth, max_features, decimals)])

    def _repr_html_(self) -> str:
        """The tree for notebooks: branches open and close, and colours are those of the page around it."""
        title = f"<b>Reticulum</b>: {self._size()}, log evidence {self.log_evidence:.1f}"
        parts = [f'<div style="line-height:1.5;overflow-wrap:anywhere">{title}']
        opened: list[int] = []
        for node in self._outline(None, NAMED_FEATURES, 3):
            while opened and opened[-1] >= node.level:
                opened.pop()
                parts.append("</details>")
            # A line down the left side shows what belongs together.
            box = f'style="{_HTML_BRANCH}"' if node.level else ""
            side = f'<span style="{_HTML_SIDE}">{node.side}</span>' if node.side else ""
            head = f"{side}<b>{escape(node.name)}</b>"
            detail = f'<span style="{_HTML_DETAIL}">{escape(node.detail)}</span>'
            if not node.is_leaf:
                opened.append(node.level)
                told = f"{head}: {escape(node.told)}<br>{detail}"
                parts.append(f'<details open {box}><summary style="{_HTML_HANGING}">{told}</summary>')
            elif isinstance(self.family, DirichletCategorical):
                named = self.family.named(node.statistics, [class_name(name) for name in self.targets])
                bars = _html_bars(named, float(self.family.probabilities(node.statistics).max()))
                parts.append(f'<div {box}><div style="{_HTML_HANGING}">{head}: {bars} {detail}</div></div>')
            else:
                told = f"{head}: {escape(node.told)} {detail}"
                parts.append(f'<div {box}><div style="{_HTML_HANGING}">{told}</div></div>')
        return "".join([*parts, "</details>" * len(opened), "</div>"])

    def _size(self) -> str:
        splits, leaves = self.tree.n_splits, self.tree.n_leaves
        return f"{splits} split{'s' * (splits != 1)}, {leaves} lea{'ves' if leaves != 1 else 'f'}"

    def _lines(self, max_depth: int | None, max_features: int, decimals: int) -> Iterator[str]:
        """The tree from top to bottom; a child stands below its parent, the left one first."""
        # What stands before the children of the splits above: a line, where one is still to come.
        indents = [""]
        for node in self._outline(max_depth, max_features, decimals):
            lead, indent = "", ""
            if node.side:
                del indents[node.level :]
                is_left = node.side == "left"
                lead = f"{indents[-1]}{'├─ left ' if is_left else '└─ right'} "
                indent = f"{indents[-1]}{'│' if is_left else ' '}  "
            yield f"{lead}{node.name}: {node.told}{f'  ({node.detail})' * node.is_leaf}"
            if not node.is_leaf:
                yield f"{indent}│    {node.detail}"
                if node.side:
                    indents.append(indent)

    def _outline(self, max_depth: int | None, max_features: int, decimals: int) -> Iterator[Line]:
        """What is told of each node, a parent before its children, the left one first."""
        sides = self.tree.shape.sides
        stack = [(0 if self.tree.n_splits else ~0, 0, "")]
        while stack:
            node, level, side = stack.pop()
            below = np.arange(self.tree.n_leaves) == ~node if node < 0 else sides[node] != 0
            statistics = self.statistics[below].sum(axis=0)
            is_leaf = node < 0 or level == max_depth
            if is_leaf:
                name = f"leaf {~node}"
                if node >= 0:
                    hidden = int(below.sum()) - 1
                    name = f"split {node}{f' and {hidden - 1} below' if hidden > 1 else ''} as one leaf"
                told = self._describe_leaf(statistics, max_features, decimals)
                rows = f"n = {self.family.counts(statistics):.1f}"
                yield Line(level, side, name, told, rows, True, statistics)
                continue
            activation = self._describe_linear(self.tree.hyperplanes[node], max_features, decimals)
            detail = (
                f"10-90% over {self.transition_widths[node]:.2g} sd, "
                f"{self.grey_shares[node]:.0%} of its rows between; log Bayes factor {self.log_bayes_factors[node]:.1f}"
            )
            told = f"P(left) = sigmoid({activation})"
            yield Line(level, side, f"split {node}", told, detail, False, statistics)
            left, right = (int(child) for child in self.tree.children[node])
            stack += [(right, level + 1, "right"), (left, level + 1, "left")]

    def _describe_linear(self, coefficients: Floats, max_features: int, decimals: int) -> str:
        """A linear function of the standardised features, in the units of the table: its largest terms."""
        if len(coefficients) == 1:
            return f"{coefficients[0]:.{decimals + 1}g}"
        own = self.schema.in_original_units(coefficients[None])[0]
        sizes = np.abs(coefficients[1:])
        shares = sizes / max(sizes.sum(), np.finfo(float).tiny)
        ranked = np.argsort(-shares, kind="stable")
        named = [j for j in ranked[:max_features] if shares[j] > 0]
        # A column far from zero for its spread, as of years, needs more digits to bring out the same number.
        offsets = np.abs(self.schema.center / self.schema.scale)
        digits = np.log10(np.maximum(offsets, 1.0)).astype(int)
        terms = [f"{own[0]:.{decimals + 1 + digits[named].max(initial=0)}g}"]
        for j in named:
            slope, name = own[1 + j], printable(self.schema.column_names[j]) or f"x{j}"
            terms.append(f"{'-' if slope < 0 else '+'} {abs(slope):.{decimals + digits[j]}g} {name}")
        rest = [j for j in ranked[max_features:] if shares[j] > 0]
        if rest:
            others = f"{len(rest)} other{'s' * (len(rest) != 1)}"
            terms.append(f"+ {others} ({shares[rest].sum():.0%})")
        return " ".join(terms)

    def _describe_leaf(self, statistics: Floats, max_features: int, decimals: int) -> str:
        names = [printable(name) for name in self.targets]
        return self.family.describe(
            statistics, names, lambda coefficients: self._describe_linear(coefficients, max_features, decimals)
        )


def fitted_model(estimator: Any) -> Reticulum:
    """The model of a fitted estimator; ValueError if it is none."""
    model = getattr(estimator, "model_", None)
    if not isinstance(model, Reticulum):
        raise ValueError(f"{type(estimator).__name__} is not a fitted reticulum. Call fit first.")
    return model
