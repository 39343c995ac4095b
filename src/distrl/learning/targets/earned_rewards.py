"""What the trajectories of the replay earned, worked out once for each and then remembered.

A trajectory is drawn and refreshed many times and its rewards never change, but to find repeated
actions its screens must be unpacked, which takes longer than all the other arithmetic around a
batch. Slots of the replay have one trajectory for life, so they are what rewards are kept by. The
learner owns one; when the replay is filled anew its slots mean something else, and so `forget`.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence

from distrl.learning.targets.rewards import Floats, RewardSettings, step_rewards
from distrl.replay.buffer.entries import Draw, Entry


class EarnedRewards:
    """The rewards of the last `most` slots that were asked for."""

    def __init__(self, settings: RewardSettings, most: int) -> None:
        self.settings = settings
        self.most = most
        self._known: OrderedDict[int, Floats] = OrderedDict()

    def __len__(self) -> int:
        return len(self._known)

    def of(self, entries: Sequence[Draw | Entry]) -> list[Floats]:  # [T] each
        """Of every step of these trajectories, all terms together."""
        return [self._of(entry) for entry in entries]

    def forget(self) -> None:
        self._known.clear()

    def _of(self, entry: Draw | Entry) -> Floats:
        earned = self._known.pop(entry.slot_id, None)
        if earned is None:
            earned = step_rewards(entry.trajectory, self.settings).total
            earned.flags.writeable = False
        self._known[entry.slot_id] = earned  # the last one to be forgotten
        if len(self._known) > self.most:
            self._known.popitem(last=False)
        return earned
