"""The figures of the paper's benchmark: they render, show what happened, and keep colours and names in order."""

from itertools import combinations
from types import SimpleNamespace

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_hex
from matplotlib.text import Text
from PIL import Image
from sklearn.linear_model import LogisticRegression

import diagrams
import figures
from bayesian_reticulum import GrowthEvent, History, PaperReticulumClassifier, ReticulumClassifier
from bayesian_reticulum.data import identity_schema
from bayesian_reticulum.datasets import make_cross, make_ripley
from bayesian_reticulum.tree import collapse, single_leaf, split_leaf
from techniques import OURS, PUBLISHED


@pytest.fixture(scope="module")
def cross():
    return make_cross(200, random_state=0)


@pytest.fixture(scope="module")
def ripley():
    return make_ripley(120, random_state=0)


@pytest.fixture(scope="module")
def classifiers(cross):
    """What may have to be drawn on the cross, also trees without a split."""
    models = {
        "logistic regression": LogisticRegression(),
        OURS: ReticulumClassifier(random_state=0),
        PUBLISHED: PaperReticulumClassifier(max_attempts=4, n_gradient_steps=40, random_state=0),
        "one leaf": ReticulumClassifier(max_splits=0),
        "no attempt": PaperReticulumClassifier(max_attempts=0),
    }
    return {name: model.fit(cross.X, cross.y) for name, model in models.items()}


@pytest.fixture(scope="module")
def history():
    """Splits 0, 1 and 2 are kept; the attempt with split 3 prunes split 1; that with split 4 prunes it alone."""
    events, tree = [GrowthEvent(0, "start", None, single_leaf(2), -9.0)], single_leaf(2)
    for split_id, hyperplane in enumerate(([0.0, 3, 1], [0.2, 1, -4], [-0.3, -2, 5], [0.1, 9, 9], [0.4, 5, -7])):
        attempt = split_id + 1
        proposed = split_leaf(tree, tree.n_leaves - 1, hyperplane, split_id)
        events += [GrowthEvent(attempt, phase, split_id, proposed, -8.0) for phase in ("proposed", "local", "global")]
        tree = proposed
        if split_id >= 3:
            pruned = 1 if split_id == 3 else 4
            tree = collapse(tree, int(np.flatnonzero(tree.ids == pruned)[0]))
            events.append(GrowthEvent(attempt, "pruned", split_id, tree, -7.0))
        events.append(GrowthEvent(attempt, "kept" if split_id in tree.ids else "rejected", split_id, tree, -7.0))
    events.append(GrowthEvent(5, "polished", None, tree, -7.0))
    return History(tuple(events), "max_attempts")


def size(path):
    with Image.open(path) as image:
        assert image.format == "PNG"
        return image.size


def overlaps(axis):
    """Pairs of words on an axis that run into each other."""
    renderer = FigureCanvasAgg(axis.figure).get_renderer()
    axis.figure.draw(renderer)
    words = [each for each in axis.findobj(Text) if each.get_text() and each.get_visible() and each.get_zorder() > 3]
    boxes = [(word.get_text(), word.get_window_extent(renderer)) for word in words]
    return [(one, other) for (one, here), (other, there) in combinations(boxes, 2) if here.overlaps(there)]


@pytest.mark.parametrize("name", ["logistic regression", OURS, PUBLISHED, "one leaf", "no attempt"])
def test_a_technique_is_drawn_as_contours_and_as_a_surface(cross, classifiers, name, tmp_path):
    figure = figures.surface_figure(cross.X, cross.y, classifiers[name], f"cross: {name}", "|N| = 1")
    plane, surface = figure.axes[0], figure.axes[-1]
    assert plane.get_aspect() == 1
    assert plane.get_xlabel()
    assert plane.get_ylabel()
    assert surface.name == "3d"
    figures.save(figure, tmp_path / "figure.png")
    width, _ = size(tmp_path / "figure.png")
    assert width >= 1200
    assert (tmp_path / "figure.png").stat().st_size < 150_000


def test_the_overview_has_a_panel_for_the_data_and_for_each_technique(cross, classifiers, tmp_path):
    figure = figures.overview_figure(cross.X, cross.y, "cross", classifiers)
    titles = [axis.get_title(loc="left") for axis in figure.axes]
    assert titles[1 : len(classifiers) + 1] == list(classifiers)
    figures.save(figure, tmp_path / "figure.png")
    assert size(tmp_path / "figure.png")[0] >= 1200


