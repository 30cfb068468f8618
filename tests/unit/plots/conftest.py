"""What all tests of pictures share."""

import matplotlib.pyplot as plt
import pytest


@pytest.fixture(autouse=True)
def _no_figure_stays_open():
    yield
    plt.close("all")
