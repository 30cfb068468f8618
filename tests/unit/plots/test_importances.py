"""Bars of importances are sorted and add up to one."""

import numpy as np
import pytest

from bayesian_reticulum.plots import ImportancesDisplay
from pictures import pixels
from small_models import fitted


def test_importances_are_all_there():
    model, *_ = fitted("500 features")
    display = ImportancesDisplay.from_estimator(model, max_features=5)
    assert len(display.names) == len(display.bars_) - 1 == 5
    assert display.n_others == 495
    assert display.shares.sum() + display.others == pytest.approx(1)
    assert (np.diff(display.shares) <= 0).all()
    assert display.ax_.get_yticklabels()[-1].get_text() == "495 other features"
    pixels(display.figure_)


def test_few_features_are_all_shown():
    model, *_ = fitted("two classes")
    display = ImportancesDisplay.from_estimator(model)
    assert set(display.names) == {"x0", "x1"}
    assert display.n_others == 0
    np.testing.assert_allclose([bar.get_width() for bar in display.bars_], display.shares)
    assert display.ax_.get_title(loc="left") == "share in the evidence gained"


def test_a_tree_without_splits_has_gained_nothing():
    display = ImportancesDisplay.from_estimator(fitted("no split")[0])
    assert display.ax_.get_title(loc="left") == "nothing was gained: the tree is one leaf"


def test_at_least_one_feature_is_shown():
    with pytest.raises(ValueError, match="max_features must be a whole number of at least 1; got 0"):
        ImportancesDisplay.from_estimator(fitted("two classes")[0], max_features=0)
