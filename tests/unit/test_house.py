"""The rules of the house: rooms with doors, files and functions of a readable size, tests that replace nothing private.

A room is a folder of the package, or a file at its root. What stands in a room may use all of that room; from another
room it may use the names that its door, `__init__.py`, lists in `__all__`. Tests in `tests/unit/<room>` and in
`test_<room>.py` belong to their room; all other tests use no private name of the package.
"""

import ast
import importlib
import re
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src"
PACKAGE = "bayesian_reticulum"
CODE = ("src", "benchmarks", "examples")
MOST_LINES, MOST_FUNCTION_LINES = 600, 100

# Names with an underscore that are not private to a room, and why.
NOT_PRIVATE = {
    "_asdict": "every NamedTuple has it, documented",
    "_exit": "os documents it: a worker ends without the cleaning up of its parent",
    "_fields": "every NamedTuple has it, documented",
    "_getframe": "sys documents it: a warning names the line of the caller",
    "_native": "the compiled core: its name says that users do not import it",
    "_replace": "every NamedTuple has it, documented",
    "_repr_html_": "IPython documents it: notebooks ask for it",
}

# Files that may be longer, or hold longer functions, and why.
LONGER: dict[str, str] = {}


@cache
def files(*folders: str, name: str = "*.py") -> list[Path]:
    return sorted(path for folder in folders for path in (ROOT / folder).rglob(name))


def assert_none(wrong: Iterable[str]) -> None:
    """Fail with all that is wrong, a line each."""
    lines = list(wrong)
    assert not lines, "\n" + "\n".join(lines)


