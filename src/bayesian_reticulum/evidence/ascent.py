"""The ascent of the log evidence by a stack of trees: E steps, Newton steps, and updates of precisions.

`ascend` moves hyperplanes, precisions and leaf statistics; `converge_responsibilities` keeps the first two. Rows in
compiled code make the whole ascent themselves; for all others it is made here, pass by pass.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np

from ..arrays import Floats, Integers
from ..families import Family
from ..rows import HESSIAN_ROWS, MembershipSums, Pass, PassSums, Rows, can_climb
from ..tree import Shape
from .bound import bound
from .newton import newton_inverses
from .precisions import PRECISION_RANGE, update_precisions
from .prices import penalty, prices, prior_diagonal, split_tail
from .quasi_newton import QuasiNewton
from .stack import Effort, Stack

# A tree is near its top when a step promises less than this many nats. Farther off steps are not combined: what the
# last ones tell is soon wrong, and the way up depends on the last digits of all numbers.
_NEAR = 1.0
# Passes for which an information matrix serves while far, longer where it is wide and so costs most of the time, and
# may serve once near.
_SHORT_SERVICE, _SHORT_WIDE_SERVICE, _LONG_SERVICE, _FOR_EVER = 2, 4, 8, 1 << 30
_WIDE = 48
# How often an informed step is halved towards a plain one, which leaves can always make, before that takes its place.
_HALVINGS = 5
# An informed step that lowers the bound is shortened once, to a part of it between these.
_SHORTEST, _LONGEST = 0.1, 0.5
# Damping after a first step that lowered the bound, in units of the mean diagonal of complete-data information and
# prior. Each further one raises it by the factor, up to where steps come to nothing, and each that raises the bound
# lowers it, down to where it is left out.
_FIRST_DAMPING, _MOST_DAMPING, _LEAST_DAMPING, _DAMPING_FACTOR = 1e-2, 1e6, 1e-4, 10.0
# A step may lower the bound by this part of it, for rounding.
_SLACK = 1e-10
# A precision is found when its update is shorter than this, on a log scale.
_SAME_PRECISION = 0.005
# How many times its own update a precision may move.
_LONGEST_PULL = 8.0
# An ascent may gain this many times what its next step promises.
_LONG_WAY = 10.0
# A tree with tuned precisions is worse if it lost more nats than this: whether it lost fewer may be due to rounding.
_WORSE = 0.1


class _Ascent:
    """A stack of trees on its way up; alternates E steps with Newton steps of all hyperplanes.

    Both are made in one pass: the statistics that a pass returns are the E step, its gradient gives the Newton
    step, and the next pass judges both together. Neither knows of the other, nor a split of other splits; the last few
    steps tell how they depend on each other, and informed steps make use of it.

    A step that lowers the penalised bound is taken back. An informed one is shortened once, then made plain. Of a plain
    one the Newton step is damped: that bends it away from directions of little curvature, which few rows or rows far
    from a split know of, and where a step is longest and least to be trusted. An E step alone never lowers the bound.
    """

    def __init__(
        self,
        rows: Rows,
        family: Family,
        shape: Shape,
        hyperplanes: Floats,
        precisions: Floats,
        statistics: Floats,
        fixed: bool,
        exact: bool = True,
        sparse: bool = False,
    ) -> None:
        c, m, width = hyperplanes.shape
        self.rows, self.family, self.shape, self.fixed = rows, family, shape, fixed
        self.informants = rows if exact or rows.n_rows <= 2 * HESSIAN_ROWS else rows.sample(HESSIAN_ROWS)
        self.present = (hyperplanes != 0) | (np.arange(width) == 0) if sparse else None
        assert not (sparse and len(rows.tail)), "only trees on all columns can be sparse"
        self.hyperplanes, self.precisions, self.statistics = hyperplanes.copy(), precisions.copy(), statistics.copy()
        self.value = np.full(c, -np.inf)
        self.trial_hyperplanes, self.trial_statistics = hyperplanes.copy(), statistics.copy()
        self.slope, self.direction = np.zeros((2, c, m, width))
        # Slope of the bound along the statistics, and the E step.
        self.push, self.change = np.zeros((2, *statistics.shape))
        self.damping = np.zeros(c)
        # Whether complete-data information was of use when the metric was last made; what is known of it may be older
        # than the rest.
        self.wants_complete = np.ones(c, dtype=bool)
        self.quasi_newton = QuasiNewton(c, m * width + statistics[0].size, statistics[0].size)
        # The step that is tried, which part of it, by how much the bound rises along it at first, and whether it is
        # informed.
        self.step = np.zeros((c, m * width + statistics[0].size))
        self.length, self.rise = np.ones(c), np.zeros(c)
        self.informed = np.zeros(c, dtype=bool)
        lead = width - len(rows.tail)
        self.observed, self.complete = np.zeros((2, c, m, *[lead + bool(len(rows.tail))] * 2))
        self.inverse, self.tail_inverse = np.zeros((c, m, lead, lead)), np.zeros((c, m, len(rows.tail)))
        self.last_precisions, self.last_pull = precisions.copy(), np.zeros((c, m))
        self.done = np.zeros(c, dtype=bool)
        # Whether a tree was worth less when it last settled than once before.
        self.has_worsened = np.zeros(c, dtype=bool)
        self.cost = np.zeros(c)
        # Passes for which the information of each tree serves.
        self.serves = np.full(c, _FOR_EVER if fixed else 0)
        self.best = Stack(
            hyperplanes.copy(), precisions.copy(), statistics.copy(), np.full(c, -np.inf), np.zeros((c, m))
        )

    def run(self, effort: Effort) -> Stack:
        rounds_left = np.full(len(self.value), effort.rounds)
        service = 0
        for turn in range(effort.max_passes):
            live = np.flatnonzero(~self.done)
            if not len(live):
                break
            # Trees that have not settled by then are to be judged, too.
            is_last = turn + 1 == effort.max_passes
            information = is_last or bool((service >= self.serves[live]).any())
            service = 0 if information else service + 1
            expected = self.family.expected_parameters(self.trial_statistics[live])
            at = self._pass(live, self.trial_hyperplanes[live], expected, information)
            if not self.wants_complete[live].any():
                # It is no part of a compiled pass, either, which takes a third less time without.
                at = replace(at, complete=None)
            value = bound(self.family, self.trial_statistics[live], expected, at)
            value -= penalty(self.trial_hyperplanes[live], self.precisions[live])
            # An E step alone never lowers the bound: only rounding can.
            is_e_step = ~self.informed[live] & (self.fixed | (self.damping[live] == _MOST_DAMPING))
            risen = value >= self.value[live] - _SLACK * np.abs(value)
            risen |= is_e_step & np.isfinite(value)
            self._take_back(live[~risen], value[~risen])
            if risen.any():
                self._accept(live[risen], value[risen], expected[risen], _of(at, risen), effort, rounds_left, is_last)
        unsettled = np.flatnonzero(~np.isfinite(self.best.log_evidence))
        if len(unsettled):
            expected = self.family.expected_parameters(self.statistics[unsettled])
            at = self._pass(unsettled, self.hyperplanes[unsettled], expected, information=True)
            value = bound(self.family, self.statistics[unsettled], expected, at)
            value -= penalty(self.hyperplanes[unsettled], self.precisions[unsettled])
            assert at.observed is not None
            self._note(unsettled, value, prices(at.observed, self.precisions[unsettled], self.rows.tail), True)
        return self.best

    def _pass(self, trees: Integers, hyperplanes: Floats, expected: Floats, information: bool) -> PassSums:
        at = self._whole_pass(hyperplanes, expected, information)
        if self.present is None:
            return at
        present = self.present[trees]
        pairs = present[..., :, None] & present[..., None, :]
        return replace(
            at,
            gradient=at.gradient * present,
            observed=None if at.observed is None else at.observed * pairs,
            complete=None if at.complete is None else at.complete * pairs,
        )

    def _whole_pass(self, hyperplanes: Floats, expected: Floats, information: bool) -> PassSums:
        if not information or self.informants is self.rows:
            return self.rows.reduce(Pass(hyperplanes, self.shape, expected, information))
        told = self.informants.reduce(Pass(hyperplanes, self.shape, expected, information=True))
        assert told.observed is not None
        assert told.complete is not None
        share = self.informants.weight / self.rows.weight
        at = self.rows.reduce(Pass(hyperplanes, self.shape, expected))
        return replace(at, observed=told.observed / share, complete=told.complete / share)

    def _take_back(self, trees: Integers, value: Floats) -> None:
        """Undo steps that lowered the bound: informed ones are shortened, then become plain, plain ones are damped."""
        informed = self.informed[trees]
        shorter = informed & (self.length[trees] == 1)
        self._shorten(trees[shorter], value[shorter])
        misled, plain = trees[informed & ~shorter], trees[~informed]
        self.quasi_newton.forget(misled)
        if not self.fixed:
            self.damping[plain] = np.clip(self.damping[plain] * _DAMPING_FACTOR, _FIRST_DAMPING, _MOST_DAMPING)
            self._invert(plain)
            self._aim(plain)
            # An E step alone.
            self.direction[plain[self.damping[plain] == _MOST_DAMPING]] = 0.0
        self._set_step(trees[~shorter], self._plain_steps(trees[~shorter]), informed=False)
        self._try(trees)

    def _shorten(self, trees: Integers, value: Floats) -> None:
        """Go to the top of the parabola with the value and slope before the step and the value after it."""
        top = self.rise[trees] / (2 * (self.rise[trees] - (value - self.value[trees])))
        # A value that is none tells nothing of where the top is.
        self.length[trees] = np.fmin(np.fmax(top, _SHORTEST), _LONGEST)

    def _accept(
        self,
        trees: Integers,
        value: Floats,
        expected: Floats,
        at: PassSums,
        effort: Effort,
        rounds_left: Integers,
        is_last: bool,
    ) -> None:
        before = self._known(trees)
        self.hyperplanes[trees], self.statistics[trees] = self.trial_hyperplanes[trees], self.trial_statistics[trees]
        self.value[trees], self.change[trees] = value, at.statistics - self.statistics[trees]
        self.push[trees] = self.family.expected_parameters(at.statistics) - expected
        if not self.fixed:
            eased = self.damping[trees] / _DAMPING_FACTOR
            self.damping[trees] = np.where(eased < _LEAST_DAMPING, 0.0, eased)
            self._set_slope(trees, at)
            if at.observed is not None:
                self.observed[trees] = at.observed
            if at.complete is not None:
                self.complete[trees] = at.complete
            self._invert(trees if at.observed is not None else trees[eased > 0])
        (last_point, last_gradient, last_change), (point, gradient, change) = before, self._known(trees)
        self.quasi_newton.learn(trees, point - last_point, last_gradient - gradient, last_change - change)
        promise = 0.5 * (self.push[trees] * self.change[trees]).sum(axis=(-1, -2)) + self._aim(trees)
        # A damped step promises too little to be judged by.
        free = self.damping[trees] == 0
        settled = (promise < effort.tolerance) & free
        short = _SHORT_SERVICE if self.hyperplanes.shape[-1] < _WIDE else _SHORT_WIDE_SERVICE
        service = np.where(promise > _NEAR, short, _LONG_SERVICE)
        hoped = value + _LONG_WAY * promise
        # Precisions may have to become worse before they become better, but not for long.
        own_least = self.best.log_evidence[trees] - _WORSE
        least = np.where(self.has_worsened[trees], np.maximum(effort.least, own_least), effort.least)
        self.serves[trees] = np.where(settled, 0, _FOR_EVER if self.fixed else service)
        if at.observed is None:
            self.serves[trees[free & (hoped - self.cost[trees] < least)]] = 0
        else:
            cost = prices(at.observed, self.precisions[trees], self.rows.tail)
            self.cost[trees] = cost.sum(axis=-1)
            given_up = free & (hoped - self.cost[trees] < least)
            self.has_worsened[trees[settled]] = (value - self.cost[trees] < own_least)[settled]
            self._note(trees, value, cost, settled | given_up | is_last)
            tunable = settled & ~given_up & (rounds_left[trees] > 0) & (not self.fixed)
            self.done[trees] = given_up | (settled & ~tunable)
            rounds_left[trees[tunable]] -= 1
            if tunable.any():
                self._tune(trees[tunable], _of(at, tunable))
        self._propose(trees, free & (promise < _NEAR))

    def _known(self, trees: Integers) -> tuple[Floats, Floats, Floats]:
        """Where trees are, the slope of the penalised bound there, and the E step, as one row for each tree."""
        point = np.concatenate([_flat(self.hyperplanes[trees]), _flat(self.statistics[trees])], axis=1)
        gradient = np.concatenate([_flat(self.slope[trees]), _flat(self.push[trees])], axis=1)
        return point, gradient, _flat(self.change[trees])

    def _invert(self, trees: Integers) -> None:
        if not len(trees):
            return
        damping = self.damping[trees, None, None]
        observed, tail_observed = split_tail(self.observed[trees], self.rows.tail)
        complete, tail_complete = split_tail(self.complete[trees], self.rows.tail)
        diagonal = np.arange(observed.shape[-1])
        prior = prior_diagonal(self.precisions[trees], len(diagonal))
        whole = complete[..., diagonal, diagonal] + prior
        added = damping * whole.mean(axis=-1, keepdims=True)
        self.inverse[trees], of_use = newton_inverses(
            observed, complete, prior + added, cautious=damping[..., None] > 0
        )
        # The tail is a diagonal matrix.
        tail_inverse, of_use_in_tail = newton_inverses(
            tail_observed[..., None, None],
            tail_complete[..., None, None],
            np.broadcast_to(self.precisions[trees][..., None] + added, tail_observed.shape)[..., None],
            cautious=damping[..., None, None] > 0,
        )
        self.tail_inverse[trees] = tail_inverse[..., 0, 0]
        self.wants_complete[trees] = of_use.any(axis=-1) | of_use_in_tail.any(axis=(-1, -2))

    def _set_slope(self, trees: Integers, at: PassSums) -> None:
        prior = prior_diagonal(self.precisions[trees], self.hyperplanes.shape[-1])
        self.slope[trees] = at.gradient - prior * self.hyperplanes[trees]

    def _aim(self, trees: Integers) -> Floats:
        """Set Newton's direction; returns the nats that it promises."""
        if self.fixed:
            return np.zeros(len(trees))
        self.direction[trees] = self._newton_steps(trees, self.slope[trees])
        return np.asarray(0.5 * (self.slope[trees] * self.direction[trees]).sum(axis=(-1, -2)))

    def _newton_steps(self, trees: Integers, slope: Floats) -> Floats:
        lead = self.inverse.shape[-1]
        along = (self.inverse[trees] @ slope[..., :lead, None])[..., 0]
        return np.concatenate([along, self.tail_inverse[trees] * slope[..., lead:]], axis=-1)

    def _note(self, trees: Integers, value: Floats, cost: Floats, which: Any) -> None:
        """Remember settled trees whose log evidence is the best that their precisions have reached."""
        log_evidence = value - cost.sum(axis=-1)
        better = which & (log_evidence > self.best.log_evidence[trees])
        kept = trees[better]
        self.best.hyperplanes[kept] = self.hyperplanes[kept]
        self.best.precisions[kept] = self.precisions[kept]
        self.best.statistics[kept] = self.statistics[kept]
        self.best.log_evidence[kept] = log_evidence[better]
        self.best.prices[kept] = cost[better]

    def _tune(self, trees: Integers, at: PassSums) -> None:
        assert at.observed is not None
        before = self.precisions[trees]
        pull = np.log(update_precisions(self.hyperplanes[trees], before, at.observed, self.rows.tail) / before)
        self.done[trees] = np.abs(pull).max(axis=-1, initial=0.0) < _SAME_PRECISION
        # Slopes follow a precision, so that its own update falls short. How far is told by the last two updates, on a
        # log scale; without them, twice the update is about right.
        moved = np.log(before / self.last_precisions[trees])
        eased = self.last_pull[trees] - pull
        factor = np.divide(moved, eased, out=np.full(moved.shape, 2.0), where=moved * eased > 0)
        tuned = np.clip(before * np.exp(np.clip(factor, 1.0, _LONGEST_PULL) * pull), *PRECISION_RANGE)
        self.last_precisions[trees], self.last_pull[trees] = before, pull
        self.value[trees] += penalty(self.hyperplanes[trees], before) - penalty(self.hyperplanes[trees], tuned)
        self.precisions[trees] = tuned
        width = self.hyperplanes.shape[-1]
        self.quasi_newton.bend(trees, _flat(prior_diagonal(tuned, width) - prior_diagonal(before, width)))
        self._set_slope(trees, at)
        self._invert(trees)
        self._aim(trees)

    def _propose(self, trees: Integers, near: Any) -> None:
        """Try informed steps where they are known to rise, and plain ones elsewhere."""
        self.quasi_newton.forget(trees[~near])
        _, gradient, change = self._known(trees)

        def metric(slope: Floats) -> Floats:
            return _flat(self._newton_steps(trees, slope.reshape(self.slope[trees].shape)))

        step, informed = self.quasi_newton.steps(trees, gradient, change, metric)
        # Only what is finite can be asked about.
        informed &= np.isfinite(step).all(axis=-1)
        plain = self._plain_steps(trees)
        excess = np.where(informed[:, None], step - plain, 0.0)
        share = self._possible_share(trees, plain, excess)
        step = plain + share * excess
        rise = (gradient * step).sum(axis=-1)
        informed &= (share[:, 0] > 0) & (rise > 0)
        self.rise[trees] = rise
        self._set_step(trees, np.where(informed[:, None], step, plain), informed)
        self._try(trees)

    def _possible_share(self, trees: Integers, plain: Floats, excess: Floats) -> Floats:
        """Share (len(trees), 1) of what is added to plain steps with which leaves can have what they lead to."""
        share = np.ones((len(trees), 1))
        for less in [*0.5 ** np.arange(1, _HALVINGS + 1), 0.0]:
            change = (plain + share * excess)[:, self.hyperplanes[0].size :].reshape(self.change[trees].shape)
            possible = self.family.are_possible(self.statistics[trees] + change).all(axis=-1)
            if possible.all():
                break
            share[~possible] = less
        return share

    def _plain_steps(self, trees: Integers) -> Floats:
        return np.concatenate([_flat(self.direction[trees]), _flat(self.change[trees])], axis=1)

    def _set_step(self, trees: Integers, step: Floats, informed: Any) -> None:
        self.step[trees], self.length[trees], self.informed[trees] = step, 1.0, informed

    def _try(self, trees: Integers) -> None:
        size = self.hyperplanes[0].size
        step = self.length[trees, None] * self.step[trees]
        self.trial_hyperplanes[trees] = self.hyperplanes[trees] + step[:, :size].reshape(self.slope[trees].shape)
        self.trial_statistics[trees] = self.statistics[trees] + step[:, size:].reshape(self.change[trees].shape)


