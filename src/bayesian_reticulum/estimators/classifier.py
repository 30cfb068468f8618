"""`ReticulumClassifier`: growth by evidence for classes."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..arrays import Floats
from ..families import DirichletCategorical, Family
from ..history import History
from ..model import Reticulum
from .base import Classifier
from .evidence_grown import EvidenceGrownEstimator
from .parameters import check_leaf, check_number_of_classes, checked_prior
from .targets import check_labels
from .training import TrainingData


class ReticulumClassifier(Classifier, EvidenceGrownEstimator):
    """A tree of soft, slanted splits that grows by Bayesian evidence and stops by itself.

    Every split is a hyperplane with a sigmoid gate; every leaf is a Dirichlet posterior over the classes. A
    prediction is the mixture of the leaves, weighted by the probability of the row to belong to each. There is
    nothing to tune: the log evidence (marginal likelihood) decides where the tree grows, how soft its splits are,
    and when it is done.

    Parameters
    ----------
    leaf : "auto" or family, default="auto"
        What a leaf assumes about its classes: "auto" is a Dirichlet prior of their probabilities. A family is any
        object that passes `bayesian_reticulum.testing.check_family` and has a member `is_categorical` that is True;
        its targets are the places of classes in `classes_`, of which it needs as many as there are.
    prior : "auto", float or array-like of shape (n_classes,), default="auto"
        Pseudo-counts of the Dirichlet prior of a leaf: one for all classes, or one for each in the order of
        `classes_`. "auto" is 0.5 for each (Jeffreys' prior). With more than two classes, of which a leaf mostly knows
        but a few, it is that or less, by the log evidence of the tree: ``model_.family.prior`` has the result. A family
        that is given as `leaf` has its prior already.
    class_weight : dict, "balanced" or None, default=None
        Weight of the rows of each class, times their `sample_weight`. "balanced" makes all classes weigh the same. Rare
        classes need no such weights: probabilities are then those of a world with other frequencies.
    categorical_features : "from_dtype", array-like or None, default="from_dtype"
        Which features are categories: those of text, bools or a categorical dtype; or those chosen by a mask, by name
        or by place; or none.
    patience : int, default=8
        Growth stops after this many attempts in a row that gain less than 0.1 nat of log evidence or, if there are more
        than 500 rows, than 1/5000 nat for each of them.
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
        the classes differ most.
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
    classes_ : ndarray of shape (n_classes,)
        Class labels.
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
        Share of each feature in the evidence that the splits gain: the gain of each split is shared out in
        proportion to its absolute standardised slopes.
    model_ : Reticulum
        The fitted tree: immutable, without training rows. ``print(model_)`` shows it.
    history_ : History
        Everything that happened during the growth that was kept; ``history_.replay(k)`` is the tree after event k.

    Examples
    --------
    >>> from bayesian_reticulum import ReticulumClassifier
    >>> from bayesian_reticulum.datasets import make_cross
    >>> X, y, _ = make_cross(400, random_state=0)
    >>> clf = ReticulumClassifier(random_state=0).fit(X, y)
    >>> clf.n_splits_
    3
    >>> clf.predict([[1.0, 1.0], [1.0, -1.0]])
    array([1, 0])
    """

    def __init__(
        self,
        *,
        leaf: Any = "auto",
        prior: Any = "auto",
        class_weight: Any = None,
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
        self.prior = prior
        self.class_weight = class_weight
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

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_leaf(self.leaf, ("auto",), of_classes=True)
        if not isinstance(self.leaf, str) and not (isinstance(self.prior, str) and self.prior == "auto"):
            raise ValueError(
                f"prior = {self.prior!r} is for Dirichlet leaves, but leaf = {self.leaf!r} has a prior already. "
                'Give it its prior, and leave prior at "auto".'
            )

    def _family(self, classes: np.ndarray) -> Family:
        if not isinstance(self.leaf, str):
            check_number_of_classes(self.leaf, classes)
            family: Family = self.leaf
            return family
        # Two classes are found in most leaves: there is little to learn from those that are absent.
        is_tuned = isinstance(self.prior, str) and len(classes) > 2
        return DirichletCategorical(checked_prior(self.prior, classes), is_tuned)

    def _targets_like_fit(self, y: Any, weights: Floats) -> tuple[Any, Any, Floats]:
        check_labels(y)
        unknown = ~np.isin(y, self.classes_)
        if unknown.any():
            raise ValueError(
                f"y has the class {y[unknown][:1].tolist()[0]!r}, which was not there in fit; the classes are "
                f"{self.classes_.tolist()}. Give the table that {type(self).__name__} was fitted to."
            )
        codes = np.searchsorted(self.classes_, y)
        return codes, codes, self._times_class_weights(self.classes_, codes, weights)

    def _grow(self, data: TrainingData) -> tuple[Reticulum, History]:
        if not isinstance(self.leaf, str):
            return self._grow_given_family(data, self.classes_)
        grown = self._grow_model(data)
        assert grown is not None
        return grown
