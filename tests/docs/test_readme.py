"""What the README says can be done works, and what it shows is what comes out."""

import contextlib
import io
import re
import shlex
import subprocess
import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pytest

from plugins import assert_prints_what_is_shown, code_blocks

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
NUMBER = re.compile(r"\d+(?:\.\d+)?(?:e[+-]?\d+)?")
PNG_SIGNATURE = b"\x89PNG\r\n\x1a\n"


def blocks(language):
    return re.findall(rf"^```{language}\n(.*?)^```", README, flags=re.DOTALL | re.MULTILINE)


def commands():
    return [shlex.split(line, comments=True) for block in blocks("sh") for line in block.splitlines()]


def run(*arguments):
    """Run a script of the repository as the README does, in a folder of the caller's choice."""
    script, *rest = map(str, arguments)
    return subprocess.run(
        [sys.executable, str(ROOT / script), *rest], capture_output=True, text=True, encoding="utf-8", timeout=120
    )


def test_the_code_runs_and_prints_what_is_shown():
    printed = io.StringIO()
    namespace = {}
    with contextlib.redirect_stdout(printed):
        for block in blocks("python"):
            exec(compile(block, "README.md", "exec"), namespace)
    assert namespace["probabilities"].shape == (len(namespace["X_test"]), 3)
    assert namespace["kept"]
    assert (namespace["lower"] < namespace["upper"]).all()
    (shown,) = blocks("text")
    assert NUMBER.sub("#", printed.getvalue().strip()) == NUMBER.sub("#", shown.strip())
    # Not to the last digit: that one may depend on the linear algebra that NumPy was built with.
    values, expected = ([float(number) for number in NUMBER.findall(text)] for text in (printed.getvalue(), shown))
    np.testing.assert_allclose(values, expected, rtol=0.05, atol=0.01)


def test_every_command_is_one_that_is_tested_here():
    assert {tuple(command[:2]) for command in commands()} == {
        ("make", "demo"),
        ("make", "paper"),
        ("make", "test"),
        # `make test-pure` installs a clone in this way.
        ("pip", "install"),
        ("python", "benchmarks/speed.py"),
        ("python", "benchmarks/quality.py"),
    }


def test_make_knows_the_targets():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for program, target, *_ in commands():
        if program == "make":
            assert re.search(rf"^{target}:", makefile, flags=re.MULTILINE), f"the Makefile has no target {target}"
    assert re.search(r"^demo:.*\n\t.*python examples/demo\.py$", makefile, flags=re.MULTILINE)
    assert re.search(r"^paper:.*\n\t.*python benchmarks/paper \$\(ARGS\)$", makefile, flags=re.MULTILINE)


@pytest.mark.parametrize(
    "page",
    [
        "README.md",
        "CONTRIBUTING.md",
        "docs/design.md",
        "docs/families.md",
        "docs/limits.md",
        "docs/paper.md",
        "docs/pictures.md",
        "docs/reading.md",
        "docs/regression.md",
        "docs/tables.md",
        "docs/trust.md",
    ],
)
def test_links_lead_somewhere(page):
    text = (ROOT / page).read_text(encoding="utf-8")
    links = [link.partition("#")[0] for link in re.findall(r"\]\(([^)#][^)]*)\)", text) if "://" not in link]
    assert links
    assert [link for link in links if not (ROOT / page).parent.joinpath(link).exists()] == []
    # Every picture in the folder of a page is shown on it.
    folder = (ROOT / page).with_suffix("")
    pictures = {f"{folder.name}/{picture.name}" for picture in folder.glob("*.png")} if folder.is_dir() else set()
    assert pictures <= set(links)


def test_the_demo_prints_trees_and_a_table_and_draws_a_picture(tmp_path):
    picture = tmp_path / "picture.png"
    done = run("examples/demo.py", "--out", picture)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("split 0: P(left) = sigmoid(") == 2
    rows = re.findall(r"^(cross|sphere) +\d+ +([\d.]+) +([\d.]+) +\d+ +[\d.]+$", done.stdout, flags=re.MULTILINE)
    assert [name for name, _, _ in rows] == ["cross", "sphere"]
    for _, loss, true_loss in rows:
        assert float(true_loss) < float(loss) < float(true_loss) + 0.02
    assert picture.read_bytes().startswith(PNG_SIGNATURE)


