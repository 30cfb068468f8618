"""Laws for what users write themselves: `check_family` for leaves, `check_rows` for rows, `check_tree` for a tree.

A law of families is a function of a `Case` (case) and a random generator. Laws of statistics and evidence, of
predictive distributions, of linear leaves and of metadata have a file each; families lists them all and runs them.
rows_laws holds those of rows, rows runs them.
"""

from __future__ import annotations

from ..tree import check_tree
from .families import check_family
from .rows import check_rows

__all__ = ["check_family", "check_rows", "check_tree"]
