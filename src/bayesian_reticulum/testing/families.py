"""The laws of families: all in one table, and the function that holds a family to them.

Growth, evidence and the model know families by the members of `Family` alone, and rely on these laws. A law is a
function of a case and a random generator, which raises an AssertionError if the family breaks it; a new law is one more
entry of `LAWS`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from ..arrays import Floats
from ..families import Family, LinearFamily, missing_members
from .case import Case
from .linear_laws import (
    residuals_are_means_and_variances,
    slope_gains_are_not_negative,
    what_is_missing_adds_to_the_spread,
)
from .metadata import at_one_value, metadata_belong_to_single_rows
from .predictive_laws import (
    a_description_is_one_line,
    cdf_and_quantile_invert_each_other,
    leaves_are_mixed_by_membership,
    log_evidence_is_the_sum_of_sequential_predictions,
    mean_and_std_are_those_of_the_density,
    samples_follow_the_cdf,
    the_predictive_is_a_ratio_of_evidences,
    the_predictive_mean_is_that_of_the_predictive,
    the_predictive_sums_to_one,
    uncertainty_is_the_sum_of_its_parts,
    uncertainty_of_a_leaf_falls_with_rows,
)
from .statistics_laws import (
    an_empty_leaf_has_log_evidence_zero,
    an_integer_weight_equals_repeated_rows,
    arguments_are_left_alone,
    bounds_are_in_order,
    copies_are_the_same,
    counts_are_numbers_of_rows,
    expected_parameters_are_the_gradient_of_log_evidence,
    leaves_are_treated_one_by_one,
    log_evidence_is_convex,
    statistics_of_partitions_add,
    sums_of_rows_are_possible,
    unexplained_potential_is_finite_and_not_negative,
)

Law = Callable[[Case, np.random.Generator], None]


def the_scan_family_keeps_the_laws(case: Case, rng: np.random.Generator) -> None:
    """The family of residuals and one feature, which scans use, is a family as any other (linear families)."""
    if not case.family.uses_design:
        return
    family = cast("LinearFamily", case.family)

    def draw_residuals(rng: np.random.Generator, n: int) -> Floats:
        rows = case.rows(rng, n)
        return family.residuals(rows.design, rows.targets, case.statistics(rng))[:, 0]

    scanned = Case(family.scan_family, draw_residuals, 1)
    _check_members(scanned.family, "scan_family")
    for law in LAWS:
        if law is not the_scan_family_keeps_the_laws:
            try:
                law(scanned, rng)
            except AssertionError as error:
                raise AssertionError(f"scan_family breaks the law '{name_of(law)}': {error}") from error


# The simpler ones first: a family that breaks one often breaks those that follow from it.
LAWS: tuple[Law, ...] = (
    statistics_of_partitions_add,
    arguments_are_left_alone,
    an_integer_weight_equals_repeated_rows,
    counts_are_numbers_of_rows,
    sums_of_rows_are_possible,
    an_empty_leaf_has_log_evidence_zero,
    expected_parameters_are_the_gradient_of_log_evidence,
    log_evidence_is_convex,
    leaves_are_treated_one_by_one,
    unexplained_potential_is_finite_and_not_negative,
    log_evidence_is_the_sum_of_sequential_predictions,
    the_predictive_is_a_ratio_of_evidences,
    leaves_are_mixed_by_membership,
    the_predictive_mean_is_that_of_the_predictive,
    cdf_and_quantile_invert_each_other,
    the_predictive_sums_to_one,
    mean_and_std_are_those_of_the_density,
    samples_follow_the_cdf,
    uncertainty_is_the_sum_of_its_parts,
    uncertainty_of_a_leaf_falls_with_rows,
    bounds_are_in_order,
    a_description_is_one_line,
    residuals_are_means_and_variances,
    what_is_missing_adds_to_the_spread,
    slope_gains_are_not_negative,
    the_scan_family_keeps_the_laws,
    metadata_belong_to_single_rows,
    copies_are_the_same,
)


def name_of(law: Law) -> str:
    """The name of a law in words."""
    return law.__name__.replace("_", " ")


def _check_members(family: Any, what: str) -> None:
    """Raise a TypeError unless an object has the members of a family."""
    name = family.__name__ if isinstance(family, type) else type(family).__name__
    if isinstance(family, type):
        raise TypeError(f"{what} is the class {name}; give an instance, such as {name}(...).")
    missing = missing_members(family)
    if missing:
        raise TypeError(f"{what} is no family: {name} lacks {', '.join(missing)}.")
    for member, kind in (("uses_design", bool), ("n_statistics", int)):
        value = getattr(family, member)
        if not isinstance(value, kind):
            raise TypeError(f"{member} of {name} is {value!r}; make it a property that gives a {kind.__name__}.")


def check_family(
    family: Family,
    draw_targets: Callable[[np.random.Generator, int], NDArray[Any]],
    *,
    draw_metadata: Callable[[np.random.Generator, int], Mapping[str, Any]] | None = None,
    n_features: int = 2,
    n_rounds: int = 10,
    random_state: int = 0,
) -> None:
    """Hold a family to the laws that the rest of the package relies on.

    Parameters
    ----------
    family : Family
        The family to check, with its prior.
    draw_targets : callable
        ``draw_targets(rng, n)`` gives n plausible targets, as an array; `rng` is a `numpy.random.Generator`.
    draw_metadata : callable, optional
        ``draw_metadata(rng, n)`` gives n plausible numbers for each name in `metadata` of the family, as a dict of
        arrays. A family that takes metadata needs it.
    n_features : int, default=2
        Number of features to draw at random. A family with linear leaves may need a certain number.
    n_rounds : int, default=10
        How often each law is tried, each time with other targets and leaves.
    random_state : int, default=0
        Seed of the targets and leaves.

    Raises
    ------
    AssertionError
        If the family breaks a law. The message names the law, what was expected and found, and where to look.
    TypeError
        If methods of `Family`, or of `LinearFamily` where leaves use the design, are missing.

    Examples
    --------
    >>> from bayesian_reticulum import DirichletCategorical
    >>> check_family(DirichletCategorical((1.0, 2.0)), lambda rng, n: rng.integers(2, size=n))

    >>> class Overconfident(DirichletCategorical):
    ...     def log_evidence(self, statistics):
    ...         return 0.5 * super().log_evidence(statistics)
    >>> check_family(Overconfident((1.0, 2.0)), lambda rng, n: rng.integers(2, size=n))
    Traceback (most recent call last):
        ...
    AssertionError: Overconfident breaks the law 'expected parameters are the gradient of log evidence': ...
    """
    _check_members(family, "family")
    case = Case(family, draw_targets, n_features, draw_metadata)
    for law in LAWS:
        for round_ in range(n_rounds):
            try:
                rng = np.random.default_rng([random_state, round_])
                # All other laws know of no metadata: they are tried with one value for all rows.
                law(case if law is metadata_belong_to_single_rows else at_one_value(case, rng), rng)
            except AssertionError as error:
                message = f"{type(family).__name__} breaks the law '{name_of(law)}': {error}"
                raise AssertionError(message) from error
            except Exception as error:
                error.add_note(
                    f"This happened on the way to the law '{name_of(law)}' of {type(family).__name__}, with "
                    f"{n_features} features."
                )
                raise