def _flat(array: Floats) -> Floats:
    return array.reshape(len(array), math.prod(array.shape[1:]))


def _of(at: PassSums, trees: Any) -> PassSums:
    """The sums of some trees of a stack."""
    return PassSums(
        at.log_normalizer[trees],
        at.statistics[trees],
        at.gradient[trees],
        None if at.observed is None else at.observed[trees],
        None if at.complete is None else at.complete[trees],
    )


def ascend(
    rows: Rows,
    family: Family,
    shape: Shape,
    hyperplanes: Floats,
    precisions: Floats,
    statistics: Floats | None = None,
    effort: Effort | None = None,
) -> Stack:
    """Climb with hyperplanes, precisions and leaf statistics of a stack of trees.

    Parameters
    ----------
    rows : Rows
    family : Family
        Of the leaves.
    shape : Shape
    hyperplanes : ndarray of shape (c, m, d + 1)
        Where to start.
    precisions : ndarray of shape (c, m)
        Prior precisions of the slopes, where to start; updated each time that a tree has converged.
    statistics : ndarray of shape (c, leaves, k), optional
        Where to start; by default from responsibility = membership.
    effort : Effort, optional

    Returns
    -------
    Stack
        Each tree at the precisions of its highest log evidence.
    """
    if statistics is None:
        statistics = rows.reduce(MembershipSums(hyperplanes, shape)).statistics
    return _ascended(rows, family, shape, hyperplanes, precisions, statistics, effort or Effort(), fixed=False)


