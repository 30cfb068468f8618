"""Fit wines, a sphere and the course of diabetes; draw every picture of a tree that there is on one page."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from sklearn.datasets import load_diabetes, load_wine

from bayesian_reticulum import ReticulumClassifier, ReticulumRegressor
from bayesian_reticulum.datasets import make_sphere


def new_figure() -> Any:
    """An empty page; made before anything is fitted, so that a missing package is noticed at once."""
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise ImportError(
            "the pictures need Matplotlib, which is not installed. "
            "Install the extra 'plots': pip install 'bayesian-reticulum[plots]'"
        ) from error
    return Figure(figsize=(11, 14.5), dpi=110, layout="constrained")


def draw(figure: Any) -> None:
    from matplotlib import rc_context

    from bayesian_reticulum.plots import (
        GrowthDisplay,
        GrowthStripDisplay,
        ImportancesDisplay,
        IntervalsDisplay,
        Surface3DDisplay,
        SurfaceDisplay,
        TreeDisplay,
    )

    rows = figure.subfigures(4, 1, height_ratios=[3.6, 3.9, 3.7, 3.3], hspace=0.03)
    wine = load_wine(as_frame=True)
    X, y = wine.data, wine.target_names[wine.target]
    clf = ReticulumClassifier(random_state=0).fit(X, y)
    print(f"wine: {clf.model_!r}", flush=True)
    TreeDisplay.from_estimator(clf, ax=rows[0].subplots())
    left, right = rows[1].subplots(1, 2)
    SurfaceDisplay.from_estimator(clf, X, y, features=["flavanoids", "proline"], ax=left)
    ImportancesDisplay.from_estimator(clf, max_features=8, ax=right)

    left, right = rows[2].subplots(1, 2)
    X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
    reg = ReticulumRegressor(random_state=0).fit(X, y)
    print(f"diabetes: {reg.model_!r}", flush=True)
    IntervalsDisplay.from_estimator(reg, X, y, feature="bmi", ax=left)

    X, y, _ = make_sphere(1500, random_state=0)
    sphere = ReticulumClassifier(random_state=0).fit(X, y)
    print(f"sphere: {sphere.model_!r}", flush=True)
    GrowthDisplay.from_estimator(sphere, ax=right)
    strip, space = rows[3].subfigures(1, 2, width_ratios=[1.75, 1])
    with rc_context({"grid.color": "#ebebeb"}):
        box = space.add_subplot(projection="3d")
    GrowthStripDisplay.from_estimator(sphere, X, y, n_frames=3, ax=strip.subplots())
    Surface3DDisplay.from_estimator(sphere, ax=box)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("pictures.png"), help="the page (default: %(default)s)")
    path = parser.parse_args().out
    figure = new_figure()
    draw(figure)
    figure.savefig(path)
    print(f"Pictures: {path}")


if __name__ == "__main__":
    main()
