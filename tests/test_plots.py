"""Pictures can be drawn of every tree, show what the model says, and can be read: no label lies on another."""

import io
import itertools
import subprocess
import sys
from functools import cache
from html.parser import HTMLParser
from string import ascii_uppercase
from types import SimpleNamespace

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_rgb
from matplotlib.text import Text
from scipy.special import expit
from sklearn.datasets import load_wine

from bayesian_reticulum import (
    DirichletCategorical,
    PaperReticulumClassifier,
    Reticulum,
    ReticulumClassifier,
    ReticulumRegressor,
    Schema,
    simplify,
)
from bayesian_reticulum.datasets import make_cross
from bayesian_reticulum.explain import explain_rows, export_text
from bayesian_reticulum.plots import (
    GrowthDisplay,
    GrowthStripDisplay,
    ImportancesDisplay,
    IntervalsDisplay,
    LeafShown,
    SplitShown,
    Surface3DDisplay,
    SurfaceDisplay,
    TreeDisplay,
    class_colours,
)
from bayesian_reticulum.tree import single_leaf, split_leaf
from plugins import GammaPoisson, mixed_frame

mpl.use("Agg")

DISPLAYS = {
    "tree": lambda model, X, y, **options: TreeDisplay.from_estimator(model, **options),
    "surface": lambda model, X, y, **options: SurfaceDisplay.from_estimator(model, X, y, grid_resolution=40, **options),
    "space": lambda model, X, y, **options: Surface3DDisplay.from_estimator(model, X, y, grid_resolution=20, **options),
    "growth": lambda model, X, y, **options: GrowthDisplay.from_estimator(model, **options),
    "strip": GrowthStripDisplay.from_estimator,
    "importances": lambda model, X, y, **options: ImportancesDisplay.from_estimator(model, **options),
    "intervals": IntervalsDisplay.from_estimator,
}
# Which displays make no sense, and what is said then.
REFUSED = {
    ("intervals", "classes"): "predicts classes, which have no intervals. SurfaceDisplay draws their probabilities",
    ("space", "one feature"): "a surface needs two features that are numbers. SurfaceDisplay draws a curve along one",
}
NUMBERS = {"linear", "constant", "counts"}


def letters():
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(26), 20)
    X = rng.uniform(size=(26, 2))[y] + 0.05 * rng.normal(size=(len(y), 2))
    return ReticulumClassifier(random_state=0, patience=1, max_splits=8), X, np.array([*ascii_uppercase])[y]


def long_names():
    """Fifteen splits, and names of forty letters."""
    rng = np.random.default_rng(0)
    names = [f"a_rather_long_name_of_the_feature_no_{j:02d}_" for j in range(6)]
    y = np.repeat(np.arange(16), 30)
    X = pd.DataFrame(rng.uniform(size=(16, 6))[y] + 0.08 * rng.normal(size=(len(y), 6)), columns=names)
    classes = np.array([f"a_class_that_has_a_name_of_forty_letters{k:02d}" for k in range(16)])
    return ReticulumClassifier(random_state=0, patience=1, max_splits=15), X, classes[y]


def wide():
    X = np.random.default_rng(0).normal(size=(300, 500))
    return ReticulumClassifier(random_state=0, patience=1), X, (X[:, 0] + 0.1 * X[:, 1] > 0).astype(int)


def one_feature():
    X = np.random.default_rng(0).normal(size=(150, 1))
    return ReticulumClassifier(random_state=0, patience=1), X, (np.abs(X[:, 0]) > 0.7).astype(int)


def mixed():
    frame, y = mixed_frame(200)
    return ReticulumClassifier(random_state=0, patience=1), frame, np.where(y, "ill", "well")


def bent(**options):
    X = np.random.default_rng(0).uniform(-1, 1, size=(200, 2))
    y = np.abs(X[:, 0]) + 0.3 * X[:, 1] + 0.05 * np.random.default_rng(1).normal(size=200)
    return ReticulumRegressor(random_state=0, patience=1, **options), X, y


