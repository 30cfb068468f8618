"""Every family keeps every law."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bayesian_reticulum.testing.families import LAWS, name_of
from plugins import FAMILIES


@pytest.mark.parametrize("case", FAMILIES.values(), ids=FAMILIES)
@pytest.mark.parametrize("law", LAWS, ids=name_of)
@settings(max_examples=10)
@given(seed=st.integers(0, 2**32 - 1))
def test_every_family_keeps_every_law(law, case, seed):
    law(case, np.random.default_rng(seed))