@cache
def parse(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"), str(path))


def place(path: Path, node: ast.AST | None = None) -> str:
    name = path.relative_to(ROOT).as_posix() if path.is_relative_to(ROOT) else path.name
    return name if node is None else f"{name}:{node.lineno}"


def is_private(name: str) -> bool:
    return name.startswith("_") and not (name.startswith("__") and name.endswith("__")) and name not in NOT_PRIVATE


def module_name(path: Path) -> tuple[str, ...]:
    """Folders and file of a module; a folder's `__init__` is the folder itself."""
    parts = (path.relative_to(SOURCE) if path.is_relative_to(SOURCE) else path.relative_to(ROOT)).with_suffix("").parts
    return parts[:-1] if parts[-1] == "__init__" else parts


@cache
def room(path: Path) -> tuple[str, ...]:
    """The room that a file stands in, as two names, or the package alone for its root; of a test its subject's."""
    module = module_name(path)
    if module[:2] in (("tests", "unit"), ("tests", "laws")):
        words = module[2] if module[1] == "unit" and len(module) > 3 else module[-1].removeprefix("test_")
        for name in (words, words.partition("_")[0]):
            if (SOURCE / PACKAGE / name).is_dir() or (SOURCE / PACKAGE / f"{name}.py").exists():
                return PACKAGE, name
    return module[:2]


@cache
def exports(tree: ast.Module) -> list[str] | None:
    """The names of a literal `__all__`; None if there is none."""
    for node in tree.body:
        if isinstance(node, ast.Assign) and any(ast.unparse(target) == "__all__" for target in node.targets):
            return list(ast.literal_eval(node.value))
    return None


# ------------------------------------------------------------------------------------------------ doors between rooms


def imports(path: Path) -> Iterator[tuple[ast.AST, tuple[str, ...], str | None]]:
    """Each import of the package: its node, the module that is imported from, and the name."""
    module = module_name(path)
    folder = module if path.name == "__init__.py" else module[:-1]
    for node in ast.walk(parse(path)):
        if isinstance(node, ast.Import):
            found = [(tuple(alias.name.split(".")), None) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = folder[: len(folder) - node.level + 1] if node.level else ()
            source = base + tuple(filter(None, (node.module or "").split(".")))
            found = [(source, alias.name) for alias in node.names]
        else:
            continue
        yield from ((node, source, name) for source, name in found if source[0] == PACKAGE)


def wrong_imports(path: Path) -> Iterator[str]:
    """Imports that go past a door: of a private name, of a name that is not listed, or from a file behind the door."""
    for node, source, name in imports(path):
        if source[:2] == room(path):
            continue
        door = SOURCE.joinpath(*source[:2], "__init__.py")
        where = f"{place(path, node)}: from {'.'.join(source)} import {name}"
        if is_private(name or source[-1]):
            yield f"{where} (private)"
        elif len(source) > 2:
            yield f"{where} (from a file behind the door {'.'.join(source[:2])})"
        elif len(source) == 2 and door.exists() and name is not None and name not in (exports(parse(door)) or []):
            yield f"{where} (not in its __all__)"


@cache
def defined_names(path: Path) -> set[str]:
    """Names that a file defines: functions, classes, variables and attributes that are assigned."""
    names = set()
    for node in ast.walk(parse(path)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Store):
            names.add(node.id if isinstance(node, ast.Name) else node.attr)
    return names


@cache
def names_of_room(name: tuple[str, ...]) -> set[str]:
    return set().union(*(defined_names(path) for path in files(*CODE) if room(path) == name))


def private_accesses(path: Path) -> Iterator[tuple[str, str]]:
    """Private attributes of other objects than `self`: where they are asked for, and their names."""
    for node in ast.walk(parse(path)):
        if isinstance(node, ast.Attribute):
            owner, name = node.value, node.attr
        elif isinstance(node, ast.Call) and ast.unparse(node.func) in ("getattr", "hasattr", "setattr"):
            owner, name = node.args[0], str(getattr(node.args[1], "value", ""))
        else:
            continue
        if is_private(name) and not (isinstance(owner, ast.Name) and owner.id in ("self", "cls")):
            yield f"{place(path, node)}: {ast.unparse(owner)}.{name}", name


def test_rooms_import_from_each_other_through_their_doors():
    assert_none(line for path in files(*CODE) for line in wrong_imports(path))


def test_what_is_private_to_a_room_is_used_there_alone():
    wrong = ((path, line, name) for path in files(*CODE) for line, name in private_accesses(path))
    assert_none(line for path, line, name in wrong if name not in names_of_room(room(path)))


def wrong_in_test(path: Path) -> Iterator[str]:
    """Private names of the package, outside of the room that is tested, that a test uses."""
    private = set().union(*map(defined_names, files("src"))) - defined_names(path) - names_of_room(room(path))
    yield from (line for line in wrong_imports(path) if line.endswith("(private)"))
    yield from (line for line, name in private_accesses(path) if name in private)


def test_tests_use_nothing_private_but_of_the_room_that_they_test():
    assert_none(line for path in files("tests") for line in wrong_in_test(path))


def is_in_order(names: list[str]) -> bool:
    """Whether constants come first, then classes, then all else, each by the alphabet, as the linter wants it."""
    return names == sorted(set(names), key=lambda name: (not name.isupper(), not name[0].isupper(), name))


@pytest.mark.parametrize("door", files("src", name="__init__.py"), ids=place)
def test_a_door_lists_what_it_opens_in_order(door):
    names = exports(parse(door))
    assert names is not None, "there is no __all__"
    assert is_in_order(names)
    opened = importlib.import_module(".".join(module_name(door)))
    assert [name for name in names if not hasattr(opened, name)] == []


# ----------------------------------------------------------------------------------------------------------- words


def test_every_module_says_what_it_is():
    assert_none(place(path) for path in files(*CODE, "tests") if not ast.get_docstring(parse(path)))


# ------------------------------------------------------------------------------------------------------------ sizes


def python_functions(path: Path) -> Iterator[tuple[str, int]]:
    """Each function with its number of lines."""
    for node in ast.walk(parse(path)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield f"{place(path, node)} {node.name}", node.end_lineno - node.lineno + 1


def cpp_functions(path: Path) -> Iterator[tuple[str, int]]:
    """Each function with its number of lines: a block behind parentheses, in no other block than scopes."""
    text = re.sub(r"/\*.*?\*/", lambda comment: "\n" * comment[0].count("\n"), path.read_text(), flags=re.DOTALL)
    text = re.sub(r'//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])\'', "", text)
    text = re.sub(r"^\s*#(?:[^\n]*\\\n)*[^\n]*", lambda line: "\n" * line[0].count("\n"), text, flags=re.MULTILINE)
    header, start, line = "", 1, 1
    blocks: list[tuple[str, int]] = []  # name of each open function, empty for a scope, and the line where it begins
    for character in text:
        line += character == "\n"
        if character == "{":
            in_function = any(name for name, _ in blocks)
            # Scopes may have parentheses in their attributes, and variables are set by those of a call.
            is_scope = re.match(r"\s*(?:namespace|extern|struct|class|enum|union)\b", header) or "=" in header
            is_function = "(" in header and not is_scope and not in_function
            blocks.append((" ".join(header.split())[:60] if is_function else "", start))
        elif character == "}" and blocks:
            name, begin = blocks.pop()
            if name:
                yield f"{place(path)}:{begin} {name}", line - begin + 1
        if character in "{};":
            header = ""
        else:
            start = line if not header.strip() else start
            header += character


def too_long(sizes: Iterator[tuple[str, int]], most: int) -> list[str]:
    return [f"{name}: {size} lines" for name, size in sizes if size > most]


def sources() -> list[Path]:
    python = files(*CODE, "tests")
    native = files("src/native", name="*.?pp")
    return [path for path in python + native if place(path) not in LONGER]


def test_files_can_be_read_at_once():
    sizes = ((place(path), len(path.read_text(encoding="utf-8").splitlines())) for path in sources())
    assert_none(too_long(sizes, MOST_LINES))


@pytest.mark.parametrize("ending", ["py", "pp"])
def test_functions_can_be_read_at_once(ending):
    count = python_functions if ending == "py" else cpp_functions
    paths = [path for path in sources() if path.name.endswith(ending)]
    assert_none(line for path in paths for line in too_long(count(path), MOST_FUNCTION_LINES))


def test_what_may_be_longer_is_longer():
    for name in LONGER:
        path = ROOT / name
        count = python_functions if path.suffix == ".py" else cpp_functions
        is_long = len(path.read_text(encoding="utf-8").splitlines()) > MOST_LINES
        assert is_long or too_long(count(path), MOST_FUNCTION_LINES), name


# ------------------------------------------------------------------------------------------------------------ tests


def patched_names(path: Path) -> Iterator[tuple[ast.AST, str]]:
    """Names that a test replaces, by `setattr` of pytest or by `patch` of the standard library."""
    for node in ast.walk(parse(path)):
        if isinstance(node, ast.Call) and re.search(r"\.setattr$|\bpatch(?:\.object)?$", ast.unparse(node.func)):
            for argument in node.args[:2]:
                if isinstance(argument, ast.Constant) and isinstance(argument.value, str):
                    yield node, argument.value.rpartition(".")[2]


def test_tests_replace_neither_private_names_nor_constants():
    # A test passes a policy, a limit or an argument; a number that it would have to replace is not one's to choose.
    assert_none(
        f"{place(path, node)}: {name}"
        for path in files("tests")
        for node, name in patched_names(path)
        if is_private(name) or name.isupper()
    )


# --------------------------------------------------------------------------------------------------- the rules work


def written(folder: Path, text: str, name: str = "sample.py") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def test_lines_of_functions_in_cpp_are_counted(tmp_path):
    text = "namespace a {\nstruct B {\n    int f(int x) const {\n        if (x) {\n            return 1;\n        }\n"
    text += "        return 2;  // }\n    }\n};\ntemplate <class T>\nvoid g(\n    T t) {\n}\n}\n"
    sizes = [size for _, size in cpp_functions(written(tmp_path, text, "sample.hpp"))]
    assert sizes == [6, 4]


def test_private_attributes_of_others_are_found(tmp_path):
    text = "self._mine()\nmodel._replace(a=1)\ngetattr(model, '_hidden')\nmodel._x._y\n"
    found = {name for _, name in private_accesses(written(tmp_path, text))}
    assert found == {"_hidden", "_x", "_y"}


def test_replaced_names_are_found(tmp_path):
    text = "monkeypatch.setattr(m, '_few', 1)\npatch.setattr('a.b.MANY', 1)\nmonkeypatch.setattr(sys, 'argv', [])\n"
    names = [name for _, name in patched_names(written(tmp_path, text))]
    assert names == ["_few", "MANY", "argv"]


# Families that no file outside of `families` may ask for by their class.
BUILT_IN = {"DirichletCategorical", "NormalLinear"}


def test_families_are_asked_for_members_and_not_for_their_class():
    assert_none(
        f"{place(path, node)} asks whether a family is built in; ask for a member of it"
        for path in files("src")
        if path.parent.name != "families"
        for node in ast.walk(parse(path))
        if isinstance(node, ast.Call)
        and getattr(node.func, "id", "") == "isinstance"
        and BUILT_IN & {getattr(part, "id", "") for part in ast.walk(node.args[1])}
    )
