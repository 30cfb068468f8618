"""A law of statistics and log evidence that a family breaks is named, with what was wrong."""

import numpy as np
import pytest

from bayesian_reticulum.testing import check_family, statistics_laws
from broken_families import CLASSES, Concave, breaking_laws_of, case_of


@pytest.mark.parametrize(("family", "law", "what"), breaking_laws_of(statistics_laws))
def test_a_broken_law_is_named_with_what_was_found(family, law, what):
    case = case_of(family)
    with pytest.raises(AssertionError, match=rf"^{type(family).__name__} breaks the law '{law}': .*{what}"):
        check_family(family, case.draw_targets, n_features=case.n_features)


def test_bounds_out_of_order_are_noticed():
    case = case_of(Concave(CLASSES))
    with pytest.raises(AssertionError, match="expected the paper's bound at most the expected log-likelihood, found"):
        statistics_laws.bounds_are_in_order(case, np.random.default_rng(0))
