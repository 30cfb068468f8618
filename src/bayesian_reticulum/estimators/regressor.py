"""`ReticulumRegressor`: growth by evidence for numbers."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

import numpy as np
from sklearn.utils.validation import check_array

from ..arrays import Floats
from ..families import NormalLinear
from ..growth import Policy
from ..history import History
from ..model import Reticulum
from .evidence_grown import EvidenceGrownEstimator
from .numbers import Regressor
from .parameters import check_leaf
from .runs import evidence_by_rows
from .targets import (
    Targets,
    check_target_size,
    clip_wild_targets,
    with_rounding,
)
from .training import TrainingData
from .weights import used_rows

# A number says more of a leaf than a class does, so that growth needs to search less (see `Policy`). With what classes
# have, fits take longer: 1.2 times with 8 branches (RMSE .99), 1.1 times with 32 bins (1.01), 1.1 times with progress
# from .0002 on (.999), six times on 16 500 rows of california_housing with samples of 16 384 rows (1.00).
_FOR_NUMBERS: dict[str, Any] = {"sample_rows": 2048, "minimal_progress": 1e-3, "bins": 16, "most_branches": 4}


class ReticulumRegressor(Regressor, EvidenceGrownEstimator):
    """A tree of soft, slanted splits for numbers, with a full predictive distribution for each row.

    Every split is a hyperplane with a sigmoid gate; every leaf is a Bayesian linear regression, or a constant with
    noise. A prediction is the mixture of the leaves, weighted by the probability of the row to belong to each. As
    with `ReticulumClassifier` there is nothing to tune: the log evidence (marginal likelihood) decides.

    Parameters
    ----------
    leaf : {"auto", "constant", "linear"} or family, default="auto"
        What a leaf predicts: a constant, or a linear function of the features. These are read within their .5% and
        99.5% quantiles, for linear leaves within two standard deviations of them, so that wild rows are not
        extrapolated. "auto" grows a tree of each kind and keeps the one with the higher log evidence. With more than
        32 features, leaves are linear in the 31 that matter most and in one combination of the others. A family is
        any object that passes `bayesian_reticulum.testing.check_family`.
    categorical_features : "from_dtype", array-like or None, default="from_dtype"
        Which features are categories: those of text, bools or a categorical dtype; or those chosen by a mask, by name
        or by place; or none.
    patience : int, default=8
        Growth stops after this many attempts in a row that gain less than 0.1 nat of log evidence or, if there are more
        than 100 rows, than 1/1000 nat for each of them.
    max_attempts : int, default=500
        Largest number of attempts.
    max_splits : int or None, default=None
        Largest number of splits.
    max_depth : int or None, default=None
        Largest number of splits on the way to a leaf.
    n_restarts : int, default=1
        Number of independent growths; the one with the highest log evidence is kept.
    n_directions : int, default=16
        Random directions scanned for new splits, besides the features themselves and the directions along which
        the targets vary most.
    lookahead : int, default=64
        Number of cuts that are tried together with the best cut on either side; finds patterns, like chessboards,
        where no single split gains anything. 0 switches it off.
    n_jobs : int or None, default=None
        Number of threads for fit and predict; -1 is one for each core. None is all cores that the process may use, as
        in HistGradientBoosting, and not 1 as in scikit-learn's glossary: `n_jobs` of `joblib.parallel_config`,
        `OMP_NUM_THREADS` and limits of threadpoolctl make it less, and in a worker of joblib it is 1. Independent
        growths share the threads. Results do not depend on their number.
    random_state : int, RandomState instance or None, default=None
        Chance enters through the random directions and the look-ahead only.
    verbose : int, default=0
        1 prints a line for each attempt.

    Attributes
    ----------
    leaf_ : {"constant", "linear"} or family
        What the leaves of the fitted tree predict.
    n_features_in_ : int
        Number of features seen during fit.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features; only if all column names of X were strings.
    n_splits_, n_leaves_, depth_ : int
        Size of the tree.
    log_evidence_ : float
        Log evidence of the tree.
    stopping_reason_ : {"no_gain", "max_attempts", "max_splits", "max_depth"}
        Why growth stopped.
    feature_importances_ : ndarray of shape (n_features_in_,)
        Share of each feature in the evidence that splits gain, and slopes of linear leaves over constant ones: each
        gain is shared out in proportion to absolute standardised slopes.
    model_ : Reticulum
        The fitted tree: immutable, without training rows. ``print(model_)`` shows it.
    history_ : History
        Everything that happened during the growth that was kept; ``history_.replay(k)`` is the tree after event k.

    Notes
    -----
    Leaves use the `NormalLinear` family, in units in which the targets, their outermost half percent at either end
    cut off, have mean 0 and variance 1. Growth begins with the default prior: the noise variance is InverseGamma(2,
    0.1), the offset has 0.1 rows' worth of belief in 0, and slopes have the precision, from 0.01 to 1000, that the rows
    of the leaf speak for. From then on the evidence of all leaves chooses how large the noise typically is, how much
    leaves differ in it, and how large offset and slopes are in comparison. The noise of this prior is never below what
    rounding took from the targets, nor below 1e-8 of their variance. Constant targets have no scale; theirs is taken to
    be 1.

    Slopes of features that matter more in the ridge regression on all n rows are believed to be larger, in proportion
    to their size there plus a tenth of the largest, or plus 1 / √n if that is more; but not if there are 64 features
    or more, and more than rows.

    Targets more than 100 standard deviations from the others are read as being that far out, with a warning.

    Targets that are rounded, like whole numbers, are taken to be known to within their typical distance and no
    better: otherwise a leaf could put a spike of unlimited density on each value.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesian_reticulum import ReticulumRegressor
    >>> X = np.linspace(-2, 2, 200)[:, None]
    >>> y = np.abs(X[:, 0]) + 0.1 * np.random.default_rng(0).standard_normal(200)
    >>> reg = ReticulumRegressor(random_state=0).fit(X, y)
    >>> reg.leaf_, reg.n_splits_
    ('linear', 1)
    >>> lower, upper = reg.predict_distribution([[1.0]]).interval(0.9)
    >>> bool(lower[0] < 1.0 < upper[0])
    True
    """

    def __init__(
        self,
        *,
        leaf: Any = "auto",
        categorical_features: Any = "from_dtype",
        patience: int = 8,
        max_attempts: int = 500,
        max_splits: int | None = None,
        max_depth: int | None = None,
        n_restarts: int = 1,
        n_directions: int = 16,
        lookahead: int = 64,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.leaf = leaf
        super().__init__(
            categorical_features=categorical_features,
            patience=patience,
            max_attempts=max_attempts,
            max_splits=max_splits,
            max_depth=max_depth,
            n_restarts=n_restarts,
            n_directions=n_directions,
            lookahead=lookahead,
            n_jobs=n_jobs,
            random_state=random_state,
            verbose=verbose,
        )

    def growth_policy(self) -> Policy:
        return replace(super().growth_policy(), **_FOR_NUMBERS)

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_leaf(self.leaf, ("auto", "constant", "linear"), of_classes=False)

    def _learn_targets(self, y: Any, weights: Floats, target_name: str) -> Targets:
        if isinstance(self.leaf, str):
            return super()._learn_targets(y, weights, target_name)
        used = used_rows(weights)
        numbers = np.asarray(y, dtype=np.float64)[used]
        return Targets(numbers, numbers, weights[used], used, self.leaf, (target_name,))

    def _grow(self, data: TrainingData) -> tuple[Reticulum, History]:
        if not isinstance(self.leaf, str):
            self.leaf_ = self.leaf
            return self._grow_given_family(data)
        best: tuple[Reticulum, History] | None = None
        for kind in ("linear", "constant") if self.leaf == "auto" else (self.leaf,):
            grown = self._grow_model(data, kind, () if best is None else evidence_by_rows(best[1].events))
            if grown is not None and (best is None or grown[0].log_evidence > best[0].log_evidence):
                best, self.leaf_ = grown, kind
        assert best is not None
        return best

    def _targets_like_fit(self, y: Any, weights: Floats) -> tuple[Any, Any, Floats]:
        y = check_array(y, ensure_2d=False, dtype=np.float64, input_name="y")
        if not isinstance(self.leaf, str):
            return y, y, weights
        check_target_size(y)
        family = cast("NormalLinear", self.model_.family)
        used = used_rows(weights)
        clipped = clip_wild_targets(y[used], weights[used], used)
        values = np.zeros((len(y), 2))
        values[used] = with_rounding(clipped, weights[used], family.scale)
        return values, y, weights
