"""What is said of each node of a tree, in words."""

from __future__ import annotations

from typing import NamedTuple

from ..arrays import Floats

NAMED_FEATURES = 4


class Line(NamedTuple):
    """What is told of one node, and where it stands: at which level, and on which side of the split above."""

    level: int
    side: str
    name: str
    told: str
    detail: str
    is_leaf: bool
    statistics: Floats


def printable(name: str) -> str:
    """A name that stays on its line: control characters are written out."""
    return "".join(letter if letter.isprintable() else repr(letter)[1:-1] for letter in name)


def class_name(name: str) -> str:
    """The name of a class; a number alone could be mistaken for that of a split."""
    name = printable(name)
    return f"class {name}" if name.replace(".", "").isdigit() else name
