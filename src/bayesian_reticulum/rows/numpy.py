"""Rows in memory whose sums NumPy makes, block by block."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, Self, cast

import numpy as np

from ..arrays import Floats, Integers, unpack_symmetric
from ..data import Gaps, Rotation, Schema, identity_schema, weighted_quantiles
from ..families import Family, LinearFamily, residuals, row_statistics
from ..gates import GateProducts, backpropagate, compute_gates, gap_softening, gate_products, log_sum_below, sum_below
from ..tree import Shape
from .gap_sums import GapSums
from .histogram import bin_indicators, threshold_gains
from .information import add_information, curvatures
from .limits import DEFAULT_LIMITS, Limits
from .protocol import Moments, Pass, scan_family
from .sampling import Keys, row_keys, sampled_places


class NumpyRows:
    """Rows in memory, worked through in blocks with NumPy: the reference for all other Rows.

    Parameters
    ----------
    X : array of shape (n, d)
        Numeric columns in the units of the table, NaN where a cell is missing; never copied.
    targets : array of shape (n,)
        In the form that the family reads.
    family : Family
    weights : ndarray of shape (n,)
        Positive row weights.
    schema : Schema
        Turns blocks of X into the columns that hyperplanes are written for.
    axes : ndarray of shape (D, d), optional
        Directions that stand for one feature each; by default the columns themselves.
    tail : ndarray, optional
        Variances of the last columns, if these are uncorrelated with all others and too many for their information to
        be a matrix.
    limits : Limits, optional
        Sizes at which the rows change how they work.

    Notes
    -----
    A *view* from a leaf sees the rows `_chosen` of the table, the log membership of each in the leaf (`_log_reach`),
    and how likely all other leaves together make its target (`_log_other`, the log of the sum over them of membership
    times likelihood). A *sample* is a choice of rows alone. Both share with their table what is made once (`_shared`).
    """

    def __init__(
        self,
        X: Any,
        targets: Any,
        family: Family,
        weights: Floats,
        schema: Schema,
        *,
        axes: Floats | None = None,
        tail: Floats | None = None,
        limits: Limits = DEFAULT_LIMITS,
        _gaps: Gaps | None = None,
        _chosen: Integers | None = None,
        _log_reach: Floats | None = None,
        _log_other: Floats | None = None,
        _shared: dict[str, Any] | None = None,
        _sampled_share: float = 1.0,
    ) -> None:
        self.family = family
        self.axes = np.eye(schema.n_columns) if axes is None else axes
        self.tail = np.empty(0) if tail is None else tail
        self._X, self._targets, self._schema = X, targets, schema
        self._weights, self._limits = weights, limits
        self._shared = {} if _shared is None else _shared
        self._gaps = schema.gaps(X) if _shared is None and _gaps is None else _gaps
        self._chosen, self._log_reach, self._log_other = _chosen, _log_reach, _log_other
        # Weights, each as far as the row is in view.
        self._mass = weights if _log_reach is None else weights * np.exp(_log_reach)
        self._n = len(X) if _chosen is None else len(_chosen)
        self._kept: tuple[Floats, Floats, Floats | None] | None = None
        # The share of the table that these rows are a sample of.
        self._sampled_share = _sampled_share

    @property
    def n_features(self) -> int:
        return self._schema.n_columns

    @property
    def n_rows(self) -> int:
        return self._n

    @property
    def weight(self) -> float:
        return float(self._mass.sum())

    @property
    def _order(self) -> Integers | None:
        """An order of the rows by their content alone; None where they are summed as they come."""
        return None

    def _read(self, start: int, stop: int) -> tuple[Floats, Floats, Floats | None]:
        """Design, statistics, and the share of variance that each gap leaves open; None if no cell is missing."""
        part: Any = slice(start, stop) if self._chosen is None else self._chosen[start:stop]
        design, missing = self._schema.filled(self._X[part], self._gaps)
        return design, row_statistics(self.family, design, self._targets[part]), missing

    def _targets_of(self, part: slice) -> Any:
        return self._targets[part if self._chosen is None else self._chosen[part]]

    def _blocks(self, floats_per_row: int) -> Iterator[tuple[slice, Floats, Floats, Floats | None]]:
        """Blocks (rows, design, T, gaps or None) so small that `floats_per_row` scratch floats each stay in cache."""
        limits = self._limits
        size = max(limits.fewest_block_rows, min(limits.most_block_rows, limits.block_floats // floats_per_row))
        starts = range(0, self._n, size)
        parts = [slice(start, min(start + size, self._n)) for start in starts]
        if self._kept is None and self._n * (self._width + self.family.n_statistics) * 8 <= limits.kept_bytes:
            self._kept = self._read(0, self._n)
        for part in parts:
            if self._kept is not None:
                design, T, missing = self._kept
                yield part, design[:, part], T[part], None if missing is None else missing[:, part]
            else:
                yield part, *self._read(part.start, part.stop)

    @property
    def _width(self) -> int:
        """Numbers that are made of the cells of a row: its design, and the share that each gap leaves open."""
        return self.n_features + 1 + (0 if self._gaps is None else len(self._gaps.sources))

    def _softening(self, hyperplanes: Floats, missing: Floats | None) -> Floats | None:
        """Factor by which gaps soften the activations of a stack of trees; None where no cell is missing."""
        return gap_softening(self._gaps, hyperplanes, missing)

    def pass_(self, hyperplanes: Floats, shape: Shape, statistics: Floats, *, information: bool = False) -> Pass:
        c, m, width = hyperplanes.shape
        leaves, k = m + 1, self.family.n_statistics
        expected = self.family.expected_parameters(statistics)
        parameters = expected.reshape(c * leaves, k)
        log_normalizer = np.zeros(c)
        new_statistics = np.zeros((c, leaves, k))
        gradient = np.zeros((c, m, width))
        lead = width - len(self.tail)
        packed = np.zeros((2, c * m, lead * (lead + 1) // 2)) if information else None
        summed = np.zeros((2, c, m))
        by_gap = None if self._gaps is None or m == 0 else GapSums(self._gaps, hyperplanes, information)
        for part, design, T, missing in self._blocks(6 * c * leaves):
            weights = self._weights[part]
            n = len(weights)
            soft = self._softening(hyperplanes, missing)
            activation, gate, joint = compute_gates(hyperplanes, shape, design, soft)
            joint += (parameters @ T.T).reshape(c, leaves, n)
            responsibility, log_total = self._normalise(joint, part)
            log_normalizer += log_total @ weights
            responsibility *= weights
            new_statistics += (responsibility.reshape(c * leaves, n) @ T).reshape(c, leaves, k)
            left, reached = sum_below(shape, responsibility)
            slope = left - reached * gate
            curvature = None if packed is None else curvatures(left, reached, gate, slope, weights)
            if by_gap is not None and soft is not None and missing is not None:
                by_gap.add(design, missing, activation, soft, slope, curvature)
                slope *= soft
                if curvature is not None:
                    curvature *= soft**2
            gradient += (slope.reshape(c * m, n) @ design.T).reshape(c, m, width)
            if packed is not None and curvature is not None:
                summed += curvature.sum(axis=-1)
                add_information(packed, design[:lead], curvature.reshape(2 * c * m, n), self._limits)
        if by_gap is not None:
            gradient[..., 1:] += by_gap.gradient()
        if packed is None:
            return Pass(expected, log_normalizer, new_statistics, gradient)
        information_matrices = unpack_symmetric(packed, lead).reshape(2, c, m, lead, lead)
        if by_gap is not None:
            information_matrices += by_gap.information()[..., :lead, :lead]
        if len(self.tail):
            information_matrices = np.pad(information_matrices, [(0, 0)] * 3 + [(0, 1)] * 2)
            information_matrices[..., -1, -1] = summed
        return Pass(expected, log_normalizer, new_statistics, gradient, *information_matrices)

    def _normalise(self, joint: Floats, part: slice) -> tuple[Floats, Floats]:
        """Turn log joints (c, leaves, n) of membership and likelihood into responsibilities, and log their sums (c, n).

        The responsibilities take the place of the joints.
        """
        if self._log_reach is not None:
            joint += self._log_reach[part]
        top = joint.max(axis=1, keepdims=True)
        if self._log_other is not None:
            np.maximum(top, self._log_other[part], out=top)
        joint -= top
        np.exp(joint, out=joint)
        total = joint.sum(axis=1, keepdims=True)
        if self._log_other is not None:
            total += np.exp(self._log_other[part] - top)
        joint /= total
        return joint, np.log(total[:, 0]) + top[:, 0]

    def _memberships(self, hyperplanes: Floats, shape: Shape) -> Iterator[tuple[slice, Floats, Floats, GateProducts]]:
        """Blocks (rows, design, T, products of gates); the next block overwrites the products."""
        c, m, _ = hyperplanes.shape
        scratch = np.empty((0, 0, 0))
        for part, design, T, missing in self._blocks(c * (m + 1)):
            if scratch.shape[-1] != len(T):
                scratch = np.empty((4 * m + 1, c, len(T)))
            soft = self._softening(hyperplanes, missing)
            yield part, design, T, gate_products(hyperplanes, shape, design, scratch, soft)

    def prior_statistics(self, hyperplanes: Floats, shape: Shape) -> Floats:
        c, leaves = len(hyperplanes), shape.n_leaves
        out = np.zeros((leaves * c, self.family.n_statistics))
        for part, _, T, products in self._memberships(hyperplanes, shape):
            out += products.membership.reshape(leaves * c, -1) @ (T * self._mass[part, None])
        return out.reshape(leaves, c, -1).transpose(1, 0, 2)

    def bound_pass(self, hyperplanes: Floats, shape: Shape) -> tuple[Floats, Floats]:
        if self._gaps is not None:
            raise ValueError("the paper's method has no place for missing cells")
        c, m, width = hyperplanes.shape
        # The gradient needs the leaf statistics of these hyperplanes, so that rows are read twice.
        statistics = self.prior_statistics(hyperplanes, shape)
        expected = self.family.expected_parameters(statistics).transpose(1, 0, 2).reshape((m + 1) * c, -1)
        gradient = np.zeros((m * c, width))
        for part, design, T, products in self._memberships(hyperplanes, shape):
            value = (expected @ T.T).reshape(m + 1, c, -1)
            slope = backpropagate(products, shape, value)
            gradient += slope.reshape(m * c, len(T)) @ (design * self._mass[part]).T
        return statistics, gradient.reshape(m, c, width).transpose(1, 0, 2)

    def _places_in_table(self, places: Integers) -> Integers:
        """Places in the table of rows given by their places in this view."""
        return places if self._chosen is None else self._chosen[places]

    def _replaced(self, **changes: Any) -> Self:
        """Make rows of the same table with other arguments; a choice of rows and a view are not kept."""
        same = {
            "X": self._X,
            "targets": self._targets,
            "family": self.family,
            "weights": self._weights,
            "schema": self._schema,
            "axes": self.axes,
            "tail": self.tail,
            "limits": self._limits,
            "_gaps": self._gaps,
            "_shared": {} if "X" in changes else self._shared,
            "_sampled_share": self._sampled_share,
        }
        return type(self)(**(same | changes))

    def reaching(self, hyperplanes: Floats, shape: Shape, leaf: int, *, hard: bool) -> Self:
        membership = np.empty(self._n)
        for part, _, _, products in self._memberships(hyperplanes[None], shape):
            membership[part] = products.membership[leaf, 0]
        seen = np.flatnonzero(membership > (0.5 if hard else 0.0))
        if hard and not len(seen):
            return self
        weights = self._mass[seen] if hard else self._mass[seen] * membership[seen]
        return self._replaced(weights=weights, _chosen=self._places_in_table(seen))

    def moments(self, statistics: Floats) -> Moments:
        width = self.n_features + 1
        second = np.zeros((width, width))
        cross: Any = 0.0
        size: Any = 0.0
        for part, design, T, _ in self._blocks(2 * width):
            weighted = design * self._mass[part]
            varying = self._varying(part, design, T, statistics)
            second += weighted @ design.T
            cross = cross + varying @ weighted.T
            size = size + np.abs(varying) @ self._mass[part]
        return Moments(second, cross, size)

    def _varying(self, part: slice, design: Floats, T: Floats, statistics: Floats) -> Floats:
        """Quantities whose products with (1, x) are the `cross` of `Moments`, (q, n)."""
        if not self.family.uses_design:
            return T.T
        residual = residuals(self.family, design, self._targets_of(part), statistics)[:, 0]
        return np.concatenate([residual * design, residual[None] ** 2])

    def quantiles(self, directions: Floats, probabilities: Floats) -> Floats:
        # A few directions at a time, as the values of all rows along them are held at once.
        step = max(1, self._limits.quantile_floats // max(self._n, 1))
        parts = [directions[start : start + step] for start in range(0, len(directions), step)]
        return np.concatenate([self._few_quantiles(part, probabilities) for part in parts])

    def _few_quantiles(self, directions: Floats, probabilities: Floats) -> Floats:
        values = np.empty((self._n, len(directions)))
        for part, design, *_ in self._blocks(len(directions)):
            values[part] = (directions @ design).T
        return weighted_quantiles(values, self._mass, probabilities)

    def histogram(self, directions: Floats, edges: Floats, cuts: Floats, statistics: Floats) -> Floats:
        k, groups = scan_family(self.family).n_statistics, 2 * len(cuts)
        out = np.zeros((len(directions), edges.shape[1] + 1, groups * k))
        for part, design, T, _ in self._blocks(len(directions) + groups * k):
            left = (cuts @ design > 0).T
            sides = np.stack([left, ~left], axis=2).reshape(len(T), groups, 1) * self._mass[part, None, None]
            for along, scanned in self._scanned(part, directions, design, T, statistics):
                indicators = bin_indicators(directions[along], edges[along], design)
                sums = indicators.T @ (sides * scanned[:, None]).reshape(len(T), -1)
                out[along] += sums.reshape(out[along].shape)
        return out.reshape(len(directions), -1, len(cuts), 2, k).transpose(2, 3, 0, 1, 4)

    def scan(self, directions: Floats, edges: Floats, cuts: Floats, statistics: Floats) -> Floats:
        return threshold_gains(scan_family(self.family), self.histogram(directions, edges, cuts, statistics))

    def _scanned(
        self, part: slice, directions: Floats, design: Floats, T: Floats, statistics: Floats
    ) -> Iterator[tuple[slice, Floats]]:
        """Directions with the row statistics of a scan along them: all at once or, for linear leaves, one by one."""
        family = self.family
        if not family.uses_design:
            yield slice(None), T
            return
        scanned = cast("LinearFamily", family).scan_family
        differences = residuals(family, design, self._targets_of(part), statistics)
        for index, values in enumerate(directions @ design):
            columns = np.stack([design[0], values])
            yield slice(index, index + 1), scanned.row_statistics(columns, differences)

    def within(self, hyperplanes: Floats, shape: Shape, statistics: Floats, leaf: int) -> Self:
        return next(self.views(hyperplanes, shape, statistics, [leaf]))

    def views(
        self, hyperplanes: Floats, shape: Shape, statistics: Floats, leaves: Sequence[int] | Integers
    ) -> Iterator[Self]:
        if shape.n_splits == 0:
            yield from (self for _ in leaves)
            return
        at_once = self._limits.views_at_once
        for start in range(0, len(leaves), at_once):
            part = np.asarray(leaves[start : start + at_once], dtype=np.int64)
            contents = self._view_contents(hyperplanes, shape, statistics, part)[::-1]
            while contents:
                # Popped, so that the arrays of a view are freed with it.
                places, log_reach, log_other = contents.pop()
                yield self._replaced(
                    weights=self._weights[places],
                    _chosen=self._places_in_table(places),
                    _log_reach=log_reach,
                    _log_other=log_other,
                )

    def _view_contents(
        self, hyperplanes: Floats, shape: Shape, statistics: Floats, leaves: Integers
    ) -> list[tuple[Integers, Floats, Floats]]:
        """For the view from each leaf: places of its rows, their log membership, and the log joint of other leaves."""
        expected = self.family.expected_parameters(statistics)
        no_rows = np.empty(0, dtype=np.int64), np.empty(0), np.empty(0)
        contents: list[list[tuple[Integers, Floats, Floats]]] = [[no_rows] for _ in leaves]
        for part, design, T, missing in self._blocks(6 * shape.n_leaves):
            soft = self._softening(hyperplanes[None], missing)
            log_reach = compute_gates(hyperplanes[None], shape, design, soft).log_membership[0]
            if self._log_reach is not None:
                log_reach += self._log_reach[part]
            joint = log_reach + expected @ T.T
            outside = np.full(len(T), -np.inf) if self._log_other is None else self._log_other[part]
            # Sums from either side leave a leaf out; subtracting it from the whole would cost digits.
            before = np.logaddexp.accumulate([outside, *joint])
            after = np.logaddexp.accumulate([np.full(len(T), -np.inf), *joint[::-1]])[::-1]
            for parts, leaf in zip(contents, leaves, strict=True):
                log_other = np.logaddexp(before[leaf], after[leaf + 1])
                share = np.maximum(log_reach[leaf], joint[leaf] - np.logaddexp(joint[leaf], log_other))
                kept = np.flatnonzero(share > self._log_negligible)
                parts.append((part.start + kept, log_reach[leaf, kept], log_other[kept]))
        return [
            cast("tuple[Integers, Floats, Floats]", tuple(map(np.concatenate, zip(*parts, strict=True))))
            for parts in contents
        ]

    @property
    def _log_negligible(self) -> float:
        with np.errstate(divide="ignore"):
            return float(np.log(self._limits.negligible_share))

    def likelihoods_below(self, hyperplanes: Floats, shape: Shape, statistics: Floats) -> tuple[Floats, Floats]:
        expected = self.family.expected_parameters(statistics)
        sums, new_statistics = np.zeros(shape.n_splits), np.zeros(statistics.shape)
        for part, design, T, missing in self._blocks(8 * shape.n_leaves):
            soft = self._softening(hyperplanes[None], missing)
            log_membership = compute_gates(hyperplanes[None], shape, design, soft).log_membership[0]
            joint = log_membership + expected @ T.T
            log_reach, below = log_sum_below(shape, log_membership), log_sum_below(shape, joint)
            log_total = np.logaddexp.reduce(joint, axis=0)
            if self._log_reach is not None and self._log_other is not None:
                log_total = np.logaddexp(log_total, self._log_other[part] - self._log_reach[part])
            weights = self._weights[part]
            sums += (weights * np.exp(below - log_total) * (below - log_reach)).sum(axis=1)
            new_statistics += (weights * np.exp(joint - log_total)) @ T
        return sums, new_statistics

    def grey_shares(self, hyperplanes: Floats, shape: Shape, low: float, high: float) -> Floats:
        grey, reaching = np.zeros((2, shape.n_splits))
        below = (shape.sides != 0).astype(np.float64)
        for part, design, _, missing in self._blocks(6 * shape.n_leaves):
            soft = self._softening(hyperplanes[None], missing)
            _, gate, log_membership = compute_gates(hyperplanes[None], shape, design, soft)
            reach = (below @ np.exp(log_membership[0])) * self._mass[part]
            grey += (reach * ((gate[0] > low) & (gate[0] < high))).sum(axis=1)
            reaching += reach.sum(axis=1)
        # The share is 0 for a split that no row reaches.
        return grey / np.maximum(reaching, np.finfo(float).tiny)

    def sampled(self, size: int) -> Self:
        if self._n <= 2 * size:
            return self
        keys = self._keys if self._chosen is None else self._keys[self._chosen]
        share = self._sampled_share * size / self._n
        places = sampled_places(keys, size, share)
        return self if places is None else self._at(places, _sampled_share=share)

    def _at(self, places: Integers, **changes: Any) -> Self:
        """Rows by their places in this view, in the given order."""
        parts = {"_log_reach": self._log_reach, "_log_other": self._log_other}
        views = {name: part[places] for name, part in parts.items() if part is not None}
        return self._replaced(weights=self._weights[places], _chosen=self._places_in_table(places), **views, **changes)

    def arranged(self, hyperplanes: Floats, shape: Shape) -> Self:
        return self

    @property
    def _keys(self) -> Keys:
        """The key of each row of the table."""
        if "keys" not in self._shared:
            self._shared["keys"] = row_keys(self._X, self._targets)
        keys: Keys = self._shared["keys"]
        return keys

    def with_covariance_inverse(self) -> Schema:
        """The schema of the rows with the inverse covariance of their columns."""
        cells = self._X if self._chosen is None else self._X[self._chosen]
        return self._schema.with_covariance_inverse(cells, self._mass)

    def with_schema(self, schema: Schema) -> Self:
        """The same rows with columns made by another schema; for a whole table only, not for a view or a sample."""
        return self._replaced(schema=schema)

    def restricted(self, columns: Integers) -> Self | None:
        """The same rows with some of their columns; None where rows depend on the others, too.

        They do where leaves are linear in the columns, and where missing cells are filled from the rest of their row.
        """
        if self.family.uses_design or (self._gaps is not None and self._schema.covariance_inverse is not None):
            return None
        schema = self._schema.restricted(columns)
        gaps = None if self._gaps is None else schema.gaps_in(self._gaps.sources)
        return self._replaced(schema=schema, axes=None, _gaps=gaps, _chosen=self._chosen)

    def with_family(self, family: Family) -> Self:
        """The same rows with leaves of another family."""
        if family is self.family:
            return self
        return self._replaced(
            family=family, _chosen=self._chosen, _log_reach=self._log_reach, _log_other=self._log_other
        )

    def rotated(self, n_leading: int) -> tuple[Self, Floats]:
        """The rows along their principal axes, for wide tables, and the basis (d, rank) of these axes.

        Axes beyond the first `n_leading` make up the `tail`.
        """
        centred = self._schema.filled(self._X, self._gaps)[0][1:].T
        rotation = Rotation.to_principal_axes(centred, self._weights, n_leading, self._order)
        basis, columns = rotation.basis, centred @ rotation.basis
        rank = columns.shape[1]
        gaps = self._gaps
        if gaps is not None:
            # Cells that may be missing stay in view behind the columns that splits work on.
            columns = np.column_stack([columns, np.asarray(self._X, dtype=np.float64)[:, gaps.sources]])
            gaps = replace(gaps.along(basis), sources=rank + np.arange(len(gaps.sources)))
        schema = identity_schema(rank, columns.shape[1])
        return self._replaced(X=columns, schema=schema, axes=basis, tail=rotation.tail, _gaps=gaps), basis
