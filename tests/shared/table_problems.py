"""Random tables in all layouts, some of them seen from a leaf: what compiled code and NumPy are compared on."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from hypothesis import strategies as st

from asking import histogram_of, membership_sums, moments_of, pass_at, view_from
from bayesian_reticulum.data.schema import identity_schema
from bayesian_reticulum.families.dirichlet import DirichletCategorical
from bayesian_reticulum.families.protocol import Family
from bayesian_reticulum.tree import Shape, single_leaf, split_leaf
from plugins import FAMILIES, TABLES, draw_table, trees
from row_problems import SUMS

# Sums in float64, made in another order, agree to this part of their largest entry.
TOLERANCE = 1e-10


@dataclass
class TableProblem:
    """The arguments of rows, and those of the requests that they answer."""

    table: dict[str, Any]
    family: Family
    hyperplanes: Any
    shape: Shape
    statistics: Any
    directions: Any
    cuts: Any

    def rows(self, rows_class, **changes):
        table = self.table | changes
        seen = {name: table.pop(name) for name in ("chosen", "log_reach", "log_other") if name in table}
        weights, n = table.pop("weights"), len(table["X"])
        rows = rows_class.of_table(likelihood=self.family, weights=np.ones(n), **table)
        settings = {"threads": rows.threads} if hasattr(rows, "threads") else {}
        return rows_class(replace(rows.part, weights=weights, **seen), **settings)

    @property
    def edges(self):
        """Rounded numbers, away from any row."""
        return np.tile([-1.03, 0.011, 0.97], (len(self.directions), 1))

    def answers(self, rows, *, views=2):
        """The answers of rows to each request that is compiled, and those of views from two leaves."""
        both = [
            pass_at(rows, self.hyperplanes, self.shape, self.statistics, information=information)
            for information in (True, False)
        ]
        out = {
            "prior statistics": membership_sums(rows, self.hyperplanes, self.shape),
            "histogram": histogram_of(rows, self.directions, self.edges, self.cuts, self.statistics[0, 0]),
            **vars(moments_of(rows, self.statistics[0, 0])),
            **{name: getattr(both[0], name) for name in SUMS},
            **{f"{name} alone": getattr(both[1], name) for name in SUMS[:3]},
        }
        if rows.n_rows:
            out["quantiles"] = rows.quantiles(self.directions, np.array([0.0, 0.1, 0.5, 0.77, 1.0]))
        if views and self.shape.n_splits:
            for leaf in {0, self.shape.n_splits}:
                view = view_from(rows, self.hyperplanes[0], self.shape, self.statistics[0], leaf)
                out[f"rows in leaf {leaf}"] = np.array([view.n_rows])
                for name, answer in self.answers(view, views=views - 1).items():
                    out[f"{name} in leaf {leaf}"] = answer
        return out

    @property
    def precision(self):
        """Part of a sum that rounding may change, which grows with exponents."""
        table = self.table
        schema = table["schema"]
        design, _ = schema.filled(table["X"], schema.gaps(table["X"]))
        T = self.family.row_statistics(design, table["targets"])
        terms = (
            np.abs(self.family.expected_parameters(self.statistics)) @ np.abs(T).max(axis=0),
            np.abs(self.hyperplanes) @ np.abs(design).max(axis=1),
            np.abs(table.get("log_other", 0.0)),
        )
        return max(TOLERANCE, 64 * np.finfo(float).eps * sum(np.max(term, initial=0.0) for term in terms))


def assert_same_answers(one, other, precision=TOLERANCE):
    """Check that every sum differs by less than this part of the largest of its kind, or of one."""
    assert one.keys() == other.keys()
    for name, answer in one.items():
        atol = precision * np.abs(answer).max(initial=1.0)
        np.testing.assert_allclose(other[name], answer, rtol=0, atol=atol, err_msg=name)


def laid_out(X, layout):
    """The same cells, laid out in memory in another way."""
    if layout == "Fortran":
        return np.asfortranarray(X)
    if layout == "strided":
        wide = np.full((2 * X.shape[0], 3 * X.shape[1]), np.nan, dtype=X.dtype)
        wide[::2, ::3] = X
        return wide[::2, ::3]
    if layout == "backwards":
        return np.ascontiguousarray(X[::-1, ::-1])[::-1, ::-1]
    if layout == "records":
        records = np.zeros(len(X), dtype=[("mark", "i1"), ("cells", X.dtype, X.shape[1:])])
        records["cells"] = X
        return records["cells"]
    X = X.astype(X.dtype.newbyteorder()) if layout == "other byte order" else X.copy()
    X.flags.writeable = layout != "read-only"
    return X


LAYOUTS = ["C", "Fortran", "strided", "backwards", "records", "other byte order", "read-only"]


@st.composite
def table_problems(draw, *, case=None):
    """Random trees and tables in all layouts; some with a choice of rows, some seen from a leaf."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    if case is None:
        prior = draw(st.sampled_from([1e-3, 0.05, 0.5, 2.0]))
        case = FAMILIES["two classes"]
        k = draw(st.sampled_from([1, 2, 3, 4, 9, 40]))
        family, targets = DirichletCategorical((prior,) * k), lambda n: rng.integers(k, size=n)
    else:
        family, targets = case.family, lambda n: case.draw_targets(rng, n)
    n_features = case.n_features if family.uses_design else None
    tree = draw(trees(max_splits=5, n_features=n_features))
    n, c, d = draw(st.integers(1, 60)), draw(st.integers(1, 5)), tree.n_features
    size = draw(st.sampled_from([0.1, 1.0, 1.0, 30.0, 1e3, 1e6]))
    X, schema = draw_table(rng, n, d, draw(st.sampled_from(TABLES)))
    X = X.astype(draw(st.sampled_from([np.float64, np.float32])))
    y = targets(n)
    table = {
        "X": laid_out(X, draw(st.sampled_from(LAYOUTS))),
        "targets": y,
        "weights": rng.uniform(0.2, 3, size=n),
        "schema": schema,
        "tail": rng.uniform(0.1, 1, size=draw(st.integers(0, d - 1))),
    }
    # Each leaf holds some rows, and a few leaves none, so that a small prior all but rules classes out.
    T = family.row_statistics(schema.filled(X, schema.gaps(X))[0], y)
    shares = rng.dirichlet(np.full(tree.n_leaves, 0.3), size=(c, n)) * (rng.uniform(size=(c, 1, tree.n_leaves)) < 0.8)
    statistics = np.einsum("cnl,nk->clk", shares, T)
    if draw(st.booleans()):
        chosen = np.flatnonzero(rng.uniform(size=n) < 0.7)
        table |= {"chosen": chosen, "weights": table["weights"][chosen]}
    if draw(st.booleans()):
        seen = len(table["weights"])
        table["log_reach"] = rng.choice([0.0, -1e-9, -0.5, -30.0, -800.0], size=seen)
        table["log_other"] = rng.choice(draw(st.sampled_from([[-3.0], [-1e6, -800.0, -3.0, 0.0, 500.0]])), size=seen)
    width = d + 1
    others = size * rng.normal(size=(c - 1, tree.n_splits, width))
    directions = rng.normal(size=(draw(st.integers(1, 5)), width))
    return TableProblem(
        table=table,
        family=family,
        hyperplanes=np.concatenate([size * tree.hyperplanes[None], others]),
        shape=tree.shape,
        statistics=statistics,
        directions=directions,
        cuts=rng.normal(size=(draw(st.integers(1, 9)), width)),
    )


def large_problem(family, targets, n):
    """Rows enough for many threads, and a tree of seven splits."""
    rng = np.random.default_rng(0)
    tree = single_leaf(3)
    for leaf in (0, 1, 0, 3, 2, 1, 4):
        tree = split_leaf(tree, leaf, rng.normal(size=4))
    X = rng.normal(size=(n, 3))
    table = {"X": X, "targets": targets(rng, n), "weights": rng.uniform(0.2, 3, size=n), "schema": identity_schema(3)}
    T = family.row_statistics(np.concatenate([np.ones((1, n)), X.T]), table["targets"])
    statistics = np.stack([T[leaf :: tree.n_leaves].sum(axis=0) for leaf in range(tree.n_leaves)])
    stack = np.stack([tree.hyperplanes, rng.normal(size=tree.hyperplanes.shape)])
    directions, cuts = rng.normal(size=(3, 4)), rng.normal(size=(2, 4))
    return TableProblem(table, family, stack, tree.shape, np.stack([statistics, statistics]), directions, cuts)
