"""The package itself: names that are imported when they are used, and nothing before."""

import ast
import importlib
import json
import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import bayesian_reticulum
from bayesian_reticulum import ReticulumClassifier

HEAVY = ("numpy", "scipy", "sklearn")
MODULES = ("datasets", "exact", "explain", "plots", "testing")


def run(code):
    """What a new Python prints, read as JSON."""
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return json.loads(result.stdout)


def names_for_type_checkers():
    """{name: module} of the imports that only type checkers see."""
    tree = ast.parse(Path(bayesian_reticulum.__file__).read_text(encoding="utf-8"))
    (block,) = (node for node in tree.body if isinstance(node, ast.If))
    assert ast.unparse(block.test) == "TYPE_CHECKING"
    imports = [node for node in block.body if isinstance(node, ast.ImportFrom)]
    return {alias.name: node.module for node in imports for alias in node.names}


def test_importing_the_package_imports_no_heavy_packages():
    code = "import sys, json, bayesian_reticulum as b; b.__version__; dir(b); print(json.dumps(sorted(sys.modules)))"
    loaded = run(code)
    assert "bayesian_reticulum" in loaded
    assert [name for name in loaded if name.split(".")[0] in HEAVY or name.startswith("bayesian_reticulum.")] == []


def test_a_name_imports_what_it_needs_alone():
    code = "import sys, json; from bayesian_reticulum import Tree; print(json.dumps(sorted(sys.modules)))"
    loaded = run(code)
    assert "bayesian_reticulum.tree" in loaded
    assert "sklearn" not in loaded


@pytest.mark.parametrize(("name", "home"), names_for_type_checkers().items())
def test_each_name_is_the_one_that_type_checkers_see(name, home):
    assert getattr(bayesian_reticulum, name) is getattr(importlib.import_module(f"bayesian_reticulum.{home}"), name)


def test_all_names_are_known_to_type_checkers():
    assert sorted([*names_for_type_checkers(), "__version__"]) == sorted(bayesian_reticulum.__all__)


def test_star_imports_all_names():
    namespace = {}
    exec("from bayesian_reticulum import *", namespace)
    assert set(namespace) - {"__builtins__"} == set(bayesian_reticulum.__all__)


def test_names_and_public_modules_are_listed_for_completion():
    code = "import bayesian_reticulum, json; print(json.dumps(dir(bayesian_reticulum)))"
    assert {*bayesian_reticulum.__all__, *MODULES} <= set(run(code))


@pytest.mark.parametrize("name", [*MODULES, "estimators", "families", "model", "simplification", "tree"])
def test_public_modules_are_attributes(name):
    assert bayesian_reticulum.__getattr__(name).__name__ == f"bayesian_reticulum.{name}"


def test_other_names_do_not_exist():
    with pytest.raises(AttributeError, match="module 'bayesian_reticulum' has no attribute 'Forest'"):
        bayesian_reticulum.Forest  # noqa: B018


def test_pickled_estimators_are_read_where_nothing_has_been_imported(tmp_path):
    X = np.arange(10.0)[:, None]
    clf = ReticulumClassifier(random_state=0, max_splits=1).fit(X, X[:, 0] > 4)
    path = tmp_path / "model.pickle"
    path.write_bytes(pickle.dumps(clf))
    code = f"import json, pathlib, pickle; clf = pickle.loads(pathlib.Path({str(path)!r}).read_bytes())"
    assert run(f"{code}; print(json.dumps(clf.predict([[0.0], [9.0]]).tolist()))") == [False, True]
