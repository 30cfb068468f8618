"""The comparison of revisions copies what it should, finds differences and judges them; nothing is built or timed."""

import json
import math
import shutil
import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pytest

import compare

needs_git = pytest.mark.skipif(shutil.which("git") is None, reason="there is no git here")


def result(seconds=1.0, **changes):
    usual = {"log evidence": -10.0, "splits": 3, "training rows": [0.25, 0.75], "fresh rows": [0.5, 0.5]}
    return {"seconds": seconds, **usual, **{name.replace("_", " "): value for name, value in changes.items()}}


@pytest.fixture
def same():
    return compare.Line("same", result(1.0), result(0.5))


@pytest.fixture
def other():
    """One more split, a prediction that is a little off, and twice the time."""
    return compare.Line("other", result(1.0), result(2.0, splits=4, fresh_rows=[0.5, 0.5 + 1e-9]))


@pytest.fixture
def failed():
    return compare.Line("failed", result(), {"error": "ValueError: no"})


def cells(row):
    return [cell.strip() for cell in row.strip("|").split("|")]


@pytest.mark.parametrize(
    ("base", "working", "difference"),
    [
        ([1.0, 2.0], [1.0, 2.0], 0.0),
        ([1.0, 2.0], [1.5, 1.0], 1.0),
        ([1.0, 2.0], [1.0, 2.0, 3.0], math.inf),
        ([math.nan, math.inf], [math.nan, math.inf], 0.0),
        ([math.nan, 1.0], [1.0, 1.0], math.inf),
        ([math.inf], [-math.inf], math.inf),
        ([], [], 0.0),
    ],
)
def test_differences_are_the_largest_absolute_ones(base, working, difference):
    line = compare.Line("fit", result(fresh_rows=base), result(fresh_rows=working))
    assert line.difference("fresh rows") == difference


def test_a_single_bit_is_a_difference():
    line = compare.Line("fit", result(), result(log_evidence=np.nextafter(-10.0, 0.0)))
    assert line.difference("log evidence") > 0
    assert compare.complaints([line], 0.0) == ["fit: log evidence differ by 1.8e-15"]


def test_the_table_has_a_row_for_each_fit(same, other, failed):
    lines = compare.table([same, other, failed]).splitlines()
    assert len({len(line) for line in lines}) == 1
    _, _, *rows = map(cells, lines)
    assert rows[0] == ["same", "-10.0000", "0", "3 and 3", "0", "0", "1.000", "0.500", "0.500"]
    assert rows[1] == ["other", "-10.0000", "0", "3 and 4", "0", "1e-09", "1.000", "2.000", "2.000"]
    assert rows[2] == ["failed", "failed", *[""] * 7]


def test_complaints_name_what_differs_by_more_than_is_allowed(same, other, failed):
    assert compare.complaints([same, failed], 0.0) == []
    # Half the time in one fit makes up for twice the time in the other.
    assert compare.complaints([same, other], 0.0) == ["other: splits differ by 1", "other: fresh rows differ by 1e-09"]
    assert compare.complaints([same, other], 1e-8) == ["other: splits differ by 1"]


@pytest.mark.parametrize(("seconds", "is_slower"), [(1.0, False), (1.029, False), (1.031, True)])
def test_the_geometric_mean_of_ratios_has_a_limit(seconds, is_slower):
    found = compare.complaints([compare.Line("fit", result(1.0), result(seconds))], 0.0)
    assert found == ["the geometric mean of the ratios is 1.031, above 1.03"] * is_slower


def test_without_a_fit_that_succeeds_there_is_no_mean(failed):
    assert math.isnan(compare.mean_ratio([failed]))
    assert compare.complaints([failed], 0.0) == []


def test_what_a_fit_comes_to_is_its_first_results_and_the_median_of_seconds():
    assert compare.summed_up([result(5.0), {"seconds": 1.0}, {"seconds": 2.0}]) == result(2.0)
    assert compare.summed_up([result(), {"error": "MemoryError: "}]) == {"error": "MemoryError: "}