def cross(**options):
    X, y, _ = make_cross(300, random_state=0)
    return ReticulumClassifier(random_state=0, patience=1, **options), X, y


def counts():
    X = np.random.default_rng(0).normal(size=(200, 2))
    y = np.random.default_rng(1).poisson(2 + 3 * (X[:, 0] > 0))
    return ReticulumRegressor(leaf=GammaPoisson(), random_state=0, patience=1), X, y


def published():
    X, y, _ = make_cross(200, random_state=0)
    return PaperReticulumClassifier(random_state=0, max_attempts=4), X, y


MODELS = {
    "two classes": cross,
    "no split": lambda: cross(max_splits=0),
    "one class": lambda: (ReticulumClassifier(), cross()[1], np.full(300, "all")),
    "26 classes": letters,
    "long names": long_names,
    "500 features": wide,
    "one feature": one_feature,
    "categories and gaps": mixed,
    "linear": lambda: bent(leaf="linear"),
    "constant": lambda: bent(leaf="constant"),
    "counts": counts,
    "published": published,
}


@cache
def fitted(name):
    model, X, y = MODELS[name]()
    return model.fit(X, y), X, y


@pytest.fixture(autouse=True)
def _no_figure_stays_open():
    yield
    plt.close("all")


def pixels(figure, dpi=50):
    """The picture as PNG, and its size."""
    file = io.BytesIO()
    figure.savefig(file, dpi=dpi)
    written = file.getvalue()
    assert written.startswith(b"\x89PNG\r\n\x1a\n")
    return int.from_bytes(written[16:20]), int.from_bytes(written[20:24])


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("kind", DISPLAYS)
def test_every_display_of_every_tree_is_drawn(kind, name):
    model, X, y = fitted(name)
    refused = REFUSED.get((kind, name if name in NUMBERS or kind != "intervals" else "classes"))
    if refused:
        with pytest.raises(ValueError, match=refused):
            DISPLAYS[kind](model, X, y)
        return
    display = DISPLAYS[kind](model, X, y)
    width, height = display.figure_.get_size_inches()
    assert pixels(display.figure_) == pytest.approx((50 * width, 50 * height), abs=1)
    assert 2 < width < 16
    assert 0.5 < height < 16
    assert display.ax_.figure is display.figure_


@pytest.mark.parametrize("kind", DISPLAYS)
def test_axes_may_be_given(kind):
    model, X, y = fitted("linear" if kind == "intervals" else "two classes")
    figure, (_, ax) = plt.subplots(
        1, 2, figsize=(8, 3), layout="constrained", subplot_kw={"projection": "3d"} if kind == "space" else None
    )
    display = DISPLAYS[kind](model, X, y, ax=ax)
    assert display.ax_ is ax
    assert display.figure_ is figure
    assert len(plt.get_fignums()) == 1
    assert pixels(figure) == (400, 150)
    assert display.plot() is display
    assert display.figure_ is not figure


@pytest.mark.parametrize("kind", DISPLAYS)
def test_what_is_not_fitted_is_refused(kind):
    with pytest.raises(ValueError, match=r"ReticulumClassifier is not a fitted reticulum\. Call fit first"):
        DISPLAYS[kind](ReticulumClassifier(), None, None)


def chain(n_splits, names):
    """A tree in which every split but the last has one leaf, with classes drawn by lot."""
    rng = np.random.default_rng(0)
    tree = single_leaf(len(names))
    for place in range(n_splits):
        tree = split_leaf(tree, place, rng.normal(size=len(names) + 1))
    zeros, ones = np.zeros(len(names)), np.ones(len(names))
    schema = Schema(tuple(names), zeros, ones, -3 * ones, 3 * ones)
    each = np.ones(n_splits)
    statistics = rng.uniform(0, 30, size=(n_splits + 1, 3))
    family = DirichletCategorical((0.5,) * 3)
    classes = ("first", "2nd", "third")
    model = Reticulum(tree, statistics, family, schema, classes, each, -1e4, 1e3 * each, each, each / 7)
    return SimpleNamespace(model_=model)


