"""What each node of a tree is, in words."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..arrays import Floats
from ..data import Schema

if TYPE_CHECKING:
    from .reticulum import Reticulum

# Columns that a split or a linear leaf names, and significant digits of a coefficient, unless asked for others.
NAMED_COLUMNS, DECIMALS = 4, 3


class Node(NamedTuple):
    """A split or a leaf in words.

    Attributes
    ----------
    level : int
        Number of splits above it.
    side : {"left", "right", ""}
        On which side of the split above it lies; empty for the root.
    name : str
    description : str
        The formula of a split, or what a leaf predicts.
    detail : str
        How soft a split is and what it is worth, or how many rows a leaf has.
    is_leaf : bool
        True as well for a branch that is shown as one leaf.
    statistics : ndarray of shape (k,)
        Sum of the statistics of all leaves below.
    """

    level: int
    side: str
    name: str
    description: str
    detail: str
    is_leaf: bool
    statistics: Floats


class Term(NamedTuple):
    """One column in a function that is linear in columns.

    Attributes
    ----------
    column : int
        Its place among the columns of the schema.
    name : str
    slope : float
        In the units of the table.
    share : float
        Size of its standardised slope, as a share of those of all columns.
    """

    column: int
    name: str
    slope: float
    share: float


def linear_terms(schema: Schema, coefficients: Floats) -> tuple[Term, ...]:
    """List the terms of a function that is linear in standardised columns (D + 1,), largest share first."""
    slopes = schema.in_original_units(coefficients[None])[0, 1:]
    sizes = np.abs(coefficients[1:])
    shares = sizes / max(sizes.sum(), np.finfo(float).tiny)
    names = schema.column_names
    order = np.argsort(-shares, kind="stable").tolist()
    return tuple(Term(column, names[column], float(slopes[column]), float(shares[column])) for column in order)


def printable(name: str) -> str:
    """Write out the control characters of a name, so that it stays on its line."""
    return "".join(letter if letter.isprintable() else repr(letter)[1:-1] for letter in name)


def class_name(name: str) -> str:
    """Name a class: a number alone could be mistaken for that of a split."""
    name = printable(name)
    return f"class {name}" if name.replace(".", "").isdigit() else name


def summary(model: Reticulum) -> str:
    """Size and log evidence of a model."""
    splits, leaves = model.tree.n_splits, model.tree.n_leaves
    size = f"{splits} split{'s' * (splits != 1)}, {leaves} lea{'ves' if leaves != 1 else 'f'}"
    return f"{size}, log evidence {model.log_evidence:.1f}"


def outline(
    model: Reticulum, max_depth: int | None = None, max_features: int = NAMED_COLUMNS, decimals: int = DECIMALS
) -> Iterator[Node]:
    """Describe each node of a model, a parent before its children, the left one first.

    Parameters are those of `Reticulum.as_text`.
    """
    tree = model.tree
    stack = [(0 if tree.n_splits else ~0, 0, "")]
    while stack:
        node, level, side = stack.pop()
        is_below = np.arange(tree.n_leaves) == ~node if node < 0 else tree.shape.sides[node] != 0
        statistics = model.statistics[is_below].sum(axis=0)
        if node < 0 or level == max_depth:
            name = f"leaf {~node}" if node < 0 else _branch_name(node, int(is_below.sum()) - 1)
            description = _describe_leaf(model, statistics, max_features, decimals)
            count = f"n = {model.family.counts(statistics):.1f}"
            yield Node(level, side, name, description, count, True, statistics)
            continue
        activation = describe_linear(model.schema, tree.hyperplanes[node], max_features, decimals)
        description = f"P(left) = sigmoid({activation})"
        yield Node(level, side, f"split {node}", description, _split_detail(model, node), False, statistics)
        left, right = (int(child) for child in tree.children[node])
        stack += [(right, level + 1, "right"), (left, level + 1, "left")]


def _branch_name(split: int, n_splits: int) -> str:
    others = f" and {n_splits - 1} below" if n_splits > 1 else ""
    return f"split {split}{others} as one leaf"


def _split_detail(model: Reticulum, split: int) -> str:
    return (
        f"10-90% over {model.transition_widths[split]:.2g} sd, "
        f"{model.grey_shares[split]:.0%} of its rows between; log Bayes factor {model.log_bayes_factors[split]:.1f}"
    )


def _describe_leaf(model: Reticulum, statistics: Floats, max_features: int, decimals: int) -> str:
    names = [printable(name) for name in model.targets]
    return model.family.describe(
        statistics, names, lambda coefficients: describe_linear(model.schema, coefficients, max_features, decimals)
    )


def describe_linear(schema: Schema, coefficients: Floats, max_features: int, decimals: int) -> str:
    """Write a function that is linear in standardised columns (D + 1,) in the units of the table: its largest terms.

    A constant is given as (1,).
    """
    if len(coefficients) == 1:
        return f"{coefficients[0]:.{decimals + 1}g}"
    offset = schema.in_original_units(coefficients[None])[0, 0]
    terms = linear_terms(schema, coefficients)
    named = [term for term in terms[:max_features] if term.share > 0]
    # A column far from zero for its spread, as of years, needs more digits to bring out the same number.
    distances = np.abs(schema.center / schema.scale)
    digits = np.log10(np.maximum(distances, 1.0)).astype(int)
    most_digits = digits[[term.column for term in named]].max(initial=0)
    parts = [f"{offset:.{decimals + 1 + most_digits}g}"]
    for column, name, slope, _ in named:
        sign, precision = "-" if slope < 0 else "+", decimals + digits[column]
        parts.append(f"{sign} {abs(slope):.{precision}g} {printable(name) or f'x{column}'}")
    other_shares = [term.share for term in terms[max_features:] if term.share > 0]
    if other_shares:
        others = f"{len(other_shares)} other{'s' * (len(other_shares) != 1)}"
        parts.append(f"+ {others} ({np.sum(other_shares):.0%})")
    return " ".join(parts)