@pytest.fixture
def run(monkeypatch, capsys):
    """The exit status and what is printed of a comparison that comes to these lines."""

    def run(lines, *arguments):
        asked = []
        monkeypatch.setattr(compare, "base_build", lambda root, base: root / "build" / "compare" / "0123456789")
        monkeypatch.setattr(compare, "working_build", lambda root: root / "build" / "compare" / "working")
        monkeypatch.setattr(compare, "check_environments", lambda folders: None)
        monkeypatch.setattr(compare, "compared", lambda *given: asked.append(given) or iter(lines))
        return compare.main(["HEAD", *arguments]), capsys.readouterr().out, *asked

    return run


@pytest.mark.parametrize(
    ("arguments", "status"), [([], 0), (["--check"], 1), (["--check", "--allow", "1e-8"], 1), (["--allow", "2"], 0)]
)
def test_differences_count_if_they_are_to_be_checked(run, other, arguments, status):
    found, printed, _ = run([other], *arguments)
    assert found == status
    assert "The base is HEAD, 0123456789." in printed
    assert "Largest difference: 1; geometric mean of the ratios: 2.000." in printed
    assert ("other: splits differ by 1" in printed) == bool(status)


def test_equal_results_pass_the_check(run, same):
    assert run([same], "--check")[0] == 0


def test_a_fit_that_fails_counts_in_any_case(run, same, failed):
    status, printed, _ = run([same, failed])
    assert status == 1
    assert "failed, working: ValueError: no" in printed


def test_fits_and_turns_can_be_chosen(run, same):
    *_, (pythons, fits, turns) = run([same])
    assert list(pythons) == [compare.BASE, compare.WORKING]
    assert (fits, turns) == (list(compare.FITS), 7)
    *_, (_, fits, turns) = run([same], "--only", "wide, gaps", "--turns", "3")
    assert (fits, turns) == (["wide", "gaps"], 3)


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--only", "gaps,nonsense"], "'nonsense' is not one of the fits. Choose from two-classes, three-classes"),
        (["--turns", "0"], "--turns must be at least 1"),
        (["--allow", "-1"], "--allow must not be negative"),
        (["--allow", "nan"], "--allow must not be negative"),
    ],
)
def test_arguments_that_make_no_sense_are_refused(capsys, arguments, told):
    with pytest.raises(SystemExit):
        compare.main(["HEAD", *arguments])
    assert told in capsys.readouterr().err


# Fits


def test_the_fits_have_what_their_names_promise():
    assert len(compare.FITS) == 14
    assert set(compare.PURE) <= set(compare.FITS)
    _, training, fresh = compare.FITS["many-rows"]()
    assert min(len(training), len(fresh)) > 16_384
    _, training, _ = compare.FITS["wide"]()
    assert training.shape[1] > len(training)
    _, training, _ = compare.FITS["gaps"]()
    assert np.isnan(training[:90, 20:]).all()
    assert 0.05 < np.isnan(training[100:180]).mean() < 0.15


def test_frames_have_gaps_in_columns_of_all_kinds():
    pytest.importorskip("pandas")
    table, y = compare.frame(200)
    assert (table.drop(columns="smokes").isna().sum() > 0).all()
    assert [str(table[name].dtype) for name in ("age", "size", "smokes")] == ["float64", "category", "bool"]
    assert y.dtype == float
    assert set(compare.frame(200, has_classes=True)[1]) == {"no", "yes"}


# Workers


def test_an_answer_has_results_the_first_time():
    model = SimpleNamespace(log_evidence_=-1.5, n_splits_=2, predict_proba=lambda X: np.column_stack([X, 1 - X]))
    task = lambda: model, np.array([0.25]), np.array([0.5, 0.75])
    tasks, fits = {}, {"small": lambda: task}
    first, second = (compare.answer("small", tasks, fits) for _ in range(2))
    assert list(second) == ["seconds"]
    del first["seconds"]
    assert first == {
        "log evidence": -1.5,
        "splits": 2,
        "training rows": [0.25, 0.75],
        "fresh rows": [0.5, 0.5, 0.75, 0.25],
    }


