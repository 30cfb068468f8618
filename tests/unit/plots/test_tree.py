"""The diagram shows every split and leaf of a model, and no label lies on another."""

import matplotlib.pyplot as plt
import numpy as np
import pytest

from bayesian_reticulum.explain import Contribution
from bayesian_reticulum.plots import LeafShown, SplitShown, TreeDisplay
from bayesian_reticulum.plots.style import text_width
from bayesian_reticulum.plots.tree import _label
from pictures import assert_readable
from small_models import chain, fitted


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


@pytest.mark.parametrize("dpi", [50, 80, 110])
def test_labels_of_a_tree_fit_on_a_coarse_screen(dpi):
    display = TreeDisplay.from_estimator(fitted("long names")[0])
    display.figure_.set_dpi(dpi)
    assert_readable(display.figure_, display.texts_)


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


@pytest.mark.parametrize("name", ["constant", "counts"])
def test_constant_leaves_of_numbers_have_quantiles_and_no_contributions(name):
    model, *_ = fitted(name)
    for node in TreeDisplay.from_estimator(model).nodes:
        if isinstance(node, LeafShown):
            assert list(node.quantiles) == sorted(node.quantiles)
            assert node.contributions == ()


def test_the_key_names_few_classes_and_leaves_name_the_best_of_many():
    texts = [text.get_text() for text in TreeDisplay.from_estimator(fitted("categories and gaps")[0]).texts_]
    assert {"ill", "well"} <= set(texts)
    many = TreeDisplay.from_estimator(fitted("26 classes")[0])
    best = {many.targets[int(np.argmax(node.mean))] for node in many.nodes if isinstance(node, LeafShown)}
    assert best <= {text.get_text() for text in many.texts_}


def test_a_label_names_the_largest_contributions_that_fit():
    contributions = [Contribution("first", 1.0, 0.6), Contribution("second", -2.0, 0.4), Contribution("z", 1.0, 0.001)]
    assert _label(contributions, 500.0, 9.5, 3) == "↑ first 60%   ↓ second 40%   1 other"
    assert _label(contributions, 500.0, 9.5, 1) == "↑ first 60%   2 others"
    assert _label(contributions, 500.0, 9.5, 2, with_shares=False) == "↑ first   ↓ second"
    narrow = _label(contributions, 60.0, 9.5, 3)
    assert text_width(narrow, 9.5) <= 60
    assert _label([], 500.0, 9.5, 3) == ""


def test_a_depth_is_a_whole_number():
    with pytest.raises(ValueError, match="max_depth must be a whole number of at least 0; got -1"):
        TreeDisplay.from_estimator(fitted("two classes")[0], max_depth=-1)
