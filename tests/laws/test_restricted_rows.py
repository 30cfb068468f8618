"""Rows with some of their columns answer as all do for trees on these columns."""

import numpy as np

from asking import membership_sums
from bayesian_reticulum.data import identity_schema
from bayesian_reticulum.families import DirichletCategorical
from bayesian_reticulum.growth import CUT
from bayesian_reticulum.rows import RowData, rows_in_memory


def test_rows_with_some_columns_answer_as_all_do_for_trees_on_these():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(90, 4)), rng.integers(2, size=90)
    family, whole = DirichletCategorical((0.5, 0.5)), RowData.of(X, y, np.ones(90), identity_schema(4))
    for data in (whole, whole.sample(30)):
        rows, narrow = (rows_in_memory(some, family) for some in (data, data.restricted(np.array([1, 3]))))
        hyperplanes = np.array([[[0.2, 1.0, -2.0]]])
        wide = np.zeros((1, 1, 5))
        wide[..., [0, 2, 4]] = hyperplanes
        np.testing.assert_allclose(
            membership_sums(narrow, hyperplanes, CUT), membership_sums(rows, wide, CUT), rtol=1e-12
        )
        assert narrow.axes.shape == (2, 2)
