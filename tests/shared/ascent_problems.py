"""Random rows with stacks of trees to ascend from, and the ascents that are held to the same laws."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
from hypothesis import strategies as st

from asking import family_of, membership_sums, pass_at
from bayesian_reticulum.arrays import Floats
from bayesian_reticulum.data.schema import Schema
from bayesian_reticulum.evidence import engine
from bayesian_reticulum.evidence.ascent import ascend_by_the_book
from bayesian_reticulum.evidence.passes import pass_maker
from bayesian_reticulum.evidence.prices import prior_diagonal
from bayesian_reticulum.evidence.stack import Effort, Stack
from bayesian_reticulum.families import Family
from bayesian_reticulum.rows.arrays import ArrayRows
from bayesian_reticulum.rows.native import NativeRows
from bayesian_reticulum.tree import Shape
from plugins import FAMILIES, draw_table, needs_compiled, trees


@dataclass(frozen=True)
class Variant:
    """A kind of problem: the family by its key in `FAMILIES`, the kind of table, and what is special of the trees."""

    family: str
    table: str = "numbers"
    sparse: bool = False
    n_tail: int = 0


VARIANTS = {
    "classes": Variant("three classes, small prior"),
    "classes, gaps": Variant("two classes", "gaps"),
    "classes, sparse": Variant("two classes", sparse=True),
    "classes, tail": Variant("two classes", n_tail=1),
    "constant leaves": Variant("constant"),
    "constant leaves, gaps and sparse": Variant("constant", "gaps", sparse=True),
    "linear leaves": Variant("three slopes, other units"),
    "linear leaves, tail": Variant("three slopes, other units", n_tail=1),
    "counts": Variant("counts"),
}
each_variant = pytest.mark.parametrize("variant", VARIANTS.values(), ids=VARIANTS)


@dataclass(frozen=True)
class AscentProblem:
    """Rows, and a stack of trees of one shape to ascend from."""

    X: Any
    targets: Any
    family: Family
    weights: Floats
    schema: Schema
    tail: Floats
    shape: Shape
    hyperplanes: Floats
    precisions: Floats
    sparse: bool

    def rows(self, rows_class: Any = ArrayRows) -> Any:
        return rows_class.of_table(self.X, self.targets, self.family, self.weights, self.schema, tail=self.tail)

    def effort(self, tolerance: float, rounds: int = 0, max_passes: int | None = None) -> Effort:
        # Steps along a tail, whose information is one number, are many.
        max_passes = (3000 if len(self.tail) else 1000) if max_passes is None else max_passes
        return Effort(tolerance, rounds, max_passes, sparse=self.sparse, exact=True)

    def starting_at(self, stack: Stack) -> tuple[Floats, Floats, Floats]:
        return stack.hyperplanes, stack.precisions, stack.statistics

    def start(self) -> tuple[Floats, Floats, Floats]:
        """Hyperplanes, precisions and the statistics of memberships to start from."""
        statistics = membership_sums(self.rows(), self.hyperplanes, self.shape)
        return self.hyperplanes, self.precisions, statistics

    @property
    def alone(self) -> AscentProblem:
        """The problem of the first tree without the other, which may change when information is made."""
        return replace(self, hyperplanes=self.hyperplanes[:1], precisions=self.precisions[:1])

    def slopes(self, stack: Stack) -> tuple[Floats, Floats]:
        """Gradient of the penalised bound by hyperplanes that may move, and the E step, where a stack is."""
        at = pass_at(self.rows(), stack.hyperplanes, self.shape, stack.statistics)
        gradient = at.gradient - prior_diagonal(stack.precisions, stack.hyperplanes.shape[-1]) * stack.hyperplanes
        if self.sparse:
            gradient[..., 1:][self.hyperplanes[..., 1:] == 0] = 0.0
        return gradient, at.statistics - stack.statistics


@st.composite
def ascent_problems(draw: st.DrawFn, variant: Variant, max_splits: int = 3) -> AscentProblem:
    """Two random trees of one shape, for rows whose targets depend on the first column."""
    case = FAMILIES[variant.family]
    d = case.n_features
    tree = draw(trees(min_splits=1, max_splits=max_splits, n_features=d))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n = draw(st.integers(25, 60))
    X, schema = draw_table(rng, n, d, variant.table)
    ranks = np.argsort(np.argsort(np.nan_to_num(X[:, 0]) + 0.3 * rng.normal(size=n)))
    targets = np.sort(case.draw_targets(rng, n))[ranks]
    # Not those of the tree: from zeros and from equal splits no ascent knows a way.
    hyperplanes = 2 * rng.normal(size=(2, *tree.hyperplanes.shape))
    if variant.sparse:
        hyperplanes[:, -1, -1] = 0.0
    precisions = rng.choice([0.1, 1.0], size=(2, tree.n_splits))
    weights = rng.uniform(0.5, 2, size=n)
    tail = np.mean(schema.filled(X, schema.gaps(X))[0][d + 1 - variant.n_tail :] ** 2, axis=1)
    return AscentProblem(
        X, targets, case.family, weights, schema, tail, tree.shape, hyperplanes, precisions, variant.sparse
    )


def by_the_book(problem: AscentProblem, start: Any, effort: Effort, fixed: bool = False) -> Stack:
    """The reference, over rows of arrays."""
    rows = problem.rows()
    make_pass = pass_maker(rows, problem.shape, effort.exact)
    c, m, _ = start[0].shape
    stack = Stack(*start, np.zeros(c), np.zeros((c, m)))
    return ascend_by_the_book(make_pass, family_of(rows), rows.tail, stack, effort, fixed)


def by_callback(problem: AscentProblem, start: Any, effort: Effort, fixed: bool = False) -> Stack:
    """The compiled ascent, over rows of arrays."""
    return _by_engine(problem.rows(), problem, start, effort, fixed)


def over_table(problem: AscentProblem, start: Any, effort: Effort, fixed: bool = False) -> Stack:
    """The compiled ascent, over compiled rows."""
    return _by_engine(problem.rows(NativeRows), problem, start, effort, fixed)


def _by_engine(rows: Any, problem: AscentProblem, start: Any, effort: Effort, fixed: bool) -> Stack:
    if not fixed:
        return engine.ascend(rows, family_of(rows), problem.shape, *start, effort)
    return engine.converge_responsibilities(
        rows,
        family_of(rows),
        problem.shape,
        *start,
        effort.tolerance,
        effort.max_passes,
        effort.exact,
        effort.sparse,
    )


def value(stack: Stack) -> Floats:
    """The penalised bound of each tree."""
    return stack.log_evidence + stack.prices.sum(axis=-1)


def moved(stack: Stack, rng: np.random.Generator, size: float) -> Stack:
    """The stack with its nonzero weights moved at random."""
    noise = size * rng.normal(size=stack.hyperplanes.shape)
    return replace(stack, hyperplanes=stack.hyperplanes + noise * (stack.hyperplanes != 0))


each_ascent = pytest.mark.parametrize(
    "ascent",
    [
        pytest.param(by_the_book, id="reference"),
        pytest.param(by_callback, id="callback", marks=needs_compiled),
        pytest.param(over_table, id="table", marks=needs_compiled),
    ],
)
