"""The published method: each sentence of the paper that can be checked, on its own and in a fit."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import log_loss

from bayesian_reticulum import PaperReticulumClassifier
from bayesian_reticulum.data.schema import identity_schema
from bayesian_reticulum.datasets import make_cross, make_ripley, make_sphere
from bayesian_reticulum.exact import expected_log_likelihood
from bayesian_reticulum.families.dirichlet import DirichletCategorical
from bayesian_reticulum.gates import compute_gates, sum_below
from bayesian_reticulum.paper.adam import Adam
from bayesian_reticulum.paper.construction import (
    Construction,
    ascend_by_adam,
    choose_leaf,
    construct,
    initial_hyperplane,
    prune_by_factor,
)
from bayesian_reticulum.rows.numpy import NumpyRows
from bayesian_reticulum.tree import collapse, single_leaf, split_leaf
from plugins import trees

few = settings(max_examples=30)
seeds = st.integers(0, 2**32 - 1)
SETTINGS = Construction(
    max_attempts=8,
    max_depth=None,
    learning_rate=0.1,
    n_gradient_steps=40,
    initial_stiffness=2.0,
    pruning_factor=1.05,
    parametrization="cartesian",
)


def table(rng, d, n=25, classes=2, prior=(1.0, 2.0)):
    weights = rng.uniform(0.2, 3, size=n)
    family = DirichletCategorical(prior)
    return NumpyRows(rng.normal(size=(n, d)), rng.integers(classes, size=n), family, weights, identity_schema(d))


def bound(rows, hyperplanes, shape):
    return rows.family.log_evidence(rows.prior_statistics(hyperplanes[None], shape)[0]).sum()


@given(tree=trees(max_splits=6), seed=seeds, classes=st.integers(1, 3))
@few
def test_the_gradient_by_backpropagation_equals_differences_and_the_general_code(tree, seed, classes):
    rng = np.random.default_rng(seed)
    rows = table(rng, tree.n_features, classes=classes, prior=(0.7, 1.5, 3.0)[:classes])
    hyperplanes = tree.hyperplanes
    statistics, gradient = rows.bound_pass(hyperplanes[None], tree.shape)
    np.testing.assert_allclose(statistics, rows.prior_statistics(hyperplanes[None], tree.shape), rtol=1e-12)

    size = 1 + np.abs(gradient).max(initial=0)
    for index in np.ndindex(hyperplanes.shape):
        step = np.zeros_like(hyperplanes)
        step[index] = 1e-5
        ends = (bound(rows, hyperplanes + sign * step, tree.shape) for sign in (1, -1))
        assert gradient[0][index] == pytest.approx(np.subtract(*ends) / 2e-5, abs=1e-6 * size)

    # The general code: sums of (membership times value) over the leaves left of and below each split.
    [(_, design, T, _)] = rows._blocks(1)
    _, gate, log_membership = compute_gates(hyperplanes[None], tree.shape, design)
    value = rows.family.expected_parameters(statistics) @ T.T
    left, below = sum_below(tree.shape, np.exp(log_membership) * value)
    general = (left - below * gate) * rows._weights @ design.T
    np.testing.assert_allclose(gradient, general, atol=1e-9 * size)


@given(tree=trees(max_splits=5), seed=seeds)
@few
def test_blocks_and_stacks_do_not_change_the_gradient(tree, seed):
    rng = np.random.default_rng(seed)
    rows = table(rng, tree.n_features, n=200)
    stack = np.stack([tree.hyperplanes, tree.hyperplanes[::-1]])
    together = rows.bound_pass(stack, tree.shape)
    for one, hyperplanes in enumerate(stack):
        alone = rows.bound_pass(hyperplanes[None], tree.shape)
        for sums, own in zip(together, alone, strict=True):
            np.testing.assert_allclose(sums[one], own[0], atol=1e-10)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("bayesian_reticulum.rows._BLOCK_FLOATS", 1)
        for sums, own in zip(together, rows.bound_pass(stack, tree.shape), strict=True):
            np.testing.assert_allclose(sums, own, atol=1e-10)


@given(tree=trees(min_splits=1, max_splits=2), seed=seeds)
@few
def test_the_bound_stays_below_the_expected_log_likelihood(tree, seed):
    rng = np.random.default_rng(seed)
    rows = table(rng, tree.n_features, n=6, prior=(1.3, 0.6))
    [(_, design, T, _)] = rows._blocks(1)
    membership = np.exp(compute_gates(tree.hyperplanes[None], tree.shape, design).log_membership[0]).T
    unweighted = NumpyRows(rows._X, rows._targets, rows.family, np.ones(6), rows._schema)
    exact = expected_log_likelihood(membership, T, rows.family)
    assert bound(unweighted, tree.hyperplanes, tree.shape) <= exact + 1e-9


def test_leaves_are_drawn_in_proportion_to_their_unexplained_potential():
    family = DirichletCategorical((1.0, 1.0))
    statistics = np.array([[30.0, 30.0], [0.0, 0.0], [20.0, 1.0]])
    tree = split_leaf(split_leaf(single_leaf(1), 0, [0.0, 1.0]), 0, [0.0, 1.0])
    rng = np.random.default_rng(0)
    drawn = np.bincount([choose_leaf(family, statistics, tree.shape, None, rng) for _ in range(4000)], minlength=3)
    c = family.log_evidence(statistics)
    np.testing.assert_allclose(drawn / drawn.sum(), c / c.sum(), atol=0.03)
    # Four levels: the two leaves at the last one are not extended.
    assert {choose_leaf(family, statistics, tree.shape, 2, rng) for _ in range(50)} == {2}
    assert choose_leaf(family, statistics, tree.shape, 1, rng) is None
    assert choose_leaf(family, np.zeros((3, 2)), tree.shape, None, rng) is None


@pytest.mark.parametrize("n", [500, 501])
@pytest.mark.parametrize("d", [1, 2, 3, 30])
def test_initial_splits_go_through_the_medians_with_the_initial_stiffness(d, n):
    rng = np.random.default_rng(1)
    scale = 10.0 ** rng.uniform(-3, 3, size=d)
    X = rng.normal(size=(n, d)) * scale + 5 * scale
    rows = NumpyRows(X, np.zeros(n, dtype=int), DirichletCategorical((1.0, 1.0)), np.ones(n), identity_schema(d))
    first, median, third = np.quantile(X, [0.25, 0.5, 0.75], axis=0, method="averaged_inverted_cdf")
    directions = []
    for _ in range(300):
        offset, *slopes = initial_hyperplane(rows, single_leaf(d), 0, SETTINGS, rng)
        assert offset + slopes @ median == pytest.approx(0, abs=1e-9)
        direction = slopes * (third - first)
        assert np.linalg.norm(direction) == pytest.approx(SETTINGS.initial_stiffness)
        directions.append(direction / SETTINGS.initial_stiffness)
    np.testing.assert_allclose(np.cov(np.array(directions).T), np.eye(d) / d, atol=5 / np.sqrt(300) / d + 0.02)


def test_initial_splits_see_the_rows_whose_membership_exceeds_one_half():
    X = np.concatenate([np.linspace(-2, -1, 50), np.linspace(3, 9, 51)])[:, None]
    rows = NumpyRows(X, np.zeros(101, dtype=int), DirichletCategorical((1.0, 1.0)), np.ones(101), identity_schema(1))
    tree = split_leaf(single_leaf(1), 0, [0.0, 0.1])
    for leaf, middle in ((0, 6.0), (1, -1.5)):
        offset, slope = initial_hyperplane(rows, tree, leaf, SETTINGS, np.random.default_rng(0))
        assert -offset / slope == pytest.approx(middle, abs=0.05)
    nobody_there = split_leaf(single_leaf(1), 0, [-50.0, 0.1])
    offset, slope = initial_hyperplane(rows, nobody_there, 0, SETTINGS, np.random.default_rng(0))
    assert -offset / slope == pytest.approx(np.quantile(X, 0.5))


def test_columns_whose_quartiles_coincide_fall_back_on_their_range():
    rare = np.zeros(100)
    rare[:5] = 4.0
    X = np.column_stack([rare, np.full(100, 7.0), np.arange(100.0)])
    rows = NumpyRows(X, np.zeros(100, dtype=int), DirichletCategorical((1.0, 1.0)), np.ones(100), identity_schema(3))
    _, *slopes = initial_hyperplane(rows, single_leaf(3), 0, SETTINGS, np.random.default_rng(0))
    direction = slopes * np.array([4.0, 1.0, 50.0])
    assert np.linalg.norm(direction) == pytest.approx(SETTINGS.initial_stiffness)


def test_adam_makes_the_steps_of_its_authors():
    gradients = np.random.default_rng(0).normal(size=(20, 3))
    adam = Adam(0.3)
    mean, square = np.zeros(3), np.zeros(3)
    for t, gradient in enumerate(gradients, start=1):
        mean = 0.9 * mean + 0.1 * gradient
        square = 0.999 * square + 0.001 * gradient**2
        expected = 0.3 * (mean / (1 - 0.9**t)) / (np.sqrt(square / (1 - 0.999**t)) + 1e-8)
        np.testing.assert_allclose(adam.step(gradient), expected)


@pytest.mark.parametrize("parametrization", ["cartesian", "polar"])
def test_an_ascent_climbs_the_bound(parametrization):
    X, y, _ = make_ripley(200, random_state=0)
    rows = NumpyRows(X, y, DirichletCategorical((1.0, 1.0)), np.ones(200), identity_schema(2))
    tree = split_leaf(single_leaf(2), 0, [0.1, 1.0, 1.0])
    chosen = Construction(**{**vars(SETTINGS), "parametrization": parametrization})
    after = ascend_by_adam(rows, tree.hyperplanes, tree.shape, chosen, 60)
    assert bound(rows, after, tree.shape) > bound(rows, tree.hyperplanes, tree.shape) + 20


@given(tree=trees(max_splits=8), seed=seeds, factor=st.floats(1, 1.2))
@settings(max_examples=60)
def test_pruning_leaves_only_splits_that_pay_and_removes_no_other(tree, seed, factor):
    rng = np.random.default_rng(seed)
    family = DirichletCategorical((1.0, 1.0))
    statistics = rng.uniform(0, 4, size=(tree.n_leaves, 2)) * (rng.random((tree.n_leaves, 1)) < 0.8)

    def gain(tree, statistics, split):
        two = statistics[~tree.children[split]]
        return family.log_evidence(two).sum() - family.log_evidence(two.sum(axis=0))

    # One split after the other, in any order, until nothing changes.
    expected, sums = tree, statistics
    while True:
        for split in rng.permutation(expected.n_splits):
            pair = expected.children[split]
            price = np.log(factor ** (expected.shape.levels[split] + 1))
            if (pair < 0).all() and not gain(expected, sums, split) > price:
                total = sums[~pair].sum(axis=0)
                sums = np.delete(sums, ~pair[1], axis=0)
                sums[~pair[0]] = total
                expected = collapse(expected, split)
                break
        else:
            break
    result, left = prune_by_factor(family, tree, statistics, factor)
    assert result.ids.tolist() == expected.ids.tolist()
    np.testing.assert_array_equal(result.children, expected.children)
    np.testing.assert_allclose(left, sums)
    np.testing.assert_allclose(left.sum(axis=0), statistics.sum(axis=0))


def test_empty_leaves_are_pruned():
    tree = split_leaf(single_leaf(1), 0, [0.0, 1.0])
    family = DirichletCategorical((1.0, 1.0))
    result, statistics = prune_by_factor(family, tree, np.array([[5.0, 2.0], [0.0, 0.0]]), 1.0)
    assert result.n_splits == 0
    np.testing.assert_array_equal(statistics, [[5.0, 2.0]])


@pytest.fixture(scope="module")
def ripley():
    X, y, _ = make_ripley(250, random_state=0)
    return X, y, PaperReticulumClassifier(max_attempts=12, random_state=0).fit(X, y)


def test_an_attempt_shows_the_new_split_at_each_stage(ripley):
    _, _, clf = ripley
    events = clf.history_.events
    assert [event.phase for event in events[:4]] == ["start", "proposed", "local", "global"]
    for attempt in range(1, clf.history_.n_attempts + 1):
        own = [event for event in events if event.attempt == attempt and event.phase != "polished"]
        assert [event.phase for event in own[:3]] == ["proposed", "local", "global"]
        proposed, local, everywhere = (event.tree for event in own[:3])
        assert own[0].split_id in proposed.ids
        # Alone: no other split moves. Together: the shape stays.
        np.testing.assert_array_equal(proposed.hyperplanes[:-1], local.hyperplanes[:-1])
        np.testing.assert_array_equal(local.children, everywhere.children)
        assert own[-1].phase == ("kept" if own[0].split_id in own[-1].tree.ids else "rejected")
        assert len(own[-1].candidates) == 1
    assert clf.stopping_reason_ == "max_attempts"


def test_leaf_statistics_are_those_of_the_final_tree(ripley):
    X, y, clf = ripley
    counts = clf.membership(X).T @ np.eye(2)[y]
    np.testing.assert_allclose(clf.model_.statistics, counts, rtol=1e-9)
    family = DirichletCategorical((1.0, 1.0))
    assert clf.log_evidence_ == pytest.approx(family.log_evidence(counts).sum())
    np.testing.assert_allclose(clf.predict_proba(X), clf.membership(X) @ family.probabilities(counts))
    np.testing.assert_array_equal(clf.history_.replay(-1).hyperplanes, clf.model_.tree.hyperplanes)


def test_log_bayes_factors_are_differences_of_the_bound(ripley):
    X, y, clf = ripley
    family, tree = clf.model_.family, clf.model_.tree
    rows = NumpyRows(X, y, family, np.ones(len(y)), clf.model_.schema)
    for split in range(tree.n_splits):
        without = collapse(tree, split)
        lost = clf.log_evidence_ - bound(rows, without.hyperplanes, without.shape)
        assert clf.model_.log_bayes_factors[split] == pytest.approx(lost, abs=1e-8)
    assert (clf.model_.prices == 0).all()


def test_hyperplanes_are_given_in_original_units(ripley):
    X, _, clf = ripley
    activation = np.column_stack([np.ones(len(X)), X]) @ clf.model_.hyperplanes.T
    shape = clf.model_.tree.shape
    membership = np.prod(
        np.where(shape.sides == 0, 1, 1 / (1 + np.exp(-np.where(shape.sides > 0, 1, -1) * activation[..., None]))), 1
    )
    np.testing.assert_allclose(clf.membership(X), membership, atol=1e-9)
    assert "split 0" in str(clf.model_)


def test_each_class_has_its_own_prior():
    X, y, _ = make_ripley(100, random_state=0)
    clf = PaperReticulumClassifier(prior=(3.0, 1.0), max_attempts=0).fit(X, y)
    np.testing.assert_allclose(clf.predict_proba(X[:1]), [[53 / 104, 51 / 104]])


def test_rows_in_any_order_or_repeated_give_the_same_model_to_the_bit():
    X, y, _ = make_ripley(60, random_state=0)
    weights = np.random.default_rng(0).integers(1, 4, size=60)
    clf = PaperReticulumClassifier(max_attempts=6, random_state=0, parametrization="polar")
    weighted = clf.fit(X, y, sample_weight=weights).predict_proba(X)
    order = np.random.default_rng(1).permutation(np.repeat(np.arange(60), weights))
    np.testing.assert_array_equal(clf.fit(X[order], y[order]).predict_proba(X), weighted)


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


def test_the_cross_is_found_by_some_seed():
    X, y, _ = make_cross(1000, random_state=0)
    X_test, y_test, truth = make_cross(4000, random_state=1)
    published = {
        "max_attempts": 10,
        "learning_rate": 0.4257,
        "n_gradient_steps": 172,
        "initial_stiffness": 1.1615,
        "pruning_factor": 1.0896,
    }
    losses = [
        log_loss(y_test, PaperReticulumClassifier(**published, random_state=seed).fit(X, y).predict_proba(X_test))
        for seed in range(4)
    ]
    assert min(losses) < log_loss(y_test, truth) + 0.05


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


def test_construction_can_be_watched_from_outside():
    rng = np.random.default_rng(0)
    events = list(construct(table(rng, 2, n=40), SETTINGS, rng))
    assert events[0].phase == "start"
    assert all(np.isfinite(event.log_evidence) for event in events)
