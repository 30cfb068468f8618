"""Exported text is the printed tree, as long and as precise as asked for."""

import pytest

from bayesian_reticulum import ReticulumClassifier
from bayesian_reticulum.explain import export_text
from small_models import MODELS, fitted


@pytest.mark.parametrize("name", MODELS)
def test_text_is_the_printed_tree(name):
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


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"max_depth": -1}, "max_depth must be a whole number of at least 0; got -1"),
        ({"max_features": 1.5}, "max_features must be a whole number of at least 0; got 1.5"),
        ({"decimals": 0}, "decimals must be a whole number of at least 1; got 0"),
    ],
)
def test_options_that_are_no_whole_numbers_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        export_text(fitted("two classes")[0], **options)


def test_an_estimator_without_fit_has_no_text():
    with pytest.raises(ValueError, match=r"ReticulumClassifier is not a fitted reticulum\. Call fit first"):
        export_text(ReticulumClassifier())
