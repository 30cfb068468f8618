"""The plug-ins that laws are tested on, random trees and tables, and tools that several tests share.

A new family joins `FAMILIES` and is held to every law of families; new rows join `BACKENDS` and are held to every law
in `laws/test_rows.py` and `laws/test_rows_views.py`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from scipy.special import betainc, digamma, gammaln

from bayesian_reticulum import compiled
from bayesian_reticulum.arrays import Floats, Integers
from bayesian_reticulum.data.categories import Category
from bayesian_reticulum.data.schema import Schema
from bayesian_reticulum.data.units import MISSING, NUMBER
from bayesian_reticulum.distributions.mixture import Mixture
from bayesian_reticulum.distributions.uncertainty import Uncertainty
from bayesian_reticulum.families.dirichlet import DirichletCategorical
from bayesian_reticulum.families.normal import NormalLinear
from bayesian_reticulum.rows.arrays import ArrayRows
from bayesian_reticulum.rows.native import NativeRows
from bayesian_reticulum.testing.case import Case
from bayesian_reticulum.tree import Tree, single_leaf, split_leaf
from class_families import ContinuationRatio, MixedDirichlet


@dataclass(frozen=True, eq=False)
class NegativeBinomial:
    """Counts of what happens at a rate that is Gamma(shape, rate) distributed; shape (C, 1) each."""

    shape: Floats
    rate: Floats
    is_discrete = True

    @property
    def mean(self) -> Floats:
        return self.shape / self.rate

    @property
    def variance(self) -> Floats:
        return self.mean * (1 + 1 / self.rate)

    def logpdf(self, y: Floats) -> Floats:
        # The mixture gives numbers that are no counts a probability of 0.
        y = np.maximum(y, 0.0)
        log_shares = self.shape * np.log(self.rate / (1 + self.rate)) - y * np.log1p(self.rate)
        return gammaln(y + self.shape) - gammaln(self.shape) - gammaln(y + 1) + log_shares

    def cdf(self, y: Floats) -> Floats:
        return betainc(self.shape, np.maximum(y, 0.0) + 1, self.rate / (1 + self.rate))

    def draw(self, components: Integers, rows: Integers, rng: np.random.Generator) -> Floats:
        rate = self.rate[components, 0]
        return rng.negative_binomial(self.shape[components, 0], rate / (1 + rate)).astype(np.float64)

    def __getitem__(self, rows: Any) -> NegativeBinomial:
        return self


@dataclass(frozen=True)
class GammaPoisson:
    """Counts with a Gamma prior of their rate: a family with whole numbers as targets.

    Statistics are the number of rows, the sum of counts, and that of log y!, whose parameter is -1 for all rates.
    """

    shape: float = 1.0
    rate: float = 1.0
    uses_design = False
    n_statistics = 3

    def row_statistics(self, design: Floats | None, targets: Any) -> Floats:
        y = np.asarray(targets, dtype=np.float64)
        return np.column_stack([np.ones(len(y)), y, gammaln(y + 1)])

    def _posterior(self, statistics: Floats) -> tuple[Floats, Floats]:
        return self.shape + statistics[..., 1], self.rate + statistics[..., 0]

    def log_evidence(self, statistics: Floats) -> Floats:
        shape, rate = self._posterior(statistics)
        prior = self.shape * np.log(self.rate) - gammaln(self.shape)
        return prior + gammaln(shape) - shape * np.log(rate) - statistics[..., 2]

    def expected_parameters(self, statistics: Floats) -> Floats:
        shape, rate = self._posterior(statistics)
        return np.stack([-shape / rate, digamma(shape) - np.log(rate), -np.ones_like(rate)], axis=-1)

    def are_possible(self, statistics: Floats) -> Any:
        return (statistics >= 0).all(axis=-1)

    def unexplained_potential(self, statistics: Floats) -> Floats:
        return np.maximum(-self.log_evidence(statistics), 0.0)

    def counts(self, statistics: Floats) -> Floats:
        return statistics[..., 0]

    def predictive_mean(self, statistics: Floats, membership: Floats, design: Floats) -> Floats:
        shape, rate = self._posterior(statistics)
        return (shape / rate) @ membership

    def predictive(self, statistics: Floats, membership: Floats, design: Floats) -> Mixture:
        shape, rate = self._posterior(statistics)
        return Mixture(membership, NegativeBinomial(shape[:, None], rate[:, None]))

    def uncertainty(self, statistics: Floats, membership: Floats, design: Floats) -> Uncertainty:
        shape, rate = self._posterior(statistics[:, None])
        return Uncertainty.of_numbers(membership, shape / rate, shape / rate, shape / rate**2)

    def describe(self, statistics: Floats, names: Sequence[str], linear: Callable[[Floats], str]) -> str:
        shape, rate = self._posterior(statistics)
        return f"{names[0]} about {shape / rate:.3g}"


def _categorical(*prior: float) -> Case:
    return Case(DirichletCategorical(prior), lambda rng, n: rng.integers(len(prior), size=n))


def _normal(n_features: int = 2, *, spread: float = 1.0, **parameters: object) -> Case:
    family = NormalLinear(**parameters)
    return Case(family, lambda rng, n: family.center + spread * family.scale * rng.normal(size=n), n_features)


FAMILIES = {
    "two classes": _categorical(0.5, 0.5),
    "two classes, uneven prior": _categorical(1.0, 3.0),
    "three classes, small prior": _categorical(0.5, 0.05, 0.5),
    "seven classes": _categorical(*7 * [0.5]),
    "one class": _categorical(2.0),
    "four ordered classes": Case(ContinuationRatio(4), lambda rng, n: rng.integers(4, size=n)),
    "three classes, mixed prior": Case(MixedDirichlet(3), lambda rng, n: rng.integers(3, size=n)),
    "counts": Case(GammaPoisson(), lambda rng, n: rng.poisson(2.0, size=n)),
    "counts, other prior": Case(GammaPoisson(30.0, 0.2), lambda rng, n: rng.poisson(300.0, size=n)),
    "constant": _normal(),
    "constant, other prior": _normal(center=1e3, scale=1e-2, offset_precision=2.0, shape=1.5, rate=3.0),
    "constant, targets far from the prior": _normal(spread=30.0, rate=1e-3),
    "one slope": _normal(1, n_slopes=1),
    "three slopes, other units": _normal(3, n_slopes=3, center=-20.0, scale=50.0),
    "two slopes, one precision": _normal(2, n_slopes=2, slope_precisions=(0.5,)),
    "slopes along a basis": _normal(3, n_slopes=2, basis=[[0.6, 0.0], [0.8, 0.0], [0.0, 1.0]]),
}

needs_compiled = pytest.mark.skipif(not compiled.instruction_set, reason="the compiled core is not built here")

BACKENDS = [
    pytest.param(ArrayRows, id="NumPy"),
    pytest.param(NativeRows, id="compiled", marks=needs_compiled),
]
each_backend = pytest.mark.parametrize("rows_class", BACKENDS)


def strict_arrays() -> Any:
    """The namespace that holds code to the array API standard; a test is skipped where it cannot be used."""
    pytest.importorskip("sklearn.externals.array_api_compat")
    return pytest.importorskip("array_api_strict")


def examples(n: int) -> settings:
    """Settings of a property with this number of examples, or four times as many in `make test-thorough`."""
    return settings(max_examples=4 * n if settings.default.max_examples > 100 else n)


@st.composite
def trees(draw: st.DrawFn, *, min_splits: int = 0, max_splits: int = 8, n_features: int | None = None) -> Tree:
    """Random trees of random shape, grown leaf by leaf."""
    n_features = draw(st.integers(1, 3)) if n_features is None else n_features
    tree = single_leaf(n_features)
    for _ in range(draw(st.integers(min_splits, max_splits))):
        tree = split_leaf(tree, draw(st.integers(0, tree.n_leaves - 1)), draw(hyperplanes(n_features)))
    return tree


def draw_table(rng: np.random.Generator, n: int, n_columns: int, kind: str) -> tuple[Floats, Schema]:
    """Draw cells of n rows, and a schema that makes so many columns of them.

    The columns of a table of the kind "numbers" are numbers; with "gaps", cells of these are missing; "all sorts" has
    categories too, and columns that say where cells are missing.
    """
    source: list[int] = []
    code: list[int] = []
    sizes: list[int] = []
    while len(source) < n_columns:
        left = n_columns - len(source)
        sort = rng.choice(["number", "two", "three", "telling"]) if kind == "all sorts" else "number"
        codes = [NUMBER]
        if sort == "three" and left >= 3:
            codes = [0, 1, 2]
        elif sort == "two":
            codes = [1]
        elif sort == "telling" and left >= 2:
            codes = [NUMBER, MISSING]
        source += [len(sizes)] * len(codes)
        code += codes
        sizes.append(3 if codes == [0, 1, 2] else 2 if codes == [1] else 0)
    is_number = np.array(code) == NUMBER
    center, scale = rng.normal(size=n_columns), rng.uniform(0.5, 2, size=n_columns)
    for feature, size in enumerate(sizes):
        levels = np.flatnonzero((np.array(source) == feature) & ~is_number)
        if size == 3:
            center[levels] = rng.dirichlet(np.full(3, 2.0))
            scale[levels] = np.sqrt((center[levels] * (1 - center[levels])).sum())
        elif len(levels):
            center[levels] = rng.uniform(0.1, 0.9)
            scale[levels] = np.sqrt(center[levels] * (1 - center[levels]))
    low, high = np.where(is_number, -2.0, 0.0), np.where(is_number, 2.5, 1.0)
    categories = tuple(Category(tuple(range(size))) if size else None for size in sizes)
    names = tuple("abcdefghij"[: len(sizes)])
    schema = Schema(names, center, scale, low, high, np.array(source), np.array(code), categories)
    cells = [rng.integers(size, size=n).astype(float) if size else 1.5 * rng.normal(size=n) for size in sizes]
    X = np.column_stack(cells)
    if kind != "numbers":
        X[rng.uniform(size=X.shape) < rng.choice([0.05, 0.4])] = np.nan
        if rng.uniform() < 0.5:
            schema = schema.with_regressions(rng.normal(size=(20, 1)) + rng.normal(size=(20, len(sizes))), np.ones(20))
    return X, schema


TABLES = ["numbers", "gaps", "all sorts"]


def mixed_frame(n: int = 240, seed: int = 0, gaps: float = 0.15) -> tuple[Any, Integers]:
    """Ages, incomes, cities of uneven size and smokers, on all of which the class depends; some cells are missing."""
    import pandas as pd

    rng = np.random.default_rng(seed)
    city = rng.choice(["Oslo", "Rome", "Wien", "Bern"], size=n, p=[0.45, 0.3, 0.15, 0.1])
    age, smokes = rng.normal(40, 12, size=n).round(), rng.uniform(size=n) < 0.3
    income = 1000 + 40 * age + rng.normal(0, 300, size=n)
    activation = 0.1 * (age - 40) + 1.5 * smokes + np.select([city == "Rome", city == "Bern"], [2.0, -2.0], 0.0)
    y = (rng.uniform(size=n) < 1 / (1 + np.exp(-2 * activation))).astype(int)
    frame = pd.DataFrame({"age": age, "income": income, "city": city, "smokes": smokes})
    missing = rng.uniform(size=frame.shape) < gaps
    # A column of bools has no place for gaps.
    missing[:, 3] = False
    return frame.mask(pd.DataFrame(missing, columns=frame.columns)).astype({"smokes": bool}), y


def hyperplanes(n_features: int) -> st.SearchStrategy[list[float]]:
    """Offset and slopes of one split."""
    return st.lists(st.floats(-5, 5), min_size=n_features + 1, max_size=n_features + 1)


def code_blocks(page: str, language: str) -> list[str]:
    """The fenced blocks of a language on a page, given as a path in the repository."""
    text = (Path(__file__).resolve().parents[2] / page).read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```", text, flags=re.DOTALL | re.MULTILINE)


def assert_prints_what_is_shown(printed: str, shown: str) -> None:
    """Check that two texts are the same but for the last digits of numbers, which depend on how NumPy was built."""
    number = re.compile(r"\d+(?:\.\d+)?(?:e[+-]?\d+)?")
    assert number.sub("#", printed) == number.sub("#", shown)
    values, expected = ([float(digits) for digits in number.findall(text)] for text in (printed, shown))
    np.testing.assert_allclose(values, expected, rtol=0.05, atol=0.01)
