"""The published method for classes and numbers: its parameters, and tables of all sorts."""

import numpy as np
import pytest

from bayesian_reticulum import PaperReticulumClassifier, PaperReticulumRegressor
from bayesian_reticulum.datasets import make_ripley, make_sphere


@pytest.fixture(scope="module")
def ripley():
    X, y, _ = make_ripley(250, random_state=0)
    return X, y, PaperReticulumClassifier(max_attempts=12, random_state=0).fit(X, y)


def test_each_class_has_its_own_prior():
    X, y, _ = make_ripley(100, random_state=0)
    clf = PaperReticulumClassifier(prior=(3.0, 1.0), max_attempts=0).fit(X, y)
    np.testing.assert_allclose(clf.predict_proba(X[:1]), [[53 / 104, 51 / 104]])


def test_more_than_two_classes_are_learned():
    rng = np.random.default_rng(0)
    y = rng.integers(3, size=300)
    X = np.array([[0, 0], [4, 0], [0, 4]])[y] + rng.normal(size=(300, 2))
    clf = PaperReticulumClassifier(random_state=0).fit(X, y)
    assert clf.score(X, y) > 0.93


def test_one_class_gives_no_split():
    clf = PaperReticulumClassifier(random_state=0).fit(np.arange(10.0)[:, None], np.ones(10))
    assert clf.n_splits_ == 0
    assert clf.stopping_reason_ == "no_gain"


def test_the_largest_depth_is_kept_and_said():
    X, y, _ = make_sphere(400, random_state=0)
    clf = PaperReticulumClassifier(max_depth=1, max_attempts=30, random_state=0, n_gradient_steps=20).fit(X, y)
    assert clf.depth_ <= 1
    assert PaperReticulumClassifier(max_depth=0, random_state=0).fit(X, y).stopping_reason_ == "max_depth"


@pytest.mark.parametrize(
    "X", [np.array([[1e12], [2e12], [3e12], [5e12]]), np.array([[1e9], [1e9 + 1], [1e9 + 2], [0]])]
)
@pytest.mark.parametrize("parametrization", ["cartesian", "polar"])
def test_large_units_do_no_harm(X, parametrization):
    clf = PaperReticulumClassifier(random_state=0, parametrization=parametrization).fit(X, [0, 0, 1, 1])
    assert np.isfinite(clf.predict_proba(X)).all()


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("max_attempts", -1, "max_attempts must be a whole number of at least 0; got -1"),
        ("n_gradient_steps", 1.5, "n_gradient_steps must be a whole number of at least 0; got 1.5"),
        ("max_depth", -2, "max_depth must be None for no limit or a whole number of at least 0; got -2"),
        ("learning_rate", 0, "learning_rate must be a positive number of at most 1e\\+100; got 0"),
        ("learning_rate", float("nan"), "learning_rate must be a positive number of at most 1e\\+100; got nan"),
        ("initial_stiffness", "2", "initial_stiffness must be a positive number of at most 1e\\+100; got '2'"),
        ("initial_stiffness", float("inf"), "initial_stiffness must be a positive number of at most 1e\\+100; got inf"),
        ("learning_rate", 1e200, r"at most 1e\+100; got 1e\+200"),
        ("learning_rate", 10**400, r"at most 1e\+100; got 1000"),
        ("pruning_factor", 0.9, "pruning_factor must be a number from 1 to 1.2; got 0.9"),
        ("pruning_factor", 1.3, "pruning_factor must be a number from 1 to 1.2; got 1.3"),
        ("parametrization", "spherical", 'parametrization must be "cartesian" or "polar"; got \'spherical\''),
        ("parametrization", None, 'parametrization must be "cartesian" or "polar"; got None'),
        ("prior", -1, "that of class 0 is -1.0"),
    ],
)
def test_bad_parameters_are_refused(name, value, message):
    clf = PaperReticulumClassifier(**{name: value})
    with pytest.raises(ValueError, match=message):
        clf.fit([[0.0], [1.0]], [0, 1])
    assert not hasattr(clf, "model_")


def test_cells_beyond_what_products_can_hold_are_refused():
    with pytest.raises(ValueError, match=r"column x1 has cells of size 1e\+200, beyond 1e\+100\. Scale it"):
        PaperReticulumClassifier().fit([[0.0, 0.0], [1.0, -1e200]], [0, 1])


def test_any_cell_can_be_predicted(ripley):
    *_, clf = ripley
    assert np.isfinite(clf.predict_proba([[1.7e308, -1.7e308], [-1e300, 0.0]])).all()


def test_single_precision_tables_are_fitted_as_they_are(ripley):
    X, y, _ = ripley
    X = X.astype(np.float32)
    clf = PaperReticulumClassifier(max_attempts=3, random_state=0)
    expected = clf.fit(X.astype(np.float64), y).predict_proba(X)
    np.testing.assert_allclose(clf.fit(X, y).predict_proba(X), expected, atol=1e-12)


def test_whole_numbers_of_any_size_are_whole_numbers():
    X, y, _ = make_ripley(40, random_state=0)
    small = {"max_attempts": np.int8(127), "n_gradient_steps": np.uint8(4), "max_depth": np.int8(3)}
    clf = PaperReticulumClassifier(**small, verbose=np.int64(0), random_state=0).fit(X, y)
    assert clf.history_.n_attempts > 1 or clf.stopping_reason_ == "max_depth"


