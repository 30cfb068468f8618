"""The classifiers keep every convention of scikit-learn, with no exception asked for."""

from sklearn.utils.estimator_checks import parametrize_with_checks

from bayesian_reticulum import PaperReticulumClassifier, ReticulumClassifier

CLASSIFIERS = [
    ReticulumClassifier(),
    PaperReticulumClassifier(),
    PaperReticulumClassifier(max_attempts=10, parametrization="polar"),
]


@parametrize_with_checks(CLASSIFIERS)
def test_the_classifiers_keep_the_conventions_of_scikit_learn(estimator, check):
    check(estimator)
