"""What docs/families.md shows can be done, and its family is a good one."""

import contextlib
import io
import sys
from types import ModuleType

import pytest

from bayesian_reticulum.testing.families import check_family
from plugins import assert_prints_what_is_shown, code_blocks

PAGE = "docs/families.md"


@pytest.fixture(scope="module")
def page():
    """The code of the page as a module, and what it printed."""
    module, printed = ModuleType("families_page"), io.StringIO()
    with pytest.MonkeyPatch.context() as patch, contextlib.redirect_stdout(printed):
        # What is to be pickled has to be found in its module.
        patch.setitem(sys.modules, module.__name__, module)
        for block in code_blocks(PAGE, "python"):
            exec(compile(block, PAGE, "exec"), vars(module))
        yield module, printed.getvalue()


def test_the_code_runs_and_prints_what_is_shown(page):
    _, printed = page
    assert_prints_what_is_shown(printed, "".join(code_blocks(PAGE, "text")))


def test_intervals_hold_the_truth(page):
    module, _ = page
    low, high = module.reg.predict_distribution(module.X).interval(0.9)
    assert ((low <= module.y) & (module.y <= high)).mean() == pytest.approx(0.9, abs=0.04)


@pytest.mark.parametrize(("shape", "rate"), [(2.5, 0.01), (40.0, 100.0)])
def test_the_family_is_right_for_other_priors(page, shape, rate):
    module, _ = page
    check_family(module.WaitingTimes(shape, rate), lambda rng, n: rng.exponential(0.3, size=n), n_rounds=4)
