"""What the paper says of its bound, of its gradient, and of a fit by its method."""

from dataclasses import dataclass, replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import log_loss

from asking import family_of, membership_sums
from bayesian_reticulum import PaperReticulumClassifier
from bayesian_reticulum.data import identity_schema
from bayesian_reticulum.datasets import make_cross, make_ripley
from bayesian_reticulum.exact import expected_log_likelihood
from bayesian_reticulum.families import DirichletCategorical
from bayesian_reticulum.gates import compute_gates, sum_below
from bayesian_reticulum.paper.requests import bound_gradient
from bayesian_reticulum.rows import ArrayRows, Limits
from bayesian_reticulum.tree import collapse
from plugins import trees

few = settings(max_examples=30)
seeds = st.integers(0, 2**32 - 1)


@dataclass(frozen=True)
class Table:
    """Numbers, classes and weights, with what rows make of them."""

    X: np.ndarray
    y: np.ndarray
    weights: np.ndarray
    family: DirichletCategorical

    @property
    def design(self):
        return np.vstack([np.ones(len(self.X)), self.X.T])

    @property
    def statistics(self):
        return self.family.row_statistics(None, self.y)

    def rows(self, limits=None):
        schema = identity_schema(self.X.shape[1])
        return ArrayRows.of_table(self.X, self.y, self.family, self.weights, schema, limits=limits or Limits())


def draw_table(rng, d, n=25, classes=2, prior=(1.0, 2.0)):
    weights = rng.uniform(0.2, 3, size=n)
    return Table(rng.normal(size=(n, d)), rng.integers(classes, size=n), weights, DirichletCategorical(prior))


def bound(rows, hyperplanes, shape):
    return family_of(rows).log_evidence(membership_sums(rows, hyperplanes[None], shape)[0]).sum()


@given(tree=trees(max_splits=6), seed=seeds, classes=st.integers(1, 3))
@few
def test_the_gradient_by_backpropagation_equals_differences_and_the_general_code(tree, seed, classes):
    rng = np.random.default_rng(seed)
    table = draw_table(rng, tree.n_features, classes=classes, prior=(0.7, 1.5, 3.0)[:classes])
    rows, hyperplanes = table.rows(), tree.hyperplanes
    statistics = membership_sums(rows, hyperplanes[None], tree.shape)
    gradient = bound_gradient(rows.gather(), table.family, hyperplanes[None], tree.shape)

    size = 1 + np.abs(gradient).max(initial=0)
    for index in np.ndindex(hyperplanes.shape):
        step = np.zeros_like(hyperplanes)
        step[index] = 1e-5
        ends = (bound(rows, hyperplanes + sign * step, tree.shape) for sign in (1, -1))
        assert gradient[0][index] == pytest.approx(np.subtract(*ends) / 2e-5, abs=1e-6 * size)

    # The general code: sums of (membership times value) over the leaves left of and below each split.
    _, gate, log_membership = compute_gates(hyperplanes[None], tree.shape, table.design)
    value = family_of(rows).expected_parameters(statistics) @ table.statistics.T
    left, below = sum_below(tree.shape, np.exp(log_membership) * value)
    general = (left - below * gate) * table.weights @ table.design.T
    np.testing.assert_allclose(gradient, general, atol=1e-9 * size)


@given(tree=trees(max_splits=5), seed=seeds)
@few
def test_blocks_and_stacks_do_not_change_the_gradient(tree, seed):
    table = draw_table(np.random.default_rng(seed), tree.n_features, n=200)
    stack = np.stack([tree.hyperplanes, tree.hyperplanes[::-1]])
    together = bound_gradient(table.rows().gather(), table.family, stack, tree.shape)
    for one, hyperplanes in enumerate(stack):
        alone = bound_gradient(table.rows().gather(), table.family, hyperplanes[None], tree.shape)
        np.testing.assert_allclose(together[one], alone[0], atol=1e-10)
    in_blocks = bound_gradient(table.rows(Limits(block_floats=1)).gather(), table.family, stack, tree.shape)
    np.testing.assert_allclose(together, in_blocks, atol=1e-10)


@given(tree=trees(min_splits=1, max_splits=2), seed=seeds)
@few
def test_the_bound_stays_below_the_expected_log_likelihood(tree, seed):
    table = replace(draw_table(np.random.default_rng(seed), tree.n_features, n=6, prior=(1.3, 0.6)), weights=np.ones(6))
    membership = np.exp(compute_gates(tree.hyperplanes[None], tree.shape, table.design).log_membership[0]).T
    exact = expected_log_likelihood(membership, table.statistics, table.family)
    assert bound(table.rows(), tree.hyperplanes, tree.shape) <= exact + 1e-9


@pytest.fixture(scope="module")
def ripley():
    X, y, _ = make_ripley(250, random_state=0)
    return X, y, PaperReticulumClassifier(max_attempts=12, random_state=0).fit(X, y)


def test_an_attempt_shows_the_new_split_at_each_stage(ripley):
    _, _, clf = ripley
    events = clf.history_.events
    assert [event.phase for event in events[:4]] == ["start", "proposed", "local", "global"]
    for attempt in range(1, clf.history_.n_attempts + 1):
        of_attempt = [event for event in events if event.attempt == attempt and event.phase != "polished"]
        assert [event.phase for event in of_attempt[:3]] == ["proposed", "local", "global"]
        proposed, local, everywhere = (event.tree for event in of_attempt[:3])
        assert of_attempt[0].split_id in proposed.ids
        # Alone: no other split moves. Together: the shape stays.
        np.testing.assert_array_equal(proposed.hyperplanes[:-1], local.hyperplanes[:-1])
        np.testing.assert_array_equal(local.children, everywhere.children)
        assert of_attempt[-1].phase == ("kept" if of_attempt[0].split_id in of_attempt[-1].tree.ids else "rejected")
        assert len(of_attempt[-1].candidates) == 1
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
    rows = ArrayRows.of_table(X, y, family, np.ones(len(y)), clf.model_.schema)
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


def test_rows_in_any_order_or_repeated_give_the_same_model_to_the_bit():
    X, y, _ = make_ripley(60, random_state=0)
    weights = np.random.default_rng(0).integers(1, 4, size=60)
    clf = PaperReticulumClassifier(max_attempts=6, random_state=0, parametrization="polar")
    weighted = clf.fit(X, y, sample_weight=weights).predict_proba(X)
    order = np.random.default_rng(1).permutation(np.repeat(np.arange(60), weights))
    np.testing.assert_array_equal(clf.fit(X[order], y[order]).predict_proba(X), weighted)


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