def test_constant_columns_have_no_say():
    X, y, _ = make_ripley(80, random_state=0)
    clf = PaperReticulumClassifier(max_attempts=5, random_state=0).fit(np.c_[X, np.full(80, 3.0)], y)
    assert clf.feature_importances_[2] == 0
    np.testing.assert_array_equal(
        clf.predict_proba(np.c_[X, np.full(80, 3.0)]), clf.predict_proba(np.c_[X, np.full(80, 9.0)])
    )
    counts = clf.membership(np.c_[X, np.full(80, 3.0)]).T @ np.eye(2)[y]
    np.testing.assert_allclose(clf.model_.statistics, counts, rtol=1e-9)


def test_verbose_prints_one_line_for_each_attempt(capsys):
    X, y, _ = make_ripley(50, random_state=0)
    PaperReticulumClassifier(max_attempts=3, random_state=0, verbose=1).fit(X, y)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 3
    assert lines[0].startswith("[PaperReticulumClassifier] attempt 1: ")


def regression_table(kind, n, rng):
    """Rows in a square, and the mean of their targets."""
    X = rng.uniform(-1, 1, size=(n, 2))
    means = {
        "step": np.where(X[:, 0] + 0.5 * X[:, 1] > 0.2, 1.0, 0.0),
        "plane": X @ [1.0, -2.0],
        "sphere": (X**2).sum(axis=1),
    }
    return X, means[kind]


def error_in_noise(kind, seed):
    """RMSE of predictions to the true means of 10 000 new rows, as a multiple of the noise of 1000 rows."""
    rng = np.random.default_rng(seed)
    X, mean = regression_table(kind, 1000, rng)
    noise = 0.3 * mean.std()
    y = mean + noise * rng.standard_normal(1000)
    new, expected = regression_table(kind, 10_000, rng)
    reg = PaperReticulumRegressor(random_state=seed).fit(X, y)
    return float(np.sqrt(((reg.predict(new) - expected) ** 2).mean()) / noise)


@pytest.mark.parametrize("kind", ["step", "plane", "sphere"])
def test_numbers_are_learned_to_within_their_noise(kind):
    assert np.median([error_in_noise(kind, seed) for seed in range(5)]) <= 0.6


@pytest.fixture(scope="module")
def plain():
    rng = np.random.default_rng(0)
    X, mean = regression_table("sphere", 200, rng)
    y = mean + 0.1 * rng.standard_normal(200)
    return X, y, PaperReticulumRegressor(max_attempts=6, random_state=0).fit(X, y)


def test_numbers_have_a_distribution(plain):
    X, y, reg = plain
    low, high = reg.predict_distribution(X).interval(0.9)
    assert 0.8 < ((low <= y) & (y <= high)).mean() <= 1
    mean, std = reg.predict(X, return_std=True)
    np.testing.assert_allclose(reg.predict_distribution(X).mean, mean)
    assert (std > 0).all()


def test_units_of_columns_and_targets_do_not_matter_for_numbers(plain):
    X, y, reg = plain
    other = PaperReticulumRegressor(max_attempts=6, random_state=0).fit(1024.0 * X, 8.0 * y)
    np.testing.assert_allclose(other.predict(1024.0 * X), 8.0 * reg.predict(X), rtol=1e-6)


def test_a_weight_of_two_is_a_row_given_twice_for_numbers(plain):
    X, y, _ = plain
    weights = 1 + np.arange(200) % 2
    weighted = PaperReticulumRegressor(max_attempts=3, random_state=0).fit(X, y, weights)
    kept = np.repeat(np.arange(200), weights)
    repeated = PaperReticulumRegressor(max_attempts=3, random_state=0).fit(X[kept], y[kept])
    np.testing.assert_array_equal(weighted.predict(X), repeated.predict(X))


def test_the_bound_is_that_of_statistics_by_membership(plain):
    X, _, reg = plain
    model = reg.model_
    assert reg.log_evidence_ == pytest.approx(model.family.log_evidence(model.statistics).sum())
    counts = model.family.counts(model.statistics)
    np.testing.assert_allclose(reg.membership(X).sum(axis=0), counts, rtol=1e-8)


def test_a_stronger_prior_draws_leaves_to_the_mean_of_all_targets():
    X, y = np.repeat([[0.0], [1.0]], 20, axis=0), np.repeat([0.0, 1.0], 20)
    weak, strong = (
        PaperReticulumRegressor(prior=prior, max_attempts=0).fit(X[:25], y[:25]).model_.family.offset_precision
        for prior in ("auto", 30.0)
    )
    assert (weak, strong) == (0.1, pytest.approx(3.0))


@pytest.mark.parametrize("prior", [0, -1.0, "none", None, (1.0, 1.0), np.inf])
def test_priors_of_numbers_that_make_no_sense_are_refused(prior):
    with pytest.raises(ValueError, match='prior must be "auto" or a positive number of at most'):
        PaperReticulumRegressor(prior=prior).fit([[0.0], [1.0]], [0.0, 1.0])
