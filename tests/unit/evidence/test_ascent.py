"""Laws of ascents: they only ascend, end at an optimum, and the reference judges the compiled one."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from ascent_problems import (
    VARIANTS,
    ascent_problems,
    by_callback,
    by_the_book,
    each_ascent,
    each_variant,
    moved,
    over_table,
    value,
)
from plugins import examples, needs_compiled

few = examples(5)
EXACT = 1e-10


@each_ascent
@each_variant
@few
@given(data=st.data())
def test_the_penalised_bound_never_falls_from_pass_to_pass(ascent, variant, data):
    problem = data.draw(ascent_problems(variant))
    start = problem.start()
    values = [value(ascent(problem, start, problem.effort(1e-9, max_passes=n))) for n in range(1, 13)]
    assert np.diff(values, axis=0).min() >= -1e-8 * np.abs(values).max()


@each_ascent
@each_variant
@few
@given(data=st.data())
def test_an_ascent_ends_where_gradient_and_e_step_vanish(ascent, variant, data):
    problem = data.draw(ascent_problems(variant))
    stack = ascent(problem, problem.start(), problem.effort(EXACT))
    gradient, e_step = problem.slopes(stack)
    scale = 1 + np.abs(stack.statistics).max()
    np.testing.assert_allclose(gradient, 0, atol=1e-2 if variant.n_tail else 1e-3)
    np.testing.assert_allclose(e_step / scale, 0, atol=1e-3)
    np.testing.assert_array_equal(stack.precisions, problem.precisions)


@needs_compiled
@each_variant
@few
@given(data=st.data())
def test_neither_ascent_gains_a_millionth_nat_from_the_optimum_of_the_other(variant, data):
    problem = data.draw(ascent_problems(variant))
    effort, fixed = problem.effort(EXACT), data.draw(st.booleans())
    for first, second in ((by_the_book, over_table), (over_table, by_the_book)):
        optimum = first(problem, problem.start(), effort, fixed)
        again = second(problem, problem.starting_at(optimum), effort, fixed)
        np.testing.assert_allclose(value(again), value(optimum), rtol=1e-9, atol=1e-6)
        if fixed:
            np.testing.assert_array_equal(optimum.hyperplanes, problem.hyperplanes)


@needs_compiled
@each_variant
@few
@given(data=st.data())
def test_ascents_from_within_a_nat_of_an_optimum_end_at_the_same_value(variant, data):
    problem = data.draw(ascent_problems(variant, max_splits=2))
    effort = problem.effort(EXACT)
    optimum = over_table(problem, problem.start(), effort)
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    near = problem.starting_at(moved(optimum, rng, 0.01))
    height = value(by_the_book(problem, near, problem.effort(1e9, max_passes=1)))
    assume((height > value(optimum) - 1).all())
    one, other = (value(ascent(problem, near, effort)) for ascent in (by_the_book, over_table))
    np.testing.assert_allclose(other, one, rtol=1e-9, atol=1e-5)


@needs_compiled
@each_variant
@few
@given(data=st.data())
def test_compiled_ascents_make_the_same_steps_by_callback_and_over_a_table(variant, data):
    problem = data.draw(ascent_problems(variant))
    effort = problem.effort(1e-2, rounds=3, max_passes=data.draw(st.integers(1, 8)))
    one, other = (ascent(problem, problem.start(), effort) for ascent in (by_callback, over_table))
    for name in ("hyperplanes", "precisions", "statistics", "log_evidence", "prices"):
        expected = getattr(one, name)
        size = np.abs(expected).max(initial=1.0)
        np.testing.assert_allclose(getattr(other, name), expected, rtol=1e-4, atol=1e-5 * size)


@each_ascent
@each_variant
@few
@given(data=st.data())
def test_updates_of_precisions_never_lower_the_log_evidence(ascent, variant, data):
    problem = data.draw(ascent_problems(variant)).alone
    held, updated = (ascent(problem, problem.start(), problem.effort(1e-6, rounds)) for rounds in (0, 6))
    assert (updated.log_evidence >= held.log_evidence - 1e-9 * np.abs(held.log_evidence)).all()


@each_ascent
@each_variant
@few
@given(data=st.data())
def test_slopes_that_are_no_part_of_a_sparse_tree_stay_zero(ascent, variant, data):
    problem = data.draw(ascent_problems(variant))
    stack = ascent(problem, problem.start(), problem.effort(1e-4, rounds=2, max_passes=30))
    if problem.sparse:
        assert (stack.hyperplanes[:, -1, -1] == 0).all()
    assert np.isfinite(stack.log_evidence).all()


@each_ascent
@each_variant
@few
@given(data=st.data())
def test_a_tree_that_cannot_reach_the_least_log_evidence_is_given_up_early(ascent, variant, data):
    problem = data.draw(ascent_problems(variant))
    effort = problem.effort(1e-4, rounds=4)
    whole = ascent(problem, problem.start(), effort)
    hopeless = ascent(
        problem, problem.start(), type(effort)(**(vars(effort) | {"least": whole.log_evidence.max() + 1e6}))
    )
    assert (hopeless.log_evidence <= whole.log_evidence + 1e-6).all()
    assert np.isfinite(hopeless.log_evidence).all()


@each_ascent
@pytest.mark.parametrize("max_passes", [0, 1, 2])
@given(data=st.data())
@examples(5)
def test_an_ascent_cut_short_still_gives_a_log_evidence(ascent, max_passes, data):
    problem = data.draw(ascent_problems(VARIANTS["classes"]))
    stack = ascent(problem, problem.start(), problem.effort(1e-9, rounds=3, max_passes=max_passes))
    assert np.isfinite(stack.log_evidence).all()
