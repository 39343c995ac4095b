"""Notices that a policy unlearns: success of late is less than half of what it once was.

Learning by reward can fall off a cliff, within a dozen updates, and never come back; a run that
nobody watches would go on for hours. Compared are the last `EPISODES` judged episodes of training
with the best as many before them, by their intervals, so that luck, and tasks that a curriculum
makes harder, do not look like it. Of a run with several environments it is as many of each: that
more episodes come from a harder one is no fall.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

from distrl.episodes.outcome import SuccessRate

EPISODES = 50
LEAST = 0.2  # that lies between the intervals
REMEDY = (
    "Smaller steps keep a policy from it: a lower learning.step.learning_rate, a higher "
    "learning.learner.batch_trajectories, or learning.a_ride.advantage=filtered"
)


class SuccessWatch:
    """Is told of every judged episode once, in the order of their ends."""

    def __init__(self, environments: Sequence[str] = ()) -> None:
        names = environments or [""]
        self._recent = {name: deque[bool](maxlen=EPISODES) for name in names}
        self._best = SuccessRate(0, 0)
        self._best_version = 0
        self.has_fallen = False
        self._warning = ""
        self.unkept_best: int | None = None  # weights of the best time, until `best_kept`

    def record(self, *, success: bool, version: int, environment: str = "") -> None:
        """`version`: of the weights that played it."""
        if environment not in self._recent:
            return
        self._recent[environment].append(success)
        if min(map(len, self._recent.values())) < EPISODES:
            return
        now = SuccessRate(sum(map(sum, self._recent.values())), EPISODES * len(self._recent))
        if now.successes > self._best.successes:
            self._best, self._best_version, self.unkept_best = now, version, version
        high, best_low = now.interval[1], self._best.interval[0]
        if not self.has_fallen and high < min(best_low / 2, best_low - LEAST):
            self.has_fallen = True
            self._warning = (
                f"success fell from {self._best.rate:.0%} (weights {self._best_version}) to "
                f"{now.rate:.0%} (weights {version}) of {now.episodes} episodes: the policy "
                f"unlearns. {REMEDY}"
            )
        elif self.has_fallen and now.rate >= best_low:
            self.has_fallen = False

    def best_kept(self, version: int) -> None:
        """The weights of that `unkept_best` are kept now, unless there are better ones since."""
        if self.unkept_best == version:
            self.unkept_best = None

    def pop_warning(self) -> str:
        """A sentence, once for each fall; empty: there is nothing to say."""
        sentence, self._warning = self._warning, ""
        return sentence