def test_the_regression_example_prints_a_tree_and_draws_a_picture(tmp_path):
    picture = tmp_path / "picture.png"
    done = run("examples/regression.py", "--out", picture)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("Reticulum: 2 splits, 3 leaves")
    covered = re.search(r"^([\d.]+)% of new rows lie within their 90% interval", done.stdout, flags=re.MULTILINE)
    assert 86 < float(covered[1]) < 94
    assert picture.read_bytes().startswith(PNG_SIGNATURE)


def test_the_example_of_gaps_prints_a_table_and_draws_a_picture(tmp_path):
    picture = tmp_path / "picture.png"
    done = run("examples/gaps.py", "--quick", "--out", picture)
    assert done.returncode == 0, done.stderr
    rows = re.findall(r"^ +(\d+)% +([\d.]+) +([\d.]+)$", done.stdout, flags=re.MULTILINE)
    assert [share for share, _, _ in rows] == ["0", "20"]
    assert rows[0][1] == rows[0][2]
    assert float(rows[1][1]) < float(rows[1][2])
    assert picture.read_bytes().startswith(PNG_SIGNATURE)


@pytest.mark.parametrize("page", ["docs/limits.md", "docs/reading.md", "docs/tables.md", "docs/trust.md"])
def test_the_code_of_a_page_prints_what_is_shown(page, capsys):
    namespace = {}
    for block in code_blocks(page, "python"):
        exec(compile(block, page, "exec"), namespace)
    assert_prints_what_is_shown(capsys.readouterr().out, "".join(code_blocks(page, "text")))


def test_the_code_on_regression_runs():
    namespace = {}
    for block in code_blocks("docs/regression.md", "python"):
        exec(compile(block, "regression.md", "exec"), namespace)
    assert namespace["prediction"].sample(2, random_state=0).shape == (300, 2)
    assert ((namespace["lower"] < namespace["y"]) & (namespace["y"] < namespace["upper"])).mean() > 0.85


def test_the_code_on_pictures_draws_them_and_prints_what_is_shown(capsys):
    plt.switch_backend("Agg")
    namespace = {}
    for block in code_blocks("docs/pictures.md", "python"):
        exec(compile(block, "pictures.md", "exec"), namespace)
    assert_prints_what_is_shown(capsys.readouterr().out, "".join(code_blocks("docs/pictures.md", "text")))
    for name in ("tree", "surface", "box", "bars", "intervals", "growth", "strip"):
        assert namespace[name].figure_.axes
    plt.close("all")


def test_the_example_of_pictures_draws_a_page(tmp_path):
    picture = tmp_path / "picture.png"
    done = run("examples/pictures.py", "--out", picture)
    assert done.returncode == 0, done.stderr
    assert re.findall(r"^(\w+): <Reticulum: [1-9]", done.stdout, flags=re.MULTILINE) == ["wine", "diabetes", "sphere"]
    assert picture.read_bytes().startswith(PNG_SIGNATURE)


@pytest.mark.parametrize(
    "script",
    [
        "benchmarks/quality.py",
        "benchmarks/speed.py",
        "examples/demo.py",
        "examples/gaps.py",
        "examples/pictures.py",
        "examples/regression.py",
    ],
)
def test_scripts_explain_themselves(script):
    done = run(script, "--help")
    assert done.returncode == 0, done.stderr
    assert "usage: " in done.stdout


def test_quality_skips_clearly_where_there_are_no_data(tmp_path):
    missing = tmp_path / "missing"
    for folder, message in ((missing, f"Skipped: there is no folder {missing}."), (tmp_path, "Skipped: ")):
        done = run("benchmarks/quality.py", "--data", folder)
        assert done.returncode == 0, done.stderr
        assert done.stdout.startswith(message)


def test_quality_names_a_data_set_that_it_does_not_know(tmp_path):
    done = run("benchmarks/quality.py", "--data", tmp_path, "--only", "irs")
    assert done.returncode != 0
    assert "'irs' is not a data set of this benchmark. Choose from cross, sphere" in done.stderr
