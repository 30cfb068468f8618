"""Each law of rows holds for NumPy arrays; that bad rows break them is tested with `check_rows`."""

import numpy as np
import pytest

from bayesian_reticulum.data.schema import identity_schema
from bayesian_reticulum.families import DirichletCategorical
from bayesian_reticulum.rows import ArrayRows, RowData
from bayesian_reticulum.testing.rows_laws import LAWS, RowsCase


@pytest.mark.parametrize("law", LAWS, ids=[law.__name__ for law in LAWS])
def test_arrays_keep_the_law(law):
    rng = np.random.default_rng(0)
    data = RowData.of(rng.normal(size=(60, 2)), rng.integers(2, size=60), np.ones(60), identity_schema(2))
    law(RowsCase(ArrayRows.of_data, data, DirichletCategorical((0.5, 0.5))), rng)
