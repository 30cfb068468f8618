"""Simplifications: a simpler tree, and what each step towards it has cost."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..arrays import Floats, frozen, refreeze
from ..tree import Tree


@dataclass(frozen=True, eq=False)
class SimplificationStep:
    """One step: the tree after it, and what it cost, measured on the rows that were given.

    Attributes
    ----------
    what : str
        The step in words; splits are named by their numbers before it.
    n_splits : int
        After the step.
    n_features : tuple of int
        Features that each split looks at, after the step.
    log_evidence : float
        After the step.
    cost : float
        Log evidence before the step less that after it; negative where the simpler tree is better. 0 for the start.
    log_loss : float
        Mean negative log predictive probability of the targets after the step.
    log_loss_cost : float
        That after the step less that before.
    tree : Tree
        After the step, in the units of the schema.
    precisions : ndarray of shape (n_splits,)
        Prior precision of the slopes of each split after the step.
    """

    what: str
    n_splits: int
    n_features: tuple[int, ...]
    log_evidence: float
    cost: float
    log_loss: float
    log_loss_cost: float
    tree: Tree
    precisions: Floats

    def __post_init__(self) -> None:
        object.__setattr__(self, "precisions", frozen(self.precisions))

    __setstate__ = refreeze

    def to_dict(self) -> dict[str, Any]:
        """The same as plain Python data, without the tree."""
        return {name: value for name, value in vars(self).items() if name not in ("tree", "precisions")}


@dataclass(frozen=True, eq=False)
class Simplification:
    """A simpler tree, and what each step towards it has cost.

    Attributes
    ----------
    estimator : fitted estimator
        Predicts with the simpler tree; the one that was given is left as it was.
    steps : tuple of SimplificationStep
        The first is the tree that was given.
    """

    estimator: Any
    steps: tuple[SimplificationStep, ...]

    @property
    def cost(self) -> float:
        """Log evidence that all steps together have cost."""
        return self.steps[0].log_evidence - self.steps[-1].log_evidence

    @property
    def log_loss_cost(self) -> float:
        """By how much all steps together have raised the log-loss on the rows that were given."""
        return self.steps[-1].log_loss - self.steps[0].log_loss

    def to_dict(self) -> dict[str, Any]:
        """The same as plain Python data, without the estimator."""
        steps = [{**step.to_dict(), "n_features": list(step.n_features)} for step in self.steps]
        return {"steps": steps, "cost": self.cost, "log_loss_cost": self.log_loss_cost}

    def __str__(self) -> str:
        wide = max(len(step.what) for step in self.steps)
        lines = [f"{'step':<{wide}}  splits  features of each  log evidence      cost  log-loss     cost"]
        for step in self.steps:
            fewest, most = min(step.n_features, default=0), max(step.n_features, default=0)
            features = f"{fewest} to {most}" if fewest < most else f"{most}"
            lines.append(
                f"{step.what:<{wide}}  {step.n_splits:6d}  {features:>16}  {step.log_evidence:12.2f}  {step.cost:8.2f}"
                f"  {step.log_loss:8.4f}  {step.log_loss_cost:7.4f}"
            )
        return "\n".join(lines)
