"""The experiments of the paper benchmark: what they claim holds at quick sizes, with room to spare."""

import numpy as np
import pytest

import convergence
import polygons


@pytest.fixture(scope="module")
def shapes():
    return polygons.measure(quick=True)


@pytest.fixture(scope="module")
def moves():
    return convergence.measure(quick=True)


def _sloped(moves, stiffness):
    return next(at for at in moves.slopes if at.stiffness == stiffness)


def _turned(moves, way, stiffness):
    return next(at.turned for at in moves.turns if (at.way, at.stiffness) == (way, stiffness))


def test_the_start_is_a_polygon_with_the_area_and_softness_of_the_truth():
    hyperplanes = polygons.soft_polygon(5)
    np.testing.assert_allclose(np.linalg.norm(hyperplanes[:, 1:], axis=1), 10.0)
    normals, distances = hyperplanes[:, 1:] / 10, -hyperplanes[:, 0] / 10
    corners = np.array([np.linalg.solve(normals[[j, (j + 1) % 5]], distances[[j, (j + 1) % 5]]) for j in range(5)])
    x, y = corners.T
    np.testing.assert_allclose(0.5 * (x * np.roll(y, -1) - y * np.roll(x, -1)).sum(), np.pi)


def test_a_chain_hangs_every_split_on_the_right_of_the_one_before():
    shape = polygons.chain(3)
    np.testing.assert_array_equal(shape.children, [[~0, 1], [~1, 2], [~2, ~3]])
    np.testing.assert_array_equal(shape.leaf_levels, [1, 2, 3, 3])


def test_the_paper_bound_hardens_gates_and_the_variational_bound_keeps_them_soft(shapes):
    for paper, variational in zip(shapes.named(polygons.PAPER), shapes.named(polygons.VARIATIONAL), strict=True):
        assert paper.stiffness > 20 * variational.stiffness
        assert 4 < variational.stiffness < 40
        assert paper.log_loss > variational.log_loss + 0.03
        assert variational.log_loss > shapes.floor


def test_adam_hardens_gates_too_as_far_as_its_steps_go(shapes):
    assert all(fit.stiffness > 1.5 * polygons.TRUE_STIFFNESS for fit in shapes.named(polygons.PAPER_ADAM))


def test_an_ascent_raises_its_own_bound(shapes):
    for start, paper, variational in zip(
        *(shapes.named(name) for name in (polygons.START_PAPER, polygons.PAPER, polygons.VARIATIONAL)),
        strict=True,
    ):
        assert paper.paper_bound > start.paper_bound + 50
        assert variational.variational_bound > start.variational_bound


def test_the_variational_bound_is_never_below_the_paper_bound(shapes):
    assert all(fit.variational_bound >= fit.paper_bound - 1e-3 for fit in shapes.fits)


def test_with_stiffness_held_only_the_variational_bound_is_highest_at_the_truth(shapes):
    paper = [point.paper_bound for point in shapes.profile]
    assert paper == sorted(paper)
    best = max(shapes.profile, key=lambda point: point.variational_bound)
    assert best.stiffness == polygons.TRUE_STIFFNESS
    assert best.variational_log_loss == min(point.variational_log_loss for point in shapes.profile)


def test_the_root_moves_more_than_the_lowest_splits_by_plain_steps(moves):
    for data in ("sphere", "cross"):
        root, *_, lowest = (level for level in moves.levels if level.data == data)
        assert root.gradient > 1.3 * lowest.gradient
        assert root.moves[0] > 3 * lowest.moves[0]


def test_therandom_trees_are_full():
    rows = convergence.in_ranges(convergence.make_cross(100, random_state=0))
    hyperplanes, shape = convergence.random_trees(rows, 2, np.random.default_rng(0))
    assert hyperplanes.shape == (2, 7, 3)
    np.testing.assert_array_equal(shape.levels, [0, 1, 1, 2, 2, 2, 2])
    np.testing.assert_array_equal(shape.leaf_levels, np.full(8, 3))


def test_stiff_splits_stand_still_in_weights_but_not_in_polar_coordinates(moves):
    moderate, stiff = _sloped(moves, 3.0), _sloped(moves, 1000.0)
    assert stiff.by_weights < 0.05 * moderate.by_weights
    assert stiff.by_angle > 0.05 * moderate.by_angle
    assert _turned(moves, "plain, weights", 1000.0) < 0.1
    assert _turned(moves, "Adam, weights", 1000.0) < 2
    assert _turned(moves, "Adam, polar", 1000.0) > 5


def test_of_a_soft_split_only_the_stiffness_has_a_gradient_to_speak_of(moves):
    soft = _sloped(moves, 0.01)
    assert soft.by_stiffness > 20 * soft.by_angle
    assert soft.by_stiffness > 20 * soft.by_offset
    # By stiffness it grows with the stiffness, by angle with its square.
    softer, stiffer = soft, _sloped(moves, 0.1)
    np.testing.assert_allclose(stiffer.by_stiffness / softer.by_stiffness, 10, rtol=0.1)
    np.testing.assert_allclose(stiffer.by_angle / softer.by_angle, 100, rtol=0.1)


def test_soft_splits_stiffen_first_in_polar_coordinates_but_turn_first_in_weights(moves):
    at_turn = {soft.way: soft.stiffness_at_turn[1] for soft in moves.soft}
    assert at_turn["plain, polar"] > 0.5
    assert at_turn["plain, weights"] < 0.1


def test_the_same_seed_gives_the_same_numbers_and_another_seed_others(moves):
    assert convergence.measure(quick=True) == moves
    first = polygons.measure(n_rows=200, quick=True)
    assert polygons.measure(n_rows=200, quick=True) == first
    assert polygons.measure(n_rows=200, seed=1, quick=True) != first


def test_tables_and_figures_show_what_was_measured(shapes, moves, tmp_path):
    text = "\n".join([polygons.markdown(shapes), convergence.markdown(moves)])
    for line in (
        "| splits | paper's bound | paper's bound, Adam | variational bound | variational bound, gate prior |",
        "| stiffness | paper's bound | its log-loss | variational bound | its log-loss |",
        "| data | level | gradient | 50 plain steps | 500 plain steps | 50 steps of Adam |",
        "| stiffness | by weights | by stiffness | by angle | by offset |",
        "| stiffness | plain, weights | Adam, weights | plain, polar | Adam, polar |",
    ):
        assert line in text
    assert "nan" not in text
    for block in text.split("\n\n"):
        if block.startswith("|"):
            assert len({line.count("|") for line in block.splitlines()}) == 1
    for figure in (polygons.figure(shapes), convergence.figure(moves)):
        figure.savefig(tmp_path / "figure.png", dpi=100)
