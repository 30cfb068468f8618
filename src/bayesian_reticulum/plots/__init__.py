"""Pictures of a fitted tree, drawn with Matplotlib.

Each display follows scikit-learn: `from_estimator` reads off what is to be shown and draws it, the same data are plain
attributes, and `plot` draws them again, on axes of one's own if they are given. Nothing is fitted again. Colours stay
apart under all common kinds of colour blindness, and in grey as long as they are few; what they tell is also told by
words, marks or places.
"""

from __future__ import annotations

from .growth import Frame, GrowthDisplay, GrowthStripDisplay
from .importances import ImportancesDisplay
from .intervals import IntervalsDisplay
from .style import BLUE, GREEN, INK, ORANGE, class_colours
from .surface import Surface3DDisplay, SurfaceDisplay
from .tree import LeafShown, SplitShown, TreeDisplay

__all__ = [
    "BLUE",
    "GREEN",
    "INK",
    "ORANGE",
    "Frame",
    "GrowthDisplay",
    "GrowthStripDisplay",
    "ImportancesDisplay",
    "IntervalsDisplay",
    "LeafShown",
    "SplitShown",
    "Surface3DDisplay",
    "SurfaceDisplay",
    "TreeDisplay",
    "class_colours",
]