def assert_readable(figure, texts):
    """No text lies on another or leaves the figure."""
    figure.canvas.draw()
    boxes = [text.get_window_extent() for text in texts if text.get_text() and text.get_visible()]
    assert boxes
    for box in boxes:
        assert box.x0 >= 0
        assert box.y0 >= 0
        assert box.x1 <= figure.bbox.width
        assert box.y1 <= figure.bbox.height
    for first, second in itertools.combinations(boxes, 2):
        assert not first.overlaps(second)


@pytest.mark.parametrize("size", [None, (12, 9), (5, 4), (3, 7)])
@pytest.mark.parametrize("shape", ["long names", "chain", "linear"])
def test_no_label_of_a_tree_lies_on_another(shape, size):
    names = [f"a_rather_long_name_of_the_feature_no_{j:02d}_" for j in range(30)]
    model = chain(15, names) if shape == "chain" else fitted(shape)[0]
    if shape == "long names":
        assert model.n_splits_ == 15
    ax = None if size is None else plt.subplots(figsize=size, layout="constrained")[1]
    display = TreeDisplay.from_estimator(model, ax=ax)
    assert_readable(display.figure_, display.texts_)
    assert len(display.texts_) > (4 * 15 if shape != "linear" else 4)


@pytest.mark.parametrize("kind", ["growth", "strip", "importances"])
@pytest.mark.parametrize("name", ["long names", "two classes", "500 features"])
def test_no_label_lies_on_another(kind, name):
    display = DISPLAYS[kind](*fitted(name))
    axes = [display.ax_, *getattr(display, "axes_", [])]
    texts = [text for ax in axes for text in (*ax.texts, ax.xaxis.label, ax.yaxis.label)]
    texts += [child for ax in axes for child in ax.get_children() if isinstance(child, Text)]
    if kind == "importances":
        texts += display.ax_.get_yticklabels()
    assert_readable(display.figure_, list(dict.fromkeys(texts)))


@pytest.mark.parametrize("dpi", [50, 80, 110])
def test_labels_of_a_tree_fit_on_a_coarse_screen(dpi):
    display = TreeDisplay.from_estimator(fitted("long names")[0])
    display.figure_.set_dpi(dpi)
    assert_readable(display.figure_, display.texts_)


@pytest.mark.parametrize("kind", ["surface", "space"])
def test_no_class_on_a_surface_lies_on_another_or_on_a_split(kind):
    display = DISPLAYS[kind](*fitted("long names"))
    texts = [text for text in display.ax_.texts if text.get_text()]
    assert len(texts) > 4
    display.figure_.canvas.draw()
    boxes = [text.get_window_extent() for text in texts]
    assert not any(first.overlaps(second) for first, second in itertools.combinations(boxes, 2))


def test_a_tree_shows_what_the_model_says():
    model, X, _ = fitted("two classes")
    display = TreeDisplay.from_estimator(model)
    splits = [node for node in display.nodes if isinstance(node, SplitShown)]
    leaves = [node for node in display.nodes if isinstance(node, LeafShown)]
    assert [leaf.name for leaf in leaves] == list(map(str, range(model.n_leaves_)))
    assert sorted(split.split for split in splits) == list(range(model.n_splits_))
    assert sum(leaf.share for leaf in leaves) == pytest.approx(1)
    for split in splits:
        assert split.share == pytest.approx(sum(display.nodes[child].share for child in split.children))
        left, right = split.children
        assert left < display.nodes.index(split) < right
    np.testing.assert_allclose(
        [leaf.mean for leaf in leaves], model.model_.family.probabilities(model.model_.statistics)
    )
    assert len(TreeDisplay.from_estimator(model, max_depth=1).nodes) == 3
    (leaf,) = TreeDisplay.from_estimator(model, max_depth=0).nodes
    assert leaf.count == pytest.approx(len(X))


