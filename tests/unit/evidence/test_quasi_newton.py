"""Quasi-Newton steps on quadratic functions, several side by side."""

from functools import partial

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from bayesian_reticulum.evidence.quasi_newton import QuasiNewton
from plugins import examples

few = examples(25)
seeds = st.integers(0, 2**32 - 1)


class Hill:
    """A concave quadratic; its metric is the curvature of each half of the unknowns by itself."""

    def __init__(self, rng, size=6, n_seen=3):
        basis = np.linalg.qr(rng.normal(size=(size, size)))[0]
        self.curvature = basis @ np.diag(rng.uniform(0.05, 5, size=size)) @ basis.T
        self.top = rng.normal(size=size)
        self.lead = size - n_seen

    def gradient(self, point):
        return self.curvature @ (self.top - point)

    def metric(self, gradient):
        return np.linalg.solve(self.curvature[: self.lead, : self.lead], gradient)

    def plain(self, gradient):
        return np.linalg.solve(self.curvature[self.lead :, self.lead :], gradient[self.lead :])


def climb(hills, quasi_newton, n_steps, points):
    """Points (hills, size) after steps whose lengths are the best along them."""
    problems = np.arange(len(hills))
    gradient, plain = known(hills, points)
    for _ in range(n_steps):
        step, _ = quasi_newton.steps(problems, gradient, plain, lambda g: together(hills, Hill.metric, g))
        bend = np.einsum("ps,pst,pt->p", step, np.stack([hill.curvature for hill in hills]), step)
        rise = (step * gradient).sum(axis=1)
        length = np.divide(rise, bend, out=np.zeros_like(bend), where=bend > 0)
        last = points, gradient, plain
        points = points + length[:, None] * step
        gradient, plain = known(hills, points)
        quasi_newton.learn(problems, points - last[0], last[1] - gradient, last[2] - plain)
    return points


def together(hills, of_hill, rows):
    return np.stack([of_hill(hill, row) for hill, row in zip(hills, rows, strict=True)])


def known(hills, points):
    gradient = together(hills, Hill.gradient, points)
    return gradient, together(hills, Hill.plain, gradient)


def tops(hills):
    return np.stack([hill.top for hill in hills])


@few
@given(seed=seeds)
def test_quasi_newton_steps_reach_the_top_of_a_quadratic_in_as_many_steps_as_it_has_unknowns(seed):
    hills = [Hill(np.random.default_rng(seed))]
    found = climb(hills, QuasiNewton(1, 6, 3), 6, np.zeros((1, 6)))
    np.testing.assert_allclose(found, tops(hills), atol=1e-6)


@few
@given(seed=seeds, memory=st.integers(1, 3))
def test_quasi_newton_steps_need_few_moves_in_memory(seed, memory):
    hills = [Hill(np.random.default_rng(seed))]
    found = climb(hills, QuasiNewton(1, 6, 3, memory), 100, np.zeros((1, 6)))
    np.testing.assert_allclose(found, tops(hills), atol=1e-4)


@few
@given(seed=seeds)
def test_problems_side_by_side_learn_nothing_from_each_other(seed):
    rng = np.random.default_rng(seed)
    hills, points = [Hill(rng) for _ in range(3)], rng.normal(size=(3, 6))
    together = climb(hills, QuasiNewton(3, 6, 3), 3, points)
    for hill, point, found in zip(hills, points, together, strict=True):
        np.testing.assert_allclose(climb([hill], QuasiNewton(1, 6, 3), 3, point[None])[0], found, atol=1e-9)


def test_quasi_newton_steps_are_plain_where_nothing_is_known_or_all_is_forgotten():
    rng = np.random.default_rng(0)
    hills, problems = [Hill(rng) for _ in range(2)], np.arange(2)
    quasi_newton = QuasiNewton(2, 6, 3)
    gradient, plain = known(hills, np.zeros((2, 6)))
    metric = partial(together, hills, Hill.metric)
    expected = np.concatenate([metric(gradient[:, :3]), plain], axis=1)
    for knowing in ([], [0, 1], [1]):
        if knowing == [0, 1]:
            climb(hills, quasi_newton, 3, np.zeros((2, 6)))
        if knowing == [1]:
            quasi_newton.forget(np.array([0]))
        step, informed = quasi_newton.steps(problems, gradient, plain, metric)
        np.testing.assert_array_equal(np.flatnonzero(informed), knowing)
        np.testing.assert_array_equal(step[~informed], expected[~informed])


@few
@given(seed=seeds)
def test_what_was_learned_stays_true_when_curvature_is_added_that_is_known(seed):
    rng = np.random.default_rng(seed)
    before, after = Hill(rng), Hill(rng)
    added = rng.uniform(0.1, 2, size=3)
    after.curvature = before.curvature + np.diag(np.append(added, np.zeros(3)))
    move = rng.normal(size=(2, 1, 6))
    one, other = QuasiNewton(1, 6, 3), QuasiNewton(1, 6, 3)
    alone = np.array([0])
    for quasi_newton, hill in ((one, before), (other, after)):
        for step in move:
            fall = step @ hill.curvature
            quasi_newton.learn(alone, step, fall, hill.plain(fall[0])[None])
    one.bend(alone, added[None])
    gradient, plain = known([after], rng.normal(size=(1, 6)))
    metric = partial(together, [after], Hill.metric)
    found, expected = (quasi_newton.steps(alone, gradient, plain, metric)[0] for quasi_newton in (one, other))
    np.testing.assert_allclose(found, expected, rtol=1e-9)


def test_a_move_along_which_the_gradient_rises_tells_nothing():
    quasi_newton, alone = QuasiNewton(1, 2, 1), np.array([0])
    rising = np.array([[1.0, 0.0]])
    quasi_newton.learn(alone, rising, -rising, np.zeros((1, 1)))
    assert not quasi_newton.steps(alone, rising, np.zeros((1, 1)), lambda gradient: gradient)[1].any()
