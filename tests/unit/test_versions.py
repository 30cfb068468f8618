"""What `show_versions` tells is true."""

import platform

import numpy as np
import pytest
import sklearn

import bayesian_reticulum
from bayesian_reticulum import compiled, show_versions, versions
from plugins import needs_compiled


def told(capsys):
    show_versions()
    return dict(line.split(": ", maxsplit=1) for line in capsys.readouterr().out.splitlines())


def test_versions_are_those_that_run(capsys):
    found = told(capsys)
    assert found["python"].startswith(platform.python_version())
    assert found["numpy"] == np.__version__
    assert found["scikit-learn"] == sklearn.__version__
    if bayesian_reticulum.__version__ != "0+unknown":
        assert found["bayesian-reticulum"] == bayesian_reticulum.__version__
    assert int(found["CPUs"]) >= 1
    assert found["threads"] == "1 by default"


@needs_compiled
@pytest.mark.parametrize(
    ("variable", "expected"),
    [
        ("1", f"in use, instruction set {compiled.instruction_set}"),
        ("0", "switched off by BAYESIAN_RETICULUM_NATIVE=0"),
    ],
)
def test_compiled_code_is_in_use_unless_switched_off(variable, expected, capsys, monkeypatch):
    monkeypatch.setenv("BAYESIAN_RETICULUM_NATIVE", variable)
    assert told(capsys)["compiled code"] == expected


def test_it_is_told_why_there_is_no_compiled_code(capsys, monkeypatch):
    monkeypatch.setattr(compiled, "instruction_set", "")
    monkeypatch.setattr(compiled, "import_error", "No module named 'bayesian_reticulum._native'")
    assert told(capsys)["compiled code"] == "not built (No module named 'bayesian_reticulum._native')"


def test_a_package_that_is_not_there_is_no_error(capsys, monkeypatch):
    monkeypatch.setattr(versions, "_PACKAGES", ("no-such-package",))
    assert told(capsys)["no-such-package"] == "not installed"
