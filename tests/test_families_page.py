"""What docs/families.md shows can be done, and its family is a good one."""

import contextlib
import io
import re
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from bayesian_reticulum.testing import check_family

PAGE = (Path(__file__).resolve().parent.parent / "docs" / "families.md").read_text(encoding="utf-8")
NUMBER = re.compile(r"\d+(?:\.\d+)?(?:e[+-]?\d+)?")


def blocks(language):
    return re.findall(rf"^```{language}\n(.*?)^```", PAGE, flags=re.DOTALL | re.MULTILINE)


@pytest.fixture(scope="module")
def page():
    """The code of the page as a module, and what it printed."""
    module, printed = ModuleType("families_page"), io.StringIO()
    with pytest.MonkeyPatch.context() as patch, contextlib.redirect_stdout(printed):
        # What is to be pickled has to be found in its module.
        patch.setitem(sys.modules, module.__name__, module)
        for block in blocks("python"):
            exec(compile(block, "docs/families.md", "exec"), vars(module))
        yield module, printed.getvalue()


def test_the_code_runs_and_prints_what_is_shown(page):
    _, printed = page
    shown = "".join(blocks("text"))
    assert NUMBER.sub("#", printed) == NUMBER.sub("#", shown)
    # Not to the last digit: that one may depend on the linear algebra that NumPy was built with.
    values, expected = ([float(number) for number in NUMBER.findall(text)] for text in (printed, shown))
    np.testing.assert_allclose(values, expected, rtol=0.05, atol=0.01)


def test_intervals_hold_the_truth(page):
    module, _ = page
    low, high = module.reg.predict_distribution(module.X).interval(0.9)
    assert ((low <= module.y) & (module.y <= high)).mean() == pytest.approx(0.9, abs=0.04)


@pytest.mark.parametrize(("shape", "rate"), [(2.5, 0.01), (40.0, 100.0)])
def test_the_family_is_right_for_other_priors(page, shape, rate):
    module, _ = page
    check_family(module.WaitingTimes(shape, rate), lambda rng, n: rng.exponential(0.3, size=n), n_rounds=4)