def test_only_reticula_have_splits(cross, classifiers):
    def lines(model):
        plane = figures.surface_figure(cross.X, cross.y, model, "").axes[0]
        return {line.get_gid() for line in plane.lines if line.get_gid()}

    assert lines(classifiers["logistic regression"]) == set()
    assert lines(classifiers["one leaf"]) == set()
    assert lines(classifiers[OURS]) == {f"split {each}" for each in classifiers[OURS].model_.tree.ids}


def test_class_0_is_blue_and_class_1_is_red(cross):
    figure = diagrams.new_figure(5)
    diagrams.draw_rows(figure.add_subplot(), cross.X, cross.y)
    drawn = {}
    for points in figure.axes[0].collections:
        shape = len(points.get_paths()[0].vertices)
        drawn.setdefault((to_hex(points.get_edgecolor()[0]), shape), []).extend(points.get_offsets())
    by_colour = {colour: np.array(rows) for (colour, _), rows in drawn.items()}
    # Two looks that differ in colour and in shape.
    assert len(drawn) == len(by_colour) == len({shape for _, shape in drawn}) == 2
    for label, colour, p in ((0, diagrams.BLUE, 0.0), (1, diagrams.RED, 1.0)):
        np.testing.assert_array_equal(np.sort(by_colour[colour], axis=0), np.sort(cross.X[cross.y == label], axis=0))
        assert to_hex(diagrams.PROBABILITY(p)) == colour
    assert min(diagrams.PROBABILITY(0.5)) > 0.99


def test_a_view_is_where_splits_are_straight(ripley):
    view = figures.View.of_rows(ripley.X)
    schema = ReticulumClassifier(max_splits=0).fit(ripley.X, ripley.y).model_.schema
    np.testing.assert_allclose(view.low, schema.low)
    np.testing.assert_allclose(view.high, schema.high)


@pytest.mark.parametrize("scale", [[1e-6, 1.0], [1.0, 0.0], [0.0, 0.0]])
def test_a_view_of_lopsided_rows_is_still_a_picture(ripley, scale):
    view = figures.View.of_rows(ripley.X * scale)
    assert 0.35 < view.shape < 2.9
    assert (view.high > view.low).all()


def test_a_split_ends_where_the_gates_above_it_turn():
    view = figures.View(np.array([-1.0, -1.0]), np.array([1.0, 1.0]))
    tree = split_leaf(split_leaf(single_leaf(2), 0, [0.0, 10, 0]), 0, [0.0, 0, 20])
    (root_line, root_band), (line, band) = figures.split_areas(tree, identity_schema(2), view, np.log(9))
    np.testing.assert_allclose(np.sort(root_line[:2], axis=0), [[0, -1], [0, 1]], atol=1e-12)
    np.testing.assert_allclose(np.sort(line[:2], axis=0), [[0, 0], [1, 0]], atol=1e-12)
    np.testing.assert_allclose(np.ptp(root_band, axis=0), [2 * np.log(9) / 10, 2])
    np.testing.assert_allclose(np.ptp(band, axis=0), [1, 2 * np.log(9) / 20])


def test_a_split_that_no_gate_leads_to_has_no_line():
    view = figures.View(np.array([-1.0, -1.0]), np.array([1.0, 1.0]))
    away = split_leaf(split_leaf(single_leaf(2), 0, [0.0, 10, 0]), 0, [5.0, 10, 0])
    line, band = figures.split_areas(away, identity_schema(2), view, 0.1)[1]
    assert len(line) == len(band) == 0


def test_stages_are_the_first_kept_splits_a_pruned_one_and_the_end(history):
    rows = figures.stages(history)
    assert [len(row.panels) for row in rows] == [2, 3, 3, 3, 2]
    assert [row.title.split(":")[0] for row in rows[:4]] == [f"Attempt {k}" for k in (1, 2, 3, 4)]
    assert "pruned" in rows[3].title
    before, after = rows[3].panels[-1][1], rows[4].panels[0][1]
    assert 1 in before.ids
    assert 1 not in after.ids
    assert rows[-1].panels[-1][1] is history[-1].tree


def test_a_split_keeps_its_colour_from_row_to_row(history, ripley, tmp_path):
    figure = figures.construction_figure(ripley.X, ripley.y, history, identity_schema(2))
    rows = figures.stages(history)
    panels = [axis for axis in figure.axes if axis.get_title(loc="left")]
    trees = [tree for row in rows for _, tree in row.panels]
    assert len(panels) == len(trees)
    colours = {}
    for panel, tree in zip(panels, trees, strict=True):
        lines = {line.get_gid(): to_hex(line.get_color()) for line in panel.lines}
        assert set(lines) <= {f"split {each}" for each in tree.ids}
        for name, colour in lines.items():
            assert colours.setdefault(name, colour) == colour
    assert len(colours) == len(set(colours.values())) > 2
    figures.save(figure, tmp_path / "figure.png")
    assert size(tmp_path / "figure.png")[0] >= 1200