def test_predictions_of_numbers_have_both_ends_of_intervals():
    ends = {0.9: (np.array([0.0, 1.0]), np.array([4.0, 5.0]))}
    model = SimpleNamespace(predict=lambda X: X, predict_distribution=lambda X: SimpleNamespace(interval=ends.get))
    assert compare.predictions(model, np.array([2.0, 3.0])) == [2.0, 3.0, 0.0, 1.0, 4.0, 5.0]


def test_a_library_without_its_core_is_an_error(monkeypatch):
    monkeypatch.setattr("bayesian_reticulum.show_versions", lambda: print("compiled code: not built (no reason)"))
    with pytest.raises(ImportError, match=r"not built \(no reason\)\); install a C\+\+ compiler"):
        compare.versions()


def test_versions_are_those_of_all_that_results_depend_on(monkeypatch):
    pytest.importorskip("pandas")
    monkeypatch.setattr("bayesian_reticulum.show_versions", lambda: print("compiled code: in use"))
    assert list(compare.versions()) == ["Python", *compare.PACKAGES]


def test_the_same_library_gives_the_same_results(capsys):
    pythons = {compare.BASE: sys.executable, compare.WORKING: sys.executable}
    line, wrong = compare.compared(pythons, ["three-classes", "nonsense"], 1)
    assert line.errors == []
    assert line.base["splits"] > 0
    assert len(line.base["training rows"]) == 3 * 75
    assert [line.difference(name) for name in compare.RESULTS] == [0.0] * 4
    assert line.ratio > 0
    assert wrong.errors == ["nonsense, base: KeyError: 'nonsense'", "nonsense, working: KeyError: 'nonsense'"]
    assert capsys.readouterr().err.splitlines() == ["three-classes, 1 of 2 ...", "nonsense, 2 of 2 ..."]


class Scripted:
    """Stands for a worker: it notes who is asked, and answers as a table of its fits says."""

    def __init__(self, name, is_pure, asked, answers):
        self.name, self.is_pure, self.asked, self.answers = name, is_pure, asked, answers

    def ask(self, fit):
        self.asked.append((self.name, self.is_pure, fit))
        return self.answers.get((self.name, fit), result())

    def close(self):
        self.asked.append((self.name, self.is_pure, "closed"))


@pytest.fixture
def scripted(monkeypatch):
    """Whoever was asked, in order; answers other than the usual one can be set."""
    script = SimpleNamespace(asked=[], answers={})
    monkeypatch.setattr(
        compare, "Worker", lambda name, is_pure=False: Scripted(name, is_pure, script.asked, script.answers)
    )
    return script


def test_revisions_take_turns(scripted):
    fits = ["gaps", "pure-regression"]
    lines = list(compare.compared({compare.BASE: "b", compare.WORKING: "w"}, fits, 3))
    assert [line.fit for line in lines] == fits
    questions = [(name, fit) for name, _, fit in scripted.asked if fit != "closed"]
    assert questions == [(name, "gaps") for name in "bwwbbw"] + [(name, "pure-regression") for name in "wbbwwb"]
    assert all(is_pure == (fit == "pure-regression") for _, is_pure, fit in scripted.asked if fit != "closed")
    assert len([fit for *_, fit in scripted.asked if fit == "closed"]) == 4


def test_after_an_error_the_other_fits_go_on(scripted):
    scripted.answers["w", "gaps"] = {"error": "ValueError: no"}
    first, second = compare.compared({compare.BASE: "b", compare.WORKING: "w"}, ["gaps", "wide"], 3)
    assert first.errors == ["gaps, working: ValueError: no"]
    assert second.errors == []
    assert len([fit for *_, fit in scripted.asked if fit == "gaps"]) == 2


def test_a_worker_that_ends_is_started_again(tmp_path):
    program = tmp_path / "program"
    program.write_text(f"#!/bin/sh\nread question\necho '{json.dumps({'seconds': 1.0})}'\nread question\nexit 3\n")
    program.chmod(0o755)
    worker = compare.Worker(program)
    assert worker.ask("gaps") == {"seconds": 1.0}
    assert worker.ask("gaps") == {"error": "the process ended with status 3"}
    assert worker.ask("gaps") == {"seconds": 1.0}
    worker.close()


