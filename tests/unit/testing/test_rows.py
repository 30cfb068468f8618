"""`check_rows` lets good rows pass, and says of bad ones which law they break."""

import numpy as np
import pytest

from bayesian_reticulum.rows import ArrayRows
from bayesian_reticulum.testing import check_rows
from bayesian_reticulum.testing.rows import TABLES


class Wrapped:
    """Rows that pass everything on, but for what a subclass changes."""

    def __init__(self, data, likelihood, rows=None):
        self.rows = ArrayRows.of_data(data, likelihood) if rows is None else rows

    def __getattr__(self, name):
        return getattr(self.rows, name)


class Halved(Wrapped):
    @property
    def weight(self):
        return self.rows.weight / 2


class SeesAll(Wrapped):
    def views(self, context, leaves):
        return (self.rows for _ in leaves)


class FirstRows(Wrapped):
    def sample(self, size):
        n = self.rows.n_rows
        return self.rows if n <= 2 * size else ArrayRows(self.rows.part.take(np.arange(size)))


class Forgetful(Wrapped):
    def reduce(self, request):
        sums = self.rows.reduce(request)
        return sums + sums


@pytest.mark.parametrize(
    ("make_rows", "message"),
    [
        (Halved, "sums are those of arrays .* the weight: expected .* Look at weight"),
        (SeesAll, "views are those of arrays|an integer weight"),
        (FirstRows, "sample of rows in another order"),
        (Forgetful, "sums are those of arrays .* Look at reduce"),
    ],
)
def test_rows_that_break_a_law_are_told_which(make_rows, message):
    with pytest.raises(AssertionError, match=message):
        check_rows(make_rows)


def test_tables_of_all_kinds_are_tried():
    assert {kind for kind, _ in TABLES} == {"numbers", "gaps", "filled gaps", "tail"}
    assert any(family.uses_design for _, family in TABLES)