def _ascended(
    rows: Rows,
    family: Family,
    shape: Shape,
    hyperplanes: Floats,
    precisions: Floats,
    statistics: Floats,
    effort: Effort,
    fixed: bool,
) -> Stack:
    # With small trees a return to Python between passes would take longer than the passes.
    if can_climb(rows):
        return Stack(*rows.climb(family, shape, hyperplanes, precisions, statistics, fixed=fixed, **vars(effort)))
    return _Ascent(rows, family, shape, hyperplanes, precisions, statistics, fixed, effort.exact, effort.sparse).run(
        effort
    )


def converge_responsibilities(
    rows: Rows,
    family: Family,
    shape: Shape,
    hyperplanes: Floats,
    precisions: Floats,
    statistics: Floats | None = None,
    tolerance: float = 1e-5,
    max_passes: int = 500,
    exact: bool = True,
    sparse: bool = False,
) -> Stack:
    """Return a stack of trees with their hyperplanes and precisions kept, after E steps until convergence.

    Parameters
    ----------
    rows : Rows
    family : Family
        Of the leaves.
    shape : Shape
    hyperplanes : ndarray of shape (c, m, d + 1)
    precisions : ndarray of shape (c, m)
    statistics : ndarray of shape (c, leaves, k), optional
        Where responsibilities start; by default at membership.
    tolerance : float
        Nats that a further E step may promise.
    max_passes : int
        Passes over the rows, at most.
    exact, sparse : bool
        As in `Effort`.
    """
    if statistics is None:
        statistics = rows.reduce(MembershipSums(hyperplanes, shape)).statistics
    effort = Effort(tolerance, rounds=0, max_passes=max_passes, exact=exact, sparse=sparse)
    return _ascended(rows, family, shape, hyperplanes, precisions, statistics, effort, fixed=True)