# Builds


@pytest.fixture
def repository(tmp_path):
    """Two files are committed; then one is changed, one deleted, and one added; one is ignored."""
    root = tmp_path / "repository"
    (root / "src").mkdir(parents=True)
    for name, text in {"src/old.py": "1", "src/gone.py": "1", ".gitignore": "*.so\nbuild/\n", "README.md": "1"}.items():
        (root / name).write_text(text)
    author = ["-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"]
    for command in (["init", "--quiet"], ["add", "."], [*author, "commit", "--quiet", "--message", "first"]):
        subprocess.run(["git", "-C", root, *command], check=True)
    (root / "src/old.py").write_text("2")
    (root / "src/gone.py").unlink()
    (root / "src/new.py").write_text("2")
    (root / "src/core.so").write_text("2")
    return root


@pytest.fixture
def contents(monkeypatch):
    """The names and texts of what would be built, and the key of the build."""
    monkeypatch.setattr(compare, "built", lambda folder, key: (folder, key))

    def contents(build):
        folder, key = build
        files = {path: path.read_text() for path in (folder / "source").rglob("*") if path.is_file()}
        return {path.relative_to(folder / "source").as_posix(): text for path, text in files.items()}, key

    return contents


@needs_git
def test_the_base_is_as_it_was_committed(repository, contents):
    files, key = contents(compare.base_build(repository, "HEAD"))
    assert files == {"src/old.py": "1", "src/gone.py": "1", ".gitignore": "*.so\nbuild/\n", "README.md": "1"}
    assert contents(compare.base_build(repository, key[:8]))[1] == key
    with pytest.raises(SystemExit, match="'nonsense' is no revision of this repository"):
        compare.base_build(repository, "nonsense")


@needs_git
def test_the_working_tree_is_as_it_is(repository, contents):
    files, key = contents(compare.working_build(repository))
    assert files == {"src/old.py": "2", "src/new.py": "2", ".gitignore": "*.so\nbuild/\n", "README.md": "1"}
    (repository / "README.md").write_text("2")
    assert contents(compare.working_build(repository))[1] == key
    (repository / "src/new.py").rename(repository / "src/newer.py")
    assert contents(compare.working_build(repository))[1] != key


def test_an_environment_is_filled_again_only_if_its_key_changes(monkeypatch, tmp_path):
    commands = []

    def run(command, **_):
        commands.append(command[2])
        if command[2] == "venv":
            (tmp_path / compare.PYTHON).parent.mkdir(parents=True)
            (tmp_path / compare.PYTHON).touch()
        return SimpleNamespace(returncode=int(len(commands) > 3))

    monkeypatch.setattr(compare.subprocess, "run", run)
    for key in ("one", "one", "two"):
        assert compare.built(tmp_path, key) == tmp_path
    assert commands == ["venv", "pip", "pip"]
    with pytest.raises(SystemExit, match="could not be built"):
        compare.built(tmp_path, "three")
    assert not (tmp_path / "built").exists()


def test_environments_have_to_be_alike(scripted, tmp_path):
    folders = [tmp_path / "one", tmp_path / "two"]
    for folder in folders:
        folder.mkdir()
        (folder / "built").touch()
        scripted.answers[folder / compare.PYTHON, compare.VERSIONS] = {"numpy": "2.0"}
    compare.check_environments(folders)
    scripted.answers[folders[1] / compare.PYTHON, compare.VERSIONS] = {"numpy": "2.1"}
    with pytest.raises(SystemExit, match=r"One has numpy 2\.0, the other numpy 2\.1: remove .*one and .*two and"):
        compare.check_environments(folders)
    scripted.answers[folders[1] / compare.PYTHON, compare.VERSIONS] = {"error": "ImportError: no core"}
    with pytest.raises(SystemExit, match="two cannot be used: ImportError: no core"):
        compare.check_environments(folders)
    # It is built anew, the other is not.
    assert [(folder / "built").exists() for folder in folders] == [True, False]
