"""Rows in memory whose sums NumPy makes, block by block."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, Self, cast

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ..arrays import Floats, Integers, unpack_symmetric
from ..data import Gaps, Schema, identity_schema, weighted_quantiles
from ..families import Family, LinearFamily
from ..gates import GateProducts, backpropagate, compute_gates, gap_softening, gate_products, log_sum_below, sum_below
from ..tree import Shape
from .gap_sums import GapSums
from .protocol import Moments, Pass, scan_family

# Scratch arrays of one block should stay in a core's second-level cache.
_BLOCK_FLOATS = 1 << 17
# Standardised columns are kept between passes while they are small, and made anew block by block otherwise.
KEPT_BYTES = 48 << 20
# Up to this width the products of all pairs of columns are formed once and shared by all splits.
_WIDEST_PRODUCTS = 64
_PRODUCT_FLOATS = 1 << 19
# Columns up to which the information of a split is a whole matrix, and what is missing is told from the rest of a row.
# Beyond, information is a matrix for so many principal axes alone.
FULL_HESSIAN_COLUMNS, LEADING_AXES = 256, 128
# Values along directions that may be held at once for their quantiles.
QUANTILE_FLOATS = 1 << 21
# Views of leaves that are made from one reading of the rows: all of them may together hold more than the rows do.
_VIEWS_AT_ONCE = 16
# A row of which a leaf holds less than this share cannot turn a proposal below that leaf.
_NEGLIGIBLE_SHARE = 1e-3


class NumpyRows:
    """Rows in memory, worked through in blocks with NumPy: the reference for all other Rows.

    Parameters
    ----------
    X : array of shape (n, d)
        Numeric columns in their own units, NaN where a cell is missing; never copied.
    targets : array of shape (n,)
        As the family wants them.
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
        _gaps: Gaps | None = None,
        _chosen: Integers | None = None,
        _log_reach: Floats | None = None,
        _log_other: Floats | None = None,
        _shared: dict[str, Any] | None = None,
        _taken_share: float = 1.0,
    ) -> None:
        self.family = family
        self.axes = np.eye(schema.n_columns) if axes is None else axes
        self.tail = np.empty(0) if tail is None else tail
        self._X, self._targets, self._schema = X, targets, schema
        self._weights = weights
        # What all views of one table need but once.
        self._shared = {} if _shared is None else _shared
        self._gaps = schema.gaps(X) if _shared is None and _gaps is None else _gaps
        # A view from a leaf: which rows it sees, the log membership in it, and what the other leaves
        # together say of the row, as the log of membership times likelihood.
        self._chosen, self._log_reach, self._log_other = _chosen, _log_reach, _log_other
        self._mass = weights if _log_reach is None else weights * np.exp(_log_reach)
        self._n = len(X) if _chosen is None else len(_chosen)
        self._kept: tuple[Floats, Floats, Floats | None] | None = None
        # The share of the table that this is a sample of.
        self._taken_share = _taken_share

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
        """An order of the rows that depends on what they hold alone; None where they are taken as they come."""
        return None

    def _read(self, start: int, stop: int) -> tuple[Floats, Floats, Floats | None]:
        """Design, statistics, and what gaps leave open, if there are any."""
        part: Any = slice(start, stop) if self._chosen is None else self._chosen[start:stop]
        design, missing = self._schema.filled(self._X[part], self._gaps)
        return design, self.family.row_statistics(design, self._targets[part]), missing

    def _targets_of(self, part: slice) -> Any:
        return self._targets[part if self._chosen is None else self._chosen[part]]

    def _blocks(self, floats_per_row: int) -> Iterator[tuple[slice, Floats, Floats, Floats | None]]:
        """Blocks (rows, design, T, gaps or None) so small that `floats_per_row` scratch floats each stay in cache."""
        size = max(64, min(4096, _BLOCK_FLOATS // floats_per_row))
        starts = range(0, self._n, size)
        parts = [slice(start, min(start + size, self._n)) for start in starts]
        if self._kept is None and self._n * (self._width + self.family.n_statistics) * 8 <= KEPT_BYTES:
            self._kept = self._read(0, self._n)
        for part in parts:
            if self._kept is not None:
                design, T, missing = self._kept
                yield part, design[:, part], T[part], None if missing is None else missing[:, part]
            else:
                yield part, *self._read(part.start, part.stop)

    @property
    def _width(self) -> int:
        """Numbers that are made of the cells of a row: its design, and what gaps leave open."""
        return self.n_features + 1 + (0 if self._gaps is None else len(self._gaps.sources))

    def _softening(self, hyperplanes: Floats, missing: Floats | None) -> Floats | None:
        """How gaps soften the gates of a stack of trees; None where there are no gaps."""
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
            curvature = None
            if packed is not None:
                complete = reached * gate * (1 - gate)
                share = slope / weights
                observed = complete - left * (1 - gate - share) + gate * slope * (1 - reached / weights)
                curvature = np.stack([observed, complete])
            if by_gap is not None and soft is not None and missing is not None:
                by_gap.add(design, missing, activation, soft, slope, curvature)
                slope *= soft
                if curvature is not None:
                    curvature *= soft**2
            gradient += (slope.reshape(c * m, n) @ design.T).reshape(c, m, width)
            if packed is not None and curvature is not None:
                summed += curvature.sum(axis=-1)
                _add_information(packed, design[:lead], curvature.reshape(2 * c * m, n))
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
        """Responsibilities (in place) and log sums of log joints (c, leaves, n) of membership and likelihood."""
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
        """Blocks (rows, design, T, products of gates), each good until the next one."""
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
        # The gradient needs the leaves as they are at these hyperplanes, so that rows are gone through twice.
        statistics = self.prior_statistics(hyperplanes, shape)
        expected = self.family.expected_parameters(statistics).transpose(1, 0, 2).reshape((m + 1) * c, -1)
        gradient = np.zeros((m * c, width))
        for part, design, T, products in self._memberships(hyperplanes, shape):
            value = (expected @ T.T).reshape(m + 1, c, -1)
            slope = backpropagate(products, shape, value)
            gradient += slope.reshape(m * c, len(T)) @ (design * self._mass[part]).T
        return statistics, gradient.reshape(m, c, width).transpose(1, 0, 2)

    def _chosen_of(self, seen: Integers) -> Integers:
        return seen if self._chosen is None else self._chosen[seen]

    def _like(self, **changes: Any) -> Self:
        """Rows of the same table, seen in another way."""
        same = {
            "X": self._X,
            "targets": self._targets,
            "family": self.family,
            "weights": self._weights,
            "schema": self._schema,
            "axes": self.axes,
            "tail": self.tail,
            "_gaps": self._gaps,
            "_shared": {} if "X" in changes else self._shared,
            "_taken_share": self._taken_share,
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
        return self._like(weights=weights, _chosen=self._chosen_of(seen))

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
        """What may vary along a good direction, as `Moments` tells: (q, n)."""
        if not self.family.uses_design:
            return T.T
        residual = cast("LinearFamily", self.family).residuals(design, self._targets_of(part), statistics)[:, 0]
        return np.concatenate([residual * design, residual[None] ** 2])

    def quantiles(self, directions: Floats, probabilities: Floats) -> Floats:
        # A few directions at a time: their values are all that is ever kept for each row.
        step = max(1, QUANTILE_FLOATS // max(self._n, 1))
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
            for along, own in self._scanned(part, directions, design, T, statistics):
                sums = _bins(directions[along], edges[along], design).T @ (sides * own[:, None]).reshape(len(T), -1)
                out[along] += sums.reshape(out[along].shape)
        return out.reshape(len(directions), -1, len(cuts), 2, k).transpose(2, 3, 0, 1, 4)

    def scan(self, directions: Floats, edges: Floats, cuts: Floats, statistics: Floats) -> Floats:
        histogram = self.histogram(directions, edges, cuts, statistics)
        below = histogram.cumsum(axis=-2)
        above = np.flip(np.flip(histogram, axis=-2).cumsum(axis=-2), axis=-2)
        log_evidence = scan_family(self.family).log_evidence
        parted = log_evidence(below[..., :-1, :]) + log_evidence(above[..., 1:, :])
        return parted - log_evidence(below[..., -1:, :])

    def _scanned(
        self, part: slice, directions: Floats, design: Floats, T: Floats, statistics: Floats
    ) -> Iterator[tuple[slice, Floats]]:
        """Directions with the statistics that a scan along them needs: the same for all, or for each its own."""
        family = self.family
        if not family.uses_design:
            yield slice(None), T
            return
        linear = cast("LinearFamily", family)
        scanned, residuals = linear.scan_family, linear.residuals(design, self._targets_of(part), statistics)
        for index, values in enumerate(directions @ design):
            columns = np.stack([design[0], values])
            yield slice(index, index + 1), scanned.row_statistics(columns, residuals)

    def within(self, hyperplanes: Floats, shape: Shape, statistics: Floats, leaf: int) -> Self:
        return next(self.views(hyperplanes, shape, statistics, [leaf]))

    def views(
        self, hyperplanes: Floats, shape: Shape, statistics: Floats, leaves: Sequence[int] | Integers
    ) -> Iterator[Self]:
        if shape.n_splits == 0:
            yield from (self for _ in leaves)
            return
        for start in range(0, len(leaves), _VIEWS_AT_ONCE):
            part = np.asarray(leaves[start : start + _VIEWS_AT_ONCE], dtype=np.int64)
            found = self._seen(hyperplanes, shape, statistics, part)[::-1]
            while found:
                # What was found of a leaf is let go with its view.
                seen, log_reach, log_other = found.pop()
                yield self._like(
                    weights=self._weights[seen],
                    _chosen=self._chosen_of(seen),
                    _log_reach=log_reach,
                    _log_other=log_other,
                )

    def _seen(
        self, hyperplanes: Floats, shape: Shape, statistics: Floats, leaves: Integers
    ) -> list[tuple[Integers, Floats, Floats]]:
        """For each of some leaves: which rows it sees, their log membership, and what all other leaves say of them."""
        expected = self.family.expected_parameters(statistics)
        none = np.empty(0, dtype=np.int64), np.empty(0), np.empty(0)
        parts: list[list[tuple[Integers, Floats, Floats]]] = [[none] for _ in leaves]
        for part, design, T, missing in self._blocks(6 * shape.n_leaves):
            soft = self._softening(hyperplanes[None], missing)
            log_reach = compute_gates(hyperplanes[None], shape, design, soft).log_membership[0]
            if self._log_reach is not None:
                log_reach += self._log_reach[part]
            joint = log_reach + expected @ T.T
            outside = np.full(len(T), -np.inf) if self._log_other is None else self._log_other[part]
            # Sums from either side leave a leaf out without taking it from the whole, which would cost digits.
            before = np.logaddexp.accumulate([outside, *joint])
            after = np.logaddexp.accumulate([np.full(len(T), -np.inf), *joint[::-1]])[::-1]
            for own, leaf in zip(parts, leaves, strict=True):
                log_other = np.logaddexp(before[leaf], after[leaf + 1])
                share = np.maximum(log_reach[leaf], joint[leaf] - np.logaddexp(joint[leaf], log_other))
                seen = np.flatnonzero(share > self._log_negligible)
                own.append((part.start + seen, log_reach[leaf, seen], log_other[seen]))
        return [
            cast("tuple[Integers, Floats, Floats]", tuple(map(np.concatenate, zip(*p, strict=True)))) for p in parts
        ]

    @property
    def _log_negligible(self) -> float:
        with np.errstate(divide="ignore"):
            return float(np.log(_NEGLIGIBLE_SHARE))

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
        grey, all_ = np.zeros((2, shape.n_splits))
        below = (shape.sides != 0).astype(np.float64)
        for part, design, _, missing in self._blocks(6 * shape.n_leaves):
            soft = self._softening(hyperplanes[None], missing)
            _, gate, log_membership = compute_gates(hyperplanes[None], shape, design, soft)
            reach = (below @ np.exp(log_membership[0])) * self._mass[part]
            grey += (reach * ((gate[0] > low) & (gate[0] < high))).sum(axis=1)
            all_ += reach.sum(axis=1)
        return grey / np.maximum(all_, np.finfo(float).tiny)

    def sampled(self, size: int) -> Self:
        if self._n <= 2 * size:
            return self
        keys = self._keys if self._chosen is None else self._keys[self._chosen]
        share = self._taken_share * size / self._n
        seen = np.flatnonzero(keys < np.uint64(share * 2.0**64))
        # Rows that are mostly repeats come in lumps: then there may be no sample of this size.
        if not size / 2 <= len(seen) <= 2 * size:
            return self
        return self._taken(seen, _taken_share=share)

    def _taken(self, places: Integers, **changes: Any) -> Self:
        """Rows by their places in this view, in the given order."""
        parts = {"_log_reach": self._log_reach, "_log_other": self._log_other}
        views = {name: part[places] for name, part in parts.items() if part is not None}
        return self._like(weights=self._weights[places], _chosen=self._chosen_of(places), **views, **changes)

    def arranged(self, hyperplanes: Floats, shape: Shape) -> Self:
        return self

    @property
    def _keys(self) -> NDArray[np.uint64]:
        """A number for each row of the table, scattered evenly, that depends on its cells and target alone."""
        keys: NDArray[np.uint64] | None = self._shared.get("keys")
        if keys is None:
            targets = np.asarray(self._targets, dtype=np.float64).reshape(len(self._X), -1)
            keys = np.zeros(len(self._X), dtype=np.uint64)
            for columns in (targets, self._X):
                for column in range(columns.shape[1]):
                    # Adding 0 makes one number of 0 and -0; gaps may be written in many ways.
                    cells = np.asarray(columns[:, column], dtype=np.float64) + 0.0
                    cells[np.isnan(cells)] = np.nan
                    keys ^= cells.view(np.uint64)
                    keys *= np.uint64(0x9E3779B97F4A7C15)
                    keys ^= keys >> np.uint64(29)
            keys *= np.uint64(0xBF58476D1CE4E5B9)
            keys ^= keys >> np.uint64(32)
            self._shared["keys"] = keys
        return keys

    def with_covariance_inverse(self) -> Schema:
        """The schema of the rows, with the precision that their columns have."""
        cells = self._X if self._chosen is None else self._X[self._chosen]
        return self._schema.with_covariance_inverse(cells, self._mass)

    def with_schema(self, schema: Schema) -> Self:
        """The same rows, with columns that are made in another way."""
        return self._like(schema=schema)

    def restricted(self, columns: Integers) -> Self | None:
        """The same rows with some of their columns; None where the others have a say, too.

        That is where leaves look at them, or where what is missing is told from them.
        """
        if self.family.uses_design or (self._gaps is not None and self._schema.covariance_inverse is not None):
            return None
        schema = self._schema.restricted(columns)
        gaps = None if self._gaps is None else schema.gaps_in(self._gaps.sources)
        return self._like(schema=schema, axes=None, _gaps=gaps, _chosen=self._chosen)

    def with_family(self, family: Family) -> Self:
        """The same rows with leaves of another family."""
        if family is self.family:
            return self
        return self._like(family=family, _chosen=self._chosen, _log_reach=self._log_reach, _log_other=self._log_other)

    def rotated(self, n_informed: int) -> tuple[Self, Floats]:
        """Rows along their principal axes, for wide tables, and the way back.

        The prior on slopes is the same in all directions, so that it does not mind, and the best hyperplane lies in the
        span of the rows. Returns the rows in an orthonormal basis of that span, and the basis (d, rank). Of columns
        beyond the first `n_informed` all make up the `tail`.
        """
        centred = self._schema.filled(self._X, self._gaps)[0][1:].T
        # Weighted and with signs fixed, so that the basis is the same for repeated rows and in any order.
        weighted = np.sqrt(self._weights)[:, None] * centred
        if self._order is not None:
            weighted = weighted[self._order]
        if len(weighted) > 2 * weighted.shape[1]:
            squares, axes = np.linalg.eigh(weighted.T @ weighted)
            sizes, basis, least = np.sqrt(np.maximum(squares[::-1], 0.0)), axes.T[::-1].copy(), 1e-7
        else:
            _, sizes, basis = np.linalg.svd(weighted, full_matrices=False)
            least = 1e-10
        found = sizes > least * max(sizes[0], 1e-300)
        sizes, basis = sizes[found], basis[found]
        tail = sizes[n_informed:] ** 2 / self._weights.sum()
        basis *= np.sign(basis[np.arange(len(basis)), np.abs(basis).argmax(axis=1)])[:, None]
        basis = basis.T
        columns = centred @ basis
        rank = columns.shape[1]
        gaps = self._gaps
        if gaps is not None:
            # What is missing stays in view behind the columns that splits work on.
            columns = np.column_stack([columns, np.asarray(self._X, dtype=np.float64)[:, gaps.sources]])
            gaps = replace(gaps.along(basis), sources=rank + np.arange(len(gaps.sources)))
        schema = identity_schema(rank, columns.shape[1])
        return self._like(X=columns, schema=schema, axes=basis, tail=tail, _gaps=gaps), basis


def _bins(directions: Floats, edges: Floats, design: Floats) -> Any:
    """Sparse indicator (n, D * bins) of the bin in which each row lies along each direction."""
    n_directions, bins = len(directions), edges.shape[1] + 1
    index = np.empty((design.shape[1], n_directions), dtype=np.int64)
    for direction, values in enumerate(directions @ design):
        index[:, direction] = np.searchsorted(edges[direction], values)
    index += np.arange(n_directions) * bins
    starts = np.arange(len(index) + 1) * n_directions
    return sparse.csr_array((np.ones(index.size), index.ravel(), starts), shape=(len(index), n_directions * bins))


def _add_information(packed: Floats, design: Floats, curvature: Floats) -> None:
    """Add sum_i curvature_i x_i x_i' for each row of curvature (2 c m, n) to its packed upper triangle."""
    width, n = design.shape
    rows, columns = np.triu_indices(width)
    flat = packed.reshape(len(curvature), packed.shape[-1])
    if width > _WIDEST_PRODUCTS:
        for sums, weights in zip(flat, curvature, strict=True):
            sums += ((design * weights) @ design.T)[rows, columns]
        return
    step = max(16, _PRODUCT_FLOATS // len(rows))
    for start in range(0, n, step):
        part = design[:, start : start + step]
        flat += curvature[:, start : start + step] @ (part[rows] * part[columns]).T
