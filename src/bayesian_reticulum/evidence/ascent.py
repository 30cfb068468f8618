"""The ascent of the log evidence by the book: the reference that the compiled ascent is judged by.

One pass over the rows gives an E step, and the gradient and information of each split. The next pass judges the E step
together with a Newton step of all hyperplanes. Should they lower the penalised bound, they are undone and the Newton
step is damped; an E step alone never lowers it. When a tree has converged, its slope precisions are updated (MacKay),
and it converges again.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..arrays import Floats, Integers
from ..families import Family
from ..rows import PassSums
from .bound import bound
from .newton import newton_steps
from .passes import MakePass
from .precisions import PRECISION_RANGE, update_precisions
from .prices import penalty, prices, prior_diagonal
from .stack import Effort, Stack

# A step may lower the bound by this part of it, for rounding.
_ROUNDING = 1e-11
# Damping, in units of complete-data information and prior: after a first step that lowered the bound, the factor by
# which each further one raises it and each step that is kept lowers it, the least that is not left out, and the most
# that is tried.
_FIRST_DAMPING, _DAMPING_FACTOR, _LEAST_DAMPING, _MOST_DAMPING = 0.01, 10.0, 0.001, 1e8
# A precision has converged when its update changes it by less than this, on a log scale.
_SAME_PRECISION = 0.01
# An ascent may gain this many times what its next step promises, as plain steps converge slowly.
_LONG_WAY = 20.0


def ascend_by_the_book(
    make_pass: MakePass, family: Family, tail: Floats, start: Stack, effort: Effort, fixed: bool = False
) -> Stack:
    """Ascend with a stack of trees.

    Parameters
    ----------
    make_pass : callable
        Makes passes over the rows.
    family : Family
        Of the leaves.
    tail : ndarray
        Variances of the columns whose information is one number in all.
    start : Stack
        Hyperplanes, precisions and leaf statistics to start from.
    effort : Effort
    fixed : bool
        True if hyperplanes and precisions are kept, and only responsibilities converge.

    Returns
    -------
    Stack
        Each tree at the precisions of its highest log evidence.
    """
    return _Ascent(make_pass, family, tail, start, effort, fixed).run()


class _Ascent:
    """Trees on their way: where each is, the step that comes next, and the best state so far."""

    def __init__(
        self, make_pass: MakePass, family: Family, tail: Floats, start: Stack, effort: Effort, fixed: bool
    ) -> None:
        self.make_pass, self.family, self.tail, self.effort, self.fixed = make_pass, family, tail, effort, fixed
        self.hyperplanes, self.precisions = start.hyperplanes.copy(), start.precisions.copy()
        self.statistics = start.statistics.copy()
        c, m, width = self.hyperplanes.shape
        # Slopes that are no part of a sparse tree stay zero.
        is_offset = np.arange(width) == 0
        self.present = (self.hyperplanes != 0) | is_offset | (not effort.sparse)
        self.value, self.damping = np.full(c, -np.inf), np.zeros(c)
        # Whether a tree has ended, and whether the log evidence of where it is has been compared with its best.
        self.done, self.judged = np.zeros((2, c), dtype=bool)
        self.rounds_left = np.full(c, effort.rounds)
        self.gradient, self.newton_step = np.zeros((2, c, m, width))
        # The E step, and the expected parameters of the leaves in the last pass.
        self.e_step, self.expected = np.zeros((2, *self.statistics.shape))
        packed = width - len(tail) + bool(len(tail))
        self.observed, self.complete = np.zeros((2, c, m, packed, packed))
        here = self.hyperplanes.copy(), self.precisions.copy(), self.statistics.copy()
        self.best = Stack(*here, np.full(c, -np.inf), np.zeros((c, m)))

    def run(self) -> Stack:
        for _ in range(self.effort.max_passes):
            trees = np.flatnonzero(~self.done)
            if not len(trees):
                break
            at, value = self._pass(trees, information=not self.fixed)
            risen = value >= self.value[trees] - _ROUNDING * np.abs(value)
            self._damp(trees[~risen])
            self._accept(trees[risen], value[risen], _of(at, risen))
        trees = np.flatnonzero(~self.judged)
        if len(trees):
            self.newton_step[trees], self.e_step[trees] = 0.0, 0.0
            at, value = self._pass(trees, information=True)
            # Trees without a finite bound have no log evidence.
            finite = np.isfinite(value)
            self._keep_best(trees[finite], value[finite], self._prices(trees[finite], _of(at, finite)))
        return self.best

    def _pass(self, trees: Integers, information: bool) -> tuple[PassSums, Floats]:
        """Make a pass after the next step of each tree; returns it with the penalised bound there."""
        hyperplanes = self.hyperplanes[trees] + self.newton_step[trees]
        statistics = self.statistics[trees] + self.e_step[trees]
        self.expected[trees] = expected = self.family.expected_parameters(statistics)
        at = self.make_pass(hyperplanes, expected, information)
        at = _without(at, ~self.present[trees]) if self.effort.sparse else at
        return at, bound(self.family, statistics, expected, at) - penalty(hyperplanes, self.precisions[trees])

    def _damp(self, trees: Integers) -> None:
        """Undo steps that lowered the bound."""
        self.damping[trees] = np.maximum(_FIRST_DAMPING, self.damping[trees] * _DAMPING_FACTOR)
        # Only rounding, or a bound that is no number, is left.
        self.done[trees] = self.fixed | (self.damping[trees] > _MOST_DAMPING)
        self._set_newton_step(trees)

    def _accept(self, trees: Integers, value: Floats, at: PassSums) -> None:
        if not len(trees):
            return
        self.hyperplanes[trees] += self.newton_step[trees]
        self.statistics[trees] += self.e_step[trees]
        self.value[trees] = value
        self.e_step[trees] = at.statistics - self.statistics[trees]
        slope = self.family.expected_parameters(at.statistics) - self.expected[trees]
        promise = 0.5 * (slope * self.e_step[trees]).sum(axis=(-1, -2))
        if self.fixed:
            self.done[trees] = promise < self.effort.tolerance
            return
        eased = self.damping[trees] / _DAMPING_FACTOR
        self.damping[trees] = np.where(eased < _LEAST_DAMPING, 0.0, eased)
        self.observed[trees], self.complete[trees] = at.observed, at.complete
        self.gradient[trees] = at.gradient
        promise += self._set_newton_step(trees)
        self._judge(trees, value, promise, at)

    def _judge(self, trees: Integers, value: Floats, promise: Floats, at: PassSums) -> None:
        """End the ascent of trees, or update their precisions, by what their next steps promise."""
        # A damped step promises too little to be judged by.
        free = self.damping[trees] == 0
        converged = free & (promise < self.effort.tolerance)
        judged = converged | (free & np.isfinite(self.effort.least))
        cost = np.zeros(self.precisions[trees].shape)
        cost[judged] = self._prices(trees[judged], _of(at, judged))
        given_up = judged & (value + _LONG_WAY * promise - cost.sum(axis=-1) < self.effort.least)
        ended = converged | given_up
        self._keep_best(trees[ended], value[ended], cost[ended])
        again = converged & ~given_up & (self.rounds_left[trees] > 0)
        self.judged[trees], self.done[trees] = ended, ended & ~again
        self._update_precisions(trees[again])

    def _set_newton_step(self, trees: Integers) -> Floats:
        """Set the damped Newton step of each split; returns the nats that the steps of each tree promise."""
        if self.fixed or not len(trees):
            return np.zeros(len(trees))
        prior = prior_diagonal(self.precisions[trees], self.hyperplanes.shape[-1])
        slope = (self.gradient[trees] - prior * self.hyperplanes[trees]) * self.present[trees]
        information = self.observed[trees], self.complete[trees]
        step = newton_steps(slope, *information, prior, self.damping[trees], self.tail)
        self.newton_step[trees] = step
        return np.asarray(0.5 * (slope * step).sum(axis=(-1, -2)))

    def _update_precisions(self, trees: Integers) -> None:
        if not len(trees):
            return
        self.rounds_left[trees] -= 1
        before, hyperplanes = self.precisions[trees], self.hyperplanes[trees]
        log_update = np.log(update_precisions(hyperplanes, before, self.observed[trees], self.tail) / before)
        self.done[trees] = np.abs(log_update).max(axis=-1, initial=0.0) < _SAME_PRECISION
        # Slopes follow their precision, by which the next update goes on the same way, by a share s < 1 of this one.
        # Twice an update, on a log scale, leaves 2 s - 1 of the distance, which is smaller than 1.
        self.precisions[trees] = np.clip(before * np.exp(2.0 * log_update), *PRECISION_RANGE)
        self.value[trees] += penalty(hyperplanes, before) - penalty(hyperplanes, self.precisions[trees])
        self._set_newton_step(trees)

    def _prices(self, trees: Integers, at: PassSums) -> Floats:
        assert at.observed is not None
        return prices(at.observed, self.precisions[trees], self.tail)

    def _keep_best(self, trees: Integers, value: Floats, cost: Floats) -> None:
        log_evidence = value - cost.sum(axis=-1)
        better = log_evidence > self.best.log_evidence[trees]
        kept = trees[better]
        for name in ("hyperplanes", "precisions", "statistics"):
            getattr(self.best, name)[kept] = getattr(self, name)[kept]
        self.best.log_evidence[kept], self.best.prices[kept] = log_evidence[better], cost[better]


def _without(at: PassSums, absent: NDArray[np.bool_]) -> PassSums:
    """A pass whose information leaves out slopes (c, m, d + 1) that are no part of a tree."""
    hidden = absent[..., :, None] | absent[..., None, :]
    observed, complete = (None if part is None else np.where(hidden, 0.0, part) for part in (at.observed, at.complete))
    return replace(at, observed=observed, complete=complete)


def _of(at: PassSums, trees: NDArray[np.bool_]) -> PassSums:
    """A pass of some trees of a stack."""
    parts: Any = {name: None if part is None else part[trees] for name, part in vars(at).items()}
    return PassSums(**parts)
