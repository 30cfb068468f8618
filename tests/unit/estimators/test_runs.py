"""Runs of growth: what is kept and printed, when one is given up, several side by side."""

import numpy as np
import pytest

from bayesian_reticulum import GrowthEvent, ReticulumClassifier
from bayesian_reticulum.estimators.runs import evidence_by_rows, run_growth, run_side_by_side
from bayesian_reticulum.tree import single_leaf
from example_tables import CLASSES as TABLES


def fit(X, y, sample_weight=None, **parameters):
    return ReticulumClassifier(**{"random_state": 0, **parameters}).fit(X, y, sample_weight)


def test_verbose_prints_one_line_for_each_attempt(capsys):
    X, y = TABLES["ripley"]()
    clf = fit(X, y, patience=2, verbose=1)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == clf.history_.n_attempts
    assert all(line.startswith("[ReticulumClassifier] attempt ") for line in lines)
    fit(X, y, patience=1)
    assert capsys.readouterr().out == ""


def growth_with(log_evidences):
    """Attempts that are kept with these log evidences, among events of other kinds."""
    tree = single_leaf(1)
    yield GrowthEvent(0, "start", None, tree, 0.0)
    for attempt, log_evidence in enumerate(log_evidences, start=1):
        yield GrowthEvent(attempt, "proposed", 0, tree, np.nan)
        yield GrowthEvent(attempt, "kept", 0, tree, log_evidence)
        yield GrowthEvent(attempt, "tuned", None, tree, log_evidence)
    return "the state", "no_gain"


def test_a_run_keeps_every_event_and_why_growth_stopped():
    run = run_growth(growth_with([1.0, 2.0]), "")
    assert (run.state, run.reason) == ("the state", "no_gain")
    assert [event.phase for event in run.events] == ["start", *["proposed", "kept", "tuned"] * 2]


@pytest.mark.parametrize(("rival", "is_given_up"), [([50.0], True), ([4.0], False), ([], False)])
def test_a_growth_far_behind_its_rival_that_does_not_catch_up_is_given_up(rival, is_given_up, capsys):
    run = run_growth(growth_with(np.arange(1.0, 9.0) / 2), "[growth] ", rival)
    assert (run is None) == is_given_up
    printed = capsys.readouterr().out
    assert "[growth] attempt 1: kept, 0 candidates, 0 splits, log evidence 0.50" in printed
    assert "[growth] attempt 1: tuned, 0 splits" in printed
    assert ("[growth] given up, 48 nats behind" in printed) == is_given_up


def growth_on_a_sample_first():
    """Attempts on a sample and on all rows, which have ten times its log evidence."""
    tree = single_leaf(1)
    for scale in (1.0, 10.0):
        yield GrowthEvent(0, "start", None, tree, -20.0 * scale)
        for attempt in range(1, 7):
            yield GrowthEvent(attempt, "kept", 0, tree, -10.0 * scale)
    return "the state", "no_gain"


def test_the_evidence_of_a_growth_is_known_for_each_of_its_samples():
    events = [
        GrowthEvent(attempt, phase, None, single_leaf(1), log_evidence)
        for attempt, phase, log_evidence in [
            (0, "start", -30.0), (0, "start", -3.0), (1, "kept", -2.0), (2, "rejected", -2.0), (2, "start", -20.0),
            (3, "proposed", np.nan), (3, "kept", -15.0), (3, "polished", -14.0),
        ]
    ]  # fmt: skip
    assert evidence_by_rows(events) == [-30.0, -2.0, -14.0]


@pytest.mark.parametrize(("rival", "n_events"), [([-9.0, -90.0], 4), ([-11.0, -90.0], 11)])
def test_a_growth_is_compared_with_its_rival_on_the_same_rows(rival, n_events):
    seen = []

    def watched():
        for event in growth_on_a_sample_first():
            seen.append(event)
            yield event
        return "the state", "no_gain"

    assert run_growth(watched(), "", rival) is None
    assert len(seen) == n_events


@pytest.mark.parametrize("threads", [1, 2])
def test_runs_side_by_side_come_in_order(threads):
    children = [np.random.default_rng(seed) for seed in range(4)]
    results = run_side_by_side(lambda restart, rng: (restart, int(rng.integers(1000))), children, threads)
    expected = [(seed, int(np.random.default_rng(seed).integers(1000))) for seed in range(4)]
    assert list(results) == expected
