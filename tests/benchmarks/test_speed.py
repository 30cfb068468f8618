"""The speed benchmark reads its arguments, judges its limits and prints its tables as it should; nothing is timed."""

from itertools import pairwise

import numpy as np
import pytest

import speed
from timing.fits import DATA, fit_limits, load_numbers
from timing.generated import mixed_classes, mixed_numbers, wide_numbers
from timing.growth import board, scaling_limits
from timing.histograms import GENERATED, LARGEST_MEAN, MIXED, NUMBERS, Table, fit_line, fits_of, geometric_mean, read
from timing.pass_growth import COLUMNS, LEAVES, ROWS, PassGrowth, multiply_adds, pass_limits, pass_over
from timing.passes import parts_of_a_pass
from timing.peers import BOOSTED, HISTOGRAMS, NETWORK, OURS, PEERS, Peer, missing_peers
from timing.picture import draw, draw_passes
from timing.report import Report, limit_table, part_table, pass_table, peer_table
from timing.results import Comparison, Line, Scaling
from timing.turns import in_turns


@pytest.fixture
def comparisons():
    """Ours takes 2 and 3 seconds, boosting 1 and 1, the network one slow turn of 40."""
    return [
        Comparison("cross", (1000, 2), OURS, np.array([2.0, 3.0]), np.array([0.001, 0.001]), 4.0),
        Comparison("cross", (1000, 2), BOOSTED, np.array([1.0, 1.0]), np.array([0.002, 0.004]), 8.0),
        Comparison("cross", (1000, 2), NETWORK, np.array([40.0]), np.array([0.002])),
    ]


@pytest.fixture
def grown_passes():
    """Rows, whose time doubles with them and then more; and columns, whose multiply-adds become cheaper."""
    by_rows = PassGrowth(
        "classes", "rows", (4000, 8000, 16_000), np.array([1e-3, 2e-3, 6e-3]), np.array([4e3, 8e3, 16e3]), 1.3
    )
    by_columns = PassGrowth("classes", "columns", (4, 8), np.array([1e-3, 1.5e-3]), np.array([1e6, 2e6]), 1.5)
    return [by_rows, by_columns]


def cells(row):
    return [cell.strip() for cell in row.strip("|").split("|")]


@pytest.mark.parametrize(("measured", "met"), [(0.9, True), (1.0, True), (1.1, False), (float("nan"), False)])
def test_a_limit_is_the_largest_value_allowed(measured, met):
    assert Line("task", "subject", np.array([1.0]), "s", None, (measured, 1.0, "×")).is_met() is met


def test_a_line_without_a_limit_misses_none():
    assert Line("task", "subject", np.array([np.nan]), "s").is_met()


def test_the_table_of_limits_says_what_was_missed():
    ratios = np.array([1.0, 3.0, 2.0])
    lines = [
        Line("fit", "to a peer", np.array([0.5, 1.5, 1.0]), "s", ratios, (2.0, 1.5, "×")),
        Line("exponent", "rows", np.array([1.05]), "", None, (1.05, 1.1, "")),
        Line("shown", "alone", np.array([2.0]), "ms"),
    ]
    _, _, first, second, third = map(cells, limit_table(lines).splitlines())
    assert first == ["fit", "to a peer", "1 s", "0.5 to 1.5", "2.00", "1 to 3", "≤ 1.5 ×", "**no**"]
    assert second == ["exponent", "rows", "1.05", "", "", "", "≤ 1.1", "yes"]
    assert third == ["shown", "alone", "2 ms", "", "", "", "", ""]


def test_ratios_are_taken_within_turns_that_both_took(comparisons):
    rows = [cells(row) for row in peer_table(comparisons).splitlines()[2:]]
    assert [row[4] for row in rows] == ["1", "2.5", "0.05"]
    assert rows[1][5] == "2 to 3"
    assert [row[-2:] for row in rows] == [["4.0", "1.00"], ["8.0", "0.50"], ["", ""]]


