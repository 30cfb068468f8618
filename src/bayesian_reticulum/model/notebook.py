"""A model as HTML for notebooks: branches open and close, and colours are those of the page around it."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from ..families import class_probabilities, is_categorical, named_classes
from .outline import Node, class_name, outline, summary

if TYPE_CHECKING:
    from .reticulum import Reticulum

# Greys are see-through, so that they show on a light page and on a dark one.
_PAGE = "line-height:1.5;overflow-wrap:anywhere"
_BRANCH = "margin-left:.35em;padding-left:1em;border-left:1px solid rgba(128,128,128,.4)"
_HANGING = "padding:.15em 0 .15em 3.2em;text-indent:-3.2em"
_SIDE = "display:inline-block;text-indent:0;min-width:2.6em;margin-right:.5em;font-size:85%;opacity:.7"
_DETAIL = "display:inline-block;text-indent:0;font-size:85%;opacity:.7"
_CLASS = "display:inline-block;text-indent:0;margin-right:1.2em"
_PALE = "opacity:.7"
_BAR = (
    "display:inline-block;vertical-align:middle;width:3.5em;height:.6em;margin-right:.4em;"
    "background:rgba(128,128,128,.25)"
)
_FILLED = "display:block;height:100%;background:currentColor;opacity:.65"


def as_html(model: Reticulum) -> str:
    """Write a model as one element of HTML, with a bar for each class probability."""
    parts = [f'<div style="{_PAGE}"><b>Reticulum</b>: {summary(model)}']
    open_levels: list[int] = []
    for node in outline(model):
        while open_levels and open_levels[-1] >= node.level:
            open_levels.pop()
            parts.append("</details>")
        # A line down the left side shows what belongs together.
        box = f'style="{_BRANCH}"' if node.level else ""
        if node.is_leaf:
            parts.append(f'<div {box}><div style="{_HANGING}">{_leaf(model, node)}</div></div>')
        else:
            open_levels.append(node.level)
            text = f"{_head(node)}: {escape(node.description)}<br>{_detail(node)}"
            parts.append(f'<details open {box}><summary style="{_HANGING}">{text}</summary>')
    return "".join([*parts, "</details>" * len(open_levels), "</div>"])


def _leaf(model: Reticulum, node: Node) -> str:
    if not is_categorical(model.family):
        return f"{_head(node)}: {escape(node.description)} {_detail(node)}"
    probabilities = class_probabilities(model.family, node.statistics)
    named = named_classes(probabilities, [class_name(name) for name in model.targets])
    return f"{_head(node)}: {_bars(named, float(probabilities.max()))} {_detail(node)}"


def _head(node: Node) -> str:
    side = f'<span style="{_SIDE}">{node.side}</span>' if node.side else ""
    return f"{side}<b>{escape(node.name)}</b>"


def _detail(node: Node) -> str:
    return f'<span style="{_DETAIL}">{escape(node.detail)}</span>'


def _bars(probabilities: list[tuple[str, float]], highest: float) -> str:
    """Each probability as a small bar with the name of its class; the highest is bold."""
    parts = []
    for name, probability in probabilities:
        label = f"{escape(name)} {probability:.3f}"
        bar = f'<span style="{_BAR}"><span style="{_FILLED};width:{100 * probability:.0f}%"></span></span>'
        text = f"<b>{label}</b>" if probability == highest else f'<span style="{_PALE}">{label}</span>'
        parts.append(f'<span style="{_CLASS}">{bar}{text}</span>')
    return " ".join(parts)
