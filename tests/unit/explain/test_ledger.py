"""The ledger of growth totals the log evidence of the model."""

import pytest

from bayesian_reticulum import ReticulumClassifier, simplify
from bayesian_reticulum.explain import Ledger, LedgerEntry, evidence_ledger
from bayesian_reticulum.history import OUTRUN, Candidate
from small_models import MIXED, fitted, fitted_to_mixed


@pytest.mark.parametrize("name", MIXED)
def test_the_ledger_totals_the_log_evidence(name):
    model, _ = fitted_to_mixed(name)
    ledger = evidence_ledger(model)
    assert ledger.total == pytest.approx(model.log_evidence_, abs=1e-9)
    assert ledger.entries[-1].n_splits == model.n_splits_
    assert ledger.stopping_reason == model.stopping_reason_
    for entry in ledger.entries:
        assert (entry.gain > 0) == (entry.what in ("kept", "tuned")) or entry.what in ("start", "polished")
    assert str(ledger).endswith(f"stopped: {model.stopping_reason_}")
    assert len(str(ledger).splitlines()) == len(ledger.entries) + 2


def test_steps_of_simplify_are_listed():
    model, X, y = fitted("26 classes")
    simpler = simplify(model, X, y, tolerance=5.0).estimator
    ledger = evidence_ledger(simpler)
    assert ledger.total == pytest.approx(simpler.log_evidence_, abs=1e-6)
    assert "simplified" in {entry.what for entry in ledger.entries}


def test_an_entry_prints_the_candidates_that_were_tried_in_the_whole_tree():
    candidates = (
        Candidate("cut", 3.0, 2.5, True, "raised the log evidence"),
        Candidate("cut", 1.0, None, False, OUTRUN),
        Candidate("bend", None, 0.1, False, "gained too little"),
    )
    entries = (LedgerEntry(0, "start", 0.0, -10.0, 0, ()), LedgerEntry(1, "kept", 2.5, -7.5, 1, candidates))
    assert str(Ledger(entries, "no_gain")).splitlines() == [
        "attempt  what        splits  log evidence      gain  tried",
        "      0  start            0        -10.00      0.00",
        "      1  kept             1         -7.50      2.50  cut: raised the log evidence, bend: gained too little",
        "stopped: no_gain",
    ]
    assert Ledger(entries, "no_gain").total == -7.5


def test_an_estimator_without_fit_has_no_ledger():
    with pytest.raises(ValueError, match=r"ReticulumClassifier is not a fitted reticulum\. Call fit first"):
        evidence_ledger(ReticulumClassifier())
