"""Tables in Markdown, as all benchmarks print them."""

from __future__ import annotations

from collections.abc import Sequence


def markdown_table(names: Sequence[str], rows: Sequence[Sequence[str]], n_words: int = 1) -> str:
    """A Markdown table with words in its first columns, to the left, and numbers in the others, to the right."""
    rule = "|---" * n_words + "|---:" * (len(names) - n_words) + "|"
    header, *body = ("| " + " | ".join(cells) + " |" for cells in [names, *rows])
    return "\n".join([header, rule, *body])
