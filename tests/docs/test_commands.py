"""Commands in pages, workflows and hooks: each is a target of the Makefile, or installs something."""

import itertools
import re
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
PAGES = ["README.md", "CONTRIBUTING.md", *(f"docs/{page.name}" for page in sorted((ROOT / "docs").glob("*.md")))]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
HOOKS = ROOT / ".pre-commit-config.yaml"


def read(path):
    return (ROOT / path).read_text(encoding="utf-8")


def targets():
    """Names of the targets of the Makefile, with what each one needs."""
    rules = re.findall(r"^([\w./-]+(?: [\w./-]+)*):(?!=)([^\n]*)$", read("Makefile"), flags=re.MULTILINE)
    return {name: needed.split() for names, needed in rules for name in names.split()}


def commands_of_make(text):
    """Targets that a page names, in a block of commands or between backticks."""
    return re.findall(r"(?:^|`)make ([\w./-]+)", text, flags=re.MULTILINE)


def steps(workflow):
    """The command lines of a workflow, one for each value of the matrix of their job."""
    for job in yaml.safe_load(read(workflow))["jobs"].values():
        matrix = job.get("strategy", {}).get("matrix", {})
        for values in itertools.product(*matrix.values()):
            for step in job["steps"]:
                line = step.get("run", "")
                for name, value in zip(matrix, values, strict=True):
                    line = line.replace(f"${{{{ matrix.{name} }}}}", value)
                yield from filter(None, line.splitlines())


@pytest.mark.parametrize("page", PAGES)
def test_pages_name_targets_that_are_there(page):
    assert [target for target in commands_of_make(read(page)) if target not in targets()] == []


def test_targets_are_looked_for_where_pages_name_them():
    text = "Before you make sure, run `make lint`:\n\n```sh\nmake test  # all\n```\n"
    assert commands_of_make(text) == ["lint", "test"]


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda path: path.name)
def test_every_step_of_a_workflow_is_a_target_or_installs_something(workflow):
    lines = set(steps(workflow))
    assert lines
    for line in lines:
        program, *words = line.split()
        assert "install" in words or (program == "make" and words[0] in targets()), line


def test_workflows_run_all_that_has_to_hold():
    lines = {line.removeprefix("make ") for workflow in WORKFLOWS for line in steps(workflow)}
    assert {*targets()["test"], *targets()["test-slow"], "demo"} <= lines


def test_the_gate_runs_the_quick_and_the_slow_tests():
    run = [line.removeprefix("make ") for line in read(".ci/run").splitlines() if line.startswith("make ")]
    assert run == ["test", "test-slow", "demo"]


def test_hooks_are_the_checks_of_make_lint():
    (repository,) = yaml.safe_load(read(HOOKS))["repos"]
    assert repository["repo"] == "local"
    entries = [hook["entry"] for hook in repository["hooks"]]
    assert entries == [f"make {target}" for target in targets()["lint"]]
    assert set(targets()["lint"]) < set(targets())
    assert all(hook["language"] == "system" for hook in repository["hooks"])


@pytest.mark.parametrize("target", ["lint", "test", "test-slow"])
def test_targets_that_only_gather_others_gather_targets(target):
    assert targets()[target]
    assert set(targets()[target]) < set(targets())
