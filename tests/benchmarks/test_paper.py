"""The benchmark of the paper's examples: complete tables, the same every time, also after an interruption."""

import contextlib
import csv
import os
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from data import Refusal, generated, read
from report import checks
from study import Fit, Results, Spread

SCRIPT = Path(__file__).resolve().parents[2] / "benchmarks" / "paper"
TECHNIQUES = {
    "decision tree",
    "neural network",
    "XGBoost",
    "logistic regression",
    "random forest",
    "PaperReticulumClassifier, tuned",
    "PaperReticulumClassifier, published settings",
    "ReticulumClassifier",
}
# More trials than Optuna draws at random before it learns from them.
TRIALS = 11


def command(out, *options):
    return [sys.executable, str(SCRIPT), "--quick", "--only", "cross", "--out", str(out), *map(str, options)]


def run(out, *options, **environment):
    environment = {**os.environ, **environment}
    return subprocess.run(command(out, *options), capture_output=True, encoding="utf-8", env=environment, timeout=300)


def tables(out):
    return [(out / name).read_bytes() for name in ("tables.md", "tables.csv")]


def n_trials(out):
    database = out / "studies.db"
    if database.exists():
        # The tables may not be there yet, or the writer may be at work.
        with (
            contextlib.suppress(sqlite3.OperationalError),
            contextlib.closing(sqlite3.connect(database)) as connection,
        ):
            return connection.execute("SELECT COUNT(*) FROM trials").fetchone()[0]
    return 0


def interrupt(out, trials, limit, how):
    """Stop a run once it has stored some trials; what it said, when all its processes are gone."""
    process = subprocess.Popen(
        command(out, "--trials", trials),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        # Where tests run in the background they ignore Ctrl-C, and so would all that they start.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    while n_trials(out) < limit:
        assert process.poll() is None, process.communicate()[1]
        time.sleep(0.02)
    process.send_signal(how)
    # Workers hold the pipes too, so that this would wait for those that live on.
    _, said = process.communicate(timeout=60)
    assert not (out / "tables.md").exists(), "the run was over before it was interrupted"
    return process.returncode, said


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    out = tmp_path_factory.mktemp("paper")
    done = run(out, "--trials", TRIALS)
    assert done.returncode == 0, done.stderr
    return out, done


def test_both_tables_have_every_technique_and_say_which_limits_are_not_kept(finished):
    out, done = finished
    text = (out / "tables.md").read_text(encoding="utf-8")
    assert done.stdout == text
    for technique in TECHNIQUES:
        assert text.count(f"\n| {technique} |") == 1 + ("Reticulum" in technique)
    assert "| 3 | 0.3369 |" in text
    assert "**not kept**" in text
    assert "**Generated data.**" in text
    assert "**Quick run.**" in text
    with open(out / "tables.csv", newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    losses = {row["technique"]: float(row["value"]) for row in rows if row["measure"] == "log-loss"}
    assert losses.keys() == TECHNIQUES
    assert all(0.3 < loss < 1 for loss in losses.values())
    assert {row["verdict"] for row in rows} == {"", "kept", "not kept"}


def test_progress_is_told(finished):
    _, done = finished
    last = done.stderr.splitlines()[-1]
    # Six techniques are tuned and two are not, three have two seeds each, and all are fitted on all rows in the end.
    assert last.startswith("[82/82, 0:00 left] ")
    assert ": cross, " in last
    assert "Trial" not in done.stderr


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_a_new_folder_gives_the_same_bytes_after_interruptions_too(finished, tmp_path):
    out = tmp_path / "new" / "folder"
    status, said = interrupt(out, TRIALS - 5, 5, signal.SIGINT)
    assert status == 130, said
    assert said.endswith("The same command goes on from here.\n")
    assert "Traceback" not in said
    # Halfway to the end: six techniques are tuned, two are not.
    status, said = interrupt(out, TRIALS, (n_trials(out) + 6 * TRIALS + 2) // 2, signal.SIGKILL)
    assert status == -signal.SIGKILL
    done = run(out, "--trials", TRIALS, "--jobs", 1)
    assert done.returncode == 0, done.stderr
    assert tables(out) == tables(finished[0])


def test_results_of_other_data_are_not_mixed_in(finished, tmp_path):
    out, _ = finished
    before = tables(out)
    rng = np.random.default_rng(0)
    lines = [f"{a},{b},{int(a > b)}" for a, b in rng.random((40, 2)).tolist()]
    (tmp_path / "cross.csv").write_text("\n".join(["x1,x2,target", *lines]), encoding="utf-8")
    done = run(out, "--data", tmp_path)
    assert done.returncode == 2
    assert "differs in: data." in done.stderr
    assert tables(out) == before


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--trials", "0"], "--trials must be at least 1; got 0."),
        (["--seeds", "-1"], "--seeds must be at least 1; got -1."),
        (["--only", "crss"], "'crss' is not a data set of this benchmark. Choose from sphere, cross, ripley."),
        (["--data", "missing"], "there is no file missing/cross.csv."),
        (["--out", f"{__file__}/below"], "cannot be written to: Not a directory."),
    ],
)
def test_what_cannot_work_is_refused_in_one_line(options, message, tmp_path):
    done = run(tmp_path / "out", *options)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith("paper: ")
    assert done.stderr.endswith(message + "\n")
    assert done.stderr.count("\n") == 1
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    "text",
    [
        "x1,x2\n1,2\n",
        "x1,target\na,0\nb,1\n",
        "x1,target\n1,0\n2,1\n",
        "x1,target,target\n" + "1,0,0\n2,1,1\n" * 9,
        "x1,target\n" + "1,1\n2,\n" * 9,
        "x1,target\n" + "1,a\n2,b\n3,\n" * 9,
        "x1,target\n" + "1,0\ninf,1\n" * 9,
        "",
    ],
)
def test_tables_that_do_not_fit_are_refused(text, tmp_path):
    (tmp_path / "cross.csv").write_text(text, encoding="utf-8")
    with pytest.raises(Refusal, match=r"^--data: \S+cross\.csv [^\n]+$"):
        read(tmp_path, "cross", quick=False)