def test_a_leaf_of_numbers_shows_its_distribution_at_the_centre_of_its_rows():
    model, X, y = fitted("linear")
    (leaf,) = TreeDisplay.from_estimator(model, max_depth=0).nodes
    assert leaf.mean[0] == pytest.approx(y.mean(), abs=0.02)
    low, _, _, high = leaf.quantiles
    assert 0.8 < ((low < y) & (y < high)).mean() <= 1
    leaves = [node for node in TreeDisplay.from_estimator(model).nodes if isinstance(node, LeafShown)]
    membership = model.membership(X)
    for leaf in leaves:
        weights = membership[:, int(leaf.name)]
        assert leaf.mean[0] == pytest.approx(np.average(y, weights=weights), abs=0.05)
        assert leaf.contributions[0].name in ("x0", "x1")


def test_a_surface_is_what_is_predicted():
    model, X, y = fitted("two classes")
    display = SurfaceDisplay.from_estimator(model, X, y, grid_resolution=7)
    points = np.stack(np.meshgrid(*display.grid), axis=-1)
    np.testing.assert_allclose(display.values, model.predict_proba(points.reshape(-1, 2)).reshape(7, 7, 2))
    # Activations, and who gets there, are those of the splits.
    activation = np.einsum("mk,xyk->mxy", display.planes[:, 1:], points) + display.planes[:, :1, None]
    for why, gate, reach in zip(
        explain_rows(model, points.reshape(-1, 2)),
        expit(activation).reshape(len(display.planes), -1).T,
        display.reach.reshape(len(display.planes), -1).T,
        strict=True,
    ):
        for own in why.decisions:
            assert gate[own.split] == pytest.approx(own.probability_left, abs=1e-9)
            assert reach[own.split] == pytest.approx(own.reach, abs=1e-9)
    assert display.held == ""
    np.testing.assert_array_equal(display.codes, y)


def test_what_is_not_drawn_is_held():
    model, frame, y = fitted("categories and gaps")
    others = ["age", "city", "smokes"]
    row = frame.dropna().iloc[[3]]
    typical = {"age": frame["age"].median(), "city": frame["city"].mode()[0], "smokes": frame["smokes"].mode()[0]}
    for given, expected, held in (
        ({"row": row}, row.iloc[0], "as in the given row"),
        ({"row": row.iloc[0]}, row.iloc[0], "as in the given row"),
        ({}, typical, "at their median"),
    ):
        display = SurfaceDisplay.from_estimator(model, frame, y, features="income", **given)
        table = pd.DataFrame({"income": display.grid[0]} | {name: expected[name] for name in others})
        np.testing.assert_allclose(display.values, model.predict_proba(table[list(frame.columns)]))
        assert display.held == held
    assert SurfaceDisplay.from_estimator(model).held == "at their centre"


def test_a_row_with_gaps_is_averaged_over():
    model, frame, _ = fitted("categories and gaps")
    row = frame.iloc[[0]].assign(city=None, age=np.nan)
    display = SurfaceDisplay.from_estimator(model, row=row, features=["income"])
    table = pd.concat([row] * len(display.grid[0]), ignore_index=True).assign(income=display.grid[0])
    np.testing.assert_allclose(display.values, model.predict_proba(table), atol=1e-9)


def test_intervals_are_those_of_the_predictive_distribution():
    model, X, y = fitted("linear")
    display = IntervalsDisplay.from_estimator(model, X, y, feature=0)
    table = np.column_stack([display.grid, np.full(len(display.grid), np.median(X[:, 1]))])
    distribution = model.predict_distribution(table)
    np.testing.assert_allclose(display.mean, distribution.mean)
    for level in (0.5, 0.9):
        np.testing.assert_allclose(display.intervals[level], distribution.interval(level))


