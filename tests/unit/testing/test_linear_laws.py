"""A law of linear leaves that a family breaks is named, with what was wrong."""

import pytest

from bayesian_reticulum.testing import check_family, linear_laws
from broken_families import breaking_laws_of, case_of


@pytest.mark.parametrize(("family", "law", "what"), breaking_laws_of(linear_laws))
def test_a_broken_law_is_named_with_what_was_found(family, law, what):
    case = case_of(family)
    with pytest.raises(AssertionError, match=rf"^{type(family).__name__} breaks the law '{law}': .*{what}"):
        check_family(family, case.draw_targets, n_features=case.n_features)