@pytest.mark.parametrize(
    ("header", "classes", "what"), [("x2,x1", "01", "columns"), ("x1,x2", "ab", "classes"), ("x1,x2", "02", "classes")]
)
def test_test_rows_that_do_not_belong_to_the_others_are_refused(header, classes, what, tmp_path):
    for file, names, (zero, one) in (("ripley_train.csv", "x1,x2", "01"), ("ripley_test.csv", header, classes)):
        text = f"{names},target\n" + f"1,2,{zero}\n3,4,{one}\n" * 9
        (tmp_path / file).write_text(text, encoding="utf-8")
    with pytest.raises(Refusal, match=f"the {what} of ripley_train.csv and ripley_test.csv in .* differ"):
        read(tmp_path, "ripley", quick=False)


@pytest.mark.parametrize("package", ["optuna", "xgboost"])
def test_a_missing_package_is_said_before_any_work(package, tmp_path):
    (tmp_path / f"{package}.py").write_text("raise ImportError", encoding="utf-8")
    path = os.pathsep.join(filter(None, [str(tmp_path), os.environ.get("PYTHONPATH")]))
    done = run(tmp_path / "out", PYTHONPATH=path)
    assert done.returncode == 2
    assert f"{package} cannot be imported." in done.stderr
    assert "pip install 'bayesian-reticulum[paper]'" in done.stderr
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("loss", "splits", "boosting", "published", "verdicts"),
    [
        (0.3310, 3, 0.3311, 0.3369, [True, True, True, True, True]),
        (0.3311, 3, 0.3311, 0.3370, [False, True, False, False, True]),
        (0.3200, 4, 0.3300, 0.3951, [True, False, True, False, False]),
    ],
)
def test_verdicts_follow_from_the_numbers(loss, splits, boosting, published, verdicts):
    ours, theirs = "ReticulumClassifier", "PaperReticulumClassifier, published settings"
    sizes = np.full((3, 5), 3)
    sizes[1, 2] = splits
    spreads = {
        ("cross", ours): Spread(np.array([0.32, loss, 0.31]), sizes, None),
        ("cross", theirs): Spread(np.full(3, published), sizes, None),
    }
    fits = {("cross", "XGBoost"): Fit({}, np.full(5, boosting), None, 100, None)}
    results = Results({"cross": generated("cross", quick=True)}, fits, spreads, 1, 3, True, True)
    assert [check.is_kept for check in checks(results)] == verdicts
