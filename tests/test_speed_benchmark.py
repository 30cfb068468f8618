"""The speed benchmark reads its arguments, judges its limits and prints its tables as it should; nothing is timed."""

import sys
from pathlib import Path

import numpy as np
import pytest

from plugins import benchmark


@pytest.fixture(scope="module")
def speed():
    with benchmark("speed") as module:
        yield module


@pytest.fixture
def comparisons(speed):
    """Ours takes 2 and 3 seconds, boosting 1 and 1, the network one slow turn of 40."""
    return [
        speed.Comparison("cross", (1000, 2), speed.OURS, np.array([2.0, 3.0]), np.array([0.001, 0.001]), 4.0),
        speed.Comparison("cross", (1000, 2), speed.BOOSTED, np.array([1.0, 1.0]), np.array([0.002, 0.004]), 8.0),
        speed.Comparison("cross", (1000, 2), speed.NETWORK, np.array([40.0]), np.array([0.002])),
    ]


def cells(row):
    return [cell.strip() for cell in row.strip("|").split("|")]


@pytest.mark.parametrize(("measured", "met"), [(0.9, True), (1.0, True), (1.1, False), (float("nan"), False)])
def test_a_limit_is_the_largest_value_allowed(speed, measured, met):
    assert speed.Line("task", "subject", np.array([1.0]), "s", None, (measured, 1.0, "×")).is_met() is met


def test_a_line_without_a_limit_misses_none(speed):
    assert speed.Line("task", "subject", np.array([np.nan]), "s").is_met()


def test_the_table_of_limits_says_what_was_missed(speed):
    ratios = np.array([1.0, 3.0, 2.0])
    lines = [
        speed.Line("fit", "to a peer", np.array([0.5, 1.5, 1.0]), "s", ratios, (2.0, 1.5, "×")),
        speed.Line("exponent", "rows", np.array([1.05]), "", None, (1.05, 1.1, "")),
        speed.Line("shown", "alone", np.array([2.0]), "ms"),
    ]
    _, _, first, second, third = map(cells, speed.limit_table(lines).splitlines())
    assert first == ["fit", "to a peer", "1 s", "0.5 to 1.5", "2.00", "1 to 3", "≤ 1.5 ×", "**no**"]
    assert second == ["exponent", "rows", "1.05", "", "", "", "≤ 1.1", "yes"]
    assert third == ["shown", "alone", "2 ms", "", "", "", "", ""]


def test_ratios_are_taken_within_turns_that_both_took(speed, comparisons):
    rows = [cells(row) for row in speed.peer_table(comparisons).splitlines()[2:]]
    assert [row[4] for row in rows] == ["1", "2.5", "0.05"]
    assert rows[1][5] == "2 to 3"
    assert [row[-2:] for row in rows] == [["4.0", "1.00"], ["8.0", "0.50"], ["", ""]]


def test_less_than_a_megabyte_is_not_compared(speed, comparisons):
    own, boosted, _ = comparisons
    row = cells(speed.peer_table([own, boosted._replace(memory=0.01)]).splitlines()[-1])
    assert row[-2:] == ["< 1", ""]


def test_limits_on_fits_come_from_the_peers_that_were_measured(speed, comparisons):
    boosted, network = speed.fit_limits(comparisons)
    assert boosted.limit == (2.5, 10.0, "×")
    assert network.limit == (0.05, 1.0, "×")
    assert list(speed.fit_limits(comparisons[:1])) == []


def test_every_limit_on_fits_names_a_known_peer(speed):
    assert {peer for data in speed.DATA.values() for peer in data.limits} <= set(speed.PEERS)


def test_the_exponent_is_the_slope_in_logarithms(speed):
    sizes = (10, 100, 1000)
    seconds = [np.array([size**1.2, 2.0 * size]) for size in sizes]
    np.testing.assert_allclose(speed.Scaling("rows", sizes, seconds).exponents, [1.2, 1.0])
    # The largest size took one turn alone.
    seconds[-1] = seconds[-1][:1]
    scaling = speed.Scaling("rows", sizes, seconds, 1.1)
    np.testing.assert_allclose(scaling.exponents, [1.2])
    (line,) = speed.scaling_limits([scaling])
    assert not line.is_met()


def test_the_parts_of_a_pass_add_up(speed):
    times = {"gradient": 30.0, "narrow": 11.0, "memberships": 18.5, "narrow memberships": 9.0}
    times |= {"floor 1": 10.0, "floor 2": 14.0, "floor 3": 24.0}
    products, gates, rest, total = speed.parts_of_a_pass(times, 20)
    assert (products.floor, gates.floor) == (20.0, 4.0)
    assert (products.own, gates.own) == pytest.approx((21.0, 8.0))
    assert products.own + gates.own + rest.own == pytest.approx(total.own)
    assert speed.part_table([products, gates, rest, total]).splitlines()[-1].endswith("| 24.0 | 30.0 | 100% |")


