"""Displays of all kinds, and what a picture has to be like, for the tests that draw."""

import io
import itertools

import matplotlib as mpl

from bayesian_reticulum.plots import (
    GrowthDisplay,
    GrowthStripDisplay,
    ImportancesDisplay,
    IntervalsDisplay,
    Surface3DDisplay,
    SurfaceDisplay,
    TreeDisplay,
)

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


def pixels(figure, dpi=50):
    """The picture as PNG, and its size."""
    file = io.BytesIO()
    figure.savefig(file, dpi=dpi)
    written = file.getvalue()
    assert written.startswith(b"\x89PNG\r\n\x1a\n")
    return int.from_bytes(written[16:20]), int.from_bytes(written[20:24])


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
