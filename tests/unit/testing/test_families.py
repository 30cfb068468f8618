"""`check_family` holds families to all laws, and says what is no family."""

import numpy as np
import pytest

from bayesian_reticulum.families import DirichletCategorical, NormalLinear
from bayesian_reticulum.testing import check_family, families
from bayesian_reticulum.testing.families import LAWS, name_of
from bayesian_reticulum.testing.statistics_laws import bounds_are_in_order
from broken_families import BROKEN, CLASSES, CONSTANT, LINEAR, breaking_laws_of, case_of


@pytest.mark.parametrize(("family", "law", "what"), breaking_laws_of(families))
def test_a_broken_law_is_named_with_what_was_found(family, law, what):
    case = case_of(family)
    with pytest.raises(AssertionError, match=rf"^{type(family).__name__} breaks the law '{law}': .*{what}"):
        check_family(family, case.draw_targets, n_features=case.n_features)


def test_every_law_is_one_that_some_family_breaks():
    assert {law for _, law, _ in BROKEN} | {name_of(bounds_are_in_order)} == {name_of(law) for law in LAWS}


@pytest.mark.parametrize("case", [CONSTANT, LINEAR], ids=["constant", "linear"])
def test_a_family_that_keeps_the_laws_passes(case):
    assert check_family(case.family, case.draw_targets, n_features=case.n_features, n_rounds=1) is None


class Lonely:
    uses_design = True
    n_statistics = 2

    def row_statistics(self, design, targets):
        return np.ones((len(targets), 2))


class WithMethods(DirichletCategorical):
    def n_statistics(self):
        return len(self.prior)


def test_what_is_no_family_is_refused_with_what_it_lacks():
    draw_targets = CONSTANT.draw_targets
    with pytest.raises(TypeError, match=r"family is no family: Lonely lacks are_possible, .*, slope_gains, .*\.$"):
        check_family(Lonely(), draw_targets)
    with pytest.raises(TypeError, match=r"family is the class NormalLinear; give an instance, such as NormalLinear\("):
        check_family(NormalLinear, draw_targets)
    with pytest.raises(TypeError, match=r"n_statistics of WithMethods is .*; make it a property that gives a int"):
        check_family(WithMethods(CLASSES), draw_targets)


def test_other_errors_say_which_law_they_come_from():
    with pytest.raises(ValueError, match=r"broadcast|shape|mismatch") as caught:
        check_family(NormalLinear(1), CONSTANT.draw_targets, n_features=3)
    assert caught.value.__notes__ == [
        "This happened on the way to the law 'statistics of partitions add' of NormalLinear, with 3 features."
    ]
