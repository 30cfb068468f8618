"""Who answers for rows in memory."""

import numpy as np

from bayesian_reticulum import compiled
from bayesian_reticulum.data.schema import identity_schema
from bayesian_reticulum.families.dirichlet import DirichletCategorical
from bayesian_reticulum.rows.arrays import ArrayRows
from bayesian_reticulum.rows.limits import Limits
from bayesian_reticulum.rows.memory import rows_in_memory
from bayesian_reticulum.rows.native import NativeRows
from bayesian_reticulum.rows.source import RowData

DATA = RowData.of(np.zeros((3, 1)), np.zeros(3, dtype=int), np.ones(3), identity_schema(1))
TABLE = DATA, DirichletCategorical((0.5, 0.5))


def test_compiled_code_answers_where_it_is_in_use_and_numpy_elsewhere(monkeypatch):
    monkeypatch.setenv("BAYESIAN_RETICULUM_NATIVE", "0")
    assert type(rows_in_memory(*TABLE, threads=2)) is ArrayRows
    monkeypatch.delenv("BAYESIAN_RETICULUM_NATIVE")
    assert type(rows_in_memory(*TABLE)) is (NativeRows if compiled.instruction_set else ArrayRows)


def test_rows_have_the_limits_that_they_are_made_with(monkeypatch):
    limits = Limits(block_floats=3)
    assert rows_in_memory(*TABLE, limits=limits).part.facts.limits is limits
    monkeypatch.setenv("BAYESIAN_RETICULUM_NATIVE", "0")
    assert rows_in_memory(*TABLE, limits=limits).part.facts.limits is limits
