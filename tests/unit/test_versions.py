"""What `show_versions` prints is true."""

import platform
from importlib.metadata import PackageNotFoundError

import numpy as np
import pytest
import sklearn

import bayesian_reticulum
from bayesian_reticulum import compiled, show_versions, versions
from bayesian_reticulum.rows import ANSWERS
from plugins import needs_compiled


def printed(capsys):
    show_versions()
    return dict(line.split(": ", maxsplit=1) for line in capsys.readouterr().out.splitlines())


def test_versions_are_those_that_run(capsys):
    shown = printed(capsys)
    assert shown["python"].startswith(platform.python_version())
    assert shown["numpy"] == np.__version__
    assert shown["scikit-learn"] == sklearn.__version__
    if bayesian_reticulum.__version__ != "0+unknown":
        assert shown["bayesian-reticulum"] == bayesian_reticulum.__version__
    assert int(shown["CPUs"]) >= 1
    assert 1 <= int(shown["threads"].removesuffix(" by default")) <= int(shown["CPUs"])


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
    shown = printed(capsys)
    assert shown["compiled code"] == expected
    in_use = variable == "1"
    assert ("NumPy for all others" in shown["sums over rows"], shown["sums over rows"] == "NumPy") == (
        in_use,
        not in_use,
    )
    assert not in_use or all(request.__name__ in shown["sums over rows"] for request in ANSWERS)


def test_the_reason_why_there_is_no_compiled_code_is_printed(capsys, monkeypatch):
    monkeypatch.setattr(compiled, "instruction_set", "")
    monkeypatch.setattr(compiled, "import_error", "No module named 'bayesian_reticulum._native'")
    assert printed(capsys)["compiled code"] == "not built (No module named 'bayesian_reticulum._native')"


def test_a_package_that_is_not_there_is_no_error(capsys, monkeypatch):
    def version(package):
        raise PackageNotFoundError(package)

    monkeypatch.setattr(versions, "version", version)
    assert printed(capsys)["scipy"] == "not installed"