def test_less_than_a_megabyte_is_not_compared(comparisons):
    ours, boosted, _ = comparisons
    row = cells(peer_table([ours, boosted._replace(memory=0.01)]).splitlines()[-1])
    assert row[-2:] == ["< 1", ""]


def test_limits_on_fits_come_from_the_peers_that_were_measured(comparisons):
    boosted, network = fit_limits(comparisons)
    assert boosted.limit == (2.5, 10.0, "×")
    assert network.limit == (0.05, 1.0, "×")
    assert list(fit_limits(comparisons[:1])) == []


def test_every_limit_on_fits_names_a_known_peer():
    assert {peer for data in DATA.values() for peer in data.limits} <= set(PEERS)


def test_the_exponent_is_the_slope_in_logarithms():
    sizes = (10, 100, 1000)
    seconds = [np.array([size**1.2, 2.0 * size]) for size in sizes]
    np.testing.assert_allclose(Scaling("rows", sizes, seconds).exponents, [1.2, 1.0])
    # The largest size took one turn alone.
    seconds[-1] = seconds[-1][:1]
    scaling = Scaling("rows", sizes, seconds, 1.1)
    np.testing.assert_allclose(scaling.exponents, [1.2])
    (line,) = scaling_limits([scaling])
    assert not line.is_met()


def test_the_parts_of_a_pass_add_up():
    times = {"gradient": 30.0, "narrow": 11.0, "memberships": 18.5, "narrow memberships": 9.0}
    times |= {"floor 1": 10.0, "floor 2": 14.0, "floor 3": 24.0}
    products, gates, rest, total = parts_of_a_pass(times, 20)
    assert (products.floor, gates.floor) == (20.0, 4.0)
    assert (products.ours, gates.ours) == pytest.approx((21.0, 8.0))
    assert products.ours + gates.ours + rest.ours == pytest.approx(total.ours)
    assert part_table([products, gates, rest, total]).splitlines()[-1].endswith("| 24.0 | 30.0 | 100% |")


def test_a_slow_task_takes_one_turn_alone():
    tasks = {"task": lambda turn: None}
    assert len(in_turns(tasks, 3, slow_seconds=-1.0)["task"]) == 1
    assert len(in_turns(tasks, 3)["task"]) == 3


def test_missing_peers_are_named():
    absent = Peer(lambda seed, threads: None, "a_package_that_is_not_there")
    assert missing_peers({OURS: PEERS[OURS]}) == ""
    assert "left out with the limits that need them: Absent." in missing_peers({"Absent": absent})


def test_arguments_that_make_no_sense_are_refused(tmp_path, capsys):
    for arguments, complaint in (
        (["--repeats", "0"], "--repeats must be at least 1"),
        (["--threads", "0"], "--threads must be at least 1"),
        (["--data", str(tmp_path / "none")], "there is no folder"),
        (["--large"], "covertype is a table of --data"),
        (["--only", "passes,lunch"], "'lunch' is not a part"),
        (["--peers", "nobody"], "no peer begins with 'nobody'"),
        (["--only", "fits", "--plot", "speed.png"], "--plot draws growth and fits"),
        (["--only", "fits", "--plot-passes", "passes.png"], "--plot-passes draws scaling"),
    ):
        with pytest.raises(SystemExit):
            speed.parse(arguments)
        assert complaint in capsys.readouterr().err


def test_peers_are_chosen_by_how_their_names_begin():
    assert speed.parse([]).models == list(PEERS)
    assert speed.parse(["--peers", "xgb, hist"]).models == [OURS, HISTOGRAMS, BOOSTED]


def test_covertype_is_fitted_when_asked_for(tmp_path):
    assert speed.parse([]).parts == ["passes", "predictions", "growth", "fits", "numbers", "mixed", "scaling"]
    assert speed.parse(["--data", str(tmp_path), "--large"]).parts[-1] == "covertype"
    assert speed.parse(["--only", "passes, fits"]).parts == ["passes", "fits"]


