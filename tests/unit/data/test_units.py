"""Units of columns: center, scale and limits of numbers and of categories."""

import numpy as np
import pytest

from bayesian_reticulum.data.units import category_units, column_units


def test_units_of_a_number_are_those_of_its_cells_within_the_tails():
    cells = np.append(np.random.default_rng(0).normal(10, 2, size=2000), [1e9])
    center, scale, low, high = column_units(cells, np.ones(2001), 0.0)
    assert (low, high) == tuple(np.sort(cells)[[10, -11]])
    assert center == pytest.approx(np.clip(cells, low, high).mean())
    assert scale == pytest.approx(np.clip(cells, low, high).std())
    further = column_units(cells, np.ones(2001), 1.5)
    np.testing.assert_allclose(further, [center, scale, low - 1.5 * scale, high + 1.5 * scale])


def test_in_a_short_table_at_least_the_outermost_row_is_a_tail():
    _, _, low, high = column_units(np.arange(20.0), np.ones(20), 0.0)
    assert (low, high) == (0.0, 18.0)
    _, _, low, high = column_units(np.arange(200.0), np.ones(200), 0.0)
    assert (low, high) == (1.0, 198.0)


@pytest.mark.parametrize(
    ("cells", "weights", "center"),
    [
        (np.full(5, 7.0), np.ones(5), 7.0),
        (np.array([1e9, np.nextafter(1e9, 2e9)]), np.ones(2), 1e9),
        (np.array([1.0, 2.0]), np.array([1.0, 0.0]), 1.0),
    ],
    ids=["constant", "rounding", "rows of no weight"],
)
def test_columns_that_do_not_vary_have_scale_one(cells, weights, center):
    found, scale, low, high = column_units(cells, weights, 2.0)
    assert found == pytest.approx(center)
    assert scale == 1.0
    assert low == high == found


def test_a_column_without_rows_is_constant():
    assert column_units(np.empty(0), np.empty(0), 0.0) == (0.0, 1.0, 0.0, 0.0)


def test_a_rare_indicator_is_learned_from_its_tail():
    cells = np.where(np.arange(1000) == 3, 1.0, 0.0)
    center, scale, low, high = column_units(cells, np.ones(1000), 0.0)
    assert (low, high) == (0.0, 1.0)
    assert center == pytest.approx(0.001)
    assert scale == pytest.approx(np.sqrt(0.001 * 0.999))


def test_two_values_count_as_the_rarer_one():
    often = np.where(np.arange(100) < 70, 5.0, 3.0)
    assert column_units(often, np.ones(100), 0.0)[1] == pytest.approx(-2 * np.sqrt(0.21))
    assert column_units(8 - often, np.ones(100), 0.0)[1] == pytest.approx(2 * np.sqrt(0.21))


def test_the_largest_floats_have_units():
    center, scale, low, high = column_units(np.array([-1.7e308, 0.0, 1.7e308] * 10), np.ones(30), 0.0)
    assert np.isfinite([center, scale, low, high]).all()


def test_columns_of_a_category_share_a_scale_and_two_levels_are_one_column():
    codes = np.repeat([0.0, 1.0, 2.0], [50, 30, 20])
    columns = category_units(codes, np.ones(100), 3)
    shares = np.array([0.5, 0.3, 0.2])
    np.testing.assert_allclose([column[1] for column in columns], shares)
    np.testing.assert_allclose([column[2] for column in columns], np.sqrt((shares * (1 - shares)).sum()))
    assert [column[0] for column in columns] == [0, 1, 2]
    ((code, share, scale, low, high),) = category_units(codes[:80], np.ones(80), 2)
    assert (code, share, low, high) == (1, 0.375, 0.0, 1.0)
    assert scale == pytest.approx(np.sqrt(0.375 * 0.625))


@pytest.mark.parametrize(("codes", "n_codes"), [([0.0, 0.0], 1), ([], 0), ([1.0, 1.0], 2)])
def test_a_category_of_one_level_is_a_constant_column(codes, n_codes):
    ((code, center, scale, low, high),) = category_units(np.array(codes), np.ones(len(codes)), n_codes)
    assert code == 0
    assert scale == 1.0
    assert center == low == high
