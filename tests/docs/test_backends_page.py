"""What docs/backends.md shows can be done, and its rows are good ones."""

import contextlib
import io
from types import ModuleType

import pytest

from plugins import assert_prints_what_is_shown, code_blocks

PAGE = "docs/backends.md"


@pytest.fixture(scope="module")
def page():
    """The code of the page as a module, and what it printed."""
    module, printed = ModuleType("backends_page"), io.StringIO()
    with contextlib.redirect_stdout(printed):
        for block in code_blocks(PAGE, "python"):
            exec(compile(block, PAGE, "exec"), vars(module))
    return module, printed.getvalue()


def test_the_code_runs_and_prints_what_is_shown(page):
    _, printed = page
    assert_prints_what_is_shown(printed, "".join(code_blocks(PAGE, "text")))