@pytest.mark.parametrize("name", [PUBLISHED, "no attempt"])
def test_any_history_can_be_drawn(cross, classifiers, name, tmp_path):
    model = classifiers[name]
    figures.save(
        figures.construction_figure(cross.X, cross.y, model.history_, model.model_.schema), tmp_path / "figure.png"
    )
    assert size(tmp_path / "figure.png")[0] >= 1200


@pytest.mark.parametrize("name", [OURS, PUBLISHED, "one leaf"])
def test_tree_and_network_have_all_splits_and_leaves(classifiers, name, tmp_path):
    model = classifiers[name].model_
    figure = diagrams.network_figure(model)
    for axis in figure.axes:
        words = [text.get_text() for text in axis.texts]
        assert all(f"$n_{{{split}}}$" in words for split in range(model.tree.n_splits))
        assert all(f"{p:.2f}" in words for p in model.family.probabilities(model.statistics)[:, 1])
        assert overlaps(axis) == []
    diagrams.save(figure, tmp_path / "figure.png")
    assert size(tmp_path / "figure.png")[0] >= 1200


def test_a_growing_tree_shows_what_is_explored(history, tmp_path):
    tree = diagrams.growing_tree(history, 3)
    assert tree.depth == 3
    assert tree.n_splits == 3
    figure = diagrams.explored_figure(tree, 3)
    words = [text.get_text() for text in figure.axes[0].texts]
    assert [f"$n_{{{split}}}$" in words for split in range(4)] == [True, True, True, False]
    assert [rf"$\ell_{{{leaf}}}$" in words for leaf in range(1, 6)] == [True, True, True, True, False]
    # All places of four levels, of which the tree takes seven.
    assert len(figure.axes[0].collections) == 15
    assert {"explored", "unexplored"} <= set(words)
    diagrams.save(figure, tmp_path / "figure.png")
    assert size(tmp_path / "figure.png")[0] >= 1200


def test_a_tree_without_a_split_is_all_unexplored(tmp_path):
    diagrams.save(diagrams.explored_figure(single_leaf(2), 2), tmp_path / "figure.png")
    assert size(tmp_path / "figure.png")[0] >= 1200


@pytest.mark.parametrize("hyperplane", [[-3.0, 2, 5], [2.0, -4, -3], [0.0, 0, 8]])
def test_a_hyperplane_is_drawn_in_both_coordinates(ripley, hyperplane, tmp_path):
    figure = diagrams.coordinates_figure(ripley.X, ripley.y, np.array(hyperplane))
    left, right = figure.axes
    assert {"$w_1$", "$w_2$"} <= {text.get_text() for text in left.texts}
    assert r"$\phi_1$" in {text.get_text() for text in right.texts}
    assert left.get_aspect() == right.get_aspect() == 1
    diagrams.save(figure, tmp_path / "figure.png")
    assert size(tmp_path / "figure.png")[0] >= 1200


def test_everything_that_a_study_measured_is_drawn(ripley, tmp_path):
    wide = SimpleNamespace(X=np.column_stack([ripley.X, ripley.X]), y=ripley.y)
    models = {
        "logistic regression": LogisticRegression(),
        PUBLISHED: PaperReticulumClassifier(max_attempts=4, n_gradient_steps=40, random_state=0),
        OURS: ReticulumClassifier(max_splits=2, random_state=0),
    }
    fits = {}
    for name, model in models.items():
        fit = SimpleNamespace(model=model.fit(ripley.X, ripley.y), n_nodes=2, losses=np.array([0.3, 0.4]))
        fits |= {(data, name): fit for data in ("sphere", "ripley", "wide")}
    data = {"sphere": ripley, "ripley": ripley, "wide": wide}
    paths = figures.draw_all(SimpleNamespace(data=data, fits=fits), tmp_path)
    assert {path.name for path in paths} == {
        "sphere-logistic-regression.png",
        "sphere-paperreticulumclassifier-published-settings.png",
        "sphere-reticulumclassifier.png",
        "sphere-overview.png",
        "ripley-paperreticulumclassifier-published-settings.png",
        "ripley-reticulumclassifier.png",
        "ripley-overview.png",
        "ripley-construction.png",
        "diagram-network.png",
        "diagram-coordinates.png",
        "diagram-explored.png",
    }
    assert all(size(path)[0] >= 1200 for path in paths)
