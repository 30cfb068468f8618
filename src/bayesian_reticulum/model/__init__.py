"""The fitted reticulum: immutable data that predict, and their printed forms.

`reticulum` holds the model and its predictions, `checks` the checks of its parts, and `routing` how rows go down a
tree. `outline` describes each node in words; `text` and `notebook` lay these out as plain text and as HTML.
"""

from __future__ import annotations

from .checks import check_whole_number
from .outline import Term, class_name, linear_terms, printable
from .reticulum import GREY_ZONE, TRANSITION, Reticulum, fitted_model
from .routing import compute_membership, compute_routes

__all__ = [
    "GREY_ZONE",
    "TRANSITION",
    "Reticulum",
    "Term",
    "check_whole_number",
    "class_name",
    "compute_membership",
    "compute_routes",
    "fitted_model",
    "linear_terms",
    "printable",
]
