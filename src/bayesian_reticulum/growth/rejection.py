"""Why a change of the tree is not kept."""

from __future__ import annotations

from enum import Enum

from ..history import OUTRUN
from .policy import Policy


class Rejection(Enum):
    """Why a change is not kept; the value is the message for users, with numbers of the policy left open."""

    OUTRUN = OUTRUN
    PRICE = "does not pay for its price"
    SURROUNDINGS = "falls behind with the tree around it held"
    SMALL_GAIN = "gained less than {minimal_gain} nat"
    OTHER_KIND = "another kind gained more"
    SMALL_GAIN_OF_ROUND = "the round gained less than {minimal_gain} nat"

    def message(self, policy: Policy) -> str:
        """The reason as it stands in the history."""
        return self.value.format(minimal_gain=policy.minimal_gain)
