"""Laws of families whose leaves are linear in the features."""

from __future__ import annotations

from typing import cast

import numpy as np

from ..arrays import Floats
from ..distributions import Mixture
from ..families import LinearFamily
from .case import Case, agree, hold


def residuals_are_means_and_variances(case: Case, rng: np.random.Generator) -> None:
    """Residuals of a leaf are targets for its scan family (linear families)."""
    if not case.family.uses_design:
        return
    family = cast("LinearFamily", case.family)
    design, targets, _ = case.rows(rng, 6)
    for leaf in case.leaves(rng):
        residuals = family.residuals(design, targets, leaf)
        hold(np.shape(residuals) == (6, 2), f"expected shape (6, 2), found {np.shape(residuals)}", "residuals")
        hold(np.all(residuals[:, 1] >= 0), f"expected variances from 0 on, found {residuals[:, 1]}", "residuals")
        certain = np.column_stack([residuals[:, 0], np.zeros(6)])
        with_variance, alone = (family.scan_family.row_statistics(design[:2], y) for y in (certain, residuals[:, 0]))
        agree(with_variance, alone, "statistics of residuals without variance", "row_statistics of scan_family")


def what_is_missing_adds_to_the_spread(case: Case, rng: np.random.Generator) -> None:
    """Where features are missing predictions are wider, by the variance of the slopes times them (linear families)."""
    if not case.family.uses_design:
        return
    family, leaves = cast("LinearFamily", case.family), case.leaves(rng)
    design, _, _ = case.rows(rng, 6)
    membership = rng.dirichlet(np.ones(len(leaves)), size=6).T
    whole = family.uncertainty(leaves, membership, design)
    for share in (0.0, 0.5):

        def spread(slopes: Floats, share: float = share) -> Floats:
            return np.asarray((share * slopes**2).sum(axis=-1)[..., None] * np.ones(6))

        parts = family.uncertainty(leaves, membership, design, spread)
        for name in ("aleatoric", "leaf") if share else ("aleatoric", "leaf", "routing"):
            agree(getattr(parts, name), getattr(whole, name), f"{name} uncertainty", "uncertainty with spread")
        hold(np.all(parts.routing >= whole.routing), "expected more routing uncertainty", "uncertainty with spread")
        deviation = cast("Mixture", family.predictive(leaves, membership, design, spread)).std
        agree(deviation**2, parts.total, "variance of the predictive", "predictive with spread")


def slope_gains_are_not_negative(case: Case, rng: np.random.Generator) -> None:
    """Importances of features are shares of the gains of their slopes (linear families)."""
    if not case.family.uses_design:
        return
    gains = cast("LinearFamily", case.family).slope_gains(case.leaves(rng))
    expected = (3, case.n_features)
    hold(np.shape(gains) == expected, f"expected shape {expected}, found {np.shape(gains)}", "slope_gains")
    is_good = np.isfinite(gains) & (gains >= 0)
    hold(is_good.all(), f"expected finite numbers from 0 on, found {gains[~is_good]}", "slope_gains")