def test_tables_with_a_file_are_arrays_of_numbers(tmp_path):
    (tmp_path / "wdbc.csv").write_text("a,b,target\n1,2.5,x\n3,,y\n4,0.5,x\n", encoding="utf-8")
    X, y = load_numbers(tmp_path, "wdbc")
    np.testing.assert_array_equal(X, [[1.0, 2.5], [4.0, 0.5]])
    np.testing.assert_array_equal(y, ["x", "x"])
    assert X.dtype == np.float64
    assert load_numbers(tmp_path, "banknote") is None


def test_a_limit_that_is_missed_decides_the_exit_when_asked_to(capsys):
    missed = Line("task", "subject", np.array([2.0]), "s", None, (2.0, 1.0, "s"))
    parts = {"predictions": lambda options, report: report.lines.append(missed)}
    for arguments, code in ((["--limits"], 1), ([], 0)):
        assert speed.main(["--only", "predictions", *arguments], parts) == code
        assert "**no**" in capsys.readouterr().out


def test_an_interrupted_run_prints_what_it_has(capsys):
    def interrupt(options, report):
        raise KeyboardInterrupt

    line = Line("task", "subject", np.array([1.0]), "s")
    parts = {"passes": lambda options, report: report.lines.append(line), "predictions": interrupt}
    with pytest.raises(KeyboardInterrupt):
        speed.main(["--only", "passes,predictions"], parts)
    printed = capsys.readouterr().out
    assert "| task | subject | 1 s |" in printed
    assert "Interrupted" in printed


def test_the_report_has_a_heading_for_what_was_measured_alone(comparisons):
    titles = [line for line in str(Report(comparisons=comparisons)).splitlines() if line.startswith("#")]
    assert titles == ["## Limits", "## Peers"]


def test_the_board_is_the_same_each_time_and_has_all_classes():
    X, y = board(2000, 3, 4)
    assert X.shape == (2000, 3)
    assert set(y) == {0, 1, 2, 3}
    np.testing.assert_array_equal(y, board(2000, 3, 4)[1])


def test_the_picture_is_drawn(comparisons, tmp_path):
    pytest.importorskip("matplotlib")
    sizes = (10, 100)
    grown = [Scaling(what, sizes, [np.array([1.0, 2.0]), np.array([9.0])]) for what in ("rows", "splits")]
    path = tmp_path / "speed.png"
    draw(comparisons, grown, path)
    assert path.stat().st_size > 0


def test_the_time_of_a_task_is_taken_from_the_given_clock():
    ticks = iter([0.0, 2.0, 10.0, 13.0])
    seconds = in_turns({"task": lambda turn: None}, 2, clock=lambda: next(ticks))
    np.testing.assert_array_equal(seconds["task"], [2.0, 3.0])


def test_a_fit_is_judged_by_the_median_of_its_ratios():
    line = fit_line("fit", np.array([2.0, 9.0, 4.0]), np.array([1.0, 1.0, 1.0]), 5.0)
    assert line.limit == (4.0, 5.0, "×")
    assert line.is_met()


def test_tables_of_numbers_are_judged_together_by_their_geometric_mean():
    one, two = np.ones(3), np.ones(1)
    lines = [fit_line("one", 2 * one, one, 10.0), fit_line("a slow one, with one turn", 8 * two, two, 10.0)]
    mean = geometric_mean(lines, LARGEST_MEAN)
    assert mean.limit == pytest.approx((4.0, 5.0, "×"))
    assert cells(limit_table([mean]).splitlines()[-1])[2:] == ["4 ×", "", "", "", "≤ 5 ×", "yes"]


def test_tables_that_are_not_there_are_left_out_with_a_message(tmp_path, capsys):
    assert read(Table("concrete", True), None) is None
    assert "concrete is left out: it is read from the folder of --data." in capsys.readouterr().err
    assert read(Table("concrete", True), tmp_path) is None
    assert f"there is no file concrete.csv or concrete.csv.gz in {tmp_path}" in capsys.readouterr().err


