"""The classifier keeps every convention of scikit-learn, with no exception asked for."""

from sklearn.utils.estimator_checks import parametrize_with_checks

from bayesian_reticulum import ReticulumClassifier


@parametrize_with_checks([ReticulumClassifier()])
def test_the_classifier_keeps_the_conventions_of_scikit_learn(estimator, check):
    check(estimator)
