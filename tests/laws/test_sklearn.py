"""The estimators keep every convention of scikit-learn, with no exception asked for."""

from sklearn.utils.estimator_checks import parametrize_with_checks

from bayesian_reticulum import (
    PaperReticulumClassifier,
    PaperReticulumRegressor,
    ReticulumClassifier,
    ReticulumRegressor,
)

ESTIMATORS = [
    ReticulumClassifier(),
    ReticulumRegressor(),
    PaperReticulumClassifier(),
    PaperReticulumClassifier(max_attempts=10, parametrization="polar"),
    PaperReticulumRegressor(),
]


@parametrize_with_checks(ESTIMATORS)
def test_the_estimators_keep_the_conventions_of_scikit_learn(estimator, check):
    check(estimator)
