"""What makes an object a family."""

from bayesian_reticulum.families import DirichletCategorical, NormalLinear
from bayesian_reticulum.families.protocol import CodedFamily, EmpiricalPriorFamily, missing_members
from plugins import GammaPoisson


class Nothing:
    pass


class LinearNothing:
    uses_design = True


def test_families_lack_nothing():
    for family in (DirichletCategorical((1.0, 1.0)), NormalLinear(), NormalLinear(2), GammaPoisson()):
        assert missing_members(family) == []


def test_what_is_no_family_lacks_its_members_in_their_order():
    missing = missing_members(Nothing())
    assert missing == sorted(missing)
    assert {"log_evidence", "uses_design", "predictive"} <= set(missing)
    assert "slope_gains" not in missing
    assert {"slope_gains", "scan_family", "residuals"} <= set(missing_members(LinearNothing()))


def test_optional_members_are_not_missed():
    assert not {"is_categorical", "interval", "coefficients", "middle"} & set(missing_members(LinearNothing()))


def test_classes_have_codes_and_all_families_here_have_a_prior_that_can_be_chosen_by_evidence():
    classes, numbers = DirichletCategorical((1.0, 1.0)), NormalLinear()
    assert isinstance(classes, CodedFamily)
    assert not isinstance(numbers, CodedFamily)
    for family in (classes, numbers):
        assert isinstance(family, EmpiricalPriorFamily)
    assert not isinstance(GammaPoisson(), EmpiricalPriorFamily)
