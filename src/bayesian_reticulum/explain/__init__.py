"""What a fitted tree is, why it predicts what it predicts, and how it grew, as plain data that print themselves.

`cards` describes splits and leaves, `rows` explains single predictions, `flips` finds small changes of a row that
change its prediction (by the search of `flip_search`), `ledger` lists the attempts of growth, and `text` writes the
tree as plain text. `base` holds what all cards can do.
"""

from __future__ import annotations

from .cards import Contribution, LeafCard, NodeCard, leaf_cards, node_cards
from .flips import Flip
from .ledger import Ledger, LedgerEntry, evidence_ledger
from .rows import Decision, RowExplanation, explain_rows
from .text import export_text

__all__ = [
    "Contribution",
    "Decision",
    "Flip",
    "LeafCard",
    "Ledger",
    "LedgerEntry",
    "NodeCard",
    "RowExplanation",
    "evidence_ledger",
    "explain_rows",
    "export_text",
    "leaf_cards",
    "node_cards",
]