def test_a_slow_task_takes_one_turn_alone(speed, monkeypatch):
    monkeypatch.setattr(speed, "SLOW", -1.0)
    assert len(speed.in_turns({"slow": lambda turn: None}, 3)["slow"]) == 1


def test_missing_peers_are_named(speed, monkeypatch):
    absent = speed.Peer(lambda seed, threads: None, "a_package_that_is_not_there")
    monkeypatch.setattr(speed, "PEERS", {speed.OURS: speed.PEERS[speed.OURS]})
    assert speed.missing_peers() == ""
    monkeypatch.setattr(speed, "PEERS", {"Absent": absent})
    assert "left out with the limits that need them: Absent." in speed.missing_peers()


def test_arguments_that_make_no_sense_are_refused(speed, tmp_path, capsys):
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
            speed.parsed(arguments)
        assert complaint in capsys.readouterr().err


def test_peers_are_chosen_by_how_their_names_begin(speed):
    assert speed.parsed([]).models == list(speed.PEERS)
    assert speed.parsed(["--peers", "xgb, hist"]).models == [speed.OURS, speed.HISTOGRAMS, speed.BOOSTED]


def test_covertype_is_fitted_when_asked_for(speed, tmp_path):
    assert speed.parsed([]).parts == ["passes", "predictions", "growth", "fits"]
    assert speed.parsed(["--data", str(tmp_path), "--large"]).parts[-1] == "covertype"
    assert speed.parsed(["--only", "passes, fits"]).parts == ["passes", "fits"]


def test_tables_with_a_file_are_arrays_of_numbers(speed, tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(Path(speed.__file__).parent))
    (tmp_path / "wdbc.csv").write_text("a,b,target\n1,2.5,x\n3,,y\n4,0.5,x\n", encoding="utf-8")
    X, y = speed.loaded(tmp_path, "wdbc")
    np.testing.assert_array_equal(X, [[1.0, 2.5], [4.0, 0.5]])
    np.testing.assert_array_equal(y, ["x", "x"])
    assert X.dtype == np.float64
    assert speed.loaded(tmp_path, "banknote") is None


def test_a_limit_that_is_missed_decides_the_exit_when_asked_to(speed, monkeypatch, capsys):
    missed = speed.Line("task", "subject", np.array([2.0]), "s", None, (2.0, 1.0, "s"))
    monkeypatch.setattr(speed, "predictions", lambda repeats, threads: iter([missed]))
    for arguments, code in ((["--limits"], 1), ([], 0)):
        monkeypatch.setattr(sys, "argv", ["speed.py", "--only", "predictions", *arguments])
        assert speed.main() == code
        assert "**no**" in capsys.readouterr().out


def test_an_interrupted_run_prints_what_it_has(speed, monkeypatch, capsys):
    def interrupted(repeats, threads):
        raise KeyboardInterrupt

    line = speed.Line("task", "subject", np.array([1.0]), "s")
    monkeypatch.setattr(speed, "passes", lambda repeats: ([line], []))
    monkeypatch.setattr(speed, "memory", list)
    monkeypatch.setattr(speed, "imports", lambda repeats: [])
    monkeypatch.setattr(speed, "predictions", interrupted)
    monkeypatch.setattr(sys, "argv", ["speed.py", "--only", "passes,predictions"])
    with pytest.raises(KeyboardInterrupt):
        speed.main()
    printed = capsys.readouterr().out
    assert "| task | subject | 1 s |" in printed
    assert "Interrupted" in printed


def test_the_report_has_a_heading_for_what_was_measured_alone(speed, comparisons):
    titles = [line for line in str(speed.Report(comparisons=comparisons)).splitlines() if line.startswith("#")]
    assert titles == ["## Limits", "## Peers"]


def test_the_board_is_the_same_each_time_and_has_all_classes(speed):
    X, y = speed.board(2000, 3, 4)
    assert X.shape == (2000, 3)
    assert set(y) == {0, 1, 2, 3}
    np.testing.assert_array_equal(y, speed.board(2000, 3, 4)[1])


def test_the_picture_is_drawn(speed, comparisons, tmp_path):
    pytest.importorskip("matplotlib")
    sizes = (10, 100)
    grown = [speed.Scaling(what, sizes, [np.array([1.0, 2.0]), np.array([9.0])]) for what in ("rows", "splits")]
    path = tmp_path / "speed.png"
    speed.draw(comparisons, grown, path)
    assert path.stat().st_size > 0
