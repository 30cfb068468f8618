"""The tree for notebooks."""

from __future__ import annotations

from html import escape

# How parts of the tree look in a notebook, on a light page and on a dark one.
_HTML_BRANCH = "margin-left:.35em;padding-left:1em;border-left:1px solid rgba(128,128,128,.4)"
_HTML_HANGING = "padding:.15em 0 .15em 3.2em;text-indent:-3.2em"
_HTML_SIDE = "display:inline-block;text-indent:0;min-width:2.6em;margin-right:.5em;font-size:85%;opacity:.7"
_HTML_DETAIL = "display:inline-block;text-indent:0;font-size:85%;opacity:.7"
_HTML_CLASS = "display:inline-block;text-indent:0;margin-right:1.2em"
_HTML_LESS = "opacity:.7"
_HTML_BAR = (
    "display:inline-block;vertical-align:middle;width:3.5em;height:.6em;margin-right:.4em;"
    "background:rgba(128,128,128,.25)"
)
_HTML_FILLED = "display:block;height:100%;background:currentColor;opacity:.65"


def _html_bars(probabilities: list[tuple[str, float]], best: float) -> str:
    """Each probability as a small bar with its name; that of the best class is bold."""
    parts = []
    for name, probability in probabilities:
        told = f"{escape(name)} {probability:.3f}"
        bar = f'<span style="{_HTML_BAR}"><span style="{_HTML_FILLED};width:{100 * probability:.0f}%"></span></span>'
        text = f"<b>{told}</b>" if probability == best else f'<span style="{_HTML_LESS}">{told}</span>'
        parts.append(f'<span style="{_HTML_CLASS}">{bar}{text}</span>')
    return " ".join(parts)