def test_intervals_of_a_category_stand_side_by_side():
    frame, y = mixed_frame(150)
    model = ReticulumRegressor(leaf="constant", random_state=0, patience=1).fit(frame, y + 0.0)
    display = IntervalsDisplay.from_estimator(model, frame, y, feature="city")
    assert set(display.levels) == set(frame["city"].dropna())
    shown = [tick.get_text() for tick in display.ax_.get_xticklabels()]
    assert tuple(shown) == display.levels


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"features": ["height"]}, "there is no feature 'height'; choose from 'age', 'income', 'city', 'smokes'"),
        ({"features": [7]}, "there is no feature 7"),
        ({"features": ["age", "age"]}, "features must name one or two different features"),
        ({"features": ["age", "city"]}, r"feature 'city' is a category.*Choose from the numbers \('age', 'income'\)"),
        ({"grid_resolution": 1}, "grid_resolution must be a whole number of at least 2; got 1"),
        ({"y": [0]}, "y was given without X"),
        ({"X": mixed_frame(5)[0], "y": [0]}, "y must have one target for each of the 5 rows"),
        ({"row": mixed_frame(5)[0]}, "row must be a single row, such as X"),
    ],
)
def test_what_cannot_be_drawn_is_told(options, message):
    with pytest.raises(ValueError, match=message):
        SurfaceDisplay.from_estimator(fitted("categories and gaps")[0], **options)


def test_limits_are_checked():
    model, X, y = fitted("two classes")
    with pytest.raises(ValueError, match="max_features must be a whole number of at least 1; got 0"):
        ImportancesDisplay.from_estimator(model, max_features=0)
    with pytest.raises(ValueError, match="max_depth must be a whole number of at least 0; got -1"):
        TreeDisplay.from_estimator(model, max_depth=-1)
    with pytest.raises(ValueError, match="n_frames must be a whole number of at least 1; got 0"):
        GrowthStripDisplay.from_estimator(model, n_frames=0)
    with pytest.raises(ValueError, match="needs axes in space"):
        Surface3DDisplay.from_estimator(model, X, y, ax=plt.figure().add_subplot())


def test_features_that_are_all_categories_have_no_surface():
    frame, y = mixed_frame(60)
    model = ReticulumClassifier(max_splits=0).fit(frame[["city", "smokes"]], y)
    with pytest.raises(ValueError, match=r"all features are categories.*Draw TreeDisplay instead"):
        SurfaceDisplay.from_estimator(model)


def test_a_tree_that_is_kept_and_then_tuned_is_one_step_of_growth():
    X, y = load_wine(return_X_y=True)
    model = ReticulumClassifier(random_state=0).fit(X, y)
    tuned = [event for event in model.history_ if event.phase == "tuned"]
    assert tuned
    display = GrowthDisplay.from_estimator(model)
    assert "tuned" not in display.phases
    assert len(set(zip(display.attempts[:-1], display.phases[:-1], strict=True))) == len(display.phases) - 1
    for event in tuned:
        (place,) = np.flatnonzero((display.attempts == event.attempt) & (np.array(display.phases) == "kept"))
        assert display.log_evidence[place] == event.log_evidence
    plt.close("all")


def test_growth_on_larger_samples_is_drawn_in_parts():
    phases = ("start", "start", "kept", "rejected", "start", "kept", "polished")
    log_evidence = np.array([-900.0, -90.0, -50.0, -50.0, -510.0, -500.0, -499.0])
    display = GrowthDisplay(
        np.array([0, 0, 1, 2, 2, 3, 3]), phases, log_evidence, np.array([0, 0, 2, 2, 2, 3, 3]), "no_gain"
    ).plot()
    first, second = (line.get_xydata() for line in display.lines_)
    np.testing.assert_array_equal(first, [[0, 0], [1, 40], [2, 40]])
    np.testing.assert_array_equal(second, [[3, 0], [4, 10], [4, 11]])


@pytest.mark.parametrize(
    ("reason", "told"),
    [
        ("no_gain", "the last 2 attempts gained nothing"),
        ("max_splits", "all splits were used"),
        ("max_attempts", "all attempts were made"),
        ("max_depth", "the tree is as deep as it may be"),
    ],
)
def test_growth_tells_why_it_stopped(reason, told):
    phases = ("start", "kept", "rejected", "rejected", "polished")
    display = GrowthDisplay(np.array([0, 1, 2, 3, 3]), phases, np.linspace(-9, -5, 5), np.arange(5), reason).plot()
    assert display.ax_.get_title(loc="left").endswith(f"stopped: {told}")


