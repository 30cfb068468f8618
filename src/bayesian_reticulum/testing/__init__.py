"""testing"""

from __future__ import annotations

from .families import check_family

__all__ = ["check_family"]
