"""The stub `_native.pyi` says what the compiled module says of itself."""

import ast
import re
from pathlib import Path

import pytest

import bayesian_reticulum
from bayesian_reticulum import compiled

if not compiled.instruction_set:
    pytest.skip("the compiled core is not built here", allow_module_level=True)

from bayesian_reticulum import _native

STUB = Path(bayesian_reticulum.__file__).with_name("_native.pyi")
ARRAYS = {"dtype=float64": "Floats", "dtype=int64": "Integers"}


def named_array(described):
    """The stub's name for an array that nanobind describes by its type, shape and order."""
    return next((name for dtype, name in ARRAYS.items() if dtype in described[0]), "Any")


def signature(function):
    """Arguments with types and defaults, and the returned type without what it holds."""
    returned = ast.unparse(function.returns).partition("[")[0]
    return f"{function.name}({ast.unparse(function.args)}) -> {returned}"


def compiled_signatures(function):
    """One signature for each overload, from the lines of nanobind's docstring."""
    for line in function.__doc__.splitlines():
        text = re.sub(r"ndarray\[[^\]]*\]", named_array, line)
        text = text.replace(f"{_native.__name__}.", "").replace(": object", ": Any")
        yield signature(ast.parse(f"def {text}: ...").body[0])


def compiled_members(owner):
    """Signatures of functions, and names and types of attributes, of the module or of one of its classes."""
    for name, member in vars(owner).items():
        if isinstance(member, type):
            yield from (f"{name}.{line}" for line in compiled_members(member))
        elif name == "__init__" and member.__doc__.startswith("Initialize self"):
            # An abstract class: Python cannot make any.
            continue
        elif name == "__init__" or (not name.startswith("__") and callable(member)):
            yield from compiled_signatures(member)
        elif isinstance(member, property):
            # nanobind's docstring of a property is its signature without the name.
            yield f"{name}{member.__doc__}"
        elif not name.startswith("__"):
            yield f"{name}: {type(member).__name__}"


def stub_members(body):
    for node in body:
        if isinstance(node, ast.ClassDef):
            yield from (f"{node.name}.{line}" for line in stub_members(node.body))
        elif isinstance(node, ast.FunctionDef):
            yield signature(node)
        elif isinstance(node, ast.AnnAssign):
            yield ast.unparse(node)


def test_the_stub_has_every_name_argument_and_type_of_the_compiled_module_and_no_other():
    stub = sorted(stub_members(ast.parse(STUB.read_text()).body))
    assert stub == sorted(compiled_members(_native))


def test_a_stub_that_lacks_a_method_or_names_an_argument_otherwise_is_seen():
    written = STUB.read_text()
    changes = [
        ("def moments(", "def other("),
        ("prior: Floats", "pseudo_counts: Floats"),
        ("n_slopes(self) -> int", "n_slopes(self) -> float"),
        ("pad: int\n", ""),
    ]
    for old, new in changes:
        assert old in written
        changed = ast.parse(written.replace(old, new)).body
        assert sorted(stub_members(changed)) != sorted(compiled_members(_native))
