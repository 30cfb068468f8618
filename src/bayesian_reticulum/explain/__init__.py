"""explain"""

from __future__ import annotations

from .base import check_whole_number
from .cards import Contribution, LeafCard, NodeCard, contributions, leaf_cards, node_cards
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
    "check_whole_number",
    "contributions",
    "evidence_ledger",
    "explain_rows",
    "export_text",
    "leaf_cards",
    "node_cards",
]