def test_long_tables_are_sampled_and_keep_words_and_gaps(tmp_path):
    rows = "".join(f"{i},{'red' if i % 2 else ''},{i}\n" for i in range(10))
    (tmp_path / "paint.csv").write_text("a,colour,target\n" + rows, encoding="utf-8")
    X, y = read(Table("paint", True, 6), tmp_path)
    assert X.shape == (6, 2)
    np.testing.assert_array_equal(X["a"], y)
    np.testing.assert_array_equal(X["colour"].isna(), X["a"] % 2 == 0)


def test_every_generated_table_is_fitted():
    assert set(GENERATED) <= {table.name for table in (*NUMBERS, *MIXED)}


def test_generated_tables_are_the_same_each_time_and_mix_what_they_should():
    X, y = wide_numbers()
    assert X.shape == (2000, 40)
    assert X.equals(wide_numbers()[0])
    np.testing.assert_array_equal(y, wide_numbers()[1])
    X, price = mixed_numbers()
    assert X.equals(mixed_numbers()[0])
    words = X.select_dtypes(exclude="number")
    assert (X.shape, words.shape) == ((2900, 80), (2900, 40))
    assert X.select_dtypes("number").isna().any().sum() == 7
    assert words.isna().any().sum() == 6
    assert words.nunique().max() > 20
    assert np.all(price > 0)
    assert mixed_classes()[1].mean() == pytest.approx(0.3)


@pytest.mark.parametrize("are_numbers", [True, False])
def test_both_models_fit_a_raw_table(are_numbers):
    X, y = mixed_numbers() if are_numbers else mixed_classes()
    columns = ["area", "number 5", "kind 0", "kind 5"]
    for fit in fits_of(X.loc[:99, columns], y[:100], are_numbers).values():
        assert len(fit(0).predict(X.loc[100:109, columns])) == 10


def test_the_growth_of_a_pass_is_judged_by_its_worst_doubling(grown_passes):
    by_rows, by_columns = pass_limits(grown_passes)
    assert by_rows.limit == pytest.approx((1.5, 1.3, "×"))
    assert not by_rows.is_met()
    assert by_columns.limit == pytest.approx((0.75, 1.5, "×"))
    assert by_columns.is_met()


def test_the_table_of_passes_has_a_line_for_each_size(grown_passes):
    rows = [cells(row) for row in pass_table(grown_passes).splitlines()[2:]]
    assert rows[0] == ["classes", "rows", "4000", "1", "250", "", ""]
    assert rows[2][4:] == ["375", "", "1.50 ×"]
    assert rows[4] == ["classes", "columns", "8", "1.5", "", "750", "0.75 ×"]
    assert "## Growth of a pass" in str(Report(passes_grown=grown_passes))


@pytest.mark.parametrize(("leaves", "statistics"), [("classes", 1), ("constant leaves", 3), ("linear leaves", 21)])
def test_a_pass_multiplies_each_split_and_the_statistics_of_each_leaf(leaves, statistics):
    assert multiply_adds(4, LEAVES[leaves](4)) == 2 * 4 * 15 + statistics * 16


@pytest.mark.parametrize("leaves", LEAVES)
def test_a_pass_can_be_made_for_each_kind_of_leaves(leaves):
    sums = pass_over(200, 3, LEAVES[leaves](3))()
    assert np.isfinite(sums.log_normalizer).all()
    assert sums.gradient.shape == (1, 15, 4)


def test_sizes_of_passes_are_doubled():
    for sizes in (ROWS, COLUMNS):
        assert all(larger == 2 * smaller for smaller, larger in pairwise(sizes))


def test_the_picture_of_passes_is_drawn(grown_passes, tmp_path):
    pytest.importorskip("matplotlib")
    path = tmp_path / "passes.png"
    draw_passes(grown_passes, path)
    assert path.stat().st_size > 0
