"""A fitted tree, and what it says of a row, as plain data for people and programs.

Everything here is read off a fitted estimator; nothing is fitted again. All results are frozen dataclasses with a
`to_dict` of plain Python numbers, text and lists.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .families import DirichletCategorical, NormalLinear
from .flips import change_size, changed_features, flipped
from .history import OUTRUN, Candidate
from .model import TRANSITION, Reticulum, fitted_model
from .rows import gates, softening
from .tables import chosen_columns, column_types
from .tree import Floats, frozen, refreeze

# Terms of an activation that are named where it is told in words.
_NAMED = 4


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


def _listed(prediction: dict[str, float]) -> str:
    return ", ".join(f"{name} {value:.4g}" for name, value in prediction.items())


def _place(parent: int | None, side: str | None) -> str:
    return "" if parent is None else f", {side} of split {parent}"


class _Card:
    """What all cards can do."""

    def to_dict(self) -> dict[str, Any]:
        """The same as plain Python data, ready for JSON."""
        out: dict[str, Any] = _plain(asdict(self))  # type: ignore[call-overload]
        return out


@dataclass(frozen=True)
class Contribution(_Card):
    """What one column adds to the activation of a split.

    Attributes
    ----------
    name : str
        The feature, "feature=level" or "feature is missing".
    slope : float
        By how much the activation rises with one unit of the column, in the units of the table.
    share : float
        Size of its standardised slope, as a share of those of all columns.
    """

    name: str
    slope: float
    share: float


@dataclass(frozen=True, eq=False)
class NodeCard(_Card):
    """A split in polar form, in the units of the table.

    A row x goes left with probability sigmoid(stiffness * (cos(angles) · x - offset)), its cells read within the limits
    of the schema.

    Attributes
    ----------
    split : int
        Its place in the tree.
    parent : int or None
        The split above; None for the root.
    side : {"left", "right"} or None
        On which side of the parent it lies.
    stiffness : float
        Length of the slopes: how hard the split is.
    offset : float
        Distance of the hyperplane from the origin along its normal.
    angles : ndarray of shape (D,)
        Angle of the normal to the axis of each column, in radians.
    transition_width : float
        Distance along the normal over which the gate goes from 10% to 90%, in the units of the table.
    standardised_width : float
        The same in standard deviations.
    contributions : tuple of Contribution
        All columns, those that count most first.
    grey_share : float
        Share of the rows at the split whose gate is between 0.1 and 0.9.
    log_bayes_factor : float
        Log evidence that the tree would lose without the split.
    price : float
        Log evidence that its hyperplane costs.
    """

    split: int
    parent: int | None
    side: str | None
    stiffness: float
    offset: float
    angles: Floats
    transition_width: float
    standardised_width: float
    contributions: tuple[Contribution, ...]
    grey_share: float
    log_bayes_factor: float
    price: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "angles", frozen(self.angles))

    __setstate__ = refreeze

    def __str__(self) -> str:
        there = [own for own in self.contributions if own.share > 0]
        wide = max((len(own.name) for own in there), default=0)
        return "\n".join(
            [
                f"split {self.split}{_place(self.parent, self.side)}",
                f"  10-90% over {self.standardised_width:.2g} sd, {self.grey_share:.0%} of its rows between",
                f"  log Bayes factor {self.log_bayes_factor:.1f}, its price of {self.price:.1f} paid",
                *(f"  {own.name:<{wide}}  slope {own.slope:10.4g}  share {own.share:4.0%}" for own in there),
            ]
        )


@dataclass(frozen=True, eq=False)
class LeafCard(_Card):
    """What a leaf has learned.

    Attributes
    ----------
    leaf : int
        Its place, from left to right.
    parent : int or None
        The split above; None if the tree is one leaf.
    side : {"left", "right"} or None
    count : float
        Effective number of rows in it.
    share : float
        That number as a share of all rows.
    names : tuple of str
        Classes, or the name of the target.
    mean : ndarray of shape (len(names),)
        Posterior mean of the probability of each class, or of the mean of the target at the centre of the leaf's rows.
    low, high : ndarray of shape (len(names),)
        Credible interval of what `mean` is the mean of; NaN where the family does not tell.
    level : float
        Probability of each interval.
    """

    leaf: int
    parent: int | None
    side: str | None
    count: float
    share: float
    names: tuple[str, ...]
    mean: Floats
    low: Floats
    high: Floats
    level: float

    def __post_init__(self) -> None:
        for field in ("mean", "low", "high"):
            object.__setattr__(self, field, frozen(getattr(self, field)))

    __setstate__ = refreeze

    def __str__(self) -> str:
        wide = max(map(len, self.names))
        return "\n".join(
            [
                f"leaf {self.leaf}{_place(self.parent, self.side)}: n = {self.count:.1f}, {self.share:.0%} of all rows",
                *(
                    f"  {name:<{wide}}  {mean:.4g}  ({self.level:.0%} sure: {low:.4g} to {high:.4g})"
                    for name, mean, low, high in zip(self.names, self.mean, self.low, self.high, strict=True)
                ),
            ]
        )


@dataclass(frozen=True)
class Decision(_Card):
    """What one split makes of one row.

    Attributes
    ----------
    split : int
    reach : float
        Probability that the row comes to the split.
    probability_left : float
        Its gate, averaged over what is missing.
    activation : float
        The sum of `baseline` and all contributions.
    softening : float
        Factor of the activation, below 1 where features are missing: the gate is sigmoid(softening * activation).
    baseline : float
        Activation of the average row.
    contributions : dict of str to float
        What each feature adds to it; a category with all its columns, a missing feature at its mean given the others.
    """

    split: int
    reach: float
    probability_left: float
    activation: float
    softening: float
    baseline: float
    contributions: dict[str, float]

    def __str__(self) -> str:
        ranked = sorted(self.contributions.items(), key=lambda own: -abs(own[1]))
        terms = [f"{'-' if added < 0 else '+'} {abs(added):.2f} {name}" for name, added in ranked if added][:_NAMED]
        rest = sum(added for _, added in ranked[_NAMED:])
        if any(added for _, added in ranked[_NAMED:]):
            terms.append(f"{'-' if rest < 0 else '+'} {abs(rest):.2f} others")
        lead = f"split {self.split}, reached with {self.reach:.1%}: left with {self.probability_left:.1%}"
        soft = "" if self.softening == 1 else f", softened by {self.softening:.2f}"
        return f"{lead}, activation {self.activation:.2f} = {self.baseline:.2f} {' '.join(terms)}".rstrip() + soft


@dataclass(frozen=True)
class Flip(_Card):
    """A change of a row after which something else is predicted.

    Attributes
    ----------
    changes : dict of str to tuple
        For each feature that changes, what the row holds and what it would have to hold: numbers in the units of the
        table, or levels, of which rare ones are told together, as "3 rare levels".
    prediction : dict of str to float
        What is predicted then: the probability of each class, or the mean of the target.
    size : float
        By how much features change, in standard deviations, all added up; a level by the distance of its columns.
    """

    changes: dict[str, tuple[Any, Any]]
    prediction: dict[str, float]
    size: float

    def __str__(self) -> str:
        told = ", ".join(f"{name} {new!r} instead of {old!r}" for name, (old, new) in self.changes.items())
        return f"with {told} ({self.size:.2g} sd): {_listed(self.prediction)}"


@dataclass(frozen=True)
class RowExplanation(_Card):
    """Why a row is predicted as it is.

    Attributes
    ----------
    prediction : dict of str to float
        Probability of each class, or the mean of the target.
    leaves : tuple of float
        Probability of the row to belong to each leaf, from left to right.
    decisions : tuple of Decision
        One for each split, those that matter most for this row first: by how far the prediction would move, times its
        reach, if the row went left for certain instead of right.
    uncertainty : dict of str to float
        Total, aleatoric, leaf and routing uncertainty.
    flip : Flip or None
        A change after which something else is predicted; None if none was found, or asked for.
    """

    prediction: dict[str, float]
    leaves: tuple[float, ...]
    decisions: tuple[Decision, ...]
    uncertainty: dict[str, float]
    flip: Flip | None

    def __str__(self) -> str:
        parts = ", ".join(f"{name} {self.uncertainty[name]:.3g}" for name in ("aleatoric", "leaf", "routing"))
        return "\n".join(
            [
                f"prediction: {_listed(self.prediction)}",
                *(f"  {decision}" for decision in self.decisions),
                f"uncertainty: {self.uncertainty['total']:.3g} = {parts}",
                f"flip: {self.flip or 'none was found'}",
            ]
        )


@dataclass(frozen=True)
class LedgerEntry(_Card):
    """One attempt of growth, or a step that is none.

    Attributes
    ----------
    attempt : int
    what : {"start", "kept", "rejected", "tuned", "polished", "simplified"}
        Whether the tree that growth went on with changed; "start" where it was fitted to (more) rows, "tuned" where the
        prior of its leaves was set anew.
    gain : float
        Change of the log evidence.
    log_evidence : float
        After the attempt.
    n_splits : int
        After the attempt.
    candidates : tuple of Candidate
        All that was tried, with the reason why it was kept or not.
    """

    attempt: int
    what: str
    gain: float
    log_evidence: float
    n_splits: int
    candidates: tuple[Candidate, ...]


@dataclass(frozen=True)
class Ledger(_Card):
    """Every attempt of a growth, what it gained, and why growth stopped.

    The first entry is worth its log evidence; with the gains of all others that is the log evidence of the model.
    """

    entries: tuple[LedgerEntry, ...]
    stopping_reason: str

    @property
    def total(self) -> float:
        """The first log evidence and all gains after it."""
        return self.entries[0].log_evidence + sum(entry.gain for entry in self.entries[1:])

    def __str__(self) -> str:
        lines = ["attempt  what        splits  log evidence      gain  tried"]
        for entry in self.entries:
            best = (own for own in entry.candidates if own.reason != OUTRUN)
            tried = ", ".join(f"{own.kind}: {own.reason}" for own in best)
            lines.append(
                f"{entry.attempt:7d}  {entry.what:<10}  {entry.n_splits:6d}  {entry.log_evidence:12.2f}"
                f"  {entry.gain:8.2f}  {tried}".rstrip()
            )
        return "\n".join([*lines, f"stopped: {self.stopping_reason}"])


def node_cards(estimator: Any) -> tuple[NodeCard, ...]:
    """A card for each split of a fitted estimator.

    Examples
    --------
    >>> from bayesian_reticulum import ReticulumClassifier
    >>> from bayesian_reticulum.datasets import make_cross
    >>> from bayesian_reticulum.explain import node_cards
    >>> X, y, _ = make_cross(400, random_state=0)
    >>> cards = node_cards(ReticulumClassifier(random_state=0).fit(X, y))
    >>> len(cards), cards[1].parent, cards[1].side
    (3, 0, 'right')
    """
    model = fitted_model(estimator)
    cards = []
    for split, (own, parent) in enumerate(zip(model.hyperplanes, _parents(model)[0], strict=True)):
        slopes = own[1:]
        stiffness = float(np.linalg.norm(slopes))
        direction = slopes / stiffness if stiffness > 0 else np.zeros(len(slopes))
        cards.append(
            NodeCard(
                split,
                *parent,
                stiffness,
                float(-own[0] / stiffness) if stiffness > 0 else 0.0,
                np.arccos(np.clip(direction, -1, 1)),
                float(TRANSITION / stiffness) if stiffness > 0 else float("inf"),
                float(model.transition_widths[split]),
                contributions(model, model.tree.hyperplanes[split]),
                float(model.grey_shares[split]),
                float(model.log_bayes_factors[split]),
                float(model.prices[split]),
            )
        )
    return tuple(cards)


def leaf_cards(estimator: Any, level: float = 0.9) -> tuple[LeafCard, ...]:
    """A card for each leaf of a fitted estimator, with credible intervals of a level.

    Examples
    --------
    >>> from bayesian_reticulum import ReticulumClassifier
    >>> from bayesian_reticulum.datasets import make_cross
    >>> from bayesian_reticulum.explain import leaf_cards
    >>> X, y, _ = make_cross(400, random_state=0)
    >>> cards = leaf_cards(ReticulumClassifier(random_state=0).fit(X, y))
    >>> round(sum(card.share for card in cards), 6), bool((cards[0].low < cards[0].mean).all())
    (1.0, True)
    """
    if not 0 < level < 1:
        raise ValueError(f"level must be a number between 0 and 1; got {level!r}.")
    model = fitted_model(estimator)
    counts = model.family.counts(model.statistics)
    total = max(float(counts.sum()), np.finfo(float).tiny)
    cards = []
    for leaf, parent in enumerate(_parents(model)[1]):
        mean, low, high = _leaf_interval(model, leaf, level)
        count = float(counts[leaf])
        cards.append(LeafCard(leaf, *parent, count, count / total, model.targets, mean, low, high, float(level)))
    return tuple(cards)


def explain_rows(
    estimator: Any, X: Any, *, flips: bool = True, fixed_features: Any = None, to: Any = None
) -> tuple[RowExplanation, ...]:
    """Why each row of a table is predicted as it is, and what would have to be different for another prediction.

    Parameters
    ----------
    estimator : fitted estimator
    X : array-like or data frame of shape (n_samples, n_features)
        A table like that of `fit`.
    flips : bool, default=True
        Whether flips are looked for, which takes most of the time.
    fixed_features : array-like, optional
        Features that cannot change, by a mask, by name or by place.
    to : class or float, optional
        What should be predicted after a flip. For classes it is by default any other one; for numbers the mean has to
        come to the other side of it, and without it no flip is looked for.

    Notes
    -----
    Flips are found by search: there may be smaller ones. One feature alone is changed if that suffices, otherwise up to
    twelve. Numbers stay within the tails of the training rows, or just beyond by rounding; those of columns of whole
    numbers stay whole, and levels change to ones that are not rare. What is missing or was not seen in fit does not
    change. Each flip is verified: the model predicts something else for the changed row. It says what the model makes
    of such a row, not what would happen to someone who changes.

    Examples
    --------
    >>> from bayesian_reticulum import ReticulumClassifier
    >>> from bayesian_reticulum.datasets import make_cross
    >>> from bayesian_reticulum.explain import explain_rows
    >>> X, y, _ = make_cross(400, random_state=0)
    >>> why = explain_rows(ReticulumClassifier(random_state=0).fit(X, y), [[1.0, -1.0]])[0]
    >>> decision = why.decisions[0]
    >>> bool(abs(decision.baseline + sum(decision.contributions.values()) - decision.activation) < 1e-9)
    True
    >>> len(why.flip.changes)
    1
    """
    model = fitted_model(estimator)
    cells = estimator._checked_rows(X)
    tree, schema = model.tree, model.schema
    gaps, hyperplanes = schema.gaps(cells), tree.hyperplanes[None]
    design, left_open = schema.filled(cells, gaps)
    soft = softening(gaps, hyperplanes, left_open)
    found = gates(hyperplanes, tree.shape, design, soft)
    membership = np.exp(found.log_membership[0])
    reach = (tree.shape.sides != 0).astype(np.float64) @ membership
    means = model.family.predictive_mean(model.statistics, membership, design)
    parts = model.predict_uncertainty(cells)
    is_free = ~np.array(chosen_columns("fixed_features", fixed_features, schema.n_features, schema.names), dtype=bool)
    target = _wanted(estimator, to)
    types = column_types(X, schema.names)
    is_whole, is_single = (np.array([own == kind for own in types]) for kind in ("whole", "single"))
    out = []
    for row in range(len(cells)):
        decisions = []
        for split, hyperplane in enumerate(tree.hyperplanes):
            added = schema.by_feature(hyperplane[1:] * design[1:, row])
            factor = 1.0 if soft is None else float(soft[0, split, row])
            decisions.append(
                Decision(
                    split,
                    float(reach[split, row]),
                    float(found.gate[0, split, row]),
                    float(found.activation[0, split, row]) / factor,
                    factor,
                    float(hyperplane[0]),
                    dict(zip(schema.names, added.tolist(), strict=True)),
                )
            )
        moves = _moves(model, membership[:, row], design[:, row : row + 1])
        order = np.argsort(-np.round(reach[:, row] * moves, 12), kind="stable")
        uncertainty = {name: float(getattr(parts, name)[row]) for name in ("total", "aleatoric", "leaf", "routing")}
        wish = _Wish(means[row], uncertainty["total"], target, is_free, is_whole, is_single)
        out.append(
            RowExplanation(
                _by_target(model, means[row]),
                tuple(membership[:, row].tolist()),
                tuple(decisions[split] for split in order),
                uncertainty,
                _flip(model, np.asarray(cells[row], dtype=np.float64), wish) if flips else None,
            )
        )
    return tuple(out)


def evidence_ledger(estimator: Any) -> Ledger:
    """Every attempt of the growth of a fitted estimator, what it gained, and why growth stopped.

    Examples
    --------
    >>> from bayesian_reticulum import ReticulumClassifier
    >>> from bayesian_reticulum.datasets import make_cross
    >>> from bayesian_reticulum.explain import evidence_ledger
    >>> X, y, _ = make_cross(400, random_state=0)
    >>> clf = ReticulumClassifier(random_state=0).fit(X, y)
    >>> ledger = evidence_ledger(clf)
    >>> bool(abs(ledger.total - clf.log_evidence_) < 1e-6), ledger.stopping_reason
    (True, 'no_gain')
    """
    fitted_model(estimator)
    entries: list[LedgerEntry] = []
    for event in estimator.history_:
        if event.phase in ("start", "kept", "rejected", "tuned", "polished", "simplified"):
            before = entries[-1].log_evidence if entries else event.log_evidence
            entries.append(
                LedgerEntry(
                    event.attempt,
                    event.phase,
                    float(event.log_evidence - before),
                    float(event.log_evidence),
                    event.tree.n_splits,
                    event.candidates,
                )
            )
    return Ledger(tuple(entries), estimator.stopping_reason_)


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


def check_whole_number(name: str, value: Any, minimum: int) -> None:
    """ValueError if a parameter is no whole number, or too small."""
    if not isinstance(value, Integral) or int(value) < minimum:
        raise ValueError(f"{name} must be a whole number of at least {minimum}; got {value!r}.")


def contributions(model: Reticulum, coefficients: Floats) -> tuple[Contribution, ...]:
    """What each column adds to a function that is linear in standardised columns (D + 1,); the largest first."""
    slopes = model.schema.in_original_units(coefficients[None])[0, 1:]
    sizes = np.abs(coefficients[1:])
    shares = sizes / max(sizes.sum(), np.finfo(float).tiny)
    names = model.schema.column_names
    order = np.argsort(-shares, kind="stable")
    return tuple(Contribution(names[j], float(slopes[j]), float(shares[j])) for j in order)


def _by_target(model: Reticulum, mean: Any) -> dict[str, float]:
    return dict(zip(model.targets, np.atleast_1d(mean).tolist(), strict=True))


def _wanted(estimator: Any, to: Any) -> Any:
    """The place of a class, or a number, that should be predicted after a flip; None if it was not said."""
    if to is None:
        return None
    if hasattr(estimator, "classes_"):
        if np.ndim(to) or not (estimator.classes_ == to).any():
            raise ValueError(f"to = {to!r} is no class; the classes are {estimator.classes_.tolist()}.")
        return int(np.flatnonzero(estimator.classes_ == to)[0])
    if isinstance(to, bool) or not isinstance(to, Real) or not np.isfinite(float(to)):
        raise ValueError(f"to must be a finite number that the prediction should come beyond; got {to!r}.")
    return float(to)


class _Wish(NamedTuple):
    """What is predicted for a row, how uncertain that is, what is wanted instead, and what may change to what."""

    mean: Any
    uncertainty: float
    target: Any
    is_free: NDArray[np.bool_]
    is_whole: NDArray[np.bool_]
    is_single: NDArray[np.bool_]


def _flip(model: Reticulum, row: Floats, wish: _Wish) -> Flip | None:
    """A change of a row (d,) after which something else is predicted."""
    mean, target = wish.mean, wish.target
    leaves = model.tree.n_leaves
    design = np.repeat(model.schema.design(row[None]), leaves, axis=1)
    alone = model.family.predictive_mean(model.statistics, np.eye(leaves), design)

    def predicted(rows: Floats) -> Floats:
        # As the table would hold it.
        rows = np.where(wish.is_single, rows.astype(np.float32), rows) if wish.is_single.any() else rows
        return model.predict_mean(rows)

    if model.has_classes:
        now = int(np.argmax(mean))
        if len(mean) == 1 or target == now:
            return None
        own, side = (now, -1.0) if target is None else (target, 1.0)

        def margin(rows: Floats) -> Floats:
            found = predicted(rows)
            return np.asarray(side * (found[:, own] - np.delete(found, own, axis=1).max(axis=1)))

        is_wanted = (alone.argmax(axis=1) == own) == (side > 0)
    else:
        if target is None:
            return None
        side = 1.0 if float(mean) < target else -1.0
        # In standard deviations of the prediction, and beyond what rounding could make of it.
        spread = max(wish.uncertainty**0.5, np.finfo(float).tiny)
        rounding = 4 * np.finfo(float).eps * abs(target)

        def margin(rows: Floats) -> Floats:
            return np.asarray((side * (predicted(rows) - target) - rounding) / spread)

        is_wanted = side * (alone - target) > 0
    found = flipped(model, row, margin, wish.is_free, wish.is_whole, is_wanted)
    if found is None:
        return None
    changed = changed_features(row, found).tolist()
    changes = {model.schema.names[own]: (_told(model, own, row), _told(model, own, found)) for own in changed}
    prediction = _by_target(model, predicted(found[None])[0])
    return Flip(changes, prediction, float(change_size(model, row, found[None])[0]))


def _told(model: Reticulum, feature: int, row: Floats) -> Any:
    """What a row holds of a feature: a number, or a level, of which rare ones are told together."""
    category, cell = model.schema.categories[feature], row[feature]
    if category is None:
        return float(cell)
    code = int(cell)
    return category.levels[code] if code < len(category.levels) else category.labels[code]


def _parents(model: Reticulum) -> tuple[list[tuple[int | None, str | None]], ...]:
    """For each split, and for each leaf, the split above it and the side on which it lies."""
    nobody: tuple[int | None, str | None] = (None, None)
    splits, leaves = [nobody] * model.tree.n_splits, [nobody] * model.tree.n_leaves
    for parent, pair in enumerate(model.tree.children.tolist()):
        for child, side in zip(pair, ("left", "right"), strict=True):
            (splits if child >= 0 else leaves)[child if child >= 0 else ~child] = parent, side
    return splits, leaves


def _leaf_interval(model: Reticulum, leaf: int, level: float) -> tuple[Floats, Floats, Floats]:
    """Mean and credible interval of what a leaf says of its targets."""
    family, statistics = model.family, model.statistics[leaf]
    if isinstance(family, DirichletCategorical | NormalLinear):
        return family.mean_interval(statistics, level)
    mean = np.atleast_1d(family.predictive_mean(statistics[None], np.ones((1, 1)), np.ones((1, 1))))
    unknown = np.full(mean.shape, np.nan)
    return mean, unknown, unknown


def _moves(model: Reticulum, membership: Floats, design: Floats) -> Floats:
    """How far a prediction differs between the two sides of each split, (m,), mixed by memberships (leaves,) there."""
    sides = model.tree.shape.sides
    out = np.zeros(model.tree.n_splits)
    for split, own in enumerate(sides):
        ends = []
        for side in (1, -1):
            below = np.where(own == side, membership, 0.0)
            total = below.sum()
            below = below / total if total > 0 else (own == side) / max((own == side).sum(), 1)
            ends.append(np.atleast_1d(model.family.predictive_mean(model.statistics, below[:, None], design)[0]))
        out[split] = np.abs(ends[0] - ends[1]).max()
    return out


__all__ = [
    "Contribution",
    "Decision",
    "Flip",
    "LeafCard",
    "Ledger",
    "LedgerEntry",
    "NodeCard",
    "RowExplanation",
    "evidence_ledger",
    "explain_rows",
    "export_text",
    "leaf_cards",
    "node_cards",
]
