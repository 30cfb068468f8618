"""What a tree costs to read, and trees on some columns that are the same on all."""

from functools import partial

import numpy as np
import pytest
from scipy.special import comb

from asking import family_of
from bayesian_reticulum import ReticulumClassifier
from bayesian_reticulum.estimators import rows_of_model
from bayesian_reticulum.evidence import evaluate
from bayesian_reticulum.growth import Policy
from bayesian_reticulum.rows import RowData
from bayesian_reticulum.simplification.bench import Bench
from bayesian_reticulum.simplification.policy import SimplificationPolicy
from bayesian_reticulum.simplification.problem import (
    Problem,
    columns_of,
    embed_columns,
    extract_columns,
    features_of_splits,
    refit_sparse,
)
from bayesian_reticulum.tree import Tree, single_leaf, split_leaf


def bench_of(clf, X, y):
    data = RowData.of(X, y, np.ones(len(y)), clf.model_.schema)
    return Bench(data, clf.model_.family, partial(rows_of_model, clf))


def fitted(d, n=200, **parameters):
    """A classifier of two classes that the first and the last feature tell apart, and its rows."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, d))
    y = (X[:, 0] - X[:, -1] + 0.5 * rng.normal(size=n) > 0).astype(int)
    clf = ReticulumClassifier(random_state=0, patience=1, **parameters).fit(X, y)
    return clf, bench_of(clf, X, y)


@pytest.fixture(scope="module")
def problem():
    return Problem.of(*fitted(5, max_splits=3), False, SimplificationPolicy())


SPARSE = split_leaf(split_leaf(single_leaf(5), 0, [0.1, 0.0, 2.0, 0.0, 0.0, 1.0]), 0, [0.2, 0.0, 0.0, 0.0, 0.0, 3.0])


def test_a_problem_knows_the_limits_and_features_of_its_estimator(problem):
    assert (problem.max_splits, problem.max_depth) == (3, np.inf)
    assert problem.names == problem.schema.names
    assert [columns.tolist() for columns in problem.groups] == [[0], [1], [2], [3], [4]]
    assert not problem.lacks_columns


def test_numbers_to_read_are_features_and_offsets(problem):
    np.testing.assert_array_equal(problem.uses(SPARSE), [[0, 1, 0, 0, 1], [0, 0, 0, 0, 1]])
    assert problem.n_numbers(SPARSE) == 3 + 2
    assert problem.most_features(SPARSE) == 2
    assert features_of_splits(problem.schema, SPARSE) == (2, 1)
    assert (problem.n_numbers(single_leaf(5)), problem.most_features(single_leaf(5))) == (0, 0)


def test_the_choice_of_features_costs_the_log_of_the_number_of_choices(problem):
    assert problem.price_of_choice(SPARSE) == pytest.approx(np.log(comb(5, 2)) + np.log(comb(5, 1)))


def test_columns_can_be_left_out_and_put_back():
    np.testing.assert_array_equal(columns_of(SPARSE), [1, 4])
    narrow = extract_columns(SPARSE, columns_of(SPARSE))
    assert narrow.n_features == 2
    np.testing.assert_array_equal(embed_columns(narrow, columns_of(SPARSE), 5).hyperplanes, SPARSE.hyperplanes)


def test_a_feature_that_does_not_vary_is_no_choice():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=50), np.full(50, 7.0)])
    y = (X[:, 0] > 0).astype(int)
    clf = ReticulumClassifier(random_state=0, patience=1).fit(X, y)
    problem = Problem.of(clf, bench_of(clf, X, y), False, SimplificationPolicy())
    assert (problem.n_features, len(problem.groups)) == (1, 1)


def test_wide_tables_have_their_most_important_features_alone():
    clf, bench = fitted(270, n=400, max_splits=1)
    problem = Problem.of(clf, bench, False, SimplificationPolicy(most_candidates=40))
    assert problem.lacks_columns
    assert problem.n_features == 270
    assert len(problem.columns) == len(problem.groups) == problem.rows.n_columns == 40
    assert {0, 269} <= set(problem.columns.tolist())
    state = evaluate(
        bench.restricted(problem.columns).rows,
        bench.family,
        split_leaf(single_leaf(40), 0, np.ones(41)),
        np.ones(1),
        sparse=True,
    )
    wide = problem.restored(state.tree)
    assert wide.n_features == 270
    np.testing.assert_array_equal(columns_of(wide), problem.columns)
    assert problem.restored(wide) is wide
    dense = evaluate(
        bench.rows, bench.family, Tree(np.full((1, 271), 0.1), wide.shape, wide.ids), np.ones(1), sparse=True
    )
    assert problem.restricted(dense).tree.n_features == 40
    assert problem.model(clf.model_, state).tree.n_features == 270


@pytest.mark.parametrize("policy", [SimplificationPolicy(), SimplificationPolicy(growth=Policy(sample_rows=90))])
@pytest.mark.parametrize("few_columns", [0.0, 1.0])
def test_slopes_that_are_zero_stay_zero_in_a_refit(problem, policy, few_columns):
    policy = SimplificationPolicy(growth=policy.growth, few_columns=few_columns)
    state = evaluate(problem.rows, family_of(problem.rows), SPARSE, np.full(2, 0.1), sparse=True)
    refitted = refit_sparse(problem.bench, state, policy)
    assert refitted.log_evidence > state.log_evidence
    np.testing.assert_array_equal(refitted.tree.hyperplanes == 0, SPARSE.hyperplanes == 0)
    again = evaluate(problem.rows, family_of(problem.rows), refitted.tree, refitted.precisions, sparse=True)
    assert refitted.log_evidence == pytest.approx(again.log_evidence, abs=0.05)


def test_a_tree_without_splits_is_refitted_as_it_is(problem):
    leaf = evaluate(problem.rows, family_of(problem.rows), single_leaf(5), np.empty(0), sparse=True)
    assert problem.refit(leaf).log_evidence == pytest.approx(leaf.log_evidence)


def test_the_model_of_a_tree_has_no_bayes_factors_yet(problem):
    clf, bench = fitted(5, max_splits=3)
    state = evaluate(bench.rows, bench.family, SPARSE, np.full(2, 0.1), sparse=True)
    model = problem.model(clf.model_, state)
    assert model.log_evidence == state.log_evidence
    assert np.isnan(model.log_bayes_factors).all()
    assert np.isnan(model.grey_shares).all()


def test_trees_are_reported_if_that_is_wanted(problem, capsys):
    clf, bench = fitted(5)
    state = evaluate(bench.rows, bench.family, SPARSE, np.full(2, 0.1), sparse=True)
    problem.report("quiet", state)
    Problem.of(clf, bench, True, SimplificationPolicy()).report("two splits", state)
    printed = capsys.readouterr().out
    assert printed == f"[simplify] two splits: 2 splits, 5 numbers, log evidence {state.log_evidence:.2f}\n"
