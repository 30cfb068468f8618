"""The history of a growth as data: every event, and every candidate with the reason why it was kept or not."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, overload

from .tree import Tree

Phase = Literal["start", "proposed", "local", "global", "pruned", "kept", "rejected", "tuned", "polished", "simplified"]
StoppingReason = Literal["no_gain", "max_attempts", "max_splits", "max_depth"]
# The reason of candidates that were not tried in the whole tree, as many of each kind are not.
OUTRUN = "another of its kind was ahead"


@dataclass(frozen=True)
class Candidate:
    """A change of the tree that was tried.

    Attributes
    ----------
    kind : str
        "cut" for one split in the place of a leaf, "look-ahead" for three at once, "exchange" for a split and the two
        below it with their levels exchanged, "bend" for a second split beside the one above a leaf; "random" for the
        one that the published method tries.
    local_gain : float or None
        Log evidence that a branch gained with the rest of the tree held, prices paid; None for a bend.
    gain : float or None
        Gain over the incumbent after the ascent of all splits and pruning; None if it did not get so far.
    kept : bool
    reason : str
        Why it was kept or not.
    """

    kind: str
    local_gain: float | None
    gain: float | None
    kept: bool
    reason: str


@dataclass(frozen=True, eq=False)
class GrowthEvent:
    """One step of growth.

    Attributes
    ----------
    attempt : int
        0 for the start, then counted from 1; the polish at the end carries the last one.
    phase : str
        "start" is the tree that growth starts from: a leaf and, of many rows, the tree of a sample, fitted to more of
        them; the log evidence before and after is that of different rows then. "proposed", "local", "global" and
        "pruned" show the best candidate of an attempt: as it was proposed, with the new splits trained, with all splits
        trained, and pruned. "kept" or "rejected" closes the attempt with the tree that growth goes on with. After
        "kept", "tuned" is the same tree with the prior of its leaves set by evidence. "polished" is the final tree,
        converged to rounding, with the signs of its splits made canonical. "simplified" are the steps of `simplify`.
    split_id : int or None
        The first new split of the attempt, or the split that was pruned; None where a round, which adds splits at many
        leaves, is closed.
    tree : Tree
        In the units of the schema.
    log_evidence : float
        Of this tree; not a number for "proposed" and "local", except with the published method.
    candidates : tuple of Candidate
        All that the attempt tried, with the event that closes it.
    """

    attempt: int
    phase: Phase
    split_id: int | None
    tree: Tree
    log_evidence: float
    candidates: tuple[Candidate, ...] = ()


@dataclass(frozen=True, eq=False)
class History(Sequence[GrowthEvent]):
    """All events of a growth, in order.

    Parameters
    ----------
    events : tuple of GrowthEvent
    stopping_reason : str
    """

    events: tuple[GrowthEvent, ...]
    stopping_reason: StoppingReason

    def __len__(self) -> int:
        return len(self.events)

    @overload
    def __getitem__(self, index: int) -> GrowthEvent: ...

    @overload
    def __getitem__(self, index: slice) -> tuple[GrowthEvent, ...]: ...

    def __getitem__(self, index: int | slice) -> GrowthEvent | tuple[GrowthEvent, ...]:
        return self.events[index]

    def __iter__(self) -> Iterator[GrowthEvent]:
        return iter(self.events)

    def replay(self, k: int) -> Tree:
        """The tree after event k; negative k counts from the end."""
        if not -len(self.events) <= k < len(self.events):
            raise IndexError(
                f"event {k} does not exist; the history has {len(self.events)} events, 0 to {len(self.events) - 1}."
            )
        return self.events[k].tree

    @property
    def n_attempts(self) -> int:
        return self.events[-1].attempt

    def __repr__(self) -> str:
        kept = sum(event.phase == "kept" for event in self.events)
        return f"<History: {self.n_attempts} attempts, {kept} kept, stopped by {self.stopping_reason}>"
