"""Estimators whose sums over rows are made by NumPy, whatever is compiled."""

from typing import Any

from bayesian_reticulum.rows import ArrayRows


def on_arrays(estimator: Any) -> Any:
    """A copy of an estimator, not fitted, that grows on rows in arrays."""

    class OnArrays(type(estimator)):
        def rows_factory(self) -> Any:
            return lambda data, likelihood, *, threads: ArrayRows.of_data(data, likelihood)

    return OnArrays(**estimator.get_params(deep=False))
