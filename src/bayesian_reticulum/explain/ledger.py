"""Every attempt of growth, what it gained, and why growth stopped."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..history import OUTRUN, Candidate
from ..model import fitted_model
from .base import Card

_LISTED = ("start", "kept", "rejected", "tuned", "polished", "simplified")


@dataclass(frozen=True)
class LedgerEntry(Card):
    """One attempt of growth, or a step between attempts.

    Attributes
    ----------
    attempt : int
        Number of the attempt, counted from 1; "start", "tuned" and "polished" have that of the attempt before.
    what : {"start", "kept", "rejected", "tuned", "polished", "simplified"}
        "kept" and "rejected" are attempts. The others are steps: "start" fits the tree to (more) rows, "tuned"
        re-estimates the prior of its leaves, "polished" converges it, "simplified" is a step of `simplify`.
    gain : float
        Change of the log evidence.
    log_evidence : float
        After the attempt.
    n_splits : int
        After the attempt.
    candidates : tuple of Candidate
        All trees that were tried, each with the reason why it was kept or not.
    """

    attempt: int
    what: str
    gain: float
    log_evidence: float
    n_splits: int
    candidates: tuple[Candidate, ...]


@dataclass(frozen=True)
class Ledger(Card):
    """Every attempt of a growth, what it gained, and why growth stopped.

    The log evidence of the first entry and the gains of all others add up to the log evidence of the model.

    Attributes
    ----------
    entries : tuple of LedgerEntry
    stopping_reason : str
    """

    entries: tuple[LedgerEntry, ...]
    stopping_reason: str

    @property
    def total(self) -> float:
        """The first log evidence and all gains after it."""
        return self.entries[0].log_evidence + sum(entry.gain for entry in self.entries[1:])

    def __str__(self) -> str:
        lines = ["attempt  what        splits  log evidence      gain  tried"]
        for entry in self.entries:
            named = (candidate for candidate in entry.candidates if candidate.reason != OUTRUN)
            tried = ", ".join(f"{candidate.kind}: {candidate.reason}" for candidate in named)
            lines.append(
                f"{entry.attempt:7d}  {entry.what:<10}  {entry.n_splits:6d}  {entry.log_evidence:12.2f}"
                f"  {entry.gain:8.2f}  {tried}".rstrip()
            )
        return "\n".join([*lines, f"stopped: {self.stopping_reason}"])


def evidence_ledger(estimator: Any) -> Ledger:
    """List every attempt of the growth of a fitted estimator, what it gained, and why growth stopped.

    Parameters
    ----------
    estimator : fitted estimator

    Returns
    -------
    Ledger

    Examples
    --------
    >>> from bayesian_reticulum import ReticulumClassifier
    >>> from bayesian_reticulum.datasets import make_cross
    >>> from bayesian_reticulum.explain import evidence_ledger
    >>> X, y, _ = make_cross(400, random_state=0)
    >>> clf = ReticulumClassifier(random_state=0).fit(X, y)
    >>> ledger = evidence_ledger(clf)
    >>> bool(abs(ledger.total - clf.log_evidence_) < 1e-6), ledger.stopping_reason
    (True, 'no_gain')
    """
    fitted_model(estimator)
    entries: list[LedgerEntry] = []
    for event in estimator.history_:
        if event.phase in _LISTED:
            before = entries[-1].log_evidence if entries else event.log_evidence
            entries.append(
                LedgerEntry(
                    event.attempt,
                    event.phase,
                    float(event.log_evidence - before),
                    float(event.log_evidence),
                    event.tree.n_splits,
                    event.candidates,
                )
            )
    return Ledger(tuple(entries), estimator.stopping_reason_)
