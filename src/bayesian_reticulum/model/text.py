"""A model as plain text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from .outline import outline, summary

if TYPE_CHECKING:
    from .reticulum import Reticulum


def as_text(model: Reticulum, max_depth: int | None, max_features: int, decimals: int) -> str:
    """Write a model from top to bottom; parameters are those of `Reticulum.as_text`."""
    return "\n".join([f"Reticulum: {summary(model)}", *_lines(model, max_depth, max_features, decimals)])


def _lines(model: Reticulum, max_depth: int | None, max_features: int, decimals: int) -> Iterator[str]:
    """Lines of the nodes; a child stands below its parent, the left one first."""
    # What stands before the children of each split above: a line where the right child is still to come.
    indents = [""]
    for node in outline(model, max_depth, max_features, decimals):
        lead, indent = "", ""
        if node.side:
            del indents[node.level :]
            is_left = node.side == "left"
            lead = f"{indents[-1]}{'├─ left ' if is_left else '└─ right'} "
            indent = f"{indents[-1]}{'│' if is_left else ' '}  "
        yield f"{lead}{node.name}: {node.description}{f'  ({node.detail})' * node.is_leaf}"
        if not node.is_leaf:
            yield f"{indent}│    {node.detail}"
            if node.side:
                indents.append(indent)
