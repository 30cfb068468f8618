"""Pictures of a fitted tree, drawn with Matplotlib.

Each display follows scikit-learn: `from_estimator` reads data off a fitted estimator and draws them, the same data are
plain attributes, and `plot` draws them again, on the user's own axes if they are given. Nothing is fitted again.
Colours stay apart under all common kinds of colour blindness, and in grey as long as they are few; words, marks or
places say the same as colours do.

`tree` draws the tree as a diagram, `surface` and `surface3d` draw predictions over one or two features, `intervals` the
distribution of a number along one, `growth` how the tree grew, and `importances` the features. They share `section`, a
line or plane through the space of rows, `plane`, soft splits and rows on axes, and `style`, colours and text.
"""

from __future__ import annotations

from .growth import Frame, GrowthDisplay, GrowthStripDisplay
from .importances import ImportancesDisplay
from .intervals import IntervalsDisplay
from .style import BLUE, GREEN, INK, ORANGE, class_colours
from .surface import SurfaceDisplay
from .surface3d import Surface3DDisplay
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