def test_simplified_steps_are_shown():
    X, y = load_wine(return_X_y=True, as_frame=True)
    model = ReticulumClassifier(random_state=0, patience=1).fit(X, y)
    simpler = simplify(model, X, y).estimator
    display = GrowthDisplay.from_estimator(simpler)
    assert "simplified" in display.phases
    assert "simplified" in [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert GrowthStripDisplay.from_estimator(simpler).frames[-1].phase == "simplified"


def test_a_strip_ends_with_the_tree_of_the_model():
    model, X, y = fitted("26 classes")
    kept = [event for event in model.history_ if event.phase == "kept"]
    display = GrowthStripDisplay.from_estimator(model, X, y, n_frames=3)
    assert len(display.frames) == len(display.axes_) == min(3, len(kept))
    np.testing.assert_array_equal(display.frames[-1].tree.hyperplanes, model.model_.tree.hyperplanes)
    assert display.frames[0].attempt == kept[0].attempt
    (only,) = GrowthStripDisplay.from_estimator(model, n_frames=1).frames
    assert only.tree.n_splits == model.n_splits_


def test_importances_are_all_there():
    model, *_ = fitted("500 features")
    display = ImportancesDisplay.from_estimator(model, max_features=5)
    assert len(display.names) == len(display.bars_) - 1 == 5
    assert display.n_others == 495
    assert display.shares.sum() + display.others == pytest.approx(1)
    assert (np.diff(display.shares) <= 0).all()


def test_names_are_shown_as_they_are():
    names = ["a $x$ & $y", "<b>bold</b>", "a\nb", "50% \\alpha_{1}"]
    X = pd.DataFrame(np.random.default_rng(0).normal(size=(120, 4)), columns=names)
    y = np.where(X.to_numpy().sum(axis=1) > 0, "$up$ <i>", "do$wn")
    model = ReticulumClassifier(random_state=0, patience=1).fit(X, y)
    for draw in [DISPLAYS[kind] for kind in DISPLAYS if kind != "intervals"]:
        pixels(draw(model, X, y).figure_)
    IntervalsDisplay.from_estimator(ReticulumRegressor(patience=1, leaf="constant").fit(X, X.iloc[:, 0]))
    shown = [text.get_text() for text in TreeDisplay.from_estimator(model).texts_]
    assert any("$up$ <i>" in text for text in shown)


@pytest.mark.parametrize("n", range(2, 9))
def test_colours_stay_apart_for_the_colour_blind(n):
    # Viénot, Brettel and Mollon's projections for protanopes and deuteranopes, on linear light.
    projections = [
        np.array([[0.11238, 0.88762, 0.0], [0.11238, 0.88762, -0.0], [0.00401, -0.00401, 1.0]]),
        np.array([[0.29275, 0.70725, 0.0], [0.29275, 0.70725, -0.0], [-0.02234, 0.02234, 1.0]]),
    ]
    light = np.array([to_rgb(colour) for colour in class_colours(n)]) ** 2.2
    for projection in projections:
        seen = np.clip(light @ projection.T, 0, 1) ** (1 / 2.2)
        for first, second in itertools.combinations(seen, 2):
            assert np.linalg.norm(first - second) > 0.18


def luminance(colours):
    return np.array([to_rgb(colour) for colour in colours]) @ [0.299, 0.587, 0.114]


@pytest.mark.parametrize(("n", "least"), [(2, 0.4), (3, 0.12), (4, 0.12), (5, 0.12)])
def test_few_colours_stay_apart_in_grey(n, least):
    grey = np.sort(luminance(class_colours(n)))
    assert np.diff(grey).min() > least
    # None is lost on white.
    assert grey[-1] < 0.85


def test_colours_that_follow_each_other_are_dark_and_light():
    assert np.abs(np.diff(luminance(class_colours(8)))).min() > 0.1


def test_a_probability_is_dark_white_or_light_in_grey():
    model, X, y = fitted("two classes")
    surface = SurfaceDisplay.from_estimator(model, X, y, splits=False, rows=False).surface_
    low, even, high = luminance(surface.cmap([0.0, 0.5, 1.0])[:, :3])
    assert high - low > 0.4
    assert even - high > 0.2


def test_many_colours_run_from_dark_to_light():
    assert (np.diff(luminance(class_colours(26))) > 0).all()


def test_a_legend_names_the_marks_of_classes():
    display = SurfaceDisplay.from_estimator(*fitted("two classes"), surface=False)
    _, names = display.ax_.get_legend_handles_labels()
    assert names == ["class 0", "class 1"]


def test_matplotlib_is_asked_for_when_something_is_drawn(monkeypatch):
    model, X, y = fitted("two classes")
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    for kind in ("growth", "importances", "space", "strip", "surface", "tree"):
        with pytest.raises(ImportError, match=r"pip install 'bayesian-reticulum\[plots\]'"):
            DISPLAYS[kind](model, X, y)


def test_matplotlib_is_not_imported_before():
    code = "import sys, bayesian_reticulum, bayesian_reticulum.plots; sys.exit('matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], timeout=60).returncode == 0


@pytest.mark.parametrize("name", MODELS)
def test_text_is_what_is_printed(name):
    model, *_ = fitted(name)
    assert export_text(model) == str(model.model_)
    shallow = export_text(model, max_depth=0).splitlines()
    assert len(shallow) == 2
    assert len(export_text(model, max_depth=99)) == len(str(model.model_))


def test_text_is_as_long_and_as_precise_as_asked_for():
    model, X, _ = fitted("long names")
    total, below = len(X), model.n_splits_ - 1
    first = export_text(model, max_depth=0).splitlines()[1]
    assert first.startswith(f"split 0 and {below} below as one leaf: ")
    assert first.endswith(f"(n = {total}.0)")
    assert "+ 6 others (100%)" in export_text(model, max_features=0)
    assert "others" not in export_text(model, max_features=6, max_depth=1).split("as one leaf")[0]
    assert len(export_text(model, decimals=6)) > len(export_text(model))
    for options, message in (
        ({"max_depth": -1}, "max_depth must be a whole number of at least 0; got -1"),
        ({"max_features": 1.5}, "max_features must be a whole number of at least 0; got 1.5"),
        ({"decimals": 0}, "decimals must be a whole number of at least 1; got 0"),
    ):
        with pytest.raises(ValueError, match=message):
            export_text(model, **options)


class Balance(HTMLParser):
    """Tags that are open, and what is written between tags."""

    def __init__(self):
        super().__init__()
        self.opened, self.written, self.seen = [], [], set()

    def handle_starttag(self, tag, attributes):
        self.seen.add(tag)
        if tag != "br":
            self.opened.append(tag)

    def handle_endtag(self, tag):
        assert self.opened.pop() == tag

    def handle_data(self, text):
        self.written.append(text)


@pytest.mark.parametrize("name", MODELS)
def test_a_notebook_shows_the_tree(name):
    model, *_ = fitted(name)
    page = Balance()
    page.feed(model.model_._repr_html_())
    assert page.opened == []
    assert page.seen <= {"div", "details", "summary", "span", "small", "b", "br"}
    written = "".join(page.written)
    for line in str(model.model_).splitlines()[1:]:
        node = line.lstrip("│├└─ ").removeprefix("left  ").removeprefix("right ")
        # Probabilities stand in bars of their own.
        parts = node.removesuffix(")").replace("  (", ", ").replace(": ", ": , ").split(", ")
        assert all(part in written for part in ([node] if "leaf" not in node else parts))


def test_a_notebook_shows_names_as_text():
    X = pd.DataFrame({"<script>alert(1)</script>": np.linspace(-1, 1, 60)})
    model = ReticulumClassifier(patience=1, random_state=0).fit(X, np.where(X.iloc[:, 0] > 0, "<img src=x>", "b&b"))
    page = model.model_._repr_html_()
    assert "<script" not in page
    assert "<img" not in page
    assert "&lt;img src=x&gt;" in page
