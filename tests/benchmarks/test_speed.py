"""The speed benchmark reads its arguments, judges its limits and prints its tables as it should; nothing is timed."""

import numpy as np
import pytest

import speed
from timing.fits import DATA, fit_limits, load_numbers
from timing.growth import board, scaling_limits
from timing.passes import parts_of_a_pass
from timing.peers import BOOSTED, HISTOGRAMS, NETWORK, OURS, PEERS, Peer, missing_peers
from timing.picture import draw
from timing.report import Report, limit_table, part_table, peer_table
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
    ):
        with pytest.raises(SystemExit):
            speed.parse(arguments)
        assert complaint in capsys.readouterr().err


def test_peers_are_chosen_by_how_their_names_begin():
    assert speed.parse([]).models == list(PEERS)
    assert speed.parse(["--peers", "xgb, hist"]).models == [OURS, HISTOGRAMS, BOOSTED]


def test_covertype_is_fitted_when_asked_for(tmp_path):
    assert speed.parse([]).parts == ["passes", "predictions", "growth", "fits"]
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
